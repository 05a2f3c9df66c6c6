"""Rules of products of arrays: matmul, dot, inner, outer, tensordot.

    z = x @ y                       ->  x_bar = z_bar @ y.T; y_bar = x.T @ z_bar
    z = np.outer(a, b)              ->  a_bar = z_bar @ b; b_bar = a @ z_bar

`matmul_left(g, x, y)` is the cotangent of `x` in `x @ y`, in the shape of `x` and for all ranks, `matmul_right` that of
`y`; with the product itself they are each other's rules.  So are the pair of tensordot, which dot and inner share.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import bilinear, flat
from s2sgrad.runtime import unbroadcast

# --- matmul ----------------------------------------------------------------------------------------------------------


def matmul_left(g, x, y):
    """The cotangent of `x` in `x @ y`; of `x` only the shape is used."""
    if np.ndim(y) == 1:
        return np.expand_dims(g, -1) * y
    if np.ndim(x) == 1:
        return unbroadcast(np.matmul(y, np.expand_dims(g, -1))[..., 0], x)
    return unbroadcast(np.matmul(g, np.swapaxes(y, -1, -2)), x)


def matmul_right(g, x, y):
    """The cotangent of `y` in `x @ y`; of `y` only the shape is used."""
    if np.ndim(x) == 1:
        return g * x if np.ndim(y) == 1 else np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if np.ndim(y) == 1:
        return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), np.expand_dims(g, -1))[..., 0], y)
    return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), g), y)


@bilinear(matmul_left)
def _(w, x_bar, g, x, y):
    return np.matmul(w, y), None, matmul_right(g, w, y)


@bilinear(matmul_right)
def _(w, y_bar, g, x, y):
    return np.matmul(x, w), matmul_left(g, x, w), None


@bilinear(np.matmul, np.linalg.matmul)
def matmul(g, z, x, y):
    return matmul_left(g, x, y), matmul_right(g, x, y)


# --- dot, inner, outer, tensordot ------------------------------------------------------------------------------------


def _axes(a, b, axes):
    """The contracted axes of `a` and of `b`, and those that stay."""
    if isinstance(axes, (int, np.integer)):
        over_a, over_b = range(np.ndim(a) - axes, np.ndim(a)), range(axes)
    else:
        over_a, over_b = (tuple(k) if np.ndim(k) else (k,) for k in axes)
    over_a = [int(k) % np.ndim(a) for k in over_a]
    over_b = [int(k) % np.ndim(b) for k in over_b]
    free_a = [k for k in range(np.ndim(a)) if k not in over_a]
    free_b = [k for k in range(np.ndim(b)) if k not in over_b]
    return over_a, over_b, free_a, free_b


def tensordot_left(g, a, b, axes):
    """The cotangent of `a` in `np.tensordot(a, b, axes)`; of `a` only the shape is used."""
    over_a, over_b, free_a, free_b = _axes(a, b, axes)
    bar = np.tensordot(g, b, (range(len(free_a), np.ndim(g)), free_b))
    order = free_a + [over_a[k] for k in np.argsort(over_b)]
    return np.transpose(bar, np.argsort(order).astype(int))


def tensordot_right(g, a, b, axes):
    """The cotangent of `b` in `np.tensordot(a, b, axes)`; of `b` only the shape is used."""
    over_a, over_b, free_a, free_b = _axes(a, b, axes)
    bar = np.tensordot(a, g, (free_a, range(len(free_a))))
    order = [over_b[k] for k in np.argsort(over_a)] + free_b
    return np.transpose(bar, np.argsort(order).astype(int))


@bilinear(tensordot_left)
def _(w, a_bar, g, a, b, axes=2):
    return np.tensordot(w, b, axes), None, tensordot_right(g, w, b, axes)


@bilinear(tensordot_right)
def _(w, b_bar, g, a, b, axes=2):
    return np.tensordot(a, w, axes), tensordot_left(g, a, w, axes), None


@bilinear(np.tensordot, np.linalg.tensordot)
def tensordot(g, z, a, b, axes=2):
    return tensordot_left(g, a, b, axes), tensordot_right(g, a, b, axes)


def dot_axes(a, b, last=False):
    """The axes that np.dot contracts (`last`: np.inner), as np.tensordot takes them."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return 0
    return (-1,), (-1 if last or np.ndim(b) == 1 else -2,)


flat(dot_axes)


@bilinear(np.dot)
def dot(g, z, x, y):
    axes = dot_axes(x, y)
    return tensordot_left(g, x, y, axes), tensordot_right(g, x, y, axes)


@bilinear(np.inner)
def inner(g, z, x, y):
    axes = dot_axes(x, y, True)
    return tensordot_left(g, x, y, axes), tensordot_right(g, x, y, axes)


@bilinear(np.vdot)
def vdot(g, z, a, b):
    return g * np.reshape(b, np.shape(a)), g * np.reshape(a, np.shape(b))


@bilinear(np.outer, np.linalg.outer)
def outer(g, z, a, b):
    return np.reshape(g @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ g, np.shape(b))


# --- known ranks -----------------------------------------------------------------------------------------------------


def ranks(m, n):
    """The condition that two arguments have these ranks."""
    return lambda x, y: (x.rank, y.rank) == (m, n)


@dot.refined(ranks(2, 2))
@matmul.refined(ranks(2, 2))
def _(g, z, x, y):
    return g @ y.T, x.T @ g


@dot.refined(ranks(1, 2))
@matmul.refined(ranks(1, 2))
def _(g, z, x, y):
    return y @ g, np.outer(x, g)


@dot.refined(ranks(2, 1))
@matmul.refined(ranks(2, 1))
def _(g, z, x, y):
    return np.outer(g, y), g @ x


@inner.refined(ranks(1, 1))
@dot.refined(ranks(1, 1))
@matmul.refined(ranks(1, 1))
@inner.refined(ranks(0, 0))
@dot.refined(ranks(0, 0))
def _(g, z, x, y):
    return g * y, g * x


@inner.refined(ranks(2, 2))
def _(g, z, x, y):
    return g @ y, g.T @ x
