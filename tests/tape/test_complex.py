"""Complex numbers on a tape, at first and at second order, against differences in both parts of each number."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from complex_functions import CASES
from test_complex_functions import differences

from s2sgrad import GradientTape, constant

ONCE = {"singular_values", "triangular_factor_alone"}  # the second derivative needs what is free
OTHERWISE = {"view_of_a_part"}  # `v *= 2.0` binds `v` anew on a tape, and leaves alone what it was a view of


def numbers_of(args):
    return [
        k for k, a in enumerate(args) if isinstance(a, (float, complex)) or getattr(a, "dtype", np.dtype(int)).kind in "fc"
    ]


def recorded(f, args, numbers):
    """(the value, its gradients in the arguments at these places)."""
    given = [constant(a) if k in numbers else a for k, a in enumerate(args)]
    with GradientTape() as tape:
        for k in numbers:
            tape.watch(given[k])
        y = f(*given)
    return tape.gradient(y, [given[k] for k in numbers], unconnected_gradients="zero")


def cases():
    for f, args, order in CASES:
        if f.__name__ not in OTHERWISE and all(isinstance(a, (int, float, complex, np.ndarray)) for a in args):
            yield pytest.param(f, args, order, id=f.__name__)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize(("f", "args", "order"), list(cases()))
def test_functions(f, args, order):
    numbers = numbers_of(args)
    rng = np.random.default_rng(0)
    dots = [rng.normal(size=np.shape(args[k])) + 1j * np.iscomplexobj(args[k]) * rng.normal(size=np.shape(args[k]))
            if np.iscomplexobj(args[k]) else rng.normal(size=np.shape(args[k])) for k in numbers]  # fmt: skip
    sources = [constant(args[k]) for k in numbers]
    try:
        with GradientTape() as outer:
            for x in sources:
                outer.watch(x)
            given = copy.deepcopy(list(args))
            for k, x in zip(numbers, sources, strict=True):
                given[k] = x
            with GradientTape() as tape:
                for x in sources:
                    tape.watch(x)
                y = f(*given)
            bars = tape.gradient(y, sources, unconnected_gradients="zero")
            slope = sum(np.sum(np.real(bar * dot)) for bar, dot in zip(bars, dots, strict=True))
    except (TypeError, LookupError, SyntaxError, AttributeError, UserWarning) as error:
        pytest.skip(f"no tape follows it: {str(error).splitlines()[0]}")  # it writes, or makes numbers of Python's
    for k, bar in zip(numbers, bars, strict=True):
        (expected,) = differences(f, args, k)
        assert np.iscomplexobj(bar.numpy()) == np.iscomplexobj(expected)
        np.testing.assert_allclose(bar.numpy(), expected, rtol=1e-5, atol=1e-6)
    if order < 2 or f.__name__ in ONCE:
        return

    def along(*args):
        bars = recorded(f, args, numbers)
        return sum(np.sum(np.real(bar.numpy() * dot)) for bar, dot in zip(bars, dots, strict=True))

    found = outer.gradient(slope, sources, unconnected_gradients="zero")
    for k, bar in zip(numbers, found, strict=True):
        np.testing.assert_allclose(bar.numpy(), differences(along, args, k, 1e-5)[0], rtol=1e-3, atol=1e-4)
