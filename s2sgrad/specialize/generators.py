"""Loops over a generator function: its body is inlined, with the body of the loop at each `yield`.

    def powers(x): acc = 1.0; while acc < 9.0: acc = acc * x; yield acc
    for p in powers(x): s += p      ->      acc = 1.0; while acc < 9.0: acc = acc * x; p = acc; s += p

Where the body breaks out of the loop, the generator returns from that `yield`.

Any other consumer of a generator gets a list of its values.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     def halves(n):
...         for k in range(n):
...             yield x / (k + 1)
...     total = 0.0
...     for v in halves(3):
...         total = total + v
...     return total
... ''', "flatten"))
def f(x):
    total = 0.0
    for k in range(3):
        t1 = k + 1
        v = x / t1
        total = total + v
    result_ = None
    result = total
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir import scoping
from s2sgrad.ir.exits import leaves, with_exits
from s2sgrad.ir.quote import assign, at, clone, constant, expression, mentioned, name, nodes
from s2sgrad.ir.unit import MISSING, parameters
from s2sgrad.normalize import targets
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue
from s2sgrad.specialize.static_values import Function, Generator

_TO_THE_END = (sum, list, tuple, max, min, sorted)


def _only_computes(function: Function) -> bool:
    """Whether a generator may run to its end before its values are used: it terminates, has no effects, and depends on its
    arguments alone."""
    if not isinstance(function.node, gast.FunctionDef) :
        return False
    inside = list(nodes(*function.node.body))
    if any(isinstance(n, (gast.While, gast.Global, gast.Nonlocal, gast.With, gast.Raise)) for n in inside):
        return False
    if any(isinstance(n, (gast.Subscript, gast.Attribute)) and isinstance(n.ctx, gast.Store) for n in inside):
        return False
    if any(isinstance(n, gast.AugAssign) for n in inside):
        return False
    if any(isinstance(n, gast.Attribute) and _is_of_an_object(function, n) for n in inside):
        return False
    return all(catalogue.of(function.unit.resolve(n.func)).pure for n in inside if isinstance(n, gast.Call))


def _is_of_an_object(function: Function, node: gast.Attribute) -> bool:
    """Whether an attribute may belong to an object that changes before the next value is requested."""
    return node.attr not in effects.FLAT_ATTRIBUTES and function.unit.resolve(node) is MISSING


class Generators:
    """Consumes the generators of one function, each once."""

    def once(self, generator: Generator, node: gast.AST) -> None:
        """Mark a generator as consumed; refuse a second time."""
        if generator.used or generator.loops != tuple(self.flattener.loops):
            self.unit.refuse(node, "this generator may have been run before, which cannot be followed: make a list of its "
                                   "values")  # fmt: skip
        generator.used = True

    def consume(self, loop: gast.For) -> bool:
        """Inline a loop over a generator function; returns whether it was one."""
        if not self.may_be_known(loop.iter):
            return False
        generator = self.held(loop.iter) or self.evaluate(loop.iter)
        if not isinstance(generator, Generator):
            return False
        self.once(generator, loop)
        body, left = loop.body, None
        if leaves(body, gast.Break):
            left = self.unit.local("left")
            self.counts[left] += 2
            self.flattener.out += at(loop, assign(left, constant(False)))
            body = with_exits(body, gast.Break, lambda _: at(loop, assign(left, constant(True))))

        def at_yield(value: gast.AST) -> list[gast.AST]:
            return [*at(loop, *targets.bind(self.unit, clone(loop.target), value)), *clone(body)]

        self.written_out(
            generator.function, generator.given, generator.keywords, loop, at_yield, left, generator.around)  # fmt: skip
        return True

    def is_apart(self, function: Function) -> bool:
        """Whether nothing that a generator reads can change: all its free variables are bound once, and the surrounding
        function writes to nothing but its own sums."""
        if any(running.unit is not self.unit for running, _ in self.running):
            return False
        if any(self.may_write(n) for n in nodes(*self.unit.primal.tree.body)):
            return False
        around = NameUses(self.unit.primal.tree)
        if around.updated.keys() - around.always(gast.Constant, updated=True):
            return False
        own = scoping.bound(function.node.body) | {p.id for p in parameters(function.node)}
        read = mentioned(*function.node.body) - own
        return all(self.is_fixed(n) for n in read & self.unit.locals)

    def may_write(self, node: gast.AST) -> bool:
        """Whether a node may change the contents of an array or list, or a variable of another function."""
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            return isinstance(node.ctx, gast.Store)
        if isinstance(node, gast.AugAssign):
            return not isinstance(node.target, gast.Name)
        if isinstance(node, gast.Expr):
            return not isinstance(node.value, (gast.Yield, gast.Constant))
        if not isinstance(node, gast.Call):
            return isinstance(node, (gast.Nonlocal, gast.Global))
        target = self.unit.resolve(node.func)
        if target is MISSING:
            return isinstance(node.func, gast.Attribute) and node.func.attr == "pop"
        return not (catalogue.of(target).pure or is_generator(target) or target in (zip, enumerate, range))

    def listed(self, node: gast.AST, consumer: Any) -> gast.AST:
        """An argument; for a generator, the list of its values."""
        generator = self.held(node)
        if isinstance(node, gast.Call) and self.may_be_known(node):
            generator = self.evaluate(node)
        if not isinstance(generator, Generator):
            return generator if isinstance(generator, gast.AST) else node
        self.once(generator, node)
        function = generator.function
        beside = consumer in (runtime.sequence, zip) and _only_computes(function)
        if consumer not in _TO_THE_END and not (beside and self.is_apart(function)):
            self.unit.refuse(node, "what consumes this generator may stop early, or change what it reads, which cannot be "
                                   "followed: make a list of its values")  # fmt: skip
        items, item = self.unit.local("items"), self.unit.local("item")
        self.flattener.out += at(node, assign(items, gast.List([], gast.Load())))
        self.counts[items] += 2
        grow = gast.Expr(expression("items.append(v)", items=items, v=item))

        def at_yield(value: gast.AST) -> list[gast.AST]:
            return at(node, assign(item, value), clone(grow))

        self.written_out(generator.function, generator.given, generator.keywords, node, at_yield, None, generator.around)
        return at(node, name(items))[0]
