"""Objects of libraries that are made of data and only called: what they were made of goes to each call.

    s = CubicSpline(x, y)     ->     s_values = data_of(np.array(y), (x,)); s = made(CubicSpline, s_values, x)
    v = s(t)                         v = at(s, s_values, t)
    d = s.derivative(); w = d(t)     w = at(s, s_values, t, nu=1)
    z = s.integrate(a, b)            z = integral(s, s_values, a, b)

>>> import scipy.interpolate
>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import scipy.interpolate
... def f(y, t):
...     s = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], y)
...     return s(t) * s.derivative()(t)
... ''', "library_desugaring"))
def f(y, t):
    s_values = np.array(y)
    s = made(scipy.interpolate.CubicSpline, s_values, [0.0, 1.0, 2.0])
    return at(s, s_values, t) * at(s, s_values, t, nu=1)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast
import numpy as np

from s2sgrad.ir import quote
from s2sgrad.ir.quote import Transformer, assign, clone, constant, name, nodes
from s2sgrad.ir.reach import module_alias
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize.made_arguments import MadeArguments
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue
from s2sgrad.runtime.copies import data_of


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with calls of such objects that say what these were made of."""
    calls = [node for node in nodes(tree) if isinstance(node, gast.Call)]
    rewriter = _Rewriter(unit)
    if not any(rewriter.known(call) is not None for call in calls):
        return tree
    rewriter.find(NameUses(tree), calls)
    tree = rewriter.visit(tree)
    rewriter.arguments.require_unwritten(tree)
    return tree


class _Asked(NamedTuple):
    """An object that an expression gives: the name it has, or the call that makes it; its maker; the order of the derivative
    of it that is meant."""

    root: Any
    maker: Any  # a `rules.instances.Maker`
    order: int = 0


