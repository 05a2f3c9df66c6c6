"""The arguments of calls in order of evaluation, and `*` and `**` where the text or the callee's parameters determine them.

    args = (x, 2.0); f(*args)   ->   f(x, 2.0)        f(w, *data), f of three   ->   f(w, data[0], data[1])

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     def area(a, b):
...         return a * b
...     sides = (x, 2.0)
...     return area(*sides)
... ''', "flatten"))
def f(x):
    sides = x, 2.0
    result_ = x * 2.0
    result = result_
    return result
"""

from __future__ import annotations

import builtins
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.libraries import is_given
from s2sgrad.ir import notes
from s2sgrad.ir.quote import at, clone, constant, expression
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.normalize import call_forms
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import checks
from s2sgrad.specialize.call_shapes import CallShapes, places_alone
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.generators import Generators
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.stars import Stars
from s2sgrad.specialize.static_values import Known, Object
from s2sgrad.specialize.texts import Texts


class Arguments(Family):
    """Evaluates the arguments of calls."""

    def __init__(
        self, evaluator: Evaluator, texts: Texts, objects: Objects, closures: Closures, generators: Generators,
        shapes: CallShapes, stars: Stars,
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.texts, self.objects, self.closures, self.generators = texts, objects, closures, generators
        self.shapes, self.stars = shapes, stars

    def kept(self, value: Any, later: list[gast.AST]) -> Any:
        """A variable that a call in a later operand may rebind, copied to keep its value."""
        return self.writer.hold(value) if isinstance(value, gast.Name) and self.may_bind(value.id, later) else value

    def may_bind(self, local: str, operands: list[gast.AST]) -> bool:
        """Whether a call in these operands may rebind the variable."""
        return local in self.names.shared and any(map(self.lookahead.inside, operands))

    def evaluated(self, callee: Any, node: gast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by position and by keyword, evaluated from left to right."""
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        if isinstance(callee, Object) and any(isinstance(a, gast.Starred) for a in node.args):
            callee = self.objects.method(callee, "__call__", node)
        self.stars.in_one(callee, node)
        if (filled := self.filled(callee, node)) is not None:
            return filled, {}
        missing = self.shapes.missing(callee, node)
        for argument in node.args:
            values = [self.kept(v, [argument]) for v in values]
            if not isinstance(argument, gast.Starred):
                value = self.evaluator.evaluate(argument)
                values.append(self.generators.items_of_object(value, argument) if self.unit.draws(argument) else value)
            elif self.shapes.count_of(argument) is not None:
                values += self.stars.spread(argument)
            elif missing is not None:
                values += self.stars.counted(argument, *missing)
            elif (left := self.shapes.left_before(callee, node)) is not None:
                values += self.stars.gathered_from(argument, max(0, left - len(values)))
            else:
                values += self.stars.spread(argument)
        for keyword in node.keywords:
            values = [self.kept(v, [keyword.value]) for v in values]
            keywords = {k: self.kept(v, [keyword.value]) for k, v in keywords.items()}
            if keyword.arg is not None:
                keywords[keyword.arg] = self.evaluator.evaluate(keyword.value)
                continue
            by_name = None
            if not self.shapes.shown(keyword.value):
                by_name = self.by_parameters(keyword.value, callee, node, len(values))
            evaluated = {k: self.evaluator.evaluate(v) for k, v in (by_name or {}).items()}
            keywords |= self.spread_keywords(keyword.value) if by_name is None else evaluated
        return values, keywords

    def filled(self, callee: Any, node: gast.Call) -> list[Any] | None:
        """The arguments of `f(a, *items, **d)` in the order of `f`'s parameters, where `items` and `d` are data; None for
        any other call."""
        last, keyword = node.args[-1] if node.args else None, node.keywords[0] if len(node.keywords) == 1 else None
        if not isinstance(last, gast.Starred) or keyword is None or keyword.arg is not None:
            return None
        function, takes, before = self.texts.text_called(callee), self.shapes.places_of(callee), node.args[:-1]
        counted = self.shapes.count_of(last) is not None or any(isinstance(a, gast.Starred) for a in before)
        if counted or self.shapes.shown(keyword.value) or function is None or takes is None:
            return None
        args = function.node.args
        if args.posonlyargs or args.kwonlyargs or args.kwarg or not all(isinstance(d, gast.Constant) for d in takes[1]):
            return None
        words = takes[0][len(before) :]
        first = [self.kept(self.evaluator.evaluate(a), [last, keyword.value]) for a in before]
        items = self.kept(self.stars.drawn(last), [keyword.value])
        d = self.evaluator.atom(keyword.value)
        return first + self.fitted(function.name, words, takes[1], items, d)

    def fitted(self, called: str, words: list[str], defaults: list[Any], items: gast.AST, d: gast.AST) -> list[Any]:
        """The arguments for the parameters `words`, the last of which have defaults: checked `items`, and what is in `d`."""
        needed = max(0, len(words) - len(defaults))
        check = expression("f(items, d, words, needed, called)", f=self.unit.helper("fills", checks.fills), items=items, d=d,
                           words=gast.Tuple([constant(w) for w in words], gast.Load()), needed=needed,
                           called=constant(called))  # fmt: skip
        self.writer.out += at(items, gast.Expr(check))
        out = []
        for k, word in enumerate(words):
            otherwise = expression("d[w]", d=d, w=constant(word))
            if k >= needed:
                otherwise = expression("d[w] if w in d else v", d=d, w=constant(word), v=clone(defaults[k - len(words)]))
            item = expression("items[k] if len(items) > k else other", items=items, k=k, other=otherwise,
                              len=self.unit.builtin(len))  # fmt: skip
            out.append(self.evaluator.evaluate(at(items, item)[0]))
        return out

    def spread_keywords(self, value: gast.AST) -> dict[str, Any]:
        """The values that a `**` argument stands for, by keyword."""
        items = self.shapes.keyed(value)
        items = self.keyed_outside(value) if items is None else items
        if items is not None:
            return {k: self.evaluator.evaluate(at(value, item)[0]) for k, item in items.items()}
        self.unit.refuse(value, "`**` before a value whose keys are not in the text cannot be followed: name the keywords")

    def keyed_outside(self, value: gast.AST) -> dict[str, gast.AST] | None:
        """The items of a dict from outside, whose keys are those of this call: the text has a check and is made anew for
        others; None for any other."""
        keys = self.shapes.keys_outside(value)
        if keys is None:
            return None
        words = gast.Tuple([constant(key) for key in keys], gast.Load())
        check = expression("f(d, words)", f=self.unit.helper("has_keys", checks.has_keys), d=value, words=words)
        self.writer.out += at(value, gast.Expr(check))
        return {key: gast.Subscript(clone(value), constant(key), gast.Load()) for key in keys}

    def by_parameters(self, value: gast.AST, callee: Any, node: gast.Call, places: int) -> dict[str, gast.AST] | None:
        """`f(x, **d)`: the items of `d` for the parameters of `f` that are still unfilled, so many being filled by position;
        `d` must have no other keys."""
        function = self.texts.text_called(callee)
        stars = [k for k in node.keywords if k.arg is None]
        if function is None or len(stars) != 1 or function.node.args.kwarg or function.node.args.vararg:
            return None
        left = _unfilled(function.node.args, node, places)
        data = self.evaluator.atom(value)
        if not isinstance(data, gast.Name):
            return None
        check = self.unit.helper("only_these", checks.only_these)
        words = gast.Tuple([constant(word) for word in left], gast.Load())
        self.writer.out += at(value, gast.Expr(
            expression("f(d, words, called)", f=check, d=data, words=words, called=constant(function.name))))  # fmt: skip
        out: dict[str, gast.AST] = {}
        for word, parameter in left.items():
            default = function.defaults.get(parameter)
            otherwise = default.node if isinstance(default, Known) else default
            if parameter not in function.defaults:
                item = expression("d[k]", d=data, k=constant(word))
            elif isinstance(otherwise, gast.AST):
                item = expression("d[k] if k in d else v", d=data, k=constant(word), v=otherwise)
            else:
                return None
            out[word] = at(value, item)[0]
        return out

    def starred(self, node: gast.Call) -> None:
        """Expand `*` and `**` in the arguments of a call, where their contents are known."""
        args: list[gast.AST] = []
        self.stars.in_one_of_library(node)
        required = _required(self.unit.resolve(node.func), node)
        for argument in node.args:
            if not isinstance(argument, gast.Starred):
                args.append(argument)
            elif self.shapes.count_of(argument) is not None or self.shapes.is_told(argument, node):
                args += self.stars.spread(argument)
            elif required is not None:
                args = [self.evaluator.atom(a) for a in args]
                args += self.stars.counted(argument, required, [])
            else:
                args.append(argument)
        words: list[gast.keyword] = []
        for keyword in node.keywords:
            is_static = keyword.arg is None and self.shapes.display(keyword.value) is not None
            spread = self.spread_keywords(keyword.value) if is_static else None
            if keyword.arg is None and not is_static:
                target = self.unit.resolve(node.func)
                if not any(isinstance(a, gast.Starred) for a in args):
                    spread = self.by_parameters(keyword.value, Known(target, node.func), node, len(args))
                spread = self.keyed_outside(keyword.value) if spread is None else spread
            words += [keyword] if spread is None else [gast.keyword(k, v) for k, v in spread.items()]
        node.args, node.keywords = args, words

    def call(self, node: gast.Call) -> None:
        """Evaluate the callee and the arguments of a call, in place."""
        self.starred(node)
        call_forms.rewrite(self.unit, node)
        self.names.require_bound(node.func)
        if self.unit.resolve(node.func) not in (MISSING, builtins.len):
            node.args = self.generators.all_listed(node.args, self.unit.resolve(node.func))
        if isinstance(node.func, gast.Attribute) and self.unit.resolve(node.func) is MISSING:
            node.func.value = self.kept(self.evaluator.atom(node.func.value), [*node.args, *node.keywords])
        elif not isinstance(node.func, (gast.Name, gast.Attribute)):
            node.func = self.evaluator.atom(node.func)
        values = self.evaluator.in_order(node.args + [k.value for k in node.keywords], lambda n: self.argument(n, node.func))
        node.args = values[: len(node.args)]
        for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
            keyword.value = value

    def argument(self, node: gast.AST, callee: gast.AST) -> gast.AST:
        """An atom for an argument; a function of the library keeps no lambda."""
        target = self.unit.resolve(callee)
        if isinstance(node, gast.Lambda) and target is not MISSING and not is_given(target):
            return self.writer.hold(self.evaluator.flat(node))
        value = self.evaluator.operand(node)
        return self.closures.handed(value, node, callee) or self.evaluator.data(value, node)


def _required(target: Any, node: gast.Call) -> int | None:
    """How many parameters of a library's function, those without defaults, the only `*` of a call fills; None if it may fill
    others."""
    rule = None if target is MISSING else catalogue.of(target).rule
    stars = [a for a in node.args if isinstance(a, gast.Starred)]
    words = {k.arg for k in node.keywords}
    if rule is None and len(stars) == 1 and not words:  # `operator.mul`
        missing = places_alone(target) - len(node.args) + 1
        return missing if missing > 0 else None
    if rule is None or len(stars) != 1 or None in words or _may_take_more(target):
        return None
    if node.args[-1] is not stars[0] and rule.positional != rule.differentiable:
        return None
    missing = len({*rule.differentiable} - words) - len(node.args) + 1
    return missing if missing > 0 else None


def _may_take_more(target: Any) -> bool:
    """Whether a library's function may take any number of arguments."""
    if isinstance(target, np.ufunc):
        return False
    try:
        parameters = signature(target).parameters.values()
    except (TypeError, ValueError):  # written in C: `max`
        return True
    return any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _unfilled(args: gast.arguments, node: gast.Call, places: int) -> dict[str, str]:
    """The parameters that the arguments of a call, so many of them by position, leave unfilled, by keyword."""
    places = max(0, places - len(args.posonlyargs))
    words = {(notes.KEYWORD.of(p) or p.id): p.id for p in [*args.args[places:], *args.kwonlyargs]}
    return {word: p for word, p in words.items() if word not in {k.arg for k in node.keywords}}
