"""The structure of values: items, attributes, and the dtype of leaves.

    rebuilt((1.0, [2.0]), f)      ->      (f(1.0), f([2.0]))

>>> rebuilt({"a": 1.0}, lambda v: 2.0 * v)
{'a': 2.0}
"""

from __future__ import annotations

import copy
import itertools
import sys
import types
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.guests import acts_as_array

ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)
FINITE = (itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement,
          np.ndindex, np.ndenumerate)  # fmt: skip
"""Iterators that end, and that are fresh where a loop is directly over a call of them."""

_DATA = (tuple, list, dict, set, type, int, float, complex, str, bytes, np.ndarray, np.generic)
_NUMPYS = (np.ndarray, np.generic)
_FIXED = (int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type, range, slice, types.ModuleType,
          types.FunctionType, types.BuiltinFunctionType)  # fmt: skip
_NO_INSTANCES = sys.stdlib_module_names | {"numpy", "scipy", "s2sgrad"}


def attributes_of(v: Any) -> dict[str, Any] | None:
    """The attributes of an instance of a user's class; None for anything else, and for an array of another library."""
    home = (type(v).__module__ or "").partition(".")[0]
    if home in _NO_INSTANCES or isinstance(v, _DATA) or acts_as_array(type(v)):
        return None
    return stored_in(v)


def stored_in(v: Any) -> dict[str, Any] | None:
    """What an object stores, in its `__dict__` and in the slots of its classes; None where it has neither.

    >>> class Wrapper:
    ...     __slots__ = ("wrapped",)
    ...     def __init__(self, wrapped):
    ...         self.wrapped = wrapped
    ...     def __getattr__(self, name):  # answers for a `__dict__` that the object does not have
    ...         return name
    >>> stored_in(Wrapper(1.0))
    {'wrapped': 1.0}
    """
    held, slots = its(v, "__dict__"), slots_of_all(type(v))
    found: Any = held if isinstance(held, Mapping) else None  # what acts as a dict, as Python gives it
    if not slots:
        return found  # type: ignore[no-any-return]
    kept = {n: its(v, n) for n in slots if has(v, n)}
    return {**kept, **found} if found else kept


