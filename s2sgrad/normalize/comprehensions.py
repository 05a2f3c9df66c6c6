"""Comprehensions, and consumed generator expressions, become loops.

    ys = [f(x) for x in xs if x > 0]   ->   ys = []; for x in xs: if x > 0: ys.append(f(x))
    s = sum(f(x) for x in xs)          ->   s = 0; for x in xs: s = s + f(x)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, n):
...     ys = [x * k for k in range(n) if k != 2]
...     return sum(y * y for y in ys)
... ''', "flatten"))
def f(x, n):
    ys = []
    for k in range(n):
        t1 = k != 2
        if t1:
            t2 = x * k
            ys.append(t2)
    total = 0
    t3 = sequence(ys)
    t4 = len(t3)
    for k_ in range(t4):
        y = t3[k_]
        t5 = y * y
        total = total + t5
    result = total
    return result
"""

from __future__ import annotations

import builtins

import gast

from s2sgrad.ir.quote import assign, at, constant, expression, name, nodes, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.asking import its

_LISTS = (builtins.max, builtins.min, builtins.sorted)


def written_out(unit: Unit, node: gast.AST, target: str | None = None) -> tuple[list[gast.AST], gast.AST] | None:
    """The statements of a comprehension, or of a call that consumes one, and its value; None for anything else.

    `target` is the name that the value will be bound to.
    """
    if isinstance(node, gast.ListComp):
        mine = all(n.id != target for n in nodes(node) if isinstance(n, gast.Name))
        holder = target if target is not None and mine else unit.local("items")
        grown = _loops(unit, node, statements("items.append(v)", items=holder, v=node.elt))
        return at(node, assign(holder, gast.List([], gast.Load())), *grown), name(holder)
    if isinstance(node, gast.DictComp):
        holder = unit.local("items")
        put = _loops(unit, node, statements("items[k] = v", items=holder, k=node.key, v=node.value))
        return at(node, assign(holder, gast.Dict([], [])), *put), name(holder)
    if isinstance(node, gast.Call) and len(node.args) == 1 and isinstance(node.args[0], gast.GeneratorExp):
        return _consumed(unit, node, node.args[0])
    return None


def _consumed(unit: Unit, call: gast.Call, generator: gast.GeneratorExp) -> tuple[list[gast.AST], gast.AST] | None:
    """The same for a call that consumes a generator expression: `sum`, `any`, `all`, or one that takes a list."""
    target = unit.resolve(call.func)
    if target is builtins.sum and not call.keywords:
        holder = unit.local("total")
        summed = _loops(unit, generator, [assign(holder, expression("s + v", s=holder, v=generator.elt))])
        return at(call, assign(holder, constant(0)), *summed), name(holder)
    if target in (builtins.any, builtins.all) and len(generator.generators) == 1:
        holder = unit.local("found" if target is builtins.any else "holds")
        test = generator.elt if target is builtins.any else gast.UnaryOp(gast.Not(), generator.elt)
        decide = gast.If(test, [assign(holder, constant(target is builtins.any)), gast.Break()], [])
        decided = _loops(unit, generator, [decide])
        return at(call, assign(holder, constant(target is builtins.all)), *decided), name(holder)
    if isinstance(target, type) or target in _LISTS or its(target, "__module__", "") == "numpy":
        call.args = [at(generator, gast.ListComp(generator.elt, generator.generators))[0]]
        return [], call
    return None


def _loops(unit: Unit, node: gast.AST, body: list[gast.AST]) -> list[gast.AST]:
    """The loops and tests of a comprehension around the statements for one element."""
    if any(generator.is_async for generator in node.generators):
        unit.refuse(node, "an asynchronous comprehension cannot be differentiated: write it as a loop")
    body = at(node, *body)
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = at(test, gast.If(test, body, []))
        body = at(generator.iter, gast.For(generator.target, generator.iter, body, [], None))
    return body
