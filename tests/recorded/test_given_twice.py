"""One array in several places among the arguments: each place has a gradient of its own, as in a text, or none."""

import itertools

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import S2SGradError, grad, jvp, vjp

X = np.array([0.3, 0.7, 1.1])


def recorded(y):
    """What no text can say."""
    exec("pass")
    return y


def product(x, r):
    return np.sum(recorded(x * x + r * x))


def in_a_star(x, *rest):
    return np.sum(recorded(x * x + rest[0] * x))


def in_a_list(x, held):
    return np.sum(recorded(x * x + held[0] * x))


def in_a_dict(x, held):
    return np.sum(recorded(x * x + held["a"] * x))


def alone(v):
    return v


HELD = {product: alone, in_a_star: alone, in_a_list: lambda v: [v], in_a_dict: lambda v: {"a": v}}


@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_a_constant_that_is_what_is_differentiated(f):
    held = HELD[f]
    (slope,) = central_difference(lambda x: f(x, held(X)), (X,))
    given = held(X)
    np.testing.assert_allclose(grad(f, 0)(X, given), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X, given), (X, None))[1], slope @ X, rtol=1e-6)
    np.testing.assert_allclose(vjp(lambda x: f(x, given), X)[1](1.0)[0], slope, rtol=1e-6)


@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_such_a_constant_of_a_gradient_inside(f):
    def whole(v):
        return np.sum(recorded(grad(f, 0)(v, HELD[f](v)) * v))

    (slope,) = central_difference(whole, (X,))
    np.testing.assert_allclose(grad(whole)(X), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(whole, (X,), (X,))[1], slope @ X, rtol=1e-6)


def test_both_places():
    first, second = grad(product, (0, 1))(X, X)
    np.testing.assert_allclose(first, 3.0 * X)
    np.testing.assert_allclose(second, X)


def writes_first(x, r):
    y = np.sum(recorded(x * x))
    x[0] = 5.0
    return y + np.sum(r * r)


def writes_second(x, r):
    y = np.sum(recorded(x * x))
    r[0] = 5.0
    return y + np.sum(x * x)


def adds_to_an_item(x, r):
    r[0] += x[1]
    return np.sum(recorded(x * x) * r)


WRITERS, PLACES = [writes_first, writes_second, adds_to_an_item], [0, 1, (0, 1)]


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize(("f", "argnums"), [*itertools.product(WRITERS, PLACES)])
def test_no_number_where_one_of_them_is_written(f, argnums):
    for given in ((a := X.copy(), a), (a := X.copy(), a[:]), (a := X.copy(), a[::-1])):
        with pytest.raises((S2SGradError, ValueError, TypeError)):
            grad(f, argnums)(*given)
    single, other = X.copy(), X.copy()
    grad(f, argnums)(single, other)


@pytest.mark.parametrize("argnums", PLACES)
def test_no_number_where_a_list_that_stands_twice_is_changed(argnums):
    def f(xs, ys):
        ys.append(xs[0] * 2.0)
        return np.sum(recorded(xs[0] * xs[-1]))

    twice = [X.copy(), X * 2.0]
    with pytest.raises((S2SGradError, ValueError, TypeError)):
        grad(f, argnums)(twice, twice)
