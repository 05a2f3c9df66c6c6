"""Kinds by example: the kind of the result of a pure NumPy operation, from running the operation on two small samples.

No shape rules are needed: NumPy itself determines the result.  An axis of the result is the k-th size plus an offset if that
holds in both samples, whose sizes are chosen so that no sum, product or half of sizes looks like one.  A third
sample, of sizes in another order and of equal values, contradicts what holds by chance, and so does one where truth
values and whole numbers are 0.

    np.sum(Array('float64', (Size(0), Size(1))), axis=0)   ->   Array('float64', (Size(1),))

>>> import numpy as np
>>> from s2sgrad.analysis.kinds import Array, Number
>>> from s2sgrad.analysis.value_kinds import constant_kind
>>> from s2sgrad.analysis.sizes import Size
>>> x = Array('float64', (Size(0), Size(1)))
>>> by_example(lambda x, axis: np.sum(x, axis=axis), [x, constant_kind(0)])
Array('float64', (Size(1, 0),))
>>> by_example(lambda x: x[1:-1], [x])
Array('float64', (Size(0, -2), Size(1, 0)))
>>> by_example(np.unique, [x]), by_example(lambda x: np.convolve(x[:, 0], x[0], "same"), [x])
(Array('float64', (None,)), Array('float64', (None,)))
>>> by_example(np.arange, [Number(np.float64)]), by_example(lambda x: x, [Number(np.float64)])
(Array('float64', (None,)), Number(float64, False, None))
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2sgrad.analysis.broadcasting import broadcast
from s2sgrad.analysis.kinds import (
    STRUCTURED,
    UNKNOWN,
    Array,
    Container,
    Kind,
    Known,
    Number,
    Numeric,
    Slicing,
    Text,
    all_are,
    is_numeric,
    join,
)
from s2sgrad.analysis.sizes import Dim, Size
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.runtime.asking import has, its

_SYMBOLIC = 20  # the first number for sizes that are not arguments'
_LARGEST = 200_000  # elements of a sample
_LARGEST_VIEW = 20_000_000  # elements of a sample that is broadcast
_RANKS = (1, 2, 3, 4)  # of samples where the rank is unknown
_NUMBERS = tuple(map(Number, (int, float, np.float64)))
_REFUTING = 2  # the sample that only contradicts: its lengths are in another order, its values equal or 0
_OFFSET = 4  # largest offset from an argument's size


class _NoSample(Exception):
    pass


def by_example(operation: Callable[..., Any], kinds: list[Kind], sizes_known: bool = True) -> Kind:
    """The kind of `operation(*values)`, for a pure function and values of these kinds.

    If `sizes_known` is False, only the rank of the result is used.
    """
    loose = [(k, kind) for k, kind in enumerate(kinds) if isinstance(kind, (Array, Numeric)) and _lacks_rank(kind)]
    if len(loose) == 1:
        return _of_any_rank(operation, kinds, *loose[0])
    if any(map(_lacks_dtype, kinds)):
        return _without_dtype(by_example(operation, [_with_dtype(k) for k in kinds], sizes_known))
    try:
        if any(isinstance(k, Number) and k.type is None and k.double and not k.known for k in kinds):
            return _of_both_floats(operation, kinds, sizes_known)
        return _sampled(operation, kinds, sizes_known)
    except _NoSample:
        return UNKNOWN


def _of_both_floats(operation: Callable[..., Any], kinds: list[Kind], sizes_known: bool) -> Kind:
    """The kind of the result where a number is a float of Python's or of NumPy's: of its own type it says as little."""
    out: Kind | None = None
    for type_ in (float, np.float64):
        of_type = [replace(k, type=type_) if isinstance(k, Number) and k.type is None and k.double else k for k in kinds]
        out = join(out, _sampled(operation, of_type, sizes_known))
    return out or UNKNOWN


def _sampled(operation: Callable[..., Any], kinds: list[Kind], sizes_known: bool) -> Kind:
    """As `by_example`; raises `_NoSample` where the operation fails on the samples."""
    if all(k.known for k in kinds):
        return _constant(_run(operation, [k.value for k in kinds]))
    try:
        first, second = (_run(operation, [_sample(k, variant) for k in kinds]) for variant in (0, 1))
    except _NoSample:
        # sizes may not fit: use only the rank, from a sample where all sizes agree
        first = second = _run(operation, [_sample(k, 0, 3) for k in kinds])
        sizes_known = False
    if sizes_known and any(map(_may_tell_length, kinds)):  # as the number of `np.arange`, the places of `np.split`
        moved = [_moved(k, n) for n, k in enumerate(kinds)]
        with contextlib.suppress(_NoSample):
            third = _run(operation, moved)
            if _kind(first, third, True) != _kind(first, first, True):
                return _kind(first, third, False)
    found = _kind(first, second, sizes_known)
    switched = _switched(operation, kinds, first)
    if switched is not None:
        return switched
    if not sizes_known or not _claims_sizes(found):
        return found
    with contextlib.suppress(_NoSample):  # as of `np.convolve` with a longer array, `np.unique` of equal values
        if not _has_sizes(found, _run(operation, [_sample(k, _REFUTING) for k in kinds])):
            return _kind(first, second, False)
    return found


def _switched(operation: Callable[..., Any], kinds: list[Kind], first: Any) -> Kind | None:
    """The kind of the result where it is another with truth values and whole numbers off; None where it is the same."""
    if not any(map(_may_switch, kinds)):
        return None
    try:
        off = _run(operation, [_switched_off(k) if _may_switch(k) else _sample(k, 0) for k in kinds])
    except _NoSample:
        return None
    # how long a result is may depend on a number, and the samples of numbers say so already
    sized = all(not _may_switch(k) or _is_truth(k) for k in kinds)
    return _kind(off, first, False) if _kind(off, off, sized) != _kind(first, first, sized) else None


def _may_switch(kind: Any) -> bool:
    """Whether a value may be false: what `np.linalg.svd(x, compute_uv=b)` gives depends on it."""
    if not isinstance(kind, Number) or kind.known or kind.size is not None or kind.type is None:
        return False
    return issubclass(kind.type, (bool, int, np.bool_, np.integer))


def _is_truth(kind: Any) -> bool:
    return issubclass(kind.type, (bool, np.bool_))


def _switched_off(kind: Any) -> Any:
    return kind.type(0)


def _claims_sizes(kind: Kind | None) -> bool:
    """Whether a kind says how long something is."""
    if isinstance(kind, Container):
        return any(map(_claims_sizes, kind.items or ()))
    return (isinstance(kind, Array) and bool(kind.dims)) or (isinstance(kind, Number) and kind.size is not None)


def _has_sizes(kind: Kind, value: Any) -> bool:
    """Whether the result of the refuting sample is as long as its kind says."""
    if isinstance(kind, Container) and kind.items is not None:
        parts = list(value.values()) if isinstance(value, dict) else value
        return len(parts) == len(kind.items) and all(map(_has_sizes, kind.items, parts))
    if isinstance(kind, Number) and kind.size is not None:
        return bool(value == _size(kind.size, _REFUTING))
    if not isinstance(kind, Array) or kind.dims is None:
        return True
    shape = np.shape(value)
    return len(shape) == len(kind.dims) and all(
        d is None or n == (_size(d, _REFUTING) if isinstance(d, Size) else d) for d, n in zip(kind.dims, shape, strict=True)
    )


def _moved(kind: Kind, place: float) -> Any:
    """The first sample; of an unknown float, also in a list, another number of its type: the rows of a matrix are no longer
    equal, which tells how many columns `linalg.orth` gives.  Of whole numbers in an array, 0."""
    if isinstance(kind, Number) and _is_unknown_float(kind):
        return (kind.type or float)(2.7 + 3.0 * place)
    if isinstance(kind, Container) and kind.items is not None and kind.type in (list, tuple):
        return kind.type(_moved(item, (7.3 * place + 3.1 * k * k + k + 0.4) % 5.0) for k, item in enumerate(kind.items))
    return _sample(kind, 0) * 0 if _is_of_integers(kind) else _sample(kind, 0)


def _may_tell_length(kind: Kind) -> bool:
    """Whether a kind is that of an unknown float or array of integers, or of a list with one."""
    if isinstance(kind, Container) and kind.type in (list, tuple):
        return any(map(_may_tell_length, kind.items or ()))
    return _is_unknown_float(kind) or _is_of_integers(kind)


def _is_of_integers(kind: Kind) -> bool:
    """Whether a kind is that of an array of whole numbers, in which all samples hold the same."""
    return isinstance(kind, Array) and kind.dtype is not None and np.dtype(kind.dtype).kind in "iu"


def _is_unknown_float(kind: Kind) -> bool:
    """Whether a kind is a float whose value is not known."""
    return isinstance(kind, Number) and not kind.known and issubclass(kind.type or float, float)


def _lacks_rank(kind: Array | Numeric) -> bool:
    return is_numeric(kind) and kind.rank is None and kind.dtype is not None


def _of_any_rank(operation: Callable[..., Any], kinds: list[Kind], place: int, loose: Array | Numeric) -> Kind:
    """The kind of the result where an operand may be a number, or an array of any rank: the join over small ranks. If the
    operation fails for one of them, nothing is said of the rank."""
    dtype, fails, takes_arrays = loose.dtype, False, False
    operands = [*(Array(dtype, (None,) * n) for n in _RANKS), *(_NUMBERS if isinstance(loose, Numeric) else ())]
    out: Kind | None = None
    for operand in operands:
        try:
            out = join(out, _sampled(operation, [*kinds[:place], operand, *kinds[place + 1 :]], False))
            takes_arrays = takes_arrays or isinstance(operand, Array)
        except _NoSample:
            fails = True
    if out is None or (fails and not is_numeric(out)):
        return UNKNOWN
    if not fails or not takes_arrays:  # `math.sqrt` takes an array only where it has one element
        return out
    return Array(out.dtype, None) if isinstance(out, Array) else join(out, Array(dtype, None)) or UNKNOWN


def _lacks_dtype(kind: Kind | None) -> bool:
    """Whether the dtype of an array, of a number, or of one in a container is unknown: it may even be complex."""
    if isinstance(kind, Number):
        return kind.type is None and not kind.double
    if isinstance(kind, Container):
        return _lacks_dtype(kind.item) if kind.items is None else any(map(_lacks_dtype, kind.items))
    return isinstance(kind, Array) and kind.dtype is None and kind.dims is not None


def _with_dtype(kind: Kind) -> Kind:
    if not _lacks_dtype(kind):
        return kind
    if isinstance(kind, Container):
        items = None if kind.items is None else tuple(map(_with_dtype, kind.items))
        return replace(kind, items=items, item=None if kind.item is None else _with_dtype(kind.item))
    if isinstance(kind, Number):
        return replace(kind, type=float)
    return Array("float64", kind.dims) if isinstance(kind, Array) else kind


def _without_dtype(kind: Kind) -> Kind:
    """The kind of a result if the dtype of an operand was assumed: only its shape counts."""
    if isinstance(kind, Array):
        return Array(None, kind.dims)
    return kind if isinstance(kind, Number) and kind.type is int else Number(None) if isinstance(kind, Number) else UNKNOWN


def elementwise(operation: Callable[..., Any], kinds: list[Kind]) -> Kind:
    """The kind of an elementwise operation's result: sizes by broadcasting, the dtype by example."""
    if all_are(kinds, Number):
        sized = all(k.known or k.size is not None for k in kinds)
        return by_example(operation, [*kinds], sized)
    if any(isinstance(k, Numeric) for k in kinds) and all(map(is_numeric, kinds)):
        return _of_numbers_or_arrays(operation, kinds)
    if not all(isinstance(k, (Number, Array)) for k in kinds):
        return Array(None, None) if any(map(_has_axes, kinds)) else UNKNOWN
    return _broadcast(operation, kinds)


