"""Loops over items in generated texts: where an index only reads items it is not written, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, hessian, jvp


def plain(s, xs):
    for x in xs:
        s = s * np.sin(x) + x
    return s


def of_rows(s, rows):
    for row in rows:
        s = np.tanh(s * (row @ row))
    return s


def numbered(s, xs):
    for i, x in enumerate(xs):
        s = np.sin(s * x) * (i + 1)
    return s


def zipped(s, xs, ys):
    for x, y in zip(xs, ys, strict=False):
        s = np.cos(s * x) * y
    return s


def of_a_tuple(s):
    for c in (1.0, 2.0, 3.0):
        s = s * np.sin(c * s)
    return s


def written_below(s, xs):
    """The item is read before its array is written: a read at the head of the trip must not see later values."""
    ys = xs * 1.0
    for k, y in enumerate(ys):
        ys[k] = y * s
        s = s + np.sin(ys[-1]) * y
    return s + np.sum(ys)


def written_by_another_name(s, xs):
    ys = xs * 1.0
    other = ys[::-1]
    for y in ys:
        s = s * np.sin(y)
        other[0] *= s
    return s * other[1]


def index_read_behind(s, xs):
    for k, x in enumerate(xs):  # noqa: B007
        s = s * np.sin(x)
    return s * (k + 1)


def twice(s, xs):
    for x in xs:
        for y in xs:
            s = np.cos(s * x - y) + y
    return s


def left_early(s, xs):
    for x in xs:
        s = s * x
        if s > 2.0:
            break
    return s


XS = np.array([0.7, 1.3, 0.4])
CASES = [
    (plain, (0.3, XS)), (of_rows, (0.3, np.array([[0.7, 0.2], [0.3, 1.1]]))), (numbered, (0.3, XS)),
    (zipped, (0.3, XS, np.array([0.9, 1.2]))), (of_a_tuple, (0.8,)), (written_below, (0.3, XS)),
    (written_by_another_name, (0.3, XS)), (index_read_behind, (0.3, XS)), (twice, (0.3, XS)), (left_early, (1.3, XS + 1.0)),
    (plain, (0.3, XS[:0])),
]  # fmt: skip


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(("f", "args"), CASES)
def test_gradients_of_loops_over_items(f, args):
    numbers = tuple(range(len(args)))
    found = grad(f, numbers)(*args)
    for part, wanted in zip(found, central_difference(f, args, numbers), strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-6, atol=1e-8)
    seeds = tuple(np.ones_like(a) for a in args)
    value, tangent = jvp(f, args, seeds)
    assert value == f(*args)
    np.testing.assert_allclose(tangent, sum(map(np.sum, found)), rtol=1e-9)
    second = central_difference(lambda *a: grad(f)(*a), args, (0,))[0]
    np.testing.assert_allclose(hessian(f)(*args), second, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "args", "lines"),
    [
        (twice, (0.3, XS), ["for x in xs_list:", "for y in reversed(xs_list):"]),
        (plain, (0.3, XS), ["for x in xs_list:", "sin_x_stack.append(np.sin(x))", "for _ in reversed(range(len(xs))):"]),
        (of_rows, (0.3, np.ones((3, 2))), ["for row in rows:", "for _ in reversed(range(len(rows))):"]),
        (numbered, (0.3, XS), ["for i, x in enumerate(xs"]),
        (zipped, (0.3, XS, XS), ["for x, y in zip(xs"]),
        (of_a_tuple, (0.8,), ["for c in (1.0, 2.0, 3.0):", "for c in reversed((1.0, 2.0, 3.0)):"]),
    ],
)
def test_loops_are_written_over_their_items(f, args, lines):
    text = grad(f).source_for(*args)
    for line in lines:
        assert line in text, text
