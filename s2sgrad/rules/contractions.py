"""Rules of products of arrays: matmul, dot, inner, outer, tensordot; and of vectors in arrays: vecdot, cross, kron.

    z = x @ y                       ->  x_bar = z_bar @ y.T; y_bar = x.T @ z_bar
    z = np.outer(a, b)              ->  a_bar = z_bar @ b; b_bar = a @ z_bar

`matmul_left(g, x, y)` is the cotangent of `x` in `x @ y`, in the shape of `x` and for all ranks, `matmul_right` that of
`y`; with the product itself they are each other's rules.  So are the pair of tensordot, which dot and inner share.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import bilinear, existing, flat
from s2sgrad.runtime import Refusal, unbroadcast
from s2sgrad.runtime.asking import has, its

# --- matmul ----------------------------------------------------------------------------------------------------------


def is_operator(x):
    """Whether `x` is a matrix of another library, which has the products and the transpose of one: a sparse one.

    >>> is_operator(np.eye(2)), is_operator(2.0), is_operator([[1.0]])
    (False, False, False)
    """
    foreign = its(x, "__array_ufunc__", None) is None  # None itself says that NumPy's functions are not for it
    return foreign and hasattr(x, "T") and has(x, "__matmul__")


flat(is_operator)


def is_small(x):
    """Whether all elements of a sparse matrix may be told.

    SciPy does not store what is 0 by chance, as in `A - A.T`: where a matrix is stored is not all that its cotangent is
    asked for.  That of a large one is told where it is stored, and what leaves elements out is refused there.
    """
    return x.shape[0] * x.shape[-1] <= SMALL


SMALL = 2**14
flat(is_small)


def at_stored_places(g, x, y):
    """`np.outer(g, y)`, of matrices `g @ y.T`, as a sparse matrix; of a large one `x` where it has entries.  None where it
    has none, as an operator."""
    if not has(x, "tocsr"):
        return None
    if len(x.shape) == 1:
        return type(x.tocoo())(np.dot(y, g))
    if is_small(x):
        return type(x.tocsr())(np.outer(g, y) if np.ndim(y) == 1 else g @ np.transpose(y))
    whole = x.tocoo().tocsr(copy=True) if x.format != "dia" else with_zeros(x)
    whole.sum_duplicates()
    c = whole.tocoo()
    terms = g[c.row] * y[c.col]
    whole.data = np.sum(terms, axis=tuple(range(1, terms.ndim)))
    return whole


def pattern(x):
    """Ones where a sparse matrix stores something, zeros too."""
    if x.format == "dia":
        return with_zeros(x)
    ones = x.tocsr(copy=True)
    ones.data = np.ones(np.shape(ones.data))
    return ones


def stored_product(x, y):
    """Raise Refusal for a large product of sparse matrices that has left out elements, which are 0 by chance."""
    if not (has(x, "tocsr") and has(y, "tocsr")) or len(x.shape) + len(y.shape) < 4:
        return True
    if x.shape[0] * y.shape[1] > SMALL and (x @ y).nnz < (pattern(x) @ pattern(y)).nnz:
        raise Refusal(None, "an element of a product of large sparse matrices is 0 by chance and not stored, so that its "
                            "derivative is not known: multiply with vectors, as in `A @ (B @ x)`")  # fmt: skip
    return True


flat(stored_product)


def with_zeros(x):
    """A sparse matrix of diagonals by rows, with the zeros on them."""
    marked = x.copy()
    marked.data = np.ones(np.shape(x.data))
    return marked.tocsr()


def _as_array(x):
    """A matrix or a vector; of a list or a named tuple, the array that NumPy multiplies by.

    >>> _as_array((1.0, 2.0))
    array([1., 2.])
    """
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def matmul_left(g, x, y):
    """The cotangent of `x` in `x @ y`; of `x` only the shape is used.  Both may be sparse matrices: where `x` is stored."""
    if is_operator(x) and not is_operator(y):
        return at_stored_places(g, x, y)
    if is_operator(y):
        stored_product(x, y)
        return g @ y.T
    y = _as_array(y)
    if np.ndim(y) == 1:
        return np.expand_dims(g, -1) * y
    if np.ndim(x) == 1:
        return unbroadcast(np.matmul(y, np.expand_dims(g, -1))[..., 0], x)
    return unbroadcast(np.matmul(g, np.swapaxes(y, -1, -2)), x)


def matmul_right(g, x, y):
    """The cotangent of `y` in `x @ y`; of `y` only the shape is used.  Both may be sparse matrices: where `y` is stored."""
    if is_operator(y) and not is_operator(x):
        return at_stored_places(np.transpose(x), y, np.transpose(g))
    if is_operator(x) and len(x.shape) == 1:
        return np.multiply.outer(x.toarray(), g)
    if is_operator(x):
        stored_product(x, y)
        return x.T @ g
    x = _as_array(x)
    if np.ndim(x) == 1:
        return g * x if np.ndim(y) == 1 else np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if np.ndim(y) == 1:
        return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), np.expand_dims(g, -1))[..., 0], y)
    return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), g), y)


@bilinear(matmul_left)
def _(w, x_bar, g, x, y):
    return w @ y, None, matmul_right(g, w, y)


@bilinear(matmul_right)
def _(w, y_bar, g, x, y):
    return x @ w, matmul_left(g, x, w), None


@bilinear(np.matmul, *existing(np.linalg, "matmul"))
def matmul(g, z, x, y):
    return matmul_left(g, x, y), matmul_right(g, x, y)


# --- dot, inner, outer, tensordot ------------------------------------------------------------------------------------


def _axes(a, b, axes):
    """The contracted axes of `a` and of `b`, and those that stay."""
    if isinstance(axes, (int, np.integer)):
        over_a, over_b = [*range(np.ndim(a) - axes, np.ndim(a))], [*range(axes)]
    else:
        over_a, over_b = (list(k) if np.ndim(k) else [k] for k in axes)
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


@bilinear(np.tensordot, *existing(np.linalg, "tensordot"))
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


@bilinear(np.outer, *existing(np.linalg, "outer"))
def outer(g, z, a, b):
    return np.reshape(g @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ g, np.shape(b))


# --- kron, cross, vecdot ---------------------------------------------------------------------------------------------


def _interleaved(g, a, b):
    """`g`, shaped like `np.kron(a, b)`, with an axis for each of `a` and of `b` in turn; and their shapes of equal rank."""
    rank = max(np.ndim(a), np.ndim(b))
    shape_a, shape_b = ((1,) * (rank - np.ndim(x)) + np.shape(x) for x in (a, b))
    return np.reshape(g, [n for pair in zip(shape_a, shape_b, strict=True) for n in pair]), shape_a, shape_b


def kron_left(g, a, b):
    """The cotangent of `a` in `np.kron(a, b)`; of `a` only the shape is used."""
    g, _, shape = _interleaved(g, a, b)
    return np.reshape(np.tensordot(g, np.reshape(b, shape), (range(1, np.ndim(g), 2), range(len(shape)))), np.shape(a))


def kron_right(g, a, b):
    """The cotangent of `b` in `np.kron(a, b)`; of `b` only the shape is used."""
    g, shape, _ = _interleaved(g, a, b)
    return np.reshape(np.tensordot(np.reshape(a, shape), g, (range(len(shape)), range(0, np.ndim(g), 2))), np.shape(b))


@bilinear(kron_left)
def _(w, a_bar, g, a, b):
    return np.kron(w, b), None, kron_right(g, w, b)


@bilinear(kron_right)
def _(w, b_bar, g, a, b):
    return np.kron(a, w), kron_left(g, a, w), None


@bilinear(np.kron)
def kron(g, z, a, b):
    return kron_left(g, a, b), kron_right(g, a, b)


def in_space(x):
    """Vectors of two components, along the last axis, with a third, which is 0."""
    return x if np.shape(x)[-1] == 3 else np.concatenate((x, np.zeros_like(x[..., :1])), -1)


def plain_cross(x, y):
    """The cross products of vectors along the last axes, of which NumPy gives the third component where all have two."""
    return np.cross(in_space(x), in_space(y))


@bilinear(np.cross)
def cross(g, z, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    x, y = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if np.shape(x)[-1] == np.shape(y)[-1] == 2:
        g = np.stack((np.zeros_like(g), np.zeros_like(g), g), -1)
    else:
        g = np.moveaxis(g, axisc, -1)
    a_bar, b_bar = plain_cross(y, g)[..., : np.shape(x)[-1]], plain_cross(g, x)[..., : np.shape(y)[-1]]
    return np.moveaxis(unbroadcast(a_bar, x), -1, axisa), np.moveaxis(unbroadcast(b_bar, y), -1, axisb)


@bilinear(*existing(np.linalg, "cross"))
def linalg_cross(g, z, x1, x2, *, axis=-1):
    x, y, g = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1), np.moveaxis(g, axis, -1)
    return np.moveaxis(unbroadcast(np.cross(y, g), x), -1, axis), np.moveaxis(unbroadcast(np.cross(g, x), y), -1, axis)


@bilinear(*existing(np, "vecdot"), *existing(np.linalg, "vecdot"))
def vecdot(g, z, x1, x2, *, axis=-1):
    g = np.expand_dims(g, -1)
    x, y = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    return np.moveaxis(unbroadcast(g * y, x), -1, axis), np.moveaxis(unbroadcast(g * x, y), -1, axis)


@vecdot.refined(lambda axis: axis.known and axis.value == -1)
def _(g, z, x1, x2, *, axis=-1):
    return unbroadcast(np.expand_dims(g, -1) * x2, x1), unbroadcast(np.expand_dims(g, -1) * x1, x2)


@bilinear(*existing(np, "matvec"))
def matvec(g, z, x1, x2):
    x1_bar = unbroadcast(np.expand_dims(g, -1) * np.expand_dims(x2, -2), x1)
    return x1_bar, unbroadcast(np.vecmat(g, x1), x2)


@bilinear(*existing(np, "vecmat"))
def vecmat(g, z, x1, x2):
    x2_bar = unbroadcast(np.expand_dims(x1, -1) * np.expand_dims(g, -2), x2)
    return unbroadcast(np.matvec(x2, g), x1), x2_bar


# --- known ranks -----------------------------------------------------------------------------------------------------


def ranks(m, n):
    """The condition that two arguments have these ranks."""
    return lambda x, y: (x.rank, y.rank) == (m, n)


@dot.refined(ranks(2, 2), exact=True)
@matmul.refined(ranks(2, 2), exact=True)
def _(g, z, x, y):
    return g @ y.T, x.T @ g


@dot.refined(ranks(1, 2), exact=True)
@matmul.refined(ranks(1, 2), exact=True)
def _(g, z, x, y):
    return y @ g, np.outer(x, g)


@dot.refined(ranks(2, 1), exact=True)
@matmul.refined(ranks(2, 1), exact=True)
def _(g, z, x, y):
    return np.outer(g, y), g @ x


@inner.refined(ranks(1, 1), exact=True)
@dot.refined(ranks(1, 1), exact=True)
@matmul.refined(ranks(1, 1), exact=True)
@inner.refined(ranks(0, 0), exact=True)
@dot.refined(ranks(0, 0), exact=True)
def _(g, z, x, y):
    return g * y, g * x


@outer.refined(lambda a, b: (a.rank, b.rank) == (1, 1), exact=True)
def _(g, z, a, b):
    return g @ b, a @ g


@inner.refined(ranks(2, 2), exact=True)
def _(g, z, x, y):
    return g @ y, g.T @ x
