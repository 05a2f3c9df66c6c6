"""The operators of numbers: Python's own on the values, and the slopes on the record.

    z = x * y      ->      entry (pull_product, node of x, node of y, x, y); x_bar += z_bar * y; y_bar += z_bar * x

Values are those of the plain program, down to their types and exceptions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.recorded.applying import apply, as_scalar, innermost, of_number, of_numbers
from s2sgrad.recorded.guests import number, operand
from s2sgrad.recorded.values import (
    COMPLEX,
    FLOATS,
    REALS,
    Array,
    Handle,
    Number,
    bottom,
    enter,
    is_complex,
    is_handle,
    plain,
    settled,
)
from s2sgrad.runtime.subclasses import NUMBERS

_NUMBERS = FLOATS | {int, bool, np.int64, np.int32, np.bool_}
_NONE: dict[str, Any] = {}
_USUAL = _NUMBERS | {np.ndarray}
_KNOWN = (int, float, complex, np.ndarray, np.generic, list, tuple)

# --- slopes: each gives the operands of an entry (pull, node, node, x, y) their cotangents -----------------------------


def _gives(nodes: list[Any], node: int | None, bar: Any) -> None:
    if node is not None:
        old = nodes[node]
        nodes[node] = bar if old is None else old + bar


def pull_sum(sweep: Any, place: int, entry: tuple) -> None:
    """Of `x + y`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _gives(nodes, entry[1], g)
        _gives(nodes, entry[2], g)


def pull_difference(sweep: Any, place: int, entry: tuple) -> None:
    """Of `x - y`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _gives(nodes, entry[1], g)
        if entry[2] is not None:
            _gives(nodes, entry[2], -g)


def pull_product(sweep: Any, place: int, entry: tuple) -> None:
    """Of `x * y`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _, a, b, x, y = entry
        if a is not None:
            old = nodes[a]
            nodes[a] = g * y if old is None else old + g * y
        if b is not None:
            old = nodes[b]
            nodes[b] = g * x if old is None else old + g * x


