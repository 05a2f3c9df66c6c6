"""Maps of the frequencies of a filter: to another cutoff, to a band, to discrete time.

    b, a = signal.lp2lp(b, a, w)     ->      s / w in the place of s
    b, a = signal.lp2hp(b, a, w)     ->      w / s
    b, a = signal.lp2bp(b, a, w, d)  ->      (s ** 2 + w ** 2) / (s * d),   of lp2bs its reciprocal
    b, a = signal.bilinear(b, a, f)  ->      2 * f * (z - 1) / (z + 1)

Each is `top / bottom` in the place of the variable, times the power of `bottom` that makes it a polynomial again, and then
`a[0] = 1`.  Zeros and poles are mapped one by one, with those at infinity (Oppenheim and Schafer, 7.1 and B).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.scipy.filter_forms import normalize, ss2tf, ss2zpk, tf2ss, trimmed, zpk2ss
from s2sgrad.rules.table import complex_of_real_numbers, flat, may_turn_complex
from s2sgrad.runtime import Refusal

# --- coefficients ----------------------------------------------------------------------------------------------------


def power(c, n):
    """A power of a polynomial."""
    whole = np.ones(1)
    for _ in range(n):
        whole = np.convolve(whole, c)
    return whole


def longest(c, top, bottom, degree):
    """How many coefficients the sum has."""
    return max(p * (len(top) - 1) + (degree - p) * (len(bottom) - 1) for p in range(len(c))) + 1


flat(longest)


def substituted(c, top, bottom, degree):
    """The sum of c[p] * top ** p * bottom ** (degree - p), of the coefficients `c` with the highest first."""
    size = longest(c, top, bottom, degree)
    whole = np.zeros(size)
    for p in range(np.size(c)):
        term = np.convolve(power(top, p), power(bottom, degree - p))
        whole = whole + c[np.size(c) - 1 - p] * np.concatenate((np.zeros(size - np.size(term)), term))
    return whole


def mapped(b, a, top, bottom):
    """The filter with `top / bottom` in the place of its variable."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    degree = max(np.size(b), np.size(a)) - 1
    return normalize(substituted(b, top, bottom, degree), substituted(a, top, bottom, degree))


@restates(signal.lp2lp, moving=("wo",))
def lp2lp(b, a, wo=1.0):
    b, a, w = np.atleast_1d(b), np.atleast_1d(a), np.ravel(wo)[0]
    return normalize(b / w ** np.arange(np.size(b) - 1, -1, -1), a / w ** np.arange(np.size(a) - 1, -1, -1))


@restates(signal.lp2hp, moving=("wo",))
def lp2hp(b, a, wo=1.0):
    return mapped(b, a, np.ravel(wo)[:1], np.array([1.0, 0.0]))


@restates(signal.lp2bp, moving=("wo", "bw"))
def lp2bp(b, a, wo=1.0, bw=1.0):
    return mapped(b, a, np.array([1.0, 0.0, wo * wo]), np.array([bw, 0.0]))


@restates(signal.lp2bs, moving=("wo", "bw"))
def lp2bs(b, a, wo=1.0, bw=1.0):
    return mapped(b, a, np.array([bw, 0.0]), np.array([1.0, 0.0, wo * wo]))


@restates(signal.bilinear, moving=("fs",))
def bilinear(b, a, fs=1.0):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    return mapped(b[trimmed(b) :], a[trimmed(a) :], np.array([2.0 * fs, -2.0 * fs]), np.array([1.0, 1.0]))


# --- zeros and poles -------------------------------------------------------------------------------------------------


def at_infinity(z, p):
    """How many zeros are at infinity."""
    return len(p) - len(z)


flat(at_infinity)


@restates(signal.lp2lp_zpk, moving=("wo",), complex=True)
def lp2lp_zpk(z, p, k, wo=1.0):
    z, p = np.atleast_1d(z), np.atleast_1d(p)
    return wo * z, wo * p, k * wo ** at_infinity(z, p)


@restates(signal.lp2hp_zpk, moving=("wo",), complex=True)
def lp2hp_zpk(z, p, k, wo=1.0):
    z, p = np.atleast_1d(z), np.atleast_1d(p)
    return np.concatenate((wo / z, np.zeros(at_infinity(z, p)))), wo / p, k * np.real(np.prod(-z) / np.prod(-p))


