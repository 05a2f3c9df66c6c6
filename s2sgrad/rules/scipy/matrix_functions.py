"""Rules of scipy.linalg, continued: functions of matrices.

y = linalg.expm(A)           ->  A_bar = expm_slope(A.T, y_bar)
y = linalg.sqrtm(A)          ->  A_bar = linalg.solve_sylvester(y.T, y.T, y_bar)

The derivative of a primary function f at A in the direction E is the corner of f of the matrix of blocks [[A, E], [0, A]].
From (Mathias 1996; Higham 2008, "Functions of Matrices", theorem 3.6).  Its pullback is the derivative at `A.T`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.scipy.linalg import of_matrices, of_rank, turned
from s2sgrad.rules.table import flat, general, may_turn_complex, of_complex_numbers, sharing
from s2sgrad.runtime import Refusal


def blocks(a, e):
    """The matrix of blocks [[a, e], [0, a]]."""
    of_matrices(a)
    top = np.concatenate((a, e), axis=-1)
    return np.concatenate((top, np.concatenate((np.zeros_like(a), a), axis=-1)), axis=-2)


def expm_slope(a, e):
    """The derivative of `linalg.expm` at `a` in the direction `e`: the corner of the exponential of a matrix of blocks.

    Higham (2008), "Functions of Matrices", (10.43).

    >>> expm_slope(np.zeros((1, 1)), np.ones((1, 1)))
    array([[1.]])
    """
    n = np.shape(a)[-1]
    return linalg.expm(blocks(a, e))[..., :n, n:]


@general(linalg.expm)
def expm(g, y, A):
    return np.reshape(expm_slope(turned(np.atleast_2d(A)), g), np.shape(A))  # of a number it is a matrix of one


@expm.refined(lambda A: (A.rank or 0) > 1)
def _(g, y, A):
    return expm_slope(turned(A), g)


@expm.forward()
def _(y, A, A_dot):
    return expm_slope(np.atleast_2d(A), np.atleast_2d(A_dot))


@expm.forward(lambda A: (A.rank or 0) > 1)
def _(y, A, A_dot):
    return expm_slope(A, A_dot)


@general(linalg.expm_frechet)
def expm_frechet(g, y, A, E, method=None, compute_expm=True, *, check_finite=True):
    of_rank(2, A, E)
    n = np.shape(A)[-1]
    g = blocks_bar(g[0], g[1]) if compute_expm else blocks_bar(np.zeros_like(g), g)
    bar = expm_slope(turned(blocks(A, E)), g)
    return bar[:n, :n] + bar[n:, n:], bar[:n, n:]


def blocks_bar(whole, corner):
    """The cotangent of the exponential of a matrix of blocks, of which the first block and the corner are read."""
    top = np.concatenate((whole, corner), axis=-1)
    return np.concatenate((top, np.zeros_like(top)), axis=-2)


# --- roots, powers, logarithms, signs --------------------------------------------------------------------------------


@general(linalg.sqrtm)
def sqrtm(g, y, A):
    of_matrices(A)
    return linalg.solve_sylvester(turned(y), turned(y), g)


@sqrtm.forward()
def _(y, A, A_dot):
    return sqrtm_along(y, A, A_dot)


def sqrtm_along(y, A, A_dot):
    """The tangent of the root `y`."""
    of_matrices(A)
    return linalg.solve_sylvester(y, y, A_dot)


def off_the_cut(a):
    """Raise for eigenvalues on the negative axis: in the matrix of blocks they lie on both sides of the cut."""
    w = np.linalg.eigvals(a) if of_matrices(a) else a
    if np.any((np.real(w) <= 0) & (np.abs(np.imag(w)) <= 1e-6 * np.abs(w))):
        raise Refusal(None, "a logarithm or power of a matrix with eigenvalues that are not positive has no derivative rule")
    return True


flat(off_the_cut)


def as_real_as(a, e, slope):
    """A slope at `a` along `e`, which is real where they are: SciPy's rounding may turn eigenvalues that are one complex."""
    return slope if np.iscomplexobj(a) or np.iscomplexobj(e) else np.real(slope)


def logm_slope(a, e):
    """The derivative of `linalg.logm` at `a` in the direction `e`."""
    off_the_cut(a)
    n = np.shape(a)[-1]
    return as_real_as(a, e, linalg.logm(blocks(a, e))[..., :n, n:])


@general(linalg.logm)
def logm(g, y, A):
    return logm_slope(turned(A), g)


@logm.forward()
def _(y, A, A_dot):
    return logm_slope(A, A_dot)


