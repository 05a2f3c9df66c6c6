"""`Array`: a NumPy array or number with an identity, so that a tape can follow it; and how functions are applied to it.

x = constant([1.0, 2.0]); y = np.sum(x * x)      ->      apply(np.multiply, (x, x)), apply(np.sum, (y,))
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad import (
    rules,  # noqa: F401  (fills the table)
)
from s2sgrad.primitives import catalogue, spellings
from s2sgrad.recorded.applying import METHODS
from s2sgrad.recorded.patterns import Kept, known
from s2sgrad.recorded.runs import Root
from s2sgrad.recorded.values import FLOATS, PLAIN, is_handle
from s2sgrad.rules.selections import picked
from s2sgrad.runtime.structure import leaves, rebuilt
from s2sgrad.tape import leaks
from s2sgrad.tape.handed import refuse
from s2sgrad.tape.primitives import entry, entry_of, meant
from s2sgrad.tape.recording import STATE, numbers, tracked
from s2sgrad.tape.values import Operand, opened

_HOLDING = (Operand, list, tuple, dict)
_OPERANDS = (Operand, np.ndarray, np.generic, int, float, complex, list, tuple)
_NO_KEYWORDS: dict[str, Any] = {}
_LOCK = threading.Lock()


# --- applying --------------------------------------------------------------------------------------------------------


def apply(primitive: Any, args: tuple, keywords: dict[str, Any] = _NO_KEYWORDS) -> Any:
    """`primitive(*args, **keywords)` on Arrays, Variables and plain values; each tape that follows an operand records it."""
    operands: list[Any] = []
    recorded, plain = [], []
    for a in args:
        kind = type(a)
        mine, value = (a, a) if kind in PLAIN else opened(a, operands)
        recorded.append(mine)
        plain.append(value)
    named = {k: opened(v, operands) for k, v in keywords.items()} if keywords else keywords
    y = METHODS.get(primitive, primitive)(*plain, **{k: value for k, (_, value) in named.items()})
    if type(y) not in FLOATS:
        leaks.require_seen(y, operands)
        if isinstance(y, _HOLDING):
            _require_unfollowed(primitive, y)
    result = wrapped(y, plain)
    if STATE.inside is not None:
        STATE.inside.extend(a for a in operands if tracked(a.uid))
    if tapes := STATE.tapes:
        tapes = [t for t in tapes if t.everything or any(a.uid in t.live for a in operands)]
        if tapes:
            _enter(tapes, primitive, recorded, {k: mine for k, (mine, _) in named.items()}, operands, result)
    return result


def _enter(
    tapes: list[Any], primitive: Any, args: list[Any], keywords: dict[str, Any], operands: list[Array], result: Any
) -> None:
    """Enter a call on tapes, if it has a derivative, and one is not known to be zero."""
    made = [result] if type(result) is Array else list(arrays(result))
    about = known(meant(primitive, args, keywords), any(a._value.dtype.kind == "c" for a in (*operands, *made)))
    if made and (about.rule is not None or not about.flat):
        for tape in tapes:
            tape.add(operands, made, functools.partial(entry, about, args, keywords, result))


def _require_unfollowed(primitive: Any, y: Any) -> None:
    """Raise TypeError if a result that was computed of plain arguments holds an Array that a tape follows."""
    if any(tracked(a.uid) for a in arrays(y)):
        refuse(getattr(primitive, "__name__", "this"), "what its result is made of")


def note(record: Any, operands: list[Any], found: list[Array], result: Any) -> None:
    """Enter a call with a pullback of its own on all tapes; `operands`: what it was called with, `found`: Arrays in that."""
    made = list(arrays(result))
    for tape in STATE.tapes:
        tape.add(found, made, functools.partial(entry_of, record, operands, result))


def wrapped(y: Any, arguments: Any = ()) -> Any:
    """A result with its floats as Arrays; everything else stays plain.  Memory that a plain argument owns is copied."""
    if is_handle(y):
        return y
    if isinstance(y, np.ndarray):
        if type(y) is not np.ndarray and isinstance(y, (np.matrix, np.ma.MaskedArray)):
            raise TypeError(f"operators of a {type(y).__name__} mean something else than an ndarray's: pass an ndarray")
        plain = [a for a in arguments if isinstance(a, np.ndarray) and a.flags.writeable and y.dtype.kind in "fc"]
        if any(a is y or (y.base is not None and np.may_share_memory(a, y)) for a in plain):
            y = y.copy()
        return Array.of(y) if y.dtype.kind in "fc" else y
    if isinstance(y, (float, complex, np.inexact)):
        return Array.of(y if isinstance(y, np.generic) else np.asarray(y)[()])
    if isinstance(y, (tuple, list, dict)):
        return rebuilt(y, lambda item: wrapped(item, arguments))
    return y


def arrays(value: Any) -> Iterator[Array]:
    """The Arrays in nested lists, tuples and dicts."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from arrays(item)