def _broadcast(operation: Callable[..., Any], kinds: list[Kind]) -> Kind:
    """The kind of an elementwise operation on numbers and arrays; an array of no axes gives a number."""
    dims = broadcast(kinds)
    small = [_small(k, dims is not None) if isinstance(k, (Number, Array)) else k for k in kinds]
    result = by_example(operation, small) if all(k.dtype for k in kinds if isinstance(k, Array)) else UNKNOWN
    dtype = result.dtype if isinstance(result, Array) else None
    if dims == ():
        return _without_axes(operation, kinds, dtype)
    if dims is not None or any(map(_has_axes, kinds)):
        return Array(dtype, dims)
    return UNKNOWN if dtype is None else Numeric("float64" if dtype == "float64" else None)


def _without_axes(operation: Callable[..., Any], kinds: list[Kind], dtype: str | None) -> Kind:
    """The kind of the result for numbers and arrays without axes: a number, unless the operation gives a view."""
    lacks = any(isinstance(k, Array) and k.dtype is None for k in kinds)
    found = UNKNOWN if lacks else by_example(operation, kinds, False)
    return found if isinstance(found, Array) else Number(np.dtype(dtype).type if dtype else None)


def _has_axes(kind: Kind) -> bool:
    """Whether a value is known to be an array of one axis or more."""
    return isinstance(kind, Array) and bool(kind.rank)


