"""Rules of scipy.signal's transforms in time and frequency: stft, istft, welch, csd, periodogram, spectrogram, hilbert.

    f, t, Z = signal.stft(x)      ->      x_bar = unstft(Z_bar, x, ..)           each segment transformed back, all added up
    f, P = signal.csd(x, y)       ->      X_bar = np.conj(P_bar * Y)             of the segments P = mean(conj(X) * Y)

Windows, lengths and rates are constants.  A transform is its own transpose, and so is the removal of a trend.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.fourier import fitted_to, half_spectrum
from s2sgrad.rules.scipy.signal_filters import both, unextended
from s2sgrad.rules.table import complex_of_real_numbers, flat, general, linear, may_turn_complex, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- segments --------------------------------------------------------------------------------------------------------


def segment_window(window, nperseg, x, axis, default=256):
    """The window as numbers, one for each sample of a segment."""
    if not isinstance(window, (str, tuple)):
        return np.asarray(window)
    n = np.shape(x)[axis]
    return signal.get_window(window, min(default if nperseg is None else int(nperseg), n))


def _scale(window, fs, scaling):
    return 1.0 / np.sum(window) if scaling == "spectrum" else 1.0 / np.sqrt(fs * np.sum(window * window))


def _steps(window, noverlap):
    return len(window) - (len(window) // 2 if noverlap is None else int(noverlap))


def _apart(axis):
    """Where the frequencies are, beside a last axis for the segments."""
    return axis - 1 if axis < 0 else axis


def unstft(g, x, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling):
    """The cotangent of `x` in the third result of `signal.stft`."""
    window = segment_window(window, nperseg, x, axis).astype(g.real.dtype)
    size, step = len(window), _steps(window, noverlap)
    edge = size // 2 if boundary is not None else 0
    g = np.moveaxis(g, _apart(axis), -1)
    one_side = onesided and not np.iscomplexobj(x)
    n = size if nfft is None else nfft
    g = np.fft.fft(g, n)[..., :size] if one_side else np.fft.fft(g)[..., :size]
    g = (g if np.iscomplexobj(x) else g.real) * (window * _scale(window, fs, scaling)).astype(g.real.dtype)
    if detrend:
        g = signal.detrend(g, type=detrend)
    whole = np.zeros((*np.shape(g)[:-2], max(step * (np.shape(g)[-2] - 1) + size, np.shape(x)[axis] + 2 * edge)), g.dtype)
    for k in range(np.shape(g)[-2]):
        whole[..., k * step : k * step + size] += g[..., k, :]
    whole = np.moveaxis(whole[..., : np.shape(x)[axis] + 2 * edge], -1, axis)
    if boundary == "zeros":
        return np.take(whole, np.arange(edge, edge + np.shape(x)[axis]), axis)
    return unextended(whole, x, edge, boundary, axis)


@linear(unstft)
def back_stft(w, y, g, x, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling):
    spectrum = segments(w, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling)
    return spectrum, None, None, None, None, None, None, None, None, None, None, None, None


def segments(x, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling):
    """The third result of `signal.stft`."""
    found = signal.stft(x, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling)
    return found[2]


@general(signal.stft)
def stft(
    g, y, x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True,
    boundary="zeros", padded=True, axis=-1, scaling="spectrum",
):  # fmt: skip
    return unstft(g[2], x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling)


@stft.forward()
def _(
    y, x, x_dot, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True,
    boundary="zeros", padded=True, axis=-1, scaling="spectrum",
):  # fmt: skip
    z_dot = segments(x_dot, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling)
    return np.zeros_like(y[0]), np.zeros_like(y[1]), z_dot


# --- overlapping and adding ------------------------------------------------------------------------------------------


def unistft(g, z, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling):
    """The cotangent of `z` in the second result of `signal.istft`."""
    n_default = 2 * (np.shape(z)[freq_axis] - 1) if onesided else np.shape(z)[freq_axis]
    size = n_default if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = size if onesided and size == n_default + 1 else n_default
    window = (signal.get_window(window, size) if isinstance(window, (str, tuple)) else np.asarray(window)).astype(
        g.real.dtype
    )
    step, count, edge = _steps(window, noverlap), np.shape(z)[time_axis], size // 2 if boundary else 0
    time_axis, freq_axis = time_axis % np.ndim(z), freq_axis % np.ndim(z)
    g = np.moveaxis(g, time_axis - (freq_axis < time_axis), -1)
    norm = np.zeros(size + (count - 1) * step, g.real.dtype)
    for k in range(count):
        norm[k * step : k * step + size] += window * window
    g = np.pad(g, both(g, edge, -1)) / np.where(norm > 1e-10, norm, 1.0)
    window = window / _scale(window, fs, scaling).astype(window.dtype)
    parts = np.stack([g[..., k * step : k * step + size] * window for k in range(count)], -1)
    parts = np.pad(parts, [(0, nfft - size) if k == np.ndim(parts) - 2 else (0, 0) for k in range(np.ndim(parts))])
    parts = np.moveaxis(parts, (-2, -1), (freq_axis, time_axis))
    if onesided:
        return half_spectrum(parts, z, freq_axis)
    return fitted_to(np.fft.ifft(parts, axis=freq_axis), z, freq_axis)


def overlapped(z, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling):
    """The second result of `signal.istft`."""
    found = signal.istft(z, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling)
    return found[1]


@linear(unistft)
def back_istft(w, y, g, z, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling):
    x = overlapped(w, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling)
    return x, None, None, None, None, None, None, None, None, None, None, None


@general(signal.istft)
def istft(
    g, y, Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True,
    time_axis=-1, freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    return unistft(g[1], Zxx, fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling)


@istft.forward()
def _(
    y, Zxx, z_dot, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True,
    time_axis=-1, freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    x_dot = overlapped(z_dot, fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling)
    return np.zeros_like(y[0]), x_dot


# --- spectral densities ----------------------------------------------------------------------------------------------


def sides(z, axis, nfft, onesided, count):
    """How often each frequency counts in a mean of `count` segments: those of a half spectrum twice, but for its ends."""
    n = np.shape(z)[_apart(axis)]
    weights = np.full(n, 2.0 if onesided else 1.0, dtype=z.real.dtype)
    weights[0] = 1.0
    if nfft % 2 == 0:
        weights[-1] = 1.0
    return np.reshape(weights, (-1,) + (1,) * (np.ndim(z) - 1 - _apart(axis) % np.ndim(z))) / count


def points(window, nfft):
    """How many points a transform has."""
    return len(window) if nfft is None else nfft


def half(onesided, x, y):
    """Whether the spectrum is that of real signals, of which a half is given."""
    return onesided and not np.iscomplexobj(x) and not np.iscomplexobj(y)


def amplitude(scaling):
    """How the short-time transform calls the root of a density."""
    return "psd" if scaling == "density" else scaling


def trend(detrend):
    """The trend to remove, checked."""
    if callable(detrend):
        raise Refusal(None, "a function for `detrend` has no derivative rule; use 'constant', 'linear' or False")
    return detrend


def alike(x, y):
    """Whether two signals have one shape, checked."""
    if np.shape(x) != np.shape(y):
        raise Refusal(None, "signals of different shapes have no derivative rule; pad the shorter one first")


flat(segment_window, sides, points, half, amplitude, trend, alike)


def of_segments(x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling):
    """The spectra of all segments, whose products are densities; the segments are the last axis."""
    return segments(
        x, fs, window, np.size(window), noverlap, nfft, trend(detrend), onesided, None, False, axis, amplitude(scaling)
    )


def out_of_segments(g, x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling):
    """The transpose of `of_segments`."""
    return unstft(
        g, x, fs, window, np.size(window), noverlap, nfft, detrend, onesided, None, False, axis, amplitude(scaling)
    )


def power_bar(g, x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling, averaged):
    """The cotangent of `x` in its power in the segments, or in their mean."""
    z = of_segments(x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)
    count = np.shape(z)[-1] if averaged else 1
    g = np.expand_dims(g, -1) if averaged else g
    bar = 2.0 * g * sides(z, axis, points(window, nfft), onesided, count) * np.conj(z)
    return out_of_segments(bar, x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)


def power_along(x, x_dot, fs, window, noverlap, nfft, detrend, onesided, axis, scaling, averaged):
    """The tangent of that power."""
    z = of_segments(x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)
    z_dot = of_segments(x_dot, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)
    count = np.shape(z)[-1] if averaged else 1
    dot = 2.0 * sides(z, axis, points(window, nfft), onesided, count) * np.real(np.conj(z) * z_dot)
    return np.sum(dot, -1) if averaged else dot


@general(signal.welch)
def welch(
    g, y, x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, average="mean",
):  # fmt: skip
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, x)
    return power_bar(g[1], x, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling, True)


@welch.forward()
def _(
    y, x, x_dot, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, average="mean",
):  # fmt: skip
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, x)
    dot = power_along(x, x_dot, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling, True)
    return np.zeros_like(y[0]), dot


def whole_window(window, nfft, x, axis):
    """The window of `signal.periodogram`, which has one segment."""
    n = np.shape(x)[axis]
    if nfft is not None and nfft < n:
        raise Refusal(None, "`signal.periodogram` with nfft below the length of x has no derivative rule; cut x off")
    return segment_window("boxcar" if window is None else window, n, x, axis)


flat(whole_window)


@general(signal.periodogram)
def periodogram(
    g, y, x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1
):
    window = whole_window(window, nfft, x, axis)
    one_sided = half(return_onesided, x, x)
    return power_bar(g[1], x, fs, window, 0, nfft, detrend, one_sided, axis, scaling, True)


@periodogram.forward()
def _(y, x, x_dot, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1):
    window = whole_window(window, nfft, x, axis)
    one_sided = half(return_onesided, x, x)
    dot = power_along(x, x_dot, fs, window, 0, nfft, detrend, one_sided, axis, scaling, True)
    return np.zeros_like(y[0]), dot


def eighth(noverlap, window):
    """How far the segments of `signal.spectrogram` overlap."""
    return np.size(window) // 8 if noverlap is None else noverlap


flat(eighth)


@general(signal.spectrogram)
def spectrogram(
    g, y, x, fs=1.0, window=("tukey", 0.25), nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, x)
    overlap = eighth(noverlap, window)
    return power_bar(g[2], x, fs, window, overlap, nfft, detrend, one_sided, axis, scaling, False)


@spectrogram.forward()
def _(
    y, x, x_dot, fs=1.0, window=("tukey", 0.25), nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, x)
    overlap = eighth(noverlap, window)
    dot = power_along(x, x_dot, fs, window, overlap, nfft, detrend, one_sided, axis, scaling, False)
    return np.zeros_like(y[0]), np.zeros_like(y[1]), dot


def cross_bars(g, x, y, fs, window, noverlap, nfft, detrend, onesided, axis, scaling):
    """The cotangents of two signals in their cross spectrum."""
    one = of_segments(x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)
    other = of_segments(y, fs, window, noverlap, nfft, detrend, onesided, axis, scaling)
    bar = np.expand_dims(g, -1) * sides(one, axis, points(window, nfft), onesided, np.shape(one)[-1])
    return (
        out_of_segments(np.conj(bar * other), x, fs, window, noverlap, nfft, detrend, onesided, axis, scaling),
        out_of_segments(bar * np.conj(one), y, fs, window, noverlap, nfft, detrend, onesided, axis, scaling),
    )


def as_complex_as(p, t):
    """A tangent as that of a density, which is real where both signals are one array."""
    return t if np.iscomplexobj(p) else np.real(t)


@general(signal.csd)
def csd(
    g, p, x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, average="mean",
):  # fmt: skip
    alike(x, y)
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, y)
    bars = cross_bars(g[1], x, y, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling)
    return bars[0], bars[1]


@csd.forward()
def _(
    p, x, y, x_dot, y_dot, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    window = segment_window(window, nperseg, x, axis)
    one_sided = half(return_onesided, x, y)
    one = of_segments(x, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling)
    other = of_segments(y, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling)
    one_dot = of_segments(x_dot, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling)
    other_dot = of_segments(y_dot, fs, window, noverlap, nfft, detrend, one_sided, axis, scaling)
    weights = sides(one, axis, points(window, nfft), one_sided, np.shape(one)[-1])
    still = np.zeros_like(p[0])
    return (
        (still, as_complex_as(p[1], np.sum(weights * np.conj(one_dot) * other, -1))),
        (still, as_complex_as(p[1], np.sum(weights * np.conj(one) * other_dot, -1))),
    )


@general(signal.coherence)
def coherence(g, c, x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", axis=-1):
    alike(x, y)
    window = segment_window(window, nperseg, x, axis)
    size, one_sided = np.size(window), half(True, x, y)
    pxx = signal.welch(x, fs, window, size, noverlap, nfft, detrend, one_sided, "density", axis)[1]
    pyy = signal.welch(y, fs, window, size, noverlap, nfft, detrend, one_sided, "density", axis)[1]
    pxy = signal.csd(x, y, fs, window, size, noverlap, nfft, detrend, one_sided, "density", axis)[1]
    cross = 2.0 * g[1] * np.conj(pxy) / (pxx * pyy)
    bars = cross_bars(cross, x, y, fs, window, noverlap, nfft, detrend, one_sided, axis, "density")
    x_bar = power_bar(-g[1] * c[1] / pxx, x, fs, window, noverlap, nfft, detrend, one_sided, axis, "density", True)
    y_bar = power_bar(-g[1] * c[1] / pyy, y, fs, window, noverlap, nfft, detrend, one_sided, axis, "density", True)
    return bars[0] + x_bar, bars[1] + y_bar


for _rule in (welch, csd):
    _rule.refuse(
        lambda average: not (average.known and average.value == "mean"),
        "a median over segments has no derivative rule: use average='mean'",
    )
spectrogram.refuse(
    lambda mode: not (mode.known and mode.value == "psd"),
    "`signal.spectrogram` has a derivative rule for mode='psd' alone: use signal.stft, and np.abs or np.angle of it",
)

# --- signals ---------------------------------------------------------------------------------------------------------


@linear(signal.detrend)
def detrend(g, y, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    return signal.detrend(g, axis, type, bp)


@linear(signal.hilbert)
def hilbert(g, y, x, N=None, axis=-1):
    return fitted_to(np.real(g) + np.imag(signal.hilbert(np.imag(g), axis=axis)), x, axis)


@hilbert.refined(lambda N: N.known and N.value is None)
def _(g, y, x, N=None, axis=-1):
    return np.real(g) + np.imag(signal.hilbert(np.imag(g), axis=axis))


def unresample(g, x, axis):
    """The cotangent of `x` in `signal.resample(x, num, axis=axis)`: sampled back, but for the fastest oscillation.

    Where the shorter signal has an even length, SciPy shares that between two frequencies of the longer one.
    """
    if np.ndim(x) == 1:
        axis = 0  # SciPy asks for it where there are several
    if axis is None or isinstance(axis, tuple):
        raise Refusal(None, "`signal.resample` has a derivative rule for one axis, given as a number")
    few, many = np.shape(x)[axis], np.shape(g)[axis]
    bar = np.moveaxis(signal.resample(g, few, axis=axis) * (many / few), axis, -1)
    if few != many and min(few, many) % 2 == 0:
        n, m = (np.cos(np.pi * min(few, many) / k * np.arange(k)).astype(bar.dtype) for k in (few, many))
        share = (np.moveaxis(g, axis, -1) @ m)[..., None] * n / few
        bar = bar - share if few < many else bar + share
    return np.moveaxis(bar, -1, axis)


@linear(unresample)
def _(w, y, g, x, axis):
    return signal.resample(w, np.shape(g)[axis if np.ndim(x) > 1 else 0], axis=axis), None, None


@linear(signal.resample)
def resample(g, y, x, num=None, t=None, axis=0, window=None, domain="time"):
    return unresample(g, x, axis)


@resample.instead(lambda window: not (window.known and window.value is None))
def _(g, y, x, num=None, t=None, axis=0, window=None, domain="time"):
    # the window weighs both halves of the spectrum alike, so that what it does is its own transpose
    return signal.resample(unresample(g, x, axis), np.shape(x)[axis if np.ndim(x) > 1 else 0], axis=axis, window=window)


def unresampled(g, x, up, down, axis, window):
    """The transpose of `signal.resample_poly(x, up, down, axis, window)`: the symmetric filter is run the other way."""
    if up == down:  # a copy, whatever the axis and the window
        return g
    if np.ndim(axis) or not np.ndim(x):
        raise Refusal(None, "`signal.resample_poly` of a number, or along several axes, has no derivative rule")
    if not isinstance(window, (str, tuple)):
        raise Refusal(
            None, "`signal.resample_poly` has a derivative rule for windows by name, for others need not be symmetric"
        )
    return fitted_to(signal.resample_poly(g, down, up, axis, window) * (up / down), x, axis)


@linear(unresampled)
def _(w, y, g, x, up, down, axis, window):
    signals = w if up == down else fitted_to(w, x, axis)
    return signal.resample_poly(signals, up, down, axis, window), None, None, None, None, None


@linear(signal.resample_poly)
def resample_poly(g, y, x, up=None, down=None, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    return unresampled(g, x, up, down, axis, window)


resample_poly.refuse(
    lambda padtype, cval: not (padtype.known and padtype.value == "constant" and cval.known and cval.value is None),
    "`signal.resample_poly` with `padtype` or `cval` has no derivative rule: pad the signal by np.pad first",
)
resample.refuse(
    lambda t: not (t.known and t.value is None),
    "`signal.resample` with `t` has no derivative rule: leave it out, and make the new times by np.linspace",
)
resample.refuse(
    lambda domain: not (domain.known and domain.value == "time"),
    "`signal.resample` of a spectrum has no derivative rule: use domain='time'",
)
of_complex_numbers(signal.stft, signal.istft, signal.detrend, signal.hilbert, signal.csd, signal.welch, signal.periodogram,
                   signal.spectrogram, unstft, unistft)  # fmt: skip
complex_of_real_numbers(signal.stft, signal.csd, signal.hilbert, unistft)
may_turn_complex(signal.istft)


of_complex_numbers(signal.resample_poly)