def pull_quotient(sweep: Any, place: int, entry: tuple) -> None:
    """Of `x / y`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _, a, b, x, y = entry
        share = g / y
        _gives(nodes, a, share)
        if b is not None:
            _gives(nodes, b, -share * (x / y))


def pull_remainder(sweep: Any, place: int, entry: tuple) -> None:
    """Of `x % y`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _, a, b, x, y = entry
        _gives(nodes, a, g)
        if b is not None:
            _gives(nodes, b, -g * (x // y))


def pull_negative(sweep: Any, place: int, entry: tuple) -> None:
    """Of `-x`."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _gives(nodes, entry[1], -g)


def pull_power(sweep: Any, place: int, entry: tuple) -> None:
    """Of an exponent that is an integer above 1."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _, a, _, x, n = entry
        _gives(nodes, a, g * (n * as_scalar(x) ** (n - 1)))


# --- operators ---------------------------------------------------------------------------------------------------------


def _operators(name: str, symbol: Callable[[Any, Any], Any], ufunc: np.ufunc, pull: Any) -> tuple[Any, Any]:
    """`a op b` and `b op a` of a number `a`; `name` is that of the operator."""

    def either(a: Number, b: Any, first: bool) -> Any:
        kind = type(b)
        if kind is not Number and kind not in _NUMBERS:
            b = _operand(a, b, name, not first)
            kind = type(b)
            if kind not in _NUMBERS:
                return _unlike(ufunc, a, b, first)
        if a.run.complex or kind in COMPLEX:
            return apply(ufunc, (a, b) if first else (b, a), _NONE, symbol)
        run = innermost([a, b] if kind is Number else [a])
        if run is None or not a.run.open or (kind is Number and not b.run.open):
            a, b = settled(a), settled(b) if kind is Number else b
            return symbol(a, b) if first else symbol(b, a)
        x, m = (a.value, a.node) if a.run is run else (a, None)
        y, n = (b.value, b.node) if kind is Number and b.run is run else (b, None)
        if not first:
            x, y, m, n = y, x, n, m
        z = symbol(x, y)
        if type(z) is not Number and type(z) not in FLOATS:
            return z
        entries = run.entries
        made = Number(z, len(entries), run)
        entries.append((pull, m, n, x, y))
        return made

    def left(a: Number, b: Any) -> Any:
        if type(b) is Number and b.run is a.run and a.run.open and not a.run.complex:  # the usual case
            x, y = a.value, b.value
            z = symbol(x, y)
            run = a.run
            entries = run.entries
            made = Number(z, len(entries), run)
            entries.append((pull, a.node, b.node, x, y))
            return made
        return either(a, b, True)

    def right(a: Number, b: Any) -> Any:
        return either(a, b, False)

    return left, right


def _unlike(ufunc: np.ufunc, a: Number, b: Any, first: bool) -> Any:
    """A number and what is none: an array, or a list that NumPy makes one of for a number of its own."""
    if b is NotImplemented:
        return b
    if isinstance(b, (list, tuple)):
        if type(bottom(a)) is float:
            return NotImplemented
        b = apply(np.array, (b,))
    return apply(ufunc, (as_scalar(a), b) if first else (b, as_scalar(a)))


def _power(a: Any, b: Any) -> Any:
    if type(a) is Number and type(b) is int and b > 1 and a.run.open and not a.run.complex:
        run = a.run
        z = a.value**b
        if type(z) is Number or type(z) in FLOATS:
            made = Number(z, len(run.entries), run)
            run.entries.append((pull_power, a.node, None, a.value, b))
            return made
    elif type(a) is Number and type(b) is float and a.run.open and not a.run.level:
        z = a.value**b
        if type(z) in REALS:
            return of_numbers(a.run, np.power, (a, as_scalar(b)), z)
    a, b = _operand(b, a, "pow", True), _operand(a, b, "pow")
    if a is NotImplemented or b is NotImplemented:
        return NotImplemented
    a, b = (_settled(v) for v in (a, b))
    if not isinstance(bottom(a), np.ndarray) and not isinstance(bottom(b), np.ndarray):
        value = plain(a) ** plain(b)  # of the type that Python gives it, or what it raises
        if type(value) is complex and not is_complex(a):  # of a negative number
            a = apply(complex, (a, 0.0))
        return apply(np.power, (as_scalar(a), as_scalar(b)), run_by=_power_of(type(value)))
    return apply(np.power, (_array(a), _array(b)))


def _power_of(kind: type) -> Any:
    """The power of two numbers, computed by Python where they are Python's."""
    if kind is complex:
        return lambda x, y: complex(x) ** complex(y)
    return (lambda x, y: float(x) ** float(y)) if kind is float else operator.pow


def _settled(v: Any) -> Any:
    return settled(v) if (type(v) is Number or type(v) is Array) and not v.run.open else v


def _array(v: Any) -> Any:
    return apply(np.array, (v,)) if isinstance(v, (list, tuple)) else v


def _flat(name: str, symbol: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator without a derivative."""

    def left(a: Handle, b: Any) -> Any:
        b = _operand(a, b, name)
        return b if b is NotImplemented else symbol(bottom(a), plain(b))

    def right(a: Handle, b: Any) -> Any:
        b = _operand(a, b, name, True)
        return b if b is NotImplemented else symbol(plain(b), bottom(a))

    return left, right


def _operand(a: Any, b: Any, name: str, reflected: bool = False) -> Any:
    """What the operator `name` takes `b` for, beside `a`, before which it was asked if it is `reflected`."""
    if type(b) in _USUAL or is_handle(b):
        return b
    if isinstance(b, NUMBERS):
        return number(bottom(a), b, "" if reflected else f"__r{name}__")
    of_a_class = isinstance(b, (list, tuple)) and type(b) not in (list, tuple)
    return operand(a, b, reflected) if of_a_class or not isinstance(b, _KNOWN) else b


def _compared(name: str, symbol: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(a: Handle, b: Any) -> Any:
        b = b if isinstance(b, NUMBERS) else _operand(a, b, name)
        return b if b is NotImplemented else symbol(bottom(a), plain(b))

    return compare


def _negative(a: Number) -> Any:
    run = a.run
    if not run.open:
        return -settled(a)
    made = Number(-a.value, len(run.entries), run)
    run.entries.append((pull_negative, a.node, None, a.value, None))
    return made


def _divided(a: Any, b: Any) -> Any:
    b = _operand(a, b, "divmod")
    return b if b is NotImplemented else (a // b, a % b)


def _array_operators(name: str, ufunc: np.ufunc) -> tuple[Any, Any]:
    def left(a: Array, b: Any) -> Any:
        if type(b) is Array or type(b) in _USUAL:
            return apply(ufunc, (a, b))
        b = _array(_operand(a, b, name))
        return b if b is NotImplemented else apply(ufunc, (a, b))

    def right(a: Array, b: Any) -> Any:
        if type(b) in _USUAL:
            return apply(ufunc, (b, a))
        b = _array(_operand(a, b, name, True))
        return b if b is NotImplemented else apply(ufunc, (b, a))

    return left, right


_SYMBOLS: list[tuple[str, Any, np.ufunc, Any]] = [
    ("add", operator.add, np.add, pull_sum),
    ("sub", operator.sub, np.subtract, pull_difference),
    ("mul", operator.mul, np.multiply, pull_product),
    ("truediv", operator.truediv, np.divide, pull_quotient),
    ("mod", operator.mod, np.remainder, pull_remainder),
]
OF_ARRAYS = {
    **{name: ufunc for name, _, ufunc, _ in _SYMBOLS},
    "pow": np.power,
    "floordiv": np.floor_divide,
    "matmul": np.matmul,
}


def install() -> None:
    """Give handles their operators."""
    for name, symbol, ufunc, pull in _SYMBOLS:
        left, right = _operators(name, symbol, ufunc, pull)
        setattr(Number, f"__{name}__", left)
        setattr(Number, f"__r{name}__", right)
    floordiv, rfloordiv = _flat("floordiv", operator.floordiv)
    enter(
        Number,
        __pow__=lambda a, b: _power(a, b),
        __rpow__=lambda a, b: _power(b, a),
        __floordiv__=floordiv,
        __rfloordiv__=rfloordiv,
        __neg__=_negative,
        __pos__=lambda a: a,
        __abs__=lambda a: of_number(np.absolute, a, abs),
    )
    for name, ufunc in OF_ARRAYS.items():
        left, right = _array_operators(name, ufunc)
        setattr(Array, f"__{name}__", left)
        setattr(Array, f"__r{name}__", right)
    enter(
        Array,
        __neg__=lambda a: apply(np.negative, (a,)),
        __pos__=lambda a: apply(np.positive, (a,)),
        __abs__=lambda a: apply(np.absolute, (a,)),
    )
    for symbol in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        setattr(Handle, f"__{symbol.__name__}__", _compared(symbol.__name__, symbol))
    enter(Handle, __divmod__=_divided, __rdivmod__=lambda a, b: _divided(b, a))
