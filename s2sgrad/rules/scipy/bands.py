"""Rules of scipy.linalg for matrices that are stored by their diagonals: solving, Cholesky factors, eigenvalues.

    y = linalg.solve_banded((l, u), ab, b)     ->     b_bar = linalg.solve_banded((u, l), turned(ab), y_bar)
                                                      ab_bar = the band of -np.outer(b_bar, y)

`ab[u + i - j, j]` is element (i, j); what lies outside of the matrix is not read, and gets 0.  Of a symmetric matrix one
half of the band is stored, of which each element stands for two.  The formulas are those of whole matrices (`linalg.py`,
`spectra.py`).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.linalg import of_rank
from s2sgrad.rules.scipy.spectra import skew_per_gap
from s2sgrad.rules.spectra import asked, mixing, on_diagonal, per_gap, rounding, sizes
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- bands -----------------------------------------------------------------------------------------------------------


def of_band(ab, b):
    """Raise for stacks, and for the band of a matrix of one element, of which SciPy reads the first number."""
    if np.ndim(ab) == 2 and np.shape(ab)[1] == 1:
        raise Refusal(None, "the band of a matrix of one element has no derivative rule")
    return of_rank(2, ab) and of_rank(min(np.ndim(b), 2), b)


def row_of(height, width, above):
    """The row in the matrix of each element of a band of which `above` diagonals lie above the main one."""
    return np.expand_dims(np.arange(height), 1) - above + np.arange(width)


def is_inside(rows, width):
    return np.logical_and(rows >= 0, rows < width)


def clipped(rows, width):
    return np.clip(rows, 0, width - 1)


flat(of_band, row_of, is_inside, clipped)


def elements(m, height, above):
    """The band of a square matrix.

    >>> elements(np.array([[1.0, 2.0], [3.0, 4.0]]), 2, 1).tolist()
    [[0.0, 2.0], [1.0, 4.0]]
    """
    width = np.shape(m)[-1]
    rows = row_of(height, width, above)
    return np.where(is_inside(rows, width), m[clipped(rows, width), np.arange(width)], 0.0)


def turned_band(ab, above):
    """The band of the transpose, of as many diagonals below the main one as there were above."""
    height, width = np.shape(ab)
    rows = row_of(height, width, height - 1 - above)
    mirrored = np.expand_dims(np.arange(height)[::-1], 1)
    return np.where(is_inside(rows, width), ab[mirrored, clipped(rows, width)], 0.0)


def of_products(u, v, height, above):
    """The band of `u @ v.T`, of vectors or of matrices of columns."""
    width = np.shape(u)[0]
    rows = row_of(height, width, above)
    terms = u[clipped(rows, width)] * v
    summed = np.sum(np.reshape(terms, (height, width, -1)), axis=-1)
    return np.where(is_inside(rows, width), summed, 0.0)


# --- solving ---------------------------------------------------------------------------------------------------------


@general(linalg.solve_banded)
def solve_banded(g, y, l_and_u, ab, b, *, check_finite=True):
    of_band(ab, b)
    below, above = l_and_u[0], l_and_u[1]
    b_bar = linalg.solve_banded((above, below), turned_band(ab, above), g)
    return None, -of_products(b_bar, y, below + above + 1, above), b_bar


def above_of(height, lower):
    """How many diagonals of a symmetric band are stored above the main one."""
    return 0 if lower else height - 1


flat(above_of)


@general(linalg.solveh_banded)
def solveh_banded(g, y, ab, b, *, lower=False, check_finite=True):
    of_band(ab, b)
    b_bar, height = linalg.solveh_banded(ab, g, lower=lower), np.shape(ab)[0]
    above = above_of(height, lower)
    both = of_products(b_bar, y, height, above) + of_products(y, b_bar, height, above)
    return np.where(is_main(height, above), -0.5 * both, -both), b_bar


def is_main(height, above):
    """Which row of a band is the main diagonal."""
    return np.expand_dims(np.arange(height) == above, 1)


flat(is_main)

# --- eigenvalues of symmetric bands ----------------------------------------------------------------------------------


def eigen_bar(g, y, only_values, vectors):
    """The cotangent of a symmetric matrix: symmetric, each element for itself."""
    if only_values:
        return (vectors * g) @ vectors.T
    k = y[1].T @ g[1]
    core = np.where(on_diagonal(k), g[0], skew_per_gap(k, y[0], asked(sizes(g[1]), False)))
    full = y[1] @ core @ y[1].T
    return 0.5 * (full + full.T)


def eigen_along(w, vectors, dot, only_values):
    """The tangents of eigenvalues and eigenvectors, given that of the symmetric matrix; nan where it mixes equal ones."""
    core = vectors.T @ dot @ vectors
    if only_values:
        return np.diagonal(core)
    turned = per_gap(core, np.expand_dims(w, -2) - np.expand_dims(w, -1), rounding(w), mixing(core, False))
    return np.diagonal(core), vectors @ turned


def along_main(y, d, e, dot, only_values):
    """The tangents of those of a matrix with three diagonals."""
    of_rank(1, d, e)
    parts = linalg.eigh_tridiagonal(d, e) if only_values else y
    return eigen_along(parts[0], parts[1], dot, only_values)


def along_band(y, a_band, dot, lower, only_values):
    """The tangents of those of a band."""
    of_band(a_band, a_band)
    parts = linalg.eig_banded(a_band, lower) if only_values else y
    return eigen_along(parts[0], parts[1], dot, only_values)


def beside_main(e):
    """The symmetric matrix with these numbers beside its diagonal."""
    return np.diag(e, 1) + np.diag(e, -1)


def places_of(band, lower):
    """Where a symmetric band has the elements of the lower triangle, by rows and columns; and which it has."""
    n, height = np.shape(band)[-1], np.shape(band)[0]
    row, column = np.expand_dims(np.arange(n), -1), np.arange(n)
    distance = row - column
    stored = np.clip(distance, 0, height - 1)
    here = np.logical_and(distance >= 0, distance < height)
    return (stored, column, here) if lower else (height - 1 - stored, row, here)


def matrix_of(band, lower):
    """The symmetric matrix of the half of a band."""
    stored, column, here = places_of(band, lower)
    below = np.where(here, band[stored, column], 0.0)
    return below + np.tril(below, -1).T


flat(places_of)


def every(select):
    """All eigenvalues are wanted."""
    return select.known and select.value in ("a", "all", 0)


_SOME = "some eigenvalues of a band have no derivative rule: take all of them, or `eigh` with `subset_by_index`"


@general(linalg.eigh_tridiagonal)
def eigh_tridiagonal(g, y, d, e, eigvals_only=False, select="a", select_range=None, *, check_finite=True, tol=0.0,
                     lapack_driver="auto"):  # fmt: skip
    of_rank(1, d, e)
    vectors = linalg.eigh_tridiagonal(d, e)[1] if eigvals_only else y[1]
    bar = eigen_bar(g, y, eigvals_only, vectors)
    return np.diagonal(bar), 2.0 * np.diagonal(bar, 1)


@eigh_tridiagonal.forward()
def _(y, d, e, d_dot, e_dot, eigvals_only=False, select="a", select_range=None, *, check_finite=True, tol=0.0,
      lapack_driver="auto"):  # fmt: skip
    return along_main(y, d, e, np.diag(d_dot), eigvals_only), along_main(y, d, e, beside_main(e_dot), eigvals_only)


@general(linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(g, y, d, e, select="a", select_range=None, *, check_finite=True, tol=0.0, lapack_driver="auto"):
    of_rank(1, d, e)
    bar = eigen_bar(g, y, True, linalg.eigh_tridiagonal(d, e)[1])
    return np.diagonal(bar), 2.0 * np.diagonal(bar, 1)


def half_band(bar, height, lower):
    """The cotangent of the half of a symmetric band that is stored."""
    above = above_of(height, lower)
    band = elements(bar, height, above)
    return np.where(is_main(height, above), band, 2.0 * band)


@general(linalg.eig_banded)
def eig_banded(g, y, a_band, lower=False, eigvals_only=False, *, select="a", select_range=None, max_ev=0, check_finite=True):
    of_band(a_band, a_band)
    vectors = linalg.eig_banded(a_band, lower)[1] if eigvals_only else y[1]
    return half_band(eigen_bar(g, y, eigvals_only, vectors), np.shape(a_band)[0], lower)


@eig_banded.forward()
def _(y, a_band, a_band_dot, lower=False, eigvals_only=False, *, select="a", select_range=None, max_ev=0,
      check_finite=True):  # fmt: skip
    return along_band(y, a_band, matrix_of(a_band_dot, lower), lower, eigvals_only)


@general(linalg.eigvals_banded)
def eigvals_banded(g, y, a_band, lower=False, *, select="a", select_range=None, check_finite=True):
    of_band(a_band, a_band)
    return half_band(eigen_bar(g, y, True, linalg.eig_banded(a_band, lower)[1]), np.shape(a_band)[0], lower)


for _rule in (eigh_tridiagonal, eigvalsh_tridiagonal, eig_banded, eigvals_banded):
    _rule.refuse(lambda select: not every(select), _SOME)

_LISTS = "`solve_banded` of a list has no derivative rule: pass an array"
solve_banded.refuse(lambda ab: is_container(ab), _LISTS)
solve_banded.refuse(lambda b: is_container(b), _LISTS)


of_complex_numbers(linalg.solve_banded)
