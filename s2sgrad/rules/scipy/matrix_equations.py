"""Rules of scipy.linalg: matrix equations: Sylvester's, Lyapunov's, Riccati's.

    x = linalg.solve_sylvester(a, b, q)     ->     q_bar = linalg.solve_sylvester(a.T, b.T, x_bar)
                                                   a_bar = -q_bar @ x.T; b_bar = -x.T @ q_bar

The tangent of an equation is one of the same kind in the tangent of `x`, whose transpose gives `q_bar`; the other cotangents
are those of the terms that `a` and `b` stand in.  That of Riccati's equation is Lyapunov's, with the closed loop
`a - b @ k` (Kao and Hennequin, 2020, arXiv:2011.11430).  Its solution is symmetric, as are `q` and `r`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.linalg import adjoint
from s2sgrad.rules.scipy.linalg import of_matrices, of_rank, turned
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal, unbroadcast


def one_of_each(a, b, q, complex):
    return a.rank == b.rank == q.rank == 2 and not complex


def both_matrices(a, q):
    return a.rank == q.rank == 2


def require_complex(x, *matrices):
    """Refuse complex solutions for real matrices, which SciPy solves wrongly where these have complex eigenvalues."""
    if np.iscomplexobj(x) and any(not np.iscomplexobj(m) and np.any(np.imag(np.linalg.eigvals(m))) for m in matrices):
        raise Refusal(
            None, "a complex solution with a real matrix has no derivative, for SciPy's own may be wrong: pass a + 0j"
        )


flat(require_complex)


@general(linalg.solve_sylvester)
def solve_sylvester(g, x, a, b, q):
    of_matrices(a, b, q)
    require_complex(x, a, b)
    q_bar = linalg.solve_sylvester(turned(a), turned(b), g)
    return unbroadcast(-(q_bar @ turned(x)), a), unbroadcast(-(turned(x) @ q_bar), b), unbroadcast(q_bar, q)


@solve_sylvester.refined(one_of_each)
def _(g, x, a, b, q):
    q_bar = linalg.solve_sylvester(a.T, b.T, g)
    return -(q_bar @ x.T), -(x.T @ q_bar), q_bar


@solve_sylvester.forward(one_of_each)
def _(x, a, b, q, a_dot, b_dot, q_dot):
    along_a = -linalg.solve_sylvester(a, b, a_dot @ x)
    return along_a, -linalg.solve_sylvester(a, b, x @ b_dot), linalg.solve_sylvester(a, b, q_dot)


@solve_sylvester.forward_jointly(one_of_each)
def _(x, a, b, q, a_dot, b_dot, q_dot):
    return linalg.solve_sylvester(a, b, q_dot - a_dot @ x - x @ b_dot)


@general(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(g, x, a, q):
    of_rank(2, a, q)
    q_bar = linalg.solve_continuous_lyapunov(adjoint(a), np.conj(g))
    return np.conj(-(q_bar @ adjoint(x) + adjoint(q_bar) @ x)), np.conj(q_bar)


@solve_continuous_lyapunov.forward(both_matrices)
def _(x, a, q, a_dot, q_dot):
    change = a_dot @ x + x @ adjoint(a_dot)
    return -linalg.solve_continuous_lyapunov(a, change), linalg.solve_continuous_lyapunov(a, q_dot)


def of_one_shape(a, q):
    """Raise where one is a number, or a matrix of one, which SciPy spreads."""
    if np.shape(a) != np.shape(q):
        raise Refusal(None, "solve_discrete_lyapunov of matrices of two shapes has no derivative rule")
    return of_rank(2, a, q)


flat(of_one_shape)


@general(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(g, x, a, q, method=None):
    of_one_shape(a, q)
    require_complex(x, a)
    q_bar = linalg.solve_discrete_lyapunov(adjoint(a), np.conj(g), method)
    return np.conj(q_bar @ a @ adjoint(x) + adjoint(q_bar) @ a @ x), np.conj(q_bar)


@solve_discrete_lyapunov.forward(both_matrices)
def _(x, a, q, a_dot, q_dot, method=None):
    change = a_dot @ x @ adjoint(a) + a @ x @ adjoint(a_dot)
    return linalg.solve_discrete_lyapunov(a, change, method), linalg.solve_discrete_lyapunov(a, q_dot, method)


@general(linalg.solve_continuous_are)
def solve_continuous_are(g, x, a, b, q, r, *, balanced=True):
    of_rank(2, a, b, q, r)
    k = np.linalg.solve(r, turned(b) @ x)
    s = linalg.solve_continuous_lyapunov(a - b @ k, -0.5 * (g + turned(g)))
    return 2.0 * (x @ s), -2.0 * (x @ s @ turned(k)), s, k @ s @ turned(k)


@general(linalg.solve_discrete_are)
def solve_discrete_are(g, x, a, b, q, r, *, balanced=True):
    of_rank(2, a, b, q, r)
    k = np.linalg.solve(r + turned(b) @ x @ b, turned(b) @ x @ a)
    loop = a - b @ k
    s = linalg.solve_discrete_lyapunov(loop, 0.5 * (g + turned(g)))
    a_bar = 2.0 * (x @ loop @ s)
    return a_bar, -(a_bar @ turned(k)), s, k @ s @ turned(k)


of_complex_numbers(linalg.solve_sylvester, linalg.solve_discrete_lyapunov)
