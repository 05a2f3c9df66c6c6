"""Draws one item from an iterator in plain statements: its state is in variables, and no more is drawn than Python draws.

    zip(itertools.count(1), x)    ->    n = 1; t = sequence(x); k = 0                                       (once)
                                        a = n; n += 1; if not k < len(t): break; b = t[k]; k += 1           (each time)

`drawing` inserts these statements where a loop, a comprehension or `next` requests items.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import itertools
... def f(x):
...     for n, v in zip(itertools.count(1.5), reversed(x)):
...         print(n * v)
... ''', "drawing"))
def f(x):
    count = 1.5
    t1 = sequence(x)
    place = len(t1) - 1
    while True:
        item = count
        count = count + 1
        if not place >= 0:
            break
        item_ = t1[place]
        place = place - 1
        n, v = item, item_
        print(n * v)
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir.exits import leaves, with_exits
from s2sgrad.ir.forms import is_none, opposite
from s2sgrad.ir.quote import assign, clone, constant, expression, name, nodes, statements, stored
from s2sgrad.normalize.iterator_kinds import IteratorKinds

PLAIN = (gast.Name, gast.Attribute, gast.Lambda)
Words = dict[str, gast.AST]
Table = dict[tuple[Any, ...], Callable[[list[gast.AST], Words, bool], "Draw"]]


@dataclass
class Draw:
    """`setup` runs once.  If `ready` holds (None: only the draw shows it), `take` computes the next item, `item`.

    In `take`, `break` is the end of the iterator, and `continue` starts the draw over.
    """

    setup: list[gast.AST]
    take: list[gast.AST]
    item: gast.AST
    ready: gast.AST | None = None

    @property
    def steps(self) -> list[gast.AST]:
        """`take` with the test for the end."""
        if self.ready is None or is_true(self.ready):
            return clone(self.take)
        return [unless(clone(self.ready), gast.Break()), *clone(self.take)]


@dataclass
class Generator:
    """The point in `take` where a generator function has yielded its next value."""

    call: gast.Call
    mark: gast.Expr
    value: str


class NotDrawn(Exception):
    """Drawing cannot be written in these statements."""


@dataclass
class Sources(IteratorKinds):
    """Describes how items are drawn, within one function."""

    generator: Generator | None = None
    changes: Any = None  # what this function may change: `named_iterators.Changes`
    resized: bool = False  # the source may get more items after its end, which Python's iterator ignores
    stepwise: bool = False  # do not inline the body of a generator function as the loop
    resumable: bool = False  # it may be drawn from again after its end, and must stay there

    def of(self, node: gast.AST, first: bool = True) -> Draw:
        """How to draw from an iterable; `first`: nothing is drawn before it, so that `continue` may start over."""
        if isinstance(node, gast.Name) and node.id in self.held:
            return self.again(self.held[node.id])
        if isinstance(node, gast.Name) and self.is_generator(node):
            return self.generated(node)
        if isinstance(node, gast.GeneratorExp):
            return self.expression(node, first)
        target = self.called(node)
        if target is None or any(isinstance(a, gast.Starred) for a in node.args):
            return self.indexed(node)
        words = {k.arg: k.value for k in node.keywords}
        for kinds, draw in self.table().items():
            if target in kinds:
                try:
                    return draw(node.args, words, first)
                except (TypeError, ValueError, IndexError, KeyError):
                    raise NotDrawn from None
        if self.is_generator(node):
            return self.generated(node)
        return self.indexed(node)

    def again(self, known: Draw) -> Draw:
        """The same iterator again, with fresh names for the items: it may occur twice in a `zip`."""
        state = {n for draw in self.held.values() for n in stored(*draw.setup)}
        again = Draw([], clone(known.take), clone(known.item), clone(known.ready))
        renamed = {n: self.unit.local("item") for n in sorted(stored(*known.take) - state)}
        for part in (*again.take, again.item):
            for node in nodes(part):
                if isinstance(node, gast.Name):
                    node.id = renamed.get(node.id, node.id)
        return again

    def table(self) -> Table:
        """The method that describes drawing, by the callable that makes the iterator."""
        return {(itertools.count,): self.count, (itertools.repeat,): self.repeat, (builtins.iter,): self.iter}

    # --- sources ---

    def indexed(self, node: gast.AST) -> Draw:
        """A sequence: its items by index."""
        if isinstance(node, (gast.Starred, gast.NamedExpr)):
            raise NotDrawn
        turned = self.called(node) is builtins.reversed and len(node.args) == 1
        items, place, item = self.unit.temp(), self.unit.local("place"), self.unit.local("item")
        indexed_value = node.args[0] if turned else node
        sequence = gast.Call(name(self.unit.helper("sequence", runtime.sequence)), [clone(indexed_value)], [])
        length = self.unit.builtin(len)
        if turned:  # later stores are seen
            start = expression("len(xs) - 1", len=length, xs=items)
            ready = expression("k >= 0", k=place)
            if self.resized:
                ready = expression("0 <= k < len(xs)", k=place, xs=items, len=length)
            take = statements("v = xs[k]\nk = k - 1", v=item, xs=items, k=place)
            draw = Draw([assign(items, sequence), assign(place, start)], take, name(item), ready)
            return self.ending(draw) if self.resized else draw
        ready = expression("k < len(xs)", k=place, xs=items, len=length)
        take = statements("v = xs[k]\nk = k + 1", v=item, xs=items, k=place)
        draw = Draw([assign(items, sequence), assign(place, constant(0))], take, name(item), ready)
        return self.ending(draw) if self.resized else draw

    def count(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        """`itertools.count(start, step)`."""
        start, step = given_to(args, words, {"start": constant(0), "step": constant(1)})
        after, item, by = self.unit.local("count"), self.unit.local("item"), step
        setup = [assign(after, clone(start))]
        if not isinstance(step, gast.Constant):
            by = name(self.unit.temp())
            setup.append(assign(by.id, clone(step)))
        return Draw(setup, statements("v = n\nn = n + d", v=item, n=after, d=by), name(item), constant(True))

    def repeat(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        """`itertools.repeat(object, times)`."""
        value, times = given_to(args, words, {"object": None, "times": constant(None)})
        value_name = self.unit.temp()
        setup = [assign(value_name, clone(value))]
        if is_none(times):
            return Draw(setup, [], name(value_name), constant(True))
        trips = self.indexed(gast.Call(self.unit.builtin(range), [clone(times)], []))
        return Draw([*setup, *trips.setup], trips.take, name(value_name), trips.ready)

    def iter(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        """`iter(xs)`, or `iter(function, sentinel)`."""
        if len(args) == 1:
            return self.of(args[0], first)
        function, sentinel = args
        item, last = self.unit.local("item"), sentinel
        setup, function = self.function(function)
        if not isinstance(sentinel, gast.Constant):
            last = name(self.unit.temp())
            setup.append(assign(last.id, clone(sentinel)))
        take = [assign(item, gast.Call(clone(function), [], [])), when(expression("v == e", v=item, e=last), gast.Break())]
        return self.ending(Draw(setup, take, name(item)))

    def generated(self, node: gast.AST) -> Draw:
        """A generator function: its body becomes the loop, and other draws go to its `yield`."""
        if self.generator is not None or self.stepwise or self.resumable:
            return self.stepped(node)
        value, mark = self.unit.local("item"), gast.Expr(name(self.unit.local("mark")))
        self.generator = Generator(node, mark, value)
        return Draw([], [mark], name(value))

    def stepped(self, node: gast.AST) -> Draw:
        """A generator function that is resumed item by item."""
        raise NotDrawn

    # --- shared by the tools ---

    def named(self, inner: Draw) -> Draw:
        """The same draw with a name for the item, which may be read more than once."""
        return inner if isinstance(inner.item, gast.Name) else self.made(inner, inner.item)

    def made(self, inner: Draw, value: gast.AST) -> Draw:
        """The draw of a value that is computed from the item of another draw."""
        item = self.unit.local("item")
        return Draw(inner.setup, [*inner.take, assign(item, value)], name(item), inner.ready)

    def function(self, node: gast.AST) -> tuple[list[gast.AST], gast.AST]:
        """(setup, function) for the function of a tool: the current one, even if its name is rebound before an item is
        drawn."""
        if not isinstance(node, PLAIN) and not is_none(node):
            raise NotDrawn
        if isinstance(node, (gast.Lambda, gast.Constant)) or not names(node) & self.changes.rebound:
            return [], node
        function_name = self.unit.local("function")
        return [assign(function_name, clone(node))], name(function_name)

    def generates(self, body: list[gast.AST]) -> bool:
        """Whether statements draw from a generator function, whose body must surround them."""
        mark = self.generator.mark.value.id if self.generator is not None else None
        return any(isinstance(n, gast.Name) and n.id == mark for n in nodes(*body))

    def ending(self, draw: Draw) -> Draw:
        """The draw, made to stay at its end if it may be asked again."""
        if not self.resumable or not leaves(draw.steps, gast.Break):
            return draw
        over = self.unit.local("over")
        ended = with_exits(draw.steps, gast.Break, lambda _: [assign(over, constant(True)), gast.Break()])
        return Draw([*draw.setup, assign(over, constant(False))], [when(name(over), gast.Break()), *ended], draw.item)

    def passing(self, inner: Draw, skipped: gast.AST, first: bool) -> Draw:
        """Drops the items for which a test holds."""
        if first or (self.generator is not None and inner.take[:1] == [self.generator.mark]):
            again = gast.Continue()
            again.alone = not first  # draws beside the generator are done already
            return Draw(inner.setup, [*inner.take, when(skipped, again)], inner.item, inner.ready)
        if self.generates(inner.take) or not only(gast.Break, inner.steps):
            raise NotDrawn
        hit = self.unit.local("found")
        passed = when(opposite(skipped), assign(hit, constant(True)))
        search = gast.While(opposite(name(hit)), [*inner.steps, passed], [])
        return Draw(inner.setup, [assign(hit, constant(False)), search, unless(name(hit), gast.Break())], inner.item)

def is_true(node: gast.AST | None) -> bool:
    """Whether an expression is the constant True."""
    return isinstance(node, gast.Constant) and node.value is True


def when(test: gast.AST, *then: gast.AST) -> gast.If:
    """`if test: then`."""
    return gast.If(test, list(then), [])


def unless(test: gast.AST, *then: gast.AST) -> gast.If:
    """`if not test: then`."""
    return when(opposite(test), *then)


def given_to(args: list[gast.AST], words: Words, defaults: dict[str, gast.AST | None]) -> list[gast.AST]:
    """The arguments of a call in parameter order; raises TypeError if they do not match."""
    if len(args) > len(defaults) or words.keys() - list(defaults)[len(args) :]:
        raise TypeError
    out = [*args, *(words.get(k, v) for k, v in list(defaults.items())[len(args) :])]
    if None in out:
        raise TypeError
    return out


def only(kind: type, body: list[gast.AST]) -> bool:
    """Whether the statements use only this exit, so that they may go into an inner loop or an arm."""
    other = gast.Continue if kind is gast.Break else gast.Break
    return not any(isinstance(n, other) for n in nodes(*body))


def names(path: gast.AST) -> set[str]:
    """The names and attributes of a path."""
    return {n.id if isinstance(n, gast.Name) else n.attr for n in nodes(path) if isinstance(n, (gast.Name, gast.Attribute))}
