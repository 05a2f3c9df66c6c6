"""Function values that a trial of what stands in `try` calls: they only compute, and are called as functions of their own.

    which = raised(lambda: f(v), ValueError)      ->      which = raised(lambda: partial(lambda_, w=w)(v), ValueError)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def guarded(f, v):
...     try:
...         return f(v)
...     except ValueError:
...         return 0.0
... def f(x, w):
...     return guarded(lambda t: math.log(t) * w, x)
... ''', "flatten"))
def f(x, w):
    t1 = raised(lambda: partial(lambda_, w=w)(x), ValueError)
    t2 = t1 == 0
    if t2:
        t3 = math.log(x)
        result_2 = t3 * w
        result_ = result_2
    else:
        result_ = 0.0
    result = result_
    return result
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir import reach
from s2sgrad.ir.quote import at, clone, constant, mentioned, name, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.normalize import trials
from s2sgrad.normalize.deferred import COMPUTED
from s2sgrad.runtime import trials as runtime_trials
from s2sgrad.specialize.static_values import Display, Function, Known, Object, Partial, Value

_COUNTING = (iter, zip, enumerate, len, reversed)


class Attempts:
    """Makes the function values in trials callable."""

    unit: Unit
    values: dict[str, Value]

    def tried(self, node: gast.AST) -> gast.AST:
        """A trial whose function values are functions of their own; any other expression as it is."""
        if not isinstance(node, gast.Call) or self.unit.resolve(node.func) is not runtime.raised:
            return node
        node.args[0] = self.with_attributes(node.args[0])
        if isinstance(node.args[0].body, (gast.Name, gast.Constant)):
            return at(node, constant(0))[0]
        self.tried_places |= {self.place_tried(n) for n in nodes(node) if hasattr(n, "lineno")}
        for call in [n for n in nodes(node) if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)]:
            if call.func.id in self.unit.locals and self.unit.resolve(call.func) is MISSING:
                value = self.values.get(call.func.id)
                if value is None:  # only the running program knows it
                    call.func = at(call, reach.call(self.unit, "repeatable", runtime_trials.repeatable, call.func))[0]
                    continue
                if not self.only_computes(value):
                    self.unit.refuse(call, f"this call may do something besides computing, {trials.WAY}")
                if not isinstance(value, Known):
                    call.func = self.by_itself(value, call)
        return node

    def with_attributes(self, tried: gast.Lambda) -> gast.Lambda:
        """A trial that reads the variables for attributes of objects."""
        own = {p.id for n in nodes(tried) if isinstance(n, gast.Lambda) for p in n.args.args}

        def put(part: gast.AST) -> gast.AST | None:
            if isinstance(part, gast.Call) and any(self.unit.called(part) is f for f in _COUNTING):
                part.args = [self.counted_alone(a) for a in part.args]
            if not isinstance(part, gast.Attribute) or self.unit.resolve(part) is not MISSING:
                return None
            owner = None if mentioned(part) & own else self.held(part.value)
            if isinstance(owner, Object):
                local = owner.attributes.get(part.attr, "")
                computed = isinstance(self.looked_up(owner.cls, part.attr), COMPUTED)
                return at(part, name(local))[0] if local and local not in self.values and not computed else None
            return self.field_of(clone(part.value, put), part) if self.may_be_of_object(part) else None

        return clone(tried, put)

    def counted_alone(self, node: gast.AST) -> gast.AST:
        """What is counted, or iterated over, without its items."""
        held = self.held(node)
        if not isinstance(held, Display):
            return node
        items = [constant(k if held.mapping else None) for k in held.items]
        return at(node, gast.Tuple(items, gast.Load()))[0]

    def only_computes(self, value: Any) -> bool:
        """Whether a function value is known, and has no effect."""
        if isinstance(value, Known):
            return behaviour.of_callable(value.target).effect is behaviour.Effect.NOTHING
        if isinstance(value, Partial):
            return self.only_computes(value.inner) and all(isinstance(v, gast.AST) for v in value.given)
        return isinstance(value, Function) and not value.defaults and trials.is_computing(value.unit, value.node)

    def by_itself(self, value: Function | Partial, node: gast.AST) -> gast.AST:
        """A function value as an expression."""
        f = self.as_function(value, node)
        if f.defaults or f.is_late:
            self.unit.refuse(node, f"this call of a function with defaults, {trials.WAY}")
        target = name(self.unit.helper(f.target.__name__, f.target))
        if not f.captured:
            return target
        words = [gast.keyword(c, name(c)) for c in f.captured]
        partial = name(self.unit.helper("partial", functools.partial))
        return at(node, gast.Call(partial, [target], words))[0]
