"""Extremes that cancel: each way to take one out of exponentials and to put it back, right or not, against differences."""

from __future__ import annotations

import itertools
import linecache

import numpy as np
import pytest

from s2sgrad import grad, hessian, jvp

Z = 0.4 + np.sin(1.7 * np.arange(9.0)).reshape(3, 3)  # square, so that axes that are mistaken for each other broadcast
LEAST = [
    "np.max(z)", "np.min(z)", "z.max(axis=1, keepdims=True)", "np.max(z, axis=0, keepdims=True)", "np.max(z, axis=0)",
    "np.max(z, axis=1)", "np.max(z, axis=-1)[:, None]", "np.max(z, axis=(0, 1), keepdims=True)", "np.mean(z)",
]  # fmt: skip
TAKEN = ["z - m", "m - z", "z + m", "z - 2.0 * m", "z - m * 1.0", "z"]
SUMS = [
    "np.sum(e)", "np.sum(e, axis=1, keepdims=True)", "np.sum(e, axis=0)", "e.sum(axis=1)", "e[:, 0]", "e[0]",
    "np.sum(e) + 1.0", "np.mean(e, axis=1, keepdims=True)", "np.sum(e * w, axis=-1, keepdims=True)",
    "np.max(e, axis=1, keepdims=True)",
]  # fmt: skip
ENDS = [
    "e / s", "np.log(s) + m", "np.log(s) - m", "np.log(s)", "np.log(e / s)", "e * s", "np.log(e) - np.log(s)",
    "e / s + 0.0 * m", "s / e * e / s", "m + np.log(s) + np.log(e) - z", "(e / s) @ w", "-np.log(s) - m",
]  # fmt: skip
PARTS = 96
WAYS = [*itertools.product(LEAST, TAKEN, SUMS, ENDS)]


def of(least: str, taken: str, sums: str, end: str):
    """The function that takes an extreme out in one way."""
    text = f"def f(z, w):\n    m = {least}\n    e = np.exp({taken})\n    s = {sums}\n    return np.sum(({end}) * w)\n"
    name, space = f"<{least}, {taken}, {sums}, {end}>", {"np": np}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["f"]


def differences(f, z, w):
    """The gradient of `f` in `z`, by central differences."""
    units = np.eye(z.size).reshape(-1, *z.shape) * 1e-6
    return np.array([(f(z + unit, w) - f(z - unit, w)) / 2e-6 for unit in units]).reshape(z.shape)


@pytest.mark.dear
@pytest.mark.sampled(one_in=48, by="part")
@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_is_taken_out(part):
    w = np.cos(np.arange(9.0)).reshape(3, 3)
    for way in WAYS[part :: PARTS * 3]:
        f = of(*way)
        with np.errstate(all="ignore"):
            if not np.isfinite(f(Z, w)):
                continue
            found, tangent = grad(f)(Z, w), jvp(f, (Z, w), (w, np.zeros((3, 3))))[1]
        expected = differences(f, Z, w)
        size = 1.0 + np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * size, err_msg=str(way))
        np.testing.assert_allclose(tangent, np.sum(found * w), rtol=1e-9, atol=1e-9 * size, err_msg=str(way))


@pytest.mark.parametrize("least", ["np.max(z)", "np.max(z, axis=1, keepdims=True)"])
@pytest.mark.parametrize("end", ["e / s", "np.log(s) + m"])
def test_they_have_no_adjoint(least, end):
    f = of(least, "z - m", "np.sum(e, axis=1, keepdims=True)", end)
    text = grad(f).source_for(Z, Z)
    assert "m_bar" not in text
    assert "tie_weights" not in text
    found = hessian(lambda z: f(z, Z))(Z)
    slopes = [(grad(f)(Z + unit, Z) - grad(f)(Z - unit, Z)) / 2e-6 for unit in np.eye(9).reshape(9, 3, 3) * 1e-6]
    np.testing.assert_allclose(found.reshape(9, 3, 3), slopes, rtol=1e-5, atol=1e-7)


def changed_before_it_is_put_back(z):
    m = np.max(z)
    e = np.exp(z - m)
    e[0] *= 2.0
    return np.log(np.sum(e)) + m


def put_back_in_a_branch(z):
    m = np.max(z)
    s = np.sum(np.exp(z - m))
    y = np.log(s)
    if s > 1.5:
        y = y + m
    return y


def read_by_the_next_trip(z):
    y = 0.0
    m = 0.0
    for k in range(3):
        y = y + np.log(np.sum(np.exp(z[k] - m))) + m
        m = np.max(z[k])
    return y


def greatest_of_each_trip(z):
    y = 0.0
    for k in range(3):
        m = np.max(z[k])
        y = y + np.log(np.sum(np.exp(z[k] - m))) + m
    return y


def told_beside(z):
    m = np.max(z)
    s = np.sum(np.exp(z - m))
    return np.array([np.log(s) + m, m])


@pytest.mark.parametrize(
    "f", [changed_before_it_is_put_back, put_back_in_a_branch, read_by_the_next_trip, greatest_of_each_trip, told_beside]
)
def test_in_other_surroundings(f):
    def total(z, w):
        return np.sum(f(z) * w)

    np.testing.assert_allclose(grad(total)(Z, 1.3), differences(total, Z, 1.3), rtol=1e-6, atol=1e-8)
