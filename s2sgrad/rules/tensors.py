"""Rules of tensorinv, tensorsolve and cond of np.linalg: those of matrices, of other shapes.

y = np.linalg.tensorinv(a, ind)  ->  a_bar = -y.T @ y_bar @ y.T                      of the matrices that the axes make
y = np.linalg.cond(x)            ->  x_bar = y_bar * (u v / s of the largest and of the smallest singular value)
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import flat, general


def square(a):
    """A tensor as the matrix that it is for tensorinv and tensorsolve."""
    return np.reshape(a, (round(np.size(a) ** 0.5), -1))


@general(np.linalg.tensorinv)
def tensorinv(g, y, a, ind=2):
    turned = np.transpose(square(y))
    return np.reshape(-turned @ square(g) @ turned, np.shape(a))


@tensorinv.forward()
def _(y, a, a_dot, ind=2):
    return np.reshape(-square(y) @ square(a_dot) @ square(y), np.shape(y))


@general(np.linalg.tensorsolve)
def tensorsolve(g, y, a, b, axes=None):
    b_bar = np.linalg.solve(np.transpose(square(a)), np.ravel(g))
    return np.reshape(-np.outer(b_bar, y), np.shape(a)), np.reshape(b_bar, np.shape(b))


@tensorsolve.forward()
def _(y, a, b, a_dot, b_dot, axes=None):
    a_term = np.linalg.solve(square(a), -square(a_dot) @ np.ravel(y))
    return np.reshape(a_term, np.shape(y)), np.reshape(np.linalg.solve(square(a), np.ravel(b_dot)), np.shape(y))


tensorsolve.refuse(
    lambda axes: not (axes.known and axes.value is None),
    "`np.linalg.tensorsolve` with `axes` has no derivative rule: move the axes by np.moveaxis first",
)


def order_of(p):
    """1 where the condition number divides by the smallest singular value, -1 where by the largest."""
    return -1.0 if p == -2 else 1.0


flat(order_of)


@general(np.linalg.cond)
def cond(g, y, x, p=None):
    sides = np.linalg.svd(x, full_matrices=False)
    u, s, v = sides[0], sides[1], sides[2]
    slope = np.expand_dims(u[..., :, 0], -1) * np.expand_dims(v[..., 0, :] / s[..., :1], -2)
    slope = slope - np.expand_dims(u[..., :, -1], -1) * np.expand_dims(v[..., -1, :] / s[..., -1:], -2)
    return np.expand_dims(g * y * order_of(p), (-1, -2)) * slope


cond.refuse(
    lambda p: not (p.known and p.value in (None, 2, -2)),
    "`np.linalg.cond` has a derivative rule for p=2 and -2 alone: use norm(x, p) * norm(inv(x), p) of np.linalg",
)
