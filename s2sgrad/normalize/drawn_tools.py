"""How tools of Python's library draw an item: `zip`, `enumerate`, `map`, `filter`, and those of `itertools`.

    islice(a, 3)         ->    zip(range(3), a), of which the second item is returned
    takewhile(p, a)      ->    v = next(a); if not p(v): break
    filter(p, a)         ->    v = next(a); if not p(v): continue

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import takewhile
... def f(x):
...     it = takewhile(lambda v: v < 2.0, x)
...     return next(it) * x
... ''', "drawing"))
def f(x):
    t1 = sequence(x)
    place = 0
    over = False
    def next_it():
        nonlocal over, place
        if over:
            raise StopIteration()
        if not place < len(t1):
            over = True
            raise StopIteration()
        item = t1[place]
        place = place + 1
        if not (lambda v: v < 2.0)(item):
            over = True
            raise StopIteration()
        return item
    return next_it() * x
"""

from __future__ import annotations

import builtins
import itertools
import sys

import gast

from s2sgrad import runtime
from s2sgrad.ir.exits import with_exits
from s2sgrad.ir.forms import is_natural, is_none, opposite
from s2sgrad.ir.quote import assign, clone, constant, expression, name, nodes, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import iterables, stepwise
from s2sgrad.normalize.draws import (
    Draw,
    NotDrawn,
    Sources,
    Table,
    Words,
    given_to,
    names,
    only,
    unless,
    when,
)
from s2sgrad.normalize.iterator_kinds import BATCHED, is_shown


