"""Filters of scipy.signal."""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.scipy import rates
from s2sgrad.rules.scipy import signal_filters as filters

from . import complex_numbers
from .base import example, normal, younger

complexly = complex_numbers.example

_b, _a = np.array([0.3, 0.5, -0.2]), np.array([1.3, -0.4, 0.2])
for _c, _d in ((_b, _a), (_b[:2], _a), (_b, _a[:1]), (_b[:1], _a[:2])):
    example(signal.lfilter, _c, _d, normal(6))
    example(signal.lfilter, _c, _d, normal(2, 6, 2), 1)
    example(signal.lfilter, _c, _d, normal(6), zi=normal(max(len(_c), len(_d)) - 1))
    example(signal.lfilter_zi, _c, _d if len(_d) > 1 else _a)
example(signal.lfilter, _b, _a, normal(6, 3), axis=0, zi=normal(2, 3))
example(signal.lfilter, _b, _a, normal(3, 6), zi=normal(1, 2))
_sos = np.array([[0.3, 0.5, -0.2, 1.0, -0.4, 0.2], [0.7, 0.1, 0.4, 1.0, 0.3, -0.1]])
for _padtype in ("odd", "even", "constant", None):
    example(signal.filtfilt, _b, _a, normal(12), padtype=_padtype)
    example(signal.filtfilt, _b, _a, normal(6, 2), 0, _padtype, 4 if _padtype else None)
    example(filters.unfiltfilt, normal(12), _b, _a, normal(12), -1, _padtype, None)
example(signal.filtfilt, _b, 1.3, normal(12))
example(signal.resample, normal(2, 7), 4, axis=1, window="hamming")

# --- other rates, and ranks ------------------------------------------------------------------------------------------

example(signal.upfirdn, normal(4), normal(7), 3, 2)
example(signal.upfirdn, normal(4), normal(2, 5), up=2, down=3)
example(signal.upfirdn, normal(4), normal(5, 2), axis=0)
example(signal.upfirdn, normal(3), normal(2), down=5, mode="constant", cval=0)
example(rates.forth, normal(4), normal(7), 3, 2, -1)
example(rates.back_in_x, normal(11), normal(4), normal(7), 3, 2, -1)
example(rates.back_in_h, normal(11), normal(4), normal(7), 3, 2, -1)
example(signal.decimate, normal(40), 2)
example(signal.decimate, normal(2, 40), 3, 4)
example(signal.decimate, normal(40, 2), 3, axis=0)
example(signal.medfilt, normal(4, 5))
example(signal.medfilt, normal(9), 5)
example(signal.medfilt, 0.7, 1)
example(signal.medfilt2d, normal(4, 5), [3, 1])
example(signal.order_filter, normal(4, 5), np.ones((3, 3)), 6)
example(rates.undecimated, normal(20), normal(40), 2, None, -1)
example(rates.undecimated, normal(2, 14), normal(2, 40), 3, 4, -1)

# --- states, spirals, the plane --------------------------------------------------------------------------------------

_c = np.array([0.3, 0.5, -0.2, 0.4])
example(signal.lfiltic, _c, _a, np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.9]))
example(signal.lfiltic, _a[:2], _c, np.array([0.3, 0.7]))
example(signal.sosfilt_zi, _sos)
example(signal.deconvolve, np.array([0.3, 0.5, -0.2, 0.8, 0.4]), _a)
complexly(signal.czt, normal(4), 5, 0.9 - 0.3j, 1.1 + 0.1j)
complexly(signal.czt, normal(3, 4), axis=0)
complexly(signal.czt_points, 5, 0.9 - 0.3j, a=1.1 + 0.1j)
complexly(signal.zoom_fft, normal(4), [0.2, 0.7], 5, fs=3.0)
complexly(signal.zoom_fft, normal(3, 4), 0.7, endpoint=True, axis=0)
complexly(signal.hilbert2, normal(3, 4))
complexly(signal.hilbert2, normal(3, 4), (5, 6))
example(signal.wiener, normal(5), 3, noise=0.1)
example(signal.wiener, normal(4, 5))
example(signal.sepfir2d, normal(5, 6), normal(3), normal(5))
example(signal.iircomb, 20.0, 8.0, fs=100.0)
example(signal.iircomb, 20.0, 8.0, "peak", 100.0, pass_zero=True)

# --- splines, mirrors and envelopes ----------------------------------------------------------------------------------

_s = np.array([0.3, 1.2, -0.4, 0.8, 1.5, -0.7, 0.2, 0.9, 0.4, -1.1])
_plane = np.stack((_s, _s[::-1] ** 2, np.cos(_s)))
_t = np.array([-3.3, -0.4, 0.3, 1.7, 2.6, 8.8, 9.7, 21.4])
for _f in (signal.cspline1d, signal.qspline1d):
    example(_f, _s)
    example(_f, _s[:1])
    example(_f, _s[:2])
example(signal.cspline1d, _s, 0.7)
for _f in (signal.cspline1d_eval, signal.qspline1d_eval):
    example(_f, _s, _t)
    example(_f, _s, _t, dx=0.7, x0=0.4)
    example(_f, _s, 2.3, 0.7)
example(signal.symiirorder1, _s, 0.7, 0.05)
example(signal.symiirorder1, _plane, 0.7, -0.05)
example(signal.symiirorder1, _s, 0.7, 0.3, precision=0.01)
example(signal.symiirorder2, _s, 0.05, 0.7)
example(signal.symiirorder2, _plane, 0.3, 0.7, precision=0.01)
_envelope = younger(signal, "envelope")
example(_envelope, _s)
example(_envelope, _s[:9], (2, 4))
example(_envelope, _s, (None, 3), residual="all")
example(_envelope, _plane, (1, 4), n_out=7, axis=1)
example(_envelope, _s[:9], (0, None), n_out=14, squared=True, residual=None)
example(_envelope, _plane.T.copy(), n_out=16, axis=0)
example(_envelope, _s, n_out=6, residual="all")
_h = np.array([0.15, 0.35, 0.7, 0.3, 0.1])
example(signal.minimum_phase, _h)
example(signal.minimum_phase, _h, n_fft=9)
example(signal.minimum_phase, np.array([0.5, 0.7, 0.3, 0.2]), n_fft=16, half=False)
_peaks = np.array([1, 4, 7])
example(signal.peak_widths, _s, _peaks)
example(signal.peak_widths, _s, _peaks, 0.8, wlen=5)
example(signal.peak_widths, _s, _peaks, rel_height=0.3)
