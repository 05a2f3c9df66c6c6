"""Rules of signals on a line: convolve, correlate, interp, gradient, unwrap.

c = np.convolve(a, v)          ->  a_bar = np.correlate(c_bar, v, "valid"); v_bar = np.correlate(c_bar, a, "valid")
y = np.interp(x, xp, fp)       ->  x_bar = y_bar * the slope of the segment that x lies in
"""

from __future__ import annotations

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.builtin_functions import placed, preceded
from s2sgrad.rules.scans import undiff
from s2sgrad.rules.selections import untake
from s2sgrad.rules.table import bilinear, flat, general
from s2sgrad.runtime import Refusal, over, unbroadcast

# --- convolution -----------------------------------------------------------------------------------------------------


def cut_off(a, v, mode, correlating=False):
    """How many places of the full convolution of `a` and `v` come before and after those that `mode` keeps.

    NumPy takes 0, 1 and 2 for "valid", "same" and "full" as well.
    """
    short = min(np.size(a), np.size(v))
    if mode in ("full", 2):
        return 0, 0
    if mode in ("valid", 0):
        return short - 1, short - 1
    before = (short - 1) // 2 if not correlating or np.size(a) >= np.size(v) else short // 2
    return before, short - 1 - before


flat(cut_off)


@bilinear(np.convolve)
def convolve(g, y, a, v, mode="full"):
    whole = np.pad(g, cut_off(a, v, mode))
    a_bar, v_bar = np.correlate(whole, np.ravel(v), "valid"), np.correlate(whole, np.ravel(a), "valid")
    return np.reshape(a_bar, np.shape(a)), np.reshape(v_bar, np.shape(v))  # NumPy makes a line of a number


def lines(a, v):
    return a.rank != 0 and v.rank != 0


@convolve.refined(lines)
def _(g, y, a, v, mode="full"):
    whole = np.pad(g, cut_off(a, v, mode))
    return np.correlate(whole, v, "valid"), np.correlate(whole, a, "valid")


@convolve.refined(lambda a, v, mode: lines(a, v) and mode.known and mode.value == "full")
def _(g, y, a, v, mode="full"):
    return np.correlate(g, v, "valid"), np.correlate(g, a, "valid")


@bilinear(np.correlate)
def correlate(g, y, a, v, mode="valid"):
    whole = np.pad(g, cut_off(a, v, mode, True))
    return np.convolve(whole, v, "valid"), np.correlate(whole, a, "valid")[::-1]


@correlate.refined(lambda mode: mode.known and mode.value == "full")
def _(g, y, a, v, mode="valid"):
    return np.convolve(g, v, "valid"), np.correlate(g, a, "valid")[::-1]


# --- interpolation ---------------------------------------------------------------------------------------------------


def segment(x, xp):
    """The number of the segment of `xp` that each `x` lies in; outside, the first or the last.

    >>> segment(0.5, [0.0, 2.0, 1.0])
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: np.interp has a derivative where `xp` increases: sort the points first
    """
    if np.any(np.less(xp[1:], xp[:-1])):
        raise Refusal(None, "np.interp has a derivative where `xp` increases: sort the points first")
    return np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(np.size(xp) - 2, 0))


def segment_end(x, xp):
    """The number of the point where the segment of each `x` ends."""
    return np.minimum(segment(x, xp) + 1, np.size(xp) - 1)


flat(segment, segment_end)


@general(np.interp)
def interp(g, y, x, xp, fp, left=None, right=None):
    start, end = segment(x, xp), segment_end(x, xp)
    x0, x1 = 1.0 * np.take(xp, start), 1.0 * np.take(xp, end)
    below, above = np.less(x, x0), np.greater(x, x1)
    outside = np.logical_or(below, above)
    slope = np.where(outside, 0.0, over(g * (1.0 * np.take(fp, end) - np.take(fp, start)), x1 - x0))
    t = np.where(below, 0.0, np.where(above, 1.0, over(x - x0, x1 - x0)))
    xp_bar = untake(slope * (t - 1.0), xp, start) - untake(slope * t, xp, end)
    if left is not None:
        g = np.where(below, 0.0, g)
    if right is not None:
        g = np.where(above, 0.0, g)
    return slope, xp_bar, untake(g * (1.0 - t), fp, start) + untake(g * t, fp, end)


@interp.keyword("left")
def interp_left(g, y, x, xp, fp, left=None, right=None):
    return np.sum(np.where(np.less(x, np.take(xp, 0)), g, 0.0))


@interp.keyword("right")
def interp_right(g, y, x, xp, fp, left=None, right=None):
    return np.sum(np.where(np.greater(x, np.take(xp, -1)), g, 0.0))


def rise(x, xp, fp):
    """The slope at each `x` of the line through the points; 0 outside of them.

    >>> rise(np.array([0.5, 5.0]), [0.0, 1.0], [0.0, 3.0])
    array([3., 0.])
    """
    start, end = segment(x, xp), segment_end(x, xp)
    x0, x1 = 1.0 * np.take(xp, start), 1.0 * np.take(xp, end)
    outside = np.logical_or(np.less(x, x0), np.greater(x, x1))
    return np.where(outside, 0.0, over(1.0 * np.take(fp, end) - np.take(fp, start), x1 - x0))[()]


