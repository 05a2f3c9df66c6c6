"""How many arguments a `*` stands for: the text says it, a tuple from outside has it, or the callee's parameters need it.

    f(*data), f of three      ->      f(data[0], data[1], data[2]), after a check
    f(*a, x, *b)              ->      f(*(*a, x, *b))

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, rest):
...     def area(a, b, c):
...         return a * b * c
...     return area(*rest, x)
... ''', "flatten"))
def f(x, rest):
    t1 = sequence(rest)
    unpackable(t1, 2)
    t2 = t1[0]
    t3 = t1[1]
    t4 = t2 * t3
    result_ = t4 * x
    result = result_
    return result
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached_classes import is_named_tuple
from s2sgrad.analysis.results import length_told
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none, whole_number
from s2sgrad.ir.quote import at, clone, constant, expression, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.runtime import checks
from s2sgrad.specialize.static_values import Display, Partial

_Places = tuple[list[str], list[Any]]  # the names of parameters, and the defaults of the last of them


class Stars:
    """Says what starred arguments stand for."""

    # --- how many items ---

    def count_of(self, argument: gast.Starred) -> int | None:
        """How many items a star stands for; None where only the running program knows."""
        value = argument.value
        if isinstance(held := self.held(value), Display):
            return len(held.items)
        shown = value if isinstance(value, (gast.Tuple, gast.List)) else self.display(value)
        if isinstance(shown, (gast.Tuple, gast.List)):
            counts = [self.count_of(e) if isinstance(e, gast.Starred) else 1 for e in shown.elts]
            return None if None in counts else sum(counts)
        return self.count_outside(value)

    def count_outside(self, value: gast.AST) -> int | None:
        """The number of items of a tuple that a name from outside refers to, which its kind tells; None for any other."""
        if isinstance(value, gast.Subscript) and (section := _section(value.slice)) is not None:
            count = self.count_outside(value.value)
            return None if count is None else len(range(count)[section])
        local = isinstance(value, gast.Name) and value.id in self.unit.locals
        outside = MISSING if local or not isinstance(value, (gast.Name, gast.Attribute)) else self.unit.resolve(value)
        return length_told(outside)

    def kind_given(self, value: gast.AST) -> Any:
        """The kind of an argument, as far as this text was made for it; None for any other expression."""
        given = isinstance(value, gast.Name) and value.id in self.given and not self.counts[value.id]
        kind = self.unit.arguments.kinds.get(value.id) if given else None
        return kind if getattr(kind, "items", None) is not None else None

    def is_told(self, argument: gast.Starred, node: gast.Call) -> bool:
        """Whether the kind of an argument tells how many items a star gives to a function with a rule."""
        target = self.unit.resolve(node.func)
        has_rule = target is not MISSING and catalogue.of(target).rule is not None
        return has_rule and getattr(self.kind_given(argument.value), "type", None) in (list, tuple)

    def missing(self, callee: Any, node: gast.Call) -> tuple[int, list[Any]] | None:
        """The number of arguments that a star stands for, if it is the only one without a known number of items and the
        callee takes a fixed number; and the defaults of the last parameters."""
        stars = [a for a in node.args if isinstance(a, gast.Starred) and self.count_of(a) is None]
        takes = self.left_over(callee, node) if len(stars) == 1 else None
        if takes is None:
            return None
        others = sum(self.count_of(a) if isinstance(a, gast.Starred) else 1 for a in node.args if a is not stars[0])
        count, defaults = len(takes[0]) - others, takes[1]
        if not all(isinstance(d, gast.Constant) or getattr(d, "id", "") in self.unit.helpers for d in defaults):
            return None
        return (count, defaults) if not defaults or (len(defaults) <= count and node.args[-1] is stars[0]) else None

    def left_over(self, callee: Any, node: gast.Call) -> _Places | None:
        """The parameters that arguments by position may fill: those before the first that a keyword fills."""
        places = self.places_of(callee)
        words = self.words_of(node)
        if places is None or words is None:
            return None
        names, defaults = places
        end = min((names.index(word) for word in words if word in names), default=len(names))
        return names[:end], defaults[: max(0, end - len(names) + len(defaults))]

    def places_of(self, callee: Any) -> _Places | None:
        """The parameters that a callee takes by position, if their number is fixed, and the defaults of the last of them."""
        given = 0
        while isinstance(callee, Partial) and not callee.keywords:
            given, callee = given + len(callee.given), callee.inner
        function, target = self.text_called(callee), getattr(callee, "target", None)
        if function is not None:
            places = [*function.node.args.posonlyargs, *function.node.args.args]
            defaults = [function.defaults[p.id] for p in places if p.id in function.defaults]
            if function.node.args.vararg or len(defaults) != len(function.node.args.defaults):
                return None
            names = [(notes.KEYWORD.of(p) or p.id) for p in places]
        elif count := places_alone(target):
            names, defaults = [""] * count, []
        elif is_plain_class(target) or is_named_tuple(target):
            fields = signature(target).parameters.values()
            if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in fields):
                return None
            names = [p.name for p in fields]
            defaults = [self.outside(p.name, p.default) for p in fields if p.default is not p.empty]
        else:
            return None
        names = names[given:]
        return names, defaults[max(0, len(defaults) - len(names)) :]

    # --- several stars, as one ---

    def in_one(self, callee: Any, node: gast.Call) -> None:
        """Make one star of the last arguments, from the first star without a known number of items on, where the callee's
        parameters say what stands for what."""
        unknown = [k for k, a in enumerate(node.args) if isinstance(a, gast.Starred) and self.count_of(a) is None]
        if not unknown or unknown[0] == len(node.args) - 1:
            return
        first, places = unknown[0], self.places_of(callee)
        left = self.left_before(callee, node) if places is None else None
        if (places is not None and (places[1] or len(unknown) > 1)) or (left is not None and left > first):
            self.gather(node, first)

    def in_one_of_library(self, node: gast.Call) -> None:
        """The same where no text is read: for a function with a rule, a `partial`, or what only the run knows."""
        unknown = [k for k, a in enumerate(node.args) if isinstance(a, gast.Starred) and self.count_of(a) is None]
        target = self.unit.resolve(node.func)
        if len(unknown) > 1 and (not libraries.is_fixed(target) or catalogue.of(target).rule is not None):
            self.gather(node, unknown[0])

    def gather(self, node: gast.Call, first: int) -> None:
        """Replace the arguments of a call from `first` on by a star before a tuple of them."""
        rest = node.args[first:]
        node.args[first:] = at(rest[0], gast.Starred(gast.Tuple(rest, gast.Load()), gast.Load()))

    # --- the items ---

    def drawn(self, argument: gast.Starred) -> gast.AST:
        """What stands behind a star, as a sequence of what a loop over it visits: keys of a dict, items of a set or of a
        generator expression."""
        value = argument.value
        if isinstance(value, gast.GeneratorExp):
            value = at(value, gast.ListComp(value.elt, value.generators))[0]
        return self.flattener.atom(at(value, call(self.unit, "sequence", runtime.sequence, self.flattener.atom(value)))[0])

    def counted(self, argument: gast.Starred, count: int, defaults: list[Any]) -> list[Any]:
        """The items of a tuple whose length is checked at run time; defaults replace missing items."""
        data = self.drawn(argument)
        if not isinstance(data, gast.Name):
            return self.spread(argument)
        items: list[gast.AST] = [gast.Subscript(clone(data), constant(k), gast.Load()) for k in range(count)]
        if not defaults:
            check = expression("f(v, n)", f=self.unit.helper("unpackable", checks.unpackable), v=data, n=count)
        else:
            least = count - len(defaults)
            check = expression("f(v, a, b)", f=self.unit.helper("spreads", checks.spreads), v=data, a=least, b=count)
            for k, default in enumerate(defaults, least):
                items[k] = expression("v if len(xs) > k else d", v=items[k], xs=clone(data), k=k, d=clone(default),
                                      len=self.unit.builtin(len))  # fmt: skip
        self.flattener.out += at(argument, gast.Expr(check))
        return [self.evaluate(at(argument, item)[0]) for item in items]

    def spread(self, argument: gast.Starred) -> list[Any]:
        """The values that a starred argument stands for."""
        value = argument.value
        if isinstance(value, (gast.Tuple, gast.List)) and self.count_of(argument) is not None:
            return [v for e in value.elts for v in (self.spread(e) if isinstance(e, gast.Starred) else [self.evaluate(e)])]
        held = self.held(value)
        if isinstance(held, Display):
            return list(held.items.values())
        display, items = self.display(value), None
        if isinstance(display, (gast.Tuple, gast.List)) and self.count_of(argument) is not None:
            places = [gast.Subscript(name(value.id), constant(k), gast.Load()) for k in range(len(display.elts))]
            items = [clone(e) if self.stays_so(e) else p for e, p in zip(display.elts, places, strict=True)]
        elif (count := self.count_outside(value)) is not None:
            owner, places = value, range(count)
            if isinstance(value, gast.Subscript):
                owner, places = value.value, range(self.count_outside(value.value))[_section(value.slice)]
            items = [gast.Subscript(clone(owner), constant(k), gast.Load()) for k in places]
        elif (told := self.kind_given(value)) is not None and told.type in (list, tuple):
            count = len(told.items)
            check = expression("f(v, n)", f=self.unit.helper("unpackable", checks.unpackable), v=clone(value), n=count)
            self.flattener.out += at(argument, gast.Expr(check))
            items = [gast.Subscript(clone(value), constant(k), gast.Load()) for k in range(count)]
        if items is None:
            self.unit.refuse(argument, "`*` before a value whose length is not in the text cannot be followed: name the "
                                       "arguments")  # fmt: skip
        return [self.evaluate(at(argument, item)[0]) for item in items]

    def stays_so(self, item: gast.AST) -> bool:
        """Whether an item of a display still has the value that it had in it, wherever the display is read."""
        fixed = isinstance(item, gast.Name) and not self.flattener.loops and self.is_fixed(item.id)
        return isinstance(item, gast.Constant) or (fixed and item.id not in self.shared)


def _section(index: gast.AST) -> slice | None:
    """A slice with constant bounds; None for any other index."""
    if not isinstance(index, gast.Slice):
        return None
    bounds = [None if b is None else whole_number(b) for b in (index.lower, index.upper, index.step)]
    given = [b for b in (index.lower, index.upper, index.step) if b is not None and not is_none(b)]
    return slice(*bounds) if sum(b is not None for b in bounds) == len(given) and bounds[2] != 0 else None


def places_alone(target: Any) -> int:
    """How many arguments a builtin function takes, by position and no others; 0 if it may take others."""
    try:
        parameters = signature(target).parameters.values() if type(target) is types.BuiltinFunctionType else ()
    except (TypeError, ValueError):
        return 0
    return len(parameters) if all(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in parameters) else 0
