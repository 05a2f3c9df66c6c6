"""Gradients of random programs with stacks and effects: the slopes by differences, and the effects of the plain function.

S2SGRAD_PROGRAMS=2000 takes so many programs in the place of the default, and half as many second derivatives.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from stack_programs import program

from s2sgrad import S2SGradError, grad, value_and_grad

COUNT = int(os.environ.get("S2SGRAD_PROGRAMS", "6"))
X, C = np.array([0.7, 1.3, -0.4, 0.9]), 0.6
ALONG = np.array([0.8, -0.5, 0.3, 0.6])
SECOND = np.array([0.4, 0.9, -0.7, 0.2])
STEPS = (4e-6, 1e-6)
LARGEST = 1e3


class Rejected(Exception):
    """Differences cannot judge the program, or its compilation is refused."""


@contextlib.contextmanager
def loaded(seed: int):
    """The function of the program of this seed."""
    name, source = f"<stack program {seed}>", program(seed)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "stack_program"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(source, name, "exec"), namespace)
            yield namespace["f"]
    finally:
        linecache.cache.pop(name, None)


def told(f, x, c):
    """What a call of `f` returns; what it printed; what is left of the sources of numbers."""
    rng, it, given = np.random.default_rng(3), iter(np.linspace(0.1, 0.9, 400).tolist()), np.linspace(0.9, 0.1, 400).tolist()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        value = f(x.copy(), c, rng, it, given)
    return value, out.getvalue(), (rng.random(), next(it))


def slope(value, x, c):
    """The derivative of `value(x, c)` along (ALONG, 1) by differences, where two steps agree on it."""
    try:
        rough, fine = ((value(x + h * ALONG, c + h) - value(x - h * ALONG, c - h)) / (2 * h) for h in STEPS)
    except (ArithmeticError, Warning) as error:
        raise Rejected("outside") from error
    if not abs(rough) < LARGEST or not abs(rough - fine) <= 1e-5 * max(1.0, abs(fine)):
        raise Rejected("steps disagree")
    return rough


def check(seed: int) -> None:
    """The first derivative of a program, and its effects."""
    with loaded(seed) as f:
        try:
            value, *effects = told(f, X, C)
        except (ArithmeticError, Warning) as error:
            raise Rejected("outside") from error
        expected = slope(lambda x, c: told(f, x, c)[0], X, C)
        try:
            (x_bar, c_bar), *same = told(grad(f, argnums=(0, 1)), X, C)
            found = np.sum(x_bar * ALONG) + c_bar
            assert same == effects, "other effects"
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * max(1.0, abs(value)))
            (again, _), *same = told(value_and_grad(f, argnums=(0, 1)), X, C)
            assert same == effects, "other effects with the value"
            np.testing.assert_allclose(again, value, rtol=1e-12)
        except S2SGradError as error:
            raise Rejected(str(error)) from error


def check_second(seed: int) -> None:
    """The derivative of the sum of a gradient."""
    with loaded(seed) as f:
        try:
            df = grad(f)
            gradient, *effects = told(df, X, C)
            expected = slope(lambda x, c: np.sum(told(df, x, c)[0]), X, C)
            (x_bar, c_bar), *same = told(grad(df, argnums=(0, 1)), X, C)
        except S2SGradError as error:
            raise Rejected(str(error)) from error
        assert same == effects, "other effects"
        scale = max(1.0, np.abs(gradient).max())
        np.testing.assert_allclose(np.sum(x_bar * ALONG) + c_bar, expected, rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("check", "seeds"),
    [(check, range(COUNT)), (check_second, range(COUNT, COUNT + COUNT // 2))],  # others than the first
    ids=["first", "second"],
)
def test_stacks_and_effects(check, seeds):
    rejected, failures = 0, []
    for seed in seeds:
        try:
            check(seed)
        except Rejected:
            rejected += 1
        except Exception as error:  # all are gathered, and the shortest is shown
            failures.append((seed, error))
    if failures:
        seed, error = min(failures, key=lambda failure: len(program(failure[0])))
        kinds = Counter(type(error).__name__ for _, error in failures)
        heading = f"{len(failures)} of {len(seeds)} failed: {dict(kinds)}, with seeds {[seed for seed, _ in failures[:20]]}"
        pytest.fail(f"{heading}\n\nseed {seed}: {type(error).__name__}: {error}\n\n{program(seed)}", pytrace=False)
    assert rejected < 0.5 * len(seeds)
