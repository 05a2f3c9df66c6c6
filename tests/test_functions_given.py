"""Functions of libraries that are arguments, stand in lists or are captured: as if called by name, in all modes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import linalg, special

from s2sgrad import grad, hessian, jacfwd, jvp, value_and_grad, vjp

X = np.array([0.3, 0.4])
ONE = (np.tanh, np.sin, np.exp, np.square, np.negative, np.abs, abs, np.floor, np.asarray, np.cumsum, np.sort, special.expit)
TWO = (np.maximum, np.minimum, np.hypot, np.power, np.multiply, np.greater, np.less_equal, np.logaddexp, np.equal)
SUMS = (np.sum, sum, max, min, np.max, np.mean, np.median, np.linalg.norm, linalg.norm, special.logsumexp, np.prod)


def given(x, f, *rest):
    return np.sum(np.cos(f(x, *rest)))


def listed(x, fs, *rest):
    return np.sum(np.cos(fs[0](x, *rest)))


def named(x, *, f, rest=()):
    return np.sum(np.cos(f(x, *rest)))


def captured(f):
    return lambda x, *rest: np.sum(np.cos(f(x, *rest)))


def held(f, *rest):
    """The function with `f` in each place: (a function of x, of which the first argument is differentiated)."""
    return {
        "argument": lambda way: way(given, X, f, *rest),
        "list": lambda way: way(listed, X, [f], *rest),
        "capture": lambda way: way(captured(f), X, *rest),
    }


def differences(f, x, *rest):
    h = 1e-6
    return np.array([(f(x + h * e, *rest) - f(x - h * e, *rest)) / (2.0 * h) for e in np.eye(len(x))])


def by_columns(f, x, *rest):
    return np.array([jvp(lambda v: f(v, *rest), (x,), (e,))[1] for e in np.eye(len(x))])


WAYS = {
    "grad": lambda f, *args: grad(f)(*args),
    "value_and_grad": lambda f, *args: value_and_grad(f)(*args)[1],
    "vjp": lambda f, x, *rest: vjp(lambda v: f(v, *rest), x)[1](1.0)[0],
    "jvp": by_columns,
    "jacfwd": lambda f, *args: jacfwd(f)(*args),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [*ONE, *SUMS], ids=lambda f: f.__name__)
def test_of_one_argument(f, way):
    for place, call in held(f).items():
        np.testing.assert_allclose(call(WAYS[way]), differences(captured(f), X), atol=1e-8, err_msg=place)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", TWO, ids=lambda f: f.__name__)
def test_of_two_arguments(f, way):
    for place, call in held(f, 0.35).items():
        np.testing.assert_allclose(call(WAYS[way]), differences(captured(f), X, 0.35), atol=1e-8, err_msg=place)


def test_one_derivative_is_right_for_each_function_in_turn():
    df = grad(given)
    for f in (np.sin, np.exp, np.sin, lambda v: v * v, np.tanh, math.fsum, np.exp):
        np.testing.assert_allclose(df(X, f), differences(captured(f), X), atol=1e-8)
    dg = grad(named)
    for f in (np.sin, np.exp, np.sin, lambda v: v * v):
        np.testing.assert_allclose(dg(X, f=f), differences(captured(f), X), atol=1e-8)


def test_a_function_that_is_given_is_written_by_its_name():
    text = grad(given).source_for(X, np.tanh)
    assert "# for x: float64 (n,), f: tanh, rest: tuple\n" in text
    assert "np.tanh(x)" in text and "pullback" not in text


def powers(x, norm):
    return norm(x) ** 2


@pytest.mark.parametrize("norm", [np.linalg.norm, linalg.norm], ids=["numpy", "scipy"])
def test_squares_of_norms_are_squares(norm):
    zero = np.zeros(2)
    np.testing.assert_array_equal(hessian(lambda x: norm(x) ** 2)(zero), 2.0 * np.eye(2))
    np.testing.assert_array_equal(hessian(lambda x: norm(x - 1.0, axis=0) ** 2)(np.ones(2)), 2.0 * np.eye(2))
    if norm is np.linalg.norm:
        np.testing.assert_array_equal(hessian(powers)(zero, norm), 2.0 * np.eye(2))


def length(v, start=0.0):
    for t in v:
        start = start + t * t
    return np.sqrt(start)


def test_squares_of_what_helpers_give_by_keyword_are_squares():
    zero = np.zeros(2)
    np.testing.assert_array_equal(hessian(lambda x: length(x) ** 2 + length(v=2.0 * x) ** 2)(zero), 10.0 * np.eye(2))


SETTINGS = {"steps": 2, "weights": [0.1, 0.2], "deep": {"k": 2.0}, "name": "tanh"}


def by_settings(x):
    for i in range(SETTINGS["steps"]):
        x = x + SETTINGS["weights"][i] * np.tanh(SETTINGS["deep"]["k"] * x)
    for name in SETTINGS:
        x = x * (1.5 if name == "name" else 1.0)
    return np.sum(x) * len(SETTINGS) * SETTINGS.get("scale", 1.0)


def test_settings_of_a_dict_are_known(monkeypatch):
    df = grad(by_settings)
    assert "unbroadcast" not in df.source_for(X)
    changes = [{}, {"steps": 1}, {"weights": [0.3, np.array([0.1, 0.2])]}, {"weights": np.array([0.5, 0.6])}, {"scale": 2.0},
               {"scale": np.array([2.0, 3.0])}, {"deep": {"k": np.array([1.0, 2.0]), "l": 3}},
               {"deep": {"k": 3}}]  # fmt: skip
    for change in changes:
        for key, value in change.items():
            monkeypatch.setitem(SETTINGS, key, value)
        if np.ndim(by_settings(X)) == 0:
            np.testing.assert_allclose(df(X), differences(by_settings, X), rtol=1e-6)
    monkeypatch.delitem(SETTINGS, "deep")
    with pytest.raises(KeyError):
        df(X)
