"""Rules of scipy.sparse: arrays that are made of their stored entries, or of diagonals.

    A = sparse.csr_array((data, (i, j)))     ->     data_bar = entries(A_bar, (data, (i, j)), A)

The cotangent of a sparse array is a sparse array: of the derivative in its stored entries, of which one that is stored
twice has it twice.  Where an array is stored is constant.  The products are those of `contractions.py`.  `*` of a matrix
(`csr_matrix`) is a product of matrices unless one operand is a number; of an array (`csr_array`) it is one of elements:

    B = c * A + D     ->     c_bar = inner(B_bar, A); A_bar = c * B_bar; D_bar = B_bar
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from s2sgrad.rules.contractions import is_operator, matmul_left, matmul_right
from s2sgrad.rules.table import bilinear, existing, flat, general, linear, operates, structured, with_own_operators
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


_KINDS = tuple(getattr(sparse, f"{form}_{name}") for name in ("array", "matrix")
               for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"))  # fmt: skip
_OF_ENTRIES = tuple(cls for cls in _KINDS if cls.__name__[:3] in ("csr", "csc", "coo"))


def methods(*names):
    """The methods of these names that the classes of sparse arrays have, each once, in the order of the classes."""
    return tuple(dict.fromkeys(getattr(cls, name) for cls in _KINDS for name in names))


def dense(A):
    """A sparse array as an array."""
    return A.toarray() if is_operator(A) else A


@linear(dense)
def _(g, y, A):
    return g


def whole(arg):
    """Whether a sparse array is made of a matrix, of which it stores all; Refusal for zeros, which it does not store."""
    if is_operator(arg):
        return True
    full = isinstance(arg, np.ndarray) and np.ndim(arg) == 2
    if full and not np.all(arg):
        raise Refusal(None, "a sparse matrix of an array with zeros, which it does not store, has no derivative rule: make "
                            "it of (data, (i, j))")  # fmt: skip
    return full


flat(whole)


def given_bar(g, arg, like):
    """The cotangent of what a sparse array is made of."""
    if whole(arg):
        return g if is_operator(arg) else dense(g)
    data_bar = entries(g, arg, like)
    return (data_bar, (None, None)) if len(arg) == 2 else (data_bar, None, None)


def made_along(dot, arg, like):
    """The transpose of `given_bar`: the tangent of a sparse array along that of what it is made of."""
    return type(like)(dot) if whole(arg) else made(dot[0], arg, like)


@linear(given_bar)
def _(w, y, g, arg, like):
    return made_along(w, arg, like), None, None


@linear(made_along)
def _(w, y, dot, arg, like):
    return given_bar(w, arg, like), None, None


@general(*_OF_ENTRIES)
def of_entries(g, A, arg1, shape=None, dtype=None, copy=False):
    return given_bar(g, arg1, A)


@of_entries.forward()
def _(A, arg1, arg1_dot, shape=None, dtype=None, copy=False):
    return made_along(arg1_dot, arg1, A)


# --- elements --------------------------------------------------------------------------------------------------------


def of_elements(a, b):
    """The product of elements, where the sparse one of two matrices is stored, the second if both are.

    >>> of_elements(np.ones((2, 2)), sparse.csr_array(np.eye(2))).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if not is_operator(b):
        return of_elements(b, a) if is_operator(a) else a * b
    c = b.tocoo()
    return sparse.csr_array((read(a, c.row, c.col) * c.data, (c.row, c.col)), shape=c.shape)


@bilinear(of_elements)
def _(g, y, a, b):
    return of_elements(g, b), of_elements(g, a)


def inner(a, b):
    """The sum of the products of elements."""
    return of_elements(a, b).sum()


@bilinear(inner)
def _(g, y, a, b):
    return g * b, g * a


def is_number(x):
    return not is_operator(x) and np.ndim(x) == 0


flat(is_number)


def require_elements(a, b):
    """Raise for a product that is none of elements, or one with fewer elements."""
    if np.shape(a) != np.shape(b) or any(isinstance(x, sparse.spmatrix) for x in (a, b)):
        raise Refusal(None, "`*` of a sparse matrix has a derivative rule for numbers, and of a sparse array of its shape: "
                            "use `@` or `multiply`")  # fmt: skip
    return True


def require_shapes(a, b):
    """Raise for a sum of other things than sparse arrays, and for a product that broadcasts."""
    if is_number(a) or is_number(b) or np.shape(a) == np.shape(b):
        return True
    raise Refusal(None, "a sparse array has a derivative rule for operators with numbers and arrays of its shape")


flat(require_elements, require_shapes)


