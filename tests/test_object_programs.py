"""Random programs over lists of objects: right or refused.

    S2SGRAD_OBJECTS=2000 python -m pytest tests/test_object_programs.py

takes more programs; a thirtieth as many second derivatives are taken, and of graphs, which are dear, half.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from judging import Rejected, check, check_second, explained
from object_programs import graph_program, object_program

from s2sgrad import S2SGradError

pytestmark = pytest.mark.records
OF_A_PART = 10
PARTS = -(-int(os.environ.get("S2SGRAD_OBJECTS", "20")) // OF_A_PART)


@pytest.mark.sampled(one_in=2, by="part")
@pytest.mark.parametrize("maker, dear", [(object_program, 1), (graph_program, 2)])
@pytest.mark.parametrize("order, part", [*((1, k) for k in range(PARTS)), *((2, k) for k in range(-(-PARTS // 5)))])
def test_right_or_refused(order, part, maker, dear):
    outcomes = Counter()
    seeds = range(part * OF_A_PART, (part + 1) * OF_A_PART)[:: 2 * dear if order == 1 else 6 * dear]
    for seed in seeds:
        program = maker(seed)
        try:
            check(program) if order == 1 else check_second(program)
            outcomes["right"] += 1
        except Rejected:
            outcomes["rejected"] += 1
        except S2SGradError:
            outcomes["refused"] += 1
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)
    assert outcomes["right"] >= (0.6 if order == 1 else 0.3) * len(seeds)


def test_every_kind_of_statement_is_in_many_programs():
    features = Counter(name for seed in range(300) for name in object_program(seed).features)
    assert set(features) == {"loop", "again", "plain", "leave", "kept"} and min(features.values()) > 30
