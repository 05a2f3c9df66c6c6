"""Values that both sweeps need are computed once, and only where nothing changes what they read."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(3)
SQUARE = RNG.normal(size=(4, 4)) + 3.0 * np.eye(4)


def bracket(n, a, b):
    p = n * (1.0 / a + 1.0 / (b + n))
    return p * p


def greatest_entry(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def row_that_changes(x):
    x = x.copy()
    total = np.sum(np.cumsum(x[0] * x[1]) ** 2)
    x[0] = x[1] * 2.0
    return total + np.sum(np.cumsum(x[0] * x[1]) ** 2)


def name_that_is_bound_again(a, b):
    total = 0.0
    for _ in range(2):
        total = total + np.exp(a * b) / (a * b + 1.0)
        a = a + 0.5 * total
    return total * np.exp(a * b) / (a * b + 1.0)


def likelihood(A, b):
    x = np.linalg.solve(A, b)
    return b @ x + np.linalg.slogdet(A)[1]


def likelihood_of_rows(A, B):
    return np.sum(B * np.linalg.solve(A.T, B.T).T) + np.log(np.linalg.det(A)) + np.sum(np.linalg.solve(A, B.T) ** 3)


def matrix_that_changes(A, b):
    x = np.linalg.solve(A, b)
    A = A + np.outer(b, b)
    return b @ x + np.linalg.slogdet(A)[1]


def matrix_written_between(A, b):
    A = A.copy()
    x = np.linalg.solve(A, b)
    A[0] = 2.0 * A[0] + b
    return b @ x + np.linalg.slogdet(A)[1]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    "function, args",
    [
        (bracket, (1.5, 0.7, 0.3)),
        (greatest_entry, (RNG.normal(size=(3, 4)),)),
        (row_that_changes, (RNG.normal(size=(2, 3)),)),
        (name_that_is_bound_again, (0.3, 0.4)),
        (likelihood, (SQUARE, RNG.normal(size=4))),
        (likelihood_of_rows, (SQUARE @ SQUARE.T, RNG.normal(size=(3, 4)))),
        (matrix_that_changes, (SQUARE, RNG.normal(size=4))),
        (matrix_written_between, (SQUARE, RNG.normal(size=4))),
    ],
)
def test_gradients(function, args):
    check_grads(function, args, order=2)


def test_a_matrix_is_inverted_once():
    text = grad(likelihood, (0, 1)).source_for(SQUARE, np.ones(4))
    assert text.count("np.linalg.inv(") == 1 and text.count("np.linalg.solve(") == 1  # a quotation


def test_a_value_that_is_asked_for_is_computed_as_the_user_wrote():
    b = RNG.normal(size=4)
    value, _ = value_and_grad(likelihood)(SQUARE, b)
    assert value == likelihood(SQUARE, b)
    assert "x = np.linalg.solve(A, b)" in value_and_grad(likelihood).source_for(SQUARE, b)


def test_another_matrix_is_not_taken_for_the_inverse():
    for function in (matrix_that_changes, matrix_written_between):
        assert "np.linalg.solve(" in grad(function).source_for(SQUARE, np.ones(4))
