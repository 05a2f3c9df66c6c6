"""Rules of scipy.signal: convolve, fftconvolve and correlate, of arrays with any number of axes.

c = signal.convolve(a, v)      ->  a_bar = signal.correlate(c_bar, v, "valid")
                                   v_bar = signal.correlate(c_bar, a, "valid")
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.table import bilinear, flat, of_complex_numbers


def cut_off(a, v, mode):
    """How many places of the full convolution of `a` and `v` come before and after those that `mode` keeps, by axis.

    >>> cut_off(np.zeros(5), np.zeros(3), "valid"), cut_off(2.0, 3.0, "valid")
    ([(2, 2)], 0)
    """
    pairs = list(zip(np.shape(a), np.shape(v), strict=True))
    if mode == "full" or not pairs:
        return 0
    if mode == "valid":
        return [(min(m, n) - 1, min(m, n) - 1) for m, n in pairs]
    return [((n - 1) // 2, n - 1 - (n - 1) // 2) for _, n in pairs]  # "same": as long as `a`


flat(cut_off)


def completed(g, a, v, mode):
    """The cotangent of the full convolution of `a` and `v`, of which `mode` keeps a part; numbers have no axes to cut."""
    return np.pad(g, cut_off(a, v, mode)) if np.ndim(a) else g


@bilinear(signal.convolve)
def convolve(g, y, in1, in2, mode="full", method="auto"):
    whole = completed(g, in1, in2, mode)
    return signal.correlate(whole, in2, "valid", method), signal.correlate(whole, in1, "valid", method)


@bilinear(signal.fftconvolve)
def fftconvolve(g, y, in1, in2, mode="full"):
    whole = completed(g, in1, in2, mode)
    return signal.correlate(whole, in2, "valid", "fft"), signal.correlate(whole, in1, "valid", "fft")


@bilinear(signal.correlate)
def correlate(g, y, in1, in2, mode="full", method="auto"):
    whole = completed(g, in1, in2, mode)
    return signal.convolve(whole, in2, "valid", method), np.flip(signal.correlate(whole, in1, "valid", method))


def whole_result(mode):
    return mode.known and mode.value == "full"


@convolve.refined(whole_result)
def _(g, y, in1, in2, mode="full", method="auto"):
    return signal.correlate(g, in2, "valid", method), signal.correlate(g, in1, "valid", method)


@fftconvolve.refined(whole_result)
def _(g, y, in1, in2, mode="full"):
    return signal.correlate(g, in2, "valid", "fft"), signal.correlate(g, in1, "valid", "fft")


# --- of complex numbers: `correlate` conjugates its second argument ---------------------------------------------------


@convolve.refined(lambda complex: complex)
def _(g, y, in1, in2, mode="full", method="auto"):
    whole = completed(g, in1, in2, mode)
    in1_bar = signal.correlate(whole, np.conj(in2), "valid", method)
    return in1_bar, signal.correlate(whole, np.conj(in1), "valid", method)


@fftconvolve.refined(lambda complex: complex)
def _(g, y, in1, in2, mode="full"):
    whole = completed(g, in1, in2, mode)
    return signal.correlate(whole, np.conj(in2), "valid", "fft"), signal.correlate(whole, np.conj(in1), "valid", "fft")


@correlate.refined(lambda complex: complex)
def _(g, y, in1, in2, mode="full", method="auto"):
    whole = completed(g, in1, in2, mode)
    in1_bar = signal.convolve(whole, np.conj(in2), "valid", method)
    return in1_bar, np.conj(np.flip(signal.correlate(whole, np.conj(in1), "valid", method)))


of_complex_numbers(signal.convolve, signal.fftconvolve, signal.correlate)
