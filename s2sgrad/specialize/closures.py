"""Closure conversion: function values that are unknown before the run become data, a lifted function and its captures.

    for g in fs:                                         def both(f, g, t): return f(g(t))
        h = compose(h, g)                ->              for g in fs:
    return h(x)                                              h = closure(both, (h, g))
                                                         return h(x)

A Python closure reads its variables when it is called, but captures are values.  So a captured variable must not be rebound
later; a variable of the compiled function that may be is passed at each call instead (`late_binding`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     h = np.sin
...     for w in x:
...         h = lambda t, h=h, w=w: h(w * t)
...     return h(2.0)
... ''', "flatten"))
def f(x):
    h = np.sin
    t1 = sequence(x)
    t2 = len(t1)
    for k in range(t2):
        w = t1[k]
        h_2 = h
        w_2 = w
        t3 = h_2, w_2
        t4 = closure(lambda_, t3, 2)
        h = t4
    result = h(2.0)
    return result
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.quote import assign, at, clone, constant, name
from s2sgrad.ir.unit import parameters
from s2sgrad.runtime import closures, late
from s2sgrad.specialize import late_binding
from s2sgrad.specialize.static_values import (
    Choice,
    Derivative,
    Display,
    Function,
    Known,
    Object,
    Partial,
    Value,
    chosen,
)


class Closures:
    """Converts function values to data, where this way of compiling is in use."""

    as_data: bool  # unknown function values become data; else they are refused
    counts: Counter[str]
    shared: set[str]
    homes: dict[int, tuple[int, tuple[int, ...], Any]]  # where function values are made: block and enclosing loops
    again: set[str]  # variables bound in several unrolled trips
    own: set[str]  # variables of the compiled function, not of inlined ones
    unsure: set[str]  # those of them bound only in a branch or a loop
    late: tuple[str, ...]  # those that are passed to functions at each call
    unsettled: set[str]  # those that should be late
    holding: list[gast.Tuple]  # the captures of functions
    lifting: int  # nesting of functions that are being lifted

    def open_late(self, late: tuple[str, ...], tree: gast.FunctionDef) -> None:
        """Start a function; function values get the variables `late` at each call."""
        self.homes, self.again, self.late = {}, set(), late
        self.unsettled, self.holding, self.lifting = set(), [], 0
        self.own = scoping.variables(tree)
        self.unsure = self.own - late_binding.bound_at_once(tree.body) - {p.id for p in parameters(tree)}

    def is_data(self, target: str, value: Any) -> bool:
        """Whether a name for this function value or display becomes a variable: it is rebound, or its value may change."""
        if not self.as_data or not self.may_be_data(value) or target in self.acting:
            return False
        return isinstance(value, Display) or self.counts[target] > 1 or target in self.given or target in self.chosen

    def may_be_data(self, value: Any) -> bool:
        """Whether a function value or display can be data."""
        if isinstance(value, Display):
            return value.given is None and all(map(self.may_be_data, value.items.values()))
        return isinstance(value, (gast.AST, Choice, Derivative, Function, Known, Partial))

    def moves(self, value: Any) -> bool:
        """Whether a function value made in a loop is bound or passed in another block of it: its captures may be rebound
        before it is called."""
        block = self.flattener.blocks[-1] if self.flattener.blocks else 0
        in_loop = False
        for part in self.made_of(value):
            if isinstance(part, Object):
                home, loops = part.block, part.loops
            else:
                home, loops, _ = self.homes.setdefault(id(part), (block, tuple(self.flattener.loops), part))
            in_loop = in_loop or (bool(loops) and home != block)
        return in_loop

    def made_of(self, value: Any) -> list[Any]:
        """The function values within a value that capture something when they are made, and the objects of methods."""
        if isinstance(value, Function):
            own = value.unit is self.unit and not value.defaults and not self.running
            return [] if own and id(value) not in self.homes else [value]
        parts = value.options if isinstance(value, Choice) else []
        parts = value.items.values() if isinstance(value, Display) else parts
        parts = [value.inner, *value.given, *value.keywords.values()] if isinstance(value, Partial) else parts
        own = [value] if isinstance(value, (Derivative, Partial)) else []
        own += [part for part in parts if isinstance(part, Object) and isinstance(value, Partial)]
        return own + [p for part in parts for p in self.made_of(part)]

    def require_here(self, value: Any, node: gast.AST) -> Any:
        """A function value stored in another one; converted to data if it was made elsewhere in a loop."""
        if not self.moves(value):
            return value
        data = self.reified(value, node) if self.as_data else None
        if data is None:
            self.unit.refuse(node, "a function that a loop makes in each trip is kept in a branch of it, which cannot be "
                                   "followed: make it there")  # fmt: skip
        return data

    def reified(self, value: Any, node: gast.AST) -> gast.AST | None:
        """An atom for a function value or a display of some; None if it cannot be data."""
        if isinstance(value, gast.AST):
            return value
        if isinstance(value, Known):
            return at(node, clone(value.node))[0]
        if not self.as_data or not self.may_be_data(value):
            return None
        if isinstance(value, Display):
            return self.flattener.hold(at(node, self.displayed(value, node))[0])
        if isinstance(value, Choice):
            return self.by_selector(value, node)
        if isinstance(value, Partial) and isinstance(value.inner, Known) and not value.keywords:
            function_name, holds = value.inner.node, [self.reified(v, node) for v in value.given]
            if None not in holds:  # objects are inlined together with their users
                return self.closure(function_name, holds, node)
        f = self.as_function(value, node, first=True)
        defaults = [self.reified(v, node) for v in f.defaults.values()]
        if None in defaults:
            return None
        self.require_settled([c for c in f.captured if c not in self.of_nobody(value)], node)
        function_name = name(self.unit.helper(getattr(f.target, "__name__", "function"), f.target))
        holds = [*map(name, f.captured), *defaults]
        if not holds and f.target.__closure__ is None and not f.is_late:
            return at(node, function_name)[0]
        return self.closure(function_name, holds, node, f.is_late, sum(p in f.defaults for p in f.order))

    def unsettled_in(self, tree: gast.FunctionDef) -> set[str]:
        """The variables of the text that should be late and are not."""
        if not self.as_data:
            return set()
        changed = late_binding.changed_while_held(self.unit, tree, self.holding) if self.holding else set()
        if changed - self.own:
            changed &= self.own | late_binding.bound_in_no_loop(tree)
        return (self.unsettled | changed) - {*self.late}

    def closure(
        self, function: gast.AST, holds: list[gast.AST], node: gast.AST, is_late: bool = False, usual: int = 0
    ) -> gast.AST:
        """A closure of a function and its captures, the last `usual` of them defaults which a call may give by position;
        `is_late`: it also takes the current variables at each call."""
        self.holding.append(at(node, gast.Tuple(holds, gast.Load()))[0])
        captures = self.flattener.hold(self.holding[-1])
        helper = name(self.unit.helper("late", late.late) if is_late else self.unit.helper("closure", closures.closure))
        arguments = [clone(function), captures, *([constant(usual)] if usual else [])]
        return self.flattener.hold(at(node, gast.Call(helper, arguments, []))[0])

    def displayed(self, display: Display, node: gast.AST) -> gast.AST:
        """A display whose items are converted to data."""
        items = [self.reified(item, node) for item in display.items.values()]
        if None in items:
            self.unit.refuse(node, "a function or an object in a list, tuple or dict that changes cannot be followed here: "
                                   "give it a name of its own")  # fmt: skip
        if display.mapping:
            return gast.Dict([constant(key) for key in display.items], items)
        return (display.literal or gast.List)(items, gast.Load())

    def by_selector(self, choice: Choice, node: gast.AST) -> gast.AST | None:
        """One of several functions, chosen by branches."""
        holder = self.unit.local("f")
        arms = []
        for option in choice.options:
            before, self.flattener.out = self.flattener.out, []
            value = self.reified(option, node)
            arms.append([*self.flattener.out, *at(node, assign(holder, value or constant(None)))])
            self.flattener.out = before
            if value is None:
                return None
        self.counts[holder] += len(arms)
        self.flattener.out += chosen(self.unit, choice.selector, arms, node)
        return at(node, name(holder))[0]

    def rebinds(self, local: str) -> bool:
        """Whether an enclosing loop binds a variable."""
        return any(bound[local] for bound in self.flattener.rebound)

    def is_final(self, local: str) -> bool:
        """Whether no binding of a variable follows, in this trip or in a later one."""
        return not self.rebinds(local) and self.counts[local] <= self.bound_so_far()[local]

    def bound_so_far(self) -> Counter[str]:
        """The number of bindings of each variable in the statements written so far."""
        return scoping.bindings([s for block in (*self.flattener.outer, self.flattener.out) for s in block])

    def visible(self) -> set[str]:
        """The variables that may be bound at this point, and those that other functions bind."""
        return {n for n, times in self.bound_so_far().items() if times} | self.given | self.shared

    def of_nobody(self, value: Any) -> set[str]:
        """The attributes of objects that only their method refers to."""
        waiting = [v for v in getattr(value, "given", ()) if isinstance(v, Object) and v.names == v.methods]
        out: set[str] = set()
        while waiting:
            instance = waiting.pop()
            if instance.given is None:
                out |= set(instance.attributes.values())
                inner = map(self.values.get, instance.attributes.values())
                waiting += [v for v in inner if isinstance(v, Object) and v.names == 1]
        return out

    def require_settled(self, names: list[str], node: gast.AST) -> None:
        """Record captured variables that are unbound, or may be rebound while the closure is alive; refuse those that do not
        belong to the compiled function."""
        so_far = self.bound_so_far()
        for captured in sorted({*names}):
            in_loop = self.rebinds(captured)
            times = so_far[captured] + (captured in self.given)
            anew = self.counts[captured] + (captured in self.given) > max(1, times)
            if not (in_loop or anew or not times or captured in self.shared or captured in self.again):
                continue
            if captured in self.own:
                self.unsettled.add(captured)
            else:
                self.unit.refuse(node, f"`{captured}` may be bound anew while a function lives that reads it, which cannot "
                                       f"be followed: give the function its value, as in `lambda t, {captured}={captured}: "
                                       "..`")  # fmt: skip


def holds_objects(value: Any) -> bool:
    """Whether a display contains an object."""
    items = value.items.values() if isinstance(value, Display) else ()
    return any(isinstance(item, Object) or (isinstance(item, Value) and holds_objects(item)) for item in items)
