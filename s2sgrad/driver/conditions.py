"""The conditions under which a compiled text is valid, one class per sort; they are checked at every call of a gradient.

    def loss(w): return np.sum(w * scale)      ->      `np` and `sum` are the same objects, `scale` is a float as before

`functions` are the user's functions that the text runs over, by index (their place).  `accepts` are predicates of a value;
for a value that must be one of the functions, they have its index instead.
"""

from __future__ import annotations

import sys
import types
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from s2sgrad.driver.inner import Defaults, fit
from s2sgrad.ir.lookups import member_of
from s2sgrad.rules import table

Functions = list[Any]  # and gradients of some of them
Accepts = Callable[[Any], bool]
Back = Callable[[], Any]  # returns an object without keeping it alive
GONE: Any = type("GONE", (), {})()
_SMALL = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc)  # which a text may keep alive


class Bind(Protocol):
    """The values that a text refers to."""

    def __call__(self, value: Any) -> str:
        """The name of a value."""

    def read(self, function: types.FunctionType, name: str) -> str:
        """What a free name of a function stands for, as an expression that raises where it stands for nothing."""


class Condition(ABC):
    """A condition on the functions of a text."""

    @abstractmethod
    def holds(self, functions: Functions) -> bool:
        """Whether the condition holds for these functions, which are those of the text in its order."""

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        """The same as expressions, one of which is false, or raises, where it does not hold."""
        return [f"{bind(self.holds)}({bind(functions)})"]


@dataclass(frozen=True)
class Same:
    """A predicate: it is this very object."""

    back: Back

    def __call__(self, value: Any) -> bool:
        return value is self.back()


@dataclass(frozen=True)
class OfType:
    """A predicate: it is of exactly this type."""

    back: Back

    def __call__(self, value: Any) -> bool:
        return type(value) is self.back()


@dataclass
class DefaultsOf(Condition):
    """The defaults of functions that are called by name: (place, expected defaults)."""

    expected: list[tuple[int, Defaults]]

    def holds(self, functions: Functions) -> bool:
        return all(fit(functions[k], defaults) for k, defaults in self.expected)


@dataclass
class Codes(Condition):
    """The code objects of the functions; a function reloaded in place has another one."""

    codes: list[tuple[int, weakref.ref[types.CodeType]]]

    def holds(self, functions: Functions) -> bool:
        for k, code in self.codes:  # noqa: SIM110  a generator takes as long as the checks
            if functions[k].__code__ is not code():
                return False
        return True

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        return [f"{bind(functions[k])}.__code__ is {bind(code())}" for k, code in self.codes]


@dataclass
class Rules(Condition):
    """The user's rules are the ones that the text was compiled with."""

    changes: int

    def holds(self, functions: Functions) -> bool:
        return table.changes == self.changes

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        return [f"{bind(table)}.changes == {self.changes}"]


@dataclass
class Cells(Condition):
    """The contents of closure cells: (place, index, place of the function that it must be, predicate); with neither of the
    last two the cell must be empty."""

    cells: list[tuple[int, int, int | None, Accepts | None]]

    def holds(self, functions: Functions) -> bool:
        for place, index, k, accepts in self.cells:
            try:
                value = functions[place].__closure__[index].cell_contents
            except ValueError:
                if k is not None or accepts is not None:
                    return False
                continue
            if value is not functions[k] if k is not None else accepts is None or not accepts(value):
                return False
        return True

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        if any(k is None and accepts is None for _, _, k, accepts in self.cells):
            return super().tests(functions, bind)
        out = []
        for place, index, k, accepts in self.cells:
            found = f"{bind(functions[place].__closure__[index])}.cell_contents"
            out.append(_accepted(found, accepts, bind) if k is None and accepts else f"{found} is {bind(functions[k or 0])}")
        return out


@dataclass
class OneModule(Condition):
    """Functions that shared their globals at compile time still do: their free names are looked up once."""

    pairs: list[tuple[int, int]]

    def holds(self, functions: Functions) -> bool:
        return all(functions[place].__globals__ is functions[other].__globals__ for place, other in self.pairs)

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        return []  # a function keeps its globals


@dataclass
class Globals(Condition):
    """What the free names of the function at a place stand for: one of the functions, a value that a predicate accepts, a
    builtin, or nothing."""

    place: int
    same: list[tuple[str, int]] = field(default_factory=list)
    others: list[tuple[str, Accepts]] = field(default_factory=list)
    builtins: list[tuple[str, Any]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def holds(self, functions: Functions) -> bool:
        function = functions[self.place]
        space = function.__globals__
        for name, k in self.same:
            if space.get(name, GONE) is not functions[k]:
                return False
        for name, accepts in self.others:
            if name not in space or not accepts(space[name]):
                return False
        for name, value in self.builtins:
            if name in space or function.__builtins__.get(name, GONE) is not value:
                return False
        return not self.absent or not any(name in space or name in function.__builtins__ for name in self.absent)

    def tests(self, functions: Functions, bind: Bind) -> list[str]:
        function = functions[self.place]
        out = [f"{bind.read(function, name)} is {bind(functions[k])}" for name, k in self.same]
        out += [_accepted(bind.read(function, name), accepts, bind) for name, accepts in self.others]
        out += [f"{bind.read(function, name)} is {bind(value)}" for name, value in self.builtins]
        if self.absent:
            space, builtins = bind(function.__globals__), bind(function.__builtins__)
            out += [f"{name!r} not in {space} and {name!r} not in {builtins}" for name in self.absent]
        return out


@dataclass
class Attributes(Condition):
    """Attributes of modules and objects: (owner, name, place of the function that it must be, predicate)."""

    paths: list[tuple[Back, str, int | None, Accepts | None]]

    def holds(self, functions: Functions) -> bool:
        for owner, name, k, accepts in self.paths:
            value = getattr(owner(), name, GONE)
            if value is not functions[k] if k is not None else accepts is None or not accepts(value):
                return False
        return True


@dataclass
class Missing(Condition):
    """Attributes that must not exist."""

    attributes: list[tuple[Back, str]]

    def holds(self, functions: Functions) -> bool:
        return not any(hasattr(owner(), name) for owner, name in self.attributes)


@dataclass
class Members(Condition):
    """The members of classes."""

    members: list[tuple[Back, str, Accepts]]

    def holds(self, functions: Functions) -> bool:
        for cls, name, accepts in self.members:
            owner = cls()
            if owner is None or not accepts(member_of(owner, name)):
                return False
        return True


@dataclass
class Modules(Condition):
    """The modules imported under their names."""

    modules: list[tuple[str, Back]]

    def holds(self, functions: Functions) -> bool:
        return all(sys.modules.get(name) is module() for name, module in self.modules)


def _accepted(found: str, accepts: Accepts, bind: Bind) -> str:
    """A predicate of what an expression gives, as an expression."""
    if isinstance(accepts, Same) and isinstance(accepts.back(), _SMALL):
        return f"{found} is {bind(accepts.back())}"
    if isinstance(accepts, OfType):
        return f"{bind(type)}({found}) is {bind(accepts.back())}"
    return f"{bind(accepts)}({found})"
