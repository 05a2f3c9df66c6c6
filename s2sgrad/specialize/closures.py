"""Closure conversion: a function value that is handed to a function which is called as it is becomes data, a lifted function
and its captures.

    y = solve(lambda t: w * t, x)      ->      y = solve(closure(lambda_, (w,)), x)      of   def lambda_(w, t): return w * t

A Python closure reads its variables when it is called, but captures are values: what is captured must not change while the
function may be called.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, w, solve):
...     return solve(lambda t, c=2.0: w * t + c, x)
... ''', "flatten"))
def f(x, w, solve):
    t1 = w, 2.0
    t2 = closure(lambda_, t1, 1)
    result = solve(t2, x)
    return result
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.libraries import is_given
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import at, calls_in, clone, constant, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.aliasing import Memory
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import closures
from s2sgrad.specialize.static_values import Choice, Derivative, Display, Function, Known, Object, Partial


class Closures:
    """Converts function values to data where they are handed on, and asks where they are made."""

    counts: Counter[str]
    shared: set[str]
    homes: dict[int, tuple[int, tuple[int, ...], Any]]  # where function values are made: block and enclosing loops
    again: set[str]  # variables bound in several unrolled trips
    holding: list[gast.Tuple]  # the captures of functions

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

    def require_here(self, value: Any, node: gast.AST) -> None:
        """Refuse to keep a function value that was made elsewhere in a loop."""
        if self.moves(value):
            self.unit.refuse(node, "a function that a loop makes in each trip is kept in a branch of it, which cannot be "
                                   "followed: make it there")  # fmt: skip

    def handed(self, value: Any, node: gast.AST, callee: gast.AST) -> gast.AST | None:
        """An atom for a function value that is handed to a function which is called as it is; None where it is none, or the
        callee is one of the library's, or a method of a container, which keeps it."""
        target = self.unit.resolve(callee)
        if target is MISSING and isinstance(callee, gast.Attribute) and catalogue.methods_named(callee.attr):
            return None
        if target is not MISSING and not is_given(target) and not is_plain(target):
            return None
        return self.converted(value, node, not is_given(target))

    def converted(self, value: Any, node: gast.AST, lasts: bool) -> gast.AST | None:
        """An atom for a function value; None for any other.  `lasts`: it may be called later than now."""
        if isinstance(value, Partial) and isinstance(value.inner, Known) and not value.keywords:
            function_name, captured, defaults, usual = value.inner.node, [], value.given, 0
        elif isinstance(value, (Derivative, Function, Partial)):
            f = self.as_function(value, node, first=True)
            function_name = name(self.unit.helper(getattr(f.target, "__name__", "function"), f.target))
            captured, defaults, usual = f.captured, [*f.defaults.values()], sum(p in f.defaults for p in f.order)
        else:
            return None
        kept = [self.converted(v, node, lasts) or v for v in defaults]
        if not all(isinstance(v, (gast.AST, Known)) for v in kept):
            return None
        self.require_settled(captured, node, lasts)
        holds = [*map(name, captured), *(clone(v.node) if isinstance(v, Known) else v for v in kept)]
        if not holds and getattr(self.unit.resolve(function_name), "__closure__", None) is None:
            return at(node, clone(function_name))[0]
        self.holding.append(at(node, gast.Tuple(holds, gast.Load()))[0])
        captures = self.flattener.hold(self.holding[-1])
        helper = name(self.unit.helper("closure", closures.closure))
        arguments = [clone(function_name), captures, *([constant(usual)] if usual else [])]
        return self.flattener.hold(at(node, gast.Call(helper, arguments, []))[0])

    def require_settled(self, names: list[str], node: gast.AST, lasts: bool) -> None:
        """Refuse captured variables that are unbound, or may be rebound while the function may be called; `lasts`: in later
        trips of a loop, too."""
        so_far = self.bound_so_far()
        for captured in names:
            times = so_far[captured] + (captured in self.given)
            anew = self.counts[captured] + (captured in self.given) > max(1, times)
            in_loop = lasts and (self.rebinds(captured) or captured in self.again)
            if in_loop or anew or not times or captured in self.shared:
                self.unit.refuse(node, f"`{captured}` may be bound anew while a function lives that reads it, which cannot "
                                       f"be followed: give the function its value, as in `lambda t, {captured}={captured}: "
                                       "..`")  # fmt: skip

    def require_unchanged(self, tree: gast.FunctionDef) -> None:
        """Refuse captured values that are written in place, by whatever name, in the flattened function."""
        if not self.holding:
            return
        memory = Memory(self.unit, tree, {})
        written = {n for statement in effects.walk(tree.body) for n in _written(self.unit, statement)}
        changed = {m for n in written for m in memory.with_memory_of(n)}
        for captured in (part for held in self.holding for part in held.elts):
            if isinstance(captured, gast.Name) and captured.id in changed:
                self.unit.refuse(captured, f"`{captured.id}` is written in place in the function that hands on another one "
                                           "which reads it, which cannot be followed: give that a copy")  # fmt: skip

    def rebinds(self, local: str) -> bool:
        """Whether an enclosing loop binds a variable."""
        return any(bound[local] for bound in self.flattener.rebound)

    def bound_so_far(self) -> Counter[str]:
        """The number of bindings of each variable in the statements written so far."""
        return scoping.bindings([s for block in (*self.flattener.outer, self.flattener.out) for s in block])

    def visible(self) -> set[str]:
        """The variables that may be bound at this point, and those that other functions bind."""
        return {n for n, times in self.bound_so_far().items() if times} | self.given | self.shared


def _written(unit: Unit, statement: gast.AST) -> set[str]:
    """The names whose values a statement may write in place, itself or by a function that it calls."""
    targets = statement.targets if isinstance(statement, gast.Assign) else [getattr(statement, "target", None)]
    is_updated = isinstance(statement, gast.AugAssign)
    places = [t for t in targets if is_updated or isinstance(t, (gast.Subscript, gast.Attribute))]
    if not isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
        return set()
    places += [a for call in calls_in(statement.value) for a in mod_ref.written_by(unit, call)]
    return {_root(place) for place in places} | effects.changed_by_call(statement.value)


def _root(node: gast.AST) -> str:
    """The variable that an expression is, or is a part of; empty for other expressions."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return getattr(node, "id", "")
