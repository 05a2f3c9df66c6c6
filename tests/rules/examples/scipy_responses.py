"""Responses of systems, waves and windows of scipy.signal, which are stated again."""

from __future__ import annotations

import numpy as np
from scipy import signal
from scipy.signal import windows

from s2sgrad.rules import restated
from s2sgrad.rules.scipy import responses

from . import complex_numbers
from .base import example, normal

complexly = complex_numbers.example

_b, _a, _w = np.array([0.3, 0.5]), np.array([1.3, 0.4, 0.2]), np.array([0.3, 0.8, 1.1])
_z, _p = np.array([0.3 + 0.1j]), np.array([0.2 + 0.3j, -0.5 + 0.4j])
_A, _B = np.array([[0.3, 0.5], [-0.2, 0.1]]), np.array([[1.0, 0.2], [0.3, 0.4]])
_C, _D = np.array([[0.4, 0.5]]), np.array([[0.3, 0.2]])
_u, _T = np.cos(np.arange(10.0)).reshape(5, 2), np.linspace(0.0, 1.0, 5)

example(restated.checked, normal(2), True)
example(restated.filled, (0.3, {"a": 0.4, "b": normal(2)}), (0.1, {"a": 0.2, "b": normal(2)}))
complexly(responses.imaginary, _w)
complexly(signal.freqs, _b, _a, _w)
complexly(signal.freqs, _b, _a, worN=4)
complexly(signal.freqs_zpk, _z, _p, 0.7, worN=_w)
complexly(signal.freqz_zpk, _z, _p, 0.7, worN=_w, fs=2.0)
example(signal.group_delay, (_b, _a), w=_w)
example(signal.group_delay, (_b, _a), 5, fs=3.0)
complexly(signal.freqresp, (_b, _a), [0.3, 0.8, 1.1])
complexly(signal.dfreqresp, (_b, _a, 0.1), [0.3, 0.8, 1.1])
example(signal.bode, (_b, _a), np.array([0.3, 0.8, 1.1]))
example(signal.dbode, (_b, _a, 0.1), np.array([0.3, 0.8, 1.1]))
example(signal.lsim, (_A, _B, _C, _D), _u, _T)
example(signal.lsim, (_b, _a), np.cos(np.arange(5.0)), _T, X0=np.array([0.1, 0.2]), interp=False)
example(signal.impulse, (_b, _a), None, [0.0, 0.25, 0.5])
example(signal.step, (_b, _a), np.array([0.1, 0.2]), [0.0, 0.25, 0.5])
example(signal.dlsim, (_A, _B, _C, _D, 0.1), _u, x0=np.array([0.1, 0.2]))
example(signal.dimpulse, (_A, _B[:, :1], _C, _D[:, :1], 0.1), x0=np.array([0.1, 0.2]), n=2)
example(signal.dstep, (_b, _a, 0.1), x0=np.array([0.1, 0.2]), n=2)

_t = np.array([0.13, 0.4, 0.77])
for _method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
    example(signal.chirp, _t, 1.2, 0.9, 2.3, _method)
example(signal.chirp, _t, 1.2, 0.9, 2.3, "quadratic", phi=30.0, vertex_zero=False)
example(signal.gausspulse, _t, fc=3.0, bw=0.4, bwr=-5.0)
example(signal.gausspulse, _t, 3.0, retquad=True, retenv=True)
example(signal.sawtooth, 20.0 * _t)
example(signal.sawtooth, 20.0 * _t, width=0.4)
example(signal.sweep_poly, _t, [0.3, 0.2, 1.0], phi=20.0)
example(signal.vectorstrength, _t, 0.7)
example(signal.vectorstrength, _t, np.array([0.7, 0.9]))
example(signal.lombscargle, normal(4), normal(4), np.array([1.2, 2.1]))
example(signal.lombscargle, normal(4), normal(4), np.array([1.2, 2.1]), normalize=True,
        weights=np.array([1.0, 2.0, 1.0, 0.5]), floating_mean=True)  # fmt: skip
example(signal.peak_prominences, np.array([0.0, 0.3, 0.1, 0.9, 0.2, 0.5, 0.1]), np.array([1, 3, 5]))
example(signal.find_peaks, np.array([0.0, 0.3, 0.1, 0.9, 0.2, 0.5, 0.1]), height=0.2)
example(windows.general_gaussian, 7, 1.3, 2.1)
example(windows.general_cosine, 7, np.array([0.5, 0.3, 0.2]), False)
example(windows.general_hamming, 7, 0.6)
example(windows.exponential, 7, 2.2, 1.3, False)
example(windows.kaiser_bessel_derived, 8, 2.3)
for _n in (7, 8):
    example(windows.chebwin, _n, 60.0)
example(windows.taylor, 9, 4, sll=28.0)
for _window in (("kaiser", 2.3), ("general_gaussian", 1.2, 2.0), ("chebwin", 50.0), 2.3):
    example(signal.get_window, _window, 8)
