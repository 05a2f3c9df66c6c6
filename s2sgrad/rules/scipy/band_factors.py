"""Rules of scipy.linalg for factors of band matrices, companions of Fiedler, and angles between subspaces.

    c = linalg.cholesky_banded(ab)     ->     of the whole matrix: its bands in, those of its factor out
    t = linalg.subspace_angles(A, B)   ->     arccos of the singular values of orth(A).T @ orth(B)

(Golub and Van Loan, "Matrix Computations", 2013, 4.3 and 6.4; Fiedler, "A note on companion matrices", 2003.)
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import flat

# --- bands -----------------------------------------------------------------------------------------------------------


def triangle(ab, lower):
    """The lower triangle with these bands."""
    n, whole = np.shape(ab)[1], np.zeros((np.shape(ab)[1], np.shape(ab)[1]))
    for k in range(np.shape(ab)[0]):
        band = ab[k, : n - k] if lower else ab[np.shape(ab)[0] - 1 - k, k:]
        whole = whole + np.diag(band, -k)
    return whole


@restates(linalg.cholesky_banded)
def cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    ab = np.asarray(ab)
    half = triangle(ab, lower)
    L = np.linalg.cholesky(half + np.tril(half, -1).T)
    rows, n, count = np.zeros((0, np.shape(ab)[1])), np.shape(ab)[1], np.shape(ab)[0]
    for k in range(count):
        j = k if lower else count - 1 - k
        band = np.diagonal(L, -j)
        row = np.concatenate((band, ab[k, n - j :])) if lower else np.concatenate((ab[k, :j], band))
        rows = np.concatenate((rows, row[None]))
    return rows


@restates(linalg.cho_solve_banded, tuples=("cb_and_lower",))
def cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    L = triangle(np.asarray(cb_and_lower[0]), cb_and_lower[1])
    return np.linalg.solve(L @ L.T, np.asarray(b))


# --- companions, and angles ------------------------------------------------------------------------------------------


def plain(n):
    """The companion of x ** n, and what each further coefficient adds."""
    base = linalg.fiedler_companion(np.eye(n + 1)[0])
    each = [linalg.fiedler_companion(np.eye(n + 1)[0] + np.eye(n + 1)[k]) - base for k in range(1, n + 1)]
    return base, np.stack(each)


flat(plain)


@restates(linalg.fiedler_companion)
def fiedler_companion(a):
    base, each = plain(np.size(a) - 1)
    return base + np.tensordot(np.asarray(a)[1:] / a[0], each, 1)


@restates(linalg.subspace_angles)
def subspace_angles(A, B):
    sizes = np.linalg.svd(linalg.orth(A).T @ linalg.orth(B), compute_uv=False)
    return np.flip(np.arccos(np.clip(sizes, -1.0, 1.0)))
