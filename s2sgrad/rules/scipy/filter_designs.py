"""Designs of filters: `butter` and its kin in their cutoff frequencies, notches, `gammatone`, `firwin`, `firls`.

    b, a = signal.butter(N, w)      ->      zeros and poles of the prototype, moved to 4 * tan(pi * w / 2), made digital
    b, a = signal.iirnotch(w, Q)    ->      c = tan(pi * w / (2 * Q)); b = (1, -2 * cos(pi * w), 1) / (1 + c)
    b, a = signal.gammatone(f, ..)  ->      t ** (n - 1) * exp(-v * t) * cos(2 * pi * f * t), of the band v of the ear at f
    h = signal.firwin(n, w)         ->      w * sinc(w * m) * window / sum

(Oppenheim and Schafer, "Discrete-Time Signal Processing", chapter 7 and appendix B; Orfanidis, "Introduction to Signal
Processing", 11.3 and 11.4; Selesnick, "Linear-Phase FIR Filter Design by Least Squares".  Of the ear: Slaney, "An Efficient
Implementation of the Patterson-Holdsworth Auditory Filter Bank", 1993.)  Orders are constants, and so are
the ripples of an elliptic filter.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.scipy.filter_forms import zpk2sos, zpk2tf
from s2sgrad.rules.scipy.filter_maps import bilinear_zpk, lp2bp_zpk, lp2bs_zpk, lp2hp_zpk, lp2lp_zpk
from s2sgrad.rules.table import complex_of_real_numbers, existing, flat, general, rule_of
from s2sgrad.runtime import Refusal

flat(signal.buttap, signal.besselap)

# --- prototypes ------------------------------------------------------------------------------------------------------


def band_of(btype):
    """The full name of a type of bands."""
    word = btype.lower()
    known = {"band": "bandpass", "pass": "bandpass", "bp": "bandpass", "bandpass": "bandpass", "bandstop": "bandstop",
             "bands": "bandstop", "bs": "bandstop", "stop": "bandstop"}  # fmt: skip
    return known.get(word, "highpass" if word[0] == "h" else "lowpass")


def elliptic(N, rp, rs):
    """The prototype of an elliptic filter, as numbers."""
    return signal.ellipap(N, rp, rs)


def all_angles(N):
    """The angles of the poles."""
    return np.pi * np.arange(-N + 1, N, 2) / (2.0 * N)


def angles_of_zeros(N):
    """The angles of the zeros: those of the poles but 0."""
    angles = all_angles(N)
    return angles[np.arange(-N + 1, N, 2) != 0]


def some(N):
    """Raise Refusal for a filter of order 0."""
    if N == 0:
        raise Refusal(None, "a filter of order 0 has no derivative rule: it is a gain")
    return True


flat(band_of, elliptic, all_angles, angles_of_zeros, some)


@restates(signal.cheb1ap, constant=("N",), complex=True)
def cheb1ap(N, rp):
    some(N)
    ripple = np.sqrt(10.0 ** (0.1 * rp) - 1.0)
    p = -np.sinh(np.arcsinh(1.0 / ripple) / N + 1j * all_angles(N))
    k = np.real(np.prod(-p))
    return np.zeros(0), p, (k / np.sqrt(1.0 + ripple * ripple) if N % 2 == 0 else k)


@restates(signal.cheb2ap, constant=("N",), complex=True)
def cheb2ap(N, rs):
    some(N)
    mu = np.arcsinh(np.sqrt(10.0 ** (0.1 * rs) - 1.0)) / N
    z, p = 1j / np.sin(angles_of_zeros(N)), -1.0 / np.sinh(mu + 1j * all_angles(N))
    return z, p, np.real(np.prod(-p) / np.prod(-z))


complex_of_real_numbers(signal.cheb1ap, signal.cheb2ap)

# --- filters with feedback -------------------------------------------------------------------------------------------


def moved(z, p, k, Wn, btype, analog, fs):
    """The zeros, poles and gain of a prototype at these frequencies."""
    w = np.atleast_1d(Wn) * (1.0 if fs is None else 2.0 / fs)
    w = w if analog else 4.0 * np.tan(np.pi * w / 2.0)
    band = band_of(btype)
    if band == "lowpass":
        z, p, k = lp2lp_zpk(z, p, k, w[0])
    elif band == "highpass":
        z, p, k = lp2hp_zpk(z, p, k, w[0])
    elif band == "bandpass":
        z, p, k = lp2bp_zpk(z, p, k, np.sqrt(w[0] * w[1]), w[1] - w[0])
    else:
        z, p, k = lp2bs_zpk(z, p, k, np.sqrt(w[0] * w[1]), w[1] - w[0])
    if not analog:
        z, p, k = bilinear_zpk(z, p, k, 2.0)
    return z, p, k


def given_as(z, p, k, analog, output):
    """A filter in the form that is asked for."""
    if output == "sos":
        return zpk2sos(z, p, k, None, analog)
    b, a = zpk2tf(z, p, k)
    return np.real(b), np.real(a)


@restates(signal.butter, constant=("N",), moving=("fs",))
def butter(N, Wn, btype="low", analog=False, output="ba", fs=None):
    z, p, k = signal.buttap(N)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


@restates(signal.bessel, constant=("N",), moving=("fs",))
def bessel(N, Wn, btype="low", analog=False, output="ba", norm="phase", fs=None):
    z, p, k = signal.besselap(N, norm)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


@restates(signal.cheby1, constant=("N",), moving=("fs",))
def cheby1(N, rp, Wn, btype="low", analog=False, output="ba", fs=None):
    z, p, k = cheb1ap(N, rp)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


@restates(signal.cheby2, constant=("N",), moving=("fs",))
def cheby2(N, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    z, p, k = cheb2ap(N, rs)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


@restates(signal.ellip, constant=("N", "rp", "rs"), moving=("fs",))
def ellip(N, rp, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    z, p, k = elliptic(N, rp, rs)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


def prototype(N, rp, rs, ftype):
    """The prototype of a filter whose ripples are constants, as numbers."""
    names = {"cheby1": "cheb1ap", "cheby2": "cheb2ap", "butter": "buttap", "bessel": "besselap", "ellip": "ellipap"}
    names |= {"butterworth": "buttap", "chebyshev1": "cheb1ap", "chebyshev2": "cheb2ap", "cauer": "ellipap",
              "elliptic": "ellipap", "chebyshevi": "cheb1ap", "chebyshevii": "cheb2ap"}  # fmt: skip
    name = names.get(ftype.lower())
    if name is None:
        raise Refusal(None, f"`signal.iirfilter` has no derivative rule for ftype={ftype!r}: call the function of its name")
    ripples = {"cheb1ap": (rp,), "cheb2ap": (rs,), "ellipap": (rp, rs)}
    return getattr(signal, name)(N, *ripples.get(name, ()))


flat(prototype)


@restates(signal.iirfilter, constant=("N",), moving=("fs",))
def iirfilter(N, Wn, rp=None, rs=None, btype="band", analog=False, ftype="butter", output="ba", fs=None):
    z, p, k = prototype(N, rp, rs, ftype)
    z, p, k = moved(z, p, k, Wn, btype, analog, fs)
    return given_as(z, p, k, analog, output)


for _design in (signal.butter, signal.bessel, signal.cheby1, signal.cheby2, signal.ellip, signal.iirfilter):
    rule_of(_design).refuse(
        lambda output: not output.known or output.value == "zpk",
        f"`signal.{_design.__name__}` has a derivative rule for output='ba' and 'sos': call signal.tf2zpk of the first",
    )


# --- notches and combs -----------------------------------------------------------------------------------------------


@restates(signal.iirnotch, moving=("fs",))
def iirnotch(w0, Q, fs=2.0):
    w = 2.0 * np.pi * w0 / fs
    gain = 1.0 / (1.0 + np.tan(0.5 * w / Q))
    c = -2.0 * np.cos(w)
    return gain * np.array([1.0, c, 1.0]), np.array([1.0, gain * c, 2.0 * gain - 1.0])


@restates(signal.iirpeak, moving=("fs",))
def iirpeak(w0, Q, fs=2.0):
    w = 2.0 * np.pi * w0 / fs
    gain = 1.0 / (1.0 + np.tan(0.5 * w / Q))
    return (1.0 - gain) * np.array([1.0, 0.0, -1.0]), np.array([1.0, -2.0 * gain * np.cos(w), 2.0 * gain - 1.0])


def count_of(w0, fs):
    """How many teeth a comb has, which divide the rate."""
    return round(fs / w0)


flat(count_of)


@restates(signal.iircomb, constant=("w0",))
def iircomb(w0, Q, ftype="notch", fs=2.0, pass_zero=False):
    n, peak = count_of(w0, fs), ftype.lower() == "peak"
    beta = np.tan(0.5 * n * np.pi * w0 / (fs * Q))
    sign = -1.0 if peak == bool(pass_zero) else 1.0
    inner = np.zeros(n - 1)
    top = beta if peak else 1.0
    b = np.concatenate((np.atleast_1d(top), inner, np.atleast_1d(-sign * top if peak else sign * top))) / (1.0 + beta)
    return b, np.concatenate((np.ones(1), inner, np.atleast_1d(sign * (1.0 - beta) / (1.0 + beta))))


# --- of the ear ------------------------------------------------------------------------------------------------------


def times_of(numtaps, fs):
    """The numbers of the samples of a filter."""
    return np.arange(max(int(fs * 0.015), 15) if numtaps is None else numtaps)


def factorial_below(order):
    """(order - 1)!"""
    return float(np.prod(np.arange(1, order)))


flat(times_of, factorial_below)


@restates(signal.gammatone, constant=("ftype",), moving=("fs",))
def gammatone(freq, ftype, order=None, numtaps=None, fs=None):
    rate = 2.0 if fs is None else fs
    width = 2.0 * np.pi * 1.019 * (freq / 9.26449 + 24.7)  # of an equivalent rectangular band (Glasberg and Moore, 1990)
    if ftype.lower() == "fir":
        n, t = 4 if order is None else order, times_of(numtaps, rate) / rate
        scale = 2.0 * width**n / factorial_below(n) / rate
        return scale * t ** (n - 1) * np.exp(-width * t) * np.cos(2.0 * np.pi * freq * t), np.ones(1)
    angle, q, T = 2.0 * np.pi * freq / rate, np.exp(-width / rate), 1.0 / rate
    turned, c, s = np.exp(2j * angle), np.cos(angle), np.sin(angle)
    g1, g2 = -2.0 * T * turned, 2.0 * T * q * np.exp(1j * angle)
    high, low = np.sqrt(3.0 + 2.0**1.5) * s, np.sqrt(3.0 - 2.0**1.5) * s
    g = (g1 + g2 * (c - low)) * (g1 + g2 * (c + low)) * (g1 + g2 * (c - high)) * (g1 + g2 * (c + high))
    gain = np.abs(g / (-2.0 * q * q - 2.0 * turned + 2.0 * (1.0 + turned) * q) ** 4)
    c2, c3, c4 = np.cos(2.0 * angle), np.cos(3.0 * angle), np.cos(4.0 * angle)
    b = np.stack((1.0 + 0.0 * c, -4.0 * c * q, 6.0 * c2 * q**2, -4.0 * c3 * q**3, c4 * q**4)) * T**4 / gain
    a = np.stack((
        1.0 + 0.0 * c, -8.0 * c * q, 4.0 * (4.0 + 3.0 * c2) * q**2, -8.0 * (6.0 * c + c3) * q**3,
        2.0 * (18.0 + 16.0 * c2 + c4) * q**4, -8.0 * (6.0 * c + c3) * q**5, 4.0 * (4.0 + 3.0 * c2) * q**6, -8.0 * c * q**7,
        q**8,
    ))  # fmt: skip
    return b, a


# --- filters without feedback ----------------------------------------------------------------------------------------


def passes_zero(pass_zero):
    """Whether a constant is let through."""
    return bool(pass_zero) if not isinstance(pass_zero, str) else pass_zero in ("bandstop", "lowpass")


def window_of(window, n):
    """The window as numbers."""
    return signal.get_window(window, n, fftbins=False)


flat(passes_zero, window_of)


@restates(signal.firwin, constant=("numtaps",), moving=("width", "fs"))
def firwin(numtaps, cutoff, width=None, window="hamming", pass_zero=True, scale=True, fs=None):
    half = 1.0 if fs is None else 0.5 * fs
    w, low = np.atleast_1d(cutoff) / half, passes_zero(pass_zero)
    high = (np.size(w) % 2 == 0) == low
    w = np.concatenate((np.zeros(1 if low else 0), w, np.ones(1 if high else 0)))
    m, h = np.arange(numtaps) - 0.5 * (numtaps - 1), np.zeros(numtaps)
    for k in range(0, np.size(w), 2):
        h = h + w[k + 1] * np.sinc(w[k + 1] * m) - w[k] * np.sinc(w[k] * m)
    if width is None:
        h = h * window_of(window, numtaps)
    else:
        h = h * signal.windows.kaiser(numtaps, kaiser_beta(kaiser_atten(numtaps, width / half)))
    if scale:
        middle = 0.0 if low else 1.0 if high and np.size(w) == 2 else 0.5 * (w[0] + w[1])
        h = h / np.sum(h * np.cos(np.pi * m * middle))
    return h


def rings(rows, columns, n):
    """How far each place of a plane is from its middle, and the distances at which a filter of `n` numbers stands."""
    x, y = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns))
    return np.sqrt(x**2 + y**2), np.linspace(0, 1, n)


flat(rings)


@restates(*existing(signal, "firwin_2d"), constant=("hsize", "window"), moving=("fc", "fs"))
def firwin_2d(hsize, window, fc=None, fs=2, circular=False, pass_zero=True, scale=True):
    if circular:
        n = 8 * max(hsize[0], hsize[1])
        r, places = rings(hsize[0], hsize[1], n)
        return np.interp(r, places, firwin(n, fc, None, window, True, True, fs))
    rows = firwin(hsize[0], fc, None, window[0], True, True, fs)
    return np.outer(rows, firwin(hsize[1], fc, None, window[1], True, True, fs))


def grid_of(numtaps, nfreqs):
    """How many frequencies the response is interpolated at."""
    return 1 + 2 ** int(np.ceil(np.log2(numtaps))) if nfreqs is None else nfreqs


def distinct(freq, antisymmetric):
    """Raise Refusal for frequencies that stand twice, and for antisymmetric filters."""
    if np.any(np.diff(freq) <= 0.0) or antisymmetric:
        raise Refusal(None, "`signal.firwin2` has a derivative rule for symmetric filters, with each frequency once")
    return True


flat(grid_of, distinct)


@restates(signal.firwin2, constant=("numtaps", "freq"))
def firwin2(numtaps, freq, gain, nfreqs=None, window="hamming", antisymmetric=False, fs=None):
    distinct(freq, antisymmetric)
    half, n = (1.0 if fs is None else 0.5 * fs), grid_of(numtaps, nfreqs)
    x = np.linspace(0.0, half, n)
    shift = np.exp(-0.5j * (numtaps - 1) * np.pi * x / half)
    out = np.fft.irfft(np.interp(x, np.asarray(freq), np.asarray(gain)) * shift)
    return out[:numtaps] * window_of(window, numtaps)


@restates(signal.firls, constant=("numtaps", "bands"), moving=("weight",))
def firls(numtaps, bands, desired, weight=None, fs=None):
    ends = np.reshape(np.ravel(bands) / (1.0 if fs is None else 0.5 * fs), (-1, 2))
    levels, m = np.reshape(np.ravel(desired), (-1, 2)), (numtaps - 1) // 2
    weights = np.ones(np.shape(ends)[0]) if weight is None else np.ravel(weight)
    n = np.arange(numtaps)[:, None, None]
    q = np.diff(np.sinc(ends * n) * ends, axis=2)[:, :, 0] @ weights
    slope = np.diff(levels, axis=1) / np.diff(ends, axis=1)
    start, n = levels[:, :1] - ends[:, :1] * slope, n[: m + 1]
    b = ends * (slope * ends + start) * np.sinc(ends * n)
    first = -0.5 * slope * ends * ends
    rest = slope * np.cos(n[1:] * np.pi * ends) / (np.pi * n[1:]) ** 2
    b = np.diff(b + np.concatenate((first[None], rest)), axis=2)[:, :, 0] @ weights
    a = np.linalg.solve(linalg.toeplitz(q[: m + 1]) + linalg.hankel(q[: m + 1], q[m:]), b)
    return np.concatenate((np.flip(a[1:]), 2.0 * a[:1], a[1:]))


# --- Kaiser's formulas, and splines ----------------------------------------------------------------------------------


@restates(signal.kaiser_beta)
def kaiser_beta(a):
    if a > 50:
        return 0.1102 * (a - 8.7)
    if a > 21:
        return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21)
    return 0.0 * a


@restates(signal.kaiser_atten)
def kaiser_atten(numtaps, width):
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


def beta_slope(a):
    """The slope of `kaiser_beta`."""
    if a > 50:
        return 0.1102
    if a > 21:
        return 0.5842 * 0.4 * (a - 21) ** -0.6 + 0.07886
    return 0.0


@general(signal.kaiserord)
def kaiserord(g, y, ripple, width):
    return g[1] * np.sign(ripple) * beta_slope(np.abs(ripple)), 0.0 * width


@restates(signal.gauss_spline)
def gauss_spline(x, n):
    square = (n + 1) / 12.0
    return 1.0 / np.sqrt(2.0 * np.pi * square) * np.exp(-(np.asarray(x) ** 2) / 2.0 / square)


@restates(signal.savgol_coeffs, constant=("window_length", "polyorder"), moving=("delta",))
def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use="conv"):
    return unit_coefficients(window_length, polyorder, deriv, pos, use) / delta**deriv


def unit_coefficients(window_length, polyorder, deriv, pos, use):
    """The coefficients for a distance of 1."""
    return signal.savgol_coeffs(window_length, polyorder, deriv, 1.0, pos, use)


flat(unit_coefficients)
