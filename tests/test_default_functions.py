"""A function that is the default of an argument is known where a call leaves the argument out, and only there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import linalg

from s2sgrad import grad, jvp, vjp


def scaled(u):
    u *= 2.0
    return np.sum(u)


def squared(u):
    return np.sum(u * u)


def loss(x, f=scaled, *, act=lambda t: t * t):
    u = np.array([x, 2.0])
    return f(u) * act(u[0])


def seen_through_a_view(x, first=lambda u: u[:2]):
    u = np.array([x, 2.0, 3.0])
    v = first(u)
    v[0] = x * x * x
    return u[0] * u[1]


def by_hand(x, f):
    return 12.0 * x**2 * 2.0 + 32.0 * x if f is scaled else 4.0 * x**3 + 8.0 * x


def test_each_call_has_the_function_that_it_is_given():
    df = grad(loss)
    for f, args in ((scaled, ()), (squared, (squared,)), (scaled, ())):
        assert df(1.5, *args) == pytest.approx(by_hand(1.5, f))
    assert df(1.5, f=squared) == pytest.approx(by_hand(1.5, squared))
    assert df(1.5, act=np.sin, f=squared) == pytest.approx(3.0 * np.sin(1.5) + 6.25 * np.cos(1.5))
    assert df(1.5) == pytest.approx(by_hand(1.5, scaled))


def test_another_default_takes_its_place(monkeypatch):
    df = grad(loss)
    assert df(1.5) == pytest.approx(by_hand(1.5, scaled))
    monkeypatch.setattr(loss, "__defaults__", (squared,))
    assert df(1.5) == pytest.approx(by_hand(1.5, squared))


def test_a_default_is_written_out():
    df = grad(loss)
    df(1.5)
    assert "f: its default" in df.source and "vjp" not in df.source


def test_a_gradient_travels_with_it():
    df = grad(loss)
    df(1.5)
    assert pickle.loads(pickle.dumps(df))(1.5) == pytest.approx(by_hand(1.5, scaled))


def test_views_and_writes_of_defaults_are_followed():
    assert grad(seen_through_a_view)(1.5) == pytest.approx(13.5)
    assert grad(grad(seen_through_a_view))(1.5) == pytest.approx(18.0)
    assert jvp(seen_through_a_view, (1.5,), (1.0,))[1] == pytest.approx(13.5)
    assert grad(grad(loss))(1.5) == pytest.approx(48.0 * 1.5 + 32.0)


# --- functions of one code, with other defaults --------------------------------------------------------------------------

M = np.array([[2.0, 0.3], [0.5, 1.5]])
W = np.array([[1.0, 0.2], [0.3, 0.4]])
RIGHT_SIDE = np.array([1.0, 2.0])

MADE = {
    "int": lambda d: lambda a, d=d: linalg.solve_triangular(a, RIGHT_SIDE, trans=d, lower=True),
    "named": lambda d: lambda a, *, d=d: linalg.solve_triangular(a, RIGHT_SIDE, trans=d, lower=True),
    "str": lambda d: lambda a, d="NT"[d]: linalg.solve_triangular(a, RIGHT_SIDE, trans=d, lower=True),
    "bool": lambda d: lambda a, d=bool(d): linalg.solve_triangular(a, RIGHT_SIDE, lower=d),
    "axis": lambda d: lambda a, d=d: np.cumsum(a, axis=d),
    "None": lambda d: lambda a, d=(None, 1)[d]: np.sum(a * a, axis=d),
    "float": lambda d: lambda a, d=2.0 + d: a**d,
    "order": lambda d: lambda a, d=1 + d: np.linalg.norm(a, d),
}


def made(name):
    """Two functions of one code."""
    inner = [MADE[name](d) for d in (0, 1)]
    return [lambda a, f=f: np.sum(np.sin(f(a)) ** 2) for f in inner], inner


def along(f, h=1e-6):
    return (f(M + h * W) - f(M - h * W)) / (2.0 * h)


@pytest.mark.records
@pytest.mark.parametrize("name", MADE)
def test_functions_of_one_code_are_told_apart(name):
    outer, inner = made(name)
    held = {"functions": inner}

    def summed(a, count):
        total = 0.0
        for f in held["functions"][:count]:
            total = total + np.sum(np.sin(f(a)) ** 2)
        return total

    def given(a, f):
        return np.sum(np.sin(f(a)) ** 2)

    for count in (1, 2):
        wanted = along(lambda a: summed(a, count))
        assert np.isclose(np.sum(grad(summed)(M, count) * W), wanted, rtol=1e-6)
        assert np.isclose(jvp(lambda a: summed(a, count), (M,), (W,))[1], wanted, rtol=1e-6)
    for f, whole in zip(inner, outer, strict=True):
        assert np.isclose(np.sum(grad(given)(M, f) * W), along(whole), rtol=1e-6)
        assert np.isclose(np.sum(vjp(whole, M)[1](1.0)[0] * W), along(whole), rtol=1e-6)
        np.testing.assert_allclose(vjp(grad(whole), M)[1](W)[0], jvp(grad(whole), (M,), (W,))[1], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(jvp(grad(whole), (M,), (W,))[1], along(grad(whole)), rtol=1e-5, atol=1e-7)


@pytest.mark.records
@pytest.mark.parametrize("name", ["int", "named", "str", "bool"])
def test_gradients_of_functions_of_one_code_are_told_apart(name):
    for f in MADE[name](0), MADE[name](1):
        space = {"np": np, "f": f}
        df = grad(lambda a: np.sum(np.sin(space["f"](a)) ** 2))
        np.testing.assert_allclose(vjp(df, M)[1](W)[0], along(df), rtol=1e-5, atol=1e-7)
