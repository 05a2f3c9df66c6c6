"""Sums of products are written without the products, and stay right: at every order, of every layout."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(5)


def weighted(w, a, b):
    return w * np.sum(a * b)


def tensor(x, w):
    return np.sum(np.sum(x[:, :, None] * w[None], axis=1) ** 3)


def both_kept(x, w):
    part = np.sum(x[:, :, None] * w[None], axis=(0, 2), keepdims=True)
    return np.sum(part**2)


def scaled_matrix(s, m, v):
    return np.sum((s * m) @ v * v[: len(m)])


def normalized_by_its_sum(x):
    d = x * x
    return np.sum(np.sum(d) * d)


def shares(x, w):
    s = np.sum(x, axis=1, keepdims=True)
    return np.sum(x / s * w)


def each_by_each(v, s):
    return np.sum((v / s) ** 3)


def test_a_divisor_stands_behind_the_sum_over_its_quotients():
    x, w = RNG.uniform(1.0, 2.0, (3, 4)), RNG.normal(size=(3, 4))
    df = grad(shares)
    df(x, w)
    assert ").sum(axis=1, keepdims=True) / s" in df.source or ", axis=1, keepdims=True) / s" in df.source
    check_grads(shares, (x, w), order=2)


@pytest.mark.parametrize("divisor", [(3, 1), (1, 1), (1,), (3, 4), ()])
def test_a_divisor_of_fewer_elements(divisor):
    for dividend in ((4,), (3, 1), (3, 4), ()):
        args = RNG.normal(size=dividend), RNG.uniform(1.0, 2.0, divisor)
        check_grads(each_by_each, tuple(a if a.ndim else float(a) for a in args), order=2)


def test_what_is_contracted_with_a_cotangent_of_one_number():
    """The cotangent of the product is one number in each element, and its product with `d` is no factor of it."""
    check_grads(normalized_by_its_sum, (RNG.normal(size=3),), order=2)


def test_two_matrices():
    a, b = RNG.normal(size=(2, 3, 4))
    df = grad(lambda s, a, b: np.sum((s * a) * b), argnums=0)
    assert np.isclose(df(2.0, a, b), np.sum(a * b))
    assert "np.vdot(" in df.source


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: np.asfortranarray(a), lambda a: a[::-1], lambda a: a.T.copy().T])
def test_any_layout(layout):
    a, b = layout(RNG.normal(size=(3, 4))), RNG.normal(size=(3, 4))
    assert np.isclose(grad(weighted)(2.0, a, b), np.sum(a * b))


@pytest.mark.parametrize("f", [tensor, both_kept], ids=lambda f: f.__name__)
def test_a_product_larger_than_its_factors(f):
    args = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4))
    df = grad(f, argnums=(0, 1))
    df(*args)
    check_grads(f, args, order=2)


def test_third_derivative():
    x, w, d = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=(2, 3))
    assert "np.einsum(" in grad(tensor).source_for(x, w)

    def first(x, w):
        return np.sum(grad(tensor)(x, w) ** 2)

    def second(x, w):
        return np.sum(grad(first)(x, w) ** 2)

    step = 1e-5
    slope = (second(x + step * d, w) - second(x - step * d, w)) / (2.0 * step)
    assert np.isclose(np.sum(grad(second)(x, w) * d), slope, rtol=1e-6)


def small_determinant(a):
    return np.linalg.det(a * 1e-170)


def test_cofactors_of_a_tiny_matrix_warn_of_nothing():
    assert np.array_equal(grad(small_determinant)(np.eye(2)), np.zeros((2, 2)))


def test_a_number_times_a_matrix_times_a_vector():
    check_grads(scaled_matrix, (1.3, RNG.normal(size=(3, 5)), RNG.normal(size=5)), order=2)


# --- choices that are recorded ---------------------------------------------------------------------------------------------


def shortest(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, None] + path[None, k, :])
    return np.sum(path**2)


def larger_with_a_number(x, steps):
    for _ in range(steps):
        x[1:] = np.maximum(0.9 * x[1:], x[:-1] * 0.7)
        x[:] = np.maximum(x, 0.2)
    return x @ x


def test_the_choice_is_recorded_and_not_what_was_chosen_from():
    df = grad(shortest)
    df(RNG.uniform(0.5, 9.5, (4, 4)))
    assert "tape.append((less, equal))" in df.source


def test_choices_are_right():
    check_grads(shortest, (RNG.uniform(0.5, 9.5, (4, 4)),), order=2)
    check_grads(larger_with_a_number, (RNG.uniform(0.1, 2.0, 5), 3), order=2)


def test_ties_are_shared_evenly():
    path = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    got = grad(lambda p: np.sum(shortest_sums(p)))(path)
    assert got[0, 2] == 0.5


def shortest_sums(path):
    path[:] = np.minimum(path, path[:, 1, None] + path[None, 1, :])
    for _ in range(1):
        path[:] = np.minimum(path, 100.0)
    return path
