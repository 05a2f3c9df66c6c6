"""Attributes, methods and items of handles, as those of the values; and the protocols by which NumPy asks for them.

a.sum(axis=0)  ->  apply(np.sum, (a,), {"axis": 0})      a.shape  ->  of the value      a.tobytes()  ->  refused
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.errors import NoRule
from s2sgrad.primitives import spellings
from s2sgrad.recorded import memory
from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.arithmetic import OF_ARRAYS
from s2sgrad.recorded.memory import in_place, read, write
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.values import Array, Handle, Number, bottom, enter, is_complex, lost, settled

_MEMORY = frozenset({"tobytes", "tofile", "dump", "dumps", "data", "ctypes", "tostring", "hex", "as_integer_ratio", "base",
                     "setfield", "getfield", "byteswap", "setflags", "resize", "itemset", "newbyteorder"})  # fmt: skip
_HIDDEN = ("__array", "__dlpack", "__buffer")
WRITING: dict[str, Callable[..., Any]] = {}
"""Methods of arrays that write them; filled by `library`."""
CALLED: dict[str, Callable[..., Any]] = {}
"""How a ufunc, and a function of NumPy, are called with handles; filled by `hooks`."""


class Hidden(AttributeError):
    """An attribute by which C code would reach the memory of an array."""


UNLESS_HIDDEN = contextlib.suppress(Hidden)
"""Around what is followed, unless it asks for memory."""


def attribute(handle: Handle, name: str) -> Any:
    """`handle.name`."""
    value = bottom(handle)
    found = getattr(value, name)  # AttributeError as of the value
    if name.startswith("__"):
        if name.startswith(_HIDDEN):
            raise Hidden(name)
        return found
    if name in spellings.FLAT_ATTRIBUTES:
        return found
    if name in _MEMORY:
        return lost(f"`.{name}`")
    if name == "flat":
        return Flat(handle)
    if name == "imag" or (name == "real" and is_complex(value)):
        return apply(getattr(np, name), (handle,), run_by=lambda x: getattr(x, name))
    if spellings.ATTRIBUTES.get(name) is not None:
        return handle if type(value) is float else apply(spellings.ATTRIBUTES[name], (handle,))
    if not callable(found):
        return lost(f"`.{name}`")
    return functools.partial(method, handle, name)


def method(handle: Any, name: str, *args: Any, **keywords: Any) -> Any:
    """`handle.name(*args, **keywords)`."""
    if type(handle) is Array and name in WRITING:
        return WRITING[name](handle, *args, **keywords)
    if name == "is_integer":
        return bottom(handle).is_integer()
    if name == "item":
        return _item(handle, args)
    primitive = spellings.METHODS.get(name)
    if primitive is None:
        what = f"the method `{name}` of an array has no derivative rule: write it with NumPy's functions"
        raise NoRule(what, user_place().place())
    if primitive is np.conj and (args or keywords):  # `out`
        return CALLED["call"](np.conjugate, handle, *args, **keywords)
    if (primitive is np.conj and not is_complex(handle)) or (primitive is np.copy and type(handle) is Number):
        return handle
    if primitive is np.conj:
        return apply(np.conjugate, (handle,), run_by=lambda x: x.conjugate())
    if name == "clip":
        args, keywords = _bounds(*args, **keywords)
    if name == "flatten":
        return apply(np.copy, (apply(np.ravel, (handle, *args), keywords),))
    if name == "tolist":
        return _listed(handle)
    if name in spellings.VARIADIC and args:
        args = (args[0] if len(args) == 1 else args,)
    return CALLED["method"](primitive, handle, args, keywords, getattr(type(bottom(handle)), name))


def _bounds(min: Any = None, max: Any = None, *rest: Any, **keywords: Any) -> tuple[tuple, dict[str, Any]]:
    """The arguments of the method `clip`, which may leave one bound out."""
    return (min, max, *rest), keywords


def _item(handle: Any, index: tuple) -> Any:
    kind = complex if is_complex(handle) else float
    if type(handle) is Number:
        return apply(kind, (handle,))
    if not index and bottom(handle).size == 1:
        index = (0,) * bottom(handle).ndim
    bottom(handle).item(*index)  # raises as NumPy does
    place = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    return apply(kind, (read(handle, _place(handle, place)),))


def _place(handle: Any, index: tuple) -> Any:
    value = bottom(handle)
    return np.unravel_index(index[0] % value.size, value.shape) if len(index) == 1 and value.ndim != 1 else index


def _listed(handle: Any) -> Any:
    if type(handle) is Array and bottom(handle).ndim:
        return [_listed(item) for item in _iterated(handle)]
    if type(handle) is Array or type(handle) is Number:
        kind = complex if is_complex(handle) else float
        item: Any = handle
        return apply(kind, (item if type(handle) is Number else read(item, ()),))
    return handle.item() if isinstance(handle, np.generic) else handle


class Flat:
    """`a.flat`: the items in order, which may be stored to."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return int(bottom(self.array).size)

    def __getitem__(self, index: Any) -> Any:
        return apply(np.ravel, (apply(np.copy, (self.array,)),))[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(len(self))[memory.plain_index(index)]
        write(self.array, np.unravel_index(places, bottom(self.array).shape), value)


def _number_item(number: Any, index: Any) -> Any:
    """`x[()]`, `x[None]` of NumPy's scalars."""
    value = bottom(number)
    if not isinstance(value, np.generic):
        raise TypeError(f"'{type(value).__name__}' object is not subscriptable")
    if index == ():
        return number
    return apply(np.reshape, (number, np.asarray(value)[index].shape))


def _iterated(array: Any) -> Iterator[Any]:
    if bottom(array).ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return (read(array, k) for k in range(len(bottom(array))))


def _dispatched_ufunc(handle: Any, ufunc: Any, how: str, *inputs: Any, **keywords: Any) -> Any:
    return CALLED["call"](ufunc if how == "__call__" else getattr(ufunc, how), *inputs, **keywords)


def _dispatched(handle: Any, function: Any, types: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    return CALLED["call"](function, *args, **keywords)


def _rounded(handle: Any, digits: Any = None) -> Any:
    if type(handle) is Array:
        return apply(np.round, (handle, digits or 0))
    return round(bottom(handle)) if digits is None else round(bottom(handle), digits)


def _fixed(name: str) -> property:
    def get(array: Any) -> Any:
        return getattr(bottom(array), name)

    def change(array: Any, value: Any) -> None:
        lost(f"`.{name} = ..`")

    return property(get, change)


def _part(name: str) -> property:
    def get(array: Any) -> Any:
        return attribute(array, name)

    def change(array: Any, value: Any) -> None:
        write(array if name == "real" and not is_complex(array) else attribute(array, name), ..., value)

    return property(get, change)


def _refill(array: Any, value: Any) -> None:
    """`a.flat = value`, which is repeated as often as it fits."""
    write(array, ..., CALLED["call"](np.resize, value, bottom(array).shape))


def install() -> None:
    """Give handles their attributes, items and protocols."""
    enter(
        Handle,
        __getattr__=attribute,
        __array_ufunc__=_dispatched_ufunc,
        __array_function__=_dispatched,
        __round__=_rounded,
    )
    for name, rounding in (("trunc", math.trunc), ("floor", math.floor), ("ceil", math.ceil)):
        setattr(Handle, f"__{name}__", lambda a, f=rounding: f(bottom(a)))
    enter(Number, __getitem__=_number_item)
    enter(
        Array,
        __getitem__=read,
        __setitem__=write,
        __len__=lambda a: len(bottom(a)),
        __iter__=_iterated,
        __contains__=lambda a, x: bottom(x) in bottom(a),
        __copy__=lambda a: apply(np.copy, (a,)),
        __deepcopy__=_deep_copy,
    )
    for name in ("shape", "strides", "dtype"):
        setattr(Array, name, _fixed(name))
    Array.flat = property(Flat, _refill)  # type: ignore[attr-defined]
    for part in (np.real, np.imag):
        setattr(Array, part.__name__, _part(part.__name__))
    for name in OF_ARRAYS:
        setattr(Array, f"__i{name}__", in_place(getattr(Array, f"__{name}__"), f"i{name}"))


def _deep_copy(array: Any, memo: dict[int, Any]) -> Any:
    memo[id(array)] = copied = apply(np.copy, (array,)) if array.run.open else settled(array).copy()
    return copied
