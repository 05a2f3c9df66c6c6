"""Rules of scipy.linalg: eigenvalues of any square matrices: eig, eigvals.

    w = linalg.eigvals(a, b)     ->     a_bar = inv(b @ v).T @ diag(w_bar) @ v.T

As those of `np.linalg` (`rules/eigenvalues.py`).  From `a @ v = b @ v * w` the tangents of the eigenvalues are the diagonal
of `inv(b @ v) @ a_dot @ v`; `b` is constant.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.eigenvalues import eig_along, eig_bar, order_of
from s2sgrad.rules.table import general, may_turn_complex


def vectors_of(a, b, w):
    """The eigenvectors in the order of the eigenvalues `w`."""
    parts = linalg.eig(a, b)
    return np.take_along_axis(parts[1], np.expand_dims(order_of(w, parts[0]), -2), -1)


@general(linalg.eig)
def eig(g, y, a, b=None, left=False, right=True, *, check_finite=True, homogeneous_eigvals=False):
    return eig_bar(g[0], g[1], y[0], y[1])


@eig.forward()
def _(y, a, a_dot, b=None, left=False, right=True, *, check_finite=True, homogeneous_eigvals=False):
    return eig_along(y[0], y[1], a_dot)


eig.refuse(
    lambda b, left, right, homogeneous_eigvals: (
        not all(
            k.known and k.value is usual
            for k, usual in ((b, None), (left, False), (right, True), (homogeneous_eigvals, False))
        )
    ),
    "`scipy.linalg.eig` has a derivative rule for the right eigenvectors of one matrix alone: use `eigvals` for eigenvalues",
)


@general(linalg.eigvals)
def eigvals(g, w, a, b=None, *, check_finite=True, homogeneous_eigvals=False):
    v = vectors_of(a, b, w)
    sides = np.swapaxes(v if b is None else b @ v, -1, -2)
    return np.linalg.solve(sides, np.expand_dims(g, -1) * np.swapaxes(v, -1, -2))


eigvals.refuse(
    lambda homogeneous_eigvals: not (homogeneous_eigvals.known and homogeneous_eigvals.value is False),
    "homogeneous eigenvalues have no derivative rule: leave out `homogeneous_eigvals`",
)
may_turn_complex(linalg.eig, linalg.eigvals)
