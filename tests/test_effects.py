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


def stores_that_nobody_reads(x):
    w = np.zeros(3)
    w[0] = told("store", x)
    w[int(told("index", 1.0))] += told("update", 2.0)
    w *= told("whole", x)
    t = told("left", x) * 2.0 + np.sin(told("right", x))
    t += told("added", t)
    return x * x


def conditions_that_nobody_needs(x):
    y = 1.0
    if told("if", x) > 0.0:
        y = 2.0
    while told("while", y) > 5.0:
        y = 3.0
    for k in range(int(told("range", 2.0))):
        y = k
    z = told("first", x) > 0.0 and told("second", x) > 9.0
    z = told("chosen", x) if told("choice", y) > 5.0 else 0.0
    z = f"{told('text', x)}"
    z = [told("item", k) * x for k in range(2)]
    z = (told("one", x), {"two": told("two", x)})  # noqa: F841
    return x * x


def values_on_stacks_that_nobody_takes(x):
    s = []
    for k in range(3):
        s.append(told(f"pushed {k}", x * k))
    w = np.ones(3)
    for k in range(3):
        w[int(told("place", k))] *= s.pop()
    return x * x


def helper_with_effects(x):
    def f(v):
        w = v * np.ones(2)
        w[:] += told("in a helper", v)
        return v * v

    y = f(x)
    y += f(2.0)
    return x * x


@pytest.mark.parametrize(
    "f",
    [stores_that_nobody_reads, conditions_that_nobody_needs, values_on_stacks_that_nobody_takes, helper_with_effects],
    ids=lambda f: f.__name__,
)
def test_effects_of_what_nobody_reads_stay(f, capsys):
    test_effects_come_once_and_in_order(f, capsys)


def draws_in_dead_stores(x, rng):
    w = x * 1.5
    w += rng.random(4)
    w[:] += rng.random()
    w[int(4 * rng.random())] = 2.0
    w = x * np.sin(rng.random(4))
    return np.sum(x) * rng.random()


def draws_of_loops_and_tests(x, rng):
    y = 0.0
    for k in range(int(4 * rng.random())):
        y += rng.random() * k
    if rng.random() > y:
        y = rng.random()
    y = rng.random() if rng.random() > 0.5 else 2.0
    return np.sum(x) * rng.random()


@pytest.mark.parametrize("f", [draws_in_dead_stores, draws_of_loops_and_tests], ids=lambda f: f.__name__)
def test_draws_that_nobody_reads_are_made(f):
    x = np.array([0.7, 1.3, -0.4, 0.9])
    plain = np.random.default_rng(1)
    value = f(x, plain)
    left = plain.random()
    for derived in (grad(f), value_and_grad(f), grad(grad(f))):
        rng = np.random.default_rng(1)
        result = derived(x, rng)
        assert rng.random() == left
        if isinstance(result, tuple):
            assert result[0] == value
            np.testing.assert_allclose(result[1], value / np.sum(x), rtol=1e-14)


def numbers_of_an_iterator(x, it):
    w = x * next(it)
    w[0] = next(it)
    w *= next(it)
    return np.sum(x) * next(it)


def numbers_of_a_list(x, numbers):
    w = x * 2.0
    w *= numbers.pop()
    w[0] = numbers.pop()
    return np.sum(x) * numbers.pop()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("f", "make"), [(numbers_of_an_iterator, iter), (numbers_of_a_list, list)], ids=["next", "pop"])
def test_numbers_that_nobody_reads_are_taken(f, make, order):
    x, numbers = np.array([0.7, 1.3]), [2.0, 3.0, 5.0, 7.0]

    def squared(x, numbers):
        return 0.5 * f(x, numbers) ** 2

    factor = f(np.array([1.0, 0.0]), make(numbers))
    if order == 1:
        np.testing.assert_allclose(grad(f)(x, make(numbers)), [factor, factor], rtol=1e-14)
    else:
        np.testing.assert_allclose(grad(grad(squared))(x, make(numbers)), [2 * factor**2, 2 * factor**2], rtol=1e-14)


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


def name_in_a_dead_product(x):
    print("before")
    y = no_such_name * 2.0  # noqa: F821, F841
    return x * x


def name_in_a_dead_update(x):
    y = x * 2.0
    y += no_such_name  # noqa: F821
    return x * x


def name_in_a_dead_store(x):
    y = np.zeros(3)
    print("before")
    y[no_such_name] = 2.0  # noqa: F821
    return x * x


def name_in_a_dead_loop(x):
    for k in range(2):
        print(k)
        y = [no_such_name, x]  # noqa: F821, F841
    return x * x


def name_in_a_dead_test(x):
    if no_such_name:  # noqa: F821
        y = 2.0  # noqa: F841
    return x * x


def name_in_a_dead_text(x):
    y = f"{no_such_name}"  # noqa: F821, F841
    return x * x


def helper_without_a_name(x):
    y = no_such_name * x  # noqa: F821, F841
    return x * x


def name_in_a_helper(x):
    return helper_without_a_name(x)


def name_in_a_helper_that_is_dead(x):
    y = helper_without_a_name(x)  # noqa: F841
    return x * x


def function_misspelled(x):
    y = np.sinn(x)  # noqa: F841
    return x * x


def constant_misspelled(x):
    y = np.linalg.pi * 2.0  # noqa: F841
    return x * x


LATER = 3.0


def bound_later(x):
    y = LATER * x  # noqa: F823
    LATER = 2.0  # noqa: F841
    return x * y


def bound_in_the_other_branch(x):
    if x > 0.0:
        y = LATER  # noqa: F823, F841
    else:
        LATER = 2.0  # noqa: F841
    return x * x


def bound_after_a_closure_is_called(x):
    def f():
        return LATER

    y = f()
    LATER = 2.0
    return x * y


def bound_in_another_branch(x):
    if x > 100.0:
        k = 2.0
    y = k * 2.0  # noqa: F841
    return x * x


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


@pytest.mark.parametrize(
    "f",
    [
        name_in_a_dead_product, name_in_a_dead_update, name_in_a_dead_store, name_in_a_dead_loop, name_in_a_dead_test,
        name_in_a_dead_text, name_in_a_helper, name_in_a_helper_that_is_dead, function_misspelled, constant_misspelled,
        unbound, bound_later, bound_in_another_branch, bound_in_the_other_branch, bound_after_a_closure_is_called,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_name_that_stands_for_nothing_is_an_error_wherever_it_is_read(f, capsys):
    test_errors_of_the_program_are_raised_where_it_raises_them(f, capsys)
    with pytest.raises((NameError, AttributeError)):
        grad(grad(f))(1.3)
