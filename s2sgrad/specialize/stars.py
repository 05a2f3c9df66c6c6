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

import sys
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import at, clone, constant, expression, name
from s2sgrad.ir.reach import call
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.runtime import checks
from s2sgrad.specialize.call_shapes import CallShapes, constant_section
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.static_values import Display


class Stars(Family):
    """Evaluates what starred arguments stand for."""

    def __init__(self, evaluator: Evaluator, shapes: CallShapes) -> None:
        super().__init__(evaluator)
        self.shapes = shapes

    def in_one(self, callee: Any, node: gast.Call) -> None:
        """Make one star of the last arguments, from the first star without a known number of items on, where the callee's
        parameters say what stands for what."""
        unknown = [k for k, a in enumerate(node.args) if isinstance(a, gast.Starred) and self.shapes.count_of(a) is None]
        if not unknown or unknown[0] == len(node.args) - 1:
            return
        first, places = unknown[0], self.shapes.places_of(callee)
        left = self.shapes.left_before(callee, node) if places is None else None
        if (places is not None and (places[1] or len(unknown) > 1)) or (left is not None and left > first):
            self.gather(node, first)

    def in_one_of_library(self, node: gast.Call) -> None:
        """The same where no text is read: for a function with a rule, a `partial`, or what only the run knows."""
        unknown = [k for k, a in enumerate(node.args) if isinstance(a, gast.Starred) and self.shapes.count_of(a) is None]
        target = self.unit.resolve(node.func)
        if len(unknown) > 1 and (not libraries.is_fixed(target) or catalogue.of(target).rule is not None):
            self.gather(node, unknown[0])

    def gather(self, node: gast.Call, first: int) -> None:
        """Replace the arguments of a call from `first` on by a star before a tuple of them."""
        rest = node.args[first:]
        node.args[first:] = at(rest[0], gast.Starred(gast.Tuple(rest, gast.Load()), gast.Load()))

    def drawn(self, argument: gast.Starred) -> gast.AST:
        """What stands behind a star, as a sequence of what a loop over it visits: keys of a dict, items of a set or of a
        generator expression."""
        value = argument.value
        if isinstance(value, gast.GeneratorExp):
            value = at(value, gast.ListComp(value.elt, value.generators))[0]
        return self.evaluator.atom(at(value, call(self.unit, "sequence", runtime.sequence, self.evaluator.atom(value)))[0])

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
        self.writer.out += at(argument, gast.Expr(check))
        return [self.evaluator.evaluate(at(argument, item)[0]) for item in items]

    def spread_out(self, elements: list[gast.AST]) -> list[Any]:
        """The values of the elements of a display."""
        each = (self.spread(e) if isinstance(e, gast.Starred) else [self.evaluator.evaluate(e)] for e in elements)
        return [value for values in each for value in values]

    def spread(self, argument: gast.Starred) -> list[Any]:
        """The values that a starred argument stands for."""
        value = argument.value
        if isinstance(value, (gast.Tuple, gast.List)) and self.shapes.count_of(argument) is not None:
            return self.spread_out(value.elts)
        held = self.statics.held(value)
        if isinstance(held, Display):
            return list(held.items.values())
        display, items = self.shapes.display(value), None
        if isinstance(display, (gast.Tuple, gast.List)) and self.shapes.count_of(argument) is not None:
            places = [gast.Subscript(name(value.id), constant(k), gast.Load()) for k in range(len(display.elts))]
            items = [clone(e) if self.shapes.stays_so(e) else p for e, p in zip(display.elts, places, strict=True)]
        elif (count := self.shapes.count_outside(value)) is not None:
            owner, numbers = value, range(count)
            if isinstance(value, gast.Subscript):
                section: Any = constant_section(value.slice)
                owner, numbers = value.value, range(self.shapes.count_outside(value.value) or 0)[section]
            items = [gast.Subscript(clone(owner), constant(k), gast.Load()) for k in numbers]
        elif (told := self.shapes.kind_given(value)) is not None and told.type in (list, tuple):
            count = len(told.items)
            check = expression("f(v, n)", f=self.unit.helper("unpackable", checks.unpackable), v=clone(value), n=count)
            self.writer.out += at(argument, gast.Expr(check))
            items = [gast.Subscript(clone(value), constant(k), gast.Load()) for k in range(count)]
        if items is None:
            self.unit.refuse(argument, "`*` before a value whose length is not in the text cannot be followed: name the "
                                       "arguments")  # fmt: skip
        return [self.evaluator.evaluate(at(argument, item)[0]) for item in items]

    def gathered_from(self, argument: gast.Starred, count: int) -> list[Any]:
        """What a star gives parameters before `*rest`, so many, and a star for what is left."""
        data = self.drawn(argument)
        if not count:
            return at(argument, gast.Starred(data, gast.Load()))
        check = expression("f(v, a, b)", f=self.unit.helper("spreads", checks.spreads), v=data, a=count, b=sys.maxsize)
        self.writer.out += at(argument, gast.Expr(check))
        items = [expression("xs[k]", xs=data, k=k) for k in range(count)]
        left = gast.Starred(self.evaluator.atom(at(argument, expression("xs[n:]", xs=data, n=count))[0]), gast.Load())
        return [*(self.evaluator.evaluate(at(argument, item)[0]) for item in items), *at(argument, left)]
