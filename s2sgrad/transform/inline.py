"""Expansion of a rule's formula: its parameters are replaced by the program's expressions.

y = np.sin(u)    ->    u_bar = y_bar * np.cos(u)        by the rule    def sin(g, y, x): return g * np.cos(x)
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad import source
from s2sgrad.ir.forms import bound_name, is_none
from s2sgrad.ir.quote import constant, mentioned, name, nodes, substitute
from s2sgrad.ir.reach import call, reach
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.rules import table


@dataclass(frozen=True)
class Formula:
    """A pullback that can be expanded: assignments, then one cotangent per differentiable argument."""

    pullback: types.FunctionType
    parameters: tuple[str, ...]
    prelude: tuple[gast.Assign, ...]
    cotangents: tuple[gast.AST, ...]
    free: dict[str, Any]

    def uses(self, parameter: str, wanted: list[int]) -> int:
        """How often the wanted cotangents mention a parameter."""
        parts = [*self.prelude, *(self.cotangents[k] for k in wanted)]
        return sum(isinstance(n, gast.Name) and n.id == parameter for n in nodes(*parts))


@functools.lru_cache(maxsize=1024)
def formula(pullback: types.FunctionType, count: int | None = None) -> Formula | None:
    """The formula of a pullback; None where its body is more than assignments and one `return`.

    `count`: how many cotangents it returns, by default one for each argument without a default.
    """
    tree = source.read(pullback).fresh_tree()
    body = [s for s in tree.body if not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant))]
    *prelude, last = body
    plain = all(bound_name(s) is not None for s in prelude)
    if not plain or not isinstance(last, gast.Return) or tree.args.vararg is not None:
        return None
    if count is None:
        count = sum(1 for p in parameters(tree)[2:]) - len(tree.args.defaults) - len(tree.args.kwonlyargs)
    tuple_ = isinstance(last.value, gast.Tuple) and count > 1
    cotangents = tuple(last.value.elts) if tuple_ else (last.value,)
    if len(cotangents) != max(count, 1):
        return None
    for node in nodes(tree):  # positions refer to the rule's file: errors must name the user's
        for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            node.__dict__.pop(attribute, None)
    names = tuple(p.id for p in parameters(tree))
    outer = sorted(mentioned(*prelude, *cotangents) - {*names, *map(bound_name, prelude)})
    free = {n: found.value for n in outer if (found := source.look_up(pullback, n)) is not None}
    return Formula(pullback, names, tuple(prelude), cotangents, free)


def write(
    unit: Unit, rule: Formula, holes: dict[str, gast.AST], wanted: list[int], divides: Callable[[gast.BinOp], bool]
) -> tuple[list[gast.AST], dict[int, gast.AST]]:
    """(statements before, cotangent by argument position), the rule's free names resolved through the user's module.

    `divides` says whether both operands of a division may be Python numbers, for which `/` raises at zero.
    """
    ours = {n: _reached(unit, n, value) for n, value in rule.free.items() if n not in holes}
    holes = {**ours, **holes}
    before: list[gast.AST] = []
    for statement in rule.prelude:
        local = statement.targets[0].id
        if local not in mentioned(*(s.value for s in rule.prelude), *(rule.cotangents[k] for k in wanted)):
            continue
        holder = unit.temp()
        value = _settled(statement.value, rule.free, holes) or substitute(statement.value, holes)
        if isinstance(value, gast.Constant):
            holes[local] = value
            continue
        before.append(gast.Assign([name(holder, store=True)], _divisions(unit, value, divides), None))
        holes[local] = name(holder)
    out = {}
    for k in wanted:
        node = rule.cotangents[k]
        if not is_none(node):
            out[k] = _divisions(unit, substitute(node, holes), divides)
    return before, out


def _settled(node: gast.AST, free: dict[str, Any], holes: dict[str, gast.AST]) -> gast.Constant | None:
    """The number that a helper without a derivative gives of integers that the call spells out: `whole(2)` is 2."""
    found: Any = free.get(node.func.id) if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else None
    if not isinstance(found, types.FunctionType) or node.keywords or not table.is_flat(found):
        return None
    given: list[Any] = [holes.get(a.id) if isinstance(a, gast.Name) else a for a in node.args]
    if not given or not all(isinstance(a, gast.Constant) and type(a.value) is int for a in given):
        return None
    value = found(*(a.value for a in given))
    return constant(np.asarray(value).item()) if isinstance(value, (int, float, np.integer)) else None


def _reached(unit: Unit, base: str, value: Any) -> gast.Name:
    """A name in the program for a free name of the rule."""
    return unit.builtin(value) if vars(builtins).get(base) is value else name(reach(unit, base, value))


def _divisions(unit: Unit, node: gast.AST, divides: Callable[[gast.BinOp], bool]) -> gast.AST:
    """Replace `a / b` by `np.divide(a, b)` where both may be Python numbers."""
    for part in nodes(node):
        for field, value in part.__dict__.items():
            if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div) and divides(value):
                setattr(part, field, _divide(unit, value))
            elif isinstance(value, list):
                part.__dict__[field] = [
                    _divide(unit, v) if isinstance(v, gast.BinOp) and isinstance(v.op, gast.Div) and divides(v) else v
                    for v in value
                ]
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Div) and divides(node):
        return _divide(unit, node)
    return node


def _divide(unit: Unit, node: gast.BinOp) -> gast.Call:
    return call(unit, "divide", np.divide, node.left, node.right)
