"""The guards of a text: what must hold of the user's objects for it to be right, and which functions it then runs over.

    def make(batch):
        def predict(w): ...                      the text for one `loss` is right for the next one: its cells hold a function
        def loss(w): return predict(w) - batch   of the same code, and a batch of the same kind
        return loss

Functions are identified by their places.  0 is the differentiated function, then those reached through closure cells
(`inner`: a new closure brings new functions of the same code), then all others, which are compared by identity.  Nothing
here keeps a user's object alive.
"""

from __future__ import annotations

import types
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.kinds import Container, Kind, Number, Text, is_numeric
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.analysis.results import object_kind
from s2sgrad.analysis.user_functions import has_given_rule, is_plain
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver import conditions
from s2sgrad.driver.conditions import Condition, Functions
from s2sgrad.driver.inner import Defaults, is_gradient, steps
from s2sgrad.ir.lookups import Lookups
from s2sgrad.ir.unit import MISSING
from s2sgrad.ir.unit_records import Derived
from s2sgrad.primitives import libraries
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its

_FIELDS = type(vars(namedtuple("_FIELDS", "place"))["place"])
_LASTING = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type(Ellipsis),
            types.WrapperDescriptorType, types.MethodDescriptorType)  # fmt: skip


def _is_lasting(value: Any) -> bool:
    """Whether an object keeps nothing of the user's alive."""
    return isinstance(value, _LASTING) or (all(map(_is_lasting, value)) if type(value) is tuple else _is_library(value))


def held(value: Any) -> tuple[Callable[[], Any], bool]:
    """A reference to an object that does not keep it alive, and whether that is possible."""
    if _is_lasting(value):
        return (lambda: value), True
    if isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):  # of a class with slots
        owner, name = weakref.ref(value.__objclass__), value.__name__
        return (lambda: vars(owner() or object).get(name)), True
    if isinstance(value, _FIELDS):  # which refers to a position and a text alone
        return (lambda: value), True
    try:
        return weakref.ref(value), True
    except TypeError:
        return (lambda: value), False


