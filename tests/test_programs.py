"""The main test: gradients of random programs agree with central differences.

`judging.py` says how a program is judged.  The shares of features, rejections and redrawn points are printed.

There are 2,000 programs, of which one in forty is run by default; S2SGRAD_PROGRAMS=20000 pytest --all takes more.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter

import pytest
import shares
from hypothesis import HealthCheck, Phase, given, seed, settings
from judging import Rejected, assert_unchanged, check, check_second, expected, explained
from programs import FEATURES, program_from_seed, programs, reduced

from s2sgrad import S2SGradError

PROGRAMS_OF_A_PART = 20
PARTS = -(-int(os.environ.get("S2SGRAD_PROGRAMS", "2000")) // PROGRAMS_OF_A_PART)


@pytest.mark.dear
@pytest.mark.sampled(one_in=100)
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_of_random_programs(part, record_property):
    features, points, failures = Counter(), Counter(), []
    begun = time.process_time()

    @seed(part)
    @settings(
        max_examples=PROGRAMS_OF_A_PART,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def run(program):
        features.update(program.features & set(FEATURES))
        try:
            points[check(program)] += 1
        except Rejected:
            points[0] += 1
        except Exception as error:  # all are gathered: the report counts them and shows the shortest
            points[1] += 1
            failures.append((program, error))

    run()
    total = points.total()
    refused = sum(isinstance(error, S2SGradError) for _, error in failures)
    record_property(shares.PROPERTY, shares.counted(features, points, refused, time.process_time() - begun))
    if failures:
        program, error = min(failures, key=lambda failure: len(failure[0].source))
        kinds = Counter(type(error).__name__ for _, error in failures)
        seeds = [program.seed for program, _ in failures[:20]]
        heading = f"{len(failures)} of {total} programs failed: {dict(kinds)}, with seeds {seeds}\n\n"
        pytest.fail(heading + explained(program, error), pytrace=False)
    assert total == PROGRAMS_OF_A_PART
    assert points[0] < 0.2 * total


@pytest.mark.dear
def test_every_feature_is_in_many_programs():
    features = Counter()
    for number in range(1000):
        features.update(program_from_seed(number).features)
    assert {name: features[name] / 1000 for name in FEATURES if features[name] < 50} == {}


def test_a_seed_writes_the_same_program_again():
    for number in range(20):
        first, second = program_from_seed(number), program_from_seed(number)
        assert first.source == second.source
        assert first.features == second.features
        assert_unchanged(first.args, second.args, "arguments differ")


def test_reduction_keeps_what_fails():
    source = "def f(x):\n    y = x\n    for i in range(3):\n        if i:\n            y = 2.0 * y\n    return y\n"
    assert reduced(source, lambda text: "2.0" in text and "def f" in text) == "def f(x):\n    y = 2.0 * y"


def test_a_branch_that_changes_within_the_step_is_not_judged():
    with pytest.raises(Rejected):
        expected(lambda x: 3.0 if x > 1.0 else x, (1.0 + 1e-7,), (0,))
    assert expected(lambda x: 3.0 if x > 1.0 else x, (0.9,), (0,))[0] == 0.9


@pytest.mark.dear
@pytest.mark.sampled(one_in=20)
@pytest.mark.parametrize("which", range(60))
def test_second_derivatives_of_random_programs(which):
    with contextlib.suppress(Rejected):
        check_second(program_from_seed(which))
