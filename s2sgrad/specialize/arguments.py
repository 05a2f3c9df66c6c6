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

import sys
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir import notes
from s2sgrad.ir.lookups import note_keys
from s2sgrad.ir.quote import at, clone, constant, expression, name
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import checks
from s2sgrad.specialize.stars import places_alone
from s2sgrad.specialize.static_values import Function, Known, Object, Partial


class Arguments:
    """Evaluates the arguments of calls."""

    shared: set[str]  # variables that a call may bind: those of attributes, and of `nonlocal`

    def kept(self, value: Any, later: list[gast.AST]) -> Any:
        """A variable that a call in a later operand may rebind, copied to keep its value."""
        return self.flattener.hold(value) if isinstance(value, gast.Name) and self.may_bind(value.id, later) else value

    def may_bind(self, local: str, operands: list[gast.AST]) -> bool:
        """Whether a call in these operands may rebind the variable."""
        return local in self.shared and any(map(self.inside, operands))

    def evaluated(self, callee: Any, node: gast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by position and by keyword, evaluated from left to right."""
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        if isinstance(callee, Object) and any(isinstance(a, gast.Starred) for a in node.args):
            callee = self.method(callee, "__call__", node)
        self.in_one(callee, node)
        if (filled := self.filled(callee, node)) is not None:
            return filled, {}
        missing = self.missing(callee, node)
        for argument in node.args:
            values = [self.kept(v, [argument]) for v in values]
            if not isinstance(argument, gast.Starred):
                value = self.evaluate(argument)
                values.append(self.items_of_object(value, argument) if self.unit.draws(argument) else value)
            elif self.count_of(argument) is not None:
                values += self.spread(argument)
            elif missing is not None:
                values += self.counted(argument, *missing)
            elif (left := self.left_before(callee, node)) is not None:
                values += self.gathered_from(argument, max(0, left - len(values)))
            else:
                values += self.spread(argument)
        for keyword in node.keywords:
            values = [self.kept(v, [keyword.value]) for v in values]
            keywords = {k: self.kept(v, [keyword.value]) for k, v in keywords.items()}
            if keyword.arg is not None:
                keywords[keyword.arg] = self.evaluate(keyword.value)
                continue
            by_name = None if self.shown(keyword.value) else self.by_parameters(keyword.value, callee, node, len(values))
            evaluated = {k: self.evaluate(v) for k, v in (by_name or {}).items()}
            keywords |= self.spread_keywords(keyword.value) if by_name is None else evaluated
        return values, keywords

    def text_called(self, callee: Any) -> Function | None:
        """The function of the user's that is called; None where a library's is, or an object."""
        if isinstance(callee, Known) and is_plain(callee.target):
            return self.read(callee.target)
        return callee if isinstance(callee, Function) else None

    def left_before(self, callee: Any, node: gast.Call) -> int | None:
        """How many parameters stand before `*rest`; None where there is no such one, or a keyword may fill one of them."""
        given = 0
        while isinstance(callee, Partial) and not callee.keywords:  # of a method: its receiver
            given, callee = given + len(callee.given), callee.inner
        function, target = self.text_called(callee), getattr(callee, "target", None)
        bound = target.__init__ if is_plain_class(target) else getattr(target, "__func__", None)
        if function is None and is_plain(bound):
            function, given = self.read(bound), 1
        if function is None or function.node.args.vararg is None:
            return None
        before = [*function.node.args.posonlyargs, *function.node.args.args][given:]
        words = self.words_of(node)
        filled = words is None or words & {(notes.KEYWORD.of(p) or p.id) for p in before}
        return None if before and filled else len(before)

    def gathered_from(self, argument: gast.Starred, count: int) -> list[Any]:
        """What a star gives parameters before `*rest`, so many, and a star for what is left."""
        data = self.drawn(argument)
        if not count:
            return at(argument, gast.Starred(data, gast.Load()))
        check = expression("f(v, a, b)", f=self.unit.helper("spreads", checks.spreads), v=data, a=count, b=sys.maxsize)
        self.flattener.out += at(argument, gast.Expr(check))
        items = [expression("xs[k]", xs=data, k=k) for k in range(count)]
        left = gast.Starred(self.flattener.atom(at(argument, expression("xs[n:]", xs=data, n=count))[0]), gast.Load())
        return [*(self.evaluate(at(argument, item)[0]) for item in items), *at(argument, left)]

    def filled(self, callee: Any, node: gast.Call) -> list[Any] | None:
        """The arguments of `f(a, *items, **d)` in the order of `f`'s parameters, where `items` and `d` are data; None for
        any other call."""
        last, keyword = node.args[-1] if node.args else None, node.keywords[0] if len(node.keywords) == 1 else None
        if not isinstance(last, gast.Starred) or keyword is None or keyword.arg is not None:
            return None
        function, takes, before = self.text_called(callee), self.places_of(callee), node.args[:-1]
        counted = self.count_of(last) is not None or any(isinstance(a, gast.Starred) for a in before)
        if counted or self.shown(keyword.value) or function is None or takes is None:
            return None
        args = function.node.args
        if args.posonlyargs or args.kwonlyargs or args.kwarg or not all(isinstance(d, gast.Constant) for d in takes[1]):
            return None
        words = takes[0][len(before) :]
        first = [self.kept(self.evaluate(a), [last, keyword.value]) for a in before]
        items = self.kept(self.drawn(last), [keyword.value])
        d = self.flattener.atom(keyword.value)
        return first + self.fitted(function.name, words, takes[1], items, d)

    def fitted(self, called: str, words: list[str], defaults: list[Any], items: gast.AST, d: gast.AST) -> list[Any]:
        """The arguments for the parameters `words`, the last of which have defaults: checked `items`, and what is in `d`."""
        needed = max(0, len(words) - len(defaults))
        check = expression("f(items, d, words, needed, called)", f=self.unit.helper("fills", checks.fills), items=items, d=d,
                           words=gast.Tuple([constant(w) for w in words], gast.Load()), needed=needed,
                           called=constant(called))  # fmt: skip
        self.flattener.out += at(items, gast.Expr(check))
        out = []
        for k, word in enumerate(words):
            otherwise = expression("d[w]", d=d, w=constant(word))
            if k >= needed:
                otherwise = expression("d[w] if w in d else v", d=d, w=constant(word), v=clone(defaults[k - len(words)]))
            item = expression("items[k] if len(items) > k else other", items=items, k=k, other=otherwise,
                              len=self.unit.builtin(len))  # fmt: skip
            out.append(self.evaluate(at(items, item)[0]))
        return out

    def shown(self, value: gast.AST) -> bool:
        """Whether the keys of a `**` argument are known."""
        return isinstance(value, gast.Dict) or self.keyed(value) is not None

    def spread_keywords(self, value: gast.AST) -> dict[str, Any]:
        """The values that a `**` argument stands for, by keyword."""
        items = self.keyed(value)
        items = self.keyed_outside(value) if items is None else items
        if items is not None:
            return {k: self.evaluate(at(value, item)[0]) for k, item in items.items()}
        self.unit.refuse(value, "`**` before a value whose keys are not in the text cannot be followed: name the keywords")

    def keyed(self, value: gast.AST) -> dict[str, gast.AST] | None:
        """The items of a dict whose keys are in the text, `{"a": v, **d}` included; None for any other."""
        display = value if isinstance(value, gast.Dict) else self.display(value)
        out: dict[str, gast.AST] = {}
        for key, item in zip(display.keys, display.values, strict=True) if isinstance(display, gast.Dict) else ():
            inner = {key.value: item} if isinstance(key, gast.Constant) else self.keyed(item) if key is None else None
            if inner is None:
                return None
            out |= inner if display is value else {
                k: clone(v) if v is item and self.stays_so(v) else gast.Subscript(name(value.id), constant(k), gast.Load())
                for k, v in inner.items()
            }  # fmt: skip
        return out if isinstance(display, gast.Dict) else None

    def keyed_outside(self, value: gast.AST) -> dict[str, gast.AST] | None:
        """The items of a dict from outside, whose keys are those of this call: the text has a check and is made anew for
        others; None for any other."""
        keys = self.keys_outside(value)
        if keys is None:
            return None
        words = gast.Tuple([constant(key) for key in keys], gast.Load())
        check = expression("f(d, words)", f=self.unit.helper("has_keys", checks.has_keys), d=value, words=words)
        self.flattener.out += at(value, gast.Expr(check))
        return {key: gast.Subscript(clone(value), constant(key), gast.Load()) for key in keys}

    def words_of(self, node: gast.Call) -> set[str] | None:
        """The keywords of a call, those in dicts included; None where only the running program knows them."""
        given = [self.keys_of(k.value) if k.arg is None else (k.arg,) for k in node.keywords]
        return None if None in given else {word for words in given for word in words}

    def keys_of(self, value: gast.AST) -> tuple[str, ...] | None:
        """The keys of what stands behind `**`; None where only the running program knows them."""
        items = self.keyed(value)
        return self.keys_outside(value) if items is None else tuple(items)

    def keys_outside(self, value: gast.AST) -> tuple[str, ...] | None:
        """The keys of a dict that a name from outside or an argument refers to; None where they are unknown."""
        if (kind := self.kind_given(value)) is not None and kind.type is dict:
            return kind.keys if kind.keys is not None and all(isinstance(key, str) for key in kind.keys) else None
        local = isinstance(value, gast.Name) and value.id in self.unit.locals
        outside = MISSING if local or not isinstance(value, (gast.Name, gast.Attribute)) else self.unit.resolve(value)
        if type(outside) is not dict or not all(isinstance(key, str) for key in outside):
            return None
        note_keys(outside)
        return tuple(outside)

    def by_parameters(self, value: gast.AST, callee: Any, node: gast.Call, places: int) -> dict[str, gast.AST] | None:
        """`f(x, **d)`: the items of `d` for the parameters of `f` that are still unfilled, so many being filled by position;
        `d` must have no other keys."""
        function = self.text_called(callee)
        stars = [k for k in node.keywords if k.arg is None]
        if function is None or len(stars) != 1 or function.node.args.kwarg or function.node.args.vararg:
            return None
        left = _unfilled(function.node.args, node, places)
        data = self.flattener.atom(value)
        if not isinstance(data, gast.Name):
            return None
        check = self.unit.helper("only_these", checks.only_these)
        words = gast.Tuple([constant(word) for word in left], gast.Load())
        self.flattener.out += at(value, gast.Expr(
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
        self.in_one_of_library(node)
        required = _required(self.unit.resolve(node.func), node)
        for argument in node.args:
            if isinstance(argument, gast.Starred) and (self.count_of(argument) is not None or self.is_told(argument, node)):
                args += self.spread(argument)
            elif isinstance(argument, gast.Starred) and required is not None:
                args = [self.flattener.atom(a) for a in args]
                args += self.counted(argument, required, [])
            else:
                args.append(argument)
        words: list[gast.keyword] = []
        for keyword in node.keywords:
            is_static = keyword.arg is None and self.display(keyword.value) is not None
            spread = self.spread_keywords(keyword.value) if is_static else None
            if keyword.arg is None and not is_static:
                target = self.unit.resolve(node.func)
                if not any(isinstance(a, gast.Starred) for a in args):
                    spread = self.by_parameters(keyword.value, Known(target, node.func), node, len(args))
                spread = self.keyed_outside(keyword.value) if spread is None else spread
            words += [keyword] if spread is None else [gast.keyword(k, v) for k, v in spread.items()]
        node.args, node.keywords = args, words

    def display(self, node: gast.AST) -> gast.AST | None:
        """The tuple, list or dict display that a name is always bound to; an empty tuple from outside is one, too, such as
        the default of `args=()`."""
        if not isinstance(node, gast.Name):
            return None
        outside = None if node.id in self.unit.locals else self.unit.helpers.get(node.id)
        empty = type(outside) is tuple and not outside
        return gast.Tuple([], gast.Load()) if empty else self.unit.syntax.displays.get(node.id)


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
