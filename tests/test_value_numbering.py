"""What a function computes twice has one adjoint, unless something is written in between."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from judging import outcome
from repeated_programs import repeated_program

from s2sgrad import grad, value_and_grad
from s2sgrad.testing import check_grads

OF_A_PART = 12
STATE = [1.0]
X = np.array([0.3, 0.8, 1.4])


@pytest.mark.records
@pytest.mark.sampled(one_in=12, by="part")
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("order", [1, 0, "jacfwd"])
def test_right_or_refused(part, order):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)
    outcomes = Counter(outcome(repeated_program(seed), order) for seed in seeds)
    assert outcomes["right"] >= OF_A_PART // 2


def test_a_seed_writes_the_same_program_again():
    assert [repeated_program(k).source for k in range(20)] == [repeated_program(k).source for k in range(20)]


def once(x):
    return np.sum(np.exp(x) / (1.0 + np.exp(x))) * np.sqrt(np.sum(x**2)) + x[0] / np.sqrt(np.sum(x**2))


def nested_operands(x, n):
    s = 1.0
    for i in range(n):
        s = np.sin(x[i] * s) + np.sin(x[i] * s) ** 2
    return s


def products(A, x):
    return np.sum(np.tanh(A @ x) * (A @ x)) + (A @ x)[0]


@pytest.mark.parametrize(
    ("function", "args", "shared"),
    [(once, (X,), ["np.exp(", "np.sqrt("]), (nested_operands, (X, 3), ["np.sin("]), (products, (np.eye(3), X), ["A @ x"])],
)
def test_one_value_and_one_adjoint(function, args, shared):
    text = "\n".join(line for line in grad(function).source_for(*args).splitlines() if line.lstrip()[:1] != "#")
    assert [text.count(part) for part in shared] == [1 for _ in shared]
    check_grads(function, args)


def stored_between(x):
    a = x * 1.0
    s = np.exp(a)
    a[0] = 2.0
    return np.sum(s * np.exp(a))


def through_a_view(x):
    a = x * 1.0
    v = a[1:]
    s = np.sum(np.exp(a))
    v[0] = v[1] * 3.0
    return s * np.sum(np.exp(a))


def result_written(x):
    r = np.exp(x)
    t = np.exp(x)
    r[0] = 0.5 * r[1]
    return np.sum(r * t) + np.sum(np.exp(x) * r)


def one_of_two_results_written(x):
    a = np.exp(x)
    b = np.exp(x)
    s = np.sum(np.sin(b))
    a[0] = 0.5 * x[1]
    return s * np.sum(np.sin(a))


def halved(u):
    u[0] = 0.5 * u[0]
    return np.sum(u * u)


def written_by_a_callee(x):
    a = np.exp(x)
    return halved(np.exp(x)) * np.sum(a) * np.sum(np.exp(x))


def result_kept(x):
    kept = [np.exp(x), np.exp(x)]
    kept[0][1] = 7.0
    return np.sum(kept[0] * kept[1])


def bound_again(x):
    a = np.sin(x)
    s = np.sum(a * a)
    a = np.sin(s * x)
    return s + np.sum(a * a)


def rebound_in_a_branch(x, flag):
    a = x * 2.0
    s = np.sum(a * x)
    if flag:
        a = x * 5.0
    return s + np.sum(a * x)


def carried_by_a_loop(x):
    s = 1.0
    total = 0.0
    for i in range(3):
        total = total + np.exp(s * 0.1) * x[i]
        s = s + x[i]
        total = total + np.exp(s * 0.1)
    return total


def left_by_break(x):
    t = 0.0
    for i in range(3):
        t = t + np.exp(x[i])
        if t > 3.0:
            break
        t = t * np.exp(x[i])
    return t


def scaled(u):
    return u * STATE[0]


def state_between(x):
    STATE[0] = 2.0
    a = np.sum(scaled(x) ** 2)
    STATE[0] = 3.0
    return a + np.sum(scaled(x) ** 2)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (stored_between, (X,)), (through_a_view, (X,)), (result_written, (X,)),
        (one_of_two_results_written, (X,)), (written_by_a_callee, (X,)),
        (result_kept, (X,)), (bound_again, (X,)),
        (rebound_in_a_branch, (X, True)), (rebound_in_a_branch, (X, False)), (carried_by_a_loop, (X,)),
        (left_by_break, (X,)), (state_between, (X,)),
    ],
)  # fmt: skip
def test_what_is_written_in_between_is_computed_again(function, args):
    value, _ = value_and_grad(function)(*args)
    assert value == function(*args)
    check_grads(function, args)


def test_results_that_are_returned_are_two_arrays():
    def pair(x):
        return np.exp(x), np.exp(x)

    (first, second), _ = value_and_grad(pair)(X, seed=(X, X))
    first[0] = 0.0
    assert second[0] == np.exp(X[0])


def test_roots_at_zero_are_roots_of_one_square():
    def f(x):
        return np.sqrt(np.sum(x**2)) * np.sqrt(np.sum(x**2))

    np.testing.assert_array_equal(grad(f)(np.zeros(3)), np.zeros(3))
    assert grad(lambda x: np.sqrt(x) * np.sqrt(x))(0.0) == 1.0
