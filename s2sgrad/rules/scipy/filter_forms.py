"""Forms of a linear filter, from one into another: transfer functions, zeros and poles, state spaces, sections.

    r, p, k = signal.residue(b, a)      ->      r = rest(p) / a'(p), b == k * a + rest, of poles that differ
    r, p, k = signal.residuez(b, a)    ->      the same in 1 / z, whose poles are 1 / p: r = -p * rest(1 / p) / a'(1 / p)
    b, a = signal.invres(r, p, k)      ->      a = (x - p[0]) * (x - p[1]) * ..,      b = k * a + sum(r * a / (x - p) ** n)
    b, a = signal.zpk2tf(z, p, k)      ->      b = k * (x - z[0]) * (x - z[1]) * ..,      a = (x - p[0]) * (x - p[1]) * ..
    b, a = signal.ss2tf(A, B, C, D)    ->      a = det(x - A),      b = det(x - A + B @ C) + (D - 1) * a
    b, a = signal.lp2lp(b, a, w)       ->      x / w in the place of x, and a[0] = 1

(Oppenheim and Schafer, "Discrete-Time Signal Processing", 7.1; the bilinear map x = 2 * fs * (z - 1) / (z + 1).)  Which
coefficients vanish, and which zeros meet which poles in a section, does not change with small changes.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import complex_of_real_numbers, flat, general, may_turn_complex, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- polynomials -----------------------------------------------------------------------------------------------------


def in_pairs(roots):
    """Whether complex roots are conjugate pairs, so that their polynomial is real.

    >>> in_pairs(np.array([1j, -1j])), in_pairs(np.array([1j, 2.0]))
    (True, False)
    """
    roots = np.asarray(roots)
    return roots.dtype.kind == "c" and bool(np.all(np.sort_complex(roots) == np.sort_complex(np.conj(roots))))


def leading_zeros(c):
    """How many of the first coefficients are 0 as `signal.normalize` counts them; at least one is left."""
    small = np.all(np.abs(np.atleast_2d(c)) <= 1e-14, axis=0)
    return min(int(np.argmin(small)) if not np.all(small) else len(small), len(small) - 1)


def trimmed(c):
    """How many of the first coefficients are exactly 0."""
    return len(c) - len(np.trim_zeros(c, "f"))


def one_system(z):
    """Raise Refusal for zeros of several filters at once."""
    if np.ndim(z) > 1:
        raise Refusal(None, "`signal.zpk2tf` has a derivative rule for the zeros of one filter: call it for each")
    return True


flat(in_pairs, leading_zeros, trimmed, one_system)


def polynomial(roots):
    """The coefficients of the polynomial with these roots, the highest first."""
    c = np.ones(1, roots.dtype)
    for k in range(np.size(roots)):
        c = np.concatenate((c, np.zeros(1))) - roots[k] * np.concatenate((np.zeros(1), c))
    return np.real(c) + 0j if in_pairs(roots) else c


def characteristic(A):
    """The coefficients of det(x - A), by the method of Faddeev and LeVerrier."""
    M, c = np.eye(np.shape(A)[0]), np.ones(1)
    for k in range(1, np.shape(A)[0] + 1):
        AM = A @ M
        last = -np.trace(AM) / k
        c = np.concatenate((c, np.atleast_1d(last)))
        M = AM + last * np.eye(np.shape(A)[0])
    return c


@restates(signal.normalize)
def normalize(b, a):
    den = np.atleast_1d(np.asarray(a))
    num = np.atleast_2d(np.asarray(b))
    den = den[trimmed(den) :]
    num, den = num / den[0], den / den[0]
    num = num[:, leading_zeros(num) :]
    return (num[0, :] if np.shape(num)[0] == 1 else num), den


# --- zeros and poles -------------------------------------------------------------------------------------------------


@restates(signal.zpk2tf, complex=True)
def zpk2tf(z, p, k):
    one_system(z)
    return k * polynomial(np.atleast_1d(z)), polynomial(np.atleast_1d(p))


def zeros_of(c):
    """The roots of a polynomial, in the order of NumPy."""
    return np.roots(c) + 0j


@general(zeros_of)
def _(g, y, c):
    powers = np.reshape(y, (-1, 1)) ** np.arange(np.size(c) - 1, -1, -1)
    return -np.sum(np.reshape(g / np.polyval(np.polyder(c), y), (-1, 1)) * powers, axis=0)


of_complex_numbers(zeros_of)
complex_of_real_numbers(zeros_of)


@restates(signal.tf2zpk, complex=True)
def tf2zpk(b, a):
    num, den = normalize(b, a)
    return zeros_of(num / num[0]), zeros_of(den), num[0]


complex_of_real_numbers(signal.tf2zpk)


def by_size(p):
    """The order of poles in an expansion: by their size.  Raise Refusal for equal ones, about which it has no slope."""
    if np.any(signal.unique_roots(p)[1] > 1):
        raise Refusal(None, "partial fractions have no derivative where poles are equal: move one by more than `tol`")
    return np.argsort(np.abs(p))


def whole_part(b, a):
    """The polynomial in a quotient of two, which may be 0."""
    n = np.size(b) - np.size(a) + 1
    return signal.lfilter(b, a, np.eye(n)[0]) if n > 0 else np.zeros(0)


flat(by_size)


@restates(signal.residue, complex=True)
def residue(b, a, tol=1e-3, rtype="avg"):
    b, a = np.trim_zeros(np.atleast_1d(b), "f"), np.trim_zeros(np.atleast_1d(a), "f")
    p, k = zeros_of(a), whole_part(b, a)
    p = p[by_size(p)]
    rest = b - np.convolve(a, k) if np.size(k) else b
    return np.polyval(rest, p) / np.polyval(np.polyder(a), p), p, k


@restates(signal.residuez, complex=True)
def residuez(b, a, tol=1e-3, rtype="avg"):
    b, a = np.trim_zeros(np.atleast_1d(b), "b"), np.trim_zeros(np.atleast_1d(a), "b")
    p = zeros_of(a)
    p = p[by_size(p)]
    b, a = np.flip(b), np.flip(a)  # polynomials in 1 / z
    k = whole_part(b, a)
    rest = b - np.convolve(a, k) if np.size(k) else b
    return -p * np.polyval(rest, 1.0 / p) / np.polyval(np.polyder(a), 1.0 / p), p, np.flip(k)


may_turn_complex(signal.residue, signal.residuez)


def groups(p, tol):
    """For each pole the place of the first one of those beside it that are equal, and how many of them come before.

    >>> groups(np.array([0.5, 0.5, 0.5, 0.2]), 1e-3)
    (array([0, 0, 0, 3]), array([0, 1, 2, 0]))
    """
    first = [0] * len(p)
    for k in range(1, len(p)):
        first[k] = first[k - 1] if abs(p[k] - p[first[k - 1]]) <= tol else k
    return np.array(first), np.arange(len(p)) - np.array(first)


def without(k, first, power):
    """The places of the poles that the fraction of the pole `k` leaves in the numerator.

    >>> without(1, np.array([0, 0, 0, 3]), np.array([0, 1, 2, 0]))
    array([2, 3])
    """
    return np.flatnonzero((first != first[k]) | (power > power[k]))


def nothing(n, *parts):
    """Zeros of the type of the numerator."""
    return np.zeros(n, np.result_type(1.0, *parts))


flat(groups, without, nothing)


def product(roots):
    """The coefficients of the polynomial with these roots, the highest first: complex where they are."""
    c = np.ones(1, roots.dtype)
    for k in range(np.size(roots)):
        c = np.concatenate((c, np.zeros(1))) - roots[k] * np.concatenate((np.zeros(1), c))
    return c


def lengthened(c, n):
    """Coefficients with zeros before them, `n` in all."""
    return np.concatenate((np.zeros(n - np.size(c)), c))


def over_common(r, p, k, tol, step):
    """The numerator and the denominator of a sum of fractions; `step`: -1 for polynomials in `1/z`, else 1."""
    k = k[trimmed(k) :]
    first, power = groups(p, tol)
    p = 1.0 * p[first]
    a = product(p)
    n = max(np.size(k) + np.size(a) - 1 if np.size(k) else 0, np.size(p))
    b = nothing(n, r, p, k)
    if np.size(k):
        b = b + lengthened(np.convolve(k, a[::step]), n)
    for m in range(np.size(p)):
        b = b + r[m] * lengthened(product(p[without(m, first, power)])[::step], n)
    return b[::step], a


@restates(signal.invres, complex=True)
def invres(r, p, k, tol=1e-3, rtype="avg"):
    return over_common(np.atleast_1d(r), np.atleast_1d(p), np.atleast_1d(k), tol, 1)


@restates(signal.invresz, complex=True)
def invresz(r, p, k, tol=1e-3, rtype="avg"):
    return over_common(np.atleast_1d(r), np.atleast_1d(p), np.flip(np.atleast_1d(k)), tol, -1)


# --- state spaces ----------------------------------------------------------------------------------------------------


@restates(signal.tf2ss)
def tf2ss(num, den):
    num, den = normalize(num, den)
    num, m = np.atleast_2d(num), np.shape(den)[0]
    num = np.concatenate((np.zeros((np.shape(num)[0], m - np.shape(num)[1])), num), axis=1)
    d = num[:, :1]
    if m == 1:
        return np.zeros((1, 1)), np.zeros((1, np.shape(d)[1])), np.zeros((np.shape(d)[0], 1)), d
    below = np.eye(m - 2, m - 1)
    return np.concatenate((-den[None, 1:], below)), np.eye(m - 1, 1), num[:, 1:] - d * den[None, 1:], d


@restates(signal.ss2tf)
def ss2tf(A, B, C, D, input=0):
    A, B, C, D = np.atleast_2d(A), np.atleast_2d(B), np.atleast_2d(C), np.atleast_2d(D)
    B, D = B[:, input : input + 1], D[:, input : input + 1]
    den = characteristic(A)
    num = [characteristic(A - B @ C[k : k + 1]) + (D[k] - 1.0) * den for k in range(np.shape(D)[0])]
    return np.stack(num), den


@restates(signal.zpk2ss, complex=True)
def zpk2ss(z, p, k):
    b, a = zpk2tf(z, p, k)
    return tf2ss(b, a)


@restates(signal.ss2zpk, complex=True)
def ss2zpk(A, B, C, D, input=0):
    b, a = ss2tf(A, B, C, D, input)
    return tf2zpk(b, a)


complex_of_real_numbers(signal.ss2zpk)


@restates(signal.abcd_normalize)
def abcd_normalize(A, B, C, D):
    return np.atleast_2d(A), np.atleast_2d(B), np.atleast_2d(C), np.atleast_2d(D)


# --- sections of the second order ------------------------------------------------------------------------------------


@restates(signal.sos2tf)
def sos2tf(sos):
    sos, b, a = np.asarray(sos), np.ones(1), np.ones(1)
    for k in range(np.shape(sos)[0]):
        b, a = np.convolve(b, sos[k, :3]), np.convolve(a, sos[k, 3:])
    return b, a


def two(roots):
    """Roots of a section, with zeros for those that it lacks."""
    return np.concatenate((roots, np.zeros(2 - np.size(roots))))


@restates(signal.sos2zpk, complex=True)
def sos2zpk(sos):
    sos, z, p, k = np.asarray(sos), np.zeros(0) + 0j, np.zeros(0) + 0j, 1.0
    for n in range(np.shape(sos)[0]):
        own_z, own_p, own_k = tf2zpk(sos[n, :3], sos[n, 3:])
        z, p, k = np.concatenate((z, two(own_z))), np.concatenate((p, two(own_p))), k * own_k
    return z, p, k


def met(sections, z, p):
    """The places of the zeros and of the poles of each section: each root is met by the nearest that is left."""
    ends = [np.concatenate((np.atleast_1d(c), np.zeros(2 * len(sections)))) for c in (z, p)]
    left, places = [list(range(len(c))) for c in ends], []
    for row in sections:
        own = []
        for c, free, part in zip(ends, left, (row[:3], row[3:]), strict=True):
            chosen = []
            for root in np.roots(part):
                chosen.append(free.pop(int(np.argmin(np.abs(c[free] - root)))))
            own.append(chosen)
        places.append(own)
    return places


def require_sections(found, sos):
    """Raise Refusal where the sections that were found are not SciPy's."""
    if not np.allclose(found, sos, rtol=1e-6, atol=1e-9 * np.max(np.abs(sos))):
        raise Refusal(None, "`signal.zpk2sos`: two zeros or poles are too near each other to tell which section has which")
    return True


