"""Objects of libraries that are made of data and only called: what they were made of goes to each call.

    s = CubicSpline(x, y)     ->     s_places, s_values = x, np.array(y); s = made(CubicSpline, s_places, s_values)
    v = s(t)                         v = at(s, s_places, s_values, t)
    d = s.derivative(); w = d(t)     w = at(s, s_places, s_values, t, 1)

>>> import scipy.interpolate
>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import scipy.interpolate
... def f(x, y, t):
...     s = scipy.interpolate.CubicSpline(x, y)
...     return s(t) * s.derivative()(t)
... ''', "library_desugaring"))
def f(x, y, t):
    s_places = x
    s_values = np.array(y)
    s = made(scipy.interpolate.CubicSpline, s_places, s_values)
    return at(s, s_places, s_values, t) * at(s, s_places, s_values, t, 1)
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.ir import quote
from s2sgrad.ir.quote import Transformer, assign, clone, constant, name, nodes
from s2sgrad.ir.reach import module_alias
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue

_DERIVATIVE = "derivative"


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with calls of such objects that say what these were made of."""
    calls = [node for node in nodes(tree) if isinstance(node, gast.Call)]
    rewriter = _Rewriter(unit)
    if not any(rewriter.known(call) is not None for call in calls):
        return tree
    rewriter.find(NameUses(tree), calls)
    return rewriter.visit(tree)


class _Rewriter(Transformer):
    """`names`: the variables that are such objects; `derivatives`: those that are derivatives of one, with its name and the
    order; `parts`: what each object was made of, and what calls it."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.names = unit, set[str]()
        self.parts: dict[str, tuple[str, str, Any]] = {}
        self.derivatives: dict[str, tuple[str, gast.AST]] = {}

    def find(self, uses: NameUses, calls: list[gast.Call]) -> None:
        """Find the variables that are bound once, to such an object, and only called."""
        once = {n for n, times in uses.bound.items() if times == 1}
        called = {id(call.func) for call in calls}
        alone = once & uses.always(also=lambda v: self.known(v) is not None)
        slopes = once & uses.always(also=lambda v: self._slope(v, alone) is not None)
        slopes = {n for n in slopes if uses.only_read_in(n, called)}
        called |= {id(uses.assigned[n][0]) for n in slopes}
        read = {id(c.func.value) for c in calls if id(c) in called and self._slope(c, alone) is not None}
        self.names = {n for n in alone if uses.only_read_in(n, called | read)}
        found = {n: self._slope(uses.assigned[n][0], self.names) for n in slopes}
        self.derivatives = {n: slope for n, slope in found.items() if slope is not None}

    def known(self, node: gast.AST) -> tuple[Any, Any] | None:
        """What makes and calls the object that an expression makes."""
        plain = isinstance(node, gast.Call) and len(node.args) > 1 and all(k.arg is not None for k in node.keywords)
        if not plain or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        return catalogue.instances_of(self.unit.resolve(node.func))

    def _slope(self, node: gast.AST, owners: set[str]) -> tuple[str, gast.AST] | None:
        """(the object, the order) of a derivative of one of these objects."""
        if (
            not isinstance(node, gast.Call)
            or not isinstance(node.func, gast.Attribute)
            or len(node.args) > 1
            or node.keywords
        ):
            return None
        owner = node.func.value
        if node.func.attr != _DERIVATIVE or not isinstance(owner, gast.Name) or owner.id not in owners:
            return None
        order = node.args[0] if node.args else constant(1)
        return (owner.id, order) if isinstance(order, gast.Constant) else None

    def visit_Assign(self, statement: gast.Assign) -> Any:
        target = statement.targets[0]
        if getattr(target, "id", None) in self.derivatives:
            return quote.at(statement, assign(self.unit.local("unused"), constant(None)))
        self.generic_visit(statement)
        if getattr(target, "id", None) not in self.names:
            return statement
        places, values = self.unit.local(f"{target.id}_places"), self.unit.local(f"{target.id}_values")
        call = statement.value
        self.parts[target.id] = places, values, self._object(call)[1]
        copied = quote.expression("np.array(y)", np=module_alias(self.unit, np), y=call.args[1])
        made = self._made(call, name(places), name(values))
        return quote.at(statement, assign(places, call.args[0]), assign(values, copied), assign(target.id, made))

    def _object(self, call: gast.Call) -> tuple[Any, Any]:
        """What makes and calls the object that a call makes, which is known to be one."""
        known = self.known(call)
        assert known is not None
        return known

    def _made(self, call: gast.Call, places: gast.AST, values: gast.AST) -> gast.AST:
        make = self._object(call)[0]
        arguments = [call.func, places, values, *call.args[2:]]
        return gast.Call(name(self.unit.helper("made", make)), arguments, call.keywords)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        owner, order = node.func, None
        if isinstance(owner, gast.Name) and owner.id in self.derivatives:
            local, order = self.derivatives[owner.id]
            owner = name(local)
        elif (found := self._slope(owner, self.names)) is not None:
            owner, order = name(found[0]), found[1]
        if isinstance(owner, gast.Name) and owner.id in self.parts:
            places, values, at = self.parts[owner.id]
            return self._at(node, at, owner, name(places), name(values), order)
        if self.known(owner) is None or order is not None:
            return node
        places, values = (gast.NamedExpr(name(self.unit.temp(), store=True), v) for v in (
            owner.args[0], quote.expression("np.array(y)", np=module_alias(self.unit, np), y=owner.args[1])))  # fmt: skip
        made = self._made(owner, places, values)
        return self._at(node, self._object(owner)[1], made, name(places.target.id), name(values.target.id), None)

    def _at(self, node: gast.Call, at: Any, made: gast.AST, places: gast.AST, values: gast.AST, order: Any) -> gast.AST:
        if order is not None and (len(node.args) > 1 or any(k.arg == "nu" for k in node.keywords)):
            self.unit.refuse(
                node, "a derivative of a derivative of a spline is asked for here: name its order, as in `s(t, 2)`"
            )
        orders = [clone(order)] if order is not None else []
        arguments = [made, places, values, *node.args, *orders]
        return quote.at(node, gast.Call(name(self.unit.helper("at", at)), arguments, node.keywords))[0]