def times(a, b):
    """`a * b` of sparse arrays and numbers."""
    return a * b


@bilinear(times)
def _(g, y, a, b):
    if is_number(a):
        return inner(g, b), a * g
    if is_number(b):
        return b * g, inner(g, a)
    require_elements(a, b)
    return of_elements(g, b), of_elements(g, a)


def plus(a, b):
    """`a + b` of sparse arrays."""
    return a + b


def part(g, x):
    """The cotangent of a term of a sum: of an array an array, of 0 nothing."""
    return 0.0 * x if is_number(x) else g if is_operator(x) else dense(g)


@linear(part)
def _(w, y, g, x):
    return w, None


@linear(plus)
def _plus(g, y, a, b):
    require_shapes(a, b)
    return part(g, a), part(g, b)


@_plus.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot, b_dot


def minus(a, b):
    """`a - b` of sparse arrays."""
    return a - b


@linear(minus)
def _minus(g, y, a, b):
    require_shapes(a, b)
    return part(g, a), part(-g, b)


@_minus.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot, -b_dot


def divided(a, b):
    """`a / b` of a sparse array and a number."""
    return a / b


def require_number(b):
    """Raise for a quotient by anything but a number."""
    if not is_number(b):
        raise Refusal(None, "a sparse array has a derivative rule for a quotient by a number")
    return True


flat(require_number)


@general(divided)
def _divided(g, y, a, b):
    require_number(b)
    return g / b, -inner(g, y) / b


@_divided.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot / b, y * (-b_dot / b)


def negated(a):
    return -a


@linear(negated)
def _(g, y, a):
    return -g


for _operator, _own in ((np.multiply, times), (np.add, plus), (np.subtract, minus), (np.divide, divided),
                        (np.negative, negated)):  # fmt: skip
    operates(_operator, _own)

# --- methods ---------------------------------------------------------------------------------------------------------


@bilinear(*methods("multiply"))
def multiply(g, y, self, other):
    if is_number(other):
        return other * g, inner(g, self)
    require_shapes(self, other)
    return of_elements(g, other), part(of_elements(g, self), other)


def powers(A, n):
    """The powers of the stored elements."""
    return A.power(n)


@general(powers)
def _powers(g, y, A, n):
    return n * of_elements(g, powers(A, n - 1)), None


@_powers.forward()
def _(y, A, n, A_dot, n_dot):
    return n * of_elements(A_dot, powers(A, n - 1)), None


@general(*methods("power"))
def power(g, y, self, n, dtype=None):
    return n * of_elements(g, powers(self, n - 1)), None


@power.forward()
def _(y, self, n, self_dot, n_dot, dtype=None):
    return n * of_elements(self_dot, powers(self, n - 1)), None


power.constant("n")


@general(*methods("toarray"))
def toarray(g, y, self, order=None):
    return g


@toarray.forward()
def _(y, self, self_dot, order=None):
    return dense(self_dot)


def as_array(y):
    """Raise for a dense matrix, whose operators are its own."""
    if isinstance(y, np.matrix):
        raise Refusal(None, "`todense` of a sparse matrix is a matrix, which has no derivative rule: use `toarray`")
    return True


flat(as_array)


@general(*methods("todense"))
def todense(g, y, self, order=None):
    as_array(y)
    return g


@todense.forward()
def _(y, self, self_dot, order=None):
    return dense(self_dot) if as_array(y) else None


_CONVERTING = methods("tocsr", "tocsc", "tocoo")


@general(*_CONVERTING)
def converted(g, y, self, copy=False):
    return g


@converted.forward()
def _(y, self, self_dot, copy=False):
    return self_dot


def on_diagonal(d, k, like):
    """A sparse array of this diagonal alone."""
    return sparse.diags_array([d], offsets=[k], shape=like.shape, format="csr")


def diagonal_of(A, k):
    """The diagonal of a sparse array or an array."""
    return A.diagonal(k)


@linear(on_diagonal)
def _(w, y, d, k, like):
    return diagonal_of(w, k), None, None


@linear(diagonal_of)
def _(w, y, A, k):
    return on_diagonal(w, k, A), None


@linear(*methods("diagonal"))
def diagonal(g, y, self, k=0):
    return on_diagonal(g, k, self)


def of_array(other):
    """Raise for a product with anything but an array."""
    if is_operator(other) or np.ndim(other) < 1:
        raise Refusal(None, "`dot` of a sparse array has a derivative rule for arrays: use `@`")
    return True


flat(of_array)


@bilinear(*methods("dot"))
def dot(g, y, self, other):
    of_array(other)
    return matmul_left(g, self, other), matmul_right(g, self, other)


