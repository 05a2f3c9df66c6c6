"""Orders and counts that are no whole numbers: SciPy cuts off their fractions in some functions, and so must the slopes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad

special = pytest.importorskip("scipy.special")
COUNTS = {"bdtr", "bdtrc", "bdtri"}  # of at most as many trials


def whole_places(ufunc):
    """The places of a ufunc that take integers in one of its loops, and floats in another one."""
    loops = [loop.partition("->")[0] for loop in ufunc.types]
    floats = any(set(loop) <= {"f", "d"} for loop in loops)
    return {k for loop in loops for k, letter in enumerate(loop) if letter in "lipq" and floats}


UFUNCS = {
    name: ufunc for name in dir(special)
    if isinstance(ufunc := getattr(special, name), np.ufunc) and ufunc.nin > 1 and whole_places(ufunc)
}  # fmt: skip


def differences(ufunc, args, place):
    """The slope by central differences, None where two steps disagree."""
    found = []
    for step in (1e-5, 3e-6):
        ends = [ufunc(*args[:place], args[place] + h, *args[place + 1 :]) for h in (step, -step)]
        found.append((ends[0] - ends[1]) / (2.0 * step))
    return found[0] if np.isfinite(found[0]) and abs(found[0] - found[1]) < 1e-4 * (1.0 + abs(found[0])) else None


@pytest.mark.parametrize("name", UFUNCS)
def test_slopes_are_those_of_the_order_that_is_used(name):
    ufunc = UFUNCS[name]
    judged = 0
    for order, x in [(2.5, 0.3), (0.4, 0.7), (3.7, 0.3), (1.5, 0.7), (2.0, 0.4)]:
        args = [order + k if k in whole_places(ufunc) else x for k in range(ufunc.nin)]
        args[1] += 3.3 * (name in COUNTS)
        for place in range(ufunc.nin):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SciPy warns of what it cuts off
                slope = differences(ufunc, args, place)
                try:
                    got = grad(ufunc, place)(*args)
                except S2SGradError:
                    continue
            if slope is not None:
                np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-4, err_msg=f"{args}, argument {place}")
                judged += 1
    assert judged
