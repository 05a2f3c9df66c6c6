"""What a lowered text calls for single numbers: NumPy's functions, and helpers of generated text on one number.

They run as they are; numba gets the same text, and the functions of `math` for those of NumPy.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from s2sgrad.rules.linalg import WELL

exp, expm1, log, log1p, log2, log10 = np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10
sin, cos, tan, arcsin, arccos, arctan, arctan2 = np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2
sinh, cosh, tanh, arcsinh, arccosh, arctanh = np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh
sqrt, floor, ceil, hypot, power = np.sqrt, np.floor, np.ceil, np.hypot, np.power


prange = range  # in several threads, under numba


def plus(a: Any, b: Any) -> Any:
    """`a + b` in a sum, whose order a compiler may choose."""
    return a + b


def maximum(a: Any, b: Any) -> Any:
    """The larger one, of two zeros the second one, as NumPy's vectors have it on most machines; nan if one is."""
    return a if a > b or a != a else b


def minimum(a: Any, b: Any) -> Any:
    """The smaller one, of two zeros the second one; nan if one is."""
    return a if a < b or a != a else b


def largest(a: Any, b: Any) -> Any:
    """The larger one of many, whose order a compiler may choose; nan if one is."""
    return maximum(a, b)


def least(a: Any, b: Any) -> Any:
    """The smaller one of many, whose order a compiler may choose; nan if one is."""
    return minimum(a, b)


def squared(x: Any) -> Any:
    """`x * x`."""
    return x * x


def is_nan(x: Any) -> Any:
    """Whether a number is nan."""
    return x != x


def is_finite(x: Any) -> Any:
    """Whether a number is neither nan nor infinite."""
    return x - x == 0.0


