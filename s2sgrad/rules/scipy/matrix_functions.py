"""Rules of scipy.linalg, continued: functions of matrices.

y = linalg.expm(A)           ->  A_bar = expm_slope(A.T, y_bar)
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.scipy.linalg import turned
from s2sgrad.rules.table import general, of_complex_numbers


def expm_slope(a, e):
    """The derivative of `linalg.expm` at `a` in the direction `e`: the corner of the exponential of a matrix of blocks.

    Higham (2008), "Functions of Matrices", (10.43).

    >>> expm_slope(np.zeros((1, 1)), np.ones((1, 1)))
    array([[1.]])
    """
    n = np.shape(a)[-1]
    top = np.concatenate((a, e), axis=-1)
    bottom = np.concatenate((np.zeros_like(a), a), axis=-1)
    return linalg.expm(np.concatenate((top, bottom), axis=-2))[..., :n, n:]


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


of_complex_numbers(linalg.expm)