def holds_iterator(v: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value is an iterator, or holds one: whoever draws from it leaves less to others.

    >>> holds_iterator([1.0, {"a": iter("ab")}]), holds_iterator([range(3), "ab"])
    (True, False)
    """
    if isinstance(v, _FIXED) or id(v) in seen:
        return False
    parts = v if isinstance(v, dict) else attributes_of(v) or {}
    held = v if isinstance(v, (list, tuple, set)) else parts.values()
    return hasattr(type(v), "__next__") or any(holds_iterator(item, seen | {id(v)}) for item in held)


def with_attributes(x: Any, items: dict[str, Any]) -> Any:
    """A derivative with respect to an object: for a dataclass an instance with these attributes, else the dict of them."""
    if not has(x, "__dataclass_fields__"):
        return items
    made = object.__new__(type(x))
    for k, item in items.items():
        object.__setattr__(made, k, item)
    return made


def float_type(dtype: np.dtype) -> np.dtype:
    """The dtype of cotangents for values of this dtype: float64 for integers and booleans."""
    return dtype if dtype.kind in "fc" else np.dtype(float)


def rebuilt(v: Any, leaf: Callable[..., Any], *others: Any) -> Any:
    """`v` with every item replaced by `leaf(item, *corresponding items of the others)`, as it is stored."""
    if isinstance(v, dict):
        entries = {k: leaf(v[k], *(o[k] for o in others)) for k in v}
        return Counter(entries) if isinstance(v, Counter) else entries  # what a Counter lacks is 0
    stored = tuple.__iter__(v) if isinstance(v, tuple) else list.__iter__(v) if isinstance(v, list) else v
    items = [*itertools.starmap(leaf, zip(stored, *others, strict=True))]
    if type(v) is tuple:
        return tuple(items)
    if isinstance(v, tuple):
        return tuple.__new__(type(v), items) if has(v, "_fields") else tuple(items)
    return items


def renewed(v: Any, leaf: Callable[[Any], Any]) -> Any:
    """`v` with every item replaced by `leaf(item)`; an object of a class of its own stays what it is, and is written.

    >>> type(renewed(Counter({"a": 1.0}), lambda item: 2.0 * item)), renewed((1.0, [2.0]), str)
    (<class 'collections.Counter'>, ('1.0', '[2.0]'))
    """
    kind: Any = dict if isinstance(v, dict) else list
    if isinstance(v, tuple) or type(v) is kind:
        return rebuilt(v, leaf)
    for key, item in list(dict.items(v) if kind is dict else enumerate(list.__iter__(v))):
        kind.__setitem__(v, key, leaf(item))
    return v


def leaves(v: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order.

    >>> leaves({"a": 1.0, "b": (2.0, [None])})
    [1.0, 2.0, None]
    """
    if isinstance(v, (list, tuple, dict)):
        return [leaf for item in (v.values() if isinstance(v, dict) else v) for leaf in leaves(item)]
    return [v]


def filled(v: Any, ready: Iterator[Any]) -> Any:
    """The structure of `v`, with these in the place of its leaves.

    >>> filled({"a": 1.0, "b": (2.0, [None])}, iter("xyz"))
    {'a': 'x', 'b': ('y', ['z'])}
    """
    return rebuilt(v, lambda item: filled(item, ready)) if isinstance(v, (list, tuple, dict)) else next(ready)


def lacking(x: Any, key: Any) -> Any:
    """A copy of a list or a dict without the item at `key`.

    >>> lacking([5, 6, 7], -2), lacking({"a": 1, "b": 2}, "a")
    ([5, 7], {'b': 2})
    """
    out = dict(x) if isinstance(x, dict) else list(x)
    del out[key]
    return out


def moved(x: dict, key: Any) -> dict:
    """A copy of a dict with the entry at `key` moved to the end.

    >>> moved({"a": 1, "b": 2}, "a")
    {'b': 2, 'a': 1}
    """
    out: dict = lacking(x, key)
    out[key] = x[key]
    return out


def place_of(xs: Any, value: Any) -> int:
    """The index of the first occurrence of `value`."""
    return list(xs).index(value)


def ones(y: Any) -> Any:
    """The cotangent of `y` that consists of ones: the gradient is that of the sum of all elements."""
    if isinstance(y, (list, tuple, dict)):
        return rebuilt(y, ones)
    if isinstance(y, np.ndarray):
        return np.ones(y.shape, float_type(y.dtype))
    if (held := attributes_of(y)) is not None:
        return {name: ones(item) for name, item in held.items()}
    return y.dtype.type(1.0) if isinstance(y, np.inexact) else 1.0


class _Ones:
    """A part of a seed that stands for ones; a singleton, also through copy and pickle."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "ONES"

    def __repr__(self) -> str:
        return "ONES"


ONES = _Ones()


class WithAux(NamedTuple):
    """The zero cotangents of a value and of the auxiliary data that is returned beside it."""

    value: Any
    aux: Any


def seeded(y: Any, seed: Any) -> Any:
    """`seed` as a cotangent of `y`; ValueError unless structure and shapes agree, TypeError where it is not a number."""
    if seed is ONES:
        return ones(y)
    if isinstance(y, (list, tuple, dict)) or attributes_of(y) is not None:
        return _seeded_parts(y, seed)
    if seed is None and isinstance(y, (float, int, complex, np.ndarray, np.generic)):
        raise TypeError("the seed is None where the result is a number: write 0.0 where it does not count")
    if np.shape(seed) != np.shape(y):
        raise ValueError(f"the seed must have the shape of the result, {np.shape(y)}, not {np.shape(seed)}")
    if isinstance(y, np.ndarray):
        given = seed if hasattr(seed, "dtype") else np.asarray(seed)
        if given.dtype.kind not in ("fiubc" if y.dtype.kind == "c" else "fiub"):
            raise TypeError(f"the seed must be made of floats, not {given.dtype}")
        return np.asarray(given, dtype=float_type(y.dtype))
    if isinstance(y, (complex, np.complexfloating)) and isinstance(seed, (complex, np.complexfloating, np.ndarray)):
        return complex(seed)
    return seed_of_number(seed) if isinstance(y, (float, int, complex, np.generic)) else seed


def _seeded_parts(y: Any, seed: Any) -> Any:
    """The same for a container, or for an object, whose cotangent is a dict of its attributes."""
    parts, given = attributes_of(y) or y, attributes_of(seed) or seed
    same = set(parts) == set(given) if isinstance(parts, dict) and isinstance(given, dict) else None
    if same is None:
        same = isinstance(given, (list, tuple)) and not isinstance(parts, dict) and len(given) == len(parts)
    if not same:
        raise ValueError(f"the seed must have the structure of the result, a {type(y).__name__} of {len(parts)}")
    return rebuilt(parts, seeded, given)


def seed_of_number(seed: Any) -> Any:
    """The seed for a number as a float; ValueError for an array, TypeError for anything else that is not a number.

    >>> seed_of_number(2), seed_of_number(np.array(0.5))
    (2.0, 0.5)
    """
    if isinstance(seed, (float, np.longdouble)) or (has(seed, "__array_ufunc__") and not isinstance(seed, _NUMPYS)):
        return seed
    if np.shape(seed) != ():
        raise ValueError(f"the seed must have the shape of the result, (), not {np.shape(seed)}")
    if np.asarray(seed).dtype.kind not in "fiub":
        raise TypeError(f"the seed of a number must be a number, not {seed!r}")
    return float(seed)


def kept(v: Any) -> Any:
    """A snapshot of data: arrays, containers and objects are copied; immutable values, functions and classes are kept.

    >>> d = {"k": [1.0]}
    >>> e = kept(d)
    >>> d["k"][0] = 5.0
    >>> e
    {'k': [1.0]}
    """
    return _kept(v, {})


def kept_together(*parts: Any) -> tuple:
    """Snapshots of several data: what stands in two of them is one object in the snapshots, too.

    >>> stack = [1.0]
    >>> a, b = kept_together([stack], (stack, 2.0))
    >>> a[0] is b[0], a[0] is stack
    (True, False)

    Arrays that are views of one another are so in the snapshots.

    >>> x = np.zeros(3)
    >>> y, z = kept_together(x, x[::-1])
    >>> y[0] = 1.0
    >>> z.tolist(), x.tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    """
    memo: dict[int, Any] = {}
    arrays = {id(part): part for part in parts if type(part) is np.ndarray and not part.dtype.hasobject}
    roots = [_root(part) for part in arrays.values()]
    for part, root in zip(arrays.values(), roots, strict=True):
        if sum(r is root for r in roots) > 1 and root.flags.forc and type(root) is np.ndarray:
            whole = memo.get(id(root))
            if whole is None:
                whole = memo[id(root)] = root.copy(order="K")
            if part is not root:
                memo[id(part)] = _same_view(part, root, whole)
    return tuple([_kept(part, memo) for part in parts])


def _root(x: np.ndarray) -> np.ndarray:
    """The array whose memory a view shows, itself for one that is no view."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _same_view(x: np.ndarray, root: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The view of `whole`, a copy of contiguous memory, that `x` is of `root`."""
    offset = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return np.ndarray(x.shape, x.dtype, whole.ravel(order="K"), offset, x.strides)


def _kept(v: Any, memo: dict[int, Any]) -> Any:
    """A snapshot; `memo` has those of arrays and containers by their identities."""
    if isinstance(v, _FIXED) or v is None:
        return v
    if id(v) not in memo:
        memo[id(v)] = _new(v, memo)
    return memo[id(v)]


def _new(v: Any, memo: dict[int, Any]) -> Any:
    if isinstance(v, np.ndarray) and not v.dtype.hasobject:
        return v.copy()
    if type(v) in (list, tuple, dict) or (isinstance(v, tuple) and has(v, "_fields")):
        return rebuilt(v, lambda item: _kept(item, memo))
    try:
        return _copied(v, memo) if _answers(type(v)) else copy.deepcopy(v)
    except Exception:  # not copyable, such as a lock or an open file
        return {k: _kept(item, memo) for k, item in v.items()} if isinstance(v, Mapping) else v


def _copied(v: Any, memo: dict[int, Any]) -> Any:
    """A snapshot of an object of a user's class, which is asked for nothing."""
    base: Any = dict if isinstance(v, dict) else list if isinstance(v, list) else object
    if base is object and attributes_of(v) is None:
        return v
    memo[id(v)] = made = base.__new__(type(v))
    if base is dict:
        dict.update(made, {key: _kept(item, memo) for key, item in dict.items(v)})
    elif base is list:
        list.extend(made, [_kept(item, memo) for item in list.__iter__(v)])
    for name, item in (stored_in(v) or {}).items():
        object.__setattr__(made, name, _kept(item, memo))
    return made


def _answers(cls: type) -> bool:
    """Whether objects of a class answer to the names by which they would be copied, and have no way of their own."""
    asks = isinstance(getattr(cls, "__getattr__", None), types.FunctionType)
    ways = (getattr(cls, name, None) for name in ("__deepcopy__", "__setstate__", "__reduce__", "__reduce_ex__"))
    return asks and all(way is None or way in _OF_ALL for way in ways)


_OF_ALL = (object.__reduce__, object.__reduce_ex__)


def reachable(v: Any, attributes: Any = None) -> dict[Any, Any] | None:
    """The parts of a value by index, key or name: items of containers, attributes of objects; None if there are none.

    `attributes`: the names of the attributes that are of interest, all by default.

    >>> reachable([1.0, 2.0]), reachable({"a": 1.0}), reachable(2.0)
    ({0: 1.0, 1: 2.0}, {'a': 1.0}, None)
    """
    if isinstance(v, _FIXED) or v is None or type(v).__module__.partition(".")[0] == "s2sgrad":
        return None
    if isinstance(v, np.ndarray):
        return dict(enumerate(v.flat)) if v.dtype.hasobject else None
    if isinstance(v, (list, tuple, deque)):
        return dict(enumerate(v))
    if isinstance(v, Mapping):
        return dict(v)
    names = [*its(v, "__dict__", ()), *slots_of_all(type(v))]
    names = [n for n in names if (attributes is None or n in attributes) and has(v, n)]
    return {n: its(v, n) for n in names} or None


def slots_of(cls: type) -> list[str]:
    """The attributes that a class keeps in slots, with private names mangled."""
    names = vars(cls).get("__slots__", ())
    names = [names] if isinstance(names, str) else list(names)
    private = [n if not n.startswith("__") or n.endswith("__") else f"_{cls.__name__.lstrip('_')}{n}" for n in names]
    return [n for n in private if n not in ("__dict__", "__weakref__")]


def slots_of_all(cls: type) -> tuple[str, ...]:
    """The attributes that objects of a class keep in slots, those of its bases first."""
    if type(cls) is type and not hasattr(cls, "__slots__"):  # nor has any of its bases
        return ()
    return tuple(dict.fromkeys(name for k in reversed(cls.__mro__) for name in slots_of(k)))


def repeated(xs: Any, n: int) -> Any:
    """`xs * n`, for a list or tuple."""
    return xs * n


class _Absent:
    """The result of `held` for a missing key; a singleton, also through copy and pickle."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "ABSENT"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def as_dict(record: Any) -> dict[str, Any]:
    """A named tuple as a dict.

    >>> from collections import namedtuple
    >>> as_dict(namedtuple("P", "x y")(1.0, 2.0))
    {'x': 1.0, 'y': 2.0}
    """
    found: dict[str, Any] = record._asdict()
    return found


def with_fields(record: Any, names: tuple[str, ...], *values: Any) -> Any:
    """A copy of a named tuple with new values for some of its fields.

    >>> from collections import namedtuple
    >>> with_fields(namedtuple("P", "x y")(1.0, 2.0), ("y",), 5.0)
    P(x=1.0, y=5.0)
    """
    return record._replace(**dict(zip(names, values, strict=True)))


def lasting(x: Any, index: Any) -> Any:
    """A mask of the elements of `v` that persist after `x[index] = v`: where an index repeats, only the last one does.

    >>> lasting(np.zeros(3), [0, 0, 2])
    array([False,  True,  True])
    """
    if isinstance(x, (list, dict)):
        return True
    places = np.arange(np.size(x)).reshape(np.shape(x))[index]
    order = np.arange(np.size(places)).reshape(np.shape(places))
    last = np.empty(np.size(x), dtype=int)
    last[places] = order
    return last[places] == order