class _Rewriter(Transformer):
    """`made`: the variables that are such objects, with the calls that make them; `slopes`: those that are derivatives of
    one; `parts`: the name of the data of each object."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.arguments = unit, MadeArguments(unit)
        self.made, self.slopes = dict[str, _Asked](), dict[str, _Asked]()
        self.parts: dict[str, str] = {}

    def find(self, uses: NameUses, calls: list[gast.Call]) -> None:
        """Find the variables that are bound once, to such an object or a derivative of one, and only asked what is known."""
        once = {n: values[0] for n, values in uses.assigned.items() if uses.bound[n] == 1}
        self.made = {n: asked for n, asked in self.given(once).items() if isinstance(asked.root, gast.Call)}
        slopes = {n: asked for n, asked in self.given(once).items() if n not in self.made}
        self.slopes = slopes
        read = {id(_root(_called(c)[0])) for c in calls if self.function(c) is not None}
        self.slopes = {n: asked for n, asked in slopes.items() if uses.only_read_in(n, read)}
        read |= {id(asked.root) for asked in self.slopes.values()}
        self.made = {n: asked for n, asked in self.made.items() if uses.only_read_in(n, read)}
        self.slopes = {n: asked for n, asked in self.slopes.items() if asked.root.id in self.made}

    def given(self, once: dict[str, gast.AST]) -> dict[str, _Asked]:
        """The variables that are given one of these objects."""
        found = {n: self.asked(value) for n, value in once.items() if isinstance(value, gast.Call)}
        return {n: asked for n, asked in found.items() if asked is not None}

    def known(self, node: gast.AST) -> Any:
        """What stands for the object that an expression makes, of arguments that are written out."""
        plain = isinstance(node, gast.Call) and all(k.arg is not None for k in node.keywords)
        if not plain or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        maker = catalogue.instances_of(self.unit.resolve(node.func))
        return maker if maker is not None and len(node.args) >= maker.least else None

    def asked(self, node: gast.AST) -> _Asked | None:
        """The object that an expression gives; None where it gives none of these."""
        if isinstance(node, gast.Name):
            if node.id in self.slopes:
                return self.slopes[node.id]
            known = self.made.get(node.id)
            return _Asked(node, known.maker, known.order) if known is not None else None
        if (maker := self.known(node)) is not None:
            return _Asked(node, maker)
        owner, method = _called(node) if isinstance(node, gast.Call) else (node, "")
        asked = self.asked(owner) if method not in ("", "__call__") else None
        if asked is None or method not in asked.maker.orders:
            return None
        given = [*node.args, *(k.value for k in node.keywords if k.arg in ("n", "nu"))]
        order = given[0] if given else constant(1)
        if len(given) != len(node.args) + len(node.keywords) or len(given) > 1 or not isinstance(order, gast.Constant):
            return None
        step = asked.maker.orders[method] * order.value
        return _Asked(asked.root, asked.maker, asked.order + step) if step * asked.order >= 0 else None

    def function(self, call: gast.Call) -> tuple[_Asked, Any] | None:
        """The object of which a call asks something, and the function that stands for that."""
        owner, method = _called(call)
        asked = self.asked(owner)
        if asked is None or any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return None
        known = asked.maker.at if method == "__call__" else asked.maker.methods.get(method)
        return (asked, known) if known is not None else None

    def visit_Assign(self, statement: gast.Assign) -> Any:
        target = getattr(statement.targets[0], "id", None)
        if target in self.slopes:
            return quote.at(statement, assign(self.unit.local("unused"), constant(None)))
        if target not in self.made:
            return self.generic_visit(statement)
        self.generic_visit(self.made[target].root)
        data, root = self.parts.setdefault(target, self.unit.local(f"{target}_values")), self.made[target].root
        values, made = self.values(root, self.made[target].maker), self.making(root, name(data))
        made_here = quote.at(statement, assign(data, values), assign(target, made))
        self.arguments.note(root, made_here, {target})
        return made_here

    def values(self, call: gast.Call, maker: Any) -> gast.AST:
        """The data of an object that a call makes."""
        given = [call.args[place] for place in maker.data]
        said = "np.stack((y, z))" if len(given) > 1 else "np.array(y)"
        values = quote.expression(said, np=module_alias(self.unit, np), **dict(zip("yz", given, strict=False)))
        rest = [a for place, a in enumerate(call.args) if place not in maker.data] + [k.value for k in call.keywords]
        varying = [clone(a) for a in rest if self.may_vary(a)]
        if not varying:
            return values
        return gast.Call(name(self.unit.helper("data_of", data_of)), [values, gast.Tuple(varying, gast.Load())], [])

    def making(self, call: gast.Call, data: gast.AST) -> gast.AST:
        """The call that makes an object of `data`."""
        maker = self.known(call)
        rest = [a for place, a in enumerate(call.args) if place not in maker.data]
        return gast.Call(name(self.unit.helper("made", maker.make)), [call.func, data, *rest], call.keywords)

    def may_vary(self, option: gast.AST) -> bool:
        """Whether an argument may carry a derivative."""
        return any(isinstance(n, gast.Name) and self.unit.resolve(n) is MISSING for n in nodes(option))

    def visit_Call(self, node: gast.Call) -> gast.AST:
        found = self.function(node)
        if found is None:
            self.generic_visit(node)
            return node
        (root, maker, order), function = found
        arguments, keywords = list(map(self.visit, node.args)), list(map(self.visit, node.keywords))
        if isinstance(root, gast.Name):
            owner, data = name(root.id), name(self.parts[root.id])
        else:
            self.generic_visit(root)
            data = name(self.unit.temp())
            owner = self.making(root, gast.NamedExpr(name(data.id, store=True), self.values(root, maker)))
        if order:
            self.once(node, function, keywords)
            keywords = [*keywords, gast.keyword("nu", constant(order))]
        asked = gast.Call(name(self.unit.helper(function.__name__, function)), [owner, data, *arguments], keywords)
        return quote.at(node, asked)[0]

    def once(self, node: gast.Call, function: Any, keywords: list[Any]) -> None:
        """Refuse an order that is asked of a derivative."""
        if any(k.arg == "nu" for k in keywords) or (_called(node)[1] == "__call__" and len(node.args) > 1):
            self.unit.refuse(
                node, "a derivative of a derivative of a spline is asked for here: name its order, as in `s(t, 2)`"
            )


def _called(call: gast.Call) -> tuple[gast.AST, str]:
    """The object of which a call calls a method, and the name of the method."""
    function = call.func
    return (function.value, function.attr) if isinstance(function, gast.Attribute) else (function, "__call__")


def _root(node: gast.AST) -> gast.AST:
    """The object at the root of calls of methods."""
    while isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        node = node.func.value
    return node
