"""Loops of the reverse sweep that run at once: the same gradient as trip by trip, and only where the trips are apart."""

from __future__ import annotations

import linecache
import random
import warnings

import numpy as np
import pytest
from kernels import kernel_of

from s2sgrad import grad
from s2sgrad.driver import pipeline, program

TRIP_BY_TRIP = tuple(stage for stage in pipeline.PIPELINE if getattr(stage, "name", "") != "vectorize")


def loops(df):
    """The loops of the reverse sweep, and what is in them."""
    _, _, reverse = df.source.partition("# reverse sweep")
    return [line.strip() for line in reverse.splitlines() if line.strip().startswith(("for ", "while "))]


# --- what runs at once -------------------------------------------------------------------------------------------------


def rows_times_a_vector(A, x):
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        y[i] = A[i, :] @ x
    return y @ y


def columns_from_a_matrix(A, x):
    out = np.zeros(A.shape)
    for j in range(A.shape[1]):
        out[:, j] = A[:, j] * x[j] + A @ x
    return np.sum(out**3)


def neighbours(A, x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] += x[i - 1] * x[i] + A[0, i]
    return np.sum(y**2)


def pairs(A, x):
    energy = 0.0
    for i in range(len(A)):
        for j in range(i):
            apart = A[i] - A[j]
            energy += 1.0 / (apart @ apart + 1.0)
    return energy * x[0]


@pytest.mark.parametrize("f", [rows_times_a_vector, columns_from_a_matrix, neighbours], ids=lambda f: f.__name__)
def test_no_loop_is_left(f, monkeypatch):
    A, x = np.random.default_rng(0).normal(size=(4, 4)), np.arange(1.0, 5.0)
    df = grad(f, argnums=(0, 1))
    got = df(A, x)
    assert loops(df) == []
    assert_as_trip_by_trip(f, (A, x), got, monkeypatch)


def test_the_inner_loop_goes(monkeypatch):
    A, x = np.random.default_rng(0).normal(size=(5, 3)), np.ones(1)
    df = grad(pairs, argnums=(0, 1))
    got = df(A, x)
    assert loops(df) == ["for i in reversed(range(len(A))):"]
    assert_as_trip_by_trip(pairs, (A, x), got, monkeypatch)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("syrk", 1), ("syr2k", 1), ("symm", 1), ("atax", 0), ("bicg", 0), ("three_products", 0), ("trmm", 1),
        ("gramschmidt", 1), ("lu", 2), ("pair_forces", 1),
    ],
)  # fmt: skip
def test_kernels(name, left):
    entry = kernel_of(name)
    df = grad(entry.function, **entry.options)
    df.source_for(*entry.args())
    df(*entry.args())
    assert len(loops(df)) == left


def assert_as_trip_by_trip(f, args, got, monkeypatch):
    lines = linecache.getlines(f.__code__.co_filename)
    first = f.__code__.co_firstlineno - 1
    end = next((k for k in range(first + 1, len(lines)) if lines[k].strip() and not lines[k].startswith(" ")), len(lines))
    monkeypatch.setattr(program, "PIPELINE", TRIP_BY_TRIP)
    plain = grad(loaded("".join(lines[first:end]), f.__name__), argnums=(0, 1))
    want = plain(*args)
    assert loops(plain)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def loaded(text, name, number=[0]):  # noqa: B006
    number[0] += 1
    filename = f"<at once {number[0]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {"np": np}
    exec(compile(text, filename, "exec"), space)
    return space[name]


# --- what does not -------------------------------------------------------------------------------------------------------