def _small(kind: Number | Array, ranked: bool) -> Kind:
    """The kind of an operand whose axes are shortened; of one axis where ranks are unknown."""
    if isinstance(kind, Number):
        return replace(kind, size=None)
    return Array(kind.dtype, (1,) * (kind.rank if ranked and kind.rank else 1))


def _of_numbers_or_arrays(operation: Callable[..., Any], kinds: list[Kind]) -> Kind:
    """The kind of an elementwise operation's result where operands may be numbers or arrays: the join over what they are."""
    if any(isinstance(k, Numeric) and k.dtype is None for k in kinds):
        return Array(None, None) if any(map(_has_axes, kinds)) else Numeric()
    out: Kind | None = None
    for operands in itertools.product(*map(_alternatives, kinds)):
        out = join(out, by_example(operation, list(operands), False))
    if isinstance(out, Array) and any(map(_has_axes, kinds)):
        return Array(out.dtype, None)
    return join(out, Number(float)) if isinstance(out, Array) else out or UNKNOWN


def _alternatives(kind: Kind) -> list[Kind]:
    if isinstance(kind, Numeric):
        return [Array(kind.dtype, (1,)), *_NUMBERS]
    return [_small(kind, False) if isinstance(kind, (Number, Array)) else kind]


def matmul(operation: Callable[..., Any], kinds: list[Kind]) -> Kind:
    """The kind of a matrix product: for ranks 1 and 2 the sizes are those of the outer axes."""
    found = by_example(operation, kinds, all(isinstance(k, Array) for k in kinds))
    if not isinstance(found, Array) or any(not isinstance(k, Array) or k.rank not in (1, 2) for k in kinds):
        return found
    left, right = (k.dims if isinstance(k, Array) and k.dims else () for k in kinds)
    return Array(found.dtype, left[:-1] + (right[1:] if len(right) == 2 else ()))


