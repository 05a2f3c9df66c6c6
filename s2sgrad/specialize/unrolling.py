"""Unrolls loops over functions or objects; `functools.reduce` becomes a loop.

    for layer in (np.tanh, double): x = layer(x)      ->      x = np.tanh(x); x = x * 2.0
    y = reduce(f, xs, first)      ->      y = first; for item in xs: y = f(y, item)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     for layer in (np.tanh, lambda t: t * 2.0):
...         x = layer(x)
...     return x
... ''', "flatten"))
def f(x):
    t2 = np.tanh(x)
    x = t2
    result_ = x * 2.0
    x = result_
    result = x
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.ir import scoping
from s2sgrad.ir.exits import leaves_trip, returns, with_exits
from s2sgrad.ir.quote import assign, at, branch, clone, constant, expression, mentioned, name, nodes_of
from s2sgrad.normalize import library_desugaring, loops
from s2sgrad.specialize import trip_names
from s2sgrad.specialize.binding_time import MOST
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Display, Value, substitute

_SECTIONS = frozenset({gast.Subscript})


class Unroller(Family):
    """Unrolls loops over static values."""

    def __init__(self, evaluator: Evaluator, collections: Collections, bindings: Bindings) -> None:
        super().__init__(evaluator)
        self.collections, self.bindings = collections, bindings

    def sequenced(self, node: gast.AST) -> gast.AST:
        """The iterable of a loop, if it is a display of functions."""
        if isinstance(node, gast.Call) and self.unit.resolve(node.func) is runtime.sequence:
            over = node.args[0]
            shown = isinstance(over, (gast.Tuple, gast.List)) and self.lookahead.may_be_known(over)
            return over if shown or isinstance(self.statics.held(over), Display) else node
        return node

    def spread_out(self, target: gast.Tuple, statement: gast.Assign) -> bool:
        """Bind the targets of `f, g = made(x)`; returns whether it made functions."""
        value = statement.value
        if not isinstance(value, (gast.Call, gast.Subscript)) or not self.lookahead.may_be_known(value):
            return False
        display = self.evaluator.evaluate(value)
        if isinstance(display, Display) and len(display.items) == len(target.elts):
            for part, item in zip(target.elts, display.items.values(), strict=True):
                if isinstance(item, gast.AST):
                    self.evaluator.statement(at(statement, gast.Assign([part], item, None))[0])
                else:
                    self.bindings.name(part.id, item, statement)
            return True
        if isinstance(display, Value):
            self.unit.refuse(statement, "what is unpacked here is no tuple or list of functions that can be followed: bind "
                                        "it to a name")  # fmt: skip
        statement.value = display
        return False

    def keys_among(self, node: gast.AST) -> Display | None:
        """The keys of a static dict that a loop iterates over."""
        over = node.args[0] if isinstance(node, gast.Call) and self.unit.resolve(node.func) is runtime.sequence else None
        if isinstance(over, gast.Call) and self.unit.resolve(over.func) is runtime.keys_of:
            over = over.args[0]
        owner = None if over is None else self.statics.held(over)
        if not isinstance(owner, Display) or not owner.mapping:
            return None
        return Display(dict(enumerate(map(constant, owner.items))), literal=gast.Tuple)

    def unroll(self, loop: gast.For) -> list[gast.AST] | None:
        """The trips of a loop over functions or objects; None for any other loop."""
        count = self.collections.trips_of(loop)
        if count is not None:
            return self.collections.trips(loop, count)
        counted = self.counted_items(loop.iter)
        displays = [held for c in counted if isinstance(held := self.statics.held(c), Display)]
        if not displays:
            places = self.places_among(loop)
            return None if places is None else self.at_places(loop, places)
        others = [c for c in counted if not isinstance(self.statics.held(c), Display)]
        trips = min(len(display.items) for display in displays)
        self.names.again |= set(scoping.bindings(loop.body))
        if loop.target.id in trip_names.captured(loop.body):  # a closure reads the index later
            return None if others else self.collections.trips(loop, trips)
        again = {b for b, n in scoping.bindings(loop.body).items() if n} - self.unit.temps if trips > 1 else ()
        self.names.counts.update({b: 2 for b in again if not self.takes_value(loop, b)})
        out: list[list[gast.AST]] = []
        for k in range(trips):
            trip = self.trip(loop, k, k == trips - 1)
            for other in others:
                test = expression("len(xs) > k", len=self.unit.builtin(len), xs=other, k=k)
                trip = at(loop, branch(test, trip))
            out.append(trip)
        return self.one_by_one(loop, out)

    def one_by_one(self, loop: gast.For, trips: list[list[gast.AST]]) -> list[gast.AST]:
        """The trips of a loop in order; after a possible exit, later trips are guarded."""
        if not leaves_trip(loop.body):
            return [statement for trip in trips for statement in trip]
        kept = {t for t, n in scoping.bindings(loop.body).items() if n and self.takes_value(loop, t)} - self.names.in_turn
        if kept or returns(loop.body):
            self.collections.require_all_trips(loop)
        left = self.unit.local("left")
        self.names.counts[left] += 2
        out: list[gast.AST] = []
        for trip in reversed(trips):
            rest = at(loop, branch(gast.UnaryOp(gast.Not(), name(left)), out)) if out else []
            out = [*with_exits(trip, gast.Break, lambda s: at(s, assign(left, constant(True)))), *rest]
        return [*at(loop, assign(left, constant(False))), *out]

    def places_among(self, loop: gast.For) -> range | None:
        """The numbers that a loop runs over to index functions or objects; None for any other loop."""
        if not isinstance(loop.target, gast.Name):  # over a generator
            return None
        back = self.unit.called(loop.iter) is reversed
        steps = loop.iter.args[0] if back else loop.iter
        bounds = steps.args if self.unit.called(steps) is range else []
        sections = (n for s in loop.body for n in nodes_of(s, _SECTIONS))
        indexed = (n.value for n in sections if loop.target.id in mentioned(n.slice))
        if not any(isinstance(self.statics.held(owner), Display) for owner in indexed):
            return None
        numbers: list[Any] = [self.statics.number(bound) for bound in bounds]
        if not numbers or None in numbers or len(range(*numbers)) > MOST or loop.target.id in trip_names.captured(loop.body):
            return None
        return range(*numbers)[:: -1 if back else 1]

    def at_places(self, loop: gast.For, places: range) -> list[gast.AST]:
        """The trips of such a loop, unrolled."""
        self.names.again |= {loop.target.id, *scoping.bindings(loop.body)}
        for bound in {b for b, n in scoping.bindings(loop.body).items() if n} - self.unit.temps:
            self.names.counts[bound] += 2
        self.names.counts[loop.target.id] += 2
        out = []
        for k in places:
            trip = self.trip(loop, k, k == places[-1])
            out.append([*at(loop, assign(loop.target.id, constant(k))), *trip])
        return self.one_by_one(loop, out)

    def counted_items(self, steps: gast.AST) -> list[gast.AST]:
        """The sequences that a loop indexes: `xs` and `ys` of `range(min(len(xs), len(ys)))`."""
        lengths = steps.args if isinstance(steps, gast.Call) and self.unit.resolve(steps.func) is range else []
        if len(lengths) != 1 or not isinstance(lengths[0], gast.Call):
            return []
        asked = lengths[0].args if self.unit.resolve(lengths[0].func) is min else lengths
        return [c.args[0] for c in asked if isinstance(c, gast.Call) and self.unit.resolve(c.func) is len and c.args]

    def trip(self, loop: gast.For, k: int, last: bool) -> list[gast.AST]:
        """The body for an index; names of items are renamed in all trips but the last, which keeps the text's.

        A name private to the trips stands for the items in turn instead.
        """
        bound = {b: n for b, n in scoping.bindings(loop.body).items() if n}
        to_rename = {t for t in bound if self.takes_value(loop, t)}
        self.names.in_turn |= to_rename & self.names.of_trips
        stay = self.names.in_turn | trip_names.captured(loop.body)
        renamed = {} if last else {t: self.unit.local(t) for t in sorted(to_rename - stay)}
        renamed |= {} if last else {t: self.unit.temp() for t in sorted(bound) if t in self.unit.temps and t not in stay}
        trip: list[gast.AST] = clone(loop.body)
        for statement in trip:
            substitute(statement, {loop.target.id: constant(k)})
        scoping.rename(renamed, *trip)
        self.names.counts.update(dict.fromkeys(renamed.values(), 1))
        self.with_keys(trip, {renamed.get(t, t) for t in to_rename if bound[t] == 1})
        return trip

    def with_keys(self, trip: list[gast.AST], once: set[str]) -> None:
        """Replace the keys of a trip by constants."""
        for k, statement in enumerate(trip):
            target: Any = statement.targets[0] if isinstance(statement, gast.Assign) else None
            section: Any = statement.value if isinstance(target, gast.Name) and target.id in once else None
            owner = self.statics.held(section.value) if isinstance(section, gast.Subscript) else None
            key = owner.items.get(self.statics.place(section.slice, owner)) if isinstance(owner, Display) else None
            if isinstance(key, gast.Constant):
                for later in trip[k + 1 :]:
                    substitute(later, {target.id: key})

    def takes_value(self, loop: gast.For, target: str) -> bool:
        """Whether a name in a loop stands for an item of a display."""
        return any(
            isinstance(s, gast.Assign) and isinstance(s.targets[0], (gast.Name, gast.Tuple)) and target in effects.targets(s)
            and isinstance(s.value, gast.Subscript) and isinstance(self.statics.held(s.value.value), Display)
            for s in loop.body
        )  # fmt: skip

    def reduce(self, node: gast.Call) -> Any:
        """`functools.reduce(f, xs, first)` as a loop."""
        if len(node.args) not in (2, 3) or node.keywords:
            self.unit.refuse(node, "`reduce` takes a function, a sequence and a first value")
        f, items = node.args[0], self.evaluator.atom(node.args[1])
        total = self.unit.local("total")
        self.names.counts[total] += 2
        rest: gast.AST = items
        if len(node.args) == 3:
            self.evaluator.statement(at(node, assign(total, node.args[2]))[0])
        else:
            self.evaluator.statement(at(node, assign(total, gast.Subscript(items, constant(0), gast.Load())))[0])
            rest = gast.Subscript(clone(items), gast.Slice(constant(1), None, None), gast.Load())
        item = self.unit.local("item")
        if self.lookahead.may_be_known(f) and not isinstance(f, (gast.Name, gast.Lambda)):
            function_name = self.unit.local("f")
            self.bindings.name(function_name, self.evaluator.evaluate(f), node)
            f = name(function_name)
        step = assign(total, gast.Call(clone(f), [name(total), name(item)], []))
        step = library_desugaring.plainer(self.unit, at(node, step)[0])
        loop = at(node, gast.For(name(item, store=True), rest, at(node, step), [], None))
        for statement in loops.block(self.unit, loop):
            self.evaluator.statement(at(node, statement)[0] if not hasattr(statement, "lineno") else statement)
        return self.bindings.named(at(node, name(total))[0])
