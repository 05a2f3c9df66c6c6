"""Lowered texts as plain Python, against the NumPy texts: kernels, corpus, small functions, random programs of stores."""

from __future__ import annotations

import ast
import contextlib
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from as_loops import assert_same, both
from corpus import CASES
from differences import leaves
from kernels import KERNELS
from statements import Statements

from s2sgrad import S2SGradError, grad, value_and_grad
from s2sgrad.compiled import fusion, repeated
from s2sgrad.compiled import lowered as lowered_texts
from s2sgrad.compiled.lowered import flat_arguments, lower, plain_function, rebuilt
from s2sgrad.compiled.values import Unfit
from s2sgrad.driver.program import Program


@pytest.mark.dear
@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_kernels(entry):
    ours, theirs = both(grad(entry.function, lists=False, **entry.options), entry.args())
    assert ours is not None  # every kernel has loops
    assert_same(ours, theirs)


@pytest.mark.dear
@pytest.mark.sampled(one_in=300)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_corpus(entry):
    argnums = entry.argnums if len(entry.argnums) > 1 else entry.argnums[0]
    df = value_and_grad(entry.function, argnums, lists=False)
    try:
        ours, theirs = both(df, entry.fresh_args())
    except (Unfit, S2SGradError):
        return
    if ours is not None:
        assert_same(ours, theirs)


def stencil(a, b):
    for _ in range(3):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.5 * (b[1:-1, :-2] + b[2:, 1:-1])
    return np.sum(a * a) + np.sum(b)


def recurrence(x, k):
    s, out = 0.5, np.zeros(len(x))
    for i in range(len(x)):
        s = np.tanh(k * s + x[i])
        out[i] = s * s
    return out


def layers(w, v, x):
    h = np.tanh(x @ w)
    return np.mean((h @ v) ** 2)


def windows(x):
    out = np.zeros(len(x) - 2)
    for i in range(1, len(x) - 1):
        out[i - 1] = np.sum(x[i - 1 : i + 2] * x[i])
    return out


def wraps_around(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i - 1]
    return y


def swaps(a, b):
    for _ in range(4):
        b[1:] = a[1:] * a[:-1]
        a, b = b, a
    return np.sum(a) + np.sum(b * b)


def branches(x, c):
    t = 0.0
    for i in range(len(x)):
        if x[i] > c:
            t = t + x[i] * x[i]
        elif i % 2 == 0:
            t = t - c * x[i]
    return t


def overlapping(x):
    x[1:] = x[:-1] * 2.0
    x[:-1] += x[1:]
    x[::2] *= 3.0
    return x[::-1] * 1.5


def gathers(x, w, k):
    y = x[k] * w
    y[0] += y[-1]
    return np.sum(y * y)


def rows(m, v):
    total = np.zeros(m.shape[1])
    for row in range(m.shape[0]):
        r = m[row]
        total += r * v[row] / (1.0 + r @ r)
    return total


def norms(m):
    return np.sum(m * m, axis=1, keepdims=True) / m.max(axis=0)


def masked(x, y):
    m = x > y
    x[m] = x[m] * y[m]
    x[~m] += 0.5
    y[x > 0.0] = 0.0
    return np.sum(x * x) + np.sum(y[m])


def rolls(x, m):
    y = np.roll(x, 2) * x - np.roll(x, -3)
    part = slice(1, -1)
    y[part] *= 2.0
    return np.sum(y * y) + np.sum(np.roll(m, 1, axis=1) * m)


def parts_of_a_matrix(m, v):
    out = np.zeros(len(v))
    for k in range(3):
        out[k:] += m[:, k:].T @ v[:4] + v[: m.shape[0]] @ m[:, k:]
        out[k] += np.sum(m[1:, k:] @ v[k:]) + np.sum(m[::2, ::-1] @ v)
    return out


def systems(m, v):
    a = m @ m.T + np.eye(m.shape[0])
    x = np.linalg.solve(a, v)
    return np.sum(x * x) + np.sum(np.linalg.solve(a.T, m) * m) + np.sum(np.linalg.inv(a)[1:] ** 2)


