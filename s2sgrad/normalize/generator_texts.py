"""The texts of generator functions: where they are, and which can be drawn from item by item (`stepwise`).

    def pairs(x): yield from x; yield 1.0      ->      def pairs(x): for item in x: yield item; yield 1.0

>>> import gast
>>> tree = gast.parse('''
... def f(x):
...     def squares(items):
...         for v in items:
...             yield v * v
...     def rest(n):
...         return n
...     return squares(x)
... ''').body[0]
>>> sorted(definitions(tree))
['squares']
"""

from __future__ import annotations

import gast

from s2sgrad.errors import S2SGradError
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import Transformer, clone, mentioned, name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.check import yields
from s2sgrad.source import read
from s2sgrad.standard import generators

_PLAIN = (gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.For, gast.While, gast.Return, gast.Break, gast.Continue,
          gast.Pass, gast.Raise)  # fmt: skip


class NotDrawn(Exception):
    """Drawing cannot be written in these statements."""


def definitions(tree: gast.FunctionDef) -> dict[str, gast.FunctionDef | None]:
    """The generator functions defined in a function, by name; None if the name may refer to something else."""
    inside = [n for n in nodes(tree) if isinstance(n, gast.FunctionDef) and n is not tree]
    by_name: dict[str, gast.FunctionDef | None] = {n.name: n for n in inside if yields(n)}
    bound = scoping.all_bindings(tree)
    declared = {n for s in nodes(tree) if isinstance(s, (gast.Nonlocal, gast.Global)) for n in s.names}
    for local, definition in list(by_name.items()):
        names = mentioned(definition)
        if bound[local] > 1 or names & declared or definition.decorator_list:
            by_name[local] = None
    return by_name


def text_of(sources, call: gast.Call) -> gast.FunctionDef:
    """The definition of a generator function, nested in this function or from its module."""
    if isinstance(call.func, gast.Name) and call.func.id in sources.yielding:
        definition = sources.yielding[call.func.id]
        if definition is None:
            raise NotDrawn
        return clone(definition)
    target = sources.unit.resolve(call.func)
    others = target.__globals__ is not sources.unit.primal.function.__globals__ and target.__module__ != generators.__name__
    if others or target.__closure__:
        raise NotDrawn
    try:
        primal = read(target)
        _, tree = Unit.of(primal)
    except S2SGradError:
        raise NotDrawn from None
    for node in nodes(tree):
        if hasattr(node, "lineno"):
            node.primal = primal
    return tree


def can_step(sources, call: gast.Call) -> bool:
    """Whether the source of a generator function exists, in statements between which it can be suspended."""
    try:
        for statement in text_of(sources, call).body:
            require_plain(Delegated(sources.unit).visit(statement))
    except NotDrawn:
        return False
    return True


class Delegated(Transformer):
    """Rewrites `yield from` as a loop."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Expr(self, statement: gast.Expr) -> gast.AST:
        self.generic_visit(statement)
        if not isinstance(statement.value, gast.YieldFrom):
            return statement
        item = self.unit.local("item")
        expression_of_item = gast.Expr(gast.Yield(name(item)))
        return gast.For(name(item, store=True), statement.value.value, [expression_of_item], [], None)


def require_plain(statement: gast.AST) -> None:
    """Raise NotDrawn for statements in which a `yield` may be anywhere but by itself."""
    for part in nodes(statement):
        if isinstance(part, gast.stmt) and not isinstance(part, _PLAIN):
            raise NotDrawn
        if isinstance(part, (gast.YieldFrom, gast.Await, gast.NamedExpr, gast.Lambda, gast.GeneratorExp)):
            raise NotDrawn
        if isinstance(part, gast.stmt) and not isinstance(part, gast.Expr):
            own = [p for p in (getattr(part, "value", None), getattr(part, "test", None), getattr(part, "iter", None)) if p]
            if any(isinstance(n, gast.Yield) for n in nodes(*own)):
                raise NotDrawn
