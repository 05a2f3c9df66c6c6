"""What loops record: results in place of what they are computed from, only where nothing else reads that."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(5)


def diffusion(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u @ u


def gates(h, w, n):
    for _ in range(n):
        i = 1.0 / (1.0 + np.exp(-(w * h)))
        h = h * i + np.tanh(h)
    return h @ h


def read_between(u, c, n):
    u = u.copy()
    total = 0.0
    for _ in range(n):
        change = c * (u[2:] - u[:-2])
        total = total + u[1] * u[1]
        u[1:-1] += change
    return u @ u + total


def read_after(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * (u[2:] - u[:-2])
    for _ in range(2):
        u[0] = u[1] * u[2]
    return u @ u


def written_twice_a_trip(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * (u[2:] - u[:-2])
        u[1:-1] += c * (u[2:] + u[:-2])
    return u @ u


def written_between_the_reads(u, c, n):
    u = u.copy()
    for _ in range(n):
        a = u[2:] * 1.0
        u[0] = u[0] * c
        b = u[:-2] * 1.0
        u[1:-1] += c * (a - b)
    return u @ u


def with_a_factor_of_each_trip(u, c, n):
    u = u.copy()
    for k in range(n):
        u[1:-1] += c * (u[2:] - (k + 1.0) * u[:-2])
    return u @ u


def with_a_number_that_changes(u, c, n):
    u, s = u.copy(), 1.0
    for _ in range(n):
        u[1:-1] += c * (u[2:] - s * u[:-2])
        s = s * 0.5 + u[1]
    return u @ u + s


def in_a_loop_of_loops(u, c, n):
    u = u.copy()
    for _ in range(2):
        for _ in range(n):
            u[1:-1] += c * (u[2:] - u[:-2])
        u[0] = u[1] * u[1]
    return u @ u


def left_early(u, c, n):
    u = u.copy()
    for k in range(n):
        if k == 2:
            break
        u[1:-1] += c * (u[2:] - u[:-2])
    return u @ u


def of_an_argument(u, c, n):
    for _ in range(n):
        u[1:-1] += c * (u[2:] - u[:-2])
    return u @ u


def bound_to_a_multiple_of_itself(u, c, n):
    for _ in range(n):
        y = np.sin(u * c + 1.0)
        u = u * c + 1.0
        z = u * c + 1.0
        u = u + y * np.cos(z)
    return u @ u


FUNCTIONS = [
    diffusion, gates, read_between, read_after, written_twice_a_trip, written_between_the_reads, with_a_factor_of_each_trip,
    with_a_number_that_changes, in_a_loop_of_loops, left_early, of_an_argument, bound_to_a_multiple_of_itself,
]  # fmt: skip


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(function):
    check_grads(lambda u, c: function(u.copy(), c, 3), (RNG.normal(size=5), 0.3), order=2)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients_of_the_text_itself(function):
    u, d = RNG.normal(size=5), 1e-6
    slope = (function(u.copy(), 0.3 + d, 3) - function(u.copy(), 0.3 - d, 3)) / (2.0 * d)
    assert np.isclose(grad(function, 1)(u.copy(), 0.3, 3), slope, rtol=1e-6)
    step = RNG.normal(size=5)
    slope = (function(u + d * step, 0.3, 3) - function(u - d * step, 0.3, 3)) / (2.0 * d)
    assert np.isclose(grad(function)(u.copy(), 0.3, 3) @ step, slope, rtol=1e-6)


def of_an_array(rows, u):
    for v in rows:
        u = np.arctan(rows.T @ v[:2])
    return np.mean(rows, axis=0) * (np.sum(u * u) + np.sum(v * v))


def test_no_shape_is_asked_of_a_seed_that_is_not_given():
    """The seed has the shape of `u`, but it may be None."""
    check_grads(of_an_array, (RNG.normal(size=(2, 3)), RNG.normal(size=3)))


def test_the_change_of_a_stencil_is_recorded_and_not_the_array():
    text = grad(diffusion, (0, 1)).source_for(np.ones(5), 0.3, 3)
    assert ".copy())" not in text and text.count("u[2:]") == 2  # one of them in a quotation


def test_a_gate_is_recorded_and_not_its_exponential():
    text = grad(gates, (0, 1)).source_for(np.ones(5), 0.3, 3)
    assert text.count("np.exp(") == text.count("# i = ") + 1


def rest_and_first(u, w):
    p = u * 1.0
    rest = p[1:]
    p = np.sin(p) + u
    w[2] = p[0] + w[2]
    return np.append(rest, p[:1])


def both_values_of_a_name(x, n):
    w = x * 0.7
    for _ in range(n):
        x = rest_and_first(x, w)
    return np.sum(w) + x @ x


def test_two_values_of_one_name_are_popped_as_they_were_pushed():
    check_grads(both_values_of_a_name, (np.array([-1.1, 0.5, -0.5, -0.6]), 2), argnums=(0,))
