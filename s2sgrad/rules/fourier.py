"""Rules of np.fft: the matrix of a transform is symmetric, so that it is its own pullback.

    y = np.fft.fft(x)      ->      x_bar = np.fft.fft(y_bar)                          cut or padded to the length of `x`
    y = np.fft.rfft(x)     ->      x_bar = np.fft.fft(y_bar, len(x)).real             the half that is not there counts as 0
    y = np.fft.irfft(z)    ->      z_bar = half_spectrum(y_bar, z)                    conj(rfft(y_bar)) / n, mostly twice

`norm` stays what it is.  A length `n` cuts `x` off, or pads it with zeros, before the transform.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.rules.table import complex_of_real_numbers, flat, general, linear, of_complex_numbers
from s2sgrad.runtime import unbroadcast

_OPPOSITE: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def fitted_to(g, x, axis):
    """`g` cut off, or padded with zeros, to the length of `x` along an axis, or along several (None: all)."""
    for k in range(np.ndim(x)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,):
        n = np.shape(x)[k]
        if np.shape(g)[k] > n:
            g = np.take(g, np.arange(n), axis=k)
        elif np.shape(g)[k] < n:
            widths = [(0, 0)] * np.ndim(g)
            widths[k] = (0, n - np.shape(g)[k])
            g = np.pad(g, widths)
    return g


@linear(fitted_to)
def _(w, y, g, x, axis):
    return fitted_to(w, g, axis), None, None


def as_long(n):
    """The transform is as long as its argument."""
    return n.known and n.value is None


def plain(n, axis, norm):
    """The transform is one of the last axis, of its length, and of no other norm."""
    return as_long(n) and as_long(norm) and axis.known and axis.value == -1


def axes_of(a, s, axes):
    """The axes of a transform of several: all, or the last ones for which lengths are given."""
    if axes is None:
        axes = range(np.ndim(a)) if s is None else range(-np.size(s), 0)
    return tuple(np.atleast_1d(axes))


def lengths(g, axes):
    """The lengths of these axes."""
    return [np.shape(g)[k] for k in axes]


flat(axes_of, lengths)

# --- one axis --------------------------------------------------------------------------------------------------------


@linear(np.fft.fft)
def fft(g, y, a, n=None, axis=-1, norm=None):
    return fitted_to(np.fft.fft(g, axis=axis, norm=norm), a, axis)


@fft.refined(as_long)
def _(g, y, a, n=None, axis=-1, norm=None):
    return np.fft.fft(g, axis=axis, norm=norm)


@fft.refined(plain)
def _(g, y, a, n=None, axis=-1, norm=None):
    return np.fft.fft(g)


@linear(np.fft.ifft)
def ifft(g, y, a, n=None, axis=-1, norm=None):
    return fitted_to(np.fft.ifft(g, axis=axis, norm=norm), a, axis)


@ifft.refined(as_long)
def _(g, y, a, n=None, axis=-1, norm=None):
    return np.fft.ifft(g, axis=axis, norm=norm)


@ifft.refined(plain)
def _(g, y, a, n=None, axis=-1, norm=None):
    return np.fft.ifft(g)


def whole_spectrum(g, a, n, axis, norm):
    """The cotangent of `a` in `np.fft.rfft(a, n, axis, norm)`."""
    return fitted_to(np.fft.fft(g, np.shape(a)[axis] if n is None else n, axis, norm).real, a, axis)


@linear(whole_spectrum)
def _(w, y, g, a, n, axis, norm):
    return np.fft.rfft(w, n, axis, norm), None, None, None, None


@linear(np.fft.rfft)
def rfft(g, y, a, n=None, axis=-1, norm=None):
    return whole_spectrum(g, a, n, axis, norm)


@rfft.refined(plain)
def _(g, y, a, n=None, axis=-1, norm=None):
    return np.fft.fft(g, np.shape(a)[-1])  # of which the real part is taken


def half_spectrum(g, a, axis=-1, norm=None):
    """The cotangent of `a` in `np.fft.irfft(a, .., axis, norm)`; of a real array it is real."""
    z = doubled(g, a, axis, norm)
    return z if np.iscomplexobj(a) else z.real


def doubled(g, a, axis, norm):
    """The cotangent of a complex array in `np.fft.irfft`: of what stands for two values, twice the one."""
    z, n = np.conj(np.fft.rfft(g, axis=axis, norm=opposite(norm))), np.shape(g)[axis]
    places = np.arange(np.shape(z)[axis])
    twice = np.where((places == 0) | (2 * places == n), 1.0, 2.0).astype(z.real.dtype)
    return fitted_to(z * np.reshape(twice, (-1,) + (1,) * (np.ndim(z) - 1 - axis % np.ndim(z))), a, axis)


@linear(half_spectrum)
def _(w, y, g, a, axis=-1, norm=None):
    return np.fft.irfft(w, np.shape(g)[axis], axis, norm), None


@linear(np.fft.irfft)
def irfft(g, y, a, n=None, axis=-1, norm=None):
    return half_spectrum(g, a, axis, norm)


@irfft.refined(lambda axis, norm: as_long(norm) and axis.known and axis.value == -1)
def _(g, y, a, n=None, axis=-1, norm=None):
    return half_spectrum(g, a)


def opposite(norm):
    """The norm that divides where this one does not."""
    return _OPPOSITE.get(norm, norm)  # of a number, SciPy reads no `norm`


flat(opposite)


@linear(np.fft.hfft)
def hfft(g, y, a, n=None, axis=-1, norm=None):
    return np.conj(half_spectrum(g, a, axis, opposite(norm)))


@linear(np.fft.ihfft)
def ihfft(g, y, a, n=None, axis=-1, norm=None):
    return whole_spectrum(np.conj(g), a, n, axis, opposite(norm))


# --- several axes ----------------------------------------------------------------------------------------------------


@linear(np.fft.fftn)
def fftn(g, y, a, s=None, axes=None, norm=None):
    return fitted_to(np.fft.fftn(g, axes=axes_of(a, s, axes), norm=norm), a, axes_of(a, s, axes))


@fftn.refined(lambda s: as_long(s))
def _(g, y, a, s=None, axes=None, norm=None):
    return np.fft.fftn(g, axes=axes, norm=norm)


@linear(np.fft.ifftn)
def ifftn(g, y, a, s=None, axes=None, norm=None):
    return fitted_to(np.fft.ifftn(g, axes=axes_of(a, s, axes), norm=norm), a, axes_of(a, s, axes))


@ifftn.refined(lambda s: as_long(s))
def _(g, y, a, s=None, axes=None, norm=None):
    return np.fft.ifftn(g, axes=axes, norm=norm)


for _rule in (fftn, ifftn):  # NumPy transforms no axis of a number, and leaves `out` alone
    _rule.refuse(
        lambda operand: operand.rank == 0, "a transform of a number has no derivative rule: it is the number itself"
    )


@linear(np.fft.fft2)
def fft2(g, y, a, s=None, axes=(-2, -1), norm=None):
    return fitted_to(np.fft.fft2(g, axes=axes, norm=norm), a, axes)


@fft2.refined(lambda s, norm: as_long(s) and as_long(norm))
def _(g, y, a, s=None, axes=(-2, -1), norm=None):
    return np.fft.fft2(g, axes=axes)


@linear(np.fft.ifft2)
def ifft2(g, y, a, s=None, axes=(-2, -1), norm=None):
    return fitted_to(np.fft.ifft2(g, axes=axes, norm=norm), a, axes)


@ifft2.refined(lambda s, norm: as_long(s) and as_long(norm))
def _(g, y, a, s=None, axes=(-2, -1), norm=None):
    return np.fft.ifft2(g, axes=axes)


def whole_spectra(g, a, s, axes, norm):
    """The cotangent of `a` in `np.fft.rfftn(a, s, axes, norm)`: the last axis is that of `rfft`."""
    *others, last = axes_of(a, s, axes)
    if others:
        g = fitted_to(np.fft.fftn(g, axes=others, norm=norm), a, others)
    return whole_spectrum(g, a, None if s is None else np.atleast_1d(s)[-1], last, norm)


@linear(whole_spectra)
def _(w, y, g, a, s, axes, norm):
    return np.fft.rfftn(w, s, axes_of(a, s, axes), norm), None, None, None, None


def half_spectra(g, a, s, axes, norm):
    """The cotangent of `a` in `np.fft.irfftn(a, s, axes, norm)`: the last axis is that of `irfft`."""
    *others, last = axes_of(a, s, axes)
    z = doubled(g, a, last, norm)
    z = fitted_to(np.fft.ifftn(z, axes=others, norm=norm), a, others) if others else z
    return z if np.iscomplexobj(a) else z.real


@linear(half_spectra)
def _(w, y, g, a, s, axes, norm):
    places = axes_of(a, s, axes)
    return np.fft.irfftn(w, lengths(g, places), places, norm), None, None, None, None


@linear(np.fft.rfftn)
def rfftn(g, y, a, s=None, axes=None, norm=None):
    return whole_spectra(g, a, s, axes, norm)


@linear(np.fft.rfft2)
def rfft2(g, y, a, s=None, axes=(-2, -1), norm=None):
    return whole_spectra(g, a, s, axes, norm)


@linear(np.fft.irfftn)
def irfftn(g, y, a, s=None, axes=None, norm=None):
    return half_spectra(g, a, s, axes, norm)


@linear(np.fft.irfft2)
def irfft2(g, y, a, s=None, axes=(-2, -1), norm=None):
    return half_spectra(g, a, s, axes, norm)


@general(np.fft.fftfreq, np.fft.rfftfreq)
def fftfreq(g, y, n, d=1.0, device=None):
    return None


@fftfreq.keyword("d")
def fftfreq_d(g, y, n, d=1.0, device=None):
    return unbroadcast(-g * y / d, d)


@fftfreq_d.forward()
def _(y, n, d_dot, d=1.0, device=None):
    return -y * (d_dot / d)


fftfreq.constant("n")
of_complex_numbers(
    np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, np.fft.fftn, np.fft.ifftn, np.fft.fft2,
    np.fft.ifft2, np.fft.rfftn, np.fft.irfftn, np.fft.rfft2, np.fft.irfft2, fitted_to, whole_spectrum, half_spectrum,
    whole_spectra, half_spectra,
)  # fmt: skip
complex_of_real_numbers(
    np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.ihfft, np.fft.fftn, np.fft.ifftn, np.fft.fft2, np.fft.ifft2, np.fft.rfftn,
    np.fft.rfft2,
)  # fmt: skip
