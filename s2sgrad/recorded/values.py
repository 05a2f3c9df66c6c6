"""Handles: numbers and arrays of a run.  Each stands for a value, has its class, and nobody can read it unseen.

    isinstance(x, float), isinstance(a, np.ndarray)      True, of handles of a float and of an array
    math.sin(x), np.asarray(a), struct.pack("d", x)      C code asks `__float__` or `__array__`, which raise

`value` is the value itself: the number of the user's own type, or a real ndarray that the program writes.  Where runs are
nested it is a handle of an outer run.  A handle whose run is over stands for its value, but not inside of another run: what
an earlier call kept has lost its derivative.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from s2sgrad.recorded.runs import OPEN, Root, Run, refuse
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import rebuilt

REALS = frozenset({float, np.float64, np.float32, np.float16, np.longdouble})
COMPLEX = frozenset({complex, np.complex128, np.complex64})
FLOATS = REALS | COMPLEX
"""The numbers that may carry a derivative."""
_CONTAINERS = (list, tuple, dict)
KEPT = (
    "a value that an earlier call kept is used: its derivative is gone; keep `stop_gradient` of it, or what it was made of"
)


def lost(what: str, instead: str = "use NumPy's functions") -> NoReturn:
    """Refuse what would drop a derivative without a trace."""
    refuse(Refusal(None, f"{what} of a value that carries a derivative, which would be lost: {instead}"))


def _losing(what: str) -> Any:
    def refused(self: Handle, *_: Any, **__: Any) -> Any:
        return lost(what)

    return refused


def enter(cls: type[Handle], **methods: Any) -> None:
    """Give a class of handles methods that are defined in another file."""
    for name, method in methods.items():
        setattr(cls, name, method)


class Handle:
    """What a number and an array have in common.  Operators and attributes are added where they are defined."""

    __slots__ = ("run", "value")
    value: Any
    run: Run

    @property  # type: ignore[misc]  # as a proxy, it says that it is of the class of its value
    def __class__(self) -> type:
        cls: type = bottom(self).__class__
        return cls

    def _out_of(self, what: str) -> Any:
        """The plain value for C code: only of a handle whose run is over, outside of every other."""
        return settled(self) if not self.run.open else lost(what)

    def __float__(self) -> float:
        return float(self._out_of("`float` by a library"))

    def __complex__(self) -> complex:
        return complex(self._out_of("`complex`"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if type(self) is Array and self.run.open and not follows(self):
            return np.asarray(_shared(self), dtype)
        return np.array(self._out_of("an array made by a library"), dtype)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._out_of("`pickle`").__reduce_ex__(protocol)

    __buffer__ = _losing("the memory")

    def __bool__(self) -> bool:
        return bool(bottom(self))

    def __int__(self) -> int:
        return int(bottom(self))

    def __index__(self) -> int:
        return operator.index(bottom(self))

    def __str__(self) -> str:
        self.run.printed = True
        return str(bottom(self))

    def __repr__(self) -> str:
        self.run.printed = True
        return repr(bottom(self))

    def __format__(self, spec: str) -> str:
        self.run.printed = True
        return format(bottom(self), spec)

    def __dir__(self) -> list[str]:
        return dir(bottom(self))


class Number(Handle):
    """A float, or a scalar of NumPy's; `node`: the place of its cotangent."""

    __slots__ = ("node",)

    def __init__(self, value: Any, node: int, run: Run) -> None:
        self.value = value
        self.node = node
        self.run = run

    def __hash__(self) -> int:
        return hash(bottom(self))

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: Any) -> Number:
        return self


class Array(Handle):
    """An array of floats. `root`: the memory that it lies in, `start`: where, once that was asked, and `line`: of a vector,
    where, how far its items are apart, and their number. `kept`: its snapshot, while that memory is not written."""

    __slots__ = ("kept", "line", "root", "start")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, root: Root, run: Run) -> None:
        self.value = value
        self.root = root
        self.run = run
        self.kept: Any = None
        self.line: tuple[int, int, int] | None = None
        self.start: int | None = None


def bottom(value: Any) -> Any:
    """The plain value behind a handle, through all runs."""
    while type(value) is Number or type(value) is Array:
        value = value.value
    return value


def settled(handle: Handle) -> Any:
    """What a handle whose run is over stands for; an error inside of another run."""
    if handle.run.open:
        return handle
    if OPEN.runs:
        refuse(Refusal(None, KEPT))
    return bottom(handle)


def follows(handle: Any) -> bool:
    """Whether a handle carries a derivative in its run, or in one around it."""
    while type(handle) is Array:
        if handle.root.active:
            return True
        handle = handle.value
    return type(handle) is Number


def _shared(array: Any) -> np.ndarray:
    """A constant array as a library may read it: it cannot be written there, and from now on holds no derivative."""
    view: np.ndarray = bottom(array).view()
    view.flags.writeable = False
    while type(array) is Array:
        array.root.foreign = True
        array = array.value
    return view


def is_complex(value: Any) -> bool:
    """Whether a value, or what a handle stands for, is complex."""
    value = bottom(value)
    return type(value) in COMPLEX or (type(value) is np.ndarray and value.dtype.kind == "c")


def is_handle(value: Any) -> bool:
    """Whether a value is a handle: `isinstance` sees the class of what it stands for."""
    return type(value) is Number or type(value) is Array


def handles_in(value: Any, found: list[Any]) -> list[Any]:
    """Append the handles in nested lists, tuples, dicts and slices."""
    kind = type(value)
    if kind is Number or kind is Array:
        found.append(value)
    elif kind is list or kind is tuple:
        for item in value:
            handles_in(item, found)
    elif kind is dict or (kind not in PLAIN and isinstance(value, _CONTAINERS)):
        for item in items_of(value):
            handles_in(item, found)
    elif kind is slice:
        handles_in((value.start, value.stop, value.step), found)
    return found


def items_of(value: Any) -> Any:
    """What a list, a tuple or a dict holds; one of a class of the user's is not asked."""
    if isinstance(value, dict):
        return dict.values(value)
    return list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)


PLAIN: frozenset[type] = FLOATS | {int, bool, str, bytes, type(None), np.ndarray, np.int64, np.bool_, type(...), type}


def mapped(value: Any, leaf: Any) -> Any:
    """The value with each handle in it replaced by `leaf(handle)`; itself where it holds none."""
    kind = type(value)
    if kind is Number or kind is Array:
        return leaf(value)
    if kind in PLAIN:
        return value
    if isinstance(value, _CONTAINERS):
        return rebuilt(value, lambda item: mapped(item, leaf)) if handles_in(value, []) else value
    if kind is slice:
        return slice(mapped(value.start, leaf), mapped(value.stop, leaf), mapped(value.step, leaf))
    return value


def plain(value: Any) -> Any:
    """The value with plain values in the place of handles."""
    return mapped(value, bottom)
