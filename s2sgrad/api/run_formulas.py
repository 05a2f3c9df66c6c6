"""Formulas in the text of a run: pullbacks of rules with the values of a call in the place of their parameters.

def multiply(g, z, x, y): return g * y, g * x      ->      "z_bar * w", "z_bar * x"
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

import gast

from s2sgrad import source
from s2sgrad.api.run_names import Names, NotShown, constant
from s2sgrad.recorded import arithmetic


def inlined(expression: Any, values: dict[str, str], pullback: Any, names: Names) -> str | None:
    """A formula with its parameters replaced; None for a cotangent that is not wanted."""
    tree = ast.parse(ast.unparse(gast.gast_to_ast(expression)), mode="eval")
    if isinstance(tree.body, ast.Constant) and tree.body.value is None:
        return None
    return ast.unparse(_Replaced(names, values, pullback.__globals__).visit(tree))


class _Replaced(ast.NodeTransformer):
    """Replaces the parameters of a formula, and imports what else it names."""

    def __init__(self, names: Names, values: dict[str, str], space: dict[str, Any]) -> None:
        self.names, self.values, self.space = names, values, space

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """An operation on constants is computed, `x ** 1` is `x`."""
        self.generic_visit(node)
        left, right = (n.value if isinstance(n, ast.Constant) else None for n in (node.left, node.right))
        if type(left) is int and type(right) is int and isinstance(node.op, ast.Sub) and left >= right:
            return ast.Constant(left - right)
        return node.left if isinstance(node.op, ast.Pow) and type(right) is int and right == 1 else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A parameter, a global, or a builtin."""
        if node.id in self.values:
            return ast.parse(self.values[node.id], mode="eval").body
        if node.id not in self.space:
            return node
        value = self.space[node.id]
        told = constant(value) if isinstance(value, (int, float)) else self.names.of_object(value, node.id)
        return ast.parse(told, mode="eval").body


def formula(pullback: Any) -> Any:
    """The tree of a pullback that is one expression; None for others."""
    try:
        tree = source.read(pullback).fresh_tree()
    except Exception:  # without source
        return None
    body = [s for s in tree.body if not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant))]
    tree.body = body
    scopes = (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.NamedExpr)
    short = len(body) == 1 and isinstance(body[0], gast.Return) and body[0].value is not None
    return tree if short and not any(isinstance(n, scopes) for n in gast.walk(body[0])) else None


def bound(pullback: Any, texts: list[str], keywords: dict[str, str]) -> dict[str, str] | None:
    """Expressions for the parameters of a pullback; None for one that takes any number."""
    parameters = inspect.signature(pullback)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.parameters.values()):
        return None
    given = parameters.bind(*texts, **keywords).arguments
    rest = {p.name: p.default for p in parameters.parameters.values() if p.name not in given}
    return given | {name: constant(default) for name, default in rest.items()}


def slopes(pull: Any, g: str, z: str, entry: tuple, number: Any) -> list[tuple[int | None, str]]:
    """(operand, its cotangent) of an operator of numbers."""
    _, a, b, x, y = entry
    if pull is arithmetic.pull_sum:
        return [(a, g), (b, g)]
    if pull is arithmetic.pull_difference:
        return [(a, g), (b, f"-{g}")]
    if pull is arithmetic.pull_product:
        return [(a, f"{g} * {number(b, y)}"), (b, f"{g} * {number(a, x)}")]
    if pull is arithmetic.pull_quotient:
        return [(a, f"{g} / {number(b, y)}"), (b, f"-{g} / {number(b, y)} * {z}")]
    if pull is arithmetic.pull_remainder:
        return [(a, g), (b, f"-{g} * ({number(a, x)} // {number(b, y)})")]
    if pull is arithmetic.pull_negative:
        return [(a, f"-{g}")]
    if pull is arithmetic.pull_power:
        power = number(a, x) if y == 2 else f"{number(a, x)} ** {y - 1}"
        return [(a, f"{g} * {y} * {power}")]
    raise NotShown("an operator")