def section(shape: tuple[int, ...], single: bool) -> Callable[..., Any]:
    """The operation `x[..]` on x and the parts of an index: for each axis as many as `shape` says, none for no slice."""

    def run(x: Any, *values: Any) -> Any:
        rest, places = list(values), []
        for n in shape:
            places.append(slice(*[rest.pop(0) for _ in range(n)]) if n else _valid_index(rest.pop(0)))
        return x[places[0]] if single else x[tuple(places)]

    return run


def tells_section(owner: Array, bounds: list[Kind]) -> bool:
    """Whether samples tell how long a section of an array is: not up to 40, where the sample has twelve elements.

    >>> x = Array("float64", (Size(0),))
    >>> tells_section(x, [constant_kind(-1)]), tells_section(x, [constant_kind(40)]), tells_section(x, [Number(int)])
    (True, False, False)
    """
    shortest = min((_size(d, 0) for d in owner.dims or () if isinstance(d, Size)), default=_LARGEST)
    return all(b.known and all(abs(n) < shortest for n in _whole_numbers(b.value)) for b in bounds)


def _whole_numbers(value: Any) -> list[int]:
    """The whole numbers of a bound, or of a slice object."""
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else (value,)
    return [p for p in parts if type(p) is int]


def _valid_index(index: Any) -> Any:
    """An index with the same result shape that is valid for an axis of any length but 0: zeros for integers."""
    if type(index) in (list, tuple):
        return type(index)(map(_valid_index, index))
    counts = isinstance(index, (int, np.integer, np.ndarray)) and np.asarray(index).dtype.kind in "iu"
    return index * 0 if counts else index


