"""Where cotangents count: marks of views in which one item has several places."""

from __future__ import annotations

import numpy as np
import pytest

from recorded.judged import assert_gradient, assert_second, assert_tangent
from s2sgrad import GradientTape, Variable, grad
from s2sgrad.recorded.derivatives import Recorded


def picked_from_rows_that_are_one(x, mask):
    return np.sum(np.sin(x)) + np.sum(np.broadcast_to(x, mask.shape)[mask] ** 2)


def picked_from_columns_that_are_one(x, mask):
    return np.sum(np.sin(x)) + np.sum(np.broadcast_to(x[:, None], mask.shape)[mask] ** 2)


def picked_from_windows(x, mask):
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate((x, x)), len(x))[: len(mask)]
    return np.sum(np.sin(x)) + np.sum(windows[mask] ** 2)


def picked_from_windows_of_an_argument(x, mask):
    windows = np.lib.stride_tricks.sliding_window_view(x, 3)
    return np.sum(windows[mask[: len(windows), :3]] ** 2) + np.sum(np.sin(x))


def added_where_rows_are_one(x, mask):
    y = np.outer(x, x)
    np.add(y, x, out=y, where=mask)
    return np.sum(y[1]) + np.sum(np.concatenate((np.sin(x), x)))


def chosen_of_rows_that_are_one(x, mask):
    rows = np.broadcast_to(x, mask.shape)
    return np.sum(np.where(mask, np.sqrt(rows + 2.0), rows * rows)) + np.sum(np.sin(x))


PROGRAMS = [f for name, f in list(globals().items()) if name.startswith(("picked_", "added_", "chosen_"))]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_items_with_several_places_count_where_one_of_them_does(f):
    rng = np.random.default_rng(0)
    for n in (4, 9):
        for share in (0.2, 0.5, 0.8):
            given = rng.uniform(-1.0, 1.0, n), rng.random((n, n)) < share
            assert_gradient(f, given, (0,), exactly=False)
            assert_tangent(f, given, (0,))
    assert_second(f, given, (0,))


def left_out_at_zero(x, mask):
    return np.sum(np.where(mask, np.sqrt(np.broadcast_to(x, mask.shape)), 1.0) ** 3)


def picked_away_from_zero(x, mask):
    return np.sum(np.sqrt(np.broadcast_to(x, mask.shape))[mask] ** 3) + np.sum(x)


@pytest.mark.parametrize("f", [left_out_at_zero, picked_away_from_zero], ids=lambda f: f.__name__)
def test_what_is_left_out_of_rows_that_are_one(f):
    mask = np.array([[False, True, False], [False, False, True], [False, True, False]])
    x = Variable(np.array([0.0, 0.7, 2.0]))
    slopes = 1.5 * np.sqrt([0.0, 0.7, 2.0]) * [0.0, 2.0, 1.0] + (f is picked_away_from_zero)
    np.testing.assert_allclose(grad(f, (0,))(x.numpy(), mask)[0], slopes)
    np.testing.assert_allclose(Recorded(f, (x.numpy(), mask), {}, (0,)).pullback()[0], slopes)
    with GradientTape() as tape:
        y = f(x, mask)
    np.testing.assert_allclose(tape.gradient(y, x), slopes)
