"""Singular points in recorded functions: the tables of docs/singular-points.md row by row, and a sweep over composites."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_singular_points import INNER, OUTER, PAGE, POINTS, ROWS, difference, function_of, program, quietly, tangents

from recorded.judged import gradient_of
from s2sgrad import grad, hessian, jacfwd, jacrev, value_and_grad
from s2sgrad.recorded.derivatives import Recorded

UNTOLD = ("held = [iter([1.0])]", "next(held[0])")  # what no text says


LEFT = PAGE.read_text().partition("## What stays nan or infinite")[2]
"""Where the page says what recordings do not keep."""


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("row", [row for row in ROWS if f"`{row[0]}`" not in LEFT], ids=lambda row: f"{row[0]} at {row[1]}")
def test_the_tables(row):
    text, x, expected = row[0], eval(row[1], {"np": np}), eval(row[2], {"np": np})
    f = function_of(text, *UNTOLD)
    with_value = value_and_grad(f)
    for derivative in (
        grad(f),
        lambda x: tangents(f, x),
        lambda x: with_value(x)[1],
        jacfwd(f),
        jacrev(f),
        gradient_of(f, (0,)),
    ):
        found = quietly(derivative, x)
        found = found[0] if isinstance(found, tuple) else found
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert "Recorded as it runs" in grad(f).source
    if len(row) > 3:
        second = eval(row[3], {"np": np})
        np.testing.assert_allclose(quietly(hessian(f), x), second, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(quietly(jacrev(grad(f)), x), second, rtol=1e-6, atol=1e-9)
        columns = np.sum(np.reshape(second, (-1, *np.shape(x))), axis=0)
        np.testing.assert_allclose(quietly(grad(lambda x: np.sum(grad(f)(x))), x), columns, rtol=1e-6, atol=1e-9)


def both_modes(f, x):
    """The derivative of a recorded function of a number, in reverse and in forward mode."""
    recorded = Recorded(f, (x,), {}, (0,))
    return float(recorded.pullback()[0]), float(recorded.tangent([type(x)(1.0)]))


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("pair", list(itertools.product(INNER, OUTER)), ids=" in ".join)
@pytest.mark.parametrize("kind", ["number", "array"])
def test_composites(pair, kind):
    """No wrong number, in either mode; two numbers agree."""
    inner, outer = pair
    f = function_of(outer, f"u = {inner}")
    g = f if kind == "number" else function_of(f"np.sum({outer})", "x = x * np.ones(3)", f"u = {inner}")
    for x in POINTS:
        if not np.isfinite(quietly(f, np.float64(x))):
            continue
        try:
            found = quietly(both_modes, g, x)
        except OverflowError:  # of Python's numbers, in the function itself
            continue
        found = found if kind == "number" else tuple(v / 3.0 for v in found)
        expected = quietly(difference, f, x)
        numbers = [v for v in found if not np.isnan(v)]
        if len(numbers) == 2:
            assert np.isclose(*numbers, rtol=1e-9, atol=1e-12), (x, found)
        for v in numbers if expected is not None else ():
            assert abs(v - expected) <= 1e-2 * max(1e-2, abs(expected)), (x, found, expected)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("pair", list(itertools.product(INNER, OUTER)), ids=" in ".join)
def test_items_beside_a_singular_one(pair):
    """The convention at one item of an array leaves the slopes of the others alone."""
    inner, outer = pair
    f = function_of(f"np.sum({outer})", f"u = {inner}")
    for x in POINTS:
        beside = np.array([x, 0.02, -0.01, 0.7])
        found = quietly(lambda y: Recorded(f, (y,), {}, (0,)), beside.copy())
        bars = quietly(found.pullback)[0]
        for k in (1, 2, 3):
            (alone,) = quietly(lambda y: Recorded(f, (y,), {}, (0,)).pullback(), beside[k : k + 1])
            tangent = quietly(found.tangent, [np.eye(4)[k]])
            for one in (bars[k], tangent):
                assert np.isnan(one) or np.isnan(alone[0]) or np.isclose(one, alone[0], rtol=1e-8, atol=1e-12), (x, k)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("seed", range(160))
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_random_programs(seed, zeros):
    """Of roots, powers and exponentials, some at 0: what is a number is right."""
    result, lines = program(seed)
    f = function_of(result, *lines)
    x, e = np.random.default_rng(seed).uniform(0.4, 1.4, 3), np.array([0.3, -0.5, 0.7])
    x[:zeros] = 0.0
    value = quietly(f, x.copy())
    if not np.isfinite(value) or abs(value) > 1e6:
        pytest.skip("it has no value here")
    rough, fine, other = (quietly(slope, f, x, e, h) for h in (1e-5, 1e-6, -1e-6))
    recorded = quietly(lambda x: Recorded(f, (x,), {}, (0,)), x.copy())
    (bar,), tangent = quietly(recorded.pullback), quietly(recorded.tangent, [e])
    if np.isfinite(bar).all() and not np.isnan(tangent):
        assert abs(np.sum(bar * e) - tangent) <= 1e-8 * max(1.0, abs(tangent))
    settled = abs(rough - fine) <= 1e-4 * max(1.0, abs(fine)) and abs(other - fine) <= 1e-4 * max(1.0, abs(fine))
    if not settled:
        pytest.skip("differences do not settle")
    for found in (np.sum(bar * e), tangent):
        assert (zeros and np.isnan(found)) or abs(found - fine) <= 1e-3 * max(1.0, abs(fine))


def slope(f, x, e, h):
    """By differences on one side."""
    return (f(x + h * e) - f(x.copy())) / h
