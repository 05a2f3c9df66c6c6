"""The run-time library of generated code: the helpers that a hand-written adjoint would import.

Generated functions call these where an operator does not suffice.  They need NumPy only and never import the compiler.

    x + b, x of shape (2, 3), b of shape (3,)   ->   b_bar = unbroadcast(y_bar, b)

>>> import numpy as np
>>> unbroadcast(np.ones((2, 3)), np.zeros(3))
array([2., 2., 2.])
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import (  # noqa: F401
    Refusal,
    asked_whole,
    bound,
    caught,
    contiguous,
    no_subclass,
    no_subclass_itself,
    once,
    poison,
    raised,
    rebinds,
)

# isort: split
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import (  # noqa: F401  # noqa: F401
    apart,
    as_number,
    holds_complex,
    is_special,
    keeps_floats,
    number,
    only_these,
    real,
    replaces,
    require_array,
    resizes,
    scalar,
    separate,
    tangent_fits,
    unpackable,
    unset,
)
from s2sgrad.runtime.closures import Closure, by_name, call, is_called_otherwise
from s2sgrad.runtime.guests import is_array_of_others, no_guest, no_matrix  # noqa: F401
from s2sgrad.runtime.handed import Ungiven
from s2sgrad.runtime.hooks import hook, provide  # noqa: F401
from s2sgrad.runtime.outside import Global, distinct, set_attribute  # noqa: F401
from s2sgrad.runtime.records import OWN_RECORDS, refilled, spread
from s2sgrad.runtime.results import ComplexResult, NoResult, without_floats
from s2sgrad.runtime.slopes import as_weak, log_or_zero, over, power_slope, product, ratio, share, times  # noqa: F401
from s2sgrad.runtime.structure import (  # noqa: F401  # noqa: F401
    ABSENT,
    ENDLESS,
    FINITE,
    WithAux,
    as_dict,
    attributes_of,
    float_type,
    lasting,
    ones,
    rebuilt,
    repeated,
    seeded,
    with_attributes,
    with_fields,
)
from s2sgrad.runtime.unseen_functions import reads_only, unreached  # noqa: F401

# --- shapes ----------------------------------------------------------------------------------------------------------


def unbroadcast(g: Any, x: Any) -> Any:
    """Bring the cotangent `g` to the shape of `x`: sum over the axes that broadcasting added or stretched, and repeat along
    axes that `g` lacks.  Raises TypeError where `x` is not a number or an array."""
    if type(g) is np.ndarray:
        if type(x) is np.ndarray and g.shape == x.shape:
            return g
        if type(x) is float or type(x) is np.float64:
            return np.add.reduce(g, axis=tuple(range(g.ndim))) if g.ndim else g
    if isinstance(x, (list, tuple)) and isinstance(g, np.ndarray) and g.shape == np.shape(x):
        return g  # NumPy converted the list to an array
    if isinstance(x, (str, bytes, list, tuple, dict, set)) or callable(x):
        raise Refusal(None, f"arithmetic on a {type(x).__name__} cannot be differentiated; it needs a number or an array")
    shape = np.shape(x)
    g = np.asarray(g) if isinstance(g, (list, tuple)) else g
    if np.shape(g) == shape:
        return _as_writable(g, x)
    _require_elements(g)
    extra = np.ndim(g) - len(shape)
    if extra > 0:
        g = np.sum(g, axis=tuple(range(extra)))
    lead = len(shape) - np.ndim(g)
    stretched = tuple(k for k, n in enumerate(np.shape(g)) if n != 1 and shape[lead + k] == 1)
    if stretched:
        g = np.sum(g, axis=stretched, keepdims=True)
    return g if np.shape(g) == shape else np.broadcast_to(g, shape)


def _as_writable(g: Any, x: Any) -> Any:
    """The cotangent of an array of no axes as an array, which may be written; any other as it is."""
    return np.asarray(g) if type(x) is np.ndarray and x.ndim == 0 else g


def _require_elements(g: Any) -> None:
    """Raise for a cotangent that is a sparse matrix where none is expected: its `*` is no product of elements."""
    if has(g, "__matmul__") and not has(g, "__array_ufunc__"):
        raise Refusal(None, "an operator of a sparse matrix has no derivative here: make the matrix in this function")


def unreduce(g: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Spread the cotangent `g` of a reduction of `x` over `axis` back over the shape of `x`."""
    return np.broadcast_to(spreading(g, x, axis, keepdims), np.shape(x))


