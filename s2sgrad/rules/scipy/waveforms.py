"""Waves and windows of scipy.signal, each in the parameters of its formula.

    y = signal.chirp(t, f0, t1, f1)                   ->    cos(2 * pi * (f0 * t + (f1 - f0) / (2 * t1) * t ** 2))
    y = signal.windows.general_gaussian(n, p, s)      ->    exp(-abs(m / s) ** (2 * p) / 2),   m = -(n - 1) / 2 ..
    y = signal.windows.chebwin(n, a)                  ->    the transform of T(beta * cos(pi * k / n)), scaled to 1
    w = signal.peak_widths(x, peaks)[0]               ->    the places where lines between samples have half the height

(Harris, "On the use of windows for harmonic analysis", 1978; Carrara, Goodman and Majewski, "Spotlight Synthetic Aperture
Radar", 1995, for that of Taylor.)  Numbers of points are constants, and windows of nothing else are flat.
"""

from __future__ import annotations

import numpy as np
from scipy import signal
from scipy.signal import windows

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import existing, flat, general, rule_of
from s2sgrad.runtime import Refusal

flat(
    *existing(windows, "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine", "flattop",
              "hamming", "hann", "lanczos", "nuttall", "parzen", "triang")
)  # fmt: skip
flat(signal.square, signal.find_peaks_cwt)


@general(signal.correlation_lags)
def correlation_lags(g, y, in1_len, in2_len, mode="full"):
    return None, None


correlation_lags.constant("in1_len")
correlation_lags.constant("in2_len")

# --- waves -----------------------------------------------------------------------------------------------------------


def method_of(method):
    """The first letters of a method."""
    short = {"lin": "linear", "li": "linear", "quad": "quadratic", "q": "quadratic", "log": "logarithmic", "lo":
             "logarithmic", "hyp": "hyperbolic"}  # fmt: skip
    return short.get(method, method)


def nonlinear(f0, f1):
    """Raise Refusal for a hyperbolic chirp of one frequency."""
    if f0 == f1:
        raise Refusal(None, "`signal.chirp` has no derivative rule for a logarithmic or hyperbolic chirp of one frequency")
    return True


flat(method_of, nonlinear)


def angle_of(t, f0, t1, f1, method, vertex_zero):
    """The angle of a chirp."""
    kind = method_of(method)
    if kind == "linear":
        return 2.0 * np.pi * (f0 * t + 0.5 * ((f1 - f0) / t1) * t * t)
    if kind == "quadratic":
        bend = (f1 - f0) / t1**2
        if vertex_zero:
            return 2.0 * np.pi * (f0 * t + bend * t**3 / 3.0)
        return 2.0 * np.pi * (f1 * t + bend * ((t1 - t) ** 3 - t1**3) / 3.0)
    nonlinear(f0, f1)
    if kind == "logarithmic":
        rate = t1 / np.log(f1 / f0)
        return 2.0 * np.pi * rate * f0 * ((f1 / f0) ** (t / t1) - 1.0)
    pole = -f1 * t1 / (f0 - f1)
    return 2.0 * np.pi * (-pole * f0) * np.log(np.abs(1.0 - t / pole))


@restates(signal.chirp, moving=("phi",))
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True):
    return np.cos(angle_of(np.asarray(t), f0, t1, f1, method, vertex_zero) + np.deg2rad(phi))


def is_time(t):
    """Raise Refusal for a text in the place of times."""
    if isinstance(t, str):
        raise Refusal(None, "`signal.gausspulse` of 'cutoff' has no derivative rule: pass times")
    return True


flat(is_time)


@restates(signal.gausspulse, moving=("fc", "bw", "bwr"))
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    is_time(t)
    t = np.asarray(t)
    a = -((np.pi * fc * bw) ** 2) / (4.0 * (bwr / 20.0 * np.log(10.0)))
    envelope, angle = np.exp(-a * t * t), 2.0 * np.pi * fc * t
    if retquad and retenv:
        return envelope * np.cos(angle), envelope * np.sin(angle), envelope
    if retquad:
        return envelope * np.cos(angle), envelope * np.sin(angle)
    if retenv:
        return envelope * np.cos(angle), envelope
    return envelope * np.cos(angle)


def rises(t, width):
    """Where a saw tooth rises."""
    return np.mod(t, 2.0 * np.pi) < 2.0 * np.pi * np.asarray(width)


flat(rises)


