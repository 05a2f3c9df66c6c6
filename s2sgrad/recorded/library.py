"""Functions of Python and NumPy that handles need help with: those that make arrays, write them, or look behind handles.

    np.zeros_like(x)     ->  an array of the run, without a derivative       np.copyto(y, x)  ->  y[...] = x
    type(x)              ->  the class of the value                          sum(xs)          ->  by its rule

`SPECIAL` maps each function to what is called in its place.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.errors import NoRule
from s2sgrad.ir.signatures import by_position
from s2sgrad.recorded import arrays
from s2sgrad.recorded.applying import apply, as_scalar, born
from s2sgrad.recorded.memory import plain_index, write
from s2sgrad.recorded.runs import printed
from s2sgrad.recorded.values import Array, Number, bottom, handles_in, is_handle, lost, plain
from s2sgrad.rules import table
from s2sgrad.rules.selections import unpicked

SPECIAL: dict[Any, Callable[..., Any]] = {}


def instead_of(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what is called in the place of these functions."""

    def register(own: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            SPECIAL[function] = own
        return own

    return register


# --- calls by the rule table -------------------------------------------------------------------------------------------


def applied(primitive: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A call of a primitive; with `out`, its result is stored there."""
    out = None
    if isinstance(primitive, np.ufunc):
        args, out = args[: primitive.nin], args[primitive.nin :]
        out = out[0] if out else None
        args = tuple([apply(np.array, (a,)) if isinstance(a, (list, tuple)) and handles_in(a, []) else a for a in args])
    elif len(args) > 1 and "out" in (names := _positions(primitive)) and len(args) > (at := names.index("out")):
        out = args[at]
        keywords = {**keywords, **dict(zip(names[at + 1 :], args[at + 1 :], strict=False))}
        args = args[:at]
    if keywords.get("out") is not None:
        keywords = dict(keywords)
        out = keywords.pop("out")
    elif "out" in keywords:
        keywords = {k: v for k, v in keywords.items() if k != "out"}
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if out is None:
        return born(apply(primitive, args, keywords))
    if type(out) is not Array:
        return _into_plain(primitive, args, keywords, out)
    where: Any = True
    if isinstance(primitive, np.ufunc):
        where = keywords.pop("where", True)
    y = apply(primitive, args, keywords)
    if where is True:
        write(out, ..., y)
    else:
        mask = np.broadcast_to(bottom(where), np.shape(bottom(out)))
        write(out, mask, apply(np.broadcast_to, (y,), {"shape": np.shape(bottom(out))})[mask])
    return out


def _positions(primitive: Any) -> tuple[str, ...]:
    return by_position(primitive) or ()


def _into_plain(primitive: Any, args: tuple, keywords: dict[str, Any], out: Any) -> Any:
    y = apply(primitive, args, keywords)
    held = handles_in(y, [])
    if any(type(h) is Number or h.root.active for h in held):
        lost("a result stored by `out` into an array that was made outside")
    out[...] = plain(y)
    return out


# --- Python ------------------------------------------------------------------------------------------------------------


@instead_of(type)
def class_of(*args: Any, **keywords: Any) -> Any:
    """The class of the value; or a new class."""
    return args[0].__class__ if len(args) == 1 else type(*args, **keywords)


@instead_of(float)
def as_float(x: Any = 0.0) -> Any:
    """A number of Python's."""
    if is_handle(x):
        return apply(float, (x if type(x) is Number else arrays.method(x, "item"),))
    require_no_text(x)
    return float(x)


@instead_of(np.float64)
def as_float64(x: Any = 0.0) -> Any:
    """A number of NumPy's."""
    return as_scalar(as_float(x)) if is_handle(x) else np.float64(x)


@instead_of(sum)
def total(items: Any, start: Any = 0) -> Any:
    """The sum, by the rule where handles are among the items: its value is that of Python's, rounding included."""
    listed = items if isinstance(items, (list, tuple)) or is_handle(items) else list(items)
    if type(listed) is Array or not handles_in((listed, start), []):
        if type(listed) is not Array:
            return sum(listed, start)
        listed = list(listed)
    if all(type(v) is Number or isinstance(v, (float, int)) for v in listed) and isinstance(bottom(start), (float, int)):
        return apply(sum, (list(listed),) if type(start) is int and start == 0 else (list(listed), start))
    for item in listed:
        start = start + item
    return start


def require_no_text(x: Any) -> None:
    """Refuse to make a number of a text where one may show what is followed."""
    if isinstance(x, (str, bytes, bytearray)) and printed():
        lost("a number read from a text that may show the digits")


def _reading(function: Any) -> Callable[..., Any]:
    def read(x: Any, *args: Any, **keywords: Any) -> Any:
        require_no_text(x)
        return function(x, *args, **keywords)

    return read


for _function in (ast.literal_eval, json.loads, np.fromstring, float.fromhex):
    SPECIAL[_function] = _reading(_function)
for _function in (id, len, range, repr, str, round, isinstance, issubclass, operator.setitem, hasattr, getattr, iter, next):
    SPECIAL[_function] = _function


@instead_of(print)
def shown(*args: Any, **keywords: Any) -> None:
    """Print values."""
    print(*map(plain, args), **keywords)


# --- arrays ------------------------------------------------------------------------------------------------------------


@instead_of(np.array)
def array(x: Any, *args: Any, **keywords: Any) -> Any:
    """A new array."""
    if is_handle(x) and not args and keywords.keys() <= {"copy", "dtype"}:
        dtype = keywords.get("dtype")
        if dtype is None or np.dtype(dtype) == getattr(bottom(x), "dtype", np.dtype(float)):
            return x if type(x) is Array and keywords.get("copy", True) is not True else apply(np.array, (x,))
    return applied(np.array, (x, *args), keywords)


@instead_of(np.asarray, np.asanyarray)
def as_array(x: Any, *args: Any, **keywords: Any) -> Any:
    """The array itself where it is one of this dtype."""
    dtype = args[0] if args else keywords.get("dtype")
    if type(x) is Array and (dtype is None or np.dtype(dtype) == bottom(x).dtype):
        return x
    return applied(np.asarray, (x, *args), keywords)


@instead_of(np.ascontiguousarray)
def as_contiguous(x: Any, *args: Any, **keywords: Any) -> Any:
    """The array itself where it is contiguous."""
    same = type(x) is Array and not args and not keywords and bottom(x).flags.c_contiguous and bottom(x).ndim
    return x if same else applied(np.ascontiguousarray, (x, *args), keywords)


def _like(function: Any) -> Callable[..., Any]:
    def like(x: Any, *args: Any, **keywords: Any) -> Any:
        return born(function(plain(x), *map(plain, args), **keywords))

    return like


for _function in (np.zeros_like, np.ones_like, np.empty_like):
    SPECIAL[_function] = _like(_function)


@instead_of(np.full_like)
def full_like(x: Any, value: Any, *args: Any, **keywords: Any) -> Any:
    """An array filled with a value."""
    y = born(np.empty_like(plain(x), *args, **keywords))
    y[...] = value
    return y


@instead_of(np.full)
def full(shape: Any, value: Any, *args: Any, **keywords: Any) -> Any:
    """An array filled with a value."""
    if not handles_in(value, []):
        return born(np.full(shape, value, *args, **keywords))
    y = born(np.full(shape, plain(value), *args, **keywords))
    y[...] = value
    return y


for _function in (
    np.shape,
    np.ndim,
    np.size,
    np.may_share_memory,
    np.shares_memory,
    np.result_type,
    np.isscalar,
    np.iterable,
):
    SPECIAL[_function] = lambda *args, f=_function, **keywords: f(*map(plain, args), **keywords)


# --- stores ------------------------------------------------------------------------------------------------------------


@instead_of(np.copyto)
def copyto(target: Any, value: Any, casting: str = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    np.copyto(np.empty_like(bottom(target)), plain(value), casting)  # raises as NumPy does
    target[...] = value if where is True else apply(np.where, (bottom(where), value, target))


@instead_of(np.put)
def put(target: Any, index: Any, values: Any, mode: str = "raise") -> None:
    """`np.put`: the values are repeated as often as needed."""
    places = np.asarray(plain(index)).reshape(-1)
    size = bottom(target).size
    if mode == "raise" and places.size and (places.min() < -size or places.max() >= size):
        np.put(bottom(target).copy(), places, 0.0)
    places = np.clip(places, 0, size - 1) if mode == "clip" else places % size
    flat = apply(np.ravel, (apply(np.array, (values,)) if handles_in(values, []) else np.asarray(values),))
    target[np.unravel_index(places, bottom(target).shape)] = flat[np.arange(places.size) % np.size(bottom(flat))]


@instead_of(np.place)
def place(target: Any, mask: Any, values: Any) -> None:
    """`np.place`."""
    put(target, np.flatnonzero(plain(mask)), values)


@instead_of(np.putmask)
def putmask(target: Any, mask: Any, values: Any) -> None:
    """`np.putmask`: the values are repeated over the whole array."""
    places = np.flatnonzero(plain(mask))
    flat = apply(np.ravel, (apply(np.array, (values,)) if handles_in(values, []) else np.asarray(values),))
    if places.size:
        put(target, places, flat[places % np.size(bottom(flat))])


@instead_of(np.put_along_axis)
def put_along_axis(target: Any, index: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis`."""
    shape = bottom(target).shape
    places = np.arange(bottom(target).size).reshape(shape if axis is not None else -1)
    found = np.take_along_axis(places, bottom(index), axis)
    target[np.unravel_index(found, shape)] = values


@instead_of(np.fill_diagonal)
def fill_diagonal(target: Any, value: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`."""
    marks = np.zeros(bottom(target).shape, bool)
    np.fill_diagonal(marks, True, wrap)
    places = np.flatnonzero(marks)
    if np.ndim(plain(value)) == 0:
        target[np.unravel_index(places, marks.shape)] = value
    else:
        put(target, places, value)


def _permuting(handle: Any, permuted: Callable[[Any], Any]) -> None:
    """Store the items in another order, which the same call on places tells."""
    places = np.arange(bottom(handle).size).reshape(bottom(handle).shape)
    permuted(places)
    handle[...] = apply(np.ravel, (apply(np.copy, (handle,)),))[places]


def shuffles(f: Any) -> bool:
    """Whether a method of a generator permutes its argument in place."""
    owner = f.__self__
    if isinstance(owner, np.random.Generator):
        return f.__name__ == np.random.Generator.shuffle.__name__
    return isinstance(owner, np.random.RandomState) and f.__name__ == np.random.RandomState.shuffle.__name__


def shuffled(shuffle: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    """`rng.shuffle(x)`: the generator draws as it does for the array."""
    if type(x) is not Array:
        return shuffle(x, *args, **keywords)
    return _permuting(x, lambda places: shuffle(places, *args, **keywords))


def _sort(x: Any, axis: int = -1, kind: Any = None, order: Any = None, **keywords: Any) -> None:
    places = np.argsort(bottom(x), axis=axis, kind="stable")
    x[...] = apply(np.take_along_axis, (x, places, axis))


def _partition(x: Any, kth: Any, axis: int = -1, **keywords: Any) -> None:
    x[...] = apply(np.take_along_axis, (x, np.argpartition(bottom(x), plain(kth), axis, **keywords), axis))


arrays.WRITING.update(
    fill=lambda x, value: write(x, ..., value),
    sort=_sort,
    partition=_partition,
    put=put,
)


def writing_at(ufunc: np.ufunc) -> Callable[..., Any]:
    """`ufunc.at(x, index, value)`."""

    def at(x: Any, index: Any, value: Any = None) -> Any:
        if type(x) is not Array:
            return ufunc.at(x, index, value) if value is not None else ufunc.at(x, index)
        index = plain_index(index)
        if ufunc is not np.add and ufunc is not np.subtract:
            return _at_each(ufunc, x, index, value)
        shape = bottom(x)[index].shape
        before = bottom(x).copy()
        part = apply(unpicked, (apply(np.broadcast_to, (value,), {"shape": shape}), x), {"index": index})
        y = apply(ufunc, (x, part))
        exact = before
        ufunc.at(exact, index, plain(value))
        write(x, ..., y)
        bottom(x)[...] = exact  # the sums in the order of NumPy's
        return None

    return at


def _at_each(ufunc: np.ufunc, x: Any, index: Any, value: Any) -> None:
    """Item by item: a repeated place is computed as often as it occurs."""
    places = np.arange(bottom(x).size).reshape(bottom(x).shape)[index]
    values = None if value is None else apply(np.broadcast_to, (value,), {"shape": np.shape(places)})
    if table.lookup(ufunc) is None:
        raise NoRule(f"`{ufunc.__name__}.at` has no derivative rule")
    for spot in np.ndindex(np.shape(places)):
        at = tuple(int(k) for k in np.unravel_index(places[spot], bottom(x).shape))
        x[at] = ufunc(x[at]) if values is None else ufunc(x[at], values[spot])
