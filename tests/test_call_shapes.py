"""Random calls of what only the run knows: right or refused, in both modes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from call_shapes import CLASSES, HANDS, REACHED, SINGLE, call_program, single_program
from judging import loaded

from s2sgrad import S2SGradError, grad, jvp

AT, ALONG = np.array([0.7, 1.3, 0.4]), np.array([0.3, -0.7, 1.1])
STEP = 1e-6


def outcomes_of(text, name):
    """How many modes gave the derivative, and how many refused it; an error of any other kind is one."""
    out = Counter()
    with loaded(text, name) as f:
        wanted = (f(AT + STEP * ALONG) - f(AT - STEP * ALONG)) / (2.0 * STEP)
        for mode in ("grad", "jvp"):
            try:
                found = np.sum(grad(f)(AT) * ALONG) if mode == "grad" else jvp(f, (AT,), (ALONG,))[1]
            except S2SGradError:
                out["refused"] += 1
                continue
            np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=f"{mode}\n{text}")
            out["right"] += 1
    return out


@pytest.mark.sampled(one_in=50)
@pytest.mark.parametrize("way", SINGLE, ids="-".join)
def test_every_way_to_call_is_right_or_refused(way):
    outcomes_of(single_program(way), "<call-shape>")


@pytest.mark.sampled(one_in=20, by="part")
@pytest.mark.parametrize("part", range(40))
def test_calls_of_calls_are_right_or_refused(part):
    for seed in range(8 * part, 8 * part + 8):
        outcomes_of(call_program(seed), f"<call-shape {seed}>")


def test_most_of_them_are_followed():
    found = sum((outcomes_of(single_program(way), "<call-shape>") for way in SINGLE[::97]), Counter())
    assert found["right"] >= 0.5 * found.total()
    assert {part for way in SINGLE for part in way} == {*CLASSES, *REACHED, *HANDS}


class Slotted:
    __slots__ = ("a",)

    def _cdf(self, x):
        return x * x

    def both(self, x):
        good = [x.ravel()]
        return self._cdf(*good)


def test_a_star_before_what_a_method_of_the_same_object_takes():
    def f(x, k):
        return np.sum(k.both(x))

    np.testing.assert_allclose(grad(f)(AT, Slotted()), 2.0 * AT)
    np.testing.assert_allclose(jvp(f, (AT, Slotted()), (ALONG, None))[1], 2.0 * AT @ ALONG)
