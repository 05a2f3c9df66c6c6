"""Random programs that raise: the right gradient and tangent, the same exception, or a refusal; never anything else.

    S2SGRAD_EXCEPTIONS=5000 python -m pytest tests/test_exception_programs.py

takes more programs; `campaign.py` judges many of them in a row and shows each failure after reduction.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections import Counter

import pytest
from differences import copied
from exception_programs import exception_program, expression_program
from judging import Rejected, assert_tangent, check, check_second, explained, loaded

from s2sgrad import S2SGradError, grad
from s2sgrad.api import whole
from s2sgrad.runtime.checks import Refusal

pytestmark = pytest.mark.records  # hardly any of these programs has a text
OF_A_PART = 4
PARTS = -(-int(os.environ.get("S2SGRAD_EXCEPTIONS", "16")) // OF_A_PART)


def outcome(program, order):
    """What becomes of a program; where an exception escapes from it, no other one escapes from its gradient, which does not
    compute what it does not need."""
    with loaded(program.source, f"<program {program.seed}>") as f:
        try:
            f(*copied(program.args))
        except Exception as error:
            with contextlib.suppress(type(error)):
                grad(f, argnums=program.argnums)(*copied(program.args))
            return "raises"
    check_second(program) if order == 2 else check(program, None if order else assert_tangent)
    return "right"


SOME = [*((1, k) for k in range(PARTS)), *((order, k) for order in (0, 2) for k in range(-(-PARTS // 4)))]


@pytest.mark.parametrize("order, part", SOME)
def test_right_or_refused(order, part):
    outcomes = Counter()
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        program = exception_program(seed)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                outcomes[outcome(program, order)] += 1
        except Rejected:
            outcomes["rejected"] += 1
        except (S2SGradError, Refusal):
            outcomes["refused"] += 1
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)
    assert outcomes["refused"] <= 1


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("order, part", SOME)
def test_one_expression_has_a_text(order, part):
    """Programs from which an exception escapes are left out: `judging` rejects them."""
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        program = expression_program(seed)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Rejected), whole.strict():
                check_second(program) if order == 2 else check(program, None if order else assert_tangent)
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)


def test_every_way_to_raise_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in exception_program(seed).features)
    assert len(features) > 25
    assert not {name: count for name, count in features.items() if count < 5}
