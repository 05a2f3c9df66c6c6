"""Calls in `try` of methods of objects that the function makes: the right gradient, tangent and second derivative.

    S2SGRAD_ATTEMPTS=500 python -m pytest tests/test_attempt_programs.py

takes more random programs; with `--all`, every cell of the matrix of sorts of objects and contexts.
"""

from __future__ import annotations

import contextlib
import io
import os

import pytest
from attempt_programs import CONTEXTS, SORTS, attempt_program, matrix_program
from judging import Rejected, explained
from test_exception_programs import outcome

pytestmark = pytest.mark.records  # hardly any of these programs has a text
OF_A_PART = 2
PARTS = -(-int(os.environ.get("S2SGRAD_ATTEMPTS", "4")) // OF_A_PART)


def judge(program, order):
    """Nothing is refused; a program that differences cannot judge at these points passes."""
    with contextlib.suppress(Rejected), contextlib.redirect_stdout(io.StringIO()):
        outcome(program, order)


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_of_object_in_every_context(sort, context):
    judge(matrix_program(sort, context), 1)


@pytest.mark.parametrize("order", (0, 1, 2))
@pytest.mark.parametrize("part", range(PARTS))
def test_right(order, part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        program = attempt_program(seed)
        try:
            judge(program, order)
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)
