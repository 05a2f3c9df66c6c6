"""How many arguments a call has, and under which names, as far as the text tells.

f(*(x, y), **{"k": 2.0})      ->      two by position, and `k`
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached_classes import is_named_tuple
from s2sgrad.analysis.results import length_told
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none, whole_number
from s2sgrad.ir.lookups import note_keys
from s2sgrad.ir.quote import clone, constant, name
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.primitives import catalogue
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.static_values import Display, Partial
from s2sgrad.specialize.texts import Texts

_Places = tuple[list[str], list[Any]]  # the names of parameters, and the defaults of the last of them


class CallShapes(Family):
    """Says how many arguments a call has, and under which names, as far as the text tells."""

    def __init__(self, evaluator: Evaluator, texts: Texts) -> None:
        super().__init__(evaluator)
        self.texts = texts

    def count_of(self, argument: gast.Starred) -> int | None:
        """How many items a star stands for; None where only the running program knows."""
        value = argument.value
        if isinstance(held := self.statics.held(value), Display):
            return len(held.items)
        shown = value if isinstance(value, (gast.Tuple, gast.List)) else self.display(value)
        if isinstance(shown, (gast.Tuple, gast.List)):
            counts = [self.count_of(e) if isinstance(e, gast.Starred) else 1 for e in shown.elts]
            return None if None in counts else sum(count for count in counts if count is not None)
        return self.count_outside(value)

    def count_outside(self, value: gast.AST) -> int | None:
        """The number of items of a tuple that a name from outside refers to, which its kind tells; None for any other."""
        if isinstance(value, gast.Subscript) and (section := constant_section(value.slice)) is not None:
            count = self.count_outside(value.value)
            return None if count is None else len(range(count)[section])
        local = isinstance(value, gast.Name) and value.id in self.unit.locals
        outside = MISSING if local or not isinstance(value, (gast.Name, gast.Attribute)) else self.unit.resolve(value)
        return length_told(outside)

    def kind_given(self, value: gast.AST) -> Any:
        """The kind of an argument, as far as this text was made for it; None for any other expression."""
        given = isinstance(value, gast.Name) and value.id in self.names.given and not self.names.counts[value.id]
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
        rest = [a for a in node.args if a is not stars[0]]
        others = sum((self.count_of(a) or 0) if isinstance(a, gast.Starred) else 1 for a in rest)
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
        function, target = self.texts.text_called(callee), getattr(callee, "target", None)
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
            defaults = [self.texts.outside(p.name, p.default) for p in fields if p.default is not p.empty]
        else:
            return None
        names = names[given:]
        return names, defaults[max(0, len(defaults) - len(names)) :]

    def left_before(self, callee: Any, node: gast.Call) -> int | None:
        """How many parameters stand before `*rest`; None where there is no such one, or a keyword may fill one of them."""
        given = 0
        while isinstance(callee, Partial) and not callee.keywords:  # of a method: its receiver
            given, callee = given + len(callee.given), callee.inner
        function, target = self.texts.text_called(callee), getattr(callee, "target", None)
        bound: Any = getattr(target, "__init__" if is_plain_class(target) else "__func__", None)
        if function is None and is_plain(bound):
            function, given = self.texts.read(bound), 1
        if function is None or function.node.args.vararg is None:
            return None
        before = [*function.node.args.posonlyargs, *function.node.args.args][given:]
        words = self.words_of(node)
        filled = words is None or words & {(notes.KEYWORD.of(p) or p.id) for p in before}
        return None if before and filled else len(before)

    def shown(self, value: gast.AST) -> bool:
        """Whether the keys of a `**` argument are known."""
        return isinstance(value, gast.Dict) or self.keyed(value) is not None

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

    def words_of(self, node: gast.Call) -> set[str] | None:
        """The keywords of a call, those in dicts included; None where only the running program knows them."""
        given = [self.keys_of(k.value) if k.arg is None else (k.arg,) for k in node.keywords]
        return None if None in given else {word for words in given if words is not None for word in words}

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

    def display(self, node: gast.AST) -> gast.AST | None:
        """The tuple, list or dict display that a name is always bound to; an empty tuple from outside is one, too, such as
        the default of `args=()`."""
        if not isinstance(node, gast.Name):
            return None
        outside = None if node.id in self.unit.locals else self.unit.helpers.get(node.id)
        empty = type(outside) is tuple and not outside
        return gast.Tuple([], gast.Load()) if empty else self.unit.syntax.displays.get(node.id)

    def stays_so(self, item: gast.AST) -> bool:
        """Whether an item of a display still has the value that it had in it, wherever the display is read."""
        fixed = isinstance(item, gast.Name) and not self.writer.loops and self.names.is_fixed(item.id)
        return isinstance(item, gast.Constant) or (fixed and item.id not in self.names.shared)


def constant_section(index: gast.AST) -> slice | None:
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
