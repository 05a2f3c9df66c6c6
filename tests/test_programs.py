"""The main test: gradients of random programs agree with central differences.

A program is rejected where differences cannot judge it: its value is not moderate, or two step sizes disagree, because
a branch changes within the step; another point of the same program is tried first.  The shares of features, rejections
and redrawn points are printed.  A failure shows the program after reduction, and the seed that writes it again.

There are 2,000 programs, of which half are run by default; S2SGRAD_PROGRAMS=20000 pytest --all takes more.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import sys
import time
import warnings
from collections import Counter

import numpy as np
import pytest
import shares
from differences import copied, directional, inner, leaves, leaves_sum, random_directions
from hypothesis import HealthCheck, Phase, given, seed, settings
from programs import FEATURES, Program, program_from_seed, programs, reduced

from s2sgrad import S2SGradError, grad, value_and_grad

PROGRAMS_OF_A_PART = 50
PARTS = -(-int(os.environ.get("S2SGRAD_PROGRAMS", "2000")) // PROGRAMS_OF_A_PART)
POINTS = 4  # tries for one program
STEPS = (4e-6, 1e-6)
LARGEST = 1e4
LINES = 100_000  # that a reduced program may run, so that a loop that lost its counter ends


class Rejected(Exception):
    """Central differences cannot judge this program."""


@contextlib.contextmanager
def loaded(source: str, name: str):
    """The function `f` of a module's text, with its lines where `inspect` finds them."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"__name__": "program", "__file__": name}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(source, name, "exec"), namespace)
            yield namespace["f"]
    finally:
        linecache.cache.pop(name, None)


def expected(f, args, argnums):
    """Value, directions, and the derivative along each direction, one for each argument; or Rejected."""
    before = copied(args)
    value = f(*args)
    assert_unchanged(args, before, "the program itself writes its arguments")
    total = leaves_sum(value)
    if not abs(total) < LARGEST:
        raise Rejected("large value")
    directions = random_directions(np.random.default_rng(0), args, argnums)
    slopes = []
    for number, direction in zip(argnums, directions, strict=True):
        rough, fine = (directional(f, args, (number,), (direction,), step=step) for step in STEPS)
        if not abs(rough - fine) <= 1e-6 * max(1.0, abs(fine), abs(total)) or abs(fine) > LARGEST:
            raise Rejected("steps disagree")
        slopes.append(rough)
    return value, directions, slopes


def assert_unchanged(args, before, message):
    for arg, old in zip(args, before, strict=True):
        assert type(arg) is type(old), message
        assert np.array_equal(arg, old), message


def assert_gradient(f, args, argnums, value_too=True):
    """Compare `grad`, and `value_and_grad` too, with differences at this point; Rejected where these cannot judge."""
    value, directions, slopes = expected(f, args, argnums)
    scale = max(1.0, abs(leaves_sum(value)))
    before = copied(args)
    gradient = grad(f, argnums=argnums)(*args)
    assert_unchanged(args, before, "grad writes its arguments")
    assert len(gradient) == len(argnums)
    for number, part, direction, slope in zip(argnums, gradient, directions, slopes, strict=True):
        assert np.shape(part) == np.shape(args[number]), f"shape of the gradient of argument {number}"
        np.testing.assert_allclose(
            inner(part, direction), slope, rtol=1e-5, atol=2e-6 * scale, err_msg=f"argument {number}"
        )
    if not value_too:
        return
    again, same = value_and_grad(f, argnums=argnums)(*args)
    assert_unchanged(args, before, "value_and_grad writes its arguments")
    assert_same(again, value, "value")
    assert_same(same, gradient, "gradient")


def assert_same(left, right, name):
    """Both are the same value: structure, and numbers to the last digits."""
    assert type(left) is type(right) or (isinstance(left, float) and isinstance(right, float)), f"{name}: type"
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right), f"{name}: structure"
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)


def check(program: Program) -> int:
    """Check a program at its point, or at another; the number of points that it took."""
    with loaded(program.source, f"<program {program.seed}>") as f:
        for attempt in range(POINTS):
            try:
                args = (program.redrawn(attempt) if attempt else program).args
                assert_gradient(f, args, program.argnums, value_too=program.seed % 4 == 0)
                return attempt + 1
            except Rejected:
                continue
    raise Rejected("no point")


def explained(program: Program, error: Exception) -> str:
    """The failing program after reduction, and how to write it again."""

    def fails_alike(source):
        try:
            with loaded(source, "<reduced program>") as f, lines_at_most(LINES):
                expected(f, program.args, program.argnums)
        except Exception:
            return False
        try:
            with loaded(source, "<reduced program>") as f:
                assert_gradient(f, program.args, program.argnums)
        except Exception as found:
            return type(found) is type(error)
        return False

    args = ", ".join(repr(arg) for arg in program.args)
    return (
        f"{type(error).__name__}: {error}\n\n{program!r}, reduced, at f({args}):\n\n"
        f"{reduced(program.source, fails_alike)}\n\nin full:\n\n{program.source}"
    )


@contextlib.contextmanager
def lines_at_most(count: int):
    """Stop what runs more lines of a program than this."""
    left = count

    def trace(frame, event, arg):
        nonlocal left
        if not frame.f_code.co_filename.startswith("<"):
            return None
        left -= 1
        if left < 0:
            raise TimeoutError("too many lines")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.sampled(one_in=2)
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


def slope_of_gradient(df, args, number, direction, step):
    """The derivative of the sum of the gradient along a direction, by differences."""

    def at(h):
        moved = list(copied(args))
        moved[number] = moved[number] + h * direction
        return np.sum(df(*moved))

    return (at(step) - at(-step)) / (2 * step)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("which", range(60))
def test_second_derivatives_of_random_programs(which):
    program = program_from_seed(which)
    number = program.argnums[which % len(program.argnums)]
    with loaded(program.source, f"<program {which}>") as f:
        args = program.args
        direction = np.random.default_rng(which).normal(size=np.shape(args[number]))[()]
        df = grad(f, argnums=number)
        coarse, fine = (slope_of_gradient(df, args, number, direction, step) for step in (1e-4, 1e-5))
        second = grad(df, argnums=number)(*copied(args))
        if abs(coarse - fine) < 1e-4 * (1.0 + abs(fine)):  # else the branches change under the step
            np.testing.assert_allclose(np.sum(second * direction), fine, rtol=1e-3, atol=1e-4)
