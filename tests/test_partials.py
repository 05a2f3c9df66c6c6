"""`gradients` of a function: partial and total derivatives in parameters and locals, compiled from source."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

from s2sgrad import UnconnectedGradients, Unsupported, function, gradients, stop_gradient


def line(a):
    b = 2.0 * a
    return a + b


def product(w1, w2):
    a = w1 * 3.0
    return a * w2


def sums(w1, w2, w3, w4):
    z1 = w1 + w2 + w3
    z2 = w3 + w4
    return [z1, z2]


def network(x, w):
    z = x @ w
    y = np.tanh(z)
    if np.sum(y) > 0.0:
        s = np.sum(y * y)
        q = s * 2.0
    else:
        q = 1.0
    return q + np.sum(z)


def looped(x):
    total = 0.0
    twice = x * 2.0
    for i in range(3):
        total = total + twice * i
        last = total * x
    return last


X = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6]])
W = np.array([[0.7, 0.2], [-0.3, 0.8], [0.5, 0.9]])
ONE = np.ones(3)


def test_total_derivatives_in_a_parameter_and_in_a_local():
    assert gradients(line, xs=["a", "b"])(0.0) == [3.0, 1.0]


def test_partial_derivatives_where_the_flow_is_stopped():
    assert gradients(line, xs=["a", "b"], stop_gradients=["a", "b"])(0.0) == [1.0, 1.0]
    assert gradients(line, xs=["a", "b"], stop_gradients="b")(0.0) == [1.0, 1.0]
    assert gradients(line, xs=["a", "b"], stop_gradients="a")(0.0) == [3.0, 1.0]


def test_the_result_is_a_list_for_a_single_x_too():
    assert gradients(line, 0)(5.0) == [3.0]
    assert gradients(line, "a")(5.0) == [3.0]


def test_stopped_as_with_stop_gradient_and_both_stop_at_the_first():
    def written(w1, w2):
        a = w1 * 3.0
        b = stop_gradient(a) * w2
        return b

    assert gradients(written, xs=[0, 1])(2.0, 2.0) == [None, 6.0]
    assert gradients(product, xs=[0, 1], stop_gradients="a")(2.0, 2.0) == [None, 6.0]
    assert gradients(written, xs=["a", "b", "w2"], stop_gradients="b")(2.0, 2.0) == [None, 1.0, None]


@pytest.mark.parametrize("zero", ["zero", UnconnectedGradients.ZERO])
def test_zeros_for_what_is_unconnected(zero):
    assert gradients(product, xs=[0, 1], stop_gradients="a", unconnected_gradients=zero)(2.0, 2.0) == [0.0, 6.0]


def test_the_source_shows_where_the_flow_stops():
    df = gradients(line, xs=["a", "b"], stop_gradients=["a", "b"])
    text = df.source_for(0.0)
    assert "def line_gradients(a, *, seed=1.0):" in text
    assert "Gradients of `line` in a, b; the flow stops at a, b." in text
    text = gradients(product, xs="w2", stop_gradients="a").source_for(2.0, 2.0)
    assert "a = stop_gradient_(w1 * 3.0)" in text  # in this module `stop_gradient` is the one that tapes hear of, too


def test_gradients_in_locals_agree_with_differences():
    z_bar, y_bar, s_bar, w_bar = gradients(network, xs=["z", "y", "s", "w"])(X, W)
    z = X @ W
    y = np.tanh(z)
    assert s_bar == 2.0
    np.testing.assert_allclose(y_bar, 4.0 * y)
    np.testing.assert_allclose(z_bar, 1.0 + 4.0 * y * (1.0 - y * y))
    np.testing.assert_allclose(w_bar, X.T @ z_bar)


def test_a_local_of_the_branch_not_taken_gives_none():
    z_bar, s_bar = gradients(network, xs=["z", "s"])(X, -W)
    assert s_bar is None
    np.testing.assert_allclose(z_bar, np.ones((2, 2)))


def test_weights_for_each_result_and_none_for_ones():
    first, second = np.array([2.0, 2.0, 3.0]), np.array([3.0, 2.0, 4.0])
    given = gradients(sums, xs=[0, 1, 2, 3], grad_ys=[first, second])(ONE, ONE, ONE, ONE)
    np.testing.assert_array_equal(given, [first, first, first + second, second])
    given = gradients(sums, xs=["w3"], grad_ys=[None, second])(ONE, ONE, ONE, ONE)
    np.testing.assert_array_equal(given, [1.0 + second])
    copy = pickle.loads(pickle.dumps(gradients(sums, xs=["w3"], grad_ys=[None, second])))
    np.testing.assert_array_equal(copy(ONE, ONE, ONE, ONE), [1.0 + second])


def test_weights_of_another_length_are_a_value_error():
    with pytest.raises(ValueError, match="structure"):
        gradients(sums, xs=[0], grad_ys=[ONE])(ONE, ONE, ONE, ONE)


@pytest.mark.parametrize("name", ["total", "last", "i", "nothing"])
def test_locals_assigned_again_or_in_loops_are_a_value_error(name):
    with pytest.raises(ValueError, match="exactly once"):
        gradients(looped, xs=name)(1.5)
    with pytest.raises(ValueError, match="exactly once"):
        gradients(looped, xs="x", stop_gradients=name)(1.5)
    assert gradients(looped, xs=["x", "twice"])(1.5) == [18.0, 4.5]


class Model:
    def scaled(self, x, k):
        return x * k


def of_any(x, *rest):
    return x * rest[0]


@pytest.mark.parametrize(("f", "args", "expected"), [
    (line, (0.0,), [3.0]),
    (product, (2.0, 3.0), [9.0, 6.0]),
    (Model().scaled, (2.0, 3.0), [3.0, 2.0]),
    (functools.partial(product, w2=3.0), (2.0,), [9.0]),
    (functools.partial(product, 2.0), (3.0,), [6.0]),
    (lambda x, n=3: x**n, (2.0,), [12.0, None]),
    (lambda x, mode: x * x if mode == "square" else x, (2.0, "square"), [4.0, None]),
    (lambda p, x: p["w"] * x, ({"w": 2.0}, 3.0), [{"w": 3.0}, 2.0]),
])  # fmt: skip
def test_without_xs_it_is_all_parameters(f, args, expected):
    assert gradients(f)(*args) == expected


def test_without_xs_keywords_are_parameters_too():
    def f(x, *, k):
        return x * k

    assert gradients(f)(2.0, k=3.0) == [3.0, 2.0]
    assert gradients(lambda a, b: (a * b, a), grad_ys=(1.0, 2.0))(2.0, 3.0) == [5.0, 2.0]


@pytest.mark.parametrize(("xs", "expected"), [(0, [9.0]), ([1], [6.0]), (-1, [6.0]), ([1, 0, "a"], [6.0, 9.0, 3.0])])
def test_xs_may_be_positions(xs, expected):
    assert gradients(product, xs)(2.0, 3.0) == expected


def test_parameters_that_are_not_there():
    for xs, stops in ((2, None), ([0, -3], None), (["z"], None), (0, 5), (0, ["z"])):
        with pytest.raises(ValueError, match=r"position -?\d is out of range|'z' is no parameter"):
            gradients(product, xs, stop_gradients=stops)(2.0, 3.0)
    with pytest.raises(ValueError, match="in `xs`"):
        gradients(of_any)
    with pytest.raises(ValueError, match="no arguments"):
        gradients(lambda: 3.0)


def test_xs_holds_names_and_positions():
    with pytest.raises(ValueError, match="positions and names"):
        gradients(line, xs=[2.0])
    with pytest.raises(ValueError, match="unconnected_gradients"):
        gradients(line, xs=0, unconnected_gradients="nothing")


def test_a_local_that_shares_memory_that_is_written_is_refused():
    def part(x):
        v = x * 2.0
        w = v[1:]
        v[1] = x[0] * 3.0
        return np.sum(w * v[:-1])

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(Unsupported, match=r"`w`.*shares its memory"):
        gradients(part, xs="w")(x)
    with pytest.raises(Unsupported, match=r"`w`.*shares its memory"):
        gradients(part, xs="x", stop_gradients="w")(x)
    np.testing.assert_array_equal(gradients(part, xs=["x", "v"])(x), [[30.0, 0.0, 6.0], [3.0, 0.0, 3.0]])


def test_integers_are_constants():
    assert gradients(lambda n, x: x * n, xs=[0, 1])(2, 3.0) == [None, 2.0]


def test_float32_stays():
    def f(x):
        y = x * np.float32(2.0)
        return np.sum(y * y)

    assert [g.dtype for g in gradients(f, xs=["x", "y"])(np.ones(2, np.float32))] == [np.float32, np.float32]


def test_the_two_forms_agree():
    @function
    def graph(a):
        b = 2.0 * a
        return gradients(a + b, [a, b]), gradients(a + b, [a, b], stop_gradients=[a, b])

    total, partial = graph(0.0)
    assert [float(g) for g in total] == gradients(line, xs=["a", "b"])(0.0)
    assert [float(g) for g in partial] == gradients(line, xs=["a", "b"], stop_gradients=["a", "b"])(0.0)


def test_options_of_tensorflow_have_no_effect():
    df = gradients(line, "a", None, "name", True, True, None)
    assert df(1.0) == [3.0]


def test_the_function_travels():
    df = pickle.loads(pickle.dumps(gradients(line, xs=["a", "b"], stop_gradients="b")))
    assert df(0.0) == [1.0, 1.0]


def test_the_arguments_are_not_changed_and_share_nothing_with_the_gradients():
    x = X.copy()
    z_bar, w_bar = gradients(network, xs=["z", "w"])(x, W)
    w_bar[...] = 7.0
    z_bar[...] = 7.0
    np.testing.assert_array_equal(x, X)
    again = gradients(network, xs=["z", "z"])(x, W)
    assert not np.shares_memory(*again)


def test_a_stop_at_another_name_of_an_array_that_is_written_is_refused():
    def alias(x):
        y = x
        y[0] = 5.0
        return np.sum(x * y)

    with pytest.raises(Unsupported, match="shares its memory"):
        gradients(alias, xs="x", stop_gradients="y")(np.array([0.6, 0.7]))


def test_a_stop_at_a_parameter_that_is_bound_anew_stops_nothing():
    def rebound(x):
        x = x * 2.0
        y = x * x
        return y * x

    assert gradients(rebound, xs="x", stop_gradients="x")(0.6) == pytest.approx([24.0 * 0.36])


def test_a_stop_at_a_function_is_refused():
    def closed(x):
        g = lambda t: t * x  # noqa: E731
        return g(2.0)

    with pytest.raises(Unsupported, match="is a function"):
        gradients(closed, xs="x", stop_gradients="g")(0.6)