@restates(signal.sawtooth, moving=("width",))
def sawtooth(t, width=1):
    up = rises(t, width)
    inside = np.mod(t, 2.0 * np.pi)
    rising, falling = np.where(up, width, 1.0), np.where(up, 0.0, width)
    down = (np.pi * (falling + 1.0) - inside) / (np.pi * (1.0 - falling))
    return np.where(up, inside / (np.pi * rising) - 1.0, down)


@restates(signal.sweep_poly, constant=("poly",), moving=("phi",))
def sweep_poly(t, poly, phi=0):
    return np.cos(2.0 * np.pi * np.polyval(integral(poly), t) + np.deg2rad(phi))


def integral(poly):
    """The coefficients of the integral of the frequency."""
    return np.polyint(np.asarray(poly))


flat(integral)

# --- windows ---------------------------------------------------------------------------------------------------------


def is_short(M):
    """Whether a window has one point at most, which is 1."""
    return M <= 1


def longer(M, sym):
    """How many points a window has before the last one is left out, for one that is periodic."""
    return M if sym else M + 1


flat(is_short, longer)


@restates(windows.general_gaussian, constant=("M",))
def general_gaussian(M, p, sig, sym=True):
    n = longer(M, sym)
    if is_short(M):
        return np.ones(M)
    return np.exp(-0.5 * np.abs((np.arange(n) - 0.5 * (n - 1)) / sig) ** (2 * p))[:M]


@restates(windows.general_cosine, constant=("M",))
def general_cosine(M, a, sym=True):
    if is_short(M):
        return np.ones(M)
    a, angle = np.asarray(a), np.linspace(-np.pi, np.pi, longer(M, sym))
    return (np.cos(angle[:, None] * np.arange(np.size(a))) @ a)[:M]


@restates(windows.general_hamming, constant=("M",))
def general_hamming(M, alpha, sym=True):
    if is_short(M):
        return np.ones(M)
    return (alpha + (1.0 - alpha) * np.cos(np.linspace(-np.pi, np.pi, longer(M, sym))))[:M]


@restates(windows.exponential, constant=("M",), moving=("center", "tau"))
def exponential(M, center=None, tau=1.0, sym=True):
    n = longer(M, sym)
    if is_short(M):
        return np.ones(M)
    middle = 0.5 * (n - 1) if center is None else center
    return np.exp(-np.abs(np.arange(n) - middle) / tau)[:M]


