"""Special methods and properties of the user's classes: operators call them, and no hook sees that.

    a * b      Vector.__mul__ with its calls followed, while a run is open; afterwards the class is what it was

Without it `type(other) is float` in `__mul__` would see the class of the handle.  The classes of what a function is given
and finds by its names are followed, and those of all numbers that compute by methods of their own.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.recorded.rewriting import followed
from s2sgrad.recorded.runs import AFTERWARDS, OPEN, refuse
from s2sgrad.recorded.values import Array, Number, handles_in
from s2sgrad.rules import table
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.homes import is_of_library
from s2sgrad.runtime.subclasses import NUMBERS, is_otherwise, refused_subclass
from s2sgrad.source import brings_gradient

_CALLED_OTHERWISE = (
    "__new__",
    "__init__",
    "__init_subclass__",
    "__class_getitem__",
    "__getattribute__",
    "__del__",
    "__call__",
)
_CHANGEABLE = 1 << 9  # the flag of classes that were made at run time: others hold no functions of the user's
_SEEN: set[type] = set()
_MOST = 1000  # items of a container that are looked at
_QUIET = frozenset({Array, Number, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ndarray, np.ufunc,
                    float, int, str})  # fmt: skip


def follow_classes_of(values: Any) -> None:
    """Follow the special methods of values that are classes, objects, or containers of objects."""
    if float not in _SEEN and OPEN.runs:
        _follow_numbers()
    for value in values:
        kind = type(value)
        if kind in _QUIET:
            continue
        if kind in (list, tuple) and value:
            for item in {type(item) for item in value[:_MOST]}:
                follow_class(item)
        elif kind is dict:
            for item in {type(item) for item in [*value.values()][:_MOST]}:
                follow_class(item)
        else:
            follow_class(value if isinstance(value, type) else kind)


def read_by(f: types.FunctionType) -> list[Any]:
    """What a function finds by its free names, as far as it is there."""
    held = f.__globals__
    found = [held[name] for name in f.__code__.co_names if name in held]
    for cell in f.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # it is empty
            continue
    return found


def follow_class(cls: type) -> None:
    """Follow the special methods and properties of a class of the user's, and of its bases, until no run is open."""
    if not cls.__flags__ & _CHANGEABLE or cls is Number or cls is Array or cls in _SEEN or not OPEN.runs:
        return
    first = not _SEEN
    for base in cls.__mro__:
        if base.__flags__ & _CHANGEABLE and base not in _SEEN:
            _SEEN.add(base)
            for name, member in list(vars(base).items()):
                asked = name == "__array_ufunc__" and issubclass(base, NUMBERS) and type(member) is types.FunctionType
                new = _without_handles(base, member) if asked else _followed_member(name, member)
                if new is not member:
                    _replace(base, name, member, new)
    if first:
        AFTERWARDS.append(_SEEN.clear)


def _follow_numbers() -> None:
    """Follow the classes of numbers that compute by methods of their own, wherever a run finds their objects."""
    if not _SEEN:
        AFTERWARDS.append(_SEEN.clear)
    _SEEN.add(float)  # once in a run
    left = [*NUMBERS]
    for cls in left:
        left += type.__subclasses__(cls)
        if cls.__flags__ & _CHANGEABLE and not is_of_library(cls) and is_otherwise(cls):
            follow_class(cls)


def _replace(cls: type, name: str, member: Any, new: Any) -> None:
    type.__setattr__(cls, name, new)

    def restore() -> None:
        if vars(cls).get(name) is new:
            type.__setattr__(cls, name, member)

    AFTERWARDS.append(restore)


def _followed_member(name: str, member: Any) -> Any:
    if type(member) is types.FunctionType:
        special = name.startswith("__") and name.endswith("__") and name not in _CALLED_OTHERWISE
        return _of_user(member) if special else member
    if type(member) is property:
        get, set_, del_ = (part if part is None else _of_user(part) for part in (member.fget, member.fset, member.fdel))
        same = get is member.fget and set_ is member.fset and del_ is member.fdel
        return member if same else property(get, set_, del_, member.__doc__)
    if type(member) is functools.cached_property:
        function = _of_user(member.func)
        if function is not member.func:
            new = functools.cached_property(function)
            new.__set_name__(None, name)  # type: ignore[arg-type]
            return new
    return member


def _without_handles(cls: type, member: Any) -> Any:
    """`__array_ufunc__` of a class of numbers, which the operators of NumPy's numbers ask for handles, and do not ask for
    the numbers that these stand for: refused there."""

    @functools.wraps(member)
    def asked(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if handles_in(inputs, []):
            refuse(Refusal(None, f"an operand is {refused_subclass(cls)}"))
        return member(self, ufunc, method, *inputs, **keywords)

    return asked


def _of_user(function: Any) -> Any:
    if type(function) is not types.FunctionType or is_library(function) or is_ours(function):
        return function
    return function if table.given(function) is not None or brings_gradient(function) else followed(function)
