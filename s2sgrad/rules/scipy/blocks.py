"""Rules of scipy.linalg for norms and matrices of blocks: norm, block_diag.

y = linalg.block_diag(a, b)     ->  a_bar, b_bar = diagonal_blocks(y_bar, (a, b))
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.complex_matrices import norm_slope as complex_slope
from s2sgrad.rules.norms import along_squares, norm_slope, of_squares, of_squares_dropped
from s2sgrad.rules.reductions import whole
from s2sgrad.rules.singular import enter_norm
from s2sgrad.rules.table import general, linear, of_complex_numbers
from s2sgrad.runtime import Refusal, over, unreduce


@general(linalg.norm)
def norm(g, y, a, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return unreduce(g, a, axis, keepdims) * norm_slope(y, a, ord, axis, keepdims)


@norm.forward()
def _(y, a, a_dot, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return np.sum(norm_slope(y, a, ord, axis, keepdims) * a_dot, axis=axis, keepdims=keepdims)


@norm.refined(lambda ord, axis: ord.known and ord.value is None and axis.known and axis.value is None)
def _(g, y, a, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return g * over(a, y)


@norm.refined(lambda a, ord: a.rank == 1 and ord.known and ord.value in (None, 2))
def _(g, y, a, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return g * over(a, y)


@norm.refined(lambda a, ord, axis, keepdims: along_squares(a, ord, axis, keepdims))
def _(g, y, a, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return np.expand_dims(g, axis) * over(a, np.expand_dims(y, axis))


@norm.forward(lambda a, ord: of_squares(a, ord))
def _(y, a, a_dot, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return over(np.sum(a * a_dot, axis=axis, keepdims=keepdims), y)


@norm.forward(lambda a, ord, keepdims: of_squares_dropped(a, ord, keepdims))
def _(y, a, a_dot, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return over(np.sum(a * a_dot, axis=axis), y)


@norm.forward(lambda a, ord, axis, keepdims: of_squares_dropped(a, ord, keepdims) and whole(a, axis))
def _(y, a, a_dot, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return over(np.sum(a * a_dot), y)


enter_norm(linalg.norm)


@norm.refined(lambda complex: complex)
def _(g, y, a, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return unreduce(g, a, axis, keepdims) * complex_slope(y, a, ord, axis, keepdims)


@norm.forward(lambda complex: complex)
def _(y, a, a_dot, ord=None, axis=None, keepdims=False, *, check_finite=True):
    return np.sum(complex_slope(y, a, ord, axis, keepdims) * a_dot, axis=axis, keepdims=keepdims)


def diagonal_blocks(g, arrs):
    """The blocks on the diagonal of `g`, in the shapes of `arrs`.

    >>> diagonal_blocks(np.eye(2), (np.zeros((1, 1)), np.zeros((1, 1))))
    (array([[1.]]), array([[1.]]))
    """
    if np.ndim(g) > 2:
        raise Refusal(None, "block_diag of stacks of matrices has no derivative rule: join each alone")
    pieces, row, column = [], 0, 0
    for a in arrs:
        m, n = np.atleast_2d(a).shape
        pieces.append(np.reshape(g[row : row + m, column : column + n], np.shape(a)))
        row, column = row + m, column + n
    return tuple(pieces)


def joined_blocks(w, g):
    """The transpose of `diagonal_blocks`: the arrays `w` on the diagonal of zeros."""
    return linalg.block_diag(*w)


@linear(linalg.block_diag)
def block_diag(g, y, *arrs):
    return diagonal_blocks(g, arrs)


@linear(diagonal_blocks)
def _(w, pieces, g, arrs):
    return joined_blocks(w, g), None


@linear(joined_blocks)
def _(v, y, w, g):
    return diagonal_blocks(v, w), None


of_complex_numbers(linalg.norm, linalg.block_diag, diagonal_blocks, joined_blocks)
