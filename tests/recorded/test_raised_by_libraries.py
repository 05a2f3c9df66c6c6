"""What a library raises because it met a handle is an error that names the call and the line, and no error of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, special, stats
from unruled import first_without_rule

from recorded.judged import assert_gradient
from s2sgrad import S2SGradError, grad, hessian, jvp, vjp
from s2sgrad.errors import NoRule
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.runtime.checks import Refusal

X = np.array([0.7, 1.3, 0.4, 0.9, 1.1])


# of each row the first that has no rule today; they are called alike
CORRELATE = first_without_rule(stats.logrank, stats.multiscale_graphcorr)
SERIES = first_without_rule(special.riccati_jn, special.mathieu_even_coef, special.lqn, special.mathieu_odd_coef)


def ranks(x):
    return CORRELATE(x, x * x)[0]


def resonant(x):
    return np.sum(SERIES(2, x[0])[0])


@pytest.mark.parametrize("f", [ranks, resonant], ids=lambda f: f.__name__)
def test_the_call_is_named(f):
    with pytest.raises(NoRule, match="reads the values of what carries a derivative, and has no derivative rule") as error:
        Recorded(f, (X,), {}, (0,))
    assert error.value.place.line == f.__code__.co_firstlineno + 1


def through_a_text(x):
    y = x * 2.0
    return json.loads(json.dumps(y))


def test_the_call_of_what_is_beneath_is_shown():
    """Not the head of the function: the line that called the library, whose own objects are named by their class."""
    with pytest.raises(NoRule, match=r"this leads to line \d+ of \w+\.py, where `Encoder` reads") as error:
        grad(through_a_text)(2.0)
    assert error.value.place.line == through_a_text.__code__.co_firstlineno + 2


def test_a_number_that_is_no_index_is_an_error_of_types():
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        grad(lambda d: d["a"] * d["b"])({"a": 1.0, "b": "two"})


DATA = np.array([0.0, 2.0, 1.0, 3.0])


def estimated(x):
    return stats.gaussian_kde(DATA, x[0])(0.5)[0]


def estimated_where_it_varies(x):
    return stats.gaussian_kde(DATA, x[0]).logpdf(x[1])[0]


def interpolated(x):
    return interpolate.RegularGridInterpolator((np.arange(5.0),), x)(np.array([1.5]))[0]


def test_an_object_that_stands_for_what_it_is_made_of():
    assert_gradient(interpolated, (X,), (0,))


@pytest.mark.parametrize("f", [estimated, estimated_where_it_varies], ids=lambda f: f.__name__)
def test_what_an_object_is_made_of_without_a_rule(f):
    with pytest.raises(NoRule, match="the keyword `bw_method`") as error:
        grad(f)(X)
    assert error.value.place.line == f.__code__.co_firstlineno + 1


def resampled(x):
    return stats.gaussian_kde(DATA, x[0]).resample(2, seed=0)[0, 0]


def test_an_object_that_holds_a_handle():
    with pytest.raises((Refusal, NoRule), match=r"gaussian_kde|multivariate_normal"):
        Recorded(resampled, (X,), {}, (0,))


def integrated(x):
    return stats.gaussian_kde(DATA, x[0]).integrate_box_1d(0.0, 1.0)


def test_what_such_an_object_computes_by_rules():
    assert_gradient(integrated, (X,), (0,))


def swallows(x):
    try:
        return np.sum(SERIES(2, x[0])[0])
    except (TypeError, ValueError):
        return np.sum(x)


def test_no_handler_of_the_users_passes_over_it():
    with pytest.raises(NoRule, match=f"`{SERIES.__name__}`"):
        Recorded(swallows, (X,), {}, (0,))


def mismatched(x):
    try:
        return np.sum(linalg.solve_toeplitz(x, x[:2]))
    except ValueError:
        return np.sum(x * x)


def test_what_the_plain_call_raises_is_the_programs():
    assert_gradient(mismatched, (X,), (0,))


class Own(Exception):
    pass


def calls_back(x):
    def integrand(t):
        raise Own(f"{t > 0.0}")

    try:
        return integrate.quad(integrand, 0.0, 1.0, args=())[0] * x[0]
    except Own:
        return np.sum(x * x)


def test_what_a_function_raises_that_a_library_calls_is_the_programs():
    assert_gradient(calls_back, (X,), (0,))


def orders_in_a_tuple(x):
    return np.sum(special.eval_chebyt((3,), x * 0.1) * special.gammaincinv([2.0], x * 0.5))


def test_a_tuple_among_the_operands():
    assert_gradient(orders_in_a_tuple, (X,), (0,))


def dynamic(x):
    todo = [x]
    for v in todo:
        if len(todo) < 3:
            todo.append(SERIES(2, v[0])[0])
    return np.sum(todo[-1])


DERIVATIVES = {
    "grad": lambda: grad(dynamic)(X),
    "jvp": lambda: jvp(dynamic, (X,), (X,)),
    "vjp": lambda: vjp(dynamic, X),
    "hessian": lambda: hessian(dynamic)(X),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_as_users_see_it(name):
    with pytest.raises(S2SGradError):
        DERIVATIVES[name]()


class Words:
    def __init__(self, words):
        self.words = words


def parsed(tokens, x):
    word = tokens.words.pop()
    return SERIES(2, parsed(tokens, x)[0])[0] if word == "spline" else x


def machine(x):
    return np.sum(parsed(Words(["x", "spline"]), x))


@pytest.mark.parametrize("derivative", [lambda: grad(machine)(X), lambda: vjp(machine, X), lambda: hessian(machine)(X)])
def test_a_rule_is_what_is_missing(derivative):
    with pytest.raises(NoRule, match=f"`{SERIES.__name__}`"):
        derivative()
