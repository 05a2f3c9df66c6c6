"""Rules of convolutions in the plane, of windows with a parameter, of smoothing and of frequency responses.

y = signal.convolve2d(x, k)                 ->    x_bar = signal.correlate2d(y_bar, k, "valid")
y = signal.convolve2d(x, k, boundary=..)    ->    the same of the padded `x`, and the padding transposed
w, h = signal.freqz(b, a)                   ->    b_bar = (h_bar / A) @ exp(-1j * w * k),  a_bar = -(h_bar * h / A) @ ..
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.padding import padded_places
from s2sgrad.rules.scipy import signal as convolutions
from s2sgrad.rules.scipy.filters import laid, laid_origin, turned_origin, uncorrelate
from s2sgrad.rules.scipy.signal import completed
from s2sgrad.rules.selections import untake
from s2sgrad.rules.table import bilinear, complex_of_real_numbers, flat, general, linear, of_complex_numbers
from s2sgrad.rules.windows import kaiser_slope, one_value
from s2sgrad.runtime import Refusal, over

convolutions.fftconvolve.also(signal.oaconvolve)

# --- in the plane ----------------------------------------------------------------------------------------------------

_PADDINGS = {"wrap": "wrap", "symm": "symmetric"}


def surrounded(x, k, boundary):
    """The widths and the mode of the padding with which `x` is met by `k`."""
    widths = [(n - 1, n - 1) for n in np.shape(k)]
    return (widths, "constant") if boundary == "fill" else (widths, _PADDINGS[boundary])


def unsurrounded(g, x, k, boundary):
    """The transpose of that padding."""
    widths, mode = surrounded(x, k, boundary)
    return untake(g, x, padded_places(x, widths, mode))


def ringed(x, k, boundary):
    """`x` with that padding."""
    widths, mode = surrounded(x, k, boundary)
    return np.take(x, padded_places(x, widths, mode))


def require_larger_first(x, k, mode):
    """Refuse what SciPy exchanges: in `valid` results of a padded plane, the smaller plane is the filter."""
    if mode == "valid" and np.any(np.less(np.shape(x), np.shape(k))):
        raise Refusal(None, "a convolution with mode='valid' and boundary= has a derivative where the first plane is the "
                            "larger one: exchange them")  # fmt: skip


flat(surrounded, require_larger_first)


@bilinear(signal.convolve2d)
def convolve2d(g, y, in1, in2, mode="full", boundary="fill", fillvalue=0):
    whole = completed(g, in1, in2, mode)
    if boundary == "fill":
        return signal.correlate2d(whole, in2, "valid"), signal.correlate2d(whole, in1, "valid")
    require_larger_first(in1, in2, mode)
    in1_bar = unsurrounded(signal.correlate2d(whole, in2), in1, in2, boundary)
    return in1_bar, np.flip(signal.correlate2d(ringed(in1, in2, boundary), whole, "valid"))


@bilinear(signal.correlate2d)
def correlate2d(g, y, in1, in2, mode="full", boundary="fill", fillvalue=0):
    whole = np.flip(completed(np.flip(g), in1, in2, mode))  # "same" leaves the larger half out at the other end
    if boundary == "fill":
        return signal.convolve2d(whole, in2, "valid"), np.flip(signal.correlate2d(whole, in1, "valid"))
    require_larger_first(in1, in2, mode)
    in1_bar = unsurrounded(signal.convolve2d(whole, in2), in1, in2, boundary)
    return in1_bar, signal.correlate2d(ringed(in1, in2, boundary), whole, "valid")


def filled_plainly(mode, boundary):
    """There is nothing around the plane, and the whole result is kept."""
    return all(k.known for k in (mode, boundary)) and (mode.value, boundary.value) == ("full", "fill")


@convolve2d.refined(filled_plainly)
def _(g, y, in1, in2, mode="full", boundary="fill", fillvalue=0):
    return signal.correlate2d(g, in2, "valid"), signal.correlate2d(g, in1, "valid")


@correlate2d.refined(filled_plainly)
def _(g, y, in1, in2, mode="full", boundary="fill", fillvalue=0):
    return signal.convolve2d(g, in2, "valid"), np.flip(signal.correlate2d(g, in1, "valid"))


@convolve2d.refined(lambda complex: complex)
def _(g, y, in1, in2, mode="full", boundary="fill", fillvalue=0):
    """The same without `correlate2d`, which conjugates."""
    whole, turned = completed(g, in1, in2, mode), np.flip(in2)
    if boundary == "fill":
        return signal.convolve2d(whole, turned, "valid"), signal.convolve2d(whole, np.flip(in1), "valid")
    require_larger_first(in1, in2, mode)
    in1_bar = unsurrounded(signal.convolve2d(whole, turned), in1, in2, boundary)
    return in1_bar, np.flip(signal.convolve2d(ringed(in1, in2, boundary), np.flip(whole), "valid"))


of_complex_numbers(signal.convolve2d)
for _rule in (convolve2d, correlate2d):
    _rule.refuse(
        lambda fillvalue: not (fillvalue.known and fillvalue.value == 0),
        "a convolution with `fillvalue` has no derivative rule: pad the plane by np.pad first",
    )

# --- windows ---------------------------------------------------------------------------------------------------------


def apart(M, sym):
    """How many steps there are between the ends of a window; none in one of a single point, which is 1.

    >>> apart(5, True), apart(5, False), apart(1, False)
    (4, 5, 0)
    """
    return M - 1 if sym or M <= 1 else M


def from_middle(M, sym):
    """The places of a window, counted from its middle."""
    return np.arange(M) - 0.5 * apart(M, sym)


def tapering(M, alpha, sym):
    """1 for the places in the tapers of Tukey's window, 0 between them, and how far each is from the nearer end."""
    steps = apart(M, sym)
    n = np.minimum(np.arange(M), steps - np.arange(M))
    return np.where(n <= int(alpha * steps / 2.0), 1.0, 0.0), n


