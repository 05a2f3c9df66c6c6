"""Random programs of all generators, recorded: the value bit by bit, the gradient, or the exception of the plain run; and by
their texts: both ways give the same, at the first and at the second order, in both modes.

    S2SGRAD_RECORDED=100 python -m pytest tests/recorded/test_programs.py

takes more programs of each.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections import Counter

import numpy as np
import pytest
from alias_programs import alias_program
from attempt_programs import attempt_program
from branched_programs import branched_program, typed_program
from buffer_programs import buffer_program
from container_programs import container_program
from cursor_programs import cursor_program
from differences import assert_value, central_difference, copied, leaves, random_directions
from dtype_programs import dtype_program
from exception_programs import exception_program
from function_programs import function_program
from iterator_programs import iterator_program
from judging import STEPS, Rejected, expected, loaded
from knot_programs import knot_program
from list_programs import chosen_program, list_program, queue_program, row_program
from mask_programs import mask_program
from mutation_programs import mutation_program
from object_programs import graph_program, object_program
from programs import program_from_seed
from sharing_programs import scalar_program, sharing_program
from view_programs import view_program

from recorded.judged import assert_gradient, assert_second, assert_tangent, gradient_of
from s2sgrad import S2SGradError, grad, jvp, value_and_grad, vjp
from s2sgrad.api.whole import strict
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.runtime.checks import Refusal

MAKERS = [
    alias_program, attempt_program, branched_program, buffer_program, chosen_program, container_program, cursor_program,
    dtype_program, exception_program, function_program, graph_program, iterator_program, knot_program,
    list_program, mask_program, mutation_program, object_program, program_from_seed, queue_program, row_program,
    scalar_program, sharing_program, typed_program, view_program,
]  # fmt: skip
COUNT = int(os.environ.get("S2SGRAD_RECORDED", "6"))


def outcome(program, judge) -> str:
    """What becomes of a program."""
    with loaded(program.source, f"<program {program.seed}>") as f:
        try:
            f(*copied(program.args))
        except Exception as error:
            with pytest.raises((type(error), S2SGradError, Refusal)) as raised:
                Recorded(f, copied(program.args), {}, program.argnums)
            return "raises" if isinstance(raised.value, type(error)) else "refused"
        try:
            expected(f, program.args, program.argnums)
        except Rejected:
            return "rejected"
        try:
            judge(f, program.args, program.argnums)
        except (S2SGradError, Refusal):
            return "refused"
        except AssertionError:
            if not too_steep(f, program.args, program.argnums):
                raise
            return "rejected"
    return "right"


def too_steep(f, args, argnums) -> bool:
    """Whether differences with two steps disagree in an element, so that they judge nothing."""
    rough, fine = (central_difference(f, args, argnums, step) for step in STEPS)
    return not all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(rough, fine, strict=True))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("judge", [assert_gradient, assert_tangent, assert_second])
def test_right_or_refused(maker, judge):
    count = COUNT if judge is assert_gradient else COUNT // 3
    outcomes = Counter()
    for seed in range(count):
        program = maker(seed)
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("error")
                outcomes[outcome(program, judge)] += 1
        except Exception as error:
            error.add_note(f"{program!r}\n{program.source}")
            raise
    assert outcomes["refused"] <= count // 3, outcomes


def same_both_ways(f, args, argnums):
    """What a recording gives, and what the text gives, where there is one; at the second order by whatever way users get."""
    value = f(*copied(args))
    recorded = Recorded(f, copied(args), {}, argnums)
    assert_value(recorded.value, value)
    bars = tuple(recorded.pullback())
    rng = np.random.default_rng(0)
    along = random_directions(rng, args, argnums)
    dots = [dict(zip(argnums, along, strict=True)).get(k) for k in range(len(args))]
    tangent = recorded.tangent(list(along))
    with strict(), contextlib.suppress(S2SGradError, Refusal):
        again, gradient = value_and_grad(f, argnums=argnums)(*copied(args))
        assert_value(again, value)
        assert_alike(gradient, bars, 1e-8)
    with strict(), contextlib.suppress(S2SGradError, Refusal):
        assert_alike(jvp(f, copied(args), dots)[1], tangent, 1e-8)
    twice = Recorded(gradient_of(f, argnums), copied(args), {}, argnums)
    rows = twice.pullback(tuple(along))
    assert_alike(twice.value, bars, 1e-10)
    assert_alike(twice.tangent(list(along)), tuple(rows), 1e-6)
    df = grad(f, argnums=argnums)
    assert_alike(jvp(df, copied(args), dots)[1], tuple(rows), 1e-6)
    found = vjp(df, *copied(args))[1](along)
    assert_alike(tuple(found[k] for k in argnums), tuple(rows), 1e-6)


def assert_alike(found, wanted, tolerance):
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.records
@pytest.mark.sampled(one_in=18)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_recordings_and_texts_agree(maker):
    for seed in range(100, 100 + max(1, COUNT // 6)):
        program = maker(seed)
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("error")
                outcome(program, same_both_ways)
        except Exception as error:
            error.add_note(f"{program!r}\n{program.source}")
            raise
