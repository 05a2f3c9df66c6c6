"""Transforms in time and frequency of scipy.signal."""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.scipy import signal_spectra as spectral

from . import complex_numbers
from .base import example, normal
from .complex_numbers import cplx

complexly = complex_numbers.example

_short = {"nperseg": 6, "noverlap": 2}
for _keywords in ({}, {"noverlap": 3}, {"nfft": 9}, {"detrend": "linear"}, {"boundary": None, "padded": False},
                  {"boundary": "even"}, {"boundary": "odd"}, {"boundary": "constant", "scaling": "psd"}):  # fmt: skip
    complexly(signal.stft, normal(15), **_short | _keywords)
complexly(signal.stft, normal(15, 2), 1.0, np.array([0.3, 0.7, 1.0, 0.8, 0.5]), nperseg=5, axis=0)
complexly(signal.stft, cplx(15), return_onesided=False, **_short)
complexly(spectral.unstft, cplx(4, 3), normal(15), 1, "hann", 6, 2, None, False, True, None, False, -1, "psd")
complexly(signal.istft, cplx(4, 5))
complexly(signal.istft, cplx(4, 5, 2), 2.0, nperseg=7, noverlap=4, time_axis=1, freq_axis=0, scaling="psd")
complexly(signal.istft, cplx(6, 4), input_onesided=False, boundary=False, window="boxcar")
complexly(spectral.unistft, normal(12), cplx(4, 5), 1, "hann", None, None, None, True, True, -1, -2, "spectrum")
for _keywords in ({}, {"nfft": 9}, {"scaling": "spectrum", "noverlap": 1}, {"detrend": False}, {"return_onesided": False}):
    example(signal.welch, normal(15), nperseg=6, **_keywords)
    complexly(signal.csd, normal(15), normal(15), nperseg=6, **_keywords)
    example(signal.spectrogram, normal(15), nperseg=6, **_keywords)
    example(signal.periodogram, normal(7), **{k: v for k, v in _keywords.items() if k != "noverlap"})
example(signal.welch, normal(9, 2), fs=2.0, window="boxcar", nperseg=5, axis=0)
complexly(signal.csd, normal(9, 2), normal(9, 2), fs=2.0, window="boxcar", nperseg=5, axis=0)
example(signal.spectrogram, normal(9, 2), fs=2.0, window="boxcar", nperseg=5, axis=0)
example(signal.periodogram, normal(6, 2), fs=2.0, window="hann", axis=0)
for _type in ("linear", "constant"):
    example(signal.detrend, normal(6), type=_type)
    example(signal.detrend, normal(6, 2), 0, _type, 3)
complexly(signal.hilbert, normal(6))
complexly(signal.hilbert, normal(5, 2), axis=0)
complexly(signal.hilbert, normal(5), 7)
complexly(signal.hilbert, normal(5), 4)
for _m, _n in ((6, 9), (6, 8), (9, 6), (8, 6), (6, 6), (5, 7), (7, 4)):
    example(signal.resample, normal(_m), _n)
example(signal.resample, normal(2, 6), 8, axis=-1)
example(signal.resample, normal(6), 4, None, 3)  # an axis that SciPy does not ask for
example(signal.resample_poly, normal(5), 2, 2, 2)
example(spectral.unresample, normal(8), normal(6), 0)
example(spectral.unresample, normal(2, 5), normal(2, 8), 1)
for _up, _down in ((2, 3), (3, 1), (2, 2), (4, 6)):
    example(signal.resample_poly, normal(7), _up, _down)
example(signal.resample_poly, normal(2, 7), 1, 2, 1, "hamming")
example(signal.coherence, normal(15), normal(15), nperseg=6)
example(signal.coherence, normal(15, 2), normal(15, 2), nperseg=5, axis=0, nfft=8)
example(spectral.unresampled, normal(5), normal(7), 2, 3, 0, "hamming")