def spreading(g: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The cotangent `g` of a reduction of `x` over `axis`, with the reduced axes of length 1: it broadcasts to `x`."""
    if not np.ndim(x):
        return np.sum(g) if np.ndim(g) else g  # SciPy keeps an axis of a number
    if axis is None or keepdims:
        return g
    shape = list(np.shape(x))
    for k in axis if isinstance(axis, (tuple, list)) else (axis,):
        shape[k] = 1
    return np.reshape(g, shape)


def sequence(x: Any) -> Any:
    """`x`, if indexing it with range(len(x)) visits the same items as `for`; a list of its items if it can be copied; else
    TypeError.  Refusal for what is read by methods of its own."""
    no_subclass_itself(x, "", None)
    if isinstance(x, (list, tuple, range, str, np.ndarray)) or has(x, "__array_ufunc__"):
        return x
    if isinstance(x, FINITE) or (has(x, "__iter__") and attributes_of(x) is None and iter(x) is not x):
        return list(x)
    way = "make it in the function that loops over it" if isinstance(x, ENDLESS) else "loop over list(...) of it"
    unordered = Refusal(None, f"a loop over a {type(x).__name__} cannot be reversed; {way}")
    raise unordered if has(x, "__iter__") else TypeError(f"'{type(x).__name__}' object is not iterable")


def emptied(x: Any) -> Any:
    """The value of a list or a dict after `x.clear()`; TypeError for anything else."""
    if isinstance(x, (list, dict)):
        return type(x)()
    raise Refusal(None, f"`clear` of a {type(x).__name__} cannot be differentiated: make a new one")


def keys(d: dict) -> list:
    """The keys that a loop over a dict visits."""
    return list(d)


# --- cotangents of any structure -------------------------------------------------------------------------------------


def zeros(v: Any) -> Any:
    """The zero cotangent of `v`, with the structure of `v`; None for leaves that are not numeric, and structured arrays.

    >>> zeros((2.0, [np.ones(2)], "name"))
    (0.0, [array([0., 0.])], None)
    """
    if type(v) is np.ndarray:
        return np.zeros(v.shape, float_type(v.dtype)) if v.dtype.names is None else None
    if isinstance(v, (np.ndarray, range)) and getattr(getattr(v, "dtype", None), "names", None) is None:
        return np.zeros(np.shape(v), float_type(getattr(v, "dtype", np.dtype(float))))
    if isinstance(v, (list, tuple, dict)):
        return rebuilt(v, zeros)
    if hasattr(type(v), "zero_cotangent"):  # not isinstance: a module saved with standalone=True has its own classes
        return v.zero_cotangent(zeros)
    held = attributes_of(v)
    if held is not None:
        return {k: zeros(item) for k, item in held.items() if item is not v}
    if isinstance(v, (float, int, np.generic)):
        return float_type(v.dtype).type(0.0) if isinstance(v, np.inexact) else 0.0
    if isinstance(v, complex):
        return 0j
    if is_sparse(v):
        library = sys.modules["scipy.sparse"]  # which made it; its arrays add to arrays, as its matrices do not
        return (library.csr_array if len(v.shape) == 2 else library.coo_array)(v.shape, dtype=float_type(v.dtype))
    return np.zeros_like(v) if has(v, "__array_ufunc__") and not is_array_of_others(type(v)) else None


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value, leaf by leaf; None is a zero.

    >>> add((1.0, None), (2.0, 3.0))
    (3.0, 3.0)
    """
    if a is None or b is None:
        return b if a is None else a
    if type(a) is type(b) is np.ndarray:
        return a + b
    if isinstance(a, dict) and isinstance(b, dict):  # a missing key is a zero
        return {k: add(a.get(k), b.get(k)) for k in {**a, **b}}
    if isinstance(a, (list, tuple, dict)) or isinstance(b, (list, tuple, dict)):
        if isinstance(a, Ungiven) or isinstance(b, Ungiven):
            return a if isinstance(a, Ungiven) else b
        if isinstance(b, (list, tuple, dict)) and not isinstance(a, (list, tuple, dict)):
            a, b = b, a
        if len(a) != len(b) and not (type(a) is list and min(len(a), len(b)) == 0):
            raise ValueError("two cotangents of one value differ in structure")
        return rebuilt(a, add, b) if len(a) == len(b) else a or b  # one belongs to a stack that is popped empty: a zero
    return a + b


def add_at(x_bar: Any, index: Any, e: Any) -> Any:
    """Add `e` (None: a zero) to `x_bar[index]`, in place where possible; return `x_bar`.  Repeated indices accumulate.

    >>> add_at(np.zeros(3), [0, 0, 2], 1.0), add_at((0.0, 0.0), 1, 5.0)
    (array([2., 0., 1.]), (0.0, 5.0))
    """
    if e is None:
        return x_bar
    if isinstance(x_bar, (list, dict, tuple)):
        items = list(x_bar) if isinstance(x_bar, tuple) else x_bar
        if isinstance(index, slice):
            places = range(len(items))[index]
            for place, item in zip(places, e, strict=True):
                items[place] = add(items[place], item)
        else:
            items[index] = add(items.get(index) if isinstance(items, dict) else items[index], e)
        if isinstance(x_bar, tuple):
            return tuple.__new__(type(x_bar), items) if has(x_bar, "_fields") else tuple(items)
        return items
    if isinstance(x_bar, np.ndarray):
        np.add.at(x_bar, index, e)
        return x_bar
    if x_bar is None:
        raise Refusal(None, "an item is read of an object that is no list, dict or array, and carries a derivative: pass "
                            "one of these")  # fmt: skip
    return x_bar + np.sum(e)  # a number was indexed: x[()], x[None]


def projected(x_bar: Any, x: Any) -> Any:
    """The cotangent, or the tangent, `x_bar` of `x`: its real part where `x` is real, item by item.

    >>> projected(1j + 2.0, 1.0), projected((1j, 2j), (1.0, 1j)), projected(1j, 1j)
    (2.0, (0.0, 2j), 1j)
    """
    if isinstance(x_bar, (list, tuple, dict)):
        parts = attributes_of(x) or x
        if not isinstance(parts, (list, tuple, dict)) or len(parts) != len(x_bar):
            return x_bar
        if isinstance(parts, dict) and isinstance(x_bar, dict):
            if parts.keys() != x_bar.keys():
                return x_bar
        elif isinstance(parts, dict) or isinstance(x_bar, dict):
            return x_bar
        return rebuilt(x_bar, projected, parts)
    if not isinstance(x_bar, (complex, np.ndarray, np.generic)) or not np.iscomplexobj(x_bar):
        return x_bar
    return x_bar.real if isinstance(x, (float, int, np.ndarray, np.generic)) and not np.iscomplexobj(x) else x_bar


def widened(x_bar: Any, x: Any) -> Any:
    """A copy of the cotangent of `x` that holds complex numbers where `x` does; a list where `x` is one.

    >>> widened(np.ones(2), np.array([1j, 2.0]))
    array([1.+0.j, 1.+0.j])
    >>> widened(np.ones((2, 1)), [np.array([1j]), np.array([2.0])])
    [array([1.+0.j]), array([1.])]
    """
    if isinstance(x_bar, np.ndarray) and isinstance(x, list):
        x_bar = list(x_bar)
    if isinstance(x_bar, (list, tuple)) and isinstance(x, (list, tuple)) and len(x) == len(x_bar):
        return rebuilt(x_bar, widened, x)
    if isinstance(x_bar, dict) and isinstance(x, dict):
        return {k: widened(item, x.get(k)) for k, item in x_bar.items()}
    return own(wide(x_bar, x))


def wide(x_dot: Any, x: Any) -> Any:
    """The tangent of `x`, or a copy of it that holds complex numbers where `x` does."""
    narrow = isinstance(x_dot, np.ndarray) and np.iscomplexobj(x) and not np.iscomplexobj(x_dot)
    return x_dot.astype(np.result_type(x_dot, x)) if narrow else x_dot


def own(x_bar: Any) -> Any:
    """A deep copy of the cotangent, without aliases, that `add_at` may write."""
    if isinstance(x_bar, (list, tuple, dict)):
        return rebuilt(x_bar, own)
    held = attributes_of(x_bar)
    if held is not None:  # an argument whose attributes are written
        copy = object.__new__(type(x_bar))
        for k, item in held.items():
            object.__setattr__(copy, k, own(item))
        return copy
    return x_bar.copy() if isinstance(x_bar, np.ndarray) else x_bar


def like(x: Any, x_bar: Any) -> Any:
    """The gradient for the argument `x`: with its structure, shape and dtype, in memory of its own.

    Raises KeyError where `x_bar` has a nonzero cotangent for a key that the dict `x` lacks: reading it is an error.
    """
    if type(x) is type(x_bar) is np.ndarray and x.shape == x_bar.shape and x.dtype == x_bar.dtype and x.dtype.kind == "f":
        return np.array(x_bar)
    if type(x) is dict and isinstance(x_bar, dict):
        for key in x_bar.keys() - x.keys():
            if np.any(_numbers(x_bar[key])):
                raise KeyError(key)
    if isinstance(x, (list, tuple, dict)):
        return rebuilt(x, lambda item: like(item, None)) if x_bar is None else rebuilt(x, like, x_bar)
    held = attributes_of(x)
    if held is not None:
        if isinstance(x_bar, Ungiven):
            x_bar.refuse()
        bars = x_bar if x_bar is None or isinstance(x_bar, dict) else attributes_of(x_bar)
        return with_attributes(x, {k: like(item, (bars or {}).get(k)) for k, item in held.items()})
    if x_bar is None:
        return zeros(x)
    return _leaf_like(x, x_bar)


def _leaf_like(x: Any, x_bar: Any) -> Any:
    """The same for a number or an array."""
    if isinstance(x_bar, (complex, np.complexfloating)) or (isinstance(x_bar, np.ndarray) and x_bar.dtype.kind == "c"):
        x_bar = projected(x_bar, x)
    if isinstance(x, np.ndarray):
        return np.array(np.broadcast_to(x_bar, x.shape), dtype=float_type(x.dtype))
    if isinstance(x, np.inexact):
        return x.dtype.type(x_bar)
    if isinstance(x, complex):
        return complex(x_bar)
    return np.float64(x_bar) if type(x) is float and isinstance(x_bar, (np.floating, np.ndarray)) else x_bar


def _numbers(x_bar: Any) -> list[Any]:
    """Whether the leaves of a cotangent are nonzero, as a flat list."""
    parts = x_bar.values() if isinstance(x_bar, dict) else x_bar if isinstance(x_bar, (list, tuple)) else None
    return [np.any(x_bar)] if parts is None else [n for part in parts for n in _numbers(part)]


def seed_like(y: Any, seed: Any = None) -> Any:
    """The incoming cotangent of the result `y`: ones with the structure of `y` if `seed` is None, else `seed`, checked.

    Raises ValueError where the structure or shape of `seed` differs from that of `y`, TypeError where `y` has no floats.
    """
    if what := without_floats(y, numbers=True):
        raise NoResult(what)
    if seed is None and holds_complex(y):
        raise ComplexResult
    return ones(y) if seed is None else seeded(y, seed)


def holomorphic_seed(y: Any, seed: Any = None) -> Any:
    """The same for a holomorphic function, whose result may be complex: with ones the gradient is its derivative."""
    return ones(y) if seed is None else seeded(y, seed)


def conjugated(x_bar: Any) -> Any:
    """The conjugate of a cotangent, item by item.

    >>> conjugated([1j, {"a": 2.0}])
    [-1j, {'a': 2.0}]
    """
    if isinstance(x_bar, (list, tuple, dict)):
        return rebuilt(x_bar, conjugated)
    if isinstance(x_bar, complex) and type(x_bar) is complex:
        return x_bar.conjugate()
    held = attributes_of(x_bar)
    if held is not None:
        return with_attributes(x_bar, {k: conjugated(item) for k, item in held.items()})
    return np.conj(x_bar) if isinstance(x_bar, (np.ndarray, np.complexfloating)) else x_bar


def stop_gradient(x: Any) -> Any:
    """The same value, through which no gradient flows; arrays are copied."""
    return rebuilt(x, stop_gradient) if isinstance(x, (list, tuple, dict)) else x.copy() if isinstance(x, np.ndarray) else x


# --- records ---------------------------------------------------------------------------------------------------------


def push(stack: list, x: Any) -> None:
    """Push `x` on a stack of records; arrays, sparse ones too, are copied because they may be overwritten later."""
    stack.append(x.copy() if isinstance(x, np.ndarray) or is_sparse(x) else x)


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse array, which `*=` changes in place: SciPy need not be there.

    >>> is_sparse(np.ones(2)), is_sparse(2.0)
    (False, False)
    """
    return has(x, "tocsr") and not has(x, "__array_ufunc__")


def restored(x: Any, old: Any) -> Any:
    """The value of a variable before `x += e`: an array gets its old content back in place, a number is rebound."""
    if not (isinstance(x, np.ndarray) and isinstance(old, np.ndarray)):  # `x += e` rebound the name
        return old
    np.copyto(x, old)
    return x


def held(d: Any, key: Any, copied: bool = True) -> Any:
    """The value that `d[key] = ..` overwrites, to be recorded for `put_back`; ABSENT if the key is missing.  Refusal where
    `d` is an object whose class says what the store does."""
    if not isinstance(d, (dict, list, deque, np.ndarray)) and not hasattr(type(d), "__array_ufunc__"):
        raise Refusal(None, f"an item of an object of `{type(d).__name__}` is written, which cannot be followed: use a "
                            "dict, or pass what is stored to a method")  # fmt: skip
    found = ABSENT if isinstance(d, dict) and key not in d else d[key]
    return own(found) if copied and found is not ABSENT else found


def put_back(d: Any, key: Any, old: Any) -> Any:
    """Undo `d[key] = ..`: restore the recorded value, or remove the key if it was absent; return `d`."""
    if old is ABSENT:
        d.pop(key, None)
    else:
        d[key] = old
    return d


_SHOWING = frozenset({"keys", "values", "items", "__iter__", "__getitem__"})


def keys_of(d: Any) -> list:
    """The keys of a dict in order; TypeError for anything else, and for a subclass that overrides how a dict is read."""
    if isinstance(d, dict) and not is_special(type(d), _SHOWING):
        return list(d)
    raise Refusal(None, f"a loop over the items of a {d.__class__.__name__} cannot be reversed: pass a dict")


# --- calls of functions that are not known when the text is written --------------------------------------------------


class Pullback:
    """The linear map from the cotangent of a result to the cotangents of the arguments, as data; it may be called
    repeatedly.

    `bwd(saved, y_bar)` gives the cotangents of the arguments at `places` (a single one bare; a tuple of places: a tuple);
    `rest` holds the zeros of all arguments.  A pullback that is handed to the user has `like`, the zeros of the result: it
    checks its cotangent and returns arrays in memory of their own.
    """

    __slots__ = ("__weakref__", "_bwd", "like", "places", "rest", "saved")

    def __init__(self, bwd: Callable[..., Any], saved: Any, places: tuple, rest: tuple, like: Any = None) -> None:
        self._bwd = bwd
        self.saved = saved
        self.places = places
        self.rest = rest
        self.like = like

    @property
    def bwd(self) -> Callable[..., Any]:
        """The adjoint; after unpickling it is compiled on first use."""
        if isinstance(self._bwd, tuple):
            self._bwd = hook("found")(self._bwd)
        return self._bwd

    def __call__(self, /, *bars: Any) -> tuple:
        try:
            y_bar = self.cotangent(bars)
            out = spread(self, self.bwd(refilled(self.saved, self.bwd), y_bar)) if self.places else self.rest
            return out if self.like is None else tuple(map(like, self.rest, out))
        except Exception as error:
            __tracebackhide__ = True
            error = hook("located")(error)
            behind = error.__traceback__
            try:
                raise error
            except Exception:
                hook("leaving")(error, error, behind)
                raise  # which adds no frame

    def cotangent(self, bars: tuple) -> Any:
        """The single cotangent of a call, checked if the user made the call."""
        if len(bars) != 1:
            raise TypeError(f"a pullback takes one cotangent, of the structure of the value, and not {len(bars)}")
        if isinstance(self.like, WithAux):
            return seeded(self.like.value, bars[0]), self.like.aux
        return bars[0] if self.like is None else seeded(self.like, bars[0])

    def zero_cotangent(self, zeros: Callable[[Any], Any]) -> Any:
        """The zero cotangent of a pullback: that of its record."""
        return zeros(self.saved)

    def __reduce__(self) -> tuple:
        way = self._bwd if isinstance(self._bwd, tuple) else hook("way")(self._bwd)
        return Pullback, (way, self.saved, self.places, self.rest, self.like)

    def __copy__(self) -> Pullback:
        return Pullback(self._bwd, self.saved, self.places, self.rest, self.like)

    def __deepcopy__(self, memo: dict[int, Any]) -> Pullback:
        return Pullback(self._bwd, copy.deepcopy(self.saved, memo), self.places, self.rest, self.like)

    def __repr__(self) -> str:
        return f"Pullback({its(self.bwd, '__name__', self.bwd)})"


def jvp(f: Callable[..., Any], primals: tuple, tangents: tuple, /, **keywords: Any) -> tuple[Any, Any]:
    """Run `f` once; return its value and its tangent, given tangents of the primals (None: zero)."""
    out: tuple[Any, Any] = hook("tangent")(f, primals, tangents, keywords)
    no_subclass(out[0], "", None)
    return out


OWN_RECORDS.update((Pullback, Closure))


def vjp(f: Callable[..., Any], /, *primals: Any, **keywords: Any) -> tuple[Any, Pullback]:
    """Run `f` once; return its value and the pullback, which gives one cotangent per positional argument.

    >>> from s2sgrad import vjp
    >>> y, pullback = vjp(np.multiply, 2.0, 3.0)
    >>> float(y), pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    if f is call and keywords:
        primals, keywords = by_name(primals, keywords)
    if f is call and type(primals[0]) is Closure and not is_called_otherwise(primals[0], len(primals) - 1, keywords):
        out: tuple[Any, Pullback] = hook("called")(*primals)
        no_subclass(out[0], "", None)
        return out
    fwd, bwd, places, lead, keywords = hook("derivative")(f, primals, keywords)
    y, saved = fwd(*lead, *primals, **keywords)
    no_subclass(y, "", None)
    return y, Pullback(bwd, saved, places, tuple(zeros(p) for p in primals))
