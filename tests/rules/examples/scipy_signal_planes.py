"""Planes, windows, smoothing and responses of scipy.signal; windows of NumPy."""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules import windows
from s2sgrad.rules.scipy import signal_planes

from . import complex_numbers
from .base import example, normal
from .complex_numbers import cplx

complexly = complex_numbers.example

for _f in (signal.convolve2d, signal.correlate2d):
    for _m, _n in (((4, 5), (2, 3)), ((3, 4), (3, 4)), ((2, 3), (3, 4))):
        example(_f, normal(*_m), normal(*_n))
        for _mode in ("same", "valid"):
            example(_f, normal(*_m), normal(*_n), _mode)
    for _boundary in ("wrap", "symm"):
        example(_f, normal(4, 5), normal(2, 3), boundary=_boundary)
        example(_f, normal(4, 5), normal(3, 2), "same", _boundary)
for _mode in ("full", "same", "valid"):
    example(signal.oaconvolve, normal(5), normal(3), _mode)
example(signal.oaconvolve, normal(5), normal(3))
for _M in (1, 5, 6):
    example(signal.windows.kaiser, _M, 2.3)
    example(signal.windows.gaussian, _M, 1.7)
    example(np.kaiser, _M, 2.3)
example(signal.windows.kaiser, 5, 2.3, sym=False)
example(signal.windows.gaussian, 5, 1.7, False)
for _alpha in (0.3, 0.71, 1.4):
    example(signal.windows.tukey, 9, _alpha)
    example(signal.windows.tukey, 8, _alpha, sym=False)
example(np.i0, normal(2, 3))
example(windows.modified_bessel, normal(3), 2)
for _mode in ("interp", "mirror", "nearest", "wrap", "constant"):
    example(signal.savgol_filter, normal(9), 5, 2, mode=_mode)
    example(signal.savgol_filter, normal(9, 2), 5, 3, 1, 0.5, 0, _mode)
    example(signal_planes.unsmoothed, normal(9), normal(9), 5, 2, 0, 1, -1, _mode)
example(signal.savgol_filter, normal(9), 5, 2, mode="constant", cval=0.7)
complexly(signal.freqz, normal(3), worN=5)
complexly(signal.freqz, normal(3), normal(2), 5, fs=2.0)
complexly(signal.freqz, cplx(3), a=cplx(2), worN=np.array([0.3, 0.8]))
