"""What the rules say at kinks and ties, where slopes are infinite, and what they refuse."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sgrad import runtime
from s2sgrad.rules.table import existing, lookup

from .examples import Example
from .test_laws import called, mapped, pullbacks, run


def pulled(primitive: Any, *args: Any, g: Any = None, **keywords: Any) -> list[Any]:
    """The distinct results of the general rule and of its refinements, for a cotangent of ones."""
    e = Example(primitive, args, keywords)
    rule, y = lookup(primitive), run(Example(primitive, args, keywords))
    g = mapped(lambda a: np.ones(np.shape(a))[()], y) if g is None else g
    return [called(rule, p, e, g, y) for p in pullbacks(rule, e)]


def zero(n: int = 3) -> np.ndarray:
    return np.zeros(n)


@pytest.mark.parametrize(
    ("primitive", "args", "keywords", "expected"),
    [
        (np.max, (np.array([1.0, 3.0, 3.0]),), {}, [[0, 0.5, 0.5]]),
        (np.min, (np.ones((2, 2)),), {"axis": 1}, [[[0.5, 0.5], [0.5, 0.5]]]),
        (np.maximum, (zero(), zero()), {}, [[0.5] * 3, [0.5] * 3]),
        (np.maximum, (0.0, 0.0), {}, [0.5, 0.5]),
        (np.minimum, (2.0, 2.0), {}, [0.5, 0.5]),
        (np.fmax, (np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, 2.0])), {}, [[0, 1, 0.5], [1, 0, 0.5]]),
        (np.absolute, (zero(),), {}, [[0, 0, 0]]),
        (abs, (0.0,), {}, [0]),
        (math.fabs, (0.0,), {}, [0]),
        (np.clip, (np.array([-1.0, 0.0, 1.0, 2.0]), 0.0, 1.0), {}, [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
        (np.sqrt, (zero(),), {}, [[np.inf] * 3]),
        (math.sqrt, (0.0,), {}, [np.inf]),
        (np.cbrt, (zero(),), {}, [[np.inf] * 3]),
        (np.arcsin, (np.array([1.0, -1.0]),), {}, [[np.inf, np.inf]]),
        (math.acos, (1.0,), {}, [-np.inf]),
        (np.arccosh, (1.0,), {}, [np.inf]),
        (np.power, (np.array([0.0, 0.0]), np.array([2.0, 0.0])), {}, [[0, 0], [0, 0]]),
        (np.power, (0.0, 0), {}, [0, 0]),
        (math.pow, (0.0, 0.0), {}, [0, 0]),
        (np.linalg.norm, (zero(),), {}, [[0, 0, 0]]),
        (np.linalg.norm, (np.zeros((2, 2)),), {"axis": 1}, [np.zeros((2, 2))]),
        (np.std, (np.full(3, 0.1),), {}, [[0, 0, 0]]),
        (np.std, (np.full((2, 3), 0.1),), {"axis": 1}, [np.zeros((2, 3))]),
        (np.prod, (np.array([0.0, 2.0, 3.0]),), {}, [[6, 0, 0]]),
        (np.prod, (np.array([0.0, 0.0, 3.0]),), {}, [[0, 0, 0]]),
        (np.cumprod, (np.array([2.0, 0.0, 3.0]),), {}, [[1, 8, 0]]),
        (np.sinc, (zero(),), {}, [[0, 0, 0]]),
        (np.hypot, (0.0, 0.0), {}, [0, 0]),
        (np.arctan2, (0.0, 0.0), {}, [0, 0]),
        (math.hypot, (0.0, 0.0), {}, [0, 0]),
        (math.atan2, (0.0, 0.0), {}, [0, 0]),
        (np.linalg.det, (np.array([[1.0, 2.0], [2.0, 4.0]]),), {}, [[[4, -2], [-2, 1]]]),
        (np.linalg.det, (np.zeros((2, 2)),), {}, [np.zeros((2, 2))]),
        (np.median, (np.array([3.0, 1.0, 1.0, 7.0]),), {}, [[0.5, 0, 0.5, 0]]),
        (np.logaddexp, (-np.inf, -np.inf), {}, [0, 0]),
        (np.logaddexp, (-np.inf, 1.0), {}, [0, 1]),
        (np.nan_to_num, (np.array([np.nan, np.inf, 1.0]),), {}, [[0, 0, 1]]),
        (np.sort, (np.array([2.0, 1.0, 1.0]),), {}, [[1, 1, 1]]),
        (np.linalg.eigvalsh, (np.eye(2),), {}, [np.eye(2)]),
        *((f, (np.eye(2),), {}, [np.eye(2)]) for f in existing(np.linalg, "svdvals")),
        (np.linalg.norm, (np.diag([3.0, 2.0]), 2), {}, [np.diag([1.0, 0.0])]),
        (np.linalg.norm, (np.array([0.0, 4.0]), 0.5), {}, [[0, 1]]),
        (np.quantile, (np.array([3.0, 1.0, 1.0, 7.0]), 0.5), {}, [[0.5, 0, 0.5, 0]]),
        (np.nanmean, (np.array([3.0, np.nan]),), {}, [[1, 0]]),
        (np.maximum.reduce, (np.array([1.0, 3.0, 3.0]),), {}, [[0, 0.5, 0.5]]),
        (np.maximum.accumulate, (np.array([3.0, 1.0, 3.0]),), {}, [[2, 0, 1]]),
        (np.interp, (np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0]), np.array([2.0, 5.0])), {}, [[3, 3, 0], None, [1, 2]]),
        (np.arctan2, (1e-200, 1e-200), {}, [5e199, -5e199]),
        (runtime.power_slope, (0.0, 2), {}, [2, 0]),
        (runtime.power_slope, (0.0, 1), {}, [0, 0]),
        (runtime.power_slope, (0.0, 0), {}, [0, 0]),
    ],
)
def test_conventions(primitive, args, keywords, expected):
    for bars in pulled(primitive, *args, **keywords):
        for bar, value in zip(bars, expected, strict=True):
            if bar is not None and value is not None:
                np.testing.assert_allclose(np.broadcast_to(bar, np.shape(value)), value, rtol=1e-12, atol=1e-12)


def test_zero_cotangent_wins_over_infinite_slope():
    for primitive, x in ((np.sqrt, 0.0), (np.cbrt, 0.0), (np.arcsin, 1.0), (np.arccosh, 1.0), (math.sqrt, 0.0)):
        for (bar,) in pulled(primitive, x, g=0.0):
            assert bar == 0.0


def test_infinite_cotangent_of_a_branch_not_taken():
    for bars in pulled(np.maximum, np.array([1.0]), np.array([2.0]), g=np.array([np.inf])):
        assert bars[0] == 0.0 and bars[1] == np.inf


def test_casts_to_whole_numbers_are_constants():
    (bar,) = pulled(np.ndarray.astype, np.array([1.5, 2.5]), int, g=np.ones(2))[0]
    assert np.all(bar == 0.0)


def test_svd_without_a_choice_of_vectors():
    """The further vectors of a full decomposition are not unique, but what they span is."""
    a = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])
    y = np.linalg.svd(a)
    u = y[0]
    g = np.arange(9.0).reshape(3, 3)
    u_bar = np.zeros((3, 3))
    u_bar[:, 2:] = (g + g.T) @ u[:, 2:]  # of sum(g * span) with span = u[:, 2:] @ u[:, 2:].T
    bar = lookup(np.linalg.svd).pullback((u_bar, np.zeros(2), np.zeros((2, 2))), y, a)
    e = np.array([[0.3, -0.2], [1.0, 0.1], [0.4, 0.7]])

    def span(h: float) -> np.ndarray:
        rest = np.linalg.svd(a + h * e)[0][:, 2:]
        return rest @ rest.T

    assert math.isclose(np.sum(bar * e), np.sum(g * (span(1e-5) - span(-1e-5))) / 2e-5, rel_tol=1e-6)


def known(value: Any) -> SimpleNamespace:
    return SimpleNamespace(rank=None, known=True, value=value)


@pytest.mark.parametrize(
    ("primitive", "keyword", "value", "args"),
    [
        (np.pad, "mode", "median", (np.ones(3), 1, "median")),
        (np.reshape, "order", "A", (np.ones(4), (2, 2), "A")),
        (np.ravel, "order", "K", (np.ones((2, 2)), "K")),
        (np.linalg.qr, "mode", "complete", (np.ones((3, 2)), "complete")),
        (np.linalg.qr, "mode", "raw", (np.eye(2), "raw")),
    ],
)
def test_unsupported_is_refused(primitive, keyword, value, args):
    rule = lookup(primitive)
    unknown = {k: SimpleNamespace(rank=None, known=False, value=None) for k in (*rule.differentiable, *rule.keywords)}
    assert rule.refusal(unknown) is None
    if value != "complete":  # which depends on a shape
        assert rule.refusal(unknown | {keyword: known(value)})
    with pytest.raises(runtime.Refusal, match=value):
        pulled(primitive, *args)