def backwards(x, k):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[:i] += x[i - 1 :: -1] * x[i]
        y[i] += x[i:0:-1] @ x[:i] + np.sum(x[-1:-i:-1])
    y[::-2] *= x[: (len(x) + 1) // 2]
    return np.sum(y * y) + np.sum(x[k : k - 3 : -1] ** 2) + x[len(x) + 4 : 2 : -3] @ x[len(x) + 4 : 2 : -3]


def triangles(m, v):
    a, b, (p, q) = np.triu(m, 1), np.tril(m * m), v[:2]
    x = np.moveaxis(np.array([m, m * p, m * q]), 0, 2)
    y = np.swapaxes(x, 0, 1)
    return np.sum(a * m) + np.sum(b * b) + np.sum(x[1:, :, 0] * y[:, 1:, 2].T) + np.sum(np.roll(m, (1, -2), (0, 1)) * m)


def sides(x):
    y = np.zeros_like(x[::2])
    for k in range(2):
        side = (x[::2], x[1::2])[k]
        y += side**2 * x[k]
    return np.sum(y * y)


def steps_of(x, k):
    at = np.arange(-1.0, k + 1.0, 0.5)
    lower = np.floor(x * 4.0 + 4.0).astype(int)
    return np.sum(np.sin(at * x[0])) + np.sum(x[lower] * x[0])


def kinks(x, y):
    return np.sum(np.maximum(x, y) * np.minimum(x, 0.5) + np.abs(x) * np.clip(y, -0.5, 0.5) + np.where(x > y, x * x, y))


def sections_that_are_recorded(x, k):
    y = np.zeros(len(x))
    for i in range(k):
        part, rest = slice(i, i + 3), slice(None, -i - 1)
        t = np.exp(x[part] * y[part] + x[i])
        y[part] += t * t
        y[rest] *= x[rest]
    return np.sum(y * y)


def several_arrays_as_an_index(m, v, i, j):
    m = m.copy()
    y = m[i, j] * 2.0
    m[i, j] = y * v[:3]
    m[i, j] += 0.5
    m[np.triu_indices(4, 1)] *= 0.5
    keep, s = v[:4] > -0.3, 0.0
    m[keep, 1] = v[1]
    z = m[keep, :3] * 2.0 + m[i[0], j][:, None][0]
    w = m[:, j] + m[i[:, None], j[None, :]][0].sum() + m[keep].sum()
    m[keep] += 1.0
    for k in range(3):
        s = s * 0.9 + np.sum(m[i, k] * m[j, i])
    return np.sum(y * y) + np.sum(z) + np.sum(w * w) + s + np.sum(m * m)


def borders_that_are_recorded(m, k):
    """The record of each trip has arrays of two ranks, and a number."""
    m = m.copy()
    for i in range(k):
        m[1:-1, 1:-1] *= m[:-2, 1:-1] + m[2:, 1:-1]
        m[:, 0] = m[:, 1] * m[:, 0]
        m[-1, :] *= m[0, :]
        if i % 2:
            m[0, 0] = m[0, 0] * m[1, 1]
    return np.sum(m * m)


def rows_by_a_list(m, k):
    m = m.copy()
    for i in range(3):
        m[[i, k]] = m[[k, i]] * 1.1
    return np.vdot(m, m * m) + np.sum(m[:, [0, k]])


def none_at_first(x, k):
    best, last, total = None, None, np.zeros_like(x)
    for i in range(k):
        row = x[i] * 2.0
        if best is None or i % 3 == 2:
            best = row * 1.0
        elif np.sum(row) > 0.5:
            best = best * row
        if last is not None:
            total[i] += last * np.sum(best * x[0])
        last = x[i] * np.sum(best) if i != 2 else None
    return np.sum(total) + np.sum(best)


def bound_in_each_trip(x, k):
    for i in range(k):
        if i > 0:
            density = np.sqrt(x[i] * x[i - 1])
            share = density / np.sum(density)
        else:
            share = x[i] * 0.5
        x[i] *= share
    return np.sum(share * density)


def numbers_that_become_arrays(x, w, k):
    out = np.zeros(x.shape)
    for i in range(k):
        below, above = 0.0, 0.5
        if i > 0:
            below = x[i - 1] * w
        if i < k - 1:
            above = x[i + 1] * w[::-1] * 0.3
        change = x[i] - below
        change -= above * out[i - 1]
        both = below * 2.0 + above
        out[i] = change * both + above
    return np.sum(out * out)


def added_to_a_number(x, k):
    total = 0
    for i in range(k):
        total = total + x[i] * (i + 1.0)
    return np.sum(x * total)


A, V = np.linspace(0.3, 1.9, 20).reshape(4, 5), np.linspace(-0.7, 0.9, 7)
SMALL = [
    (stencil, (A, A[::-1].copy()), (0, 1)),
    (recurrence, (V, 0.7), (0, 1)),
    (layers, (A, V[:5], np.ones((3, 4))), (0, 1, 2)),
    (windows, (V,), (0,)),
    (wraps_around, (V,), (0,)),
    (swaps, (V, V + 0.1), (0, 1)),
    (branches, (V, 0.2), (0, 1)),
    (overlapping, (V,), (0,)),
    (gathers, (V, np.ones(4), np.array([0, 3, 3, 6])), (0, 1)),
    (rows, (A, V[:4]), (0, 1)),
    (norms, (A,), (0,)),
    (parts_of_a_matrix, (A, V[:5]), (0, 1)),
    (systems, (A, V[:4]), (0, 1)),
    (backwards, (V, 4), (0,)),
    (triangles, (np.vstack([A, A[:1] * 0.5]), V), (0, 1)),
    (sides, (np.linspace(0.1, 1.0, 8),), (0,)),
    (steps_of, (np.linspace(0.01, 0.4, 7), 2.3), (0,)),
    (kinks, (V, V[::-1] * V), (0, 1)),
    (rolls, (V, A), (0, 1)),
    (masked, (A, A[::-1] * 0.9), (0, 1)),
    (sections_that_are_recorded, (V, 4), (0,)),
    (borders_that_are_recorded, (A, 4), (0,)),
    (none_at_first, (A, 4), (0,)),
    (bound_in_each_trip, (A, 4), (0,)),
    (rows_by_a_list, (A, 3), (0,)),
    (several_arrays_as_an_index, (A, V, np.array([0, 2, 2]), np.array([1, 3, 3])), (0, 1)),
]


LOOSE = [(numbers_that_become_arrays, (A, V[:5], 4), (0, 1)), (added_to_a_number, (A, 4), (0,))]


@pytest.mark.parametrize(("function", "args", "wrt"), [*SMALL, *LOOSE], ids=lambda v: getattr(v, "__name__", ""))
def test_small_functions_have_loops(function, args, wrt):
    ours, theirs = both(value_and_grad(function, wrt, lists=False), args)
    assert ours is not None
    assert_same(ours, theirs)


def grows_and_shrinks(x, y, k):
    tape, s = [], 0.0
    tape.append(x * 1.0)
    for _ in range(k):
        z = tape.pop()
        s = s + np.sum(z * z)
        tape.append(y * 2.0)
    return s


def of_several_types(x, m, k):
    tape, s = [], 0.0
    for i in range(k):
        tape.append(x[i:] * 2.0)
        tape.append(x[i])
        if x[i] > 0.0:
            tape.append(m[i] + 0.0)
        else:
            tape.append(m * 1.0)
    for i in range(k - 1, -1, -1):
        if x[i] > 0.0:
            s += np.sum(tape.pop())
        else:
            s += np.sum(tape.pop() * 0.5)
        s += tape.pop() * 3.0
        s += np.sum(tape.pop() ** 2)
    return s, len(tape)


def test_lists_whose_items_differ():
    """In their sizes, from one trip of a loop to the next; or in their types, each of which has a list of its own."""
    small, large = np.arange(3.0), np.arange(7.0)
    lowered = lower(Program(), grows_and_shrinks, {"x": large, "y": small, "k": 3})
    for x, y in ((large, small), (small, large)):
        assert plain_function(lowered)(x, y, 3)[0] == grows_and_shrinks(x, y, 3)
    m = np.arange(12.0).reshape(4, 3)
    lowered = lower(Program(), of_several_types, {"x": V, "m": m, "k": 4})
    for x in (V + 2.0, V - 2.0):  # all branches of one kind are told apart, or the check says that they are not
        try:
            ours = rebuilt(iter(plain_function(lowered)(x, m, 4)), lowered.result)
        except ValueError:
            continue
        assert ours == of_several_types(x, m, 4)


def exchanged_with_what_may_be_a_number(x):
    z = x * 2.0
    b = x if x[0] > 0.0 else 0.5
    b, z = z, b
    return np.sum(x * z) + np.sum(b)


def exchanged_dicts(x, k):
    p, q = {"a": x * 1.0, "b": x * 2.0}, {"a": x * 3.0, "b": x * 5.0}
    for _ in range(k):
        p, q = q, p
    return np.sum(p["a"]) + np.sum(q["b"])


def exchanged_tuples_by_a_third_name(x, k):
    p, q = (x * 1.0, x * 2.0), (x * 3.0, x * 5.0)
    for _ in range(k):
        o = p
        p = q
        q = o
    return np.sum(p[0]) + np.sum(q[1])


def exchanged_after_a_view_was_collected(x, k):
    x = x * 1.0
    x *= 1.5
    y = x * 2.0
    columns = []
    columns.append(x[:, k])
    x, y = y, x
    y[0] = 3.0
    return np.sum(np.array(columns) ** 3) + np.sum(x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (exchanged_with_what_may_be_a_number, (V,)),
        (exchanged_dicts, (V, 3)),
        (exchanged_tuples_by_a_third_name, (V, 3)),
        (exchanged_after_a_view_was_collected, (A, 1)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_values_that_are_exchanged(f, args):
    """The function itself, and its gradient: as the text has them, or without loops."""
    with contextlib.suppress(Unfit):
        loops = plain_function(lower(Program(), f, dict(zip(("x", "k"), args, strict=False))))
        np.testing.assert_allclose(loops(*args)[0], f(*args), rtol=1e-12)
    with contextlib.suppress(Unfit):
        assert_same(*both(grad(f), args))


def test_places_along_an_axis_that_is_not_read_are_checked():
    """An axis of length 1 is read at 0, and one beside an empty one is not read at all: IndexError, as by NumPy."""

    def rows_at(x, k):
        return np.sum(x[[k, 0]] ** 2)

    for x, k in ((np.ones(1), 5), (np.ones(1), -2), (np.ones((4, 0)), 7), (np.ones((4, 3)), 7)):
        with pytest.raises((IndexError, ValueError, Unfit)):
            plain_function(lower(Program(), rows_at, {"x": x, "k": k}))(x, k)
    longer = plain_function(lower(Program(), rows_at, {"x": np.ones((4, 3)), "k": 1}))
    with pytest.raises((IndexError, ValueError)):
        longer(np.ones((4, 0)), 7)


def test_lists_that_each_trip_of_a_written_loop_begins_anew():
    """Their items have other ranks: they are other lists."""

    def sums(x, y):
        s = 0.0
        for v in (x, y, 2.0):
            doubled = []
            for _ in range(2):
                doubled.append(v * 2.0)
            while len(doubled) > 0:
                s = s + np.sum(doubled.pop())
        return s

    loops = plain_function(lower(Program(), sums, {"x": V, "y": A}))
    assert np.isclose(loops(V, A)[0], sums(V, A), rtol=1e-12)


def test_views_that_a_list_collects():
    """Copies, unless what they are of is written before the list is read last."""

    def before(x, k):
        x = x * 1.0
        x *= 2.0
        columns = []
        for i in range(k):
            columns.append(x[:, i])
        y = np.array(columns)
        x *= 3.0
        return y, x

    def between(x, k):
        x = x * 1.0
        columns = []
        for i in range(k):
            columns.append(x[:, i])
        x *= 3.0
        return np.array(columns)

    def within(x, k):
        x = x * 1.0
        columns = []
        for i in range(k):
            x[0, i] = 2.0
            columns.append(x[:, i])
        return np.array(columns)

    def handed_on(x, k):
        x = x * 1.0
        columns = []
        columns.append(x[:, k])
        y = columns.pop()
        x *= 3.0
        return y

    loops = plain_function(lower(Program(), before, {"x": A, "k": 3}))
    for ours, theirs in zip(loops(A, 3), before(A, 3), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for f in (between, within, handed_on):
        with pytest.raises(Unfit, match="a view that is kept in a list"):
            lower(Program(), f, {"x": A, "k": 3})


def test_numbers_that_are_none_at_times():
    def largest(x, k):
        found, before = None, None
        for i in range(k):
            before = found
            if found is None or x[i] > found:
                found = x[i] if x[i] > -0.5 else None
        return found * 1.0, before is None

    loops = plain_function(lower(Program(), largest, {"x": V, "k": 3}))
    for k in range(4, 8):
        assert loops(V, k) == largest(V, k)
    for x, k in ((V, 0), (V, 1), (V - 5.0, 7)):
        with pytest.raises(UnboundLocalError):
            loops(x, k)


def network(params, x, y):
    h = np.tanh(x @ params["w"] + params["b"])
    out = h @ params["a key, bound"]["w"] + params["a key, bound"]["shift"]
    penalty = {"w": 0.1, "b": params["a key, bound"]["shift"]}
    s = 0.0
    for k in penalty:
        s = s + penalty[k] * np.sum(params[k] ** 2)
    return np.mean((out - y) ** 2) + s, {"h": h, "s": s}


def test_why_lines_have_no_loops_decides_nothing(monkeypatch):
    def later(x, k):
        best, s = None, 0.0
        for i in range(k):
            if i > 0:
                s = s + np.sum(best)
            best = x * 2.0
        return s, best * 1.0

    lowered = lower(Program(), later, {"x": V, "k": 3})
    look = lowered_texts._looked_ahead

    def forgetful(*given):
        ahead = look(*given)
        ahead.reasons = None
        return ahead

    monkeypatch.setattr(lowered_texts, "_looked_ahead", forgetful)
    assert lowered.text == lower(Program(), later, {"x": V, "k": 3}).text
    found = rebuilt(iter(plain_function(lowered)(V, 3)), lowered.result)
    for ours, theirs in zip(found, later(V, 3), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


PARAMETERS = {"w": A[:3, :4], "b": V[:4], "a key, bound": {"w": V[1:5], "shift": 0.5}}


def test_dicts_of_arrays():
    """Entries by names, nested, in results and in loops over a few of them; one array may be there twice."""
    x = np.linspace(-1.0, 1.0, 15).reshape(5, 3)
    for parameters in (PARAMETERS, {**PARAMETERS, "b": PARAMETERS["a key, bound"]["w"]}):
        ours, theirs = both(value_and_grad(network, lists=False, has_aux=True), (parameters, x, x[:, 0]))
        assert ours is not None and [*ours[1]] == ["w", "b", "a key, bound"]
        assert_same(ours, theirs)

    def other(p):
        return p["a"] * (1.0 if "b" in p else 2.0)

    def written(p):
        p["a"] = p["a"] * 2.0
        return p["a"]

    for f in (other, written):
        with pytest.raises(Unfit):
            lower(Program(), f, {"p": {"a": V}})


def test_tensor_products():
    def products(m, x):
        full = np.tensordot(m, m * m, 2)
        return (
            full,
            full * 2.0,
            np.tensordot(m, x, 1),
            np.tensordot(m, m, ((1,), (-1,))),
            np.tensordot(x, m, ([0, 1], [1, 0])),
        )

    m, x = np.linspace(-1.0, 1.0, 20).reshape(4, 5), np.linspace(0.0, 1.0, 60).reshape(5, 4, 3)
    loops = plain_function(lowered := lower(Program(), products, {"m": m, "x": x}))
    ours, theirs = rebuilt(iter(loops(m, x)), lowered.result), products(m, x)
    assert_same(ours, theirs)
    assert [type(v) for v in ours] == [type(v) for v in theirs]


def single(value):
    """The same in float32, if it is an array of floats."""
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype == float else value


def accumulates(x, k):
    s = t = 0.5
    for i in range(len(x)):
        s = s * k + x[i] / 3
        t += x[i] * 0.1
    return s, t, x * 3 - k, x * np.float64(k), np.maximum(x, 0.1), x > 0.1


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
@pytest.mark.parametrize(("function", "args", "wrt"), SMALL, ids=lambda v: getattr(v, "__name__", ""))
def test_float32_stays_float32(function, args, wrt):
    """The types are those of the text, the numbers too, as far as float32 says: sums are exact, and rounded once."""
    args = tuple(map(single, args))
    ours, theirs = both(value_and_grad(function, wrt, lists=False), args)
    assert ours is not None
    for a, b in zip(leaves(ours), leaves(theirs), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=0.0, atol=3e-6 * (1.0 + np.max(np.abs(b))))


def begins_as_python(x, y, k, start):
    s, last = start, 1.0
    for i in range(k):
        s = s / 3.0 if i % 2 == 0 else s * 1e30
    if k > 3:
        s = x[0]
    for i in range(k - 1):
        last = last * 0.1
        last = last + x[i]
    t = s
    if s > 0.1:
        t = t + 1
    return s, t, s * 2.0, last, max(t, last), (t if k > 1 else 2.0), np.sum(y * s) + last


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_begins_as_a_number_of_python_has_the_type_of_the_text(dtype):
    """Also where no trip of a loop makes it one of NumPy's; in float32, what is computed before is computed in float64."""
    x, y = np.linspace(0.3, 1.7, 6, dtype=dtype), np.linspace(0.0, 1.0, 3)
    lowered = lower(Program(), begins_as_python, {"x": x, "y": y, "k": 2, "start": 1.0})
    for k in range(6):
        for start in (1.0, 0.3, 1e20):
            with np.errstate(over="ignore"):
                ours = rebuilt(iter(plain_function(lowered)(x, y, k, start)), lowered.result)
                theirs = begins_as_python(x, y, k, start)
            assert [*map(type, ours)] == [*map(type, theirs)]
            np.testing.assert_allclose(ours, theirs, rtol=1e-15)


def scaled_sums(x):
    s = 0.0
    for i in range(len(x)):
        s = s * x[i] + x[i]
        if s > 1.0:
            s = s * s
    return s


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
def test_a_seed_that_becomes_float32():
    """Python's 1.0 begins the cotangent of a float32; it stays what it is until it meets one."""
    x = np.linspace(0.3, 1.1, 6, dtype=np.float32)
    text = value_and_grad(scaled_sums, lists=False).generated_for((x,), {})
    lowered = lower(Program(), text, {"x": x, "seed": 1.0})
    for seed in (1.0, -2.5, 0.1):
        ours, theirs = rebuilt(iter(plain_function(lowered)(x, seed)), lowered.result), text(x, seed=seed)
        for a, b in zip(leaves(ours), leaves(theirs), strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=3e-6)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
def test_float32_beside_other_numbers():
    """Numbers of Python's take the type of float32, those of NumPy do not."""
    x = single(np.linspace(-0.7, 0.9, 7))
    for k in (0.7, np.float64(0.7), np.float32(0.7)):
        lowered = lower(Program(), accumulates, {"x": x, "k": k})
        ours, theirs = rebuilt(iter(plain_function(lowered)(x, k)), lowered.result), accumulates(x, k)
        for a, b in zip(ours, theirs, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_all_lines_without_loops_are_named():
    """Not those that only follow from others."""

    def several(x, d):
        y = np.array_split(x, 2)
        z = y[0] * 2.0
        for k in range(2):
            z = z + np.array_split(x * k, 2)[0] + d["a"]
        return z[0] + np.sum(x) + np.sum(np.array_split(x, 2)[1])

    with pytest.raises(Unfit) as why:
        lower(Program(), several, {"x": np.ones(3), "d": None})
    lines = [line.partition(": ")[2] for line in str(why.value).splitlines()]
    assert lines == ["`array_split`", "`array_split`", "`array_split`"]


def test_a_text_that_would_take_long_to_compile(tmp_path, monkeypatch):
    monkeypatch.setattr(lowered_texts, "_LONGEST", 2.0)
    lines = [f"    x = np.cumsum(x * {k}.5) + {k}.0 * x\n" for k in range(30)]  # equal ones would be compiled once
    text = "import numpy as np\n\ndef many(x):\n" + "".join(lines) + "    return x\n"
    (tmp_path / "many.py").write_text(text)
    space = {"__name__": "many"}
    exec(compile(text, str(tmp_path / "many.py"), "exec"), space)
    with pytest.raises(Unfit, match="so many loops"):
        lower(Program(), space["many"], {"x": np.ones(3)})


def test_loops_in_several_threads():
    """Loops whose trips write elements of their own; not those that scatter, add up, or may raise."""

    def many(x, k):
        y = np.exp(x) * x.T
        z = np.zeros(len(k))
        np.add.at(z, k, x[0])
        return np.sum(y) + np.sum(z), y, np.sum(x, axis=0), np.sum(x, axis=1), x[k] * 2.0

    x, k = np.linspace(-1.0, 1.0, 16).reshape(4, 4), np.array([0, 0, 2, 3])
    lowered = [lower(Program(), many, {"x": x, "k": k}, threads) for threads in (False, True)]
    assert "prange" not in lowered[0].text
    for block in lowered[1].text.split("prange(")[1:]:
        loops = block.partition("else:")[0]
        assert "at(" not in loops and "+=" not in loops and not re.search(r"\bs\d+ = plus", loops)
    assert lowered[1].text.count("prange(") == 2
    for number in (32768, -1):
        text = lowered[1].text.replace("32768", str(number))
        ours = plain_function(replace(lowered[1], text=text))(x, k)
        for a, b in zip(ours, plain_function(lowered[0])(x, k), strict=True):
            np.testing.assert_array_equal(a, b)


def lines_of(function, *args):
    """The lines of the loops of a function."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return [line.strip() for line in lower(Program(), function, dict(zip(names, args, strict=True))).text.splitlines()]


def test_copies_of_what_is_not_read_again_are_the_memory_itself():
    def handed(x):
        y = x * 2.0
        y[0] = 1.0
        return y.copy()

    def kept(x):
        y = x * 2.0
        y[0] = 1.0
        z = y.copy()
        z[1] = 5.0
        return z, y

    def rolled(x):
        y = x * 2.0
        y[0] = 1.0
        return np.roll(y, 1)

    def in_a_loop(x):
        y = x * 2.0
        for _ in range(3):
            z = y.copy()
            y[0] = z[1]
        return y, z

    assert sum(line.startswith("for ") for line in lines_of(handed, V)) == 1
    for function in (handed, kept, rolled, in_a_loop):
        lowered = lower(Program(), function, {"x": V})
        for a, b in zip(leaves(plain_function(lowered)(V)), leaves(function(V)), strict=False):
            np.testing.assert_array_equal(a, b)


def test_memory_that_begins_as_zeros_is_allocated_so():
    def added(x, k):
        y, z = np.zeros(len(x)), np.zeros(len(x))
        z[0] = x[0]
        np.add.at(y, k, x)
        return y, z

    lines = lines_of(added, V, np.arange(len(V)))
    assert sum("= np.zeros((n0,))" in line for line in lines) == 2 and sum(line.startswith("for ") for line in lines) == 1


def test_other_sizes_than_those_that_it_was_lowered_for():
    """No size comes from the arguments at hand: the loops are right for any, or raise."""
    df = grad(stencil, (0, 1), lists=False)
    for shape in ((3, 3), (6, 4), (2, 2), (2, 7), (1, 5), (0, 4)):
        args = np.ones(shape), np.arange(float(np.prod(shape))).reshape(shape)
        try:
            ours, theirs = both(df, args)
        except Unfit:  # an axis that is 1 is known to be too short
            continue
        if ours is not None:
            assert_same(ours, theirs)


def test_nothing_is_read_beyond_an_axis():
    """Arrays that do not fit raise before a loop, as in NumPy."""

    def plus(x, y):
        return x * y + y

    loops = plain_function(lower(Program(), plus, {"x": np.ones(4), "y": np.arange(4.0)}))
    assert loops(np.ones(2), np.ones(2))[0].tolist() == [2.0, 2.0]
    for x, y in ((np.ones(4), np.ones(3)), (np.ones(3), np.ones(1)), (np.ones(1), np.ones(4))):
        with pytest.raises(ValueError, match="broadcast"):
            loops(x, y)


LENGTH = 9


def section(rng, length):
    """A spelling of a section of so many elements of nine; `k` is 3."""
    start = rng.randint(0, LENGTH - length)
    stop = start + length
    first = rng.choice([str(start), str(start - LENGTH), f"k + {start - 3}" if start >= 3 else f"{start}"])
    last = rng.choice([str(stop), str(stop - LENGTH) if stop < LENGTH else "", f"k + {stop - 3}"])
    if length == LENGTH:
        return rng.choice([":", "::-1", "0:"])
    if rng.random() < 0.3:  # backwards, in steps of one or two
        end = rng.choice([str(stop - 1), str(stop - 1 - LENGTH), f"k + {stop - 4}" if stop >= 4 else str(stop - 1)])
        behind = rng.choice([str(start - 1), f"k + {start - 4}" if start >= 4 else str(start - 1)]) if start else ""
        every = f"{2 * length - 2}::-2" if 2 * length - 2 < LENGTH else f"{end}:{behind}:-1"
        return rng.choice([f"{end}:{behind}:-1", f"{end}:{behind}:-1", every])
    return rng.choice([f"{first}:{last}", f"{first}:{last}", "::2" if length == 5 else f"{start}:{stop}"])


def store(rng):
    """A statement that writes a section, or an element, of one of two arrays that may be the same."""
    a, b, c, length = *rng.choices("xy", k=3), rng.randint(2, LENGTH)
    s, t, u = (section(rng, length) for _ in range(3))
    value = rng.choice(
        [f"{b}[{t}] * 0.5", f"np.sin({b}[{t}]) + {c}[{u}]", "0.25", f"{c}[{u}] * {b}[{t}]", f"np.sum({b}[{t}])"]
    )
    if rng.random() < 0.25:
        return f"{a}[k - {rng.randint(0, 5)}] += {b}[{rng.randint(-3, 3)}] * 0.3"
    if rng.random() < 0.15:
        return "x, y = y, x"
    if rng.random() < 0.15:
        return f"v = {a}[{s}]; w = {b}[{t}] + 1.0; {a}[{u}] *= 0.5; v += w * 0.1"
    if rng.random() < 0.4:  # a temporary that several loops read
        return f"t = {b}[{t}] * {c}[{u}]; {a}[{s}] += t; {b}[{u}] {rng.choice(['=', '-='])} t * t; {c}[{t}] *= 0.9"
    return f"{a}[{s}] {rng.choice(['=', '+=', '*='])} {value}"


@pytest.mark.parametrize("seed", range(25))
def test_random_stores(seed, tmp_path):
    """Stores, views and swaps in any order: bit by bit what NumPy computes, but for sums."""
    rng = random.Random(seed)
    body = [store(rng) for _ in range(rng.randint(3, 8))]
    loop = rng.random() < 0.5
    body = ["for i in range(3):", *(f"    {line}" for line in body)] if loop else body
    lines = ["def f(x, y, k):", "    x, y = x.copy(), y.copy()", *(f"    {line}" for line in body), "    return x * y[::-1]"]
    text = "\n".join(["import numpy as np", *lines, ""])
    (tmp_path / "stores.py").write_text(text)
    space = {"__name__": "stores"}
    exec(compile(text, str(tmp_path / "stores.py"), "exec"), space)
    x, y = np.linspace(0.2, 1.0, LENGTH), np.linspace(1.0, -0.7, LENGTH)
    lowered = lower(Program(), space["f"], {"x": x, "y": y, "k": 3})
    with np.errstate(over="ignore", invalid="ignore"):
        ours, theirs = plain_function(lowered)(x, y, 3)[0], space["f"](x, y, 3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-14, err_msg=text + lowered.text)


def test_loops_over_the_same_indices_become_one():
    """What lives within them alone is a number; what is read at another index, or before it is written, keeps them apart."""

    def together(x, y):
        t = x * y
        u = t * t + x
        return t + u, u

    def apart(x, y):
        t = x * y
        return t[::-1] + t, t

    x = np.linspace(0.1, 1.0, 6)
    texts = [lower(Program(), f, {"x": x, "y": x + 1.0}).text for f in (together, apart)]
    assert [text.count("for ") for text in texts] == [1, 2]
    assert "t_0 = x[i_] * y[i_]" in texts[0]
    for f in (together, apart):
        ours = plain_function(lower(Program(), f, {"x": x, "y": x + 1.0}))(x, x + 1.0)
        np.testing.assert_array_equal(ours, f(x, x + 1.0))


def shifted(rng):
    """A program that adds one array to sections of another, as the gradient of a stencil does, and its text."""
    rank = rng.choice([1, 1, 2])
    sizes = ["n", "m"][:rank]
    pad = rng.randint(1, 3)

    def part(offsets):
        return ", ".join(f"{o}:{s} - {pad - o}" for o, s in zip(offsets, sizes, strict=True))

    taps = [[rng.randint(0, pad) for _ in sizes] for _ in range(rng.randint(2, 6))]
    body = [f"t = np.sin(x[{part([0] * rank)}]) * k"]
    for o in taps:
        term = rng.choice(["t", "t", "0.5 * t", "t * -2.0", "t + 0.1", "t * k"] if rng.random() < 0.3 else ["t"])
        body.append(f"y[{part(o)}] {rng.choice(['+=', '+=', '-='])} {term}")
        if rng.random() < 0.1:
            body.append(rng.choice([f"x[{part(o)}] = t", "s += t.sum()", f"t[...] = x[{part(o)}]", "kept.append(t)"]))
    body += rng.choice([["x *= 0.9"], [f"x[{part(taps[0])}] += t * t"], ["x, y = y, x"], []])
    shape = "n = x.shape[0]" if rank == 1 else "n, m = x.shape"
    lines = ["x, y, s, kept = x.copy(), y.copy(), 0.0, []", shape]
    loop = rng.choice(["for i in range(3):", "for i in range(k_):", "while s < 3.0:"])
    lines += [loop, *(f"    {line}" for line in [*body, "s += 1.0"]), "return x, y, s"]
    return "\n".join(["import numpy as np", "def f(x, y, k, k_):", *(f"    {line}" for line in lines), ""]), rank


@pytest.mark.parametrize("seed", range(40))
def test_random_stencils(seed, tmp_path):
    """Shifted additions are gathered in the order that they had: bit by bit what NumPy computes."""
    text, rank = shifted(random.Random(seed))
    (tmp_path / "stencils.py").write_text(text)
    space = {"__name__": "stencils"}
    exec(compile(text, str(tmp_path / "stencils.py"), "exec"), space)
    x = np.cos(np.arange(7.0 if rank == 1 else 42.0)).reshape((7,) if rank == 1 else (6, 7))
    loops = plain_function(lower(Program(), space["f"], {"x": x, "y": x + 1.0, "k": 1.3, "k_": 2}))
    ours, theirs = loops(x, x + 1.0, 1.3, 2), space["f"](x, x + 1.0, 1.3, 2)
    for a, b in zip(ours[:2], theirs[:2], strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)
    np.testing.assert_allclose(ours[2], theirs[2], err_msg=text)


def test_stencils_are_gathered():
    lowered = lower(Program(), grad(stencil, (0, 1), lists=False).generated_for((A, A), {}), {"a": A, "b": A, "seed": 1.0})
    head, _, inside = lowered.text.partition("range(2, -1, -1)")
    assert head.count("np.zeros(") == 2 and "np.zeros(" not in inside


def staggered(x, y, z):
    for _ in range(3):
        y[1:, :] -= 0.5 * (z[1:, :] - z[:-1, :])
        x[:, 1:] -= 0.5 * (z[:, 1:] - z[:, :-1])
        z[:-1, :-1] -= 0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
    return np.sum(x * y * z)


def with_other_sizes(x, k):
    for _ in range(2):
        y = x * 1.0
        y[1:-1] = k * (x[2:] - x[:-2])
        x = y * x
    return np.sum(x * x)


def test_pairs_of_additions_are_gathered():
    """Of one array to several, and where its size is known in the loop alone; the zeros are written where they are."""
    df, args = grad(staggered, (0, 1, 2), lists=False), (A, A + 1.0, A - 0.5)
    lowered = lower(Program(), df.generated_for(args, {}), {"x": A, "y": A, "z": A, "seed": 1.0})
    inside = lowered.text.partition("range(2, -1, -1)")[2]
    assert lowered.text.count("np.zeros(") >= 3 and "np.zeros(" not in inside and inside.count("for j_") == 5
    for f, given in ((df, args), (grad(with_other_sizes, (0, 1), lists=False), (V, 0.3))):
        ours, theirs = both(f, given)
        assert ours is not None
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b) if np.ndim(a) else np.testing.assert_allclose(a, b, rtol=1e-14)


def test_loops_join_earlier_ones_across_others():
    def apart(x, y):
        a, b, c = np.empty((4, 5)), np.empty((4, 4)), np.empty((4, 5))
        a[:] = x * 2.0
        b[:] = x[:, 1:] * 3.0
        c[:] = y - 1.0
        return a, b, c

    def bound(x, y):
        a, b, c = np.empty((4, 5)), np.empty((4, 4)), np.zeros((4, 5))
        a[:] = x * 2.0
        b[:] = x[:, 1:] * 3.0
        c[:, 1:] = b
        c[:] = c[:, ::-1] - a
        return a, b, c

    for f in (apart, bound):
        ours = plain_function(lower(Program(), f, {"x": A, "y": A}))(A, A + 1.0)
        for mine, theirs in zip(ours, f(A, A + 1.0), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert lower(Program(), apart, {"x": A, "y": A}).text.count("for j_") == 2


def test_names_of_the_user_beside_names_of_the_loops():
    """Indices of loops, items of tuples, callees and what is bound again have names that nobody else has."""

    def scaled(y, n):
        t, t_0 = y * 0.5, 1.0
        for k in range(n):
            t_0 = t_0 + t[k]
        return t * t_0

    def named(x, i_, p, exp_, x_given):
        exp, p_0, q_0, scaled1_t_0, q = 1.0, x * i_, 0.5, 3.0, (1.0, 2.0)
        for i in range(3):
            exp, exp_, p_0 = exp * 2.0, exp_ + 1.0, p_0 * p[0] + p[1]
            q = (q[1] * x[i], q[0] + x[i])
            q_0, scaled1_t_0 = q_0 + q[0], scaled1_t_0 * 1.5
            x = x * x_given
        return x * exp * exp_ + scaled(p_0, 2) * scaled(x, 3) * (q_0 + scaled1_t_0 * q[1])

    args = (V, 2.5, (0.3, 0.4), 1.5, 0.9)
    lowered = lower(Program(), named, dict(zip(("x", "i_", "p", "exp_", "x_given"), args, strict=True)))
    np.testing.assert_allclose(plain_function(lowered)(*flat_arguments(args))[0], named(*args), rtol=1e-14)


def popped_last(x, k):
    kept = []
    for i in range(3):
        kept.append(1.5 if i == k else x[i])
    return kept.pop()


def popped_and_added(x, k):
    kept, s = [], 0.5
    for i in range(3):
        if i == k:
            kept.append(2.0)
        else:
            kept.append(x[i] if k else 3.0)
    for _ in range(3):
        s = s + kept.pop()
    return s


def popped_of_a_pair(x, k):
    kept, t = [], 1.0
    for i in range(3):
        kept.append((x * t, t))
        if i == k:
            t = x[i]
    return kept.pop()[1]


def popped_and_pushed(x, k):
    kept, again = [], []
    for i in range(3):
        kept.append(x[i] if i == k else i * 0.5)
    for _ in range(3):
        again.append((kept.pop(), x))
    return again.pop()[0], again.pop()[0]


@pytest.mark.parametrize("f", [popped_last, popped_and_added, popped_of_a_pair, popped_and_pushed])
@pytest.mark.parametrize("k", range(4))
def test_numbers_of_a_list_stay_python_s_or_numpy_s(f, k):
    lowered = lower(Program(), f, {"x": V, "k": k})
    ours, theirs = rebuilt(iter(plain_function(lowered)(V, k)), lowered.result), f(V, k)
    assert repr(ours) == repr(theirs)


OPTIONS, SECTION = [], (None, None, None)


def test_what_may_change_is_not_taken_for_known():
    def chosen(x):
        return x * 2.0 if OPTIONS else x

    with pytest.raises(Unfit, match="may change"):
        lower(Program(), chosen, {"x": V})


def test_a_tuple_under_a_free_name_is_no_slice():
    def axes(x):
        return x[SECTION]

    assert plain_function(lower(Program(), axes, {"x": V}))(V)[0].shape == axes(V).shape == (1, 1, 1, 7)


def test_one_element_that_is_stored_into_its_own_array():
    def own(v, m):
        v, m = v.copy(), m.copy()
        v[:] = v[1] * 2.0
        t = v[0] * 0.5
        v[1:] += t
        v *= v[2]
        m -= np.full_like(m, m[0, 1])
        w = v + 1.0
        m[1:] = w[3]
        return v, m, w

    ours = plain_function(lower(Program(), own, {"v": V, "m": A}))(V, A)
    for a, b in zip(ours, own(V, A), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, tmp_path):
    """Branches, loops, reductions, gathered rows, masks, lists, tuples and callees, in any order."""
    text = Statements(random.Random(seed)).program()
    (tmp_path / "program.py").write_text(text)
    space = {"__name__": "program"}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    rng = np.random.default_rng(seed)
    arrays = [*rng.normal(size=(2, 4, 5)), *rng.normal(size=(2, 5)), *rng.normal(size=2).tolist(), 3]
    args = [*arrays, np.array([0, 3, 1]), np.array([2, 0, 1, 3]), np.array([0, 1, 2, 3, 0])]
    names = space["f"].__code__.co_varnames
    with np.errstate(all="ignore"):
        try:
            lowered = lower(Program(), space["f"], dict(zip(names, args, strict=False)))
        except Unfit:
            return
        ours, theirs = rebuilt(iter(plain_function(lowered)(*args)), lowered.result), space["f"](*args)
    for a, b in zip(ours, theirs, strict=True):
        scale = 1.0 + np.max(np.abs(b), where=np.isfinite(b), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * scale, err_msg=text + lowered.text)


ROWWISE = [
    "{M}[:] = {M} * 2.0", "{M}[1:] = {M}[:-1] * 0.5", "{M}[:-1] += {M}[1:]", "{M}[:] = {M}[::-1] - {M}",
    "{M} = {M}[::-1] * 0.5", "{M}[:, 1:] = {M}[:, :-1] + 1.0", "{M} = {M} - {U}[:, None]", "{M}[:] = {M} * {V}",
    "{M}[2] = {V}", "{V} += {M}[1]", "{U} = np.sum({M}, axis=1)", "{U} += {M}[:, 2]", "{V} = np.sum({M}, axis=0)",
    "{U} = np.max({M}, axis=1)", "{U} = {U} * 2.0", "{M}[:, :4] = {M}[:, :4].T * 0.5",
    "{M} = {M} / (1.0 + np.abs({M}[:, :1]))", "{M}[:, 0] = {U}", "{U}[::-1] += {U}", "{M}[rows] += {M}",
    "{M}[:] = {M}[rows]", "{C} = {C} * {M}", "{M} = np.sum({C}, axis=0) - {M}", "{C}[1] = {M}", "{M}[::-1] = {M} * 0.5",
    "{U}[::-1] = {M}[:, 0]", "{M}[:, :4] *= {U}", "{M} = np.roll({M}, 1, axis=1) - {M}", "{M}[:, 0] = {U}[::-1]",
    "{C}[1:] += {C}[:-1]", "{C} -= np.max({C}, axis=2, keepdims=True)", "{C}[:, 1:, :] *= {C}[:, :-1, :]",
    "{M} = {C}[0] * {U}[0]",
]  # fmt: skip


def rowwise(rng, inside):
    names = {"M": "xy", "U": "a", "V": "v", "C": "c"}
    lines = [re.sub(r"\{(.)\}", lambda m: rng.choice(names[m[1]]), rng.choice(ROWWISE)) for _ in range(7)]
    lines = ["for k in range(2):", *("    " + line for line in lines)] if inside else lines
    lines = [*(f"{name} = {name}.copy()" for name in "xyavc"), *lines, "return x, y, a, v, c"]
    return "import numpy as np\n\ndef f(x, y, a, v, c, rows):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("seed", range(80))
def test_shared_outer_loops_compute_the_same_bits(seed, inside, tmp_path, monkeypatch):
    """Rows that are shifted, turned or gathered, columns, sums of either: loops share outer ones only where they may."""
    text = rowwise(random.Random(seed), inside)
    (tmp_path / "program.py").write_text(text)
    space = {"__name__": "program"}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    rng = np.random.default_rng(seed)
    args = [*rng.normal(size=(2, 4, 5)), *(rng.normal(size=shape) for shape in (4, 5, (3, 4, 5)))]
    args.append(np.array([0, 3, 1, 1]))
    given = dict(zip(space["f"].__code__.co_varnames, args, strict=False))
    try:
        shared = [plain_function(lower(Program(), space["f"], given, threads))(*args) for threads in (False, True)]
    except Unfit:
        return
    monkeypatch.setattr(fusion, "outermost_shared", lambda body, share, threads: body)
    apart = plain_function(lower(Program(), space["f"], given))(*args)
    for mine, spread, expected, asked in zip(*shared, apart, space["f"](*args), strict=True):
        np.testing.assert_array_equal(mine, expected, err_msg=text)
        np.testing.assert_array_equal(spread, expected, err_msg=text)
        np.testing.assert_allclose(mine, asked, rtol=1e-12, atol=1e-12, err_msg=text)


def test_memory_is_filled_again():
    """It begins as zeros, and loops that are merged fill it once more: the second fill stays."""

    def refilled(x):
        s = np.zeros(len(x))
        s += x
        t = s * 2.0
        s[:] = 0.0
        return s, t

    for mine, asked in zip(plain_function(lower(Program(), refilled, {"x": V}))(V), refilled(V), strict=True):
        np.testing.assert_array_equal(mine, asked)


SECTIONS = [":-2", "1:-1", "2:"]


def additions(rng, inside):
    lines, large, wide = [], ["x"], []
    for k in range(4):
        lines.append(
            rng.choice([f"s{k} = {rng.choice(large)}[{rng.choice(SECTIONS)}] * 0.5", f"s{k} = np.zeros(len(x) - 2)"])
        )
        lines += rng.sample(
            [f"s{k} += x[1:-1]", f"s{k}[1:] += x[2:-1]", f"s{k}[:] = 0.0", f"s{k}[0] = 1.0"], rng.randrange(3)
        )
        if rng.random() < 0.6:
            lines.append(f"l{k} = np.zeros_like(x)")
            large.append(f"l{k}")
        target = rng.choice(large)
        lines += [f"{target}[{at}] {rng.choice('+-')}= {rng.choice(['', '2.0 * '])}s{k}" for at in rng.sample(SECTIONS, 3)]
        lines += rng.sample(
            [f"{target}[:] = 0.0", f"s{k}[:] = 0.0", f"{target}[1:-1] += s{k}", f"x[:] = {target}"], rng.randrange(2)
        )
        if rng.random() < 0.5:
            lines.append(f"w{k} = np.zeros(len(x) + 2)")
            lines += [f"w{k}[{at}] += {target}" for at in rng.sample(SECTIONS, 2)]
            wide.append(f"w{k}")
    results = ", ".join(["x", *large[1:], *wide])
    lines = ["for k in range(2):", *("    " + line for line in lines)] if inside else lines
    lines = ["x = x.copy()", *lines, f"return {results}"]
    return "import numpy as np\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("seed", range(120))
def test_gathered_additions_compute_the_same_bits(seed, inside, tmp_path):
    """Arrays that are added to before they are added to others, filled again, or read in between."""
    text = additions(random.Random(seed), inside)
    (tmp_path / "program.py").write_text(text)
    space = {"__name__": "program"}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    x = np.random.default_rng(seed).normal(size=8)
    try:
        loops = plain_function(lower(Program(), space["f"], {"x": x}))
    except Unfit:
        return
    asked = space["f"](x)
    for mine, expected in zip(loops(x), asked if isinstance(asked, tuple) else (asked,), strict=True):
        np.testing.assert_array_equal(mine, expected, err_msg=text)


def with_library(m, v):
    a = m @ m.T + np.eye(4) * np.arange(1.0, 5.0)
    w, q = np.linalg.eigh(a)
    s = 0.0
    for i in range(3):
        s = s * 0.5 + np.cbrt(v[i] + 2.0) * np.unwrap(v * 4.0)[i]
    spread = np.std(m, ddof=1, axis=1, keepdims=True)
    return s + np.sum(np.sort(w) * q[0]) + np.linalg.det(a) + np.sum(np.cumsum(m / spread, axis=1)) + np.median(v)


def test_what_has_no_loops_stays_numpy_between_loops():
    df = grad(with_library, (0, 1), lists=False)
    ours, theirs = both(df, (A, V))
    assert ours is not None
    assert_same(ours, theirs)
    lowered = lower(Program(), with_library, {"m": A, "v": V})
    assert "as_items(np.linalg.eigh(" in lowered.text and "for i in range(3)" in lowered.text
    assert {"eigh", "cbrt", "unwrap", "std", "sort", "cumsum", "median"} <= {what for _, what in lowered.kept}
    assert plain_function(lowered)(A, V)[0] == pytest.approx(with_library(A, V), rel=1e-13)


def test_what_is_written_or_drawn_is_not_kept():
    """Functions that write their arguments, have effects, return views, or what nothing is known of."""

    def puts(x):
        x = x.copy()
        np.put(x, [0], 2.0)
        return x

    def draws(x):
        return x * np.random.rand()

    def views(x):
        y = x.copy()
        np.array_split(y, 2)[0][0] = 3.0
        return y

    def prints(x):
        print(x)
        return x * 2.0

    for f in (puts, draws, views, prints):
        with pytest.raises(Unfit):
            lower(Program(), f, {"x": V})


def test_a_result_of_another_type_raises():
    def f(x):
        return np.unwrap(x) * 2.0

    lowered = lower(Program(), f, {"x": V})
    with pytest.raises(TypeError, match="another type"):
        plain_function(lowered)(V.astype(np.float32))


def test_sums_along_rows_are_numbers_in_their_loops():
    """The innermost loop stores nothing that it reads again; a sum of columns has no such number."""

    def rows(x):
        return np.sum(x * x, axis=1), np.max(x, axis=(1, 2)), np.sum(x, axis=0), np.prod(x, axis=(0, 2), keepdims=True)

    x = np.linspace(-1.0, 1.0, 60).reshape(3, 4, 5)
    lowered = lower(Program(), rows, {"x": x})
    ours = plain_function(lowered)(x)
    for a, b in zip(ours, rows(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)
    assert lowered.text.count("largest(t") == 1 and lowered.text.count("largest(a") == 0


F, K, S = np.float64, np.int64, np.float32


def arithmetic(a, b):
    return a + b, a * b, -a, abs(b), a - 1, a / 2.0


def comparisons(a, b):
    return a < b, (a > 0) & (b > 0), not a > b, a > 0 and b > 1.0, a == b or b > 0.0, bool(a > b)


def by_name(a, b):
    return np.add(a, b), np.multiply(a, b), np.maximum(a, b), np.sum(a), np.sum(a > b), np.sign(b), np.floor(b)


def whole_or_not(a, b):
    s, t = 0, a
    if a > b:
        s = b * 0.5
    elif b > 2:
        t = b
    for _ in range(3):
        s = s + 0 if a > b else s * 1
    return s, t, s / 2


def after_a_loop(a, b):
    k = b
    for k in range(int(b) - 1):  # noqa: B007
        a = a * 1.0
    return k, a


def choices(a, b):
    t = np.where(a > b, a, b)
    for _ in range(2):
        t = np.where(t > 0.0, t, a)
    return t, np.where(a > 0, 1.0, 0.0), t + 1


OF_TYPES = [(2.0, 3), (F(2.0), 3), (2, 3), (K(2), 3), (2, K(3)), (2.0, K(3)), (3.5, 2.0), (F(3.5), 2.0), (-2, -1),
            (S(2.0), 3), (S(2.0), 3.5), (S(0.1), 0.2), (True, 2)]  # fmt: skip


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="results of numbers have other types before")
@pytest.mark.parametrize("f", [arithmetic, comparisons, by_name, whole_or_not, after_a_loop, choices])
@pytest.mark.parametrize("args", OF_TYPES, ids=repr)
def test_results_are_of_the_types_of_the_text(f, args):
    try:
        lowered = lower(Program(), f, dict(zip("ab", args, strict=True)))
    except Unfit:
        assert isinstance(args[0], (S, bool, int)) or f in (choices, by_name)  # what has no loops runs as it is
        return
    with contextlib.suppress(TypeError, OverflowError):  # then the text runs
        ours = rebuilt(iter(plain_function(lowered)(*args)), lowered.result)
        for a, b in zip(leaves(ours), leaves(f(*args)), strict=True):
            assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)


def roots_and_products(x, n):
    return np.sqrt(x) * np.maximum(x, 0.5) + x**n


def repeated_products(x, n):
    s = 1
    for _ in range(n):
        s = s * x
    return s


@pytest.mark.parametrize("f", [roots_and_products, repeated_products])
@pytest.mark.parametrize("x", [0.7, F(0.7), 0.5])
def test_gradients_are_of_the_types_of_the_text(f, x):
    ours, theirs = both(value_and_grad(f, lists=False), (x, 3))
    assert ours is not None
    assert [*map(type, ours)] == [*map(type, theirs)]


def stretches_itself(x, y):
    x = x.copy()
    x += y
    return x


def test_an_update_that_would_stretch_its_target_has_no_loops():
    """The text raises ValueError."""
    with pytest.raises(Unfit, match="stretches"):
        lower(Program(), stretches_itself, {"x": np.ones(1), "y": V})
    assert lower(Program(), stretches_itself, {"x": V, "y": np.ones(1)}).text


def test_integers_of_more_than_64_bits_have_no_loops():
    with pytest.raises(Unfit, match="64 bits"):
        lower(Program(), arithmetic, {"a": 2**63, "b": 1})
    assert lower(Program(), arithmetic, {"a": 1 - 2**63, "b": 1}).text


def test_what_is_no_longer_than_enough_need_not_be_exact():
    loops = "    for i in range(9):\n        for j in range(9):\n            x[i, j] = y[i, j] * y[i, j] * z[i, j]\n"
    text = "def f(x, y, z):\n" + loops * 9
    assert repeated.seconds(text) < repeated.seconds(text, 20.0) < 20.0
    assert len(repeated.shared(ast.parse(text)).body) == 2


def stands_for_an_integer(a, k):
    t = k
    if a > 0:
        t = 0.5
    return t - (k - 1), -t, (k - 1) * t, t < k + 1, 1.0 / (t * -3 + 1e-300)


@pytest.mark.parametrize("k", [5, 0, -3, 2**53 + 1, 2**62, K(0), K(-3), K(2**53 + 1)], ids=repr)
@pytest.mark.parametrize("a", [1, -1])
def test_floats_that_stand_for_integers_are_exact(a, k):
    """Integers that floats do not have, and zeros, which have no sign as integers."""
    lowered = lower(Program(), stands_for_an_integer, {"a": a, "k": k})
    try:
        ours = rebuilt(iter(plain_function(lowered)(a, k)), lowered.result)
    except OverflowError:
        assert abs(int(k)) > 2**52
        return
    assert repr(ours) == repr(stands_for_an_integer(a, k))


def handed_to_a_library(a, k):
    t = k
    if a > 0:
        t = 0.5
    return divmod(t, 2), sum([t, t])


def integer_of_either(a, k):
    t = k
    if a > 0:
        t = k * 1
    for _ in range(2):
        t = t + a * 0
    return divmod(t, 2), sum([t, t])


@pytest.mark.parametrize("f", [handed_to_a_library, integer_of_either])
@pytest.mark.parametrize("a", [1, -1, K(1)])
@pytest.mark.parametrize("k", [3, K(3), 2.5])
def test_libraries_are_handed_numbers_of_the_types_of_the_text(f, a, k):
    try:
        lowered = lower(Program(), f, {"a": a, "k": k})
    except Unfit:
        return
    with contextlib.suppress(TypeError):
        ours = rebuilt(iter(plain_function(lowered)(a, k)), lowered.result)
        assert repr(ours) == repr(f(a, k))


def powers_and_products(x):
    return np.power(x, 2), np.power(x, 3.5), np.power(x, -1), np.dot(x, 3.0), np.dot(2.0, x)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="results of numbers have other types before")
@pytest.mark.parametrize("x", [2.0, F(2.0), S(2.0), -2.0, 0.0, np.ones(3, S)], ids=repr)
def test_powers_and_products_by_name_are_numbers_of_numpy(x):
    lowered = lower(Program(), powers_and_products, {"x": x})
    with np.errstate(all="ignore"):
        try:
            ours = rebuilt(iter(plain_function(lowered)(x)), lowered.result)
        except ArithmeticError:  # as plain Python, 0.0 ** -1 raises
            return
        for a, b in zip(ours, powers_and_products(x), strict=True):
            assert type(a) is type(b) and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_tanh_keeps_the_sign_of_zero():
    lowered = lower(Program(), np_tanh, {"x": np.array([-0.0, 0.0])})
    np.testing.assert_array_equal(np.signbit(plain_function(lowered)(np.array([-0.0, 0.0]))[0]), [True, False])


def np_tanh(x):
    return np.tanh(x)


def kept_in_a_list(a, k):
    t = k
    if a > 0:
        t = 0.5
    numbers = []
    for _ in range(3):
        numbers.append(t)
        t = t + 1
    last = numbers.pop()
    return last, last - k


def array_of_a_list(a, k):
    t = k
    if a > 0:
        t = 0.5
    numbers = []
    for _ in range(3):
        numbers.append(t)
    return np.array(numbers)


@pytest.mark.parametrize("f", [kept_in_a_list, array_of_a_list])
def test_what_may_be_an_integer_is_not_taken_from_a_list(f):
    with pytest.raises(Unfit, match="is an integer"):
        lower(Program(), f, {"a": 1, "k": 3})


PARTS = [
    ":1",
    ":, :1",
    "0:1, 0:1",
    "0",
    ":, 0:1",
    "1:2",
    "-1:",
    ":, -1:",
    ":, 1:2",
    ":, 0][:, None",
    ":1, :",
    "::4",
    ":, ::5",
]
UPDATES = [
    "y /= y[{}]", "y[:] = y[{}] + x", "y -= 0.5 * y[{}]", "z = y - y[{}]\n    y[:] = z", "w = y[{}]\n    y *= w",
    "y = np.maximum(y, y[{}])", "y = np.where(y > y[{}], y, x)", "z = y * y[{}]\n    y += y[{}]\n    y *= z",
    "y *= 2.0\n    y += np.sin(y[{}])",
]  # fmt: skip


@pytest.mark.dear
@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("update", UPDATES)
def test_parts_of_an_array_that_is_written(update, part, tmp_path):
    lines = [
        "import numpy as np",
        "def f(x):",
        "    y = x * 2.0",
        f"    {update.format(part, part)}",
        "    return np.sum(y * y * x)",
    ]
    text = "\n".join([*lines, ""])
    path = tmp_path / "written.py"
    path.write_text(text)
    space = {}
    exec(compile(text, str(path), "exec"), space)
    x = 1.0 + 0.5 * np.sin(np.arange(20.0)).reshape(4, 5)
    try:
        ours, theirs = both(value_and_grad(space["f"], lists=False), (x,))
    except (Unfit, S2SGradError):
        return
    if ours is not None:
        assert_same(ours, theirs)
