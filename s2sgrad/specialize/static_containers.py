"""Static lists of functions and objects, whose contents are known.

    layers = [Layer(w) for w in (x, 2.0)]      ->      layers[0] is Layer(x), layers[1] is Layer(2.0)
    fs = []; fs.append(np.sin)                 ->      fs[0] is np.sin

The contents must not depend on a branch, nor on the number of trips of a loop.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     gs = []
...     for k in range(2):
...         gs.append(lambda t, k=k: t * x + k)
...     return gs[1](gs[0](x))
... ''', "flatten"))
def f(x):
    k = 0
    k_2 = k
    k = 1
    k_3 = k
    t1 = x * x
    result_ = t1 + k_2
    t2 = result_ * x
    result_2 = t2 + k_3
    result = result_2
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.quote import assign, at, clone, constant, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.normalize._calls import callee
from s2sgrad.specialize.binding_time import MOST
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.static_values import Display, Known, Value, substitute


class Collections(Family):
    """Follows lists of functions and objects that comprehensions make, and that grow."""

    def __init__(self, evaluator: Evaluator, homes: Homes) -> None:
        super().__init__(evaluator)
        self.homes = homes

    def collected(self, node: gast.ListComp) -> Display:
        """The static list of a comprehension of functions or objects."""
        target = node.generators[0].target.id
        items = [self.homes.lasting(self.evaluator.atom(item)) for item in self.lookahead.items_of(node) or []]
        out: dict[Any, Any] = {}
        for k, item in enumerate(items):
            element = at(node, gast.Expr(clone(node.elt)))[0]
            substitute(element, {target: item})
            out[k] = self.homes.lasting(self.evaluator.evaluate(element.value))
        return Display(out, block=self.writer.blocks[-1])

    def picked_at_once(self, node: gast.Tuple | gast.List | gast.Dict) -> Display:
        """A display for a literal of functions from outside, which is indexed directly."""
        mapping = isinstance(node, gast.Dict)
        keys = [k.value for k in node.keys] if mapping else range(len(node.elts))
        items = [self.homes.lasting(self.evaluator.evaluate(v)) for v in (node.values if mapping else node.elts)]
        return Display(dict(zip(keys, items, strict=True)), mapping=mapping)

    def begun(self, target: gast.AST, value: gast.AST) -> Display | None:
        """The empty static list of an assignment to a growing list; else None."""
        empty = isinstance(value, gast.List) and not value.elts
        mine = isinstance(target, gast.Attribute) and target.attr in self.names.growing
        mine |= isinstance(target, gast.Name) and target.id in self.names.growing and self.names.counts[target.id] == 1
        return Display({}, block=self.writer.blocks[-1]) if empty and mine else None

    def acting_among(self, node: gast.AST) -> Any:
        """A user's function, or a display of some, that is called for its effect; None for anything else."""
        if isinstance(node, gast.Call) and len(node.args) == 1 and self.unit.resolve(node.func) is runtime.sequence:
            node = node.args[0]
        if isinstance(node, (gast.Tuple, gast.List)):
            items = dict(enumerate(map(self.acting_among, node.elts)))
        elif isinstance(node, gast.Dict) and all(isinstance(k, gast.Constant) for k in node.keys):
            items = {k.value: self.acting_among(v) for k, v in zip(node.keys, node.values, strict=True)}
        else:
            known = self.evaluator.as_callable(node)
            return known if isinstance(known, Known) and is_plain(known.target) else None
        if not items or None in items.values():
            return None
        literal = None if isinstance(node, gast.Dict) else type(node)
        return self.held_together(items, literal)

    def appended(self, call: gast.AST) -> bool:
        """Append to a static list; returns whether the call did."""
        owner = call.func.value if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else None
        display = self.statics.held(owner) if owner is not None else None
        if not isinstance(display, Display) or call.func.attr != "append" or len(call.args) != 1:
            return False
        shown = callee(owner)
        if display.given is not None or display.block != self.writer.blocks[-1]:
            self.unit.refuse(call, f"what `{shown}` holds depends on a branch or a loop here, which cannot be followed: "
                                   "fill it outside of them")  # fmt: skip
        value = self.homes.lasting(self.evaluator.evaluate(call.args[0]))
        if isinstance(value, Value):
            display.items[len(display.items)] = value
        else:
            self.unit.refuse(call, f"`{shown}` holds functions or objects, and here data, which cannot be followed: use "
                                   "two lists")  # fmt: skip
        return True

    def trips_of(self, loop: gast.For) -> int | None:
        """The number of trips of a loop that fills a static list; None for other loops, or if it is unknown."""
        calls = (n for n in nodes(*loop.body) if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute))
        owners = (c.func.value for c in calls if c.func.attr == "append")
        fills = any(getattr(o, "id", getattr(o, "attr", "")) in self.names.growing for o in owners)
        bounds = loop.iter.args if isinstance(loop.iter, gast.Call) and self.unit.resolve(loop.iter.func) is range else []
        if not fills or len(bounds) != 1:
            return None
        (bound,) = bounds
        if isinstance(bound, gast.Constant) and type(bound.value) is int:
            return bound.value if bound.value <= MOST else None
        if isinstance(bound, gast.Call) and self.unit.resolve(bound.func) is len and isinstance(bound.args[0], gast.Name):
            return self.statics.lengths.get(bound.args[0].id)
        return None

    def trips(self, loop: gast.For, count: int) -> list[gast.AST]:
        """The trips of such a loop, unrolled."""
        self.require_all_trips(loop)
        out: list[gast.AST] = []
        for k in range(count):
            out += at(loop, assign(loop.target.id, constant(k)))
            out += clone(loop.body)
        self.names.counts[loop.target.id] += 2
        self.names.again |= {loop.target.id, *bindings(loop.body)}
        for bound in bindings(loop.body):
            self.names.counts[bound] += 2
        return out

    def require_all_trips(self, loop: gast.For) -> None:
        """Refuse an unrolled loop that may be left early."""
        if leaves_trip(loop.body):
            self.unit.refuse(loop, "a loop over functions or objects that is left early cannot be followed")

    def held_together(self, items: dict[Any, Any], literal: type | None = None) -> Display:
        """A static tuple or list (`literal`) or dict of these items."""
        block = self.writer.blocks[-1] if self.writer.blocks else 0
        kept = {key: self.homes.lasting(self.evaluator.as_callable(item)) for key, item in items.items()}
        return Display(kept, block=block if literal else 0, mapping=literal is None, literal=literal)
