"""Constants of small integer types: what a rule subtracts, doubles or turns round of them does not wrap around."""

from __future__ import annotations

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, jvp

X = np.array([2.0, 3.0, 0.5])
FUNCTIONS = [
    lambda x, k: np.sum(x * -k),
    lambda x, k: np.sum(x**k),
    lambda x, k: np.sum((x**2) * (k * k)),
    lambda x, k: np.sum(x / -k),
    lambda x, k: np.interp(0.5, k, x),
    lambda x, k: np.sum(np.interp(x, [0.0, 1.0, 4.0], k)),
    lambda x, k: np.sum(np.gradient(x, k)),
    lambda x, k: np.trapezoid(x, k),
    lambda x, k: np.trapezoid(k, x),
    lambda x, k: np.linalg.norm(x - k),
    lambda x, k: np.sum(np.hypot(x, k)),
    lambda x, k: np.sum(np.arctan2(k, x)),
    lambda x, k: np.sum(np.cross(x, k)),
    lambda x, k: np.sum(np.convolve(x, k)),
    lambda x, k: np.sum(np.polyval(k, x)),
    lambda x, k: np.einsum("i,i,i->", x, k, k),
    lambda x, k: np.sum(np.outer(x, k) * k),
    lambda x, k: np.sum(np.cumsum(x * k) * k),
    lambda x, k: np.average(x, weights=k),
    lambda x, k: np.sum(np.maximum(x, k) * k),
    lambda x, k: np.var(x * k),
    lambda x, k: np.prod(x * k),
    lambda x, k: np.sum(np.clip(x, k, k + 1)),
    lambda x, k: np.sum(np.diff(x) * np.diff(k)),
    lambda x, k: k @ x - x @ (k + k),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.records
@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_small_integers(number, dtype):
    f, k = FUNCTIONS[number], np.array({"int8": [-100, 90, 120], "bool": [False, True, True]}.get(dtype, [0, 1, 200]), dtype)
    try:
        (expected,) = central_difference(f, (X, k), 0)
    except (TypeError, ValueError):
        pytest.skip("NumPy takes no such numbers")
    if not np.all(np.isfinite(expected)):
        pytest.skip("no finite slopes")
    np.testing.assert_allclose(grad(f)(X, k), expected, rtol=1e-4, atol=1e-5 * np.max(np.abs(expected)) + 1e-6)
    slope = np.sum(expected * X)
    np.testing.assert_allclose(jvp(f, (X, k), (X, None))[1], slope, rtol=1e-4, atol=1e-5 * np.max(np.abs(expected)) + 1e-6)