def recurrence(A, x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += 0.5 * y[i - 1]
    return y @ y


def everywhere_the_last(A, x):
    y = x.copy()
    for i in range(len(x)):
        y[-1] = y[-1] * A[0, i] + y[i]
    return y @ y


def a_triangle(A, x):
    for i in range(len(A)):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
    return np.sum(A**2) * x[0]


def wraps_around(A, x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i - 1] ** 2
    return y @ y


def the_same_array_twice(A, x):
    view = A[0]
    for i in range(A.shape[1]):
        A[1, i] = view[i] * A[0, A.shape[1] - 1 - i]
        view[i] = A[1, i] * 2.0
    return np.sum(A**2) * x[0]


@pytest.mark.parametrize(
    "f", [recurrence, everywhere_the_last, a_triangle, wraps_around, the_same_array_twice], ids=lambda f: f.__name__
)
def test_these_go_trip_by_trip(f, monkeypatch):
    A, x = np.random.default_rng(0).normal(size=(4, 4)), np.arange(1.0, 5.0)
    df = grad(f, argnums=(0, 1))
    got = df(A, x)
    assert loops(df)
    assert_as_trip_by_trip(f, (A, x), got, monkeypatch)


def bounds_before_the_start(x, y):
    for i in range(len(x) - 3):
        y[i] += x[i] * x[i]
    for i in range(len(x)):
        for j in range(1, i):
            y[j] += x[j - 1] * x[i]
        for j in range(i + 1, len(x)):
            y[j] += x[j] * x[i + 1]
    return y @ y


@pytest.mark.parametrize("n", range(5))
def test_without_a_trip_nothing_happens(n, monkeypatch):
    args = np.arange(1.0, n + 1.0), np.ones(n)
    got = grad(bounds_before_the_start, argnums=(0, 1))(*args)
    assert_as_trip_by_trip(bounds_before_the_start, args, got, monkeypatch)


def count_below(x, y, a):
    s = 0.0
    for j in range(len(x)):
        s += a * (x[j] > 0.0) * (y[j] < 1.0)
    return s


def test_truth_values_are_counted():
    assert grad(count_below, argnums="a")(np.ones(3), np.zeros(3), 0.5) == 3.0


def up_to_a_name(x):
    m = len(x) - 3
    s = 0.0
    for j in range(m):
        s += x[j] * x[j]
    return s + x[0]


def test_a_bound_with_a_name_may_be_negative():
    assert np.array_equal(grad(up_to_a_name)(np.array([1.0, 2.0])), [1.0, 0.0])


def records_that_grow(y):
    s = 0.0
    for j in range(len(y)):
        w = np.cos(np.arange(j))
        s += np.sum(np.tanh(w * y[j]))
    return s


def test_records_of_different_lengths():
    y, step = np.array([1.0, 2.0, 3.0]), 1e-6
    slopes = [(records_that_grow(y + step * e) - records_that_grow(y - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(grad(records_that_grow)(y), slopes, rtol=1e-6)


def lengths_that_do_not_fit(A):
    n, m = A.shape
    C = A.copy()
    for i in range(n):
        for j in range(m - 2):
            C[i, j] -= A[i, 1:] @ C[1:, j]
    return np.sum(C * C)


def test_lengths_need_not_fit_where_there_is_no_trip():
    assert np.array_equal(grad(lengths_that_do_not_fit)(np.ones((4, 2))), np.full((4, 2), 2.0))


def beyond_the_end(x):
    y = np.zeros(len(x))
    for i in range(len(x) + 1):
        y[i] = 2.0 * x[i]
    return np.sum(y)


def beyond_a_row(A):
    y = np.zeros(3)
    for i in range(A.shape[0]):
        y[i] = np.sum(A[i])
    return np.sum(y)


def test_an_index_too_far_is_an_error_all_the_same():
    with pytest.raises(IndexError):
        grad(beyond_the_end)(np.ones(3))
    with pytest.raises(IndexError):
        grad(beyond_a_row)(np.ones((4, 2)))
    assert np.array_equal(grad(beyond_a_row)(np.ones((2, 2))), np.ones((2, 2)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2, 5)])
def test_no_trip_and_one(shape):
    A = np.ones(shape)
    assert grad(rows_times_a_vector)(A, np.ones(shape[1])).shape == shape
    assert grad(pairs)(A, np.ones(1)).shape == shape


# --- random loops ----------------------------------------------------------------------------------------------------------


class Writer:
    """Random programs that store into rows, columns, triangles and single elements."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def near(self, i):
        return self.pick(i, i, i, i, "0", "-1", f"{i} - 1", f"{i} + 1")

    def pick(self, *choices):
        return self.rng.choice(choices)

    def row(self, i, j):
        plain = f"A[{self.near(i)}]", f"C[{self.near(i)}, :]", "y", "w", f"B[:, {self.near(i)}]"
        scaled = f"({self.pick(*plain)} * {self.number(i, j, 0)})"
        return self.pick(*plain, scaled, f"({self.pick(*plain)} + y)", f"(B @ A[:, {self.near(j)}])")

    def column(self, j):
        return self.pick(f"A[:, {self.near(j)}]", f"C[:, {self.near(j)}]", "x", "v", f"B[{self.near(j)}]")

    def number(self, i, j, depth=2):
        kind = self.rng.random()
        if depth == 0 or kind < 0.35:
            one = self.pick(f"x[{self.near(i)}]", f"v[{self.near(i)}]", f"y[{self.near(j)}]", f"w[{self.near(j)}]")
            two = f"{self.pick('A', 'C')}[{self.near(i)}, {self.near(j)}]"
            return self.pick(one, one, two, two, "a", "0.5")
        if kind < 0.5:
            return self.pick(f"({self.row(i, j)} @ {self.row(i, j)})", f"({self.column(j)} @ {self.column(j)})")
        one, other = self.number(i, j, depth - 1), self.number(i, j, depth - 1)
        return self.pick(f"({one} + {other})", f"({one} * {other})", f"{one} * {other}", f"np.sin({one})", f"-({one})",
                         f"{one} / (2.0 + {other} ** 2)")  # fmt: skip

    def statement(self, i, j):
        part = self.pick(f":{i}", f"{i}:", f"{i} + 1:")
        change = self.pick("=", "+=", "-=")
        return self.pick(
            f"v[{self.near(i)}] {change} 0.3 * {self.number(i, j)}",
            f"w[{self.near(j)}] {change} 0.3 * {self.number(i, j)}",
            f"C[{self.near(i)}, {self.near(j)}] {self.pick(change, '*=')} 0.3 * {self.number(i, j)}",
            f"C[{i}, :] {change} 0.3 * {self.row(i, j)}",
            f"C[:, {j}] += 0.3 * {self.column(j)}",
            f"w += 0.2 * {self.row(i, j)}",
            f"C[{i}, {j}] -= 0.2 * (A[{i}, {part}] @ C[{part}, {j}])",
            f"v[{part}] += 0.2 * B[{j}, {part}] * {self.number(i, j, 0)}",
            f"s += 0.1 * {self.number(i, j)}",
        )

    def program(self):
        text = "def f(A, B, x, y, a):\n    n, m = A.shape\n    s = 0.0\n"
        text += f"    C = {self.pick('np.zeros((n, m))', 'A.copy()')}\n    v = {self.pick('np.zeros(n)', 'x.copy()')}\n"
        text += f"    w = {self.pick('np.zeros(m)', 'y * 1.0')}\n"
        for _ in range(self.rng.randint(1, 2)):
            text += f"    for i in {self.pick('range(n)', 'range(1, n)', 'range(n - 1)', 'range(n - 1, -1, -1)')}:\n"
            if self.rng.random() < 0.6:
                run = self.pick("range(m)", "range(1, m)", "range(m - 1)", "range(i, m)", "range(i)", "range(i + 1, m)",
                                "range(m - 3)", "range(2, m - 2)", "range(1, i)", "range(2, i + 1)")  # fmt: skip
                text += f"        for j in {run}:\n"
                text += "".join(f"            {self.statement('i', 'j')}\n" for _ in range(self.rng.randint(1, 2)))
            else:
                text += f"        {self.statement('i', self.pick('0', '1', '-1'))}\n"
        return text + "    return np.sum(C * C) + v @ v + np.sum(w**2) + s\n"


@pytest.mark.dear
@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("part", range(6))
def test_random_loops(part, monkeypatch):
    changed = 0
    for seed in range(25 * part, 25 * part + 25):
        text = Writer(seed).program()
        rng = np.random.default_rng(seed)
        n, m = (4, 5) if seed % 3 else (1 + seed % 4, 1 + seed % 5)
        args = rng.normal(size=(n, m)), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m), 0.7
        f, options = loaded(text, "f"), {"argnums": (0, 1, 2, 3, 4), "lists": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                value = f(*(np.copy(z) if isinstance(z, np.ndarray) else z for z in args))
            except (IndexError, ValueError):
                continue
            if not abs(value) < 1e8:
                continue
            df, plain = grad(f, **options), grad(loaded(text, "f"), **options)
            got = df(*args)
            with monkeypatch.context() as patch:
                patch.setattr(program, "PIPELINE", TRIP_BY_TRIP)
                want = plain(*args)
        changed += loops(df) != loops(plain)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9 * (1.0 + abs(value)), err_msg=text)
    assert changed
