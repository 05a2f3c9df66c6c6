"""A function that has no text keeps its caller's: there it is a pair that records, at the first and at the second order."""

from __future__ import annotations

import collections
import functools

import numpy as np
import pytest

from s2sgrad import grad, gradients, hessian, jacobian, jvp, linearize, value_and_grad, vjp
from s2sgrad.errors import S2SGradError

X = np.array([0.7, 1.3, 0.4])
V = np.array([1.0, -1.0, 0.5])


def iterators(h):
    both = [iter(h), iter(h * h)]
    return next(both[0]) * next(both[1])


class Twice:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        yield self.value
        yield self.value * self.value


def side_by_side(h):
    twice = [Twice(v) for v in h]
    return sum(a * b for a, b in zip(twice[0], twice[1], strict=True)) + h[2]


def closes_over(h):
    total = 0.0

    def walk(n):
        nonlocal total
        total = total + h[n] * h[n]
        if n > 0:
            walk(n - 1)

    walk(2)
    return total


OPERATIONS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "sin": lambda a, b: np.sin(a) * b}


def stack_machine(h):
    stack = []
    for word in ("0", "1", "mul", "2", "sin", "0", "add"):
        if word in OPERATIONS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATIONS[word](a, b))
        else:
            stack.append(h[int(word)])
    return stack[0]


def filled(h):
    rows = [np.zeros(3), h * 2.0]
    its = [iter(rows[0]), iter(rows[1])]
    rows[0][1] = next(its[1]) * h[1]
    return np.sum(rows[0] * h) + next(its[0])


CALLEES = (iterators, side_by_side, closes_over, stack_machine, filled)
every_callee = pytest.mark.parametrize("callee", CALLEES, ids=lambda f: f.__name__)


def in_a_loop(callee):
    def outer(x):
        h = np.sin(x) * x
        for _ in range(3):
            h = h * 0.5 + callee(h) * x * 0.1
        return np.sum(h * h)

    return outer


def differences(f, x, step=1e-6):
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.mark.sampled(one_in=2)
@every_callee
def test_the_caller_is_compiled(callee):
    f = in_a_loop(callee)
    df = grad(f)
    np.testing.assert_allclose(df(X), differences(f, X), rtol=1e-6)
    assert "reverse sweep" in df.source or callee in (side_by_side, closes_over)  # which may change what others see
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, df(X))


@pytest.mark.sampled(one_in=3)
@every_callee
def test_second_order(callee):
    f = in_a_loop(callee)

    def slope(x):
        return np.sum(grad(f)(x) * V)

    np.testing.assert_allclose(grad(slope)(X), differences(slope, X, 1e-5), rtol=1e-5, atol=1e-8)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("callee", [iterators, side_by_side, closes_over, filled])
def test_hessians(callee):
    f = in_a_loop(callee)
    np.testing.assert_allclose(hessian(f)(X), differences(grad(f), X, 1e-5).T, rtol=1e-5, atol=1e-8)


@pytest.mark.sampled(one_in=2)
@every_callee
def test_tangents_and_matrices(callee):
    f = in_a_loop(callee)
    value, dot = jvp(f, (X,), (V,))
    np.testing.assert_allclose([value, dot], [f(X), differences(f, X) @ V], rtol=1e-6)
    along = linearize(f, X)[1]
    np.testing.assert_allclose([along(V), along(-V)], [dot, -dot], rtol=1e-9)

    def both(x):
        return np.array([f(x), 2.0 * callee(x)])

    expected = np.stack([differences(f, X), differences(lambda x: 2.0 * callee(x), X)])
    np.testing.assert_allclose(jacobian(both)(X), expected, rtol=1e-6, atol=1e-9)


@every_callee
def test_a_pullback_is_called_twice(callee):
    f = in_a_loop(callee)
    value, pullback = vjp(f, X)
    assert value == f(X)
    np.testing.assert_array_equal(2.0 * pullback(1.0)[0], pullback(2.0)[0])
    np.testing.assert_allclose(pullback(1.0)[0], grad(f)(X), rtol=1e-12)


@every_callee
def test_a_callee_that_only_the_run_knows(callee):
    def outer(x, f):
        return np.sum(np.sin(x)) * f(x * x)

    np.testing.assert_allclose(grad(outer)(X, callee), differences(lambda x: outer(x, callee), X), rtol=1e-6, atol=1e-9)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("callee", [iterators, side_by_side, closes_over, filled])
def test_the_tangent_of_a_pullback(callee):
    def of_the_value_and_two_calls(x):
        y, pullback = vjp(callee, x * x)
        return np.sum(pullback(np.sin(y) * x[0])[0] * x) + y * pullback(2.0)[0][1]

    def of_the_seed_alone(x):
        _, pullback = vjp(callee, V)
        return np.sum(pullback(x[0] * x[1])[0] * x)

    for f in (of_the_value_and_two_calls, of_the_seed_alone):
        value, dot = jvp(f, (X,), (V,))
        np.testing.assert_allclose([value, dot], [f(X), differences(f, X, 1e-5) @ V], rtol=1e-6, atol=1e-8)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("callee", [iterators, side_by_side, closes_over, filled])