@restates(windows.kaiser_bessel_derived, constant=("M",))
def kaiser_bessel_derived(M, beta, sym=True):
    sums = np.cumsum(windows.kaiser(M // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate((half, np.flip(half)))


def turned(M, n):
    """The weights that take the values of a Chebyshev polynomial to a window, which is symmetric."""
    shift = np.exp(1j * np.pi / n * np.arange(n)) if n % 2 == 0 else np.ones(n)
    whole = np.real(np.fft.fft(np.diag(shift), axis=0))
    places = np.concatenate((np.arange((n + 1) // 2 - 1, 0, -1), np.arange((n + 1) // 2)))
    if n % 2 == 0:
        places = np.concatenate((np.arange(n // 2, 0, -1), np.arange(1, n // 2 + 1)))
    return whole[places]


flat(turned)


@restates(windows.chebwin, constant=("M",))
def chebwin(M, at, sym=True):
    n = longer(M, sym)
    if is_short(M):
        return np.ones(M)
    x = np.cosh(np.arccosh(10.0 ** (np.abs(at) / 20.0)) / (n - 1)) * np.cos(np.pi * np.arange(n) / n)
    w = turned(M, n) @ np.real(np.cosh((n - 1) * np.arccosh(x + 0j)))
    return (w / np.max(w))[:M]


@restates(windows.taylor, constant=("M",), moving=("sll",))
def taylor(M, nbar=4, sll=30, norm=True, sym=True):
    n = longer(M, sym)
    if is_short(M):
        return np.ones(M)
    square = (np.arccosh(10.0 ** (sll / 20.0)) / np.pi) ** 2
    k = np.arange(1, nbar)
    spread = nbar**2 / (square + (nbar - 0.5) ** 2)
    products = 1.0 - (k * k)[:, None] / spread / (square + (k - 0.5) ** 2)
    f = signs_of(nbar) * np.prod(products, axis=1)
    w = 1.0 + 2.0 * cosines(n, nbar) @ f
    if norm:
        w = w / (1.0 + 2.0 * middle_cosines(n, nbar) @ f)
    return w[:M]


def signs_of(nbar):
    """The signs of the terms of Taylor's window, over their denominators."""
    k = np.arange(1, nbar)
    others = [2.0 * np.prod(1.0 - m * m / np.delete(k, m - 1) ** 2.0) for m in k]
    return np.where(k % 2 == 1, 1.0, -1.0) / np.array(others)


def cosines(n, nbar):
    """The cosines in Taylor's window."""
    return np.cos(2.0 * np.pi * np.arange(1, nbar) * (np.arange(n)[:, None] - n / 2.0 + 0.5) / n)


def middle_cosines(n, nbar):
    """The same in the middle."""
    return np.cos(2.0 * np.pi * np.arange(1, nbar) * ((n - 1) / 2.0 - n / 2.0 + 0.5) / n)


flat(signs_of, cosines, middle_cosines)


def name_of(window):
    """The name of a window; "" for one that has numbers of its own that may carry a derivative and no rule."""
    if isinstance(window, (str, float, int, np.number)):
        return "" if isinstance(window, str) else "kaiser"
    known = {"kaiser": "kaiser", "ksr": "kaiser", "gaussian": "gaussian", "gauss": "gaussian", "gss": "gaussian",
             "general_gaussian": "general_gaussian", "general gaussian": "general_gaussian", "tukey": "tukey",
             "general_hamming": "general_hamming", "chebwin": "chebwin", "cheb": "chebwin",
             "kaiser_bessel_derived": "kaiser_bessel_derived"}  # fmt: skip
    if window[0] not in known:
        raise Refusal(None, f"`signal.get_window` has no derivative rule for {window[0]!r}: call the window by its name")
    return known[window[0]]


def parameter(window):
    """The first number of a window that is a tuple, or the number itself."""
    return window[1] if isinstance(window, (tuple, list)) else window


def constant_window(window, Nx, fftbins):
    """A window without parameters."""
    return windows.get_window(window, Nx, fftbins)


flat(name_of, constant_window)


@restates(windows.get_window, *existing(signal, "get_window"), constant=("Nx",), tuples=("window",))
def get_window(window, Nx, fftbins=True):
    name = name_of(window)
    if is_short(Nx):
        return np.ones(Nx)
    if name == "kaiser":
        return windows.kaiser(Nx, parameter(window), not fftbins)
    if name == "gaussian":
        return windows.gaussian(Nx, window[1], not fftbins)
    if name == "tukey":
        return windows.tukey(Nx, window[1], not fftbins)
    if name == "general_gaussian":
        return general_gaussian(Nx, window[1], window[2], not fftbins)
    if name == "general_hamming":
        return general_hamming(Nx, window[1], not fftbins)
    if name == "chebwin":
        return chebwin(Nx, window[1], not fftbins)
    if name == "kaiser_bessel_derived":
        return kaiser_bessel_derived(Nx, window[1], not fftbins)
    return constant_window(window, Nx, fftbins)


# --- of events -------------------------------------------------------------------------------------------------------


@restates(signal.vectorstrength)
def vectorstrength(events, period):
    angles = 2.0 * np.pi * np.asarray(events) / np.reshape(period, (-1, 1))
    c, s = np.mean(np.cos(angles), axis=1), np.mean(np.sin(angles), axis=1)
    strength, phase = np.hypot(c, s), np.arctan2(s, c)
    return (strength[0], phase[0]) if np.ndim(period) == 0 else (strength, phase)


@restates(signal.lombscargle, moving=("weights",))
def lombscargle(x, y, freqs, precenter=None, normalize=False, weights=None, floating_mean=False):
    power_alone(precenter, normalize)
    x, y, f = np.asarray(x)[:, None], 1.0 * np.asarray(y)[:, None], np.asarray(freqs)[None, :]
    w = np.ones(np.shape(x)) if weights is None else np.asarray(weights)[:, None]
    w = w / np.sum(w)
    c, s = np.cos(f * x), np.sin(f * x)
    if floating_mean:
        c, s, y = c - np.sum(w * c, axis=0), s - np.sum(w * s, axis=0), y - np.sum(w * y)
    cc, ss, cs = np.sum(w * c * c, axis=0), np.sum(w * s * s, axis=0), np.sum(w * c * s, axis=0)
    yc, ys = np.sum(w * y * c, axis=0), np.sum(w * y * s, axis=0)
    power = 2.0 * (yc * yc * ss - 2.0 * yc * ys * cs + ys * ys * cc) / (cc * ss - cs * cs)
    if normalize == "normalize" or normalize is True:
        return np.squeeze(power * 0.5 / np.sum(w * y * y))
    return np.squeeze(power * (np.size(x) / 4.0))


def power_alone(precenter, normalize):
    """Raise Refusal for amplitudes, and for centring."""
    if (precenter is not None and precenter is not _UNSAID) or normalize == "amplitude":
        raise Refusal(None, "`signal.lombscargle` has a derivative rule for powers: centre the samples before")
    return True


_UNSAID = getattr(signal.lombscargle, "__kwdefaults__", None) and signal.lombscargle.__kwdefaults__.get("precenter")
flat(power_alone)


def prominence_bases(x, peaks, wlen):
    """The places of the higher one of the two bases of each peak."""
    _, left, right = signal.peak_prominences(x, peaks, wlen)
    return np.where(np.asarray(x)[left] > np.asarray(x)[right], left, right)


flat(prominence_bases)


@restates(signal.peak_prominences, constant=("peaks",), counts=True)
def peak_prominences(x, peaks, wlen=None):
    _, left, right = of_places(x, peaks, wlen)
    return np.take(x, peaks) - np.take(x, prominence_bases(x, peaks, wlen)), left, right


def of_places(x, peaks, wlen):
    """SciPy's result, as numbers."""
    return signal.peak_prominences(x, peaks, wlen)


flat(of_places)


def contours(x, peaks, rel_height, wlen):
    """For each peak the higher one of its bases, and for both sides where its contour line ends.

    That are the last sample on the way down, the one above it, and whether the line crosses between these two.
    """
    x, base = np.asarray(x), prominence_bases(x, peaks, wlen)
    _, *bases = signal.peak_prominences(x, peaks, wlen)
    heights, sides = x[peaks] - (x[peaks] - x[base]) * rel_height, []
    for step, ends in zip((-1, 1), bases, strict=True):
        last = np.array(peaks)
        for k in range(len(last)):
            while step * last[k] < step * ends[k] and heights[k] < x[last[k]]:
                last[k] += step
        crossed = x[last] < heights
        sides.append((last, np.where(crossed, last - step, last), crossed))
    return base, sides[0], sides[1]


flat(contours)


def crossing(x, heights, last, above, crossed):
    """The place where a line through two samples has this height, or the sample at which the way down ends."""
    low, slope = np.take(x, last), np.where(crossed, np.take(x, above) - np.take(x, last), 1.0)
    return last + (above - last) * np.where(crossed, heights - low, 0.0) / slope


@restates(signal.peak_widths, constant=("peaks",), moving=("rel_height",))
def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None):
    base, left, right = contours(x, peaks, rel_height, wlen)
    tops = np.take(x, peaks)
    heights = tops - (tops - np.take(x, base)) * rel_height
    start, end = crossing(x, heights, left[0], left[1], left[2]), crossing(x, heights, right[0], right[1], right[2])
    return end - start, heights, start, end


rule_of(signal.peak_widths).refuse(
    lambda prominence_data: not (prominence_data.known and prominence_data.value is None),
    "`signal.peak_widths` with `prominence_data` has no derivative rule: leave it out",
)


def peaks_of(x, height, threshold, distance, prominence, wlen, plateau_size):
    """SciPy's peaks and their properties, as numbers; beside each peak the higher one of its bases."""
    peaks, known = signal.find_peaks(x, height, threshold, distance, prominence, None, wlen, 0.5, plateau_size)
    bases = peaks
    if "left_bases" in known:
        left, right = known["left_bases"], known["right_bases"]
        bases = np.where(np.asarray(x)[left] > np.asarray(x)[right], left, right)
    return peaks, known, bases


flat(peaks_of)


@restates(signal.find_peaks, counts=True)
def find_peaks(
    x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5,
    plateau_size=None,
):  # fmt: skip
    peaks, known, bases = peaks_of(x, height, threshold, distance, prominence, wlen, plateau_size)
    found = dict(known)
    if height is not None:
        found["peak_heights"] = np.take(x, peaks)
    if threshold is not None:
        found["left_thresholds"] = np.take(x, peaks) - np.take(x, peaks - 1)
        found["right_thresholds"] = np.take(x, peaks) - np.take(x, peaks + 1)
    if prominence is not None:
        found["prominences"] = np.take(x, peaks) - np.take(x, bases)
    return peaks, found


rule_of(signal.find_peaks).refuse(
    lambda width: not (width.known and width.value is None),
    "`signal.find_peaks` with `width` has no derivative rule: leave it out",
)
