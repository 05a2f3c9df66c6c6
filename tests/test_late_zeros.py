"""Zeros of adjoints stand behind what reads them, where it touches none of their elements."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(391)


def next_to_each_other(u, c):
    u = u * c
    u[0] = u[1]
    u[-1] = u[-2] * 2.0
    u[1:3] *= u[3:5]
    return u @ u


def edges_of_a_plane(u, c):
    u = np.outer(u, u * c)
    u[:, 0] = u[:, 1]
    u[-1, :] = u[-3, :]
    u[0] = u[1] * 0.5
    return np.sum(u * u)


def from_another_array(u, c):
    v = u * c
    w = v * u
    v[0] = w[-1]
    w[1:] = v[:-1] * 2.0
    return v @ w


def from_both_ends(u, c):
    """Of two elements these are one: `u[1]` is `u[-1]`."""
    u = (u * c)[:2]
    u[1] = u[-1] * 3.0
    u[0] = u[-2] * 2.0
    return u @ u


def overlapping(u, c):
    u = u * c
    u[1:] = u[:-1] * 1.0
    u[2:4] = u[1:3] * 2.0
    u[::2] = u[1] * c
    return u @ u


def of_itself(u, c):
    u = u * c
    u[2] = u[2] * u[1]
    u[0] = 2.0 * u[0]
    u[1:3] = u[2:0:-1] * 1.0
    return u @ u


def through_a_view(u, c):
    u = u * c
    v = u[:3]
    v[0] = u[0] + u[1]
    u[1] = v[1] * v[2]
    v[2] = u[2] * 3.0
    return u @ u


def places_that_only_the_run_knows(u, c, k=2, j=2):
    u = u * c
    u[k] = u[j] * 2.0
    u[j] = u[k - 1]
    u[[1, 1]] = u[[2, 3]] * 1.0
    u[u > 0.9] = u[0]
    return u @ u


def in_branches(u, c):
    u = u * c
    for k in range(4):
        u[k] = u[k + 1] * c if k % 2 else u[0] * u[k]
        if u[0] > 0.2:
            u[0] = u[-1]
        u[-1] = u[-2]
    return u @ u


def swapped(u, c):
    v, u = u * u, u * c
    for _ in range(3):
        v[0] = u[0]
        v[1:] = u[:-1]
        u[0], u[1] = v[1], v[0]
        u, v = v, u
    return u @ v


def read_in_two_sums(u, c):
    u = u * c
    u[0] = u[1] * u[2] + u[3]
    u[-1] = u[-2] + u[-3]
    return u @ u


FUNCTIONS = [
    next_to_each_other, edges_of_a_plane, from_another_array, from_both_ends, overlapping, of_itself, through_a_view,
    places_that_only_the_run_knows, in_branches, swapped, read_in_two_sums,
]  # fmt: skip


def args():
    return RNG.uniform(0.4, 1.2, 6), 0.8


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(function):
    check_grads(lambda u, c: function(u, c), args(), order=1)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivatives(function):
    check_grads(lambda u, c: function(u, c), args(), order=2)


def lines(function):
    return [line.strip() for line in grad(function, (0, 1)).source_for(*args()).splitlines()]


def test_what_is_read_stands_before_the_zeros():
    text = lines(edges_of_a_plane)
    assert "u_bar[:, 1] += u_bar[:, 0]" in text, text
    assert text.index("u_bar[:, 1] += u_bar[:, 0]") + 1 == text.index("u_bar[:, 0] = 0.0")
    assert text.index("u_bar[-3, :] += u_bar[-1, :]") + 1 == text.index("u_bar[-1, :] = 0.0")


@pytest.mark.parametrize("function", [from_both_ends, overlapping], ids=lambda f: f.__name__)
def test_it_is_kept_where_elements_may_be_the_same(function):
    found = lines(function)
    zeros = [k for k, line in enumerate(found) if line.endswith("] = 0.0")]
    assert zeros and all("u_bar[" not in found[k - 1].partition("+= ")[2] for k in zeros)
