"""Rules of scipy.linalg: matrices whose diagonals are constant, and others that are made of vectors.

    t = linalg.toeplitz(c, r)                ->     c_bar, r_bar: the sums of t_bar along its diagonals
    y = linalg.solve_toeplitz((c, r), b)     ->     b_bar = linalg.solve_toeplitz((r, c), y_bar); t_bar = -outer(b_bar, y)

The transpose of the matrix of a column and a row is that of the row and the column; where they meet the column counts.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.reductions import is_container, of_arrays
from s2sgrad.rules.scipy.linalg import of_rank, outer
from s2sgrad.rules.table import bilinear, flat, general, linear, of_complex_numbers, paired

# --- sums along diagonals --------------------------------------------------------------------------------------------


def rising_sums(m):
    """The sums of a matrix along its diagonals from the lower left to the upper right, from the first element on.

    >>> rising_sums(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [1.0, 5.0, 4.0]
    """
    rows, columns = np.shape(m)
    wide = np.concatenate((m, np.zeros((rows, rows), m.dtype)), axis=1)  # shifted by one more in each row
    return np.sum(np.reshape(np.ravel(wide)[: rows * (rows + columns - 1)], (rows, rows + columns - 1)), axis=0)


def first_column(m):
    """The sums along the diagonals that begin in the first column."""
    return rising_sums(m[:, ::-1])[np.shape(m)[1] - 1 :]


def first_row(m):
    """The sums along those that begin in the first row; the first of them is counted with the column: 0."""
    sums = rising_sums(m[::-1])[np.shape(m)[0] - 1 :]
    return np.concatenate((np.zeros_like(sums[:1]), sums[1:]))


@linear(linalg.toeplitz)
def toeplitz(g, y, c, r=None):
    of_rank(1, c)
    of_rank(1, c if r is None else r)
    if r is None:
        return np.reshape(first_column(g) + first_row(g), np.shape(c))
    return np.reshape(first_column(g), np.shape(c))


@toeplitz.refined(lambda complex: complex)
def _(g, y, c, r=None):
    of_rank(1, c)
    of_rank(1, c if r is None else r)
    bar = first_column(g) + np.conj(first_row(g)) if r is None else first_column(g)  # a Hermitian matrix, without a row
    return np.reshape(bar, np.shape(c))


@toeplitz.keyword("r")
def _(g, y, c, r=None):
    of_rank(1, c, r)
    return np.reshape(first_row(g), np.shape(r))


@linear(linalg.hankel)
def hankel(g, y, c, r=None):
    return np.reshape(rising_sums(g)[: np.size(c)], np.shape(c))


@hankel.keyword("r")
def _(g, y, c, r=None):
    sums = rising_sums(g)[np.size(c) - 1 :]
    return np.reshape(np.concatenate((np.zeros_like(sums[:1]), sums[1:])), np.shape(r))


# --- circulants ------------------------------------------------------------------------------------------------------


def around(n):
    """The rows in which element k of the column of a circulant stands: (k + j) % n in column j."""
    return (np.expand_dims(np.arange(n), 1) + np.arange(n)) % n


flat(around)


def sums_around(m):
    """The sums of square matrices along their diagonals, each continued on the other side."""
    n = np.shape(m)[-1]
    return np.sum(m[..., around(n), np.arange(n)], axis=-1)


@linear(linalg.circulant)
def circulant(g, y, c):
    return np.reshape(sums_around(g), np.shape(c))


@general(linalg.solve_circulant)
def solve_circulant(g, y, c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    of_rank(1, c)
    of_rank(max(np.ndim(b), 1), b)
    b_bar = linalg.solve_circulant(np.roll(c[::-1], 1), g, singular, tol)
    return -sums_around(outer(b_bar, y, np.ndim(b) == 1)), b_bar


solve_circulant.refuse(
    lambda caxis, baxis, outaxis: (caxis.value, baxis.value, outaxis.value) != (-1, 0, 0),
    "`scipy.linalg.solve_circulant` along other axes has no derivative rule: move them first",
)

solve_circulant.refuse(
    lambda c: is_container(c), "`scipy.linalg.solve_circulant` of a list has no derivative rule: pass an array"
)

# --- equations and products ------------------------------------------------------------------------------------------


def column(c_or_cr, b):
    """The first column of a Toeplitz matrix, and right sides that are one vector or one matrix."""
    c = c_or_cr[0] if isinstance(c_or_cr, tuple) else c_or_cr
    return of_rank(1, c) and of_rank(min(np.ndim(b), 2), b)


flat(column)


def turned_column(c_and_row):
    """The first column of the transpose: the row, which begins with what the column begins with."""
    return np.concatenate((c_and_row[0][:1], c_and_row[1][1:]))


@general(linalg.solve_toeplitz)
def solve_toeplitz(g, y, c_or_cr, b, *, check_finite=True):
    column(c_or_cr, b)
    if isinstance(c_or_cr, tuple):
        b_bar = linalg.solve_toeplitz((turned_column(c_or_cr), c_or_cr[0]), g)
        t_bar = -outer(b_bar, y, np.ndim(b) == 1)
        return (first_column(t_bar), first_row(t_bar)), b_bar
    b_bar = linalg.solve_toeplitz(c_or_cr, g)
    t_bar = -outer(b_bar, y, np.ndim(b) == 1)
    return first_column(t_bar) + first_row(t_bar), b_bar


@solve_toeplitz.refined(lambda complex: complex)
def _(g, y, c_or_cr, b, *, check_finite=True):
    column(c_or_cr, b)
    first = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))
    b_bar = linalg.solve_toeplitz((turned_column(first), first[0]), g)
    t_bar = -outer(b_bar, y, np.ndim(b) == 1)
    if isinstance(c_or_cr, tuple):
        return (first_column(t_bar), first_row(t_bar)), b_bar
    return first_column(t_bar) + np.conj(first_row(t_bar)), b_bar


@general(linalg.matmul_toeplitz)
def matmul_toeplitz(g, y, c_or_cr, x, *, check_finite=False, workers=None):
    column(c_or_cr, x)
    t_bar = outer(g, x, np.ndim(x) == 1)
    if isinstance(c_or_cr, tuple):
        x_bar = linalg.matmul_toeplitz((turned_column(c_or_cr), c_or_cr[0]), g)
        return (first_column(t_bar), first_row(t_bar)), x_bar
    return first_column(t_bar) + first_row(t_bar), linalg.matmul_toeplitz(c_or_cr, g)


paired("c_or_cr", linalg.solve_toeplitz, linalg.matmul_toeplitz)


# --- others ----------------------------------------------------------------------------------------------------------


@general(linalg.companion)
def companion(g, y, a):
    of_rank(1, a)
    row, rest, head = g[..., 0, :], a[..., 1:], a[..., :1]
    return np.concatenate((np.sum(row * rest, axis=-1, keepdims=True) / (head * head), -row / head), axis=-1)


def cut(m, n, mode):
    """How many rows of the whole matrix of a convolution a mode leaves out, above and below."""
    trim = 0 if mode == "full" else min(m, n) - 1
    above = trim if mode == "valid" else trim // 2
    return above, trim if mode == "valid" else trim - above


flat(cut)


@general(linalg.convolution_matrix)
def convolution_matrix(g, y, a, n, mode="full"):
    of_rank(1, a)
    size = np.shape(a)[-1]
    whole = np.pad(g, (cut(size, n, mode), (0, 0)))
    return first_column(whole)[:size], None


@convolution_matrix.forward()
def _(y, a, n, a_dot, n_dot, mode="full"):
    return linalg.convolution_matrix(a_dot, n, mode), None


@linear(linalg.leslie)
def leslie(g, y, f, s):
    of_rank(1, f, s)
    return g[..., 0, :], np.diagonal(g, -1, -2, -1)


@linear(linalg.diagsvd)
def diagsvd(g, y, s, M, N):
    return np.diagonal(g, 0, -2, -1), None, None


@general(linalg.fiedler)
def fiedler(g, y, a):
    of_rank(1, a)
    both = g + np.swapaxes(g, -1, -2)
    return np.sum(both * np.sign(np.expand_dims(a, -1) - np.expand_dims(a, -2)), axis=-1)


@bilinear(linalg.khatri_rao)
def khatri_rao(g, y, a, b):
    of_rank(2, a, b)
    apart = np.reshape(g, (np.shape(a)[0], np.shape(b)[0], -1))
    return np.sum(apart * b, axis=1), np.sum(apart * np.expand_dims(a, 1), axis=0)


flat(linalg.bandwidth, linalg.issymmetric, linalg.ishermitian)


of_complex_numbers(
    linalg.toeplitz,
    linalg.solve_toeplitz,
    linalg.circulant,
    linalg.hankel,
    linalg.solve_circulant,
    linalg.khatri_rao,
    linalg.convolution_matrix,
    linalg.companion,
)


of_arrays(linalg.companion)
