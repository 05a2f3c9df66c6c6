"""Random programs that call functions which write their arguments: the right gradient, or a refusal; never anything else.

`campaign.py writer_programs:writer_program` judges many of them in a row.
"""

from __future__ import annotations

import contextlib
from collections import Counter

import pytest
from judging import loaded, outcome
from writer_programs import writer_program

from s2sgrad import grad
from s2sgrad.errors import S2SGradError

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
    for seed in range(25):
        program = writer_program(seed)
        with loaded(program.source, f"<program {seed}>") as f, contextlib.suppress(S2SGradError, Warning, ValueError):
            kept += "_written" in text_of(f, program.args)
    assert kept >= 5


def text_of(f, args):
    df = grad(f)
    df(*args)
    return df.source
