"""Functions of NumPy that write arrays: each is a store of the run.

np.copyto(y, x)  ->  y[...] = x        np.add.at(y, k, x)  ->  y[...] = y + (x at the places k)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.errors import NoRule
from s2sgrad.recorded import arrays
from s2sgrad.recorded.applying import apply, born
from s2sgrad.recorded.library import instead_of
from s2sgrad.recorded.memory import plain_index, write
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import Array, bottom, handles_in, is_handle, lost, plain
from s2sgrad.rules import table
from s2sgrad.rules.selections import unpicked
from s2sgrad.runtime.checks import Refusal, apart


@instead_of(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    np.copyto(np.empty_like(bottom(dst)), plain(src), casting, where=plain(where))  # raises as NumPy does
    src = apply(np.array, (src,)) if isinstance(src, (list, tuple)) else src
    dst[...] = src if where is True else apply(np.where, (np.asarray(plain(where)), src, dst))


@instead_of(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """`np.put`: the values are repeated as often as needed."""
    places = np.asarray(plain(ind))
    places = places.reshape(-1) if places.size else places.reshape(-1).astype(int)
    size = bottom(a).size
    if mode == "raise" and places.size and (places.min() < -size or places.max() >= size):
        np.put(bottom(a).copy(), places, 0.0)
    places = np.clip(places, 0, size - 1) if mode == "clip" else places % size
    flat = apply(np.ravel, (apply(np.array, (v,)) if handles_in(v, []) else np.asarray(v),))
    a[np.unravel_index(places, bottom(a).shape)] = flat[np.arange(places.size) % np.size(bottom(flat))]


@instead_of(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place`, which reads the values while it writes."""
    try:
        apart(None, bottom(arr), bottom(vals))
    except Refusal as error:
        refuse(error)
    put(arr, np.flatnonzero(plain(mask)), vals)


@instead_of(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """`np.putmask`: the values are repeated over the whole array."""
    places = np.flatnonzero(plain(mask))
    flat = apply(np.ravel, (apply(np.array, (values,)) if handles_in(values, []) else np.asarray(values),))
    if places.size:
        put(a, places, flat[places % np.size(bottom(flat))])


@instead_of(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis`."""
    shape = bottom(arr).shape
    places = np.arange(bottom(arr).size).reshape(shape if axis is not None else -1)
    found = np.take_along_axis(places, bottom(indices), axis)
    arr[np.unravel_index(found, shape)] = values


@instead_of(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`."""
    marks = np.zeros(bottom(a).shape, bool)
    np.fill_diagonal(marks, True, wrap)
    places = np.flatnonzero(marks)
    if np.ndim(plain(val)) == 0:
        a[np.unravel_index(places, marks.shape)] = val
    else:
        put(a, places, val)


def _permuting(handle: Any, permuted: Callable[[Any], Any]) -> None:
    """Store the items in another order, which the same call on places tells."""
    places = np.arange(bottom(handle).size).reshape(bottom(handle).shape)
    permuted(places)
    handle[...] = apply(np.ravel, (apply(np.copy, (handle,)),))[places]


def permutes(f: Any) -> Callable[..., Any] | None:
    """What is called in the place of a method of a generator that permutes or picks items."""
    for cls in (np.random.Generator, np.random.RandomState):
        if isinstance(f.__self__, cls):
            return _PERMUTING.get(getattr(cls, f.__name__, None))
    return None


def _shuffled(shuffle: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    """`rng.shuffle(x)`: the generator draws as it does for the array."""
    if type(x) is not Array:
        return shuffle(x, *args, **keywords)
    return _permuting(x, lambda places: shuffle(places, *args, **keywords))


def _picked(pick: Any, x: Any, *args: Any, **keywords: Any) -> Any:
    """`rng.permutation(x)`, `rng.choice(x)`: the generator picks places."""
    if not handles_in(x, []):
        return born(pick(x, *args, **keywords))
    x = x if is_handle(x) else apply(np.array, (x,))
    shape = np.shape(bottom(x))
    if len(shape) == 1:
        return x[pick(np.arange(shape[0]), *args, **keywords)]
    places = np.arange(bottom(x).size).reshape(shape)
    return apply(np.ravel, (x,))[pick(places, *args, **keywords)]


_PERMUTING: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((np.random.Generator.shuffle, np.random.RandomState.shuffle), _shuffled),
    **dict.fromkeys((np.random.Generator.permutation, np.random.RandomState.permutation, np.random.Generator.choice,
                     np.random.RandomState.choice, np.random.Generator.permuted), _picked),
}  # fmt: skip


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
            if handles_in((x, value), []):
                lost(f"a result stored by `{ufunc.__name__}.at` into an array that was made outside")
            return ufunc.at(x, index, value) if value is not None else ufunc.at(x, index)
        index = plain_index(index)
        value = apply(np.array, (value,)) if isinstance(value, (list, tuple)) else value
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
    if value is not None and np.may_share_memory(bottom(value), bottom(x)):
        value = apply(np.copy, (value,))  # what was there before
    values = None if value is None else apply(np.broadcast_to, (value,), {"shape": np.shape(places)})
    if table.lookup(ufunc) is None:
        raise NoRule(f"`{ufunc.__name__}.at` has no derivative rule", user_place().place())
    for spot in np.ndindex(np.shape(places)):
        at = tuple(int(k) for k in np.unravel_index(places[spot], bottom(x).shape))
        x[at] = ufunc(x[at]) if values is None else ufunc(x[at], values[spot])