def both_sides(z, wo):
    """The two places in a band to which each is mapped."""
    root = np.sqrt(z**2 - wo**2)
    return np.concatenate((z + root, z - root))


@restates(signal.lp2bp_zpk, moving=("wo", "bw"), complex=True)
def lp2bp_zpk(z, p, k, wo=1.0, bw=1.0):
    z, p = np.atleast_1d(z), np.atleast_1d(p)
    zeros = np.concatenate((both_sides((z * bw / 2.0).astype(complex), wo), np.zeros(at_infinity(z, p))))
    return zeros, both_sides((p * bw / 2.0).astype(complex), wo), k * bw ** at_infinity(z, p)


@restates(signal.lp2bs_zpk, moving=("wo", "bw"), complex=True)
def lp2bs_zpk(z, p, k, wo=1.0, bw=1.0):
    z, p = np.atleast_1d(z), np.atleast_1d(p)
    ends = np.ones(at_infinity(z, p)) * 1j * wo
    zeros = np.concatenate((both_sides(((bw / 2.0) / z).astype(complex), wo), ends, -ends))
    return zeros, both_sides(((bw / 2.0) / p).astype(complex), wo), k * np.real(np.prod(-z) / np.prod(-p))


@restates(signal.bilinear_zpk, complex=True)
def bilinear_zpk(z, p, k, fs):
    z, p, rate = np.atleast_1d(z), np.atleast_1d(p), 2.0 * fs
    zeros = np.concatenate(((rate + z) / (rate - z), -np.ones(at_infinity(z, p))))
    return zeros, (rate + p) / (rate - p), k * np.real(np.prod(rate - z) / np.prod(rate - p))


complex_of_real_numbers(signal.lp2bp_zpk, signal.lp2bs_zpk)

# --- systems in discrete time ----------------------------------------------------------------------------------------


def kind_of(system, extra=0):
    """How many parts a system has, besides `extra` further ones; Refusal for an object of a class."""
    if not isinstance(system, (tuple, list)) or len(system) - extra not in (2, 3, 4):
        raise Refusal(None, "a system has a derivative rule as a tuple: of num and den; z, p and k; or A, B, C and D")
    return len(system) - extra


def method_of(method, alpha):
    """The weight of the new value in a method; -1.0 for those with a matrix exponential."""
    known = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0, "backward_diff": 1.0, "gbt": alpha}
    if method not in known and method not in ("zoh", "impulse"):
        raise Refusal(None, "`cont2discrete` has a derivative rule for the methods zoh, impulse, gbt and its kin")
    return known.get(method, -1.0)


flat(kind_of, method_of)


def state_space(system, extra=0):
    """The matrices of a system."""
    count = kind_of(system, extra)
    if count == 2:
        return tf2ss(system[0], system[1])
    if count == 3:
        return zpk2ss(system[0], system[1], system[2])
    return np.atleast_2d(system[0]), np.atleast_2d(system[1]), np.atleast_2d(system[2]), np.atleast_2d(system[3])


def discrete(system, dt, method, alpha):
    """The matrices of a system in discrete time."""
    A, B, C, D = state_space(system)
    weight, n = method_of(method, alpha), np.shape(A)[0]
    if method == "impulse":
        whole = linalg.expm(A * dt)
        return whole, whole @ B * dt, C, C @ B * dt
    if method == "zoh":
        upper = np.concatenate((A, B), axis=1)
        whole = linalg.expm(dt * np.concatenate((upper, np.zeros((np.shape(B)[1], np.shape(upper)[1])))))
        return whole[:n, :n], whole[:n, n:], C, D
    implicit = np.eye(n) - weight * dt * A
    step, moved = np.linalg.solve(implicit, np.eye(n) + (1.0 - weight) * dt * A), np.linalg.solve(implicit, dt * B)
    return step, moved, np.linalg.solve(implicit.T, C.T).T, D + weight * (C @ moved)


@restates(signal.cont2discrete, tuples=("system",))
def cont2discrete(system, dt, method="zoh", alpha=None):
    A, B, C, D = discrete(system, dt, method, alpha)
    if kind_of(system) == 2:
        b, a = ss2tf(A, B, C, D)
        return b, a, 1.0 * dt
    if kind_of(system) == 3:
        z, p, k = ss2zpk(A, B, C, D)
        return z, p, k, 1.0 * dt
    return A, B, C, D, 1.0 * dt


may_turn_complex(signal.cont2discrete)
