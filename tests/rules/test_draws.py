"""Random draws move with the parameters of their distributions: both modes, all classes of generators, one draw a call."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, hessian, jvp

A, B = 0.7, 1.3
TWO = ("normal", "logistic", "gumbel", "laplace", "lognormal", "uniform")


NAMED = """
def f(a, b):
    rng = np.random.MAKE(5)
    first = rng.normal(a, scale=b)
    walk = rng.normal(np.array([a, b, 1.0]), b, size=(2, 3))
    third = rng.exponential(b, size=2) * rng.uniform(low=a, high=a + b) + rng.rayleigh(scale=a)
    return np.sum(walk * walk) * first + np.sum(third * third) * rng.lognormal(sigma=a)
"""
MAKERS = ("default_rng", "RandomState")


def of_module(a, b):
    np.random.seed(3)
    random.seed(3)
    return np.sum(np.random.normal(a, b, 3) ** 2) + random.gauss(a, b) * random.normalvariate(b, a)


def of_an_unknown_one(a, b, rng=None):
    rng = rng or np.random.default_rng(2)
    return np.sum(rng.normal(a, b, 3) ** 2) * rng.random()


def defined(text):
    filename = f"<draws {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"np": np}
    exec(compile(text, filename, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("f", [of_module, of_an_unknown_one, *(defined(NAMED.replace("MAKE", make)) for make in MAKERS)])
def test_draws(f):
    is_like_differences(f)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("method", TWO)
@pytest.mark.parametrize("make", MAKERS)
def test_distributions(make, method):
    text = "    rng = np.random.{}(5)\n    y = rng.{}(a, a + b, 4)\n    return np.sum(y * y) * a\n"
    is_like_differences(defined("def f(a, b):\n" + text.format(make, method)))


@pytest.mark.parametrize("method", ["weibull", "power", "pareto"])
@pytest.mark.parametrize("make", MAKERS)
def test_distributions_of_one_shape(make, method):
    text = "    rng = np.random.{}(5)\n    y = rng.{}(a + b, 4)\n    return np.sum(y * y) * a\n"
    is_like_differences(defined("def f(a, b):\n" + text.format(make, method)))


@pytest.mark.parametrize("make", MAKERS)
def test_triangles(make):
    text = "    rng = np.random.{}(5)\n    y = rng.triangular(-a, b - a, b, 6)\n    return np.sum(y * y * y) * a\n"
    is_like_differences(defined("def f(a, b):\n" + text.format(make)))


def is_like_differences(f):
    value, tangent = jvp(f, (A, B), (1.0, -0.5))
    assert value == f(A, B)
    slopes = [(f(A + h, B) - f(A - h, B)) / (2 * h) for h in (1e-6,)] + [(f(A, B + 1e-6) - f(A, B - 1e-6)) / 2e-6]
    np.testing.assert_allclose(grad(f, (0, 1))(A, B), slopes, rtol=1e-5)
    np.testing.assert_allclose(tangent, slopes[0] - 0.5 * slopes[1], rtol=1e-5)
    second = grad(lambda a: grad(f)(a, B))(A)
    np.testing.assert_allclose(second, (grad(f)(A + 1e-5, B) - grad(f)(A - 1e-5, B)) / 2e-5, rtol=1e-5, atol=1e-7)


def test_a_generator_draws_as_often_as_in_a_plain_call():
    def f(a, rng):
        return rng.normal(a, 2.0) * rng.uniform(a, 3.0)

    for make in (np.random.default_rng, np.random.RandomState):
        ours, plain = make(1), make(1)
        for _ in range(3):
            grad(f)(A, ours)
            f(A, plain)
        assert ours.random() == plain.random()


def test_hessian_of_a_sample():
    def f(v):
        return np.sum(np.random.default_rng(0).normal(v, np.exp(v)) ** 2)

    v = np.array([0.1, 0.2])
    slope = grad(f)
    expected = [(slope(v + 1e-5 * e) - slope(v - 1e-5 * e)) / 2e-5 for e in np.eye(2)]
    np.testing.assert_allclose(hessian(f)(v), expected, rtol=1e-6, atol=1e-7)


def test_a_parameter_that_no_scale_is_is_refused():
    def f(a):
        return np.random.default_rng(0).gamma(a)

    with pytest.raises(S2SGradError):
        grad(f)(A)
