"""Every `for` runs over a range: arrays, lists, zip, enumerate and reversed are indexed.

    for v in xs: s += v   ->   t1 = sequence(xs); for k in range(len(t1)): v = t1[k]; s += v

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(xs, ys):
...     s = 0.0
...     for i, (x, y) in enumerate(zip(xs, ys)):
...         s = s + i * x * y
...     for i in range(3):
...         i = i + 1
...     return s
... ''', "loops"))
def f(xs, ys):
    s = 0.0
    t1 = sequence(xs)
    t2 = sequence(ys)
    for k in range(min(len(t1), len(t2))):
        i = k
        x = t1[k]
        y = t2[k]
        s = s + i * x * y
    for i_ in range(3):
        i = i_
        i = i + 1
    return s
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass

import gast

from s2sgrad import runtime
from s2sgrad.normalize.targets import bind
from s2sgrad.quote import assign, at, constant, expression, name, nodes
from s2sgrad.unit import Unit


@dataclass
class _Walk:
    """How to index what a loop runs over: its length, and the item at an index (an expression, or a list of them)."""

    length: gast.AST
    item: Callable[[gast.AST], gast.AST]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with `for NAME in range(..)` or `reversed(range(..))` loops only."""
    tree.body = _block(unit, tree.body)
    return tree


def _block(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    out = []
    for statement in body:
        if isinstance(statement, (gast.If, gast.For, gast.While)):
            statement.body, statement.orelse = _block(unit, statement.body), _block(unit, statement.orelse)
        out += _loop(unit, statement) if isinstance(statement, gast.For) else [statement]
    return out


def _loop(unit: Unit, loop: gast.For) -> list[gast.AST]:
    if is_range(unit, loop.iter) and isinstance(loop.target, gast.Name):
        if not _rebinds(loop.body, loop.target.id):
            return [loop]
        index = unit.local(loop.target.id)
        head = bind(unit, loop.target, name(index))
        loop.target = name(index, store=True)
        loop.body = at(loop, *head) + loop.body
        return [loop]
    setup: list[gast.AST] = []
    backward = _called(unit, loop.iter) is builtins.reversed
    walk = _walk(unit, loop.iter.args[0] if backward else loop.iter, setup)
    index = unit.local("k")
    steps: gast.AST = gast.Call(unit.builtin(range), [walk.length], [])
    loop.iter = gast.Call(unit.builtin(reversed), [steps], []) if backward else steps
    head = bind(unit, loop.target, walk.item(name(index)))
    loop.target = name(index, store=True)
    loop.body = at(loop, *head) + loop.body
    return at(loop, *setup) + [loop]


def is_range(unit: Unit, node: gast.AST) -> bool:
    """Whether `node` is `range(..)`, `reversed(range(..))`, or the first `range(..)[:n]` of one."""
    if _called(unit, node) is builtins.reversed and len(node.args) == 1:
        return is_range(unit, node.args[0])
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice):
        return is_range(unit, node.value)
    return _called(unit, node) is builtins.range and not any(isinstance(a, gast.Starred) for a in node.args)


def _called(unit: Unit, node: gast.AST):
    return unit.resolve(node.func) if isinstance(node, gast.Call) and not node.keywords else None


def _rebinds(body: list[gast.AST], target: str) -> bool:
    return any(
        isinstance(n, gast.Name) and n.id == target and isinstance(n.ctx, gast.Store)
        for statement in body
        for n in nodes(statement)
    )


def _refuse_endless(unit: Unit, node: gast.AST, called: object) -> None:
    """Loops over what cannot be indexed."""
    method = node.func.attr if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else ""
    unindexed = called in (builtins.map, builtins.filter, builtins.iter, builtins.set, builtins.frozenset, builtins.zip)
    if unindexed or method in ("items", "keys", "values") or isinstance(node, (gast.GeneratorExp, gast.Set, gast.Dict)):
        unit.refuse(node, "a loop over this cannot be reversed: loop over a list, a tuple, an array or a range")


def _walk(unit: Unit, node: gast.AST, setup: list[gast.AST]) -> _Walk:
    called = unit.resolve(node.func) if isinstance(node, gast.Call) else None
    if called is builtins.zip and node.args:
        if node.keywords:
            unit.refuse(node, "`zip(..., strict=...)` is not differentiated yet: leave `strict` out")
        walks = [_walk(unit, argument, setup) for argument in node.args]
        length = walks[0].length
        if len(walks) > 1:
            length = gast.Call(unit.builtin(min), [w.length for w in walks], [])
        return _Walk(length, lambda k: gast.Tuple([w.item(k) for w in walks], gast.Load()))
    if called is builtins.enumerate and node.args:
        start = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), constant(0))
        inner = _walk(unit, node.args[0], setup)
        if isinstance(start, gast.Constant) and start.value == 0:
            return _Walk(inner.length, lambda k: gast.Tuple([k, inner.item(k)], gast.Load()))
        first = unit.temp()
        setup.append(assign(first, start))
        count = lambda k: expression("k + first", k=k, first=first)  # noqa: E731
        return _Walk(inner.length, lambda k: gast.Tuple([count(k), inner.item(k)], gast.Load()))
    _refuse_endless(unit, node, called)
    if called is builtins.reversed and len(node.args) == 1:
        inner = _walk(unit, node.args[0], setup)
        return _Walk(inner.length, lambda k: inner.item(expression("n - 1 - k", n=inner.length, k=k)))
    holder = unit.temp()
    if is_range(unit, node):
        value = node
    else:
        value = expression("sequence(xs)", sequence=unit.helper("sequence", runtime.sequence), xs=node)
        at(node, value)
    setup.append(assign(holder, value))
    length = gast.Call(unit.builtin(len), [name(holder)], [])
    return _Walk(length, lambda k: expression("xs[k]", xs=holder, k=k))
