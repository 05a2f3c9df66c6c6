"""Unrolls a loop over a tuple display if the body may write an element.

    for a in (x, y): a *= 2.0   ->   a = x; a *= 2.0; a = y; a *= 2.0

Later passes must know which array a name refers to.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(u, v):
...     for k, (a, b) in enumerate(((u, v[0]), (v, u[0]))):
...         a[k] = b
... ''', "loops"))
def f(u, v):
    t1 = v[0]
    t2 = u[0]
    k = 0
    a = u
    b = t1
    a[k] = b
    k = 1
    a = v
    b = t2
    a[k] = b
"""

from __future__ import annotations

import builtins

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.targets import bind

_MOST = 8  # trips that are unrolled


def of(unit: Unit, loop: gast.AST) -> list[gast.AST] | None:
    """The unrolled statements of a loop over a display whose body may write an element; None for any other statement."""
    if not isinstance(loop, gast.For) or loop.orelse or leaves_trip(loop.body):
        return None
    if not _may_write(loop.body):
        return None
    elements = _elements(unit, loop.iter)
    if elements is None or not 0 < len(elements) <= _MOST or all(isinstance(e, gast.Constant) for e in elements):
        return None
    bound = stored(loop.target, loop.iter, *loop.body)
    out: list[gast.AST] = []
    parts = [_evaluated(unit, e, bound, out) for e in elements]
    for element in parts:
        out += at(loop, *bind(unit, clone(loop.target), element))
        out += clone(loop.body)
    return out


def _elements(unit: Unit, node: gast.AST) -> list[gast.AST] | None:
    """The elements of a display, or of `enumerate`, `reversed` or `zip` of displays; None for anything else."""
    if isinstance(node, (gast.Tuple, gast.List)):
        return None if any(isinstance(e, gast.Starred) for e in node.elts) else list(node.elts)
    called = unit.called(node)
    tool = _OF_DISPLAYS.get(called) if is_one_of(called, _OF_DISPLAYS) else None
    return None if tool is None else tool(unit, node)


def _zipped_elements(unit: Unit, node: gast.Call) -> list[gast.AST] | None:
    inner = [_elements(unit, a) for a in node.args]
    if not inner or None in inner or any(k.arg != "strict" for k in node.keywords):
        return None
    if node.keywords and len(set(map(len, inner))) > 1:
        return None
    return [gast.Tuple(list(row), gast.Load()) for row in zip(*inner, strict=False)]


def _reversed_elements(unit: Unit, node: gast.Call) -> list[gast.AST] | None:
    inner = _elements(unit, node.args[0]) if len(node.args) == 1 and not node.keywords else None
    return None if inner is None else inner[::-1]


def _counted_elements(unit: Unit, node: gast.Call) -> list[gast.AST] | None:
    inner = _elements(unit, node.args[0]) if node.args and not node.keywords else None
    start = node.args[1] if len(node.args) == 2 else constant(0)
    if inner is None or not isinstance(start, gast.Constant) or type(start.value) is not int:
        return None
    return [gast.Tuple([constant(k), e], gast.Load()) for k, e in enumerate(inner, start.value)]


_OF_DISPLAYS = {builtins.zip: _zipped_elements, builtins.reversed: _reversed_elements, builtins.enumerate: _counted_elements}


def _evaluated(unit: Unit, element: gast.AST, bound: set[str], out: list[gast.AST]) -> gast.AST:
    """An element as it is evaluated before the first trip: a name or a constant, or a display of these."""
    if isinstance(element, gast.Constant) or (isinstance(element, gast.Name) and element.id not in bound):
        return element
    if isinstance(element, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in element.elts):
        return at(element, type(element)([_evaluated(unit, e, bound, out) for e in element.elts], gast.Load()))[0]
    holder = unit.temp()
    out += at(element, assign(holder, element))
    return name(holder)


def _may_write(body: list[gast.AST]) -> bool:
    return any(
        isinstance(n, gast.AugAssign)
        or (isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store))
        or (isinstance(n, gast.Expr) and isinstance(n.value, gast.Call))
        for n in nodes(*body)
    )
