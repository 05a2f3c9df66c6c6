"""The slope of a function of one number by differences, with an estimate of its error.

>>> round(quick(np.exp).value, 10)
1.0
>>> careful(np.exp).trouble, careful(abs).trouble, careful(lambda t: float(t >= 0.0)).trouble
('', 'the slope is -1 to the left and 1 to the right', 'the function jumps')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

STEP = 1e-4  # in units of the scale of the shifted number
_STEPS = tuple(STEP * 10.0**k for k in (2, 1, 0, -1, -2))
_ROUNDING = 20.0 * float(np.finfo(float).eps)
_ROUGH = 1e-2  # reject estimates without two certain digits


class Slope(NamedTuple):
    """An estimate with its error; `trouble`: why there is no slope, or why differences cannot find it."""

    value: float
    error: float
    trouble: str = ""


def quick(phi: Callable[[float], float], step: float = STEP) -> Slope:
    """Central differences with a step and half of it, extrapolated to fourth order.  The error is that of rounding alone."""
    far, near = float(phi(step)), float(phi(step / 2))
    back, behind = float(phi(-step)), float(phi(-step / 2))
    coarse, fine = (far - back) / (2.0 * step), (near - behind) / step
    return Slope((4.0 * fine - coarse) / 3.0, _ROUNDING * max(map(abs, (far, near, back, behind))) / step)


def careful(phi: Callable[[float], float]) -> Slope:
    """The best of several steps, judged by the change from one to the next; and whether there is a slope at all."""
    estimates = [quick(phi, step) for step in _STEPS]
    value, error = min(
        ((now.value, abs(now.value - before.value) + now.error) for before, now in pairwise(estimates)),
        key=lambda estimate: estimate[1] if np.isfinite(estimate[1]) else np.inf,
    )
    trouble = _corner(phi)
    if not trouble and not error <= _ROUGH * max(abs(value), 1e-3):
        trouble = f"the differences do not settle: {value:.3g} give or take {error:.1g}"
    return Slope(value, error, trouble)


def _corner(phi: Callable[[float], float]) -> str:
    """What is wrong with the one-sided slopes, empty if they match.  As the step shrinks, their difference goes to zero if
    the function is smooth, stays at a corner, and grows at a jump."""
    middle = phi(0.0)
    sides = [((middle - phi(-h)) / h, (phi(h) - middle) / h) for h in (STEP, STEP / 100.0)]
    before, now = (abs(right - left) for left, right in sides)
    left, right = sides[1]
    if not now > 1e-3 * (abs(left) + abs(right)) + 100.0 * _ROUNDING * abs(middle) / STEP * 100.0:
        return ""
    if now > 20.0 * before:
        return "the function jumps"
    return f"the slope is {left:.4g} to the left and {right:.4g} to the right" if now > 0.5 * before else ""


def by_differences(f: Callable[[Any], Any], a: Any, g: Any) -> Any:
    """The cotangent of `a` in `f(a)`, by central differences, for a cotangent `g` of the result: for a gradient of your own.

    `a` is a float, an array of floats, or a list or tuple of these; of anything else it is None. `f` returns a number, an
    array, or a tuple of these; then `g` is one, too. It is called four times for each number of `a`. The result has some
    eight digits where `f` is exact.

    >>> from s2sgrad import custom_gradient, grad
    >>> cubed = custom_gradient(lambda x: (x**3, lambda g: by_differences(lambda x: x**3, x, g)))
    >>> round(grad(cubed)(2.0), 6)
    12.0
    """
    if isinstance(a, (list, tuple)):
        return type(a)(by_differences(partial(_with_part, f, a, k), part, g) for k, part in enumerate(a))
    a = np.asarray(a)
    if a.dtype.kind != "f":
        return None
    slopes = np.empty(a.shape, a.dtype)
    for place in np.ndindex(a.shape):
        h = 1e-3 * max(1.0, abs(float(a[place]))) * (1.0 if a.dtype.itemsize > 4 else 10.0)
        values = [_paired(g, f(_shifted(a, place, k * h))) for k in (-2, -1, 1, 2)]
        slopes[place] = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * h)
    return slopes if a.ndim else float(slopes[()])


def _with_part(f: Callable[[Any], Any], a: Any, k: int, part: Any) -> Any:
    return f(type(a)((*a[:k], part, *a[k + 1 :])))


def _shifted(a: np.ndarray, place: tuple[int, ...], step: float) -> Any:
    out = a.copy()
    out[place] += step
    return out if out.ndim else float(out[()])


def _paired(g: Any, y: Any) -> float:
    """The sum of the products of a cotangent and a result; a part without a cotangent counts nothing."""
    if isinstance(y, (tuple, list)):
        g = g[0] if len(g) == 1 and len(y) > 1 else g
        return sum(_paired(one, part) for one, part in zip(g, y, strict=True) if one is not None)
    return float(np.real(np.sum(np.multiply(g, y))))
