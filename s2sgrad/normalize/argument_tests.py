"""Tests of the types of arguments, decided by the kinds that a function is compiled for: branches for other types are gone
before anything in them is read.

    if isinstance(x, pd.Series): y = pd.Series(y, index=x.index)      ->      nothing, where `x` is an array
    x = x if hasattr(x, "shape") else np.array(x)                     ->      x = x

Types of other variables follow from their values, once there is a normal form (`typed.branch_pruning`).

>>> import numpy as np
>>> from s2sgrad import grad
>>> def f(x, to=None):
...     if hasattr(x, "detach"):
...         x = x.detach().numpy()
...     return np.sum(x * x) * (1.0 if isinstance(to, str) else 2.0)
>>> print(grad(f).source_for(np.ones(2)).rpartition(chr(34))[2].strip())
# return np.sum(x * x) * (1.0 if isinstance(to, str) else 2.0)
    return 2.0 * (seed * 2.0) * x
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis import type_tests
from s2sgrad.ir.exits import always_leaves
from s2sgrad.ir.forms import bound_name, truth
from s2sgrad.ir.quote import Transformer, blocks
from s2sgrad.ir.scoping import COMPREHENSIONS, FUNCTIONS, bindings
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without the branches that arguments of these kinds do not take."""
    if unit.arguments.kinds:
        tree.body = _block(unit, tree.body, unit.arguments.kinds)
    return tree


def _block(unit: Unit, body: list[gast.AST], known: dict[str, Any]) -> list[gast.AST]:
    """A block without its dead branches; `known`: the kinds of the names that are still bound to arguments."""
    out: list[gast.AST] = []
    for statement in body:
        taken = truth(statement.test, _Decided(unit, known).result) if isinstance(statement, gast.If) else None
        if taken is not None:
            arm = _block(unit, statement.body if taken else statement.orelse, known)
            out += arm
            if always_leaves(arm):
                break
            known = _without(known, arm)
            continue
        inside = known if isinstance(statement, gast.If) else _without(known, [statement])
        for block in blocks(statement):
            block[:] = _block(unit, block, inside) or ([gast.Pass()] if block else [])
        copy = bound_name(statement)
        copied = known.get(getattr(statement.value, "id", "")) if copy else None
        out.append(_Decided(unit, _without(known, [statement])).visit(statement))
        known = _without(known, [statement]) | ({copy: copied} if copy and copied else {})
    return out


def _without(known: dict[str, Any], body: list[gast.AST]) -> dict[str, Any]:
    """The kinds of the names that some statements do not bind."""
    if not known:
        return {}
    bound = bindings(body)
    return {n: kind for n, kind in known.items() if not bound[n]}


class _Decided(Transformer):
    """Conditional expressions are replaced by the operand that is taken."""

    def __init__(self, unit: Unit, known: dict[str, Any]) -> None:
        self.unit, self.known = unit, known

    def result(self, test: gast.AST) -> bool | None:
        """The result of a test; None where it is unknown."""
        return type_tests.decided(self.unit, test, lambda node: self.known.get(getattr(node, "id", "")), {})

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        taken = truth(node.test, self.result)
        return self.generic_visit(node) if taken is None else self.visit(node.body if taken else node.orelse)

    def generic_visit(self, node: gast.AST) -> gast.AST:
        """Scopes of their own may bind the names for themselves, or run later."""
        return node if isinstance(node, (*COMPREHENSIONS, *FUNCTIONS, gast.ClassDef)) else super().generic_visit(node)
