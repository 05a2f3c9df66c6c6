"""Matrices of recorded functions that write their arguments: one recording, many sweeps; the caller sees nothing of it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, hessian, jacfwd, jacobian, jacrev, jvp, value_and_jacobian

RUNS = []


def writes_an_array(x, c):
    RUNS.append(1)
    held = [iter([1.0, 2.0])]
    x[0] = x[1] * x[2] * next(held[0])
    x[1] *= c
    return x * x[0]


def writes_without_an_iterator(x, c):
    x[0] = x[1] * x[2]
    x[1] *= c
    return x * x[0]


def writes_into_containers(p, c):
    held = [iter([1.0])]
    p["a"][0] *= p["b"] * next(held[0])
    p["seen"].append(p["a"] * c)
    p["b"] = p["b"] ** 2
    return p["seen"][-1] * p["b"]


@pytest.mark.parametrize("kind", [jacfwd, jacrev, jacobian])
@pytest.mark.parametrize("f", [writes_an_array, writes_without_an_iterator])
@pytest.mark.parametrize("argnum", [0, 1])
def test_jacobians(kind, f, argnum):
    args = (np.array([1.0, 2.0, 3.0]), 2.0)
    expected = np.array([central_difference(lambda x, c, k=k: f(x, c)[k], args, (argnum,))[0] for k in range(3)])
    RUNS.clear()
    found = kind(f, argnum)(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(args[0], [1.0, 2.0, 3.0])
    assert len(RUNS) == (f is writes_an_array)


@pytest.mark.parametrize("kind", [jacfwd, jacrev, jacobian, lambda f: lambda *a: value_and_jacobian(f)(*a)[1]])
def test_containers(kind):
    p = {"a": np.array([1.0, 2.0]), "b": 3.0, "seen": []}
    kept = copy.deepcopy(p)
    found = kind(writes_into_containers)(p, 2.0)
    np.testing.assert_allclose(found["a"], [[54.0, 0.0], [0.0, 18.0]])
    np.testing.assert_allclose(found["b"], [54.0, 24.0])
    assert p["seen"] == [] and p["b"] == 3.0 and np.array_equal(p["a"], kept["a"])


def total(x, c):
    return np.sum(writes_an_array(x, c) ** 2)


def of_a_jacobian(x, c):
    return np.sum(jacrev(writes_an_array)(x, c) ** 2)


def test_second_derivatives():
    args = (np.array([1.0, 2.0, 3.0]), 2.0)
    expected = np.array([central_difference(lambda x, c, k=k: grad(total)(x, c)[k], args, (0,))[0] for k in range(3)])
    for found in (hessian(total)(*args), jacfwd(grad(total))(*args), jacrev(grad(total))(*args)):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    expected = central_difference(of_a_jacobian, args, (0,))[0]
    np.testing.assert_allclose(grad(of_a_jacobian)(*args), expected, rtol=1e-6)


def drawn(x, *rest):
    return x * x * (1.0 + 0.0 * np.random.rand()) + sum(rest) * x


def of_what_draws(v):
    return np.sum(jacobian(drawn)(v, 2.0 * v) @ v)


def within_a_gradient(v):
    return np.sum(grad(lambda u: np.sum(jacobian(drawn)(u) @ v))(v) * v)


def of_a_function_that_calls_it(v):
    return np.sum(jacobian(lambda u: drawn(u, v) * v)(v) @ v)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", [of_what_draws, within_a_gradient, of_a_function_that_calls_it], ids=lambda f: f.__name__)
def test_of_a_callee_that_no_text_runs_again(f):
    x = np.array([0.3, 0.7, 1.1])
    (slope,) = central_difference(f, (x,))
    assert grad(f).source
    np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], slope @ x, rtol=1e-6)