def ones(A, axis):
    """Ones along an axis; Refusal for a matrix, whose sums have two axes."""
    return np.ones(np.shape(A)[axis])


def no_matrix(A):
    if isinstance(A, sparse.spmatrix):
        raise Refusal(None, "a sum of a sparse matrix along an axis is a matrix, which has no derivative rule: use a sparse "
                            "array, or `A @ np.ones(n)`")  # fmt: skip
    return True


flat(ones, no_matrix)


@general(*methods("sum"))
def sum_(g, y, self, axis=None):
    if axis is None:
        return matmul_left(g * ones(self, 0), self, ones(self, 1))
    no_matrix(self)
    return matmul_left(g, self, ones(self, 1)) if axis in (1, -1) else matmul_left(ones(self, 0), self, g)


# --- blocks ----------------------------------------------------------------------------------------------------------


def kron_left(g, A, B):
    """The cotangent of `A` in `sparse.kron(A, B)`, where it is stored."""
    a, b = sparse.coo_array(A), sparse.coo_array(B)
    rows, columns = a.row[:, None] * b.shape[0] + b.row, a.col[:, None] * b.shape[1] + b.col
    return sparse.csr_array((read(g, rows, columns) @ b.data, (a.row, a.col)), shape=a.shape)


def kron_right(g, A, B):
    """The cotangent of `B`."""
    a, b = sparse.coo_array(A), sparse.coo_array(B)
    rows, columns = a.row[:, None] * b.shape[0] + b.row, a.col[:, None] * b.shape[1] + b.col
    return sparse.csr_array((a.data @ read(g, rows, columns), (b.row, b.col)), shape=b.shape)


def kron_of(A, B):
    return sparse.kron(A, B, "csr")


@bilinear(kron_left)
def _(w, y, g, A, B):
    return kron_of(w, B), None, kron_right(g, w, B)


@bilinear(kron_right)
def _(w, y, g, A, B):
    return kron_of(A, w), kron_left(g, A, w), None


@bilinear(kron_of)
def _(g, y, A, B):
    return kron_left(g, A, B), kron_right(g, A, B)


@bilinear(sparse.kron)
def kron(g, y, A, B, format=None):
    return part(kron_left(g, A, B), A), part(kron_right(g, A, B), B)


def cut(g, blocks, axis):
    """The cotangents of the blocks of a stack."""
    ends = np.cumsum([0] + [np.shape(b)[axis] for b in blocks])
    g = g.tocsr() if is_operator(g) else g
    return [g[a:b] if axis == 0 else g[:, a:b] for a, b in np.stack((ends[:-1], ends[1:]), axis=1)]


def stacked(blocks, like, axis):
    """A stack of blocks, of which None is zero."""
    given = [np.shape(b) for b in like]
    filled = [sparse.csr_array(s) if b is None else b for b, s in zip(blocks, given, strict=True)]
    return sparse.vstack(filled, "csr") if axis == 0 else sparse.hstack(filled, "csr")


@linear(cut)
def _(w, y, g, blocks, axis):
    return stacked(w, blocks, axis), None, None


@linear(stacked)
def _(w, y, blocks, like, axis):
    return cut(w, like, axis), None, None


@general(sparse.vstack)
def vstack(g, y, blocks, format=None, dtype=None):
    return cut(g, blocks, 0)


@vstack.forward()
def _(y, blocks, blocks_dot, format=None, dtype=None):
    return stacked(blocks_dot, blocks, 0)


@general(sparse.hstack)
def hstack(g, y, blocks, format=None, dtype=None):
    return cut(g, blocks, 1)


@hstack.forward()
def _(y, blocks, blocks_dot, format=None, dtype=None):
    return stacked(blocks_dot, blocks, 1)


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


_MAKING = (
    "eye", "eye_array", "identity", "spdiags", "kron", "kronsum", "hstack", "vstack", "bmat", "block_array", "block_diag",
    "random", "random_array", "rand", "tril", "triu", "diags", "diags_array",
)  # fmt: skip
with_own_operators(
    *_KINDS, *existing(sparse, *_MAKING), *_CONVERTING, *methods("multiply"), *methods("power"),
    made, made_along, of_diagonals, times, plus, minus, divided, negated, of_elements, on_diagonal, powers,
    kron_of, kron_left, kron_right, stacked,
)  # fmt: skip
structured("arg1", *_OF_ENTRIES)
flat(
    sparse.eye, sparse.identity, sparse.issparse, sparse.isspmatrix, sparse.get_index_dtype,
    *existing(sparse, "eye_array", *(f"isspmatrix_{form}" for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"))),
)  # fmt: skip
