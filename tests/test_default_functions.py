"""A function that is the default of an argument is known where a call leaves the argument out, and only there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from s2sgrad import grad, jvp


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
