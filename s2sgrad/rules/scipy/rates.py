"""Rules of scipy.signal, continued: other rates of samples (`upfirdn`, `decimate`), and filters of ranks.

    y[m] = sum(h[m * down - k * up] * x[k])     ->     x_bar[k] = sum(h[m * down - k * up] * y_bar[m]), h_bar likewise
    y = decimate(x, q)                          ->     x_bar = the transpose of `sosfiltfilt` of y_bar with zeros between

(Crochiere and Rabiner, *Multirate Digital Signal Processing*, 1983, 2.3.)  The ranks are those of `rank_filters.py`.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage, signal

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.rank_filters import chosen, places_chosen, unchosen
from s2sgrad.rules.scipy.signal_filters import unsosfiltfilt
from s2sgrad.rules.table import bilinear, flat, general, linear, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- upfirdn ---------------------------------------------------------------------------------------------------------


def one_line(h, mode, cval):
    """1; Refusal unless a filter is one line, and what is around the samples is 0."""
    if np.ndim(h) != 1 or mode not in (None, "constant") or cval:
        raise Refusal(None, "`upfirdn` has a derivative rule for one filter, and for zeros around the samples")
    return 1.0


flat(one_line)


def back_in_x(g, h, x, up, down, axis):
    """The cotangent of the samples."""
    n = np.shape(x)[axis]
    g = np.moveaxis(g, axis, -1)
    whole = signal.upfirdn(np.flip(h), g, down, 1)
    short = max((n - 1) * up + np.size(h) - np.shape(whole)[-1], 0)
    whole = np.concatenate((whole, np.zeros((*np.shape(whole)[:-1], short), whole.dtype)), axis=-1)
    return np.moveaxis(whole[..., np.size(h) - 1 :: up][..., :n], -1, axis)


def shifted(x, up, down, axis, taps, count):
    """The sample that each number of a filter meets in each sum: 0 where there is none."""
    x = np.moveaxis(x, axis, -1)
    places = down * np.arange(count)[:, None] - np.arange(taps)
    inside = (places >= 0) & (places % up == 0) & (places // up < np.shape(x)[-1])
    return x[..., np.where(inside, places // up, 0)] * inside


def back_in_h(g, h, x, up, down, axis):
    """The cotangent of the filter."""
    g = np.moveaxis(g, axis, -1)
    each = shifted(x, up, down, axis, np.size(h), np.shape(g)[-1]) * g[..., None]
    return np.sum(np.reshape(each, (-1, np.size(h))), axis=0)


def forth(h, x, up, down, axis):
    """`signal.upfirdn`, by position."""
    return signal.upfirdn(h, x, up, down, axis)


@bilinear(back_in_x)
def _(w, y, g, h, x, up, down, axis):
    return forth(h, w, up, down, axis), back_in_h(g, h, w, up, down, axis), None, None, None, None


@bilinear(back_in_h)
def _(w, y, g, h, x, up, down, axis):
    return forth(w, x, up, down, axis), None, back_in_x(g, w, x, up, down, axis), None, None, None


@bilinear(forth)
def _(g, y, h, x, up, down, axis):
    return back_in_h(g, h, x, up, down, axis), back_in_x(g, h, x, up, down, axis), None, None, None


@general(signal.upfirdn)
def upfirdn(g, y, h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    g = g * one_line(h, mode, cval)
    return back_in_h(g, h, x, up, down, axis), back_in_x(g, h, x, up, down, axis)


@upfirdn.forward()
def _(y, h, x, h_dot, x_dot, up=1, down=1, axis=-1, mode="constant", cval=0):
    known = one_line(h, mode, cval)
    return known * forth(h_dot, x, up, down, axis), known * forth(h, x_dot, up, down, axis)


# --- decimate --------------------------------------------------------------------------------------------------------


def undecimated(g, x, q, n, axis):
    """The cotangent of the samples, of which `g` is that of each `q`th after the filter in both directions."""
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(x.dtype)
    out = np.zeros((*np.shape(np.moveaxis(x, axis, -1))[:-1], np.shape(x)[axis]), g.dtype)
    out[..., ::q] = np.moveaxis(g, axis, -1)
    return unsosfiltfilt(np.moveaxis(out, -1, axis), sos, x, axis, "odd", None)


@linear(undecimated)
def _(w, y, g, x, q, n, axis):
    return signal.decimate(w, q, n, "iir", axis, zero_phase=True), None, None, None, None


@general(signal.decimate)
def decimate(g, y, x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    return undecimated(g, x, q, n, axis), None


@decimate.forward()
def _(y, x, q, x_dot, q_dot, n=None, ftype="iir", axis=-1, zero_phase=True):
    return signal.decimate(x_dot, q, n, ftype, axis, zero_phase=zero_phase), None


decimate.constant("q")
decimate.refuse(
    lambda ftype, zero_phase: not (ftype.known and ftype.value == "iir" and zero_phase.known and zero_phase.value),
    "`decimate` has a derivative rule for the filter iir in both directions: use `lfilter`, and take each qth sample",
)

# --- filters of ranks ------------------------------------------------------------------------------------------------


def median_places(x, kernel_size):
    """The places of the medians, with zeros around the image."""
    size = 3 if kernel_size is None else kernel_size
    return places_chosen(ndimage.median_filter, x, 0.0, size=size, mode="constant")


def rank_places(x, domain, rank):
    """The places of the elements of a rank under a domain."""
    return places_chosen(ndimage.rank_filter, x, 0.0, rank=rank, footprint=domain, mode="constant")


flat(median_places, rank_places)


@general(signal.medfilt)
def medfilt(g, y, volume, kernel_size=None):
    return unchosen(g, median_places(volume, kernel_size), volume)


@medfilt.forward()
def _(y, volume, volume_dot, kernel_size=None):
    return chosen(np.atleast_1d(volume_dot), median_places(np.atleast_1d(volume), kernel_size))  # of a number it makes one


@general(signal.medfilt2d)
def medfilt2d(g, y, input, kernel_size=3):
    return unchosen(g, median_places(input, kernel_size), input)


@medfilt2d.forward()
def _(y, input, input_dot, kernel_size=3):
    return chosen(input_dot, median_places(input, kernel_size))


@general(signal.order_filter)
def order_filter(g, y, a, domain, rank):
    return unchosen(g, rank_places(a, domain, rank), a), None, None


@order_filter.forward()
def _(y, a, domain, rank, a_dot, domain_dot, rank_dot):
    return chosen(a_dot, rank_places(a, domain, rank)), None, None


order_filter.constant("domain")
order_filter.constant("rank")
flat(signal.argrelmax, signal.argrelmin, signal.argrelextrema)
# of whole numbers, and answers
flat(signal.unit_impulse, signal.max_len_seq, signal.choose_conv_method)
flat(signal.check_COLA, signal.check_NOLA)

for _rule in (upfirdn, decimate, medfilt, medfilt2d, order_filter):
    _rule.refuse(lambda operand: is_container(operand), "a filter of a list has no derivative rule: pass an array")


of_complex_numbers(signal.upfirdn, signal.decimate)
