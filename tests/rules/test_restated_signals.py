"""Texts of functions of scipy.signal give what SciPy gives, for odd and even sizes and all options; others are refused.

envelope(z, (2, 4), n_out=7)      ==      signal.envelope(z, (2, 4), n_out=7)
"""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pytest
from scipy import signal

import s2sgrad
from s2sgrad.errors import Refused
from s2sgrad.rules.scipy import filter_designs, filter_forms, signal_envelopes, signal_splines, waveforms

S = np.cos(np.arange(40.0) ** 2)
SIZES = (5, 6, 11, 12)


def same(text, primitive, *args, **keywords):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, y = text(*args, **keywords), primitive(*args, **keywords)
    for a, b in zip(found, y, strict=True) if isinstance(y, tuple) else [(found, y)]:
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12 * np.max(np.abs(b), initial=0.0))


@pytest.mark.skipif(not hasattr(signal, "envelope"), reason="of younger versions")
@pytest.mark.parametrize("n", SIZES)
def test_envelopes(n):
    bands = [(1, None), (2, 3), (None, 2), (0, None), (None, None), (-2, 2), (1, 2)]
    for bp_in, n_out, residual in itertools.product(
        bands, (None, n + 1, n + 2, 2 * n, n - 1, n // 2), ("lowpass", "all", None)
    ):
        same(signal_envelopes.envelope, signal.envelope, S[:n], bp_in, n_out=n_out, residual=residual, squared=n_out is None)
    same(signal_envelopes.envelope, signal.envelope, np.reshape(S[: 3 * n], (n, 3)), axis=0)


@pytest.mark.parametrize("n", SIZES)
def test_minimum_phases(n):
    h = 0.1 * S[:n] + np.eye(n)[n // 2]
    for n_fft, half in itertools.product((None, n, n + 1, 64), (True, False)):
        same(signal_envelopes.minimum_phase, signal.minimum_phase, h, n_fft=n_fft, half=half)


@pytest.mark.parametrize("n", [1, 2, *SIZES])
def test_splines(n):
    t = np.concatenate((np.linspace(-30.0, 30.0, 47), np.arange(-5.0, n + 5.0)))
    for name in ("cspline1d", "qspline1d"):
        same(getattr(signal_splines, name), getattr(signal, name), S[:n])
        if n > 1:
            same(getattr(signal_splines, f"{name}_eval"), getattr(signal, f"{name}_eval"), S[:n], t, dx=0.7, x0=0.4)
    for lamb in (0.02, 0.7, 5.0) if n > 3 else ():
        same(signal_splines.cspline1d, signal.cspline1d, S[:n], lamb)


@pytest.mark.parametrize("precision", [-1.0, 1e-5, 0.01])
def test_filters_with_mirrors(precision):
    for s, z in itertools.product((S, S[:39], np.reshape(S, (2, 20))), (0.05, -0.05, 0.2)):
        same(signal_splines.symiirorder1, signal.symiirorder1, s, 0.7, z, precision=precision)
        same(signal_splines.symiirorder2, signal.symiirorder2, s, abs(z), 0.7, precision=precision)


def test_partial_fractions():
    for n, m, unit in itertools.product(range(1, 6), range(2, 5), (1.0, 1.0 + 0.5j)):
        b, a = unit * S[:n], S[7 : 7 + m] + unit
        same(filter_forms.residuez, signal.residuez, b, a)
        for p, k in itertools.product(
            (a, np.sort_complex(np.tile(a[:2], 2))[:m], np.full(m, a[0])), (b, 0.0 * b, [], [0.0, 1.5, 0.0])
        ):
            same(filter_forms.invres, signal.invres, S[11 : 11 + m], p, k)
            same(filter_forms.invresz, signal.invresz, S[11 : 11 + m], p, k)


def test_designs_and_widths():
    for freq, fs in ((0.3, None), (440.0, 16000.0)):
        same(filter_designs.gammatone, signal.gammatone, freq, "iir", fs=fs)
        same(filter_designs.gammatone, signal.gammatone, freq, "FIR", 3, 12, fs=fs)
    for height, wlen in itertools.product((0.1, 0.5, 1.0), (None, 3, 7)):
        same(waveforms.peak_widths, signal.peak_widths, S, signal.find_peaks(S)[0], height, wlen=wlen)


REFUSED = {
    "method='homomorphic' alone": lambda x: signal.minimum_phase(x, "hilbert"),
    "where the filter is 0": lambda x: signal.minimum_phase(np.array([0.5, 1.0, 0.5, 0.0]) * x[0], n_fft=8),
    "`lamb` depends": lambda x: signal.cspline1d(S, x[0] ** 2),
    "`prominence_data`": lambda x: signal.peak_widths(x, [2], prominence_data=signal.peak_prominences(S, [2])),
    "`window`": lambda x: signal.firwin_2d((5, 3), (("kaiser", x[0]), "hann"), fc=0.3),
    "poles are equal": lambda x: np.real(signal.residuez(x, [1.0, -1.0, 0.25])[0]),
    "another value": lambda x: signal.symiirorder2(S, 0.3, 0.0 * x[0]),
}


@pytest.mark.parametrize("why", [*REFUSED])
def test_others_are_refused(why):
    with pytest.raises((s2sgrad.NoRule, Refused), match=re.escape(why)):
        s2sgrad.grad(lambda x: np.sum(REFUSED[why](x)))(np.array([0.7, 0.2, 0.9, 0.1]))
