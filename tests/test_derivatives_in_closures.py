"""Gradients of what a closure holds: found again in the closure of the next call, never those of the call before."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad, vjp

X = np.array([0.2, 0.5, 0.4])


def hvp_of_an_argument(f, x, v):
    return grad(lambda x: np.vdot(grad(f)(x), v))(x)


def hvp_of_a_gradient(f, x, v):
    g = grad(f)
    return grad(lambda x: np.vdot(g(x), v))(x)


def hvp_of_a_nested_function(f, x, v):
    def slope(x):
        return grad(f)(x)

    return grad(lambda x: np.vdot(slope(x), v))(x)


def hvp_by_a_pullback(f, x, v):
    def slope(x):
        _, pullback = vjp(f, x)
        return pullback(1.0)[0]

    return grad(lambda x: np.vdot(slope(x), v))(x)


def hvp_by_a_value(f, x, v):
    g = value_and_grad(f)
    return grad(lambda x: np.vdot(g(x)[1], v) + 0.0 * g(x)[0])(x)


WAYS = [hvp_of_an_argument, hvp_of_a_gradient, hvp_of_a_nested_function, hvp_by_a_pullback, hvp_by_a_value]


@pytest.mark.parametrize("hvp", WAYS)
def test_a_new_function_in_every_step(hvp, compilations):
    v = np.array([1.0, -2.0, 0.5])
    for step in range(12):
        w = np.full(3, 1.0 + step)
        np.testing.assert_allclose(hvp(lambda q, w=None: np.sum(q**2), X, v), 2.0 * v, rtol=1e-12)
        np.testing.assert_allclose(hvp(lambda q: np.sum(w * q**3), X, v), 6.0 * w * X * v, rtol=1e-12)
        if step == 1:
            compiled_until_now = len(compilations)
    assert len(compilations) == compiled_until_now


def test_another_code_and_other_options_in_the_cell(compilations):
    def twice(g):
        return grad(lambda x: np.sum(g(x) * x))(X)

    def square(x, y=X):
        return np.sum(x**2 * y)

    def cube(x, y=X):
        return np.sum(x**3 * y)

    for _ in range(3):
        np.testing.assert_allclose(twice(grad(square)), 4.0 * X * X)
        np.testing.assert_allclose(twice(grad(cube)), 9.0 * X**3)
        np.testing.assert_allclose(twice(np.sin), np.cos(X) * X + np.sin(X))
        np.testing.assert_allclose(twice(lambda x: grad(square)(x) * 2.0), 8.0 * X * X)
    assert len(compilations) <= 10


def test_what_is_closed_over_below_changes():
    scale = 1.0

    def energy(x):
        return scale * np.sum(x**3)

    def slope_twice(x):
        return np.sum(grad(energy)(x) * x)

    outer = grad(slope_twice)
    for scale in (1.0, 2.0, np.float64(3.0), 4):
        np.testing.assert_allclose(outer(X), 9.0 * scale * X**2)


def test_a_gradient_in_a_cell_is_bound_anew():
    g = grad(lambda x: np.sum(x**2))
    outer = grad(lambda x: np.sum(g(x) * x))
    np.testing.assert_allclose(outer(X), 4.0 * X)
    g = grad(lambda x: np.sum(x**3))
    np.testing.assert_allclose(outer(X), 9.0 * X**2)
    g = value_and_grad(lambda x: np.sum(x**3))
    with pytest.raises((TypeError, ValueError)):  # what NumPy says of the tuple
        outer(X)
    g = np.cos
    np.testing.assert_allclose(outer(X), np.cos(X) - np.sin(X) * X)


@pytest.mark.dear
@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("hvp", WAYS)
def test_nothing_below_is_kept_alive(hvp):
    class Data:
        def __init__(self, w):
            self.w = w

    def one(hvp, w):
        data = Data(w)

        def f(q):
            return np.sum(data.w * q**3)

        hvp(f, X, X)
        return weakref.ref(f), weakref.ref(data)

    gone = [ref for step in range(3) for ref in one(hvp, np.full(3, step))]
    gc.collect()
    assert not any(ref() for ref in gone)


def test_seeds_of_a_pullback_inside_are_checked():
    def f(w):
        _, pullback = vjp(lambda q: q * w, X)
        return np.sum(pullback(1.0)[0])

    with pytest.raises(ValueError, match="shape"):
        f(X)
    with pytest.raises(ValueError, match="shape"):
        grad(f)(X)


def test_a_function_runs_once_where_its_pullback_is_taken(capsys):
    def printing(q):
        print("once")
        return np.sum(q**2)

    def f(w):
        y, pullback = vjp(printing, w)
        return y * np.sum(pullback(1.0)[0])

    np.testing.assert_allclose(grad(f)(X), 2.0 * X * np.sum(2.0 * X) + 2.0 * np.sum(X**2))
    assert capsys.readouterr().out == "once\n"