def power_slope(a, e, t):
    """The derivative of the power `t` of a matrix in the direction `e`."""
    off_the_cut(a)
    n = np.shape(a)[-1]
    return as_real_as(a, e, linalg.fractional_matrix_power(blocks(a, e), t)[..., :n, n:])


def power_in_t(a, y):
    """The derivative of the power `y` of a matrix in the exponent."""
    return as_real_as(a, y, linalg.logm(a) @ y)


@general(linalg.fractional_matrix_power)
def fractional_matrix_power(g, y, A, t):
    return power_slope(turned(A), g, t), np.sum(g * power_in_t(A, y))


@fractional_matrix_power.forward()
def _(y, A, t, A_dot, t_dot):
    return power_slope(A, A_dot, t), t_dot * power_in_t(A, y)


def signm_slope(s, a, e):
    """The derivative of the sign `s` of a matrix.  It commutes with `a`, and its square is 1.  With the root `n` of `a @ a`
    there follow from `a = s @ n` `n @ s_dot + s_dot @ n = a_dot - s @ a_dot @ s` (Higham 2008, theorem 5.3)."""
    of_matrices(a)
    n = s @ a
    return linalg.solve_sylvester(n, n, e - s @ e @ s)


@general(linalg.signm)
def signm(g, y, A):
    of_matrices(A)
    return signm_slope(turned(y), turned(A), g)


@signm.forward()
def _(y, A, A_dot):
    return signm_slope(y, A, A_dot)


# --- sines and their kin ---------------------------------------------------------------------------------------------


def sinm_slope(a, e):
    """The derivative of `linalg.sinm`."""
    n = np.shape(a)[-1]
    return linalg.sinm(blocks(a, e))[..., :n, n:]


def cosm_slope(a, e):
    """The derivative of `linalg.cosm`."""
    n = np.shape(a)[-1]
    return linalg.cosm(blocks(a, e))[..., :n, n:]


def sinhm_slope(a, e):
    """The derivative of `linalg.sinhm`."""
    n = np.shape(a)[-1]
    return linalg.sinhm(blocks(a, e))[..., :n, n:]


def coshm_slope(a, e):
    """The derivative of `linalg.coshm`."""
    n = np.shape(a)[-1]
    return linalg.coshm(blocks(a, e))[..., :n, n:]


def tanm_slope(a, e):
    """The derivative of `linalg.tanm`."""
    n = np.shape(a)[-1]
    return linalg.tanm(blocks(a, e))[..., :n, n:]


def tanhm_slope(a, e):
    """The derivative of `linalg.tanhm`."""
    n = np.shape(a)[-1]
    return linalg.tanhm(blocks(a, e))[..., :n, n:]


@general(linalg.sinm)
def sinm(g, y, A):
    of_matrices(A)
    return sinm_slope(turned(A), g)


@sinm.forward()
def _(y, A, A_dot):
    return sinm_slope(A, A_dot)


@general(linalg.cosm)
def cosm(g, y, A):
    of_matrices(A)
    return cosm_slope(turned(A), g)


@cosm.forward()
def _(y, A, A_dot):
    return cosm_slope(A, A_dot)


@general(linalg.sinhm)
def sinhm(g, y, A):
    of_matrices(A)
    return sinhm_slope(turned(A), g)


@sinhm.forward()
def _(y, A, A_dot):
    return sinhm_slope(A, A_dot)


@general(linalg.coshm)
def coshm(g, y, A):
    of_matrices(A)
    return coshm_slope(turned(A), g)


@coshm.forward()
def _(y, A, A_dot):
    return coshm_slope(A, A_dot)


@general(linalg.tanm)
def tanm(g, y, A):
    of_matrices(A)
    return tanm_slope(turned(A), g)


@tanm.forward()
def _(y, A, A_dot):
    return tanm_slope(A, A_dot)


@general(linalg.tanhm)
def tanhm(g, y, A):
    of_matrices(A)
    return tanhm_slope(turned(A), g)


@tanhm.forward()
def _(y, A, A_dot):
    return tanhm_slope(A, A_dot)


of_complex_numbers(linalg.expm, linalg.expm_frechet, linalg.sinm, linalg.cosm, linalg.tanm, linalg.sinhm, linalg.coshm,
                   linalg.tanhm)  # fmt: skip
may_turn_complex(linalg.sqrtm, linalg.logm, linalg.fractional_matrix_power)
sharing(linalg.fractional_matrix_power)  # the first power is the matrix itself