def called(primitive: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A call that NumPy dispatches to an Array; TypeError if it writes an argument."""
    leaks.require_no_write(primitive, args, keywords)
    if isinstance(primitive, np.ufunc):
        args = tuple(numeric(a) for a in args)
    return apply(primitive, args, keywords)


def numeric(a: Any) -> Any:
    """A list or tuple as the array that a ufunc would make of it, because rules expect arrays; anything else unchanged."""
    if not isinstance(a, (list, tuple)):
        return a
    followed = any(isinstance(leaf, Operand) for leaf in leaves(a))
    return apply(np.stack, ([numeric(item) for item in a],)) if followed else np.asarray(a)


def _operators(ufunc: np.ufunc) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """`a op b` and `b op a`; NotImplemented for operands of unknown types."""

    def left(a: Any, b: Any) -> Any:
        return apply(ufunc, (a, numeric(b))) if isinstance(b, _OPERANDS) else NotImplemented

    def right(a: Any, b: Any) -> Any:
        return apply(ufunc, (numeric(b), a)) if isinstance(b, _OPERANDS) else NotImplemented

    return left, right


def _operator(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """`op a`."""
    return lambda a: apply(ufunc, (a,))


def _leaving(into: type) -> Callable[[Any], Any]:
    """`into(x)`: the number leaves the tape."""
    return lambda x: into(leaks.leaving(x._read(), f"{into.__name__}()"))


def _asked(question: Callable[..., Any]) -> Callable[..., Any]:
    """What is asked of the value."""
    return lambda x, *given: question(x._read()._value, *given)


# --- operators of Arrays and Variables ------------------------------------------------------------------------------------


class NumericOperand(Operand):
    """NumPy's operators, methods and attributes, differentiated by the rule table."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # `==` is elementwise, as in NumPy: use id(x) as a key

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return called(ufunc if method == "__call__" else getattr(ufunc, method), inputs, keywords)

    def __array_function__(self, function: Any, types: Any, args: tuple, keywords: dict[str, Any]) -> Any:
        return called(function, args, keywords)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        x = self._read()
        leaks.require_free(x)
        return np.array(x._value, dtype)

    def numpy(self) -> Any:
        """A copy of the value as an ndarray, without a gradient.

        >>> constant([1.0, 2.0]).numpy()
        array([1., 2.])
        """
        value = self._read()._value
        return value.copy() if isinstance(value, np.ndarray) else value

    # numbers

    __float__, __int__, __complex__ = _leaving(float), _leaving(int), _leaving(complex)
    __bool__, __index__, __len__ = _asked(bool), _asked(operator.index), _asked(len)

    def item(self, *index: Any) -> Any:
        """The element of an array of size one, as a Python number."""
        return leaks.leaving(self._read(), "item()").item(*index)

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self.__array__().tolist()

    # printing and containers

    def __repr__(self) -> str:
        value = self._read()._value
        shown = repr(value)[6:-1] if isinstance(value, np.ndarray) else str(value)
        short = isinstance(value, np.ndarray) or value.dtype in (float, int, bool, complex)
        return f"{type(self).__name__}({shown})" if short else f"{type(self).__name__}({shown}, dtype={value.dtype})"

    __str__, __format__ = _asked(str), _asked(format)

    def __iter__(self) -> Iterator[Any]:
        x = self._read()
        if x._value.ndim == 0:
            raise TypeError(f"iteration over a 0-d {type(self).__name__}")
        return (x[k] for k in range(len(x._value)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *spellings.METHODS, *spellings.ATTRIBUTES, *spellings.FLAT_ATTRIBUTES})

    def __getattr__(self, name: str) -> Any:
        primitive = spellings.METHODS.get(name)
        if primitive is not None:
            return functools.partial(_method, self, name, primitive)
        if name in spellings.FLAT_ATTRIBUTES:
            return getattr(self._read()._value, name)
        if spellings.ATTRIBUTES.get(name) is not None:
            return apply(spellings.ATTRIBUTES[name], (self,))
        if name == np.imag.__name__:
            return apply(np.imag, (self,))
        if catalogue.of(getattr(np.ndarray, name, None)).writes:
            raise TypeError(f"`{name}` writes in place, and {leaks.STORE}")
        kind = "an Array" if isinstance(self, Array) else f"a {type(self).__name__}"
        raise AttributeError(f"{kind} has no attribute {name!r}: use a function of NumPy, or `.numpy()`")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(leaks.STORE)

    def __getitem__(self, index: Any) -> Any:
        return apply(picked, (self,), {"index": index})

    # operators

    __add__, __radd__ = _operators(np.add)
    __sub__, __rsub__ = _operators(np.subtract)
    __mul__, __rmul__ = _operators(np.multiply)
    __truediv__, __rtruediv__ = _operators(np.divide)
    __floordiv__, __rfloordiv__ = _operators(np.floor_divide)
    __mod__, __rmod__ = _operators(np.remainder)
    __divmod__, __rdivmod__ = _operators(np.divmod)
    __pow__, __rpow__ = _operators(np.power)
    __matmul__, __rmatmul__ = _operators(np.matmul)
    __eq__, __ne__ = _operators(np.equal)[0], _operators(np.not_equal)[0]
    __lt__, __gt__ = _operators(np.less)[0], _operators(np.greater)[0]
    __le__, __ge__ = _operators(np.less_equal)[0], _operators(np.greater_equal)[0]
    __neg__, __pos__ = _operator(np.negative), _operator(np.positive)
    __abs__, __invert__ = _operator(np.absolute), _operator(np.invert)

    def __round__(self, digits: int | None = None) -> Any:
        return apply(np.round, (self, digits or 0))


def _method(x: NumericOperand, name: str, primitive: Any, *args: Any, **keywords: Any) -> Any:
    """A method call such as `x.sum(axis=0)`, as the call `np.sum(x, axis=0)`."""
    if name in spellings.VARIADIC and args:
        return apply(primitive, (x, args[0] if len(args) == 1 else args), keywords)
    if keywords.get("out") is not None:
        raise TypeError(f"`out=` of `{name}` cannot hold an Array: leave it out")
    return apply(primitive, (x, *args), keywords)


class Array(NumericOperand):
    """A NumPy array or number with an identity, which a tape can follow.  It is immutable.

    Arrays are created by `constant`, by reading a Variable, and by every operation on Arrays.  NumPy's functions, operators
    and methods accept them like ndarrays and return Arrays; comparisons, and results of ints or bools, are plain.
    """

    __slots__ = ("__weakref__", "_kept", "_value", "uid")

    def __init__(self, value: Any, dtype: Any = None) -> None:
        array = np.array(value, dtype)
        if array.dtype.kind not in "fiubc":
            raise TypeError(f"an Array holds numbers, not {array.dtype}")
        self._hold(array[()])

    def _hold(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            if value.ndim:
                value.flags.writeable = False
            else:
                value = value[()]
        self._value = value
        self.uid = next(numbers)
        self._kept: Kept | None = None

    def keep(self) -> Kept:
        """The value for entries: one for all, as cotangents are found by it."""
        if self._kept is None:
            with _LOCK:
                if self._kept is None:
                    value = self._value
                    self._kept = Kept(value, self.uid, Root(value) if isinstance(value, np.ndarray) else None, True)
        return self._kept

    @classmethod
    def again(cls, kept: Kept) -> Array:
        """The Array of an entry."""
        array = object.__new__(cls)
        array._value, array.uid, array._kept = kept.value, kept.node, kept if kept.followed else None
        return array

    @classmethod
    def of(cls, value: Any) -> Array:
        """An Array over this memory, without a copy; nobody may write it any more."""
        array = object.__new__(cls)
        array._hold(value)
        return array

    def _read(self) -> Array:
        """The Array itself."""
        return self

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self

    def __reduce__(self) -> tuple:
        return constant, (self._value,)


def constant(value: Any, dtype: Any = None) -> Array:
    """An Array with the value of a number, an array or nested lists; the value is copied.

    `dtype`: a NumPy dtype, by default that of `value`.  Raises TypeError for anything but numbers.  An Array is returned
    unchanged, and a Variable is read (and converted to `dtype`), so a tape keeps following them; to cut a gradient use
    `stop_gradient`.

    >>> constant(3.0), constant([1, 2], dtype=np.float32)
    (Array(3.0), Array([1., 2.], dtype=float32))
    """
    if isinstance(value, Operand):
        value = value._read()
        return value if dtype is None or value._value.dtype == dtype else _converted(value, dtype)
    return Array(value, dtype)


def _converted(value: Array, dtype: Any) -> Array:
    """An Array with another dtype; the conversion is recorded if the dtype has gradients."""
    if np.dtype(dtype).kind in "fc":
        out: Array = apply(np.ndarray.astype, (value, dtype))
        return out
    return Array(value._value, dtype)  # ints have no gradient
