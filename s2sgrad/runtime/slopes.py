"""Arithmetic of cotangents at points where the plain formula would give nan: a zero cotangent stays zero.

    y = np.sqrt(x)   ->   x_bar = over(y_bar, 2.0 * y), which is 0 where `y_bar` is 0, even if `x` is 0

>>> import numpy as np
>>> float(over(0.0, 2.0 * np.sqrt(0.0)))
0.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.checks import NOT_COMPLEX, ComplexValue


def over(g: Any, y: Any) -> Any:
    """`g / y`, but 0 where `g` is 0, and without a warning or an exception where `y` is 0.

    >>> over(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    array([0. , inf, 1.5])
    """
    if isinstance(g, float) and isinstance(y, float) and y:
        return float(g) / float(y) if g else 0.0
    if isinstance(y, float) and 1.0 <= abs(y) < np.inf:  # nothing can overflow
        return np.divide(g, y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = np.divide(g, y)
        sound = isinstance(y, float) and 0.0 < abs(y) < np.inf
        return out if sound or not _has_nan(out) else np.where(np.equal(g, 0.0), 0.0, out)[()]


def _has_nan(a: Any) -> bool:
    """Whether an array may hold nan, by its sum: faster than to ask each element."""
    total = np.add.reduce(a, axis=None) if isinstance(a, (np.ndarray, np.generic)) else np.sum(a)
    return bool(total != total)


def times(g: Any, e: Any) -> Any:
    """`g * e`, but 0 where `g` is 0, whatever `e` is.

    >>> times(np.array([0.0, 1.0, 3.0]), np.array([np.nan, np.inf, 2.0]))
    array([ 0., inf,  6.])
    >>> times(2.0 > 1.0, 3.0), times(2.0 < 1.0, np.inf)
    (3.0, 0.0)
    """
    if isinstance(g, (bool, np.bool_)):
        if isinstance(e, np.ndarray):
            return e.copy() if g else np.zeros(e.shape)
        return e if g else 0.0
    if isinstance(g, float) and isinstance(e, float):
        return float(g) * float(e) if g else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        out = np.multiply(g, e)
        return np.where(np.equal(g, 0.0), 0.0, out)[()] if _has_nan(out) else out


def product(a: Any, b: Any) -> Any:
    """`a * b`, but 0 where either is 0, even if the other is inf or nan: for elements that `np.where` and its like drop.

    >>> product(np.array([0.0, np.inf, 3.0]), np.array([np.nan, 0.0, 2.0]))
    array([0., 0., 6.])
    """
    with np.errstate(invalid="ignore", over="ignore"):
        out = np.multiply(a, b)
        return np.where(np.equal(a, 0.0) | np.equal(b, 0.0), 0.0, out)[()] if _has_nan(out) else out


def ratio(a: Any, b: Any) -> Any:
    """`a / b` without a warning: nan where both are 0, for what the limit is there is not known.

    >>> ratio(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    array([nan, inf, 1.5])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.divide(a, b)


def share(e: Any, c: Any) -> Any:
    """`e / (e + c)`, which is 1 where `e` alone is infinite.

    >>> share(np.array([1.0, np.inf, np.inf]), np.array([3.0, 1.0, np.inf]))
    array([0.25, 1.  ,  nan])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = np.divide(e, np.add(e, c))
        return np.where(np.isinf(e) & np.isfinite(c), 1.0, out)[()] if _has_nan(out) else out


def power_slope(x: Any, n: Any) -> Any:
    """The derivative of `x ** n` in x, `n * x ** (n - 1)`; exactly 0 where n is 0, inf where NumPy gives inf.

    >>> [float(power_slope(0.0, n)) for n in (2, 0, 0.5)]
    [0.0, 0.0, inf]
    >>> power_slope(-2.0, 0.5)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.ComplexValue: a broken power of a negative number of Python's is complex: complex numbers ...
    """
    if isinstance(x, float) and isinstance(n, (float, int)) and 1e-8 < x < 1e8 and -30 < n < 30:  # which is no trouble
        return n * x ** (n - 1.0)
    if type(x) in (float, int) and x < 0 and type(n) is float and not n.is_integer():
        raise ComplexValue(None, f"a broken power of a negative number of Python's is complex: {NOT_COMPLEX}")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        less = n - 1.0 if isinstance(n, (float, int)) else np.subtract(n, 1.0)  # a number of Python's widens no array
        slope = np.where(np.equal(n, 0), 0.0, n * np.power(as_weak(np.multiply(x, 1.0), x), less))[()]
    return as_weak(slope, x, n)


def as_weak(result: Any, *operands: Any) -> Any:
    """A number of Python's where all operands are such: it widens no array of float32 that it is multiplied by.

    >>> type(as_weak(np.float64(2.0), 1.3, 2)) is float, type(as_weak(np.float64(2.0), np.float64(1.3), 2)) is np.float64
    (True, True)
    """
    return result.item() if all(type(x) in (float, int) for x in operands) else result


def log_or_zero(x: Any) -> Any:
    """`log(x)`, but 0 at 0: a factor of the derivative of `x ** n` in n, which is 0 at x = 0 by convention."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return as_weak(np.where(np.equal(x, 0.0), 0.0, np.log(np.multiply(x, 1.0)))[()], x)
