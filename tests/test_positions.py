"""Indices that select no element twice are added to in place; those that may are not.  Differences check."""

import inspect

import numpy as np
import pytest
from differences import central_difference, copied

from s2sgrad import grad, jvp

X = np.random.default_rng(3).normal(size=(4, 4))
V = np.array([0.3, -0.7, 1.1, 0.4])
LABELS = np.array([1, 3, 3, 0])


def labels(x, y):
    return np.sum(x[np.arange(len(y)), y] ** 2)


def labels_of_first_rows(x, y):
    return np.sum(x[np.arange(len(y) - 1), y[1:]] ** 2)


def order(x):
    k = np.argsort(x)[::-1]
    return np.sum(x[k] * np.arange(4.0))


def order_by_method(x):
    k = x.argsort()
    return np.sum(x[k] ** 2 * np.arange(4.0))


def order_behind_the_first(x):
    y = x * 1.0
    k = np.argsort(x[:3]) + 1
    y[k] *= x[0]
    return np.sum(y[k] ** 2)


def triangle(x):
    i, j = np.triu_indices(4, 1)
    y = x * 1.0
    y[i, j] += y[j, i] ** 2
    return np.sum(y**2)


def whole_triangle(v):
    low = np.zeros((2, 2))
    low[np.tril_indices(2)] = v[:3] ** 2
    return np.sum(low @ low.T)


def diagonal(x, s):
    y = x @ x.T
    y[np.diag_indices_from(y)] += s**2
    return np.sum(y**3)


def corner(x, m):
    y = x * 1.0
    y[np.ix_(m, np.arange(2))] *= 3.0
    return np.sum(y**2)


def positive(x):
    (k,) = np.where(x > 0)
    y = x * 2.0
    y[k] = np.sqrt(y[k])
    return np.sum(y**2)


def positive_item(x):
    k = np.nonzero(x > 0)[0]
    y = x * 2.0
    y[k] = y[k] ** 3
    return np.sum(y[k] ** 2)


def pairs_of_a_mask(x):
    i, j = (x > 0).nonzero()
    y = x * 1.0
    y[j, i] += 2.0 * y[i, j] ** 2
    return np.sum(y**2)


def shuffled(x, rng):
    k = rng.permutation(len(x))
    y = x * 1.0
    y[k] *= x
    return np.sum(y**2 * np.arange(4.0))


def without(x, k):
    rest = np.setdiff1d(np.arange(len(x)), k)
    y = x * 1.0
    y[rest] = y[rest] ** 2
    return np.sum(y)


def in_a_loop(x):
    y = x * 1.0
    for _ in range(3):
        k = np.argsort(y)[:2]
        y[k] = y[k] * y[k[::-1]] + x[k]
    return np.sum(y**2)


ONCE = [
    (labels, (X, LABELS), 0),
    (labels_of_first_rows, (X, LABELS), 0),
    (order, (V,), 0),
    (order_by_method, (V,), 0),
    (order_behind_the_first, (V,), 0),
    (triangle, (X,), 0),
    (whole_triangle, (V,), 0),
    (diagonal, (X, 0.3), (0, 1)),
    (corner, (X, np.array([True, False, True, False])), 0),
    (positive, (V,), 0),
    (positive_item, (V,), 0),
    (pairs_of_a_mask, (X,), 0),
    (without, (V, np.array([1, 1])), 0),
    (in_a_loop, (V,), 0),
]


@pytest.mark.parametrize(("f", "args", "argnums"), ONCE, ids=[f.__name__ for f, _, _ in ONCE])
def test_places_that_occur_once_need_no_scatter(f, args, argnums):
    text = grad(f, argnums).source_for(*copied(args))
    assert "add.at" not in text and "add_at" not in text and "lasting" not in text, text
    _check(f, args, argnums)


def test_a_permutation_that_is_drawn_occurs_once():
    text = grad(shuffled).source_for(V.copy(), np.random.default_rng(2))
    assert "add.at" not in text, text
    _check(lambda x: shuffled(x, np.random.default_rng(2)), (V,), 0)


