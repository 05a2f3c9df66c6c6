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

import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.exits import leaves, leaves_trip, with_exits
from s2sgrad.ir.notes import CLEANS_UP
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, nodes
from s2sgrad.normalize import targets
from s2sgrad.normalize.iterables import DRAWS_ALL, RUN_THROUGH
from s2sgrad.primitives import libraries
from s2sgrad.runtime.asking import its
from s2sgrad.specialize.class_members import object_with
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Generator, Object
from s2sgrad.specialize.unsettled import Unsettled

_AtYield = Callable[[gast.AST], list[gast.AST]]  # the statements of a consumer for a value
_ASKED_BY_NUMPY = {n for n in dir(np.ndarray) if n[:2] != "__" or n[:7] == "__array"}
"""What NumPy's functions ask of an object before they run through its items: `np.sum(o)` and `np.amax(o)` call `o.sum` and
`o.max`."""


class Generators(Family):
    """Consumes the generators of one function, each once."""

    def __init__(self, evaluator: Evaluator, objects: Objects, inliner: Inliner) -> None:
        super().__init__(evaluator)
        self.objects, self.inliner = objects, inliner

    def once(self, generator: Generator, node: gast.AST, drained: bool = False) -> None:
        """Mark a generator as consumed; refuse a second time.  `drained`: all of its values are drawn."""
        if generator.used or generator.loops != tuple(self.writer.loops):
            self.unit.refuse(node, "this generator may have been run before, which cannot be followed: make a list of its "
                                   "values")  # fmt: skip
        body = (generator.function.tree or generator.function.node).body
        if not drained and any(map(CLEANS_UP.of, nodes(*body) if isinstance(body, list) else nodes(body))):
            self.unit.refuse(node, "this generator may be left at a `yield`, and then runs `finally` or leaves a `with`, "
                                   "which cannot be followed: make a list of its values")  # fmt: skip
        generator.used = True

    def consume(self, loop: gast.For) -> bool:
        """Inline a loop over a generator function; returns whether it was one."""
        if not self.lookahead.may_be_known(loop.iter) and not self.unit.draws(loop.iter):
            return False
        generator = self.statics.held(loop.iter) or self.evaluator.evaluate(loop.iter)
        generator = self.items_of_object(generator, loop.iter)
        if not isinstance(generator, Generator):
            loop.iter = at(loop.iter, clone(generator))[0] if isinstance(generator, gast.AST) else loop.iter
            return False
        self.once(generator, loop, not leaves_trip(loop.body))
        body, left = loop.body, None
        if leaves(body, gast.Break):
            left = self.unit.local("left")
            self.names.counts[left] += 2
            self.writer.out += at(loop, assign(left, constant(False)))
            body = with_exits(body, gast.Break, lambda _: at(loop, assign(left, constant(True))))

        def at_yield(value: gast.AST) -> list[gast.AST]:
            return [*at(loop, *targets.bind(self.unit, clone(loop.target), value)), *clone(body)]

        self.write_out(generator, loop, at_yield, left)
        return True

    def write_out(self, generator: Generator, node: gast.AST, at_yield: _AtYield, left: str | None = None) -> None:
        """Write the text of a generator, with the statements of its consumer at each `yield`."""
        around = generator.around
        self.inliner.written_out(generator.function, generator.given, generator.keywords, node, at_yield, left, around)

    def items_of_object(self, value: Any, node: gast.AST) -> Any:
        """What a loop over an object runs over: what `__iter__` gives; any other value as it is."""
        owner = object_with(value, "__iter__")
        if owner is None:
            return value
        given = self.evaluator.apply(self.objects.method(owner, "__iter__", node), [], {}, node)
        if object_with(given, "__next__") is None:
            return given
        self.unit.refuse(node, "an object that is its own iterator is drawn from as the program runs, which cannot be "
                               "followed: write `__iter__` as a generator")  # fmt: skip

    def iterates(self, consumer: Any, value: Any) -> bool:
        """Whether a function sees no more of an object than what its `__iter__` gives; NumPy's do of a sequence."""
        if is_one_of(consumer, RUN_THROUGH - {np.array}) or consumer is runtime.sequence:
            return True
        owners: list[Any] = [object_with(value, word) for word in ("__len__", "__getitem__")]
        if consumer is runtime.keys_of:  # `o.values()`, if that is the method of a dict
            return any(o is not None and issubclass(o.cls, dict) for o in owners)
        if None in owners or not libraries.is_numeric(consumer):
            return False
        in_c = not isinstance(its(consumer, "_implementation", consumer), types.FunctionType)  # asks for no methods
        asked = {n for n in _ASKED_BY_NUMPY if n[0] == "_" or (consumer.__name__.endswith(n) and not in_c)}
        return asked.isdisjoint(n for o in owners for k in o.cls.__mro__[:-1] for n in vars(k))

    def all_listed(self, arguments: list[gast.AST], consumer: Any) -> list[gast.AST]:
        """The arguments of a call; for a generator, or for an object that NumPy gets, the list of its values."""
        if len(arguments) == 1:
            return [self.listed(arguments[0], consumer)]
        arguments = [self.listed(a, consumer) if isinstance(self.statics.held(a), Generator) else a for a in arguments]
        of_numpy = libraries.package_of(consumer) in libraries.ARRAYS
        if not of_numpy or not any(isinstance(self.statics.held(a), Object) for a in arguments):
            return arguments
        return self.evaluator.in_order(arguments, lambda a: self.evaluator.atom(self.listed(a, consumer)))

    def listed(self, node: gast.AST, consumer: Any) -> gast.AST:
        """An argument; for a generator, the list of its values."""
        generator = self.statics.held(node)
        if isinstance(node, gast.Call) and self.lookahead.may_be_known(node):
            generator = self.evaluator.evaluate(node)
        if self.iterates(consumer, generator):
            generator = self.items_of_object(generator, node)
        if not isinstance(generator, Generator):
            return generator if isinstance(generator, gast.AST) else node
        if consumer is runtime.sequence and not self.unit.draws(node):
            raise Unsettled([self.unit.source_place(node)])
        self.once(generator, node, is_one_of(consumer, DRAWS_ALL))
        if not is_one_of(consumer, DRAWS_ALL):
            self.unit.refuse(node, "what consumes this generator may stop early, or change what it reads, which cannot be "
                                   "followed: make a list of its values")  # fmt: skip
        items, item = self.unit.local("items"), self.unit.local("item")
        self.writer.out += at(node, assign(items, gast.List([], gast.Load())))
        self.names.counts[items] += 2
        grow = gast.Expr(expression("items.append(v)", items=items, v=item))

        def at_yield(value: gast.AST) -> list[gast.AST]:
            return at(node, assign(item, value), clone(grow))

        self.write_out(generator, node, at_yield)
        return at(node, name(items))[0]