class Guards:
    """The conditions under which a text is right, and the functions that it runs over; of a refusal, the `code` refused."""

    code: weakref.ref[types.CodeType]

    def __init__(
        self,
        entry: types.FunctionType,
        lookups: Lookups,
        strict: set[tuple[int, str]],
        derived: list[Derived],
        generated: list[tuple[Any, Kinds, Any]],
        by_default: bool = False,
    ) -> None:
        self.functions: Functions = [entry]  # while the text is written; forgotten by `sealed`
        self.shareable = True
        self._lookups, self._strict, self._by_default = lookups, strict, by_default
        self._place: dict[int, int] = {id(entry): 0}
        self._theirs = set(map(id, _user_values(lookups)))
        self._refs: list[Callable[[], Any]] = []
        self._embedded: set[int] = set()  # objects of the user's that the text itself refers to
        cells = [
            (function, name, binding.value)
            for (_, name), (function, _, binding) in lookups.names.items()
            if binding is not None and binding.where == "cell"
        ]
        asked = {owner for owner, _ in lookups.names}
        self._steps = steps(cells, derived, generated, asked, self._place, self._add, self._defaults)
        for _, kinds, compiled in generated:  # a key without the classes of the arguments cannot be asked for again
            self.shareable &= id(compiled.function) not in self._place or kinds.kept() is kinds

    def _add(self, function: Any) -> int:
        self._place[id(function)] = len(self.functions)
        self.functions.append(function)
        return self._place[id(function)]

    def place(self, function: Any) -> int:
        """The place of a function, added if it is new; one that is in no cell is compared by identity."""
        function = its(function, "__func__", function)
        index = self._place.get(id(function))
        if index is not None:
            return index
        if id(function) in self._theirs or _is_library(function):
            self._refs.append(weakref.ref(function))
        else:  # made by the compiler, and referred to by nobody else
            self._refs.append(lambda: function)
        return self._add(function)

    def known(self, function: Any) -> int | None:
        """The place of a function, None if it has none."""
        return self._place.get(id(function))

    def held(self, value: Any) -> Callable[[], Any]:
        """A reference to an object; if it cannot be weak, the recipe is not shared."""
        back, ok = held(value)
        self.shareable &= ok
        return back

    def helper(self, value: Any) -> Callable[[], Any] | None:
        """A reference to an object that the text reaches, if it is the user's; None for one of ours, which is kept."""
        if id(value) in self._theirs and not isinstance(value, _LASTING) and not _is_library(value):
            self._embedded.add(id(value))
            return self.held(value)
        ours = isinstance(value, types.FunctionType) or (
            _is_library(type(value)) and not isinstance(value, (types.MethodType, partial))
        )
        if not isinstance(value, _LASTING) and not _is_library(value) and not ours:
            self.shareable = False
        return None

    def sealed(self) -> Functions:
        """Turn the lookups into conditions, and return the functions, which are dropped here."""
        functions, lookups = self.functions, self._lookups
        for value in _user_values(lookups):  # read as texts, which may stand in the text without a function of their own
            if is_plain(value) and not has_given_rule(value):
                self.place(value)
        cells, spaces = self._by_name()
        attributes = [(o, n, v) for o, n, v in lookups.attributes.values() if not _is_library(o) and not _is_data(o)]
        paths = [(self.held(o), n, *self._accepts(v, id(v) in self._embedded)) for o, n, v in attributes if v is not MISSING]
        missing = [(self.held(o), n) for o, n, v in attributes if v is MISSING]
        members = [(self.held(cls), name, self._member(value)) for cls, name, value in lookups.members.values()]
        modules = [(name, self.held(module)) for name, module in lookups.modules.items() if not _is_library(module)]
        plain = [(k, f) for k, f in enumerate(functions) if not is_gradient(f)]
        self._conditions = [
            conditions.Rules(table.changes),
            *_if_any(conditions.DefaultsOf, self._called(plain)),
            conditions.Codes([(k, weakref.ref(f.__code__)) for k, f in plain]),
            *_if_any(conditions.Cells, cells),
            *_if_any(conditions.OneModule, _of_one_module(plain)),
            *spaces,
            *_if_any(conditions.Attributes, paths),
            *_if_any(conditions.Members, members),
            *_if_any(conditions.Modules, modules),
            *_if_any(conditions.Missing, missing),
        ]
        self._space, self._name = id(functions[0].__globals__), functions[0].__name__
        del self.functions, self._lookups, self._place, self._strict, self._embedded
        return functions

    def _by_name(self) -> tuple[list[tuple[int, int, int | None, Any]], list[conditions.Globals]]:
        """The conditions on the names that were looked up: those in closure cells, and globals."""
        cells: list[tuple[int, int, int | None, Any]] = []
        spaces: dict[int, conditions.Globals] = {}
        seen: set[tuple[int, str]] = set()
        for (owner, name), (function, _, binding) in self._lookups.names.items():
            place, code = self.place(function), function.__code__
            strict = (owner, name) in self._strict or (binding is not None and id(binding.value) in self._embedded)
            if name in code.co_freevars:
                accepts = (None, None) if binding is None else self._accepts(binding.value, strict)
                cells.append((place, code.co_freevars.index(name), *accepts))
            elif name not in code.co_varnames and name not in code.co_cellvars:
                number = id(function.__globals__)
                space = spaces.setdefault(number, conditions.Globals(place))
                if (number, name) not in seen:
                    seen.add((number, name))
                    self._global(space, name, binding, strict)
        return cells, [*spaces.values()]

    def _global(self, space: conditions.Globals, name: str, binding: Any, strict: bool) -> None:
        if binding is None:
            space.absent.append(name)
        elif binding.where == "builtin":
            space.builtins.append((name, binding.value))
        else:
            place, predicate = self._accepts(binding.value, strict)
            if place is not None:
                space.same.append((name, place))
            else:
                space.others.append((name, predicate))

    def _called(self, plain: list[tuple[int, Any]]) -> list[tuple[int, Defaults]]:
        """The functions that are called by name, with their defaults."""
        entry = self.functions[0]
        itself = any(b is not None and b.value is entry for _, _, b in self._lookups.names.values())
        first = [(0, self._defaults(entry))] if itself or self._by_default else []
        return first + [(k, self._defaults(f)) for k, f in plain if k and (f.__defaults__ or f.__kwdefaults__)]

    def _accepts(self, value: Any, strict: bool) -> tuple[int | None, Any]:
        """Either the place of the function that a name must stand for, or a predicate."""
        index = self._place.get(id(value))
        if index is not None:
            return index, None
        return None, self._predicate(value, strict)

    def _predicate(self, value: Any, strict: bool) -> Callable[[Any], bool]:
        if id(value) in self._lookups.keys:
            fits, keys = self._of_type(value, strict), self._lookups.keys[id(value)][1]
            return lambda v: fits(v) and tuple(v) == keys
        return self._of_type(value, strict)

    def _of_type(self, value: Any, strict: bool) -> Callable[[Any], bool]:
        if isinstance(value, types.MethodType):  # each access makes a new one
            function, receiver = self.held(value.__func__), self.held(value.__self__)
            return lambda v: type(v) is types.MethodType and v.__func__ is function() and v.__self__ is receiver()
        if attributes_of(value) is not None and not strict:
            return self._with_functions(value, of_kind(value))
        if strict or callable(value) or isinstance(value, (types.ModuleType, property)):
            return conditions.Same(self.held(value))
        return self._with_functions(value, of_kind(value))

    def _with_functions(self, value: Any, fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
        """A predicate of an object that also compares the functions that were looked up in it."""
        attributes = [(n, self.held(v)) for o, n, v in self._lookups.attributes.values() if o is value]
        return (lambda v: fits(v) and all(getattr(v, n, None) is back() for n, back in attributes)) if attributes else fits

    def _defaults(self, function: types.FunctionType) -> Defaults:
        """The condition on the defaults of a function that is called by name."""
        positional, named = function.__defaults__ or (), function.__kwdefaults__ or {}
        return tuple(map(self._constant, positional)), {name: self._constant(v) for name, v in named.items()}

    def _constant(self, value: Any) -> Callable[[Any], bool]:
        if isinstance(value, (float, int, str, type(None))):  # written into the text
            kind, shown = type(value), repr(value)
            return lambda v: type(v) is kind and repr(v) == shown
        back = self.held(value)
        return lambda v: v is back()

    def _member(self, value: Any) -> Callable[[Any], bool]:
        if isinstance(value, (staticmethod, classmethod)):
            kind, inner = type(value), self._member(value.__func__)
            return lambda v: type(v) is kind and inner(v.__func__)
        if isinstance(value, property):
            parts = [self._member(part) for part in (value.fget, value.fset)]
            return lambda v: type(v) is property and parts[0](v.fget) and parts[1](v.fset)
        return self._predicate(value, hasattr(type(value), "__get__"))

    # --- asking ---

    def fitting(self, entry: types.FunctionType) -> tuple[Functions, list[Any]] | None:
        """The functions by place, and the compiled gradients among them, for another function of the same code; None if the
        text is not right for it."""
        if id(entry.__globals__) != self._space or entry.__name__ != self._name:
            return None
        functions: Functions = [entry]
        inside: list[Any] = []
        for step in self._steps:
            value = step.found(functions, inside)
            if value is None:
                return None
            functions.append(value)
        functions += [ref() for ref in self._refs]
        return (functions, inside) if None not in functions and self.hold(functions) else None

    def tests(self, functions: Functions, bind: conditions.Bind) -> list[str]:
        """The same of these functions, as expressions that all hold."""
        return [test for condition in self._conditions for test in condition.tests(functions, bind)]

    def hold(self, functions: Functions) -> bool:
        """Whether the text is right over these functions."""
        for condition in self._conditions:  # noqa: SIM110  a generator takes as long as the checks
            if not condition.holds(functions):
                return False
        return True


def _if_any(sort: Callable[[list[Any]], Condition], items: list[Any]) -> list[Condition]:
    """A condition of this sort, unless it is empty: conditions are checked at every call."""
    return [sort(items)] if items else []


def _of_one_module(plain: list[tuple[int, Any]]) -> list[tuple[int, int]]:
    """The functions that share their globals with an earlier one: (place, place of the first)."""
    places = {id(f.__globals__): k for k, f in reversed(plain)}
    return [(k, places[id(f.__globals__)]) for k, f in plain if places[id(f.__globals__)] != k]


def _user_values(lookups: Lookups) -> Iterator[Any]:
    """The objects that the user's program can find by a name."""
    yield from lookups.modules.values()
    values = [binding.value for _, _, binding in lookups.names.values() if binding is not None]
    values += [value for _, _, value in [*lookups.attributes.values(), *lookups.members.values()]]
    values += [cls for cls, _, _ in lookups.members.values()]
    for value in values:
        yield value
        if isinstance(value, (staticmethod, classmethod, types.MethodType)):
            yield value.__func__
        elif isinstance(value, property):
            yield from (value.fget, value.fset, value.fdel)


def of_kind(value: Any) -> Callable[[Any], bool]:
    """A predicate: whether data are of the same kind as `value`; the text reads them at every call.

    All that a text assumes of data under a free name is their type and `object_kind`.
    """
    if value is None:
        return lambda v: v is None
    kind = object_kind(value)
    if type(value) is np.ndarray:
        dtype, shape = value.dtype, value.shape
        return lambda v: type(v) is np.ndarray and ((v.shape == shape and v.dtype == dtype) or object_kind(v) == kind)
    back, _ = held(type(value))
    if attributes_of(value) is not None and (quick := shapes_of((value,))) is not None:
        return lambda v: type(v) is back() and (shapes_of((v,)) == quick or object_kind(v) == kind)
    if type(value) in (float, int, bool, np.float64):
        return conditions.OfType(back)
    if isinstance(kind, Container) and _is_told_by_shapes(*kinds_of([value])):
        return _like_container(value, kind)
    return lambda v: type(v) is back() and object_kind(v) == kind


def _like_container(value: Any, kind: Container) -> Callable[[Any], bool]:
    """The same for a list, tuple or dict, whose items are looked at again only where their types or shapes are others than
    at the last call."""
    cls, last = type(value), shapes_of((value,))

    def fits(v: Any) -> bool:
        nonlocal last
        key = shapes_of((v,)) if type(v) is cls else None
        if key is not None and key == last:
            return True
        if type(v) is not cls or object_kind(v) != kind:
            return False
        last = key
        return True

    return fits


def _is_told_by_shapes(kind: Kind | None) -> bool:
    """Whether equal types and shapes of the items imply this kind: it holds numbers, texts, arrays and containers alone."""
    if isinstance(kind, Container):
        return all(map(_is_told_by_shapes, kind.items if kind.items is not None else (kind.item,)))
    return kind is None or is_numeric(kind) or isinstance(kind, (Number, Text))


def _is_data(value: Any) -> bool:
    """Whether an object with functions is compared by kind; a callable is compared by identity."""
    return attributes_of(value) is not None or not (callable(value) or isinstance(value, types.ModuleType))


def _is_library(value: Any) -> bool:
    """Whether a module, class or function belongs to an installed library, which nobody changes."""
    if not isinstance(value, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, type(np.sum))):
        return isinstance(value, np.ufunc)
    return libraries.is_installed(value)
