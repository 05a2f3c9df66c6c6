"""Arguments of classes of arrays: followed as the arrays that they are, or refused where their operators are their own."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp
from s2sgrad.runtime.checks import Refusal

pytestmark = pytest.mark.records
X = np.array([1.0, 2.0, 3.0])
UNITS = np.eye(3) * 1e-6


class Plain(np.ndarray):
    pass


class Named(np.ndarray):
    def __array_finalize__(self, made):
        self.unit = getattr(made, "unit", "m")


class Sevenfold(np.ndarray):
    def __mul__(self, other):
        return 7.0 * np.asarray(self)


@pytest.fixture(params=["memmap", "recarray", "plain", "named"])
def x(request, tmp_path):
    if request.param == "memmap":
        mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
        mapped[:] = X
        return mapped
    return X.view({"recarray": np.recarray, "plain": Plain, "named": Named}[request.param])


def stored(x):
    exec("")
    t = x * x
    t[0] = x[1]
    return np.sum(t * np.sin(x))


def item(x):
    exec("")
    return x[0] * x[1] + x[2]


def in_a_dict(d):
    exec("")
    return np.sum(d["w"] * d["w"] * d["w"])


def expected(f):
    return np.array([(f(X + unit) - f(X - unit)) / 2e-6 for unit in UNITS])


@pytest.mark.parametrize("f", [stored, item])
def test_they_are_followed(f, x):
    before = np.array(x)
    found = grad(f)(x)
    np.testing.assert_allclose(found, expected(f), rtol=1e-7)
    np.testing.assert_allclose(value_and_grad(f)(x)[0], f(X))
    np.testing.assert_array_equal(value_and_grad(f)(x)[1], found)
    np.testing.assert_allclose(jvp(f, (x,), (X,))[1], found @ X, rtol=1e-12)
    np.testing.assert_allclose(vjp(f, x)[1](1.0)[0], found)
    slopes = np.array([(grad(f)(X + unit) - grad(f)(X - unit)) / 2e-6 for unit in UNITS])
    np.testing.assert_allclose(hessian(f)(x), slopes, rtol=1e-6, atol=1e-8)
    for matrix in (jacfwd, jacrev):
        np.testing.assert_allclose(matrix(lambda x: f(x) * x)(x), np.outer(X, found) + f(X) * np.eye(3), rtol=1e-12)
    np.testing.assert_array_equal(x, before)


def test_they_are_followed_in_containers(x):
    np.testing.assert_allclose(grad(in_a_dict)({"w": x})["w"], 3.0 * X * X)


@pytest.mark.parametrize("f", [stored, item])
@pytest.mark.parametrize("transform", [grad, jacfwd, jacrev])
def test_operators_of_their_own_are_refused(f, transform):
    with pytest.raises((S2SGradError, Refusal, TypeError)):
        transform(f)(X.view(Sevenfold))
