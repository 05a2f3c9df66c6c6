"""Sections restored together become the whole array, where each store since the record is one that is restored."""

from __future__ import annotations

import linecache
import re

import numpy as np
import pytest
from edge_programs import edge_program

from s2sgrad import grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(390)


def edges(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        u[0] = u[1]
        u[-1] = 0.5
    return u @ u


def edges_of_a_plane(u, c, n):
    u = np.outer(u, u + c)
    for _ in range(n):
        u[1:-1, 1:-1] += 0.1 * u[2:, 1:-1] * u[:-2, 1:-1] - c * u[1:-1, 2:] * u[1:-1, :-2]
        u[0, :] = u[1, :]
        u[:, -1] = u[:, -2]
        u[:, 0] = 0.0
    return np.sum(u * u)


def edges_before_a_swap(u, c, n):
    u, old = u.copy(), u * 0.5
    for _ in range(n):
        old[1:-1] = u[1:-1] * (1.0 + c * old[1:-1] * u[2:])
        old[0] = u[0]
        old[-1] = old[-2]
        u, old = old, u
    return u @ u + np.sum(old)


def stored_twice(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        u[1:-1] /= 1.5
        u[0] = u[1]
    return u @ u


def read_in_between(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        u[0] = u[1] * u[0]
        u[-1] *= u[0]
    return u @ u


def read_by_another_name_in_between(u, c, n):
    u = u.copy()
    inner = u[1:-1]
    for _ in range(n):
        inner += c * inner * inner
        u[0] = np.sum(inner * inner)
        u[-1] *= c
    return u @ u


def stored_in_between(u, c, n):
    """Nothing reads what `u[2]` was, so nothing restores it; but `u[2]` is read as it is then."""
    u = u.copy()
    for k in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        u[2] = 0.3 * k
        u[0] = u[2] * c
        u[-1] = u[1]
    return u @ u


def stored_behind(u, c, n):
    u = u.copy()
    total = 0.0
    for k in range(n):
        u[1:-1] *= c * u[1:-1] + u[2:]
        u[0] = u[1]
        u[3] = 0.1 * k
        total += u[3] * u[3] * u[0]
    return total + np.sum(u)


def stored_by_a_loop(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        for j in range(1, 3):
            u[j] = u[j + 1] * 0.5
        u[0] = u[1]
    return u @ u


def only_edges(u, c, n):
    u = u.copy()
    total = 0.0
    for _ in range(n):
        total = total + c * u[0] * u[-1]
        u[0] = u[1] + total
        u[-1] = u[-2] * 0.7
    return total + u @ u


def left_in_between(u, c, n):
    u = u.copy()
    for k in range(n + 2):
        u[1:-1] += c * u[2:] * u[:-2]
        if k == n:
            break
        u[0] = u[1]
    return u @ u


def places_that_move(u, c, n):
    u = u.copy()
    for k in range(n):
        u[1:-1] += c * u[2:] * u[:-2]
        u[k] = u[k + 1]
        k = k + 1
        u[k] = u[k + 1] * 0.5
    return u @ u


def steps_of_steps(u, c, n):
    u = u.copy()
    for _ in range(2):
        v = u * u
        for _ in range(n):
            u[1:-1] += c * u[2:] * u[:-2]
            u[0] = u[1]
        u[-1] = np.sum(v * u)
    return u @ u


def swapped_in_between(u, c, n):
    u, old = u.copy(), u * 0.5
    for _ in range(n):
        old[1:-1] = u[1:-1] * (1.0 + c * old[1:-1] * u[2:])
        u, old = old, u
        old[0] = u[0]
        u[-1] = old[-2]
    return u @ u + np.sum(old)


WHOLE = [edges, edges_of_a_plane, edges_before_a_swap, stored_twice, steps_of_steps, stored_behind, places_that_move]
APART = [
    read_in_between, read_by_another_name_in_between, stored_in_between, stored_by_a_loop, only_edges, left_in_between,
    swapped_in_between,
]  # fmt: skip


def args():
    return RNG.uniform(0.3, 1.1, 6), 0.3


@pytest.mark.parametrize("function", [*WHOLE, *APART], ids=lambda f: f.__name__)
def test_gradients(function):
    check_grads(lambda u, c: function(u, c, 3), args(), order=1)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("function", [*WHOLE, *APART], ids=lambda f: f.__name__)
def test_second_derivatives(function):
    check_grads(lambda u, c: function(u, c, 2), args(), order=2)


def wholes(function):
    text = grad(function, (0, 1)).source_for(*args(), 3)
    return len(re.findall(r"append\(.*\b(?:u|old)\d*\.copy\(\)", text))


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_one_record_is_kept_of_the_array(function):
    assert wholes(function) == 1


@pytest.mark.parametrize("function", APART, ids=lambda f: f.__name__)
def test_the_sections_are_recorded_one_by_one(function):
    """Each for another reason: the whole would not be what is restored, or would be more than that."""
    assert wholes(function) == 0


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    space = {"np": np}
    text, file = edge_program(seed), f"<edge program {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    check_grads(space["f"], args(), order=1 + (seed % 5 == 0))
