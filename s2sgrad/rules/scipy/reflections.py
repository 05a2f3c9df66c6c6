"""Rules of scipy.linalg: the Hessenberg form, products with `q`, balancing; what tells functions of LAPACK.

h = linalg.hessenberg(a)           ->    a_bar = vjp(hessenberg, a)[1](h_bar)[0], of its reflections (Golub and Van
                                         Loan, *Matrix Computations*, 2013, 7.4)
b, t = linalg.matrix_balance(a)    ->    a_bar = inv(t).T @ b_bar @ t.T: t has powers of 2, and is constant between jumps
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal

flat(linalg.find_best_blas_type, linalg.get_blas_funcs, linalg.get_lapack_funcs)


def of_one_matrix(a, calc_q):
    """Refuse stacks of matrices."""
    if np.ndim(a) != 2:
        raise Refusal(None, "hessenberg has a derivative rule for one matrix")
    return calc_q


flat(of_one_matrix)


@restates(linalg.hessenberg)
def hessenberg(a, calc_q=False, overwrite_a=False, check_finite=True):
    both = of_one_matrix(a, calc_q)
    n, h, q = len(a), a * 1.0, np.eye(len(a))
    for k in range(n - 2):
        x = h[k + 1 :, k]
        rest = np.sum(x[1:] ** 2)
        if rest > 0.0:
            length = -np.copysign(1.0, x[0]) * np.sqrt(x[0] ** 2 + rest)
            v = np.concatenate((np.zeros(k + 1), np.array([x[0] - length]), x[1:]))
            turn = np.eye(n) - 2.0 * np.outer(v, v) / np.sum(v * v)
            h = turn @ h @ turn
            q = q @ turn
    h = np.triu(h, -1)
    return (h, q) if both else h


@restates(linalg.qr_multiply)
def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    q, r = linalg.qr(a, mode="economic")
    return (c @ q if mode == "right" else q @ c), r


def scaling(a, permute, scale, separate):
    """The matrix of powers of 2, which is constant."""
    if separate or np.ndim(a) != 2:
        raise Refusal(None, "matrix_balance has a derivative rule for one matrix, without `separate`")
    return linalg.matrix_balance(a, permute, scale)[1].astype(np.result_type(np.asarray(a), np.float32))


flat(scaling)


@general(linalg.matrix_balance)
def matrix_balance(g, y, A, permute=True, scale=True, separate=False, overwrite_a=False):
    t = scaling(A, permute, scale, separate)
    return np.linalg.solve(t.T, g[0] @ t.T)


@matrix_balance.forward()
def _(y, A, A_dot, permute=True, scale=True, separate=False, overwrite_a=False):
    t = scaling(A, permute, scale, separate)
    return np.linalg.solve(t, A_dot @ t), np.zeros_like(t)
