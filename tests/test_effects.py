"""What closures and comprehensions do besides their values is done once, in order; errors come when they would."""

# ruff: noqa: B008, C417, E731

from __future__ import annotations

import math

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, value_and_grad


def told(name, v):
    print(name)
    return v


def lambdas(x):
    f = lambda t: told("f", t * x)
    g = lambda t: told("g", f(t)) + f(x)
    return g(f(2.0)) * f(x)


def defaults_once(x):
    def f(t, k=told("default", x)):
        print("called")
        return t * k

    return f(x) + f(2.0)


def order_of_arguments(x):
    f = lambda a, b, c: a * b + c
    return f(told("first", x), c=told("third", x * x), b=told("second", 2.0))


def short_circuits(x):
    positive = lambda v: told("asked", v) > 0.0
    y = x if positive(-x) and positive(x) else x * x
    return y if positive(x) or positive(x) else 1.0


def callbacks(x):
    def run(callback):
        v = x
        for k in range(3):
            v = np.sin(v)
            callback(k, v)
        return v

    return run(lambda k, v: print("step", k, v > 0.0)) * x


def recursion(x):
    def p(n):
        print("p", n)
        return 1.0 if n == 0 else x * p(n - 1)

    return p(3)


def inner_gradient(x):
    f = lambda t: told("inner", t * t * x)
    return grad(f)(x) * x


def mapped(x):
    return sum(map(lambda k: told(f"k {k}", x**k), [1, 2]))


@pytest.mark.parametrize(
    "f",
    [
        lambdas, defaults_once, order_of_arguments, short_circuits, callbacks,
        recursion, inner_gradient, mapped,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_effects_come_once_and_in_order(f, capsys):
    value = f(1.3)
    printed = capsys.readouterr().out
    assert printed
    gradient = grad(f)(1.3)
    assert capsys.readouterr().out == printed
    again, _ = value_and_grad(f)(1.3)
    assert capsys.readouterr().out == printed
    assert math.isclose(again, value, rel_tol=1e-14)
    (expected,) = central_difference(f, (1.3,), 0)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    capsys.readouterr()
    grad(grad(f))(1.3)
    assert capsys.readouterr().out == printed


def raised_in_a_closure(x):
    def checked(v):
        print("checked")
        if v < 0.0:
            raise ValueError("negative")
        return np.log(v)

    y = checked(x)
    return y * checked(-x)


def asserted_in_a_comprehension(x):
    def checked(k):
        print(k)
        assert k < 2, "this number is too large"
        return x * k

    return sum([checked(k) for k in range(4)])


def key_that_is_not_there(x):
    d = {"a": x}
    print("before")
    return d["b"] * x


def list_that_is_empty(x):
    a = [x]
    print(a.pop() > 0.0)
    v = a.pop()
    print("after")
    return v * x


def index_out_of_range(x):
    a = []
    a.append(x)
    print("before")
    return a[1] * x


def too_many_values(x):
    def pair():
        return [x, x * x, x][:3]

    print("before")
    a, b = pair()
    return a * b


def division_by_zero(x):
    f = lambda k: told("f", x) / k
    return f(1) + f(0)


def unbound(x):
    def f():
        return w * x

    print("before")
    y = f()
    w = 2.0
    return y * w


def converted(x):
    print("before")
    return x * float("no number")


@pytest.mark.parametrize(
    "f",
    [
        raised_in_a_closure, asserted_in_a_comprehension, key_that_is_not_there, list_that_is_empty,
        index_out_of_range, too_many_values, division_by_zero, unbound, converted,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_errors_of_the_program_are_raised_where_it_raises_them(f, capsys):
    with pytest.raises(Exception) as raised:
        f(1.3)
    printed = capsys.readouterr().out
    for derived in (value_and_grad(f), grad(f)):
        with pytest.raises(raised.type) as again:
            derived(1.3)
        assert capsys.readouterr().out == printed
        assert str(again.value)[:13] == str(raised.value)[:13]