flat(apart, from_middle, tapering)


@general(signal.windows.kaiser)
def kaiser(g, y, M, beta, sym=True):
    return None, np.reshape(np.sum(g * kaiser_slope(from_middle(M, sym), apart(M, sym), beta)), np.shape(beta))


def gaussian_slope(M, std, sym):
    """The slope in `std` of the logarithm of the window."""
    one_value(std)
    return from_middle(M, sym) ** 2 / std**3


@general(signal.windows.gaussian)
def gaussian(g, y, M, std, sym=True):
    return None, np.reshape(np.sum(g * y * gaussian_slope(M, std, sym)), np.shape(std))


def tukey_slope(M, alpha, sym):
    """The slope in `alpha` of the tapers `0.5 * (1 + cos(pi * (2 * n / (alpha * steps) - 1)))`."""
    if alpha <= 0 or alpha >= 1 or M <= 1:
        return np.zeros(M)
    part = tapering(M, alpha, sym)
    t = 2.0 * part[1] / (alpha * apart(M, sym))
    return part[0] * (0.5 * np.pi) * np.sin(np.pi * (t - 1.0)) * t / alpha


@general(signal.windows.tukey)
def tukey(g, y, M, alpha, sym=True):
    return None, np.reshape(np.sum(g * tukey_slope(M, alpha, sym)), np.shape(alpha))


# --- smoothing -------------------------------------------------------------------------------------------------------


def unsmoothed(g, x, window_length, polyorder, deriv, delta, axis, mode):
    """The cotangent of `x` in `signal.savgol_filter(x, ..)`.

    Inside it is a correlation; with "interp" the values near both ends are those of a polynomial fitted to the last
    `window_length` ones (Savitzky and Golay 1964), a matrix that the filter itself gives.
    """
    axis = axis % np.ndim(x)
    c = signal.savgol_coeffs(window_length, polyorder, deriv, delta).astype(g.dtype)
    kernel = np.flip(laid(c, x, axis))
    inner, half = g, window_length // 2
    if mode == "interp":
        inner = np.moveaxis(g.copy(), axis, -1)
        inner[..., :half] = inner[..., np.shape(g)[axis] - half :] = 0.0
        inner = np.moveaxis(inner, -1, axis)
    o = turned_origin(kernel, laid_origin(x, axis, 0))
    bar = np.array(uncorrelate(inner, x, kernel, "constant" if mode == "interp" else mode, o))
    if mode == "interp" and half:
        ends = signal.savgol_filter(np.eye(window_length, dtype=g.dtype), window_length, polyorder, deriv, delta, axis=0)
        bar, g = np.moveaxis(bar, axis, -1), np.moveaxis(g, axis, -1)
        bar[..., :window_length] += g[..., :half] @ ends[:half]
        bar[..., -window_length:] += g[..., -half:] @ ends[-half:]
        bar = np.moveaxis(bar, -1, axis)
    return bar


@linear(unsmoothed)
def _(w, y, g, x, window_length, polyorder, deriv, delta, axis, mode):
    return (
        signal.savgol_filter(w, window_length, polyorder, deriv, delta, axis, mode),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    )


@linear(signal.savgol_filter)
def savgol_filter(g, y, x, window_length=None, polyorder=None, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    return unsmoothed(g, x, window_length, polyorder, deriv, delta, axis, mode)


savgol_filter.adds("cval")

# --- responses -------------------------------------------------------------------------------------------------------


def delays(c, w, fs):
    """`exp(-1j * w * k)` for the frequencies and the coefficients."""
    if np.ndim(c) > 1:
        raise Refusal(None, "`signal.freqz` of several filters has no derivative rule; call it for each")
    return np.exp(-2j * np.pi / fs * np.multiply.outer(w, np.arange(np.size(c))))


flat(delays)


@general(signal.freqz)
def freqz(g, y, b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    bar = over(g[1], delays(a, y[0], fs) @ np.ravel(a))
    return np.reshape(bar @ delays(b, y[0], fs), np.shape(b))


@freqz.keyword("a")
def freqz_denominator(g, y, b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    waves = delays(a, y[0], fs)
    return np.reshape(-(g[1] * y[1] / (waves @ np.ravel(a))) @ waves, np.shape(a))


@freqz.forward()
def _(y, b, b_dot, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    dot = (delays(b, y[0], fs) @ np.ravel(b_dot)) / (delays(a, y[0], fs) @ np.ravel(a))
    return np.zeros_like(y[0]), dot


@freqz_denominator.forward()
def _(y, b, a_dot, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    waves = delays(a, y[0], fs)
    return np.zeros_like(y[0]), -y[1] * (waves @ np.ravel(a_dot)) / (waves @ np.ravel(a))


of_complex_numbers(signal.freqz)
complex_of_real_numbers(signal.freqz)
