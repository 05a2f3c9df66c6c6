"""Memory of the loops: what nothing reads, and what holds one number; rolled arrays."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from s2sgrad.compiled.lowered import lower, plain_function, rebuilt
from s2sgrad.compiled.values import Unfit
from s2sgrad.driver.program import Program

A, V = np.linspace(0.3, 1.9, 20).reshape(4, 5), np.linspace(-0.7, 0.9, 5)


def text_of(function, *args):
    names = function.__code__.co_varnames
    return lower(Program(), function, dict(zip(names, args, strict=False))).text


def result_of(function, *args):
    names = function.__code__.co_varnames
    lowered = lower(Program(), function, dict(zip(names, args, strict=False)))
    return rebuilt(iter(plain_function(lowered)(*args)), lowered.result)


def windows(x):
    out = np.empty((3, 4))
    for k in range(3):
        out[k] = np.exp(x[k, :4]) + x[k, 1:]
    return x[1:] * 2.0


def test_what_nothing_reads_is_not_computed():
    text = text_of(windows, A)
    assert "exp" not in text and "np.empty((3, 4))" not in text
    np.testing.assert_array_equal(result_of(windows, A), windows(A))


def places(x, rows):
    out = np.empty((3, 5))
    out[:] = x[rows]
    return x * 2.0


def test_what_may_raise_is_computed_all_the_same():
    rows = np.array([0, 3, 1])
    assert "at(" in text_of(places, A, rows)
    np.testing.assert_array_equal(result_of(places, A, rows), places(A, rows))
    with pytest.raises(IndexError):
        plain_function(lower(Program(), places, {"x": A, "rows": rows}))(A, rows + 1)


def read_by_another_name(x):
    y = np.zeros(5)
    z = y
    y[1:] = x[0, 1:]
    return z * 1.0


def read_in_the_next_trip(x):
    y, s = np.zeros(5), 0.0
    for k in range(3):
        s = s + y[k]
        y[k + 1] = x[k, k]
    return s


def filled_twice(x):
    y = np.full(5, 2.0)
    z = y * x[0]
    y[:] = 3.0
    return z + y * x[1]


def filled_in_part(x):
    y = np.zeros(5)
    y[1:] = 2.0
    return y * x[0]


@pytest.mark.parametrize("f", [read_by_another_name, read_in_the_next_trip, filled_twice, filled_in_part])
def test_what_is_read_is_written(f):
    np.testing.assert_array_equal(result_of(f, A), f(A))


def weighted(x):
    ones, halves = np.ones_like(x), np.full_like(x, 0.5)
    return x * halves + ones


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_of_one_number_is_this_number(dtype):
    text, x = text_of(weighted, A.astype(dtype)), A.astype(dtype)
    assert text.count("np.empty(") == 1 and "0.5" in text
    np.testing.assert_array_equal(result_of(weighted, x), weighted(x))


ALONG = [
    "{C}[:, :, k] = {C}[:, :, k] * {C}[:, :, k - 1]", "{C}[:, k, 1:] += {C}[:, k - 1, :-1] * {s}",
    "{M} = {M} + {C}[0, :4, :4] * {C}[:, :, k][2, k]", "{C}[:, :, 0] = {M}[k] * {s}", "{M}[:, k] = {M}[:, k - 1] * {s}",
    "{M}[:3] = {C}[:, :, k] * {C}[:, :, 0]",
    "{M}[k] += {C}[:, :, k].sum(axis=0)", "{C} = {C} * {s}", "{M} = np.roll({M}, k, axis=1) - np.roll({M}, -1, axis=0)",
    "{C}[k % 3] = {M} * 0.5", "{M} = np.maximum({M}, {C}[:, :, k].max(axis=0))", "s = s * 0.9 + np.sum({C}[:, :, k])",
    "t = {C}[:, :, k].copy(); {C}[:, :, k - 1] = t * {s}", "{M}[:, 0] += {M}[:, 1] * {M}[:, 2]", "c, d = d, c",
    "{M} = {M} @ {M} * 0.1", "q = np.ones((4, 4)) * {M}; {M} = q - {M}.T", "z = {C}[:, :, k]; {M}[:3] -= z",
]  # fmt: skip


def along(rng):
    names = {"C": "cde", "M": "mn", "s": ["s", "0.5"]}
    lines = [re.sub(r"\{(.)\}", lambda m: rng.choice(names[m[1]]), rng.choice(ALONG)) for _ in range(rng.randint(2, 7))]
    copies = [f"{name} = {name}.copy()" for name in "cdm"]
    body = [*copies, "e, n = c * 0.5, np.zeros((4, 4))", "for k in range(1, 4):", *("    " + line for line in lines)]
    kept = rng.sample(["c", "d", "e", "m", "n", "s"], 3)
    return "import numpy as np\n\ndef f(c, d, m, s):\n" + "".join(
        f"    {line}\n" for line in [*body, f"return {', '.join(kept)}"]
    )


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(120))
def test_random_loops_along_axes(seed, tmp_path):
    """Sections along any axis; what is not returned is dead."""
    text = along(random.Random(seed))
    (tmp_path / "program.py").write_text(text)
    space = {"__name__": "program"}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    rng = np.random.default_rng(seed)
    args = [*rng.normal(size=(2, 3, 4, 4)), rng.normal(size=(4, 4)), 0.7]
    try:
        ours = result_of(space["f"], *args)
    except Unfit:
        return
    for mine, expected in zip(ours, space["f"](*args), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-12, err_msg=text)


@pytest.mark.parametrize("shift", [0, 1, -1, 4, 7, -13])
@pytest.mark.parametrize("axis", [0, 1, (1, 0), None])
def test_rolled_arrays(shift, axis):
    def of_rows(x, shift):
        return np.roll(x, shift, axis=1) * x

    def of_columns(x, shift):
        return np.roll(x, shift, axis=0) - x

    def both_axes(x, shift):
        return np.roll(x, (shift, 2), axis=(1, 0)) * x

    def of_a_vector(x, shift):
        return np.roll(x[0], shift) * x[1]

    f = {0: of_columns, 1: of_rows, (1, 0): both_axes, None: of_a_vector}[axis]
    for x in (A, A[:, :0], A[:1], A[:, :1]):
        if len(x) > 1 or axis is not None:
            np.testing.assert_array_equal(result_of(f, x, shift), f(x, shift))
