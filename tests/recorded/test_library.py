"""Functions of NumPy and SciPy, with and without a rule, recorded: the value bit by bit and the gradient, or an error."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.signal
import scipy.stats
from differences import central_difference, copied, leaves

from recorded.judged import TOLERANCES
from s2sgrad.recorded.derivatives import Recorded

VECTOR, OTHER = np.array([0.73, 1.31, 0.42]), np.array([0.5, 0.9, 1.7])
MATRIX, SECOND = np.array([[2.0, 0.3], [0.4, 1.5]]), np.array([[0.7, 1.2], [0.9, 0.35]])
CALLS = [(VECTOR,), (VECTOR, OTHER), (MATRIX,), (MATRIX, SECOND), (MATRIX, VECTOR[:2]), (VECTOR, 1), (MATRIX, 0, 1),
         ([VECTOR, OTHER],), (VECTOR, 2.0), (VECTOR, [0, 2]), (0.7, 0.4), (VECTOR, 1, 2)]  # fmt: skip
ROOMS = [np, np.linalg, scipy.signal, scipy.integrate, scipy.stats]
FUNCTIONS = [
    pytest.param(getattr(room, name), id=f"{room.__name__}.{name}")
    for room in ROOMS
    for name in sorted({*room.__all__} & {*vars(room)})
    if callable(getattr(room, name)) and not isinstance(getattr(room, name), type)
]
WITH_FILES = ("save", "show", "fromfile", "test", "info", "set", "get")


def floats(value):
    return [
        v
        for v in leaves(value)
        if isinstance(v, (float, np.floating)) or (isinstance(v, np.ndarray) and v.dtype.kind == "f")
    ]


@pytest.mark.sampled(one_in=18)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_right_or_refused(function):
    if getattr(function, "__name__", "").startswith(WITH_FILES):
        return

    def f(*args):
        return function(*args)

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for args in CALLS:
            numbers = tuple(k for k, a in enumerate(args) if isinstance(a, (float, np.ndarray)))
            try:
                value, again = f(*copied(args)), f(*copied(args))
                usable = numbers and floats(value) and _same(floats(value), floats(again)) and _settled(f, args, value)
            except Exception:
                continue
            if not usable:
                continue
            try:
                recorded = Recorded(f, copied(args), {}, numbers)
                bars = recorded.pullback()
                rough, fine = (central_difference(f, args, numbers, step) for step in (1e-5, 1e-6))
            except Exception:  # refused; or there is no value nearby
                continue
            assert _same(floats(recorded.value), floats(value)), args
            for bar, a, b in zip(leaves(bars), leaves(rough), leaves(fine), strict=True):
                if np.allclose(a, b, rtol=1e-3, atol=1e-3) and not np.isnan(np.sum(bar)):
                    np.testing.assert_allclose(bar, b, rtol=1e-4, atol=max(TOLERANCES["atol"], 1e-5))


def _settled(f, args, value):
    """Whether the last digits of the arguments leave the value what it is: at a pole it is made of rounding errors."""
    moved = f(*(np.nextafter(a, 9.0) if isinstance(a, (float, np.ndarray)) else a for a in copied(args)))
    return all(np.allclose(a, b, rtol=1e-3, equal_nan=True) for a, b in zip(floats(value), floats(moved), strict=True))


def _same(one, other):
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
