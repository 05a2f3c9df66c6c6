"""Programs with complex numbers, as people write them: both modes against differences, and how their gradients read."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from spectral_programs import PROGRAMS, matching_network, split_step
from test_complex_functions import differences

from s2sgrad import grad, jvp

EACH = [pytest.param(f, args, k, id=f"{f.__name__}-{k}") for f, args in PROGRAMS for k in range(len(args))]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(("f", "args", "place"), EACH)
def test_programs(f, args, place):
    (wanted,) = differences(f, args, place)
    found, none, x = grad(f, place)(*copy.deepcopy(args)), (None,) * len(args), args[place]
    assert np.iscomplexobj(found) == np.iscomplexobj(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    u = x * (1.0 + 0.5j) if np.iscomplexobj(x) else x * 0.5
    slope = jvp(f, args, (*none[:place], u, *none[place + 1 :]))[1]
    assert slope == pytest.approx(np.sum(wanted * u).real, rel=1e-5, abs=1e-6)


def body_of(f, place):
    """The reverse sweep, without blank space at the ends."""
    args = next(args for g, args in PROGRAMS if g is f)
    return grad(f, place).source_for(*args).partition("# reverse sweep")[2]


def test_the_square_of_a_modulus_reads_like_one():
    text = body_of(split_step, 0)
    assert "psi_bar[:4] += 2.0 * seed * np.conj(psi2[:4])" in text
    assert "psi_bar = np.fft.fft(np.fft.ifft(psi_bar * half) * kinetic)" in text
    text = body_of(matching_network, 0)
    assert "reflected_bar = 2.0 * (seed / len(w)) * np.conj(reflected)" in text
    assert ".real.real" not in text and "seed.real" not in text and "complex(" not in text
