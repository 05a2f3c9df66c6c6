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
    t = x
    t1 = t * x
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
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, clone, constant, nodes, statements_in
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import MISSING
from s2sgrad.normalize._calls import callee
from s2sgrad.specialize.static_values import Display, Known, Value, substitute

MOST = 64  # items


class Collections:
    """Follows lists of functions and objects that comprehensions make, and that grow."""

    growing: set[str]  # variables and attributes with lists to which functions or objects are appended
    lengths: dict[str, int]  # lengths of literal lists and tuples
    numbers: dict[str, int]  # values of variables that are bound once to a known number

    def takes_apart(self, node: gast.AST) -> bool:
        """Whether an expression makes an object, which is taken apart into variables."""
        return isinstance(node, gast.Call) and is_plain_class(self.unit.resolve(node.func))

    def note_growing(self, body: list[gast.AST]) -> None:
        """Find the lists to which functions or objects are appended."""
        for call in (n for n in nodes(*body) if isinstance(n, gast.Call) and len(n.args) == 1):
            if isinstance(call.func, gast.Attribute) and call.func.attr == "append":
                owner, item = call.func.value, call.args[0]
                takes_apart = self.takes_apart(item)
                resolved = self.unit.resolve(item) if isinstance(item, (gast.Name, gast.Attribute)) else MISSING
                function = isinstance(item, gast.Lambda) or (resolved is not MISSING and callable(resolved))
                if takes_apart or function:
                    self.growing.add(getattr(owner, "id", getattr(owner, "attr", "")))

    def bound_later(self, body: list[gast.AST]) -> set[str]:
        """The names bound to lambdas, nested functions and new objects."""
        out: set[str] = set()
        for node in statements_in(body):
            if isinstance(node, gast.FunctionDef):
                out.add(node.name)
            elif (local := bound_name(node)) is not None:
                takes_apart = self.takes_apart(node.value)
                out |= {local} if takes_apart or isinstance(node.value, gast.Lambda) else set()
        return out

    def objects_among(self, body: list[gast.AST]) -> set[str]:
        """The names bound to a new object and also to a constant."""
        assigned = [n for n in nodes(*body) if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name)]
        made_here = {n.targets[0].id for n in assigned if self.takes_apart(n.value)}
        return made_here & {n.targets[0].id for n in assigned if isinstance(n.value, gast.Constant)}

    def items_of(self, node: gast.ListComp) -> list[gast.AST] | None:
        """The items that a comprehension of functions or objects iterates over; None for any other comprehension."""
        if len(node.generators) != 1 or node.generators[0].ifs or not isinstance(node.generators[0].target, gast.Name):
            return None
        over, target = node.generators[0].iter, node.generators[0].target.id
        return self.shown_items(over) if self.makes_value(node.elt, target) else None

    def makes_value(self, element: gast.AST, target: str) -> bool:
        """Whether an expression makes an object, or a lambda that does not read this variable at its call."""
        if isinstance(element, gast.Lambda):
            return not any(isinstance(n, gast.Name) and n.id == target for n in nodes(element.body))
        return self.takes_apart(element)

    def shown_items(self, over: gast.AST) -> list[gast.AST] | None:
        """The items of an iterable whose length is known; else None."""
        if isinstance(over, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in over.elts):
            return over.elts if len(over.elts) <= MOST else None
        if isinstance(over, gast.Call) and self.unit.resolve(over.func) is range and over.args:
            bounds = [getattr(a, "value", None) for a in over.args]
            if all(type(b) is int for b in bounds) and len(range(*bounds)) <= MOST:
                return [constant(k) for k in range(*bounds)]
        if isinstance(over, gast.Name) and over.id in self.lengths:
            return [gast.Subscript(clone(over), constant(k), gast.Load()) for k in range(self.lengths[over.id])]
        return None

    def collected(self, node: gast.ListComp) -> Display:
        """The static list of a comprehension of functions or objects."""
        target = node.generators[0].target.id
        items = [self.lasting(self.flattener.atom(item)) for item in self.items_of(node) or []]
        out: dict[Any, Any] = {}
        for k, item in enumerate(items):
            element = at(node, gast.Expr(clone(node.elt)))[0]
            substitute(element, {target: item})
            out[k] = self.lasting(self.evaluate(element.value))
        return Display(out, block=self.flattener.blocks[-1])

    def picked_at_once(self, node: gast.Tuple | gast.List | gast.Dict) -> Display:
        """A display for a literal of functions from outside, which is indexed directly."""
        mapping = isinstance(node, gast.Dict)
        keys = [k.value for k in node.keys] if mapping else range(len(node.elts))
        items = [self.lasting(self.evaluate(v)) for v in (node.values if mapping else node.elts)]
        return Display(dict(zip(keys, items, strict=True)), mapping=mapping)

    def begun(self, target: gast.AST, value: gast.AST) -> Display | None:
        """The empty static list of an assignment to a growing list; else None."""
        empty = isinstance(value, gast.List) and not value.elts
        mine = isinstance(target, gast.Attribute) and target.attr in self.growing
        mine |= isinstance(target, gast.Name) and target.id in self.growing and self.counts[target.id] == 1
        return Display({}, block=self.flattener.blocks[-1]) if empty and mine else None

    def acting_among(self, node: gast.AST) -> Any:
        """A user's function, or a display of some, that is called for its effect; None for anything else."""
        if isinstance(node, gast.Call) and len(node.args) == 1 and self.unit.resolve(node.func) is runtime.sequence:
            node = node.args[0]
        if isinstance(node, (gast.Tuple, gast.List)):
            items = dict(enumerate(map(self.acting_among, node.elts)))
        elif isinstance(node, gast.Dict) and all(isinstance(k, gast.Constant) for k in node.keys):
            items = {k.value: self.acting_among(v) for k, v in zip(node.keys, node.values, strict=True)}
        else:
            known = self.as_callable(node)
            return known if isinstance(known, Known) and is_plain(known.target) else None
        if not items or None in items.values():
            return None
        literal = None if isinstance(node, gast.Dict) else type(node)
        return self.held_together(items, literal)

    def appended(self, call: gast.AST) -> bool:
        """Append to a static list; returns whether the call did."""
        owner = call.func.value if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else None
        display = self.held(owner) if owner is not None else None
        if not isinstance(display, Display) or call.func.attr != "append" or len(call.args) != 1:
            return False
        shown = callee(owner)
        if display.given is not None or display.block != self.flattener.blocks[-1]:
            self.unit.refuse(call, f"what `{shown}` holds depends on a branch or a loop here, which cannot be followed: "
                                   "fill it outside of them")  # fmt: skip
        value = self.lasting(self.evaluate(call.args[0]))
        if isinstance(value, Value):
            display.items[len(display.items)] = value
        else:
            self.unit.refuse(call, f"`{shown}` holds functions or objects, and here data, which cannot be followed: use "
                                   "two lists")  # fmt: skip
        return True

    def note_length(self, target: gast.AST, value: gast.AST) -> None:
        """Record the length of a literal list or tuple, and known numbers."""
        walked = isinstance(value, gast.Call) and self.unit.resolve(value.func) is runtime.sequence
        value = value.args[0] if walked else value
        if not isinstance(target, gast.Name) or self.counts[target.id] > 1:
            return
        if target.id not in self.given and (number := self.number(value)) is not None:
            self.numbers[target.id] = number
        if isinstance(value, gast.Name) and value.id in self.lengths:
            self.lengths[target.id] = self.lengths[value.id]
        elif isinstance(value, gast.Tuple) or (walked and isinstance(value, gast.List)):  # a list with a name may grow
            if not any(isinstance(e, gast.Starred) for e in value.elts):
                self.lengths[target.id] = len(value.elts)

    def trips_of(self, loop: gast.For) -> int | None:
        """The number of trips of a loop that fills a static list; None for other loops, or if it is unknown."""
        calls = (n for n in nodes(*loop.body) if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute))
        owners = (c.func.value for c in calls if c.func.attr == "append")
        fills = any(getattr(o, "id", getattr(o, "attr", "")) in self.growing for o in owners)
        bounds = loop.iter.args if isinstance(loop.iter, gast.Call) and self.unit.resolve(loop.iter.func) is range else []
        if not fills or len(bounds) != 1:
            return None
        (bound,) = bounds
        if isinstance(bound, gast.Constant) and type(bound.value) is int:
            return bound.value if bound.value <= MOST else None
        if isinstance(bound, gast.Call) and self.unit.resolve(bound.func) is len and isinstance(bound.args[0], gast.Name):
            return self.lengths.get(bound.args[0].id)
        return None

    def trips(self, loop: gast.For, count: int) -> list[gast.AST]:
        """The trips of such a loop, unrolled."""
        self.require_all_trips(loop)
        out: list[gast.AST] = []
        for k in range(count):
            out += at(loop, assign(loop.target.id, constant(k)))
            out += clone(loop.body)
        self.counts[loop.target.id] += 2
        self.again |= {loop.target.id, *bindings(loop.body)}
        for bound in bindings(loop.body):
            self.counts[bound] += 2
        return out

    def require_all_trips(self, loop: gast.For) -> None:
        """Refuse an unrolled loop that may be left early."""
        if leaves_trip(loop.body):
            self.unit.refuse(loop, "a loop over functions or objects that is left early cannot be followed")
