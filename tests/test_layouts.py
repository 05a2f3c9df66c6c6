"""Arguments that lie in memory in another way: sections, backwards, by columns, in short floats.

What is a view of such an argument may be a copy there.

    y = x.reshape(-1); y += 1.0        writes `x`, or a copy of it
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from alias_programs import alias_program
from cursor_programs import cursor_program
from differences import central_difference, copied
from judging import loaded, outcome
from mutation_programs import mutation_program
from programs import program_from_seed
from sharing_programs import sharing_program

from s2sgrad import S2SGradError, grad
from s2sgrad.runtime.checks import Refusal


def every_second(x):
    memory = np.full([2 * n + 1 for n in x.shape], 9.9)
    out = memory[tuple(slice(0, 2 * n, 2) for n in x.shape)]
    out[...] = x
    return out


def backwards(x):
    whole = (slice(None, None, -1),) * x.ndim
    return x[whole].copy()[whole]


def by_columns(x):
    return np.asfortranarray(x.copy())


def inside(x):
    memory = np.zeros(x.size + 3)
    out = memory[2:-1].reshape(x.shape)
    out[...] = x
    return out


LAYOUTS = (every_second, backwards, by_columns, inside)
WRITERS = (alias_program, cursor_program, mutation_program, program_from_seed, sharing_program)


def laid(program, layout):
    args = tuple(layout(a) if isinstance(a, np.ndarray) and a.ndim else a for a in program.args)
    return replace(program, args=args)


@pytest.mark.sampled(one_in=18, turn=1)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("order, first", [(0, 0), (1, 0), (1, 4), (1, 8)])
def test_right_or_refused(write, layout, order, first):
    outcomes = [outcome(laid(write(seed), layout), order) for seed in range(first, first + 4)]
    assert set(outcomes) != {"rejected"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_lie_as_what_they_are_copied_from(layout):
    x = layout(np.arange(6.0).reshape(2, 3))
    y = copied(x)
    assert y.strides == x.strides and np.array_equal(x, y) and not np.shares_memory(x, y)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("write", (mutation_program, sharing_program))
def test_short_floats_give_what_floats_of_their_values_give(write, seed):
    short = laid(write(seed), np.float32)
    program = laid(short, np.float64)
    with loaded(program.source, f"<program {seed}>") as f:
        try:
            expected = grad(f, program.argnums)(*copied(program.args))
        except (S2SGradError, Refusal, ArithmeticError):
            return
        gradient = grad(f, program.argnums)(*copied(short.args))
    size = max(1.0, *(np.max(np.abs(g)) for g in expected))
    for got, wanted, arg in zip(gradient, expected, (short.args[k] for k in program.argnums), strict=True):
        assert np.asarray(got).dtype == np.asarray(arg).dtype
        np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=2e-3 * size)


def written_through_what_may_copy(xs):
    view, made = np.asfortranarray(xs[0]), np.ascontiguousarray(xs[0])
    row = xs[-1] if view[0, 0] > 0.0 else view[0]
    row[None, :] = view[1, 1] * xs[1][0]
    view[1, 0] *= 2.0
    made[0] = row
    return np.sum(xs[0] * xs[0]) + np.sum(view * made) + np.sum(row)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_arrays_of_a_list_are_copied_as_they_lie(layout):
    x, y = layout(np.array([[0.5, 0.7], [1.1, 0.2]])), np.array([0.9, -0.4])
    found = grad(written_through_what_may_copy)([x, y])
    expected = central_difference(lambda *xs: written_through_what_may_copy([*copied(xs)]), (x, y))
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-6, atol=1e-7)
