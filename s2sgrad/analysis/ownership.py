"""Which in-place updates only this function can see.  `x += e` on an array is then `x = x + e`; anything else is refused.

A name is shared from where its memory may have another name: an argument, `y = x`, a named view, an element of a
container, an argument or a result of a call.  It is unshared again where it is bound to a fresh array.

    t = x * 2.0; t += y     right: nobody else sees t        v = x; v += y     refused: x would change
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.kinds import Array, Container, Kind, Known, Number, Text
from s2sgrad.analysis.operations import STACK_METHODS, Operation
from s2sgrad.quote import nodes
from s2sgrad.rules import spellings, table
from s2sgrad.unit import MISSING, Unit, parameters

_FRESH = {
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.array, np.copy,
    np.arange, np.linspace, np.eye, np.identity, np.concatenate, np.stack, np.vstack, np.hstack, np.sum, np.mean,
    np.prod, np.max, np.min, np.cumsum, np.matmul, np.dot, np.outer, np.tile, np.repeat, runtime.zeros, runtime.own,
}  # fmt: skip


def run(
    unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], found: Operations
) -> tuple[set[str], set[int]]:
    """(names whose arrays are updated in place, statements that need a check at run time).

    Raises Unsupported where another name may see the update of an array.  Where the kind is unknown, the statement is
    right if the value has no in-place operators, which is checked when it runs.
    """
    check = _Sharing(unit, kinds, found)
    check.block(tree.body, {p.id for p in parameters(tree)})
    return check.updated, check.guarded


class _Sharing:
    def __init__(self, unit: Unit, kinds: dict[str, Kind], found: Operations) -> None:
        self.unit, self.kinds, self.found = unit, kinds, found
        self.updated: set[str] = set()
        self.guarded: set[int] = set()
        self.inside: dict[str, set[str]] = {}  # what a list or tuple without a name of the user's holds

    def mutable(self, name: str) -> bool:
        return not isinstance(self.kinds.get(name), (Number, Known, Text))

    def block(self, body: list[gast.AST], shared: set[str]) -> set[str]:
        for statement in body:
            if isinstance(statement, gast.If):
                arms = [self.block(arm, set(shared)) for arm in (statement.body, statement.orelse)]
                shared = arms[0] | arms[1]
            elif isinstance(statement, (gast.For, gast.While)):
                while True:
                    after = shared | self.block(statement.body, set(shared))
                    if after == shared:
                        break
                    shared = after
            elif isinstance(statement, gast.AugAssign):
                self.update(statement, shared)
            elif isinstance(statement, gast.Assign):
                shared = self.assignment(statement, shared)
            elif isinstance(statement, gast.Expr):
                shared = self.expression(statement, shared)
        return shared

    def update(self, statement: gast.AugAssign, shared: set[str]) -> None:
        name = effects.base(statement.target)
        if isinstance(statement.target, gast.Name) and not self.mutable(name):
            return
        if name in shared or name not in self.unit.locals:
            if isinstance(statement.target, gast.Subscript):
                self.unit.refuse(statement, f"`{name}[...] +=` writes an array that other names may see, which is not "
                                            "differentiated yet: build a new array")  # fmt: skip
            if name in self.unit.locals and not isinstance(self.kinds.get(name), (Array, Container)):
                self.guarded.add(id(statement))
                return
            self.unit.refuse(statement, f"`{name}` may be an array that other names see, and `+=` would change it for "
                                        f"them, which is not differentiated yet: write `{name} = {name} + ...`")  # fmt: skip
        self.updated.add(name)

    def assignment(self, statement: gast.Assign, shared: set[str]) -> set[str]:
        operation = self.found[id(statement)]
        accumulated = effects.accumulates(self.unit, statement)
        if accumulated is not None:
            if accumulated in shared:
                return shared | set(effects.writes(statement))
            self.updated |= {accumulated, *effects.writes(statement)}
            return shared - set(effects.writes(statement))
        targets = {t for t in effects.writes(statement) if self.mutable(t)}
        if operation.form == "pop" or self.fresh(operation):
            return shared - targets
        held = {n for n in effects.reads(statement) if n in self.unit.locals and self.mutable(n)}
        held |= {n for h in held for n in self.inside.get(h, ())}
        if operation.form == "display" and targets <= self.unit.temps:
            self.inside |= dict.fromkeys(targets, held)
        view = operation.form in ("item", "rule", "display") and targets <= self.unit.temps
        return shared | targets if view else shared | targets | held

    def expression(self, statement: gast.Expr, shared: set[str]) -> set[str]:
        operation = self.found[id(statement)]
        if operation.form == "append" and self.unit.resolve(statement.value.func) is runtime.push:
            return shared  # push copies arrays
        if operation.form == "append":
            return shared | {o.id for o in operation.operands[1:] if isinstance(o, gast.Name) and self.mutable(o.id)}
        for call in (n for n in nodes(statement.value) if isinstance(n, gast.Call)):
            self.method(call)
        return shared

    def method(self, call: gast.Call) -> None:
        """A method called for its effect: refused where it changes its object."""
        changes = isinstance(call.func, gast.Attribute) and call.func.attr in spellings.MUTATING_METHODS
        if changes and call.func.attr not in STACK_METHODS and self.unit.resolve(call.func) is MISSING:
            self.unit.refuse(call, f"`.{call.func.attr}(...)` may change its object in place, which is not differentiated "
                                   "yet: build a new value")  # fmt: skip

    def fresh(self, operation: Operation) -> bool:
        """Whether the result is new memory (or cannot be changed)."""
        if operation.form == "flat" or isinstance(operation.node, (gast.BinOp, gast.Constant)):
            return True
        if operation.form == "rule":
            return _makes_new(operation.target)
        return operation.form == "display" and not operation.operands


def _makes_new(target: Any) -> bool:
    rule = table.lookup(target)
    return (rule is not None and rule.tag == "elementwise") or target in _FRESH


def is_fresh(unit: Unit, node: gast.AST) -> bool:
    """Whether an array expression is new memory, by its outermost operation."""
    if isinstance(node, gast.Call):
        target = unit.resolve(node.func)
        return target is not MISSING and effects.is_pure_function(target) and _makes_new(target)
    return isinstance(node, gast.BinOp) or (isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not))