def _run(operation: Callable[..., Any], values: list[Any]) -> Any:
    """The result of the operation; raises `_NoSample` if it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return operation(*values)
    except Exception as error:
        raise _NoSample from error


def _constant(value: Any) -> Kind:
    if isinstance(value, (float, int, complex, np.generic, str)) or value is None:
        return constant_kind(value)
    return Known(value) if isinstance(value, slice) else _kind(value, value, True)


def _size(dim: Dim, variant: int) -> int:
    """The number that stands for a size in a sample."""
    if isinstance(dim, Size):
        k = dim.k if dim.k >= 0 else _SYMBOLIC - 1 - dim.k
        if variant == _REFUTING:  # the later, the shorter, and all below what is not known
            return max(40 - k, 20) + dim.offset
        size = 12 + 4 * k + dim.offset + variant * (7 + k)
        if dim.offset > -11:  # a recursion may cut off one item after the other
            return size
    if dim is None or isinstance(dim, Size):
        return 50 if variant == _REFUTING else 5 + 4 * variant  # unlike any argument's size in both samples
    return dim


def _dim(m: int, n: int) -> Dim:
    """The size that the lengths m and n of an axis in the two samples stand for; None where they match none.

    An empty one says nothing: a sample is shorter than the array may be of which `S[32:]` is the rest.
    """
    if m == n:
        return m or None
    k = n - m - 7
    offset = m - 12 - 4 * k
    if k < 0 or abs(offset) > _OFFSET:
        return None
    return Size(k if k < _SYMBOLIC else _SYMBOLIC - 1 - k, offset)


@functools.lru_cache(maxsize=256)
def _values(shape: tuple[int, ...], dtype: str, variant: int = 0) -> np.ndarray:
    """A sample array, well conditioned if it is square; how many elements a mask selects tells the two samples apart."""
    values = np.asarray(np.random.default_rng(0).uniform(0.2, 0.8, shape))
    if len(shape) > 1 and shape[-1] == shape[-2]:
        values = values + 10.0 * np.eye(shape[-1])
    if variant == _REFUTING:
        values[...] = 0.5
        values.flat[:1] = 0.0  # as `np.trim_zeros` cuts off
    array = np.ones(shape, dtype) if np.dtype(dtype).kind in "iu" else values.astype(dtype)
    if np.dtype(dtype).kind == "b":  # every second element; all in the other sample, or not the only one
        count = math.prod(shape)
        array = np.full(shape, count > 1) if variant else (np.arange(count) % 2 == 0).reshape(shape)
    array.flags.writeable = False
    return array


def _sample(kind: Kind, variant: int, size: int | None = None) -> Any:
    """A sample value of a kind; raises `_NoSample` if there is none."""
    if kind.known:
        return kind.value
    if isinstance(kind, Number):
        return _number(kind, variant)
    if isinstance(kind, Array):
        return _array(kind, variant, size)
    if isinstance(kind, Slicing):
        return slice(None) if variant else slice(0, 0)  # it may select any number of elements
    if isinstance(kind, Container) and kind.items is not None:
        items = [_sample(item, variant, size) for item in kind.items]
        return dict(zip(kind.keys or (), items, strict=True)) if kind.type is dict else kind.type(items)
    if isinstance(kind, Container) and kind.item is not None and kind.type is list:
        return kind.type(_sample(kind.item, variant, size) for _ in range(5 + 4 * variant))
    raise _NoSample


def _number(kind: Number, variant: int) -> Any:
    if kind.size is not None:
        return _size(kind.size, variant)
    type_ = kind.type or float
    if type_ not in (bool, int, float, complex) and not issubclass(type_, np.generic):
        raise _NoSample  # what a class of the user's, such as an enumeration, makes of a number is its own
    if issubclass(type_, (bool, np.bool_)):
        return type_(True)
    return type_(1 + variant) if issubclass(type_, (int, np.integer)) else type_(0.7)


def _array(kind: Array, variant: int, size: int | None) -> np.ndarray:
    if kind.dims is None or kind.dtype is None:
        raise _NoSample
    shape = tuple(d if d == 1 else size or _size(d, variant) for d in kind.dims)
    if math.prod(shape) > _LARGEST:  # lengths that are not arguments' need not be distinct
        own = [isinstance(d, Size) and d.k < 0 for d in kind.dims]
        shape = tuple(5 + 4 * variant if o else n for o, n in zip(own, shape, strict=True))
    if math.prod(shape) > _LARGEST_VIEW:
        raise _NoSample
    large = math.prod(shape) > _LARGEST
    values = np.broadcast_to(np.ones((), kind.dtype), shape) if large else _values(shape, kind.dtype, variant)
    return values.view()  # an object of its own: `signal.csd(x, x)` is real, that of two arrays is complex


def _kind(first: Any, second: Any, sizes_known: bool) -> Kind:
    """The kind of the results of two samples."""
    if type(first) is not type(second):
        return UNKNOWN
    if isinstance(first, (np.ndarray, np.void)):
        return _array_kind(first, second, sizes_known)
    if isinstance(first, (float, int, complex, np.generic)):
        size = _dim(first, second) if sizes_known and type(first) is int and first != second else None
        return Number(type(first), size=size)
    if type(first) in (list, tuple) or (isinstance(first, tuple) and has(first, "_fields")):
        type_ = list if isinstance(first, list) else tuple
        items = tuple(_kind(a, b, sizes_known) for a, b in zip(first, second, strict=False))
        if len(first) != len(second):
            return Container(type_, None, None, items[0] if items else None)
        return Container(type_, items, its(first, "_fields", None))
    if type(first) is dict and first.keys() == second.keys():
        return Container(dict, tuple(_kind(first[k], second[k], sizes_known) for k in first), tuple(first))
    if isinstance(first, str):
        return Text()
    if isinstance(first, slice):
        return Slicing()
    return Known(None) if first is None else UNKNOWN


def _array_kind(first: np.ndarray | np.void, second: np.ndarray | np.void, sizes_known: bool) -> Kind:
    if first.dtype != second.dtype or first.dtype.kind not in "fiubc":
        return STRUCTURED if first.dtype.names is not None and not first.dtype.hasobject else UNKNOWN
    if first.ndim != second.ndim:
        return Array(first.dtype.name, None)
    dims = (_dim(m, n) if sizes_known else None for m, n in zip(first.shape, second.shape, strict=True))
    return Array(first.dtype.name, tuple(dims))