def sign(x: Any) -> Any:
    """-1, 0, 1 or nan."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x * 0.0 if x != x else 0.0)


def as_array(x: Any, dtype: Any, rank: Any) -> Any:
    """What a library returned, which is to be an array of this type, in order; under numba it runs in Python."""
    if type(x) is not np.ndarray or x.dtype != dtype or x.ndim != rank:
        raise TypeError("a result of another type")
    return np.ascontiguousarray(x) if x.flags.writeable else x.copy()


def library(module: Any, name: Any) -> Any:
    """A function of a module."""
    return getattr(importlib.import_module(module), name)


NUMBERS: dict[str, tuple[Any, str]] = {
    "float": (float, "float64"), "float64": (np.float64, "float64"), "int": (int, "int64"), "int64": (np.int64, "int64"),
    "bool": (bool, "bool"), "bool_": (np.bool_, "bool"),
}  # fmt: skip


def as_number(x: Any, kind: Any) -> Any:
    """The same for a number, of a type of Python's or NumPy's."""
    if type(x) is not NUMBERS[kind][0]:
        raise TypeError("a result of another type")
    return x.item() if isinstance(x, np.generic) else x


def put(x: Any, index: Any, value: Any) -> None:
    """`x[index] = value`, by NumPy."""
    x[index] = value


def put_sum(x: Any, index: Any, value: Any) -> None:
    """Add to what is at each index, as often as it occurs, by NumPy."""
    np.add.at(x, index, value)


def as_items(items: Any, *expected: Any) -> Any:
    """The same for a tuple of them."""
    if len(items) != len(expected):
        raise TypeError("a result of another type")
    pairs = zip(items, expected, strict=True)
    return tuple([as_array(x, dtype, rank) if rank else as_number(x, dtype) for x, (dtype, rank) in pairs])


def over(g: Any, y: Any) -> Any:
    """`g / y`, but 0 where `g` is 0."""
    return 0.0 if g == 0.0 else g / y


def times(g: Any, e: Any) -> Any:
    """`g * e`, but 0 where `g` is 0."""
    return 0.0 if g == 0.0 else g * e


def product(a: Any, b: Any) -> Any:
    """`a * b`, but 0 where either is 0."""
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def picked(g: Any, first: Any, tied: Any) -> Any:
    """`g` where it is first, half of it where it ties, else 0."""
    return g if first else (0.5 * g if tied else 0.0)


def left_over(g: Any, first: Any, tied: Any) -> Any:
    """The rest of it."""
    return 0.0 if first else (0.5 * g if tied else g)


def log_or_zero(x: Any) -> Any:
    """`log(x)`, but 0 at 0."""
    return 0.0 if x == 0.0 else log(x * 1.0)


def at(k: Any, n: Any) -> Any:
    """The place in an axis of length `n` that an index means."""
    if k < 0:
        k += n
    if k < 0 or k >= n:
        raise IndexError("index out of bounds")
    return k


def clipped(k: Any, n: Any) -> Any:
    """The end of a slice, within an axis of length `n`."""
    if k < 0:
        k += n
    return max(min(k, n), 0)


def place_behind(k: Any, n: Any) -> Any:
    """The place behind an end of a slice with a negative step, within an axis of length `n`."""
    if k < 0:
        k += n
    return max(min(k + 1, n), 0)


def turned(by: Any, n: Any) -> Any:
    """How far elements of an axis of length `n` move on when it is rolled."""
    return by % n if n > 0 else 0


def wrapped(k: Any, n: Any) -> Any:
    """The place in an axis of length `n` that is rolled: one before it counts from the end."""
    return k + n if k < 0 else k


def length(low: Any, high: Any) -> Any:
    """The length of a slice."""
    return max(high - low, 0)


def same(m: Any, n: Any) -> None:
    """Check that two lengths agree."""
    if m != n:
        raise ValueError("operands could not be broadcast together")


def stretches(m: Any, n: Any) -> None:
    """Check that an axis fits beside another one, perhaps stretched."""
    if m != 1 and m != n:
        raise ValueError("operands could not be broadcast together")


def wider(m: Any, n: Any) -> Any:
    """The length of two axes of which one may be stretched."""
    if m == 1:
        return n
    stretches(n, m)
    return m


def at_least(n: Any, least: Any) -> None:
    """Check that a length, or an integer, is not less than another."""
    if n < least:
        raise ValueError("too short")


def bound(yes: Any) -> None:
    """Check that a variable is bound; numba would read what happens to be there."""
    if not yes:
        raise UnboundLocalError("a variable is read before it is bound")


def nonzero(y: Any) -> Any:
    """A divisor of a Python number, which is not to be 0."""
    if y == 0:
        raise ZeroDivisionError("division by zero")
    return y


_LARGEST, _EXACT = 2.0**62, 2.0**53


def added(a: Any, b: Any) -> Any:
    """The sum of two integers, if it is far from the end of their range."""
    if abs(float(a) + float(b)) > _LARGEST:
        raise OverflowError("integer too large")
    return a + b


def exact(k: Any) -> Any:
    """An integer that a float has, too: Python compares it with one exactly, and a float may stand for it."""
    if abs(float(k)) >= _EXACT:
        raise OverflowError("integer too large")
    return k


def as_integer(x: Any, is_whole: Any) -> Any:
    """A float, which is exact and has no sign at 0 where it stands for an integer."""
    if not is_whole:
        return x
    if abs(x) >= _EXACT:
        raise OverflowError("integer too large")
    return abs(x) if x == 0.0 else x


def subtracted(a: Any, b: Any) -> Any:
    """The difference of two integers, if it is far from the end of their range."""
    if abs(float(a) - float(b)) > _LARGEST:
        raise OverflowError("integer too large")
    return a - b


def multiplied(a: Any, b: Any) -> Any:
    """The product of two integers, if it is far from the end of their range."""
    if abs(float(a) * float(b)) > _LARGEST:
        raise OverflowError("integer too large")
    return a * b


def finite(x: Any) -> Any:
    """A result of `math`, which raises where NumPy gives inf or nan."""
    if not abs(x) < np.inf:
        raise ValueError("math domain error")
    return x


def power_of_array(x: Any, p: Any) -> Any:
    """`x ** p` for an array, which takes the root where the number `p` is 0.5."""
    return sqrt(x) if p == 0.5 else (x * x if p == 2.0 else power(x, p))


def power_of_number(x: Any, p: Any) -> Any:
    """`x ** p` for Python numbers, where the result is a real number and finite."""
    if x <= 0.0 and not (x == 0.0 and p >= 0.0):
        raise ValueError("a power of a negative number")
    return finite(power(x, p))


def single(x: Any) -> Any:
    """A number of Python's as float32, if float32 has it."""
    y = np.float32(x)
    if float(y) != float(x):
        raise ValueError("a number that float32 does not have")
    return y


def of_numpy(is_python: Any) -> None:
    """Check that a number is NumPy's."""
    if is_python:
        raise TypeError("a number of Python's")


def of_floats(is_whole: Any) -> None:
    """Check that a number is a float."""
    if is_whole:
        raise TypeError("an integer")


def integer(x: Any) -> Any:
    """`int(x)`, if it is far from the end of the range of integers."""
    if not abs(x) < _LARGEST:
        raise OverflowError("integer too large")
    return int(x)


def solve_in_place(a: Any, b: Any) -> None:
    """Solve with the transpose of a matrix: a vector, or each row of a matrix, becomes the solution."""
    b[...] = np.linalg.solve(a.T, b.T).T


def cholesky_in_place(a: Any) -> None:
    """A matrix becomes the transpose of its lower factor; what is below the diagonal is not to be read."""
    a[...] = np.linalg.cholesky(a.T).T


def determinant(a: Any) -> Any:
    """The determinant of a matrix, which is not to be read afterwards."""
    return np.linalg.det(a.T)


def well_conditioned(squares: Any) -> None:
    """Check the squared norm of a matrix times that of its inverse: `cofactors` computes others by singular values."""
    if not squares < WELL**2:
        raise ValueError("a matrix that is nearly singular")
