"""Functions of NumPy that make arrays of handles, or look at what no handle shows.

np.zeros_like(x)     ->  an array of the run, without a derivative      np.einsum(m, [0, 1])  ->  np.einsum("AB", m)
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.errors import NoRule
from s2sgrad.recorded import arrays
from s2sgrad.recorded.applying import apply, born
from s2sgrad.recorded.library import SPECIAL, applied, instead_of
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.values import Array, bottom, handles_in, is_handle, plain


@instead_of(np.array)
def array(object: Any, *args: Any, **keywords: Any) -> Any:
    """A new array."""
    x = object
    if not args and not keywords:
        return apply(np.array, (x,)) if is_handle(x) else applied(np.array, (x,), keywords)
    axes = keywords.get("ndmin", 0)
    if is_handle(x) or "ndmin" in keywords:
        keywords = {k: v for k, v in keywords.items() if k not in ("ndmin", "subok")}
    if axes > (np.ndim(plain(x)) if handles_in(x, []) else axes):
        y = array(x, *args, **keywords)
        return apply(np.reshape, (y, (1,) * (axes - np.ndim(bottom(y))) + np.shape(bottom(y))))
    if not handles_in(x, []) and axes:
        return born(np.array(x, *args, **keywords, ndmin=axes))
    if is_handle(x) and not args and keywords.keys() <= {"copy", "dtype"}:
        dtype = keywords.get("dtype")
        if dtype is None or np.dtype(dtype) == getattr(bottom(x), "dtype", np.dtype(float)):
            return x if type(x) is Array and keywords.get("copy", True) is not True else apply(np.array, (x,))
    return applied(np.array, (x, *args), keywords)


def _fitting(function: Any) -> Callable[..., Any]:
    def fitting(a: Any, *args: Any, **keywords: Any) -> Any:
        """The array itself where NumPy gives it back."""
        itself = type(a) is Array and function(bottom(a), *args, **keywords) is bottom(a)
        return a if itself else applied(function, (a, *args), keywords)

    return fitting


_function: Any
for _function in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require):
    SPECIAL[_function] = _fitting(_function)


def _like(function: Any) -> Callable[..., Any]:
    def like(*args: Any, **keywords: Any) -> Any:
        return born(function(*map(plain, args), **{name: plain(value) for name, value in keywords.items()}))

    return like


for _function in (np.zeros_like, np.ones_like, np.empty_like):
    SPECIAL[_function] = _like(_function)


@instead_of(np.full_like)
def full_like(a: Any, fill_value: Any, *args: Any, **keywords: Any) -> Any:
    """An array filled with a value."""
    y = born(np.empty_like(plain(a), *args, **keywords))
    y[...] = fill_value
    return y


@instead_of(np.full)
def full(shape: Any, fill_value: Any, *args: Any, **keywords: Any) -> Any:
    """An array filled with a value."""
    if not handles_in(fill_value, []):
        return born(np.full(shape, fill_value, *args, **keywords))
    y = born(np.full(shape, plain(fill_value), *args, **keywords))
    y[...] = fill_value
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


def vectorized(call: Callable[..., Any], f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """`np.vectorize(..)(*args)`: item by item, where handles may be among them."""
    if f.signature is not None or f.excluded or keywords:
        what = "`np.vectorize` with a signature, excluded arguments or keywords has no rule: write a loop"
        raise NoRule(what, user_place().place())
    shape = np.broadcast_shapes(*[np.shape(plain(a)) for a in args])
    args = tuple([apply(np.broadcast_to, (apply(np.array, (a,)),), {"shape": shape}) for a in args])
    places = list(np.ndindex(shape))
    if f.otypes is None and not f.cache and places:
        call(f.pyfunc, *[a[places[0]] for a in args])  # NumPy asks it for the type
    rows = [call(f.pyfunc, *[a[p] for a in args]) for p in places]
    several = bool(rows) and isinstance(rows[0], tuple)
    parts = list(zip(*rows, strict=True)) if several else [rows]
    kinds = f.otypes or [np.asarray(plain(part[0])).dtype.char for part in parts]
    made = [apply(np.reshape, (arrays.method(apply(np.array, (list(part),)), "astype", kind), shape))
            for part, kind in zip(parts, kinds, strict=True)]  # fmt: skip
    return tuple(made) if several else made[0]


@instead_of(np.ndenumerate)
def enumerated(arr: Any) -> Any:
    """`np.ndenumerate`."""
    return ((place, arr[place]) for place in np.ndindex(np.shape(plain(arr))))


def _view(function: Any) -> Callable[..., Any]:
    def view(*args: Any, **keywords: Any) -> Any:
        return born(apply(function, args, keywords))

    return view


for _function in (np.ndarray, np.lib.stride_tricks.as_strided):  # what they make lies in the memory of an argument
    SPECIAL[_function] = _view(_function)


@instead_of(np.einsum)
def einsum(*operands: Any, **keywords: Any) -> Any:
    """`np.einsum`: axis numbers are letters."""
    if isinstance(operands[0], str):
        return applied(np.einsum, operands, keywords)
    count = len(operands) // 2
    letters = ["".join("..." if k is ... else _LETTERS[k] for k in axes) for axes in operands[1 : 2 * count : 2]]
    text = ",".join(letters)
    if len(operands) % 2:
        text += "->" + "".join("..." if k is ... else _LETTERS[k] for k in operands[-1])
    return applied(np.einsum, (text, *operands[: 2 * count : 2]), keywords)


_LETTERS = string.ascii_letters[26:] + string.ascii_letters[:26]


@instead_of(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`np.take`: the mode is settled in the indices."""
    if mode != "raise":
        size = np.size(plain(a)) if axis is None else np.shape(plain(a))[axis]
        indices = np.clip(plain(indices), 0, size - 1) if mode == "clip" else np.asarray(plain(indices)) % size
    return applied(np.take, (a, indices, axis), {} if out is None else {"out": out})


def _several(function: Any) -> Callable[..., Any]:
    kind = type(function(0.0, 0.0))

    def each(*args: Any) -> Any:
        return applied(function, args, {}) if len(args) == 1 else kind([applied(function, (a,), {}) for a in args])

    return each


for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    SPECIAL[_function] = _several(_function)
