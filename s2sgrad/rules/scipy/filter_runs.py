"""States and runs of filters, and transforms of scipy.signal along a spiral, in the plane and of noise.

    zi = signal.lfiltic(b, a, y, x)     ->     zi[m] = (sum(b[m+1:] * x[:M-m]) - sum(a[m+1:] * y[:N-m])) / a[0]
    q, r = signal.deconvolve(u, v)      ->     q = lfilter(u, v, (1, 0, ..)),  r = u - convolve(v, q)
    X = signal.czt(x, m, w, a)          ->     X[k] = sum(x[n] * a ** -n * w ** (n * k))
    y = signal.wiener(x, n)             ->     mean + (x - mean) * (1 - noise / variance) where that is positive

(Oppenheim and Schafer, "Discrete-Time Signal Processing", 5 and 9.6; Lim, "Two-Dimensional Signal and Image Processing",
1990, 9.2, for Wiener's filter.)
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage, signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import complex_of_real_numbers, flat, general, linear, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- states ----------------------------------------------------------------------------------------------------------


def weighed(c, past, size, before):
    """The sums that past samples leave to come, one for each state; `before`: how many samples count."""
    known = np.concatenate((past, np.zeros(max(before - np.size(past), 0))))[:before]
    sums = np.flip(np.convolve(np.flip(c), known)[:before]) if before else np.zeros(0)
    return np.concatenate((sums, np.zeros(size - before)))


def one_signal(y, x):
    """Raise Refusal for signals of several axes."""
    if np.ndim(y) > 1 or np.ndim(x) > 1:
        raise Refusal(None, "`signal.lfiltic` has a derivative rule for signals of one axis")
    return True


flat(one_signal)


@restates(signal.lfiltic, moving=("x",))
def lfiltic(b, a, y, x=None):
    one_signal(y, x)
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    n, m = np.size(a) - 1, np.size(b) - 1
    out = -weighed(a, np.atleast_1d(y), max(n, m), n)
    if x is not None:
        out = out + weighed(b, np.atleast_1d(x), max(n, m), m)
    return out / a[0]


@restates(signal.sosfilt_zi)
def sosfilt_zi(sos):
    sos, scale, rows = np.asarray(sos), 1.0, np.zeros((0, 2))
    for k in range(np.shape(sos)[0]):
        rows = np.concatenate((rows, scale * signal.lfilter_zi(sos[k, :3], sos[k, 3:])[None]))
        scale = scale * np.sum(sos[k, :3]) / np.sum(sos[k, 3:])
    return rows


def shorter(u, v):
    """Raise Refusal for a divisor that is longer than the signal."""
    if np.size(v) > np.size(u):
        raise Refusal(None, "`signal.deconvolve` by what is longer has no derivative rule: it gives nothing")
    return np.eye(np.size(u) - np.size(v) + 1)[0]


flat(shorter)


def divided(u, v):
    """The quotient and the remainder of two polynomials."""
    start = shorter(u, v)
    q = signal.lfilter(u, v, start)
    return q, u - np.convolve(v, q)


@restates(signal.deconvolve)
def deconvolve(signal, divisor):
    return divided(np.atleast_1d(signal), np.atleast_1d(divisor))


# --- along a spiral --------------------------------------------------------------------------------------------------


def spiral(n, m, w, a):
    """The matrix of a chirp transform of n samples."""
    if np.size(a) != 1 or (w is not None and np.size(w) != 1):
        raise Refusal(None, "`signal.czt` has a derivative rule for one ratio `w` and one start `a`: pass numbers")
    m = n if m is None else m
    w, a = np.exp(-2j * np.pi / m) if w is None else np.ravel(w), np.ravel(a)
    k, j = np.arange(m)[:, None], np.arange(n)[None, :]
    return np.asarray(a + 0j) ** -j * np.asarray(w + 0j) ** (k * j)


def zoomed(n, fn, m, fs, endpoint):
    """The matrix of a transform at frequencies between two."""
    low, high = (0.0, fn) if np.size(fn) == 1 else fn
    m = n if m is None else m
    places = np.linspace(float(np.ravel(low)[0]), float(np.ravel(high)[0]), m, endpoint=endpoint)
    return np.exp(-2j * np.pi * places[:, None] * np.arange(n)[None, :] / fs)


def applied(M, x, axis):
    """A matrix, applied along an axis."""
    return np.moveaxis(np.tensordot(M, x, ((1,), (axis,))), 0, axis)


flat(spiral, zoomed)


@linear(signal.czt)
def czt(g, y, x, m=None, w=None, a=1.0 + 0j, *, axis=-1):
    return applied(spiral(np.shape(x)[axis], m, w, a).T, g, axis)


@general(signal.zoom_fft)
def zoom_fft(g, y, x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    return applied(zoomed(np.shape(x)[axis], fn, m, fs, endpoint).T, g, axis), None


zoom_fft.constant("fn")
zoom_fft.linear_in("x")


@restates(signal.czt_points, constant=("m",), moving=("w", "a"), complex=True)
def czt_points(m, w=None, a=1.0 + 0j):
    k = np.arange(m)
    ratio = np.exp(-2j * np.pi / m) if w is None else w + 0j
    return (a + 0j) * ratio**-k


complex_of_real_numbers(signal.czt_points)
of_complex_numbers(signal.czt, signal.zoom_fft)
complex_of_real_numbers(signal.czt, signal.zoom_fft)

# --- in the plane ----------------------------------------------------------------------------------------------------


def quadrant(n, m, N):
    """The weights of the quarter of a spectrum that is kept."""
    n, m = (n, m) if N is None else (N, N) if np.ndim(N) == 0 else N
    sides = []
    for count in (n, m):
        side = np.zeros(count)
        side[: (count + 1) // 2] = 2.0
        side[0] = 1.0
        sides.append(side)
    return sides[0][:, None] * sides[1]


flat(quadrant)


@restates(signal.hilbert2, complex=True)
def hilbert2(x, N=None, axes=(-2, -1)):
    x = np.moveaxis(np.atleast_2d(x), axes, (-2, -1))
    weights = quadrant(np.shape(x)[-2], np.shape(x)[-1], N)
    kept = np.fft.fft2(x, np.shape(weights)) * weights
    return np.moveaxis(np.fft.ifft2(kept), (-2, -1), axes)


complex_of_real_numbers(signal.hilbert2)


def neighbours(im, mysize):
    """The sides of the neighbourhood."""
    return (3,) * np.ndim(im) if mysize is None else (mysize,) * np.ndim(im) if np.ndim(mysize) == 0 else tuple(mysize)


flat(neighbours)


@restates(signal.wiener, moving=("noise",))
def wiener(im, mysize=None, noise=None):
    im = np.asarray(im)
    window = np.ones(neighbours(im, mysize))
    mean = signal.correlate(im, window, "same") / np.size(window)
    variance = signal.correlate(im * im, window, "same") / np.size(window) - mean * mean
    level = np.mean(variance) if noise is None else noise
    is_noise = variance < level
    return np.where(is_noise, mean, mean + (im - mean) * (1.0 - level / np.where(is_noise, 1.0, variance)))


@restates(signal.sepfir2d)
def sepfir2d(input, hrow, hcol):
    along = ndimage.convolve1d(np.asarray(input), np.asarray(hrow), 1, None, "reflect")
    return ndimage.convolve1d(along, np.asarray(hcol), 0, None, "reflect")
