"""Random programs that call functions which write their arguments: the right gradient, or a refusal; never anything else.

`campaign.py writer_programs:writer_program` judges many of them in a row.
"""

from __future__ import annotations

import contextlib
import enum
from collections import Counter

import numpy as np
import pytest
from judging import loaded, outcome
from writer_programs import writer_program

from s2sgrad import grad
from s2sgrad.errors import S2SGradError
from s2sgrad.testing import check_grads

OF_A_PART = 12


@pytest.mark.sampled(one_in=4, by="part")
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("order", [1, 0, "jacfwd"])
def test_right_or_refused(part, order):
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)
    outcomes = Counter(outcome(writer_program(seed), order) for seed in seeds)
    assert outcomes["right"] >= OF_A_PART // 2


def test_a_seed_writes_the_same_program_again():
    assert [writer_program(k).source for k in range(20)] == [writer_program(k).source for k in range(20)]


def test_many_of_them_keep_a_pair():
    kept = 0
    for seed in range(10):
        program = writer_program(seed)
        with loaded(program.source, f"<program {seed}>") as f, contextlib.suppress(S2SGradError, Warning, ValueError):
            kept += "_written" in text_of(f, program.args)
    assert kept >= 2


def smooth_if_weak(u, k):
    if k < 1.0:
        u[0] = k * u[1]
        u[-1] = u[-2] * k
    elif k > 5.0:
        u[1] *= u[2]
        u[2] += u[0]


def leaves_what_is_read_only(x):
    y = x * x
    z = np.broadcast_to(x[0], (4,))
    smooth_if_weak(y, 0.5)
    smooth_if_weak(z, 3.0 + x[0])
    smooth_if_weak(y, 6.0 * x[1] + 6.0)
    return np.sum(y * z)


def test_an_array_that_a_writer_leaves_alone_may_be_read_only():
    x = np.array([0.3, 0.8, 0.55, 1.1])
    check_grads(leaves_what_is_read_only, (x,))
    assert "_written" not in text_of(leaves_what_is_read_only, (x,))


class Wall(enum.IntEnum):
    OPEN = 1
    CLOSED = 2


HALF = np.float64(0.5)


def close(u, wall=Wall.OPEN, k=HALF):
    if wall is Wall.OPEN:
        u[0] *= 3.0
    u[wall.value] *= k if isinstance(k, np.float64) else 7.0


def defaults_that_only_look_like_constants(x):
    y = x * x
    close(y)
    close(y, Wall.CLOSED)
    return y @ y


def test_a_default_keeps_its_type():
    check_grads(defaults_that_only_look_like_constants, (np.array([0.3, 0.8, 0.55]),))


def text_of(f, args):
    df = grad(f)
    df(*args)
    return df.source