@pytest.mark.parametrize(("f", "args", "argnums"), ONCE, ids=[f.__name__ for f, _, _ in ONCE])
def test_second_derivatives_at_places_that_occur_once(f, args, argnums):
    dot = np.random.default_rng(7).normal(size=args[0].shape)
    want = central_difference(lambda *given: np.sum(grad(f)(*given) * dot), args, 0)
    _, found = jvp(grad(f), copied(args), (dot, *[None] * (len(args) - 1)))
    np.testing.assert_allclose(found, want[0], rtol=1e-5, atol=1e-6)


def given(x, k):
    y = x * 1.0
    y[k] *= 3.0
    return np.sum(y[k] ** 2)


def parameter_that_is_bound_again(x, k):
    s = np.sum(x[k] ** 2)
    k = np.argsort(x)
    return s + np.sum(x[k][1] ** 2)


def part_of_a_pair(x):
    i, j = np.triu_indices(4)
    return np.sum(x[i, 0] ** 2) + np.sum(x[j] ** 2)


def pair_of_two(x):
    i, j = np.triu_indices(4)
    k, _ = np.tril_indices(4)
    return np.sum(x[i, k] ** 2) + np.sum(x[k, j] ** 2)


def pair_of_two_trips(x):
    k = np.zeros(3, dtype=int)
    s = 0.0
    for n in range(2):
        i, j = np.triu_indices(3 - n, 1)[0], np.triu_indices(3 - n, 1)[1]
        s += np.sum(x[i, k[: len(i)]] ** 2)
        k = j
    return s


def written(x):
    k = np.arange(4)
    k[1] = 0
    return np.sum(x[k] ** 2)


def written_elsewhere(x):
    k = np.arange(4)
    other = k[1:]
    other[...] = 2
    return np.sum(x[k] ** 2)


def from_the_end(x):
    k = np.arange(-2, 4)
    return np.sum(x[k] ** 2)


def stretched(x, y):
    return np.sum(x[np.arange(1), y] ** 2)


def columns(x, y):
    return np.sum(x[np.arange(4)[:, None], y] ** 2)


def order_of_rows(x):
    k = np.argsort(x, axis=1)
    return np.sum(x[k] ** 2)


def different_numbers(x, y):
    k = np.unique(y)
    return np.sum(x[k] ** 2)


def counted_in_few_bits(x):
    k = (np.arange(4, dtype=np.uint8) * np.uint8(128)) % 3
    return np.sum(x[k] ** 2)


def two_ways(x, y):
    k = np.argsort(x)
    if y[0] > 0:
        k = y
    return np.sum(x[k] ** 2)


def chosen(x, y):
    k = np.where(x > 0, 1, y)
    return np.sum(x[k] ** 2)


SEVERAL = [
    (given, (V, LABELS)),
    (parameter_that_is_bound_again, (V, LABELS)),
    (part_of_a_pair, (X,)),
    (pair_of_two, (X,)),
    (pair_of_two_trips, (X,)),
    (written, (V,)),
    (written_elsewhere, (V,)),
    (from_the_end, (V,)),
    (stretched, (X, LABELS)),
    (columns, (X, LABELS)),
    (order_of_rows, (X,)),
    (different_numbers, (V, np.array([-1, 3, 3]))),
    (counted_in_few_bits, (V,)),
    (two_ways, (V, LABELS)),
    (chosen, (V, LABELS)),
]


@pytest.mark.parametrize(("f", "args"), SEVERAL, ids=[f.__name__ for f, _ in SEVERAL])
def test_places_that_may_occur_twice_are_counted_as_often(f, args):
    _check(f, args, 0)


def _check(f, args, argnums):
    want = central_difference(f, args, argnums)
    found = grad(f, argnums)(*copied(args))
    for a, b in zip(want, found if isinstance(argnums, tuple) else (found,), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-7)
    if argnums == 0:
        dot = np.random.default_rng(5).normal(size=args[0].shape)
        tangents = [dot if k == 0 else None for k in range(len(inspect.signature(f).parameters))]
        _, y_dot = jvp(f, copied(args), tuple(tangents))
        np.testing.assert_allclose(y_dot, np.sum(want[0] * dot), rtol=1e-6, atol=1e-7)