class Drawer(Sources):
    """Describes how items are drawn from any iterable."""

    def table(self) -> Table:
        """The method for each tool."""
        return {
            **super().table(),
            (builtins.zip,): self.zip, (builtins.enumerate,): self.enumerate, (builtins.map,): self.map,
            (builtins.filter,): self.filter, (itertools.filterfalse,): self.filterfalse,
            (itertools.takewhile,): self.takewhile, (itertools.dropwhile,): self.dropwhile,
            (itertools.islice,): self.islice, (itertools.accumulate,): self.accumulate,
            (itertools.pairwise,): self.pairwise, (itertools.chain,): self.chain, (itertools.starmap,): self.starmap,
            (itertools.cycle,): self.cycle,
            **({(BATCHED,): self.batched} if BATCHED else {}),
        }  # fmt: skip

    def can_step(self, node: gast.Call) -> bool:
        """Whether the text of a generator function allows drawing item by item."""
        return stepwise.can_be_drawn(self, node)

    def stepped(self, node: gast.AST) -> Draw:
        if not isinstance(node, gast.Call):
            raise NotDrawn
        """A generator function, drawn from item by item."""
        return stepwise.drawn(self, node)

    def zip(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        if any(getattr(w, "value", True) for w in words.values()) or not args:
            raise NotDrawn
        whole = self.of(args[0], first)
        items = [whole.item]
        for node in args[1:]:
            part = self.of(node, first=False)
            whole.setup += part.setup
            whole.take += part.steps
            items.append(part.item)
        whole.item = gast.Tuple(items, gast.Load())
        return whole

    def enumerate(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        iterable, start = given_to(args, words, {"iterable": None, "start": constant(0)})
        inner = self.of(iterable, first)
        index, after = self.unit.local("index"), self.unit.local("count")
        inner.setup.append(assign(after, clone(start)))
        inner.take += statements("i = n\nn = n + 1", i=index, n=after)
        inner.item = gast.Tuple([name(index), inner.item], gast.Load())
        return inner

    def bound_before(self, loop: gast.For) -> list[gast.AST]:
        """Assignments that name the functions of `map` and `filter`, if the body of the loop rebinds their names."""
        calls = [n for n in nodes(loop.iter) if self.called(n) in (builtins.map, builtins.filter) and n.args]
        if not calls:
            return []
        body = [n for n in nodes(*loop.body) if not isinstance(getattr(n, "ctx", gast.Load()), gast.Load)]
        anew = {n.id if isinstance(n, gast.Name) else getattr(n, "attr", None) for n in body} & self.changes.rebound
        out: list[gast.AST] = []
        for call in calls:
            if isinstance(call.args[0], (gast.Name, gast.Attribute)) and anew & names(call.args[0]):
                setup, call.args[0] = self.function(call.args[0])
                out += setup
        return out

    def map(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        function, *iterables_ = args
        if words:
            raise NotDrawn
        whole = iterables_[0] if len(iterables_) == 1 else gast.Call(self.unit.builtin(zip), iterables_, [])
        function, inner = self.applied(function, whole, first)
        values = [inner.item] if len(iterables_) == 1 else inner.item.elts
        return self.made(inner, gast.Call(clone(function), values, []))

    def applied(self, function: gast.AST, iterable: gast.AST, first: bool) -> tuple[gast.AST, Draw]:
        """The function of a tool, and how to draw its arguments."""
        bound, function = self.function(function)
        inner = self.of(iterable, first)
        inner.setup = [*bound, *inner.setup]
        return function, inner

    def starmap(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        function, iterable = args
        function, inner = self.applied(function, iterable, first)
        shown = isinstance(inner.item, gast.Tuple)
        values = inner.item.elts if shown else [gast.Starred(inner.item, gast.Load())]
        return self.made(inner, gast.Call(clone(function), values, []))

    def expression(self, node: gast.GeneratorExp, first: bool) -> Draw:
        """`(e for v in a if c)`."""
        if len(node.generators) > 1 or any(isinstance(n, gast.NamedExpr) for n in nodes(node)):
            raise NotDrawn
        node = clone(node)
        (each,) = node.generators
        renamed = {n.id: self.unit.local(n.id) for n in nodes(each.target) if isinstance(n, gast.Name)}
        for part in (each.target, node.elt, *each.ifs):
            for n in nodes(part):
                if isinstance(n, gast.Name) and n.id in renamed:
                    n.id = renamed[n.id]
        inner = self.of(each.iter, first)
        inner.take.append(gast.Assign([each.target], inner.item, None))
        if each.ifs:
            test = each.ifs[0] if len(each.ifs) == 1 else gast.BoolOp(gast.And(), each.ifs)
            inner = self.passing(inner, opposite(test), first)
        return self.ending(self.made(inner, node.elt))

    def filter(self, args: list[gast.AST], words: Words, first: bool, wanted: bool = True) -> Draw:
        function, iterable = args
        function, inner = self.applied(function, iterable, first)
        inner = self.named(inner)
        test = clone(inner.item) if is_none(function) else gast.Call(clone(function), [clone(inner.item)], [])
        return self.passing(inner, opposite(test) if wanted else test, first)

    def filterfalse(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        return self.filter(args, words, first, wanted=False)

    def takewhile(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        function, iterable = args
        function, inner = self.applied(function, iterable, first)
        inner = self.named(inner)
        inner.take.append(unless(gast.Call(clone(function), [clone(inner.item)], []), gast.Break()))
        return self.ending(inner)

    def dropwhile(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        function, iterable = args
        function, inner = self.applied(function, iterable, first)
        inner, dropping = self.named(inner), self.unit.local("dropping")
        inner.setup.append(assign(dropping, constant(True)))
        dropped = gast.BoolOp(gast.And(), [name(dropping), gast.Call(clone(function), [clone(inner.item)], [])])
        inner = self.passing(inner, dropped, first)
        inner.take.append(assign(dropping, constant(False)))
        return inner

    def islice(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        iterable, *bounds = args
        start, stop, step = iterables.slice_bounds(bounds)
        start, step = constant(0) if is_none(start) else start, constant(1) if is_none(step) else step
        before, (start, stop, step) = self.counted_bounds([start, stop, step])
        if is_none(stop):
            places = gast.Call(name(self.unit.helper("count", itertools.count)), [], [])
        else:
            places = gast.Call(self.unit.builtin(range), [clone(stop)], [])
        inner = self.zip([places, iterable], {}, first)
        inner.setup = [*before, *inner.setup]
        place, item = inner.item.elts
        inner.item = item
        if getattr(start, "value", 1) == 0 and getattr(step, "value", 0) == 1:
            return self.ending(inner)
        skipped = expression("k < a", k=place, a=start)
        if getattr(step, "value", 0) != 1:
            skipped = opposite(expression("k >= a and (k - a) % d == 0", k=place, a=start, d=step))
        return self.ending(self.passing(inner, skipped, first))

    def counted_bounds(self, bounds: list[gast.AST]) -> tuple[list[gast.AST], list[gast.AST]]:
        """Statements for the bounds of a slice that are not literal, and the bounds: non-negative integers and None."""
        asked = [b for b in bounds if not is_natural(b) and not is_none(b)]
        if any(isinstance(b, (gast.Constant, gast.UnaryOp)) for b in asked):
            raise NotDrawn  # Python raises
        temporaries = {id(b): self.unit.temp() for b in asked}
        before: list[gast.AST] = []
        for bound, otherwise in zip(bounds, (0, sys.maxsize, 1), strict=True):  # the meaning of None
            if id(bound) not in temporaries:
                continue
            value = clone(bound)
            if not isinstance(bound, gast.BinOp) and self.called(bound) is not builtins.len:
                before.append(assign(bound_name_ := self.unit.temp(), value))
                value = expression("d if n is None else n", n=bound_name_, d=constant(otherwise))
            before.append(assign(temporaries[id(bound)], value))
        before += [when(expression("n < 0", n=h), _negative(self.unit)) for h in temporaries.values()]
        return before, [name(temporaries[id(b)]) if id(b) in temporaries else b for b in bounds]

    def accumulate(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        nothing = constant(None)
        iterable, function, initial = given_to(args, words, {"iterable": None, "func": nothing, "initial": nothing})
        function, inner = self.applied(function, iterable, first)
        inner, total, begun = self.named(inner), self.unit.local("total"), self.unit.local("begun")
        sides = [name(total), clone(inner.item)]
        more = gast.BinOp(sides[0], gast.Add(), sides[1]) if is_none(function) else gast.Call(clone(function), sides, [])
        inner.setup += [assign(total, clone(initial)), assign(begun, constant(False))]
        grown, begins = assign(total, more), assign(begun, constant(True))
        if is_none(initial):
            arms = gast.If(name(begun), [grown], [assign(total, clone(inner.item)), begins])
            return Draw(inner.setup, [*inner.take, arms], name(total), inner.ready)
        if self.generates(inner.take) or not only(gast.Break, inner.steps):
            raise NotDrawn
        return Draw(inner.setup, [gast.If(name(begun), [*inner.steps, grown], [begins])], name(total))

    def pairwise(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        (iterable,) = args
        inner, before, begun = self.of(iterable, first), self.unit.local("before"), self.unit.local("begun")
        left, right = self.unit.local("left"), self.unit.local("right")
        inner.setup += [assign(before, constant(None)), assign(begun, constant(False))]
        begin = [assign(before, clone(inner.item)), assign(begun, constant(True))]
        if first:
            head = [*inner.take, unless(name(begun), *begin, gast.Continue())]
        else:
            head = [unless(name(begun), *inner.steps, *begin), *inner.steps]
        if not first and (self.generates(head) or not only(gast.Break, head)):
            raise NotDrawn
        last = [assign(left, name(before)), assign(right, inner.item), assign(before, name(right))]
        item = gast.Tuple([name(left), name(right)], gast.Load())
        return self.ending(Draw(inner.setup, [*head, *last], item, inner.ready if first else None))

    def chain(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        """One iterable after the other."""
        parts = [self.named(self.of(a, first)) for a in args]
        if not parts or any(self.generates(p.take) for p in parts):
            raise NotDrawn
        item, setup = self.unit.local("item"), [s for part in parts for s in part.setup]
        arms = [*parts[-1].steps, assign(item, parts[-1].item)]
        for part in reversed(parts[:-1]):
            if part.ready is not None:
                arms = [gast.If(clone(part.ready), [*part.take, assign(item, part.item)], arms)]
                continue
            over, has_item = self.unit.local("over"), self.unit.local("given")  # only a draw shows the end
            if not only(gast.Break, [*part.steps, *arms]):
                raise NotDrawn
            steps = with_exits(part.steps, gast.Break, lambda _: [assign(over, constant(True)), gast.Break()])
            once = [*steps, assign(item, part.item), assign(has_item, constant(True)), gast.Break()]
            setup.append(assign(over, constant(False)))
            arms = [assign(has_item, constant(False)), unless(name(over), gast.While(constant(True), once, [])),
                    unless(name(has_item), *arms)]  # fmt: skip
        return self.ending(Draw(setup, arms, name(item)))

    def cycle(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        """Repeats the first round of items, which is recorded if something may change meanwhile."""
        (iterable,) = args
        if self.needs(iterable):
            raise NotDrawn
        items, place, item = self.unit.temp(), self.unit.local("place"), self.unit.local("item")
        length = self.unit.builtin(len)
        items_of = gast.Call(name(self.unit.helper("sequence", runtime.sequence)), [clone(iterable)], [])
        ready = constant(True) if is_shown(iterable) else expression("len(xs) > 0", xs=items, len=length)
        if not self.changes.writes or is_shown(iterable):
            take = statements("v = xs[k]\nk = (k + 1) % len(xs)", v=item, xs=items, k=place, len=length)
            items_of = gast.Call(self.unit.builtin(list), [items_of], [])
            return Draw([assign(items, items_of), assign(place, constant(0))], take, name(item), ready)
        round_, turn = self.unit.local("round_"), self.unit.local("turn")
        setup = [assign(items, items_of), *statements("k = 0\nys = []\nn = 0", k=place, ys=round_, n=turn)]
        take = statements("if k < len(xs):\n    v = xs[k]\n    ys.append(v)\n    k = k + 1\n"
                          "else:\n    v = ys[n]\n    n = (n + 1) % len(ys)",
                          v=item, xs=items, k=place, ys=round_, n=turn, len=length)  # fmt: skip
        ready = expression("k < len(xs) or len(ys) > 0", k=place, xs=items, ys=round_, len=length)
        return Draw(setup, take, name(item), ready)

    def batched(self, args: list[gast.AST], words: Words, first: bool) -> Draw:
        iterable, count = args
        inner, group, size = self.of(iterable, first=False), self.unit.local("group"), self.unit.temp()
        if words or self.generates(inner.take):
            raise NotDrawn
        inner.setup.append(assign(size, clone(count)))
        append = gast.Expr(expression("xs.append(v)", xs=group, v=inner.item))
        test = expression("len(xs) < n", len=self.unit.builtin(len), xs=group, n=size)
        fill = gast.While(test, [*inner.steps, append], [])
        ended = when(expression("len(xs) == 0", len=self.unit.builtin(len), xs=group), gast.Break())
        item = gast.Call(self.unit.builtin(tuple), [name(group)], [])
        return self.ending(Draw(inner.setup, [assign(group, gast.List([], gast.Load())), fill, ended], item))


def _negative(unit: Unit) -> gast.Raise:
    """The exception of `islice` for negative bounds."""
    message = constant("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return gast.Raise(gast.Call(unit.builtin(ValueError), [message], []), None)
