"""Generated texts, read back and recorded: what they do to shadows, buffers and containers is seen, and not taken by rule.

A gradient whose text cannot be differentiated is recorded for its own derivatives.  So its value on handles must be that of
the plain run, and its derivative that of differences of the gradient.
"""

from __future__ import annotations

import collections
import contextlib
import io

import numpy as np
import pytest
from corpus import CASES, by_name
from differences import central_difference, copied, directional, inner, leaves, random_directions

import s2sgrad.api.recording  # noqa: F401  so that gradients inside are followed
from s2sgrad import S2SGradError, grad, jacrev, runtime
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.runtime import item_slots, shadows
from s2sgrad.runtime.checks import Refusal

X = np.array([0.7, 1.3, 0.4])
Pair = collections.namedtuple("Pair", "a b")


def added_at_an_array(x):
    y = x * 1.0
    runtime.add_at(y, [0, 0, 1], x)
    return y * x


def added_at_a_list(x):
    xs = [x[0], 2.0]
    runtime.add_at(xs, 1, x[1])
    return xs[0] * xs[1]


def added_at_a_named_tuple(x):
    p = runtime.add_at(runtime.zeros(Pair(x[0], x[1])), 0, x[0])
    p = runtime.add_at(p, 1, x[1] * x[2])
    return p[0] * p[1]


def named_tuples_added(x):
    p = runtime.add(Pair(0.0, 0.0), (x[2], x[0]))
    q = runtime.add(Pair(x[0], x[1]), (x[2], x[0]))
    return p[0] * q[1]


def restored(x):
    y = x * 1.0
    old = y.copy()
    y *= x
    runtime.restored(y, old)
    return y * x


def put_back(x):
    d = {"a": x[0]}
    old = runtime.held(d, "b")
    d["a"] = d["b"] = x[1]
    runtime.put_back(d, "a", x[0] * 2.0)
    runtime.put_back(d, "b", old)
    return d["a"] * x[0] * len(d)


def refilled(x):
    xs = [x * 1.0, 0.0]
    shadows.refilled(xs, [x * 2.0, x[0]])
    return xs[0] * xs[1]


def added_into(x):
    xs = [[np.zeros(3), 0.0]]
    shadows.add_into(xs, [(x, x[1])])
    return xs[0][0] * xs[0][1]


def slot_that_two_names_share(x):
    xs = [0.0, x[0]]
    cell = item_slots.cell_at(xs, 0)
    cell += x[1]
    return xs[0] * xs[1]


def shadow_of_a_diagonal(x):
    y = np.outer(x, x)
    y_bar = np.zeros_like(y)
    v_bar = shadows.shadow_of(np.diagonal(y), y, y_bar)
    v_bar += x
    return y_bar


def shadow_of_a_part(x):
    y = shadows.laid_like(x, x)
    y_bar = shadows.shadow(y)
    v_bar = shadows.shadow_of(y[1:], y, y_bar)
    v_bar[0] += x[1]
    return y_bar * x


HELPERS = [
    added_at_an_array, added_at_a_list, added_at_a_named_tuple, named_tuples_added, restored, put_back, refilled,
    added_into, slot_that_two_names_share, shadow_of_a_diagonal, shadow_of_a_part,
]  # fmt: skip


@pytest.mark.parametrize("function", HELPERS, ids=lambda function: function.__name__)
def test_helpers_that_write(function):
    recorded = Recorded(function, (X.copy(),), {}, (0,))
    np.testing.assert_array_equal(recorded.value, function(X.copy()))
    weights = np.cos(np.arange(np.size(recorded.value))).reshape(np.shape(recorded.value))[()]
    (slope,) = central_difference(lambda x: np.sum(function(x) * weights), (X.copy(),), (0,))
    np.testing.assert_allclose(recorded.pullback(weights)[0], slope, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(np.sum(weights * recorded.tangent([X])), slope @ X, rtol=1e-7)


def judged(f, args, argnums):
    """The text of a gradient, recorded, against its plain run and against differences."""
    df = grad(f, argnums)
    df(*copied(args))
    text, lead, bound = df.taken_apart_for(tuple(copied(args)), {})
    if lead:
        pytest.skip("it is bound to an object")

    def plain(*args):
        return text(*copied(args), **bound)

    recorded = Recorded(text, copied(args), bound, argnums)
    for again, once in zip(leaves(recorded.value), leaves(plain(*args)), strict=True):
        np.testing.assert_allclose(again, once, rtol=1e-12, atol=1e-14)
    rng = np.random.default_rng(1)
    along, weights = random_directions(rng, args, argnums), random_directions(rng, args, argnums)
    found = sum(inner(bar, u) for bar, u in zip(recorded.pullback(tuple(weights)), along, strict=True))
    slopes = [directional(plain, args, argnums, along, weights, step) for step in (1e-5, 1e-6)]
    assert min(abs(found - slope) for slope in slopes) <= 1e-4 * (1.0 + abs(slopes[1]))


@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize("entry", [e for e in CASES if e.second], ids=lambda entry: entry.name)
def test_text_of_a_gradient(entry):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            judged(entry.function, entry.args, entry.argnums)
        except (S2SGradError, Refusal) as error:
            pytest.skip(str(error))


@pytest.mark.parametrize(
    "name",
    ["whole_slice_is_a_view", "rows_are_written_where_a_sorted_list_has_them",
     "neighbours_by_get", "keywords_that_a_wrapper_changes", "diagonal_seen_through_a_store"],
)  # fmt: skip
def test_text_that_is_followed(name):
    entry = by_name(name)
    judged(entry.function, entry.args, entry.argnums)


class Sums:
    def __init__(self):
        self.lists = []

    def __enter__(self):
        self.lists.append([])
        return self.lists[-1]

    def __exit__(self, *_):
        if len(self.lists) > 1:
            self.lists[-2].append(sum(self.lists.pop()))
        return False


def sums_in_sums(x):
    sums = Sums()
    with sums as outer:
        outer.append(x[0])
        with sums as inner:
            inner.append(x[1] * x[2])
            inner.append(x[0] ** 2)
        outer.append(outer[-1] * x[1])
    return sum(outer)


@pytest.mark.records
def test_second_derivative_of_a_text_with_shadows():
    x, y, z = X
    rows = [[2.0 + 2.0 * y, 2.0 * x, 0.0], [2.0 * x, 2.0 * z, 1.0 + 2.0 * y], [0.0, 1.0 + 2.0 * y, 0.0]]
    np.testing.assert_allclose(jacrev(grad(sums_in_sums))(X.copy()), rows, rtol=1e-12)
