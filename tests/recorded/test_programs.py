"""Random programs of all generators, recorded: the value bit by bit, the gradient, or the exception of the plain run.

    S2SGRAD_RECORDED=100 python -m pytest tests/recorded/test_programs.py

takes more programs of each.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections import Counter

import pytest
from alias_programs import alias_program
from attempt_programs import attempt_program
from branched_programs import branched_program, typed_program
from buffer_programs import buffer_program
from container_programs import container_program
from cursor_programs import cursor_program
from differences import copied
from dtype_programs import dtype_program
from exception_programs import exception_program
from function_programs import function_program
from iterator_programs import iterator_program
from judging import Rejected, expected, loaded
from knot_programs import knot_program
from list_programs import chosen_program, list_program, queue_program, row_program
from mask_programs import mask_program
from mutation_programs import mutation_program
from object_programs import graph_program, object_program
from programs import program_from_seed
from sharing_programs import scalar_program, sharing_program
from view_programs import view_program

from recorded.judged import assert_gradient, assert_second, assert_tangent
from s2sgrad import S2SGradError
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
            with pytest.raises(type(error)):
                Recorded(f, copied(program.args), {}, program.argnums)
            return "raises"
        try:
            expected(f, program.args, program.argnums)
        except Rejected:
            return "rejected"
        try:
            judge(f, program.args, program.argnums)
        except (S2SGradError, Refusal):
            return "refused"
    return "right"


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
