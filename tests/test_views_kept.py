"""A record that is kept apart has views as views: what a sweep restores is restored in all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sgrad import grad, hessian, jvp
from s2sgrad.runtime.structure import kept_together

LEVELS = np.array([0.3, 0.9, 0.5, 0.7, 0.4, 0.8])
X, C = np.array([0.4526, -0.22365, 0.75117, -1.18929, -0.84489, -0.52027]), 1.26226


def edges(u, v, k, n=0):
    u = u[:5]
    t = u[1:-1]
    t[0] = k
    u[-1] += t[0]


def relax(u, k, n=1):
    edges(u, u * k, k)


def a_view_is_read_after_the_array_is_restored(x, c):
    a = x * 1.5
    b = x * x + c
    z = c * x
    m = np.outer(x[:4], x) + 0.2
    v = a[1:]
    d = a
    n = 0.0
    rows = [x * 0.5, b * c]
    w = np.array([a, b])
    for _ in range(1):
        relax(a[1:], 0.3 * c)
        a, b = (b, a)
    edges(b, a[::-1], b[0])
    edges(b[::-1], LEVELS, 0.3 * c)
    return n + np.sum(a * b) + np.sum(m * m) * v[0] + d[2] * z[0] + rows[0][1] * rows[1][2] + w[0, 0] * w[1, 1]


@pytest.mark.records
def test_a_hessian_in_two_arguments():
    f = a_view_is_read_after_the_array_is_restored
    ((matrix, _), _), df = hessian(f, (0, 1))(X, C), grad(f, (0, 1))
    columns = [jvp(df, (X, C), (e, 0.0))[1][0] for e in np.eye(6)]
    np.testing.assert_allclose(matrix, np.transpose(columns), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_snapshots(order):
    x = np.array(np.arange(20.0).reshape(4, 5), order=order)
    views = [x, x[1:], x[::-1], x.T, x[:, ::-2], x[2], x[1:3, 4:1:-1], x.ravel(order="K"), x[:0], x[1, 1:2]]
    for one, other in itertools.permutations(views, 2):
        kept = kept_together(one, other, [1.0])
        np.testing.assert_array_equal(kept[0], one)
        np.testing.assert_array_equal(kept[1], other)
        kept[0][...] = -1.0
        assert np.array_equal(kept[1] == -1.0, _shown_by(one, other, x))
        assert not np.any(x == -1.0)


def _shown_by(one, other, x):
    """Which elements of the other view are elements of the one."""
    places = {*one.ravel().tolist()}
    return np.array([v in places for v in other.ravel().tolist()]).reshape(other.shape)