def still(end):
    """The tangent of a constant end value that is given."""
    return None if end is None else 0.0


flat(still)


@interp.forward()
def _(y, x, xp, fp, x_dot, xp_dot, fp_dot, left=None, right=None):
    inside = np.interp(x, xp, fp_dot, still(left), still(right))
    return x_dot * rise(x, xp, fp), -rise(x, xp, fp) * np.interp(x, xp, xp_dot), inside


@interp.forward(lambda left, right: all(k.known and k.value is None for k in (left, right)))
def _(y, x, xp, fp, x_dot, xp_dot, fp_dot, left=None, right=None):
    return x_dot * rise(x, xp, fp), -rise(x, xp, fp) * np.interp(x, xp, xp_dot), np.interp(x, xp, fp_dot)


# --- slopes ----------------------------------------------------------------------------------------------------------


def gradient_axes(f, axis):
    """The axes along which np.gradient goes."""
    axes = range(np.ndim(f)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(k % np.ndim(f) for k in axes)


flat(gradient_axes)


def _steps(x, n, dtype):
    """The steps between `n` places from the coordinates or the one spacing `x`."""
    if np.ndim(x) == 1:
        return np.diff(np.multiply(x, 1.0))  # small integers wrap around
    return np.full(n - 1, x, dtype=np.result_type(dtype, 1j) if np.iscomplexobj(x) else dtype)


def ungradient(g, f, x, axis, edge_order=1):
    """The transpose of `np.gradient(f, x, axis=axis, edge_order=edge_order)`; of `f` only the shape is used.

    With slopes s between neighbours, and p the part of the step before in the two around a place, the gradient is
    s[i - 1] + p[i] * (s[i] - s[i - 1]) inside.  It is the first and the last s at the ends, from which `edge_order` 2 takes
    the next change of s.
    """
    g = np.moveaxis(g, axis, -1)
    h = _steps(x, np.shape(g)[-1], g.dtype)
    g = g + 0j if np.iscomplexobj(h) else g
    p = h[:-1] / (h[:-1] + h[1:])
    change = g[..., 1:-1] * p
    if edge_order != 1:
        change[..., :1] -= g[..., :1] * p[:1]
        change[..., -1:] += g[..., -1:] * (1.0 - p[-1:])
    slope = undiff(change)
    slope[..., :1] += g[..., :1]
    slope += g[..., 1:]
    return np.moveaxis(undiff(slope / h), -1, axis)


def spacing_bar(g, f, x, axis, edge_order=1):
    """The cotangent of `x` in `np.gradient(f, x, axis=axis, edge_order=edge_order)`, coordinates or one spacing."""
    g, f = np.moveaxis(g, axis, -1), np.moveaxis(f, axis, -1)
    h = _steps(x, np.shape(f)[-1], g.dtype)
    around = h[:-1] + h[1:]
    p = h[:-1] / around
    s = np.diff(f * 1.0) / h
    first, inner, last = g[..., :1], g[..., 1:-1], g[..., -1:]
    no_first, no_last = np.zeros_like(s[..., :1]), np.zeros_like(s[..., 1:])
    change, p_bar = inner * p, inner
    if edge_order != 1:
        rest = np.zeros_like(inner[..., 1:])
        low, high = np.concatenate((first, rest), -1), np.concatenate((rest, last), -1)
        change = change - low * p + high * (1.0 - p)
        p_bar = p_bar - low - high
    s_bar = g[..., 1:] + undiff(change) + np.concatenate((first, no_last), -1)
    turn = p_bar * np.diff(s) / (around * around)
    h_bar = np.concatenate((turn * h[1:], no_first), -1) - np.concatenate((no_first, turn * h[:-1]), -1) - s_bar * s / h
    return undiff(unbroadcast(h_bar, h)) if np.ndim(x) == 1 else np.sum(h_bar)


@general(ungradient)
def ungradient_(w, y, g, f, x, axis, edge_order=1):
    return np.gradient(w, x, axis=axis, edge_order=edge_order), None, spacing_bar(g, w, x, axis, edge_order), None


ungradient_.linear_in("g")


@general(np.gradient)
def gradient(g, y, f, *varargs, axis=None, edge_order=1):
    axes = gradient_axes(f, axis)
    f_bar, spacing_bars = np.zeros_like(f), runtime.zeros(varargs)
    for k in range(len(axes)):
        e = g if isinstance(y, np.ndarray) else g[k]
        if len(varargs) == 0:
            f_bar = f_bar + ungradient(e, f, 1.0, axes[k], edge_order)
        else:
            place = min(k, len(varargs) - 1)
            f_bar = f_bar + ungradient(e, f, varargs[place], axes[k], edge_order)
            x_bar = spacing_bar(e, f, varargs[place], axes[k], edge_order)
            spacing_bars = runtime.add(spacing_bars, placed(x_bar, place, varargs))
    return preceded(f_bar, spacing_bars)


gradient.linear_in("f")


@general(np.unwrap)
def unwrap(g, y, p, discont=None, axis=-1, *, period=6.283185307179586):
    return g


@unwrap.forward()
def _(y, p, p_dot, discont=None, axis=-1, *, period=6.283185307179586):
    return p_dot