def sections_of(z, p, k, pairing, analog):
    """SciPy's sections, as numbers."""
    return signal.zpk2sos(z, p, k, pairing, analog=analog)


flat(met, require_sections, sections_of)


def aligned(c):
    """Three coefficients, with zeros before those that there are."""
    return np.concatenate((np.zeros(3 - np.size(c)), c))


def monic(roots):
    """The real polynomial with these roots."""
    c = np.ones(1) + 0j
    for k in range(np.size(roots)):
        c = np.concatenate((c, np.zeros(1))) - roots[k] * np.concatenate((np.zeros(1), c))
    return np.real(c)


@restates(signal.zpk2sos, complex=True)
def zpk2sos(z, p, k, pairing=None, analog=False):
    z, p = np.atleast_1d(z) + 0j, np.atleast_1d(p) + 0j
    sos = sections_of(z, p, k, pairing, analog)
    places = met(sos, z, p)
    zeros, poles = np.concatenate((z, np.zeros(2 * len(sos)))), np.concatenate((p, np.zeros(2 * len(sos))))
    rows = np.zeros((0, 6))
    for n in range(len(sos)):
        own_z, own_p = places[n][0], places[n][1]
        b = aligned(monic(np.take(zeros, own_z))) * (np.real(k) if n == 0 else 1.0)
        row = np.concatenate((b, aligned(monic(np.take(poles, own_p)))))
        rows = np.concatenate((rows, row[None]))
    require_sections(rows, sos)
    return rows


@restates(signal.tf2sos)
def tf2sos(b, a, pairing=None, analog=False):
    z, p, k = tf2zpk(b, a)
    return zpk2sos(z, p, k, pairing, analog)


complex_of_real_numbers(signal.sos2zpk)
