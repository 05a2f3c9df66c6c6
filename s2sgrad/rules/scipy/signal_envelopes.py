"""Rules of scipy.signal for the envelope of a signal, and for filters of minimum phase.

    e, r = signal.envelope(z)         ->      e = abs(ifft(2 * Z of the band)),      r = irfft(Z below it),  Z = fft(z)
    m = signal.minimum_phase(h)       ->      ifft(exp(fft(w * ifft(log(abs(fft(h))) / 2)))),  w = (1, 2, .., 2, 0, .., 0)

(Lyons, "Understanding Digital Signal Processing", 9; Oppenheim and Schafer, "Discrete-Time Signal Processing", 13.5, for
cepstra.)  Bands are constants.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import existing, flat, rule_of
from s2sgrad.runtime import Refusal

# --- envelopes -------------------------------------------------------------------------------------------------------


def band(bp_in, n):
    """The first number of a band of frequencies, and the one behind its last."""
    return -(n // 2) if bp_in[0] is None else bp_in[0], (n + 1) // 2 if bp_in[1] is None else bp_in[1]


def one_sided(bp_in, n):
    """The weights of a real signal's frequencies, of which the negative ones are left out and those of a band are doubled.

    >>> one_sided((1, None), 6)
    array([1., 2., 2., 1., 0., 0.])
    """
    start, stop = band(bp_in, n)
    weights = np.zeros(n)
    weights[: n // 2 + 1] = 1.0
    if stop > 0:
        weights[max(start, 1) : stop] *= 2.0
    return weights


def places_in(bp_in, n):
    """The frequencies of a band, as SciPy lays them on those from 0 on.

    >>> places_in((-2, 2), 6), places_in((1, None), 6)
    (array([4, 5, 0, 1]), array([1, 2]))
    """
    start, stop = band(bp_in, n)
    if start <= 0 < stop:
        return np.fft.fftshift(np.arange(n))[start + n // 2 : stop + n // 2]
    return np.arange(n)[start:stop]


def left_over(bp_in, n, n_out, residual):
    """The weights of the frequencies that are left beside the band, or below it, in a signal of another length."""
    start, stop = band(bp_in, n)
    weights = np.ones(n)
    if start <= 0 < stop:
        weights[:stop] = weights[start:] = 0.0
    else:
        weights[start:stop] = 0.0
    if residual == "lowpass" and stop > 0:
        weights[stop : (n + 1) // 2] = 0.0
    elif residual == "lowpass":
        weights[start:] = weights[: (n + 1) // 2] = 0.0
    if n_out != n and min(n, n_out) % 2 == 0:
        weights[min(n, n_out) // 2] *= 2.0 if n_out < n else 0.5
    return weights


def length_of(n_out, n):
    """How many samples the results have."""
    return n if n_out is None else n_out


flat(one_sided, places_in, left_over, length_of)


@restates(*existing(signal, "envelope"))
def envelope(z, bp_in=(1, None), n_out=None, squared=False, residual="lowpass", axis=-1):
    z = np.moveaxis(np.asarray(z), axis, -1)
    n = np.shape(z)[-1]
    m = length_of(n_out, n)
    Z = np.fft.fft(z) * one_sided(bp_in, n)
    inside = np.fft.ifft(np.take(Z, places_in(bp_in, n), axis=-1), m) * (m / n)
    square = np.real(inside) ** 2 + np.imag(inside) ** 2
    found = np.moveaxis(square if squared else np.abs(inside), -1, axis)
    if residual is None:
        return found
    rest = np.fft.irfft(Z * left_over(bp_in, n, m, residual), m) * (m / n)
    return np.stack((found, np.moveaxis(rest, -1, axis)), axis=0)


# --- minimum phase ---------------------------------------------------------------------------------------------------


def length_of_transform(h, n_fft):
    """How many frequencies a filter is transformed at."""
    return 2 ** int(np.ceil(np.log2(2 * (len(h) - 1) / 0.01))) if n_fft is None else int(n_fft)


def causal(n):
    """The weights that take the cepstrum of a size to that of minimum phase, as SciPy has them.

    >>> causal(6), causal(5)
    (array([1., 2., 2., 0., 0., 0.]), array([1., 2., 1., 0., 0.]))
    """
    weights = np.zeros(n)
    weights[0] = 1.0
    weights[1 : n // 2] = 2.0
    if n % 2:
        weights[n // 2] = 1.0
    return weights


def without_zeros(sizes):
    """The place of the least size.  Raise Refusal for a filter that lets a frequency through not at all."""
    if np.min(sizes) <= 1e3 * np.finfo(sizes.dtype).eps * np.max(sizes):
        raise Refusal(None, "`signal.minimum_phase` has no derivative where the filter is 0 at one of the frequencies, as "
                            "at the highest one if its length is even: pass an odd one, or another `n_fft`")  # fmt: skip
    return int(np.argmin(sizes))


flat(length_of_transform, causal, without_zeros)


@restates(signal.minimum_phase)
def minimum_phase(h, method="homomorphic", n_fft=None, half=True):
    h = np.asarray(h)
    n = length_of_transform(h, n_fft)
    sizes = np.abs(np.fft.fft(h, n))
    logs = np.log(sizes + 1e-7 * sizes[without_zeros(sizes)]) * (0.5 if half else 1.0)
    cepstrum = np.real(np.fft.ifft(logs)) * causal(n)
    out = np.real(np.fft.ifft(np.exp(np.fft.fft(cepstrum))))
    return out[: (np.size(h) + 1) // 2 if half else np.size(h)]


rule_of(signal.minimum_phase).refuse(
    lambda method: not (method.known and method.value == "homomorphic"),
    "`signal.minimum_phase` has a derivative rule for method='homomorphic' alone: leave `method` out",
)