def test_the_tangent_of_a_pullback_in_some_arguments(callee):
    def scaled(h, k):
        return callee(h * k)

    def f(k):
        y, pullback = vjp(scaled, X, k)
        dh, dk = pullback(y)
        return np.sum(dh) * dk

    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(jvp(f, (1.5,), (1.0,)), [f(1.5), slope], rtol=1e-6)


@pytest.mark.parametrize("callee", [iterators, side_by_side, closes_over, filled])
def test_strict_refuses(callee):
    with pytest.raises(S2SGradError):
        grad(in_a_loop(callee), strict=True)(X)


def writes_its_argument(h):
    its = [iter(h), iter(h * h)]
    h[0] = next(its[1]) * 2.0
    return next(its[0])


def gives_it_back(h):
    its = [iter(h), iter(h * h)]
    return h if next(its[0]) * next(its[1]) > 0.0 else h * 2.0


def written_behind(h):
    y = gives_it_back(h)
    y *= 2.0
    return np.sum(y * h)


@pytest.mark.parametrize("callee", [writes_its_argument, written_behind])
def test_what_a_caller_would_not_see_is_recorded_with_it(callee):
    def outer(x):
        h = x * x
        y = callee(h)
        return y * np.sum(h * x)

    np.testing.assert_allclose(grad(outer)(X), differences(outer, X), rtol=1e-6)


def test_what_stands_twice_among_the_arguments():
    its = []

    def read(ws):
        its[:] = [iter(ws[0]), iter(ws[1])]
        return next(its[0]) * next(its[1]) ** 2

    w = np.array([2.0, 3.0])
    first, second = grad(read)([w, w])
    np.testing.assert_allclose([first, second], [[4.0, 0.0], [8.0, 0.0]])

    def grown(a, b):
        its[:] = [iter(a), iter(b)]
        a.append(next(its[0]))
        return b[-1] * next(its[1])

    ws = [1.0, 2.0]
    with pytest.raises(S2SGradError):
        grad(grown, (0, 1))(ws, ws)
    assert ws == [1.0, 2.0]


def drawn(v):
    its = [iter([v]), iter([1.0])]
    return next(its[0])


def test_a_callee_that_returns_its_argument_is_recorded_with_its_caller():
    def outer(x):
        y = drawn(x * x)
        return y[0] * np.sum(y)

    np.testing.assert_allclose(grad(outer)(X), differences(outer, X), rtol=1e-6)
    np.testing.assert_allclose(grad(lambda x: drawn(x * x))(X, seed=V), 2.0 * X * V, rtol=1e-12)


def test_what_a_recording_cannot_tell_asks_for_a_text():
    def total(a, b):
        its = [iter([a * b]), iter([a])]
        return next(its[0]) + next(its[1])

    assert grad(total, (0, 1))(2.0, 3.0) == (4.0, 2.0)
    with pytest.raises(S2SGradError):
        gradients(total, xs=["a", "b"], stop_gradients="b")(2.0, 3.0)
    with pytest.raises(S2SGradError):
        grad(total, (0, 1), unconnected_gradients="none")(2.0, 3.0)


def kept_with_its_factor(*parts):
    return functools.partial(*parts)


def made_by_a_callee(x, make):
    scaled = make(lambda w, t: w * t, x[1])
    return scaled(x[0]) * scaled(x[2])


def test_a_callee_gives_a_function_that_holds_a_derivative():
    """The tangent of what it holds is seen by nobody: refused, in both modes."""
    for way in (grad(made_by_a_callee), lambda x, make: jvp(made_by_a_callee, (x, make), (V, None))):
        with pytest.raises(S2SGradError):
            way(X, kept_with_its_factor)


class Sums(dict):
    """A dict of the user's."""

    def total(self):
        return sum(self.values())


def of_their_own_classes(x):
    lists, counts, sums = collections.defaultdict(list), collections.Counter(), Sums(a=x[0] * x[1])
    for key, v in zip("aba", x, strict=True):
        lists[key].append(v)
        counts[key] += v * v
    return {"all": [lists, counts, sums]}


def test_what_is_returned_stays_of_its_class():
    """As the value of a pullback, beside a gradient, and along a tangent; and the pullback takes cotangents of it."""
    plain = of_their_own_classes(X)
    value, pullback = vjp(of_their_own_classes, X)
    _, aux = grad(lambda x: (x[0] * x[1], of_their_own_classes(x)), has_aux=True)(X)
    along, _ = jvp(of_their_own_classes, (X,), (V,))
    for found in (value, aux, along):
        assert found == plain
        assert [type(v) for v in found["all"]] == [collections.defaultdict, collections.Counter, Sums]
        assert found["all"][2].total() == X[0] * X[1]
        assert found["all"][0]["new"] == []
    seed = {"all": [{"a": [1.0, 0.0], "b": [0.0]}, {"a": 0.0, "b": 1.0}, {"a": 2.0}]}
    np.testing.assert_allclose(pullback(seed)[0], [1.0 + 2.0 * X[1], 2.0 * X[1] + 2.0 * X[0], 0.0])
