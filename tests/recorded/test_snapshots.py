"""What a pullback needs is kept as it was: before stores in the function, and after it is over."""

from __future__ import annotations

import numpy as np
import pytest

from recorded.judged import assert_gradient, assert_second
from s2sgrad.recorded.derivatives import vjp


class Net:
    """An object of the caller's."""

    last = None


NET = Net()


def kept_in_an_object(x):
    NET.last = np.tanh(x)
    return np.sum(NET.last)


def test_the_caller_may_write_what_it_gets():
    y, pullback, _ = vjp(lambda x: np.tanh(x), (np.ones(3),), {}, (0,))
    _, other, _ = vjp(kept_in_an_object, (np.ones(3),), {}, (0,))
    y[:] = 0.0
    NET.last[:] = 0.0
    np.testing.assert_allclose(pullback()[0], 1.0 - np.tanh(1.0) ** 2)
    np.testing.assert_allclose(other()[0], 1.0 - np.tanh(1.0) ** 2)


def written_after_a_sum(x):
    y = x * 1.0
    z = y + x
    y[0] = 5.0
    return np.sum(z * y)


def written_after_a_product(x):
    y = x * 1.0
    z = y * x
    y[1:] = z[:-1]
    return np.sum(z * y)


def written_result(x):
    y = np.exp(x)
    y[0] = y[1] * y[0]
    y *= x
    return np.sum(np.tanh(y))


def written_in_a_loop(x):
    y, total = np.zeros(3), 0.0
    for k in range(4):
        y += x * (k + 1.0)
        total = total + np.sum(np.sin(y))
        y[k % 3] = total * x[0]
    return total + y[2]


def views_of_a_kept_operand(x):
    y = x.reshape(3, 1) * np.ones(2)
    row = y[1]
    z = np.cos(row) * row
    y[1, 0] = z[1]
    row[1] = 2.0
    return np.sum(z) + np.sum(y * y)


def slice_of_itself(x):
    y = x * 2.0
    y[1:] = y[:-1]
    y[0] = y[2] * x[1]
    return np.sum(np.sin(y))


def shared_cotangents(x):
    y = x * 1.0
    z = x * 2.0
    total = y + z  # one cotangent for both, which then get more
    return np.sum(total * total) + np.sum(np.sin(y)) + np.sum(y * z) + np.sum(z)


def cotangents_that_are_views(x):
    m = np.outer(x, x)
    n = np.outer(x, x) * 2.0
    t = m.T + n  # a view of the cotangent, and the cotangent
    return np.sum(np.sin(t) * n) + np.sum(m * m) + np.sum(n[0])


def broadcast_cotangents(x):
    y = x * 3.0
    return np.sum(y) + np.mean(y) + np.sum(y, axis=0) * y[1] + np.sum(x.reshape(3, 1) + y)


PROGRAMS = [shared_cotangents, cotangents_that_are_views, broadcast_cotangents,
            written_after_a_sum, written_after_a_product, written_result, written_in_a_loop, views_of_a_kept_operand,
            slice_of_itself]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_stores_leave_what_was_kept(f):
    x = np.array([0.7, 0.3, -0.4])
    assert_gradient(f, (x,), (0,))
    assert_second(f, (x,), (0,))
