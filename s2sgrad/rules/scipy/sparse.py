"""Rules of scipy.sparse: arrays that are made of their stored entries, or of diagonals.

    A = sparse.csr_array((data, (i, j)))     ->     data_bar = entries(A_bar, (data, (i, j)), A)

The cotangent of a sparse array is a sparse array: of the derivative in its stored entries, of which one that is stored
twice has it twice.  Where an array is stored is constant.  The products are those of `contractions.py`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from s2sgrad.rules.contractions import is_operator, matmul_left, matmul_right
from s2sgrad.rules.table import bilinear, flat, general, linear, with_own_operators
from s2sgrad.runtime import Refusal

# --- stored entries --------------------------------------------------------------------------------------------------


def places(arg, like):
    """The rows and columns of the entries that a matrix is made of, or an error for what holds more than they."""
    if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[1], tuple) and len(arg[1]) == 2:
        return np.asarray(arg[1][0]), np.asarray(arg[1][1])
    if isinstance(arg, tuple) and len(arg) == 3 and like.format in ("csr", "csc"):
        outer = np.repeat(np.arange(len(arg[2]) - 1), np.diff(arg[2]))
        inner = np.asarray(arg[1])[: len(outer)]
        return (outer, inner) if like.format == "csr" else (inner, outer)
    raise Refusal(None, "a sparse matrix of this has no derivative rule: make it of (data, (i, j)) or of its arrays")


def read(g, rows, columns):
    """The elements of a cotangent at these places, 0 where a sparse one has none."""
    if not is_operator(g):
        if np.ndim(g) != 2 and np.any(g):
            raise Refusal(None, "this use of a sparse array has no derivative rule: use a product with it")
        return np.asarray(g)[rows, columns] if np.ndim(g) == 2 else np.zeros(np.shape(rows))
    c = g.tocsr(copy=True)
    c.sum_duplicates()
    c = c.tocoo()
    keys, wanted = c.row * np.int64(c.shape[1]) + c.col, rows * np.int64(c.shape[1]) + columns
    if not len(keys):
        return np.zeros(np.shape(rows), g.dtype)
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[found] == wanted, c.data[found], 0.0).astype(g.dtype)


def entries(g, arg, like):
    """The cotangent of the data that a sparse matrix is made of.

    >>> entries(np.array([[1.0, 2.0], [3.0, 4.0]]), (np.ones(2), ([0, 1], [1, 0])), None).tolist()
    [2.0, 3.0]
    """
    return read(g, *places(arg, like))


def made(data, arg, like):
    """A sparse matrix `like` this one, of other data at the places that `arg` tells."""
    return type(like)((data, places(arg, like)), shape=like.shape)


@linear(entries)
def _(w, y, g, arg, like):
    return made(w, arg, like), None, None


@linear(made)
def _(w, y, data, arg, like):
    return entries(w, arg, like), None, None


@general(sparse.csr_array, sparse.csc_array, sparse.coo_array)
def of_entries(g, A, arg1, shape=None, dtype=None, copy=False):
    data_bar = entries(g, arg1, A)
    return (data_bar, (None, None)) if len(arg1) == 2 else (data_bar, None, None)


@of_entries.forward()
def _(A, arg1, arg1_dot, shape=None, dtype=None, copy=False):
    return made(arg1_dot[0], arg1, A)


# --- methods ---------------------------------------------------------------------------------------------------------

_KINDS = sparse.csr_array, sparse.csc_array, sparse.coo_array


def dense(A):
    """A sparse array as an array."""
    return A.toarray() if is_operator(A) else A


@linear(dense)
def _(g, y, A):
    return g


@general(*{cls.toarray for cls in _KINDS})
def toarray(g, y, self, order=None):
    return g


@toarray.forward()
def _(y, self, self_dot, order=None):
    return dense(self_dot)


def of_array(other):
    """Raise for a product with anything but an array."""
    if is_operator(other) or np.ndim(other) < 1:
        raise Refusal(None, "`dot` of a sparse array has a derivative rule for arrays: use `@`")
    return True


flat(of_array)


@bilinear(*{cls.dot for cls in _KINDS})
def dot(g, y, self, other):
    of_array(other)
    return matmul_left(g, self, other), matmul_right(g, self, other)


def ones(A, axis):
    return np.ones(np.shape(A)[axis])


flat(ones)


@general(*{cls.sum for cls in _KINDS})
def sum_(g, y, self, axis=None):
    if axis is None:
        return matmul_left(g * ones(self, 0), self, ones(self, 1))
    return matmul_left(g, self, ones(self, 1)) if axis in (1, -1) else matmul_left(ones(self, 0), self, g)


# --- diagonals -------------------------------------------------------------------------------------------------------


def lines(diagonals, offsets):
    """The diagonals as a list, and their offsets."""
    if np.ndim(offsets) == 0 and (len(diagonals) == 0 or np.ndim(diagonals[0]) == 0):
        return [diagonals], [int(offsets)]
    return list(diagonals), [int(k) for k in np.atleast_1d(offsets)]


def on_line(k, count):
    """The rows and columns of the first places of a diagonal."""
    return np.arange(count) + max(-k, 0), np.arange(count) + max(k, 0)


def diagonals_of(g, diagonals, offsets, like):
    """The cotangents of the diagonals that an array is made of; one number stands for a whole diagonal."""
    found = []
    for d, k in zip(*lines(diagonals, offsets), strict=True):
        count = min(like.shape[0] - max(-k, 0), like.shape[1] - max(k, 0))
        bar = read(g, *on_line(k, count))
        found.append(bar if np.size(d) == count and np.ndim(d) else np.reshape(np.sum(bar), np.shape(d))[()])
    if isinstance(diagonals, np.ndarray):
        return np.reshape(found, np.shape(diagonals)).astype(diagonals.dtype)
    return (
        found[0] if len(found) == 1 and not isinstance(diagonals[0], (list, tuple, np.ndarray)) else type(diagonals)(found)
    )


def of_diagonals(diagonals, offsets, like):
    """An array of these diagonals, stored as this one is."""
    given, places = lines(diagonals, offsets)
    given = [0.0 if d is None else d for d in given]
    return sparse.diags_array(given, offsets=places, shape=like.shape, format=like.format)


@linear(diagonals_of)
def _(w, y, g, diagonals, offsets, like):
    return of_diagonals(w, offsets, like), None, None, None


@linear(of_diagonals)
def _(w, y, diagonals, offsets, like):
    return diagonals_of(w, diagonals, offsets, like), None, None


@general(sparse.diags)
def diags(g, A, diagonals, offsets=0, shape=None, format=None, dtype=None):
    return diagonals_of(g, diagonals, offsets, A)


@diags.forward()
def _(A, diagonals, diagonals_dot, offsets=0, shape=None, format=None, dtype=None):
    return of_diagonals(diagonals_dot, offsets, A)


@general(sparse.diags_array)
def diags_array(g, A, diagonals, *, offsets=0, shape=None, format=None, dtype=None):
    return diagonals_of(g, diagonals, offsets, A)


@diags_array.forward()
def _(A, diagonals, diagonals_dot, *, offsets=0, shape=None, format=None, dtype=None):
    return of_diagonals(diagonals_dot, offsets, A)


with_own_operators(
    sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.diags, sparse.diags_array, made, of_diagonals
)
