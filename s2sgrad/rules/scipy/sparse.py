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

from s2sgrad.rules.contractions import is_operator, is_small, matmul_left, matmul_right, pattern
from s2sgrad.rules.table import (
    attribute_of_operators,
    bilinear,
    existing,
    flat,
    general,
    giving_matrices,
    linear,
    operates,
    sharing,
    structured,
    with_own_operators,
)
from s2sgrad.runtime import Refusal, unbroadcast

# --- stored entries --------------------------------------------------------------------------------------------------


_MADE_OF = "a sparse matrix of this has no derivative rule: make it of (data, (i, j)) or of its arrays"


def places(arg, like):
    """The rows and columns of the entries that a matrix is made of, or an error for what holds more than they."""
    if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[1], tuple) and len(arg[1]) == 2:
        return np.asarray(arg[1][0]), np.asarray(arg[1][1])
    if isinstance(arg, tuple) and len(arg) == 3 and like.format in ("csr", "csc"):
        outer = np.repeat(np.arange(len(arg[2]) - 1), np.diff(arg[2]))
        inner = np.asarray(arg[1])[: len(outer)]
        return (outer, inner) if like.format == "csr" else (inner, outer)
    raise Refusal(None, _MADE_OF)


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


def at_places(data, where, like):
    """A sparse array of these data at these places."""
    return sparse.csr_array((data, where), shape=like.shape)


def read_places(g, where, like):
    """The elements of a cotangent at these places."""
    return read(g, *where)


@linear(at_places)
def _(g, y, data, where, like):
    return read_places(g, where, like), None, None


@linear(read_places)
def _(w, y, g, where, like):
    return at_places(w, where, like), None, None


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
_OF_ENTRIES = tuple(cls for cls in _KINDS if cls.__name__[:3] in ("csr", "csc", "coo", "lil"))
_OF_BLOCKS = tuple(cls for cls in _KINDS if cls.__name__[:3] == "bsr")


def methods(*names):
    """The methods of these names that the classes of sparse arrays have, each once, in the order of the classes."""
    return tuple(dict.fromkeys(getattr(cls, name) for cls in _KINDS for name in names if hasattr(cls, name)))


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
    if not full and not isinstance(arg, tuple):
        raise Refusal(None, _MADE_OF)
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


@general(*_OF_BLOCKS)
def of_blocks(g, A, arg1, shape=None, dtype=None, copy=False, blocksize=None):
    return given_bar(g, arg1, A)


@of_blocks.forward()
def _(A, arg1, arg1_dot, shape=None, dtype=None, copy=False, blocksize=None):
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


def where_stored(M, A):
    """A cotangent of `A`: of a large sparse array where it is stored."""
    if not is_operator(A):
        return dense(M)
    if not is_small(A):
        return of_elements(M, ones_like(A))
    return M if is_operator(M) else sparse.csr_array(M)


@linear(where_stored)
def _(w, y, M, A):
    return w, None


def require_complete(g, y, count):
    """Raise Refusal where a cotangent is known where a large array is stored alone, and that has left out elements that are
    0 by chance; `count`: how many elements there are to store."""
    if is_operator(g) and not is_small(y) and y.nnz < count:
        raise Refusal(None, "an element of a sparse array is 0 by chance and not stored, so that its derivative is not "
                            "known: make the array of `(data, (i, j))`, which stores zeros")  # fmt: skip
    return True


flat(require_complete, pattern)


def inner(a, b):
    """The sum of the products of elements."""
    return np.sum(of_elements(a, b))


@bilinear(inner)
def _(g, y, a, b):
    return g * b, g * a


def is_number(x):
    return not is_operator(x) and np.ndim(x) == 0


flat(is_number)


def require_shapes(a, b):
    """Raise for a sum of a sparse array with what has another shape."""
    if is_number(a) or is_number(b) or np.shape(a) == np.shape(b):
        return True
    raise Refusal(None, "a sparse array has a derivative rule for sums with arrays of its shape")


def is_product_of_matrices(a, b):
    """Whether `a * b` is `a @ b`: where one of them is a sparse matrix (`csr_matrix`), and none a number."""
    return any(isinstance(x, sparse.spmatrix) for x in (a, b))


def require_whole(A, y):
    """Raise for a product of elements that is larger than the sparse array."""
    if (is_operator(A) and np.shape(A) == np.shape(y)) or (not is_operator(A) and not is_operator(y)):
        return True
    raise Refusal(None, "a sparse array has a derivative rule for products with what broadcasts to its shape")


flat(is_product_of_matrices, require_shapes, require_whole)


def wide(x, like):
    """An array in the shape of a sparse one."""
    return x if is_operator(x) else np.broadcast_to(x, np.shape(like))


def narrow(S, x):
    """The sum of a sparse array over the axes along which `x` was broadcast; sparse where `x` is."""
    if is_operator(x):
        return S
    if not is_operator(S):
        return unbroadcast(S, x)
    rows, columns = ([1, 1] + list(np.shape(x)))[-2:]
    if (rows, columns) == S.shape:
        return np.reshape(dense(S), np.shape(x))
    down = np.ones(S.shape[0], S.dtype) @ S if rows == 1 else None
    found = S @ np.ones(S.shape[1], S.dtype) if down is None else down if columns > 1 else np.sum(down)
    return np.reshape(found, np.shape(x))


def spread(w, S, x):
    """The transpose of `narrow`: where `S` is stored, the elements of `w`."""
    return w if is_operator(w) else of_elements(np.broadcast_to(w, np.shape(S)), ones_like(S))


def ones_like(A):
    """Ones where a sparse array is stored."""
    c = A.tocoo()
    return type(c)(
        (np.ones(np.shape(c.data), c.data.dtype), c.coords if len(c.shape) == 1 else (c.row, c.col)), shape=c.shape
    )


flat(ones_like)


@linear(wide)
def _(g, y, x, like):
    return narrow(g, x) if is_operator(g) else unbroadcast(g, x), None


@linear(narrow)
def _(w, y, S, x):
    return spread(w, S, x), None


@linear(spread)
def _(g, y, w, S, x):
    return narrow(g, w), None, None


def times(a, b):
    """`a * b` of sparse arrays and numbers."""
    return a * b


@bilinear(times)
def _(g, y, a, b):
    if is_number(a):
        return inner(g, b), a * g
    if is_number(b):
        return b * g, inner(g, a)
    if is_product_of_matrices(a, b):
        return matmul_left(g, a, b), matmul_right(g, a, b)
    return in_elements(g, y, a, b), in_elements(g, y, b, a)


def in_elements(g, y, a, b):
    """The cotangent of a factor of a product of elements, of which the other one is `b`."""
    require_whole(a if is_operator(a) else b, y)
    return narrow(of_elements(g, wide(b, y)), a)


def plus(a, b):
    """`a + b` of sparse arrays."""
    return a + b


def stored_sum(g, y, a, b):
    """Raise Refusal for a sum that has left out elements, where they are asked for."""
    if is_operator(g) and is_operator(a) and is_operator(b):
        return require_complete(g, y, (pattern(a) + pattern(b)).nnz)
    return True


flat(stored_sum)


def part(g, x):
    """The cotangent of a term of a sum: of an array an array, of 0 nothing."""
    return 0.0 * x if is_number(x) else g if is_operator(x) else dense(g)


@linear(part)
def _(w, y, g, x):
    return w, None


@linear(plus)
def _plus(g, y, a, b):
    if is_number(a) and is_number(b):
        return g, g
    require_shapes(a, b)
    stored_sum(g, y, a, b)
    return part(g, a), part(g, b)


@_plus.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot, b_dot


def minus(a, b):
    """`a - b` of sparse arrays."""
    return a - b


@linear(minus)
def _minus(g, y, a, b):
    if is_number(a) and is_number(b):
        return g, -g
    require_shapes(a, b)
    stored_sum(g, y, a, b)
    return part(g, a), part(-g, b)


@_minus.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot, -b_dot


def divided(a, b):
    """`a / b` of a sparse array and a number."""
    return a / b


@general(divided)
def _divided(g, y, a, b):
    if is_number(b):
        return g / b, -inner(g, y) / b
    require_whole(a, y)
    return of_elements(g, wide(1.0 / b, y)), narrow(of_elements(g, y), b) / -b


@_divided.forward()
def _(y, a, b, a_dot, b_dot):
    return a_dot / b, by_elements(y, -b_dot / b)


def by_elements(S, x):
    """The product of elements of a sparse array and of what broadcasts to it, also of a sparse matrix."""
    return S * x if is_number(x) else of_elements(S, wide(x, S))


@bilinear(by_elements)
def _(g, y, S, x):
    if is_number(x):
        return g * x, inner(g, S)
    return of_elements(g, wide(x, S)), narrow(of_elements(g, S), x)


def negated(a):
    return -a


@linear(negated)
def _(g, y, a):
    return -g


def raised(A, n):
    """`A ** n`: a power of matrices for a sparse matrix (`csr_matrix`), one of elements for a sparse array."""
    return A**n


@general(raised)
def _raised(g, y, A, n):
    if is_number(A):
        return g * n * A ** (n - 1), None
    if is_product_of_matrices(A, A):
        return in_power(g, A, n), None
    return power_bar(g, A, n), None


@_raised.forward()
def _(y, A, n, A_dot, n_dot):
    return raised_along(A_dot, A, n), None


def raised_along(A_dot, A, n):
    """The tangent of `A ** n`."""
    if is_number(A):
        return A_dot * n * A ** (n - 1)
    if is_product_of_matrices(A, A):
        return along_power(A_dot, A, n)
    return n * of_elements(A_dot, powers(A, n - 1))


_raised.constant("n")


def in_power(g, A, n):
    """The cotangent of a matrix of which the power `n` was taken."""
    return along_power(g, A.T, n)


def along_power(A_dot, A, n):
    """The tangent of the power `n` of a matrix.

    >>> along_power(np.eye(2), np.diag([3.0, 5.0]), 2).tolist()
    [[6.0, 0.0], [0.0, 10.0]]
    """
    total = 0.0 * A_dot
    for k in range(n):
        term = A_dot
        for _ in range(k):
            term = A @ term
        for _ in range(n - 1 - k):
            term = term @ A
        total = total + term
    return total


@general(along_power)
def _along_power(g, y, A_dot, A, n):
    return in_power(g, A, n), None, None


_along_power.constant("A", "a power of a sparse matrix has one derivative: write `A @ A` for more")


for _operator, _own in ((np.power, raised), (np.multiply, times), (np.add, plus), (np.subtract, minus), (np.divide, divided),
                        (np.negative, negated)):  # fmt: skip
    operates(_operator, _own)

# --- methods ---------------------------------------------------------------------------------------------------------


@bilinear(*methods("multiply"))
def multiply(g, y, self, other):
    if is_number(other):
        return other * g, inner(g, self)
    return in_elements(g, y, self, other), in_elements(g, y, other, self)


def power_bar(g, A, n):
    """The cotangent of an array whose elements were raised to a power."""
    if n == 1:
        return g
    return n * of_elements(g, powers(A, n - 1 if n else 0))


def powers(A, n):
    """The powers of the stored elements."""
    return ones_like(A) if n == 0 else A.power(n)


@general(powers)
def _powers(g, y, A, n):
    return power_bar(g, A, n), None


@_powers.forward()
def _(y, A, n, A_dot, n_dot):
    return n * of_elements(A_dot, powers(A, n - 1 if n else 0)), None


@general(*methods("power"))
def power(g, y, self, n, dtype=None):
    return power_bar(g, self, n), None


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


def whole_of(g, y, A):
    """The cotangent of an array that was converted; Refusal where that has left out elements."""
    stored_conversion(g, y, A)
    return g


def stored_conversion(g, y, A):
    return not (is_operator(g) and A.format == "dia") or require_complete(g, y, pattern(A).nnz)


flat(stored_conversion)


@linear(whole_of)
def _(w, z, g, y, A):
    return w, None, None


_CONVERTING = methods("tocsr", "tocsc", "tocoo", "todia", "todok", "tolil")


@general(*_CONVERTING)
def converted(g, y, self, copy=False):
    return whole_of(g, y, self)


@converted.forward()
def _(y, self, self_dot, copy=False):
    return self_dot


@general(*methods("tobsr"))
def tobsr(g, y, self, blocksize=None, copy=False):
    return whole_of(g, y, self)


@tobsr.forward()
def _(y, self, self_dot, blocksize=None, copy=False):
    return self_dot


@general(*methods("copy"))
def copied(g, y, self):
    return g


@copied.forward()
def _(y, self, self_dot):
    return self_dot


@general(*methods("asformat"))
def asformat(g, y, self, format, copy=False):
    return whole_of(g, y, self), None


@asformat.forward()
def _(y, self, format, self_dot, format_dot, copy=False):
    return self_dot, None


def of_type(g, like):
    """`g` in the precision of another one."""
    return g.astype(like.dtype)


@linear(of_type)
def _(w, y, g, like):
    return of_type(w, g), None


@general(*methods("astype"))
def astype(g, y, self, dtype, casting="unsafe", copy=True):
    return of_type(g, self), None


@astype.forward()
def _(y, self, dtype, self_dot, dtype_dot, casting="unsafe", copy=True):
    return of_type(self_dot, y), None


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


def summed(A, axis):
    """The sum of a sparse array along an axis, as an array."""
    return A.sum() if axis is None else np.asarray(A.sum(axis=axis))


@linear(summed)
def _(g, y, A, axis):
    return along(g, A, axis), None


def along(g, A, axis):
    """The cotangent of an array that was summed."""
    if axis is None or len(A.shape) == 1:
        return g * everywhere(A)
    wide_g = np.asarray(g) if np.ndim(g) == 2 else np.expand_dims(g, axis)
    return of_elements(np.broadcast_to(wide_g, A.shape), everywhere(A))


def everywhere(A):
    """Ones; of a large array where it is stored."""
    return sparse.csr_array(np.ones(A.shape, A.dtype)) if len(A.shape) == 2 and is_small(A) else ones_like(A)


flat(everywhere)


@linear(along)
def _(w, y, g, A, axis):
    return np.reshape(summed(w, axis), np.shape(g)), None, None


def total(A, axis=None):
    """`np.sum` of a sparse array."""
    return np.sum(A, axis)


@general(total)
def _total(g, y, A, axis=None):
    return along(g, A, axis)


@_total.forward()
def _(y, A, A_dot, axis=None):
    return summed(A_dot, axis)


@general(*methods("sum"))
def sum_(g, y, self, axis=None):
    return along(g, self, axis)


@sum_.forward()
def _(y, self, self_dot, axis=None):
    return summed(self_dot, axis)


giving_matrices(sum_, _total)


def length(A, axis):
    """How many elements a mean along an axis is of."""
    return np.prod(A.shape) if axis is None else A.shape[axis]


flat(length)


@general(*methods("mean"))
def mean(g, y, self, axis=None):
    return along(g / length(self, axis), self, axis)


@mean.forward()
def _(y, self, self_dot, axis=None):
    return summed(self_dot, axis) / length(self, axis)


giving_matrices(mean)
operates(np.sum, total)


# --- blocks ----------------------------------------------------------------------------------------------------------


def filled(A):
    """The entries of an array, of a small one all elements."""
    c = sparse.coo_array(A)
    if not is_small(c):
        return c
    rows, columns = np.indices(c.shape).reshape(2, -1)
    return sparse.coo_array((c.toarray().ravel(), (rows, columns)), shape=c.shape)


def require_planes(A, B):
    """Raise Refusal for operands of a Kronecker product that SciPy would make matrices of."""
    if any(len(np.shape(x)) != 2 or isinstance(x, (list, tuple)) for x in (A, B)):
        raise Refusal(None, "Kronecker products of sparse arrays have a derivative rule for arrays of two axes")
    return True


flat(require_planes)


def kron_left(g, A, B):
    """The cotangent of `A` in `sparse.kron(A, B)`, where it is stored."""
    a, b = filled(A), sparse.coo_array(B)
    rows, columns = a.row[:, None] * b.shape[0] + b.row, a.col[:, None] * b.shape[1] + b.col
    found = sparse.csr_array((read(g, rows, columns) @ b.data, (a.row, a.col)), shape=a.shape)
    return found


def kron_right(g, A, B):
    """The cotangent of `B`."""
    a, b = sparse.coo_array(A), filled(B)
    rows, columns = a.row[:, None] * b.shape[0] + b.row, a.col[:, None] * b.shape[1] + b.col
    found = sparse.csr_array((a.data @ read(g, rows, columns), (b.row, b.col)), shape=b.shape)
    return found


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
    require_planes(A, B)
    return part(kron_left(g, A, B), A), part(kron_right(g, A, B), B)


# --- diagonals -------------------------------------------------------------------------------------------------------


def lines(diagonals, offsets):
    """The diagonals as a list, and their offsets."""
    if np.ndim(offsets) == 0 and (len(diagonals) == 0 or np.ndim(diagonals[0]) == 0):
        return [diagonals], [int(offsets)]
    return list(diagonals), [int(k) for k in np.atleast_1d(offsets)]


def with_ones(diagonals, offsets):
    """Ones in the place of diagonals, and their offsets."""
    given, places = lines(diagonals, offsets)
    return [np.ones(np.shape(d)) for d in given], places


def on_line(k, count):
    """The rows and columns of the first places of a diagonal."""
    return np.arange(count) + max(-k, 0), np.arange(count) + max(k, 0)


def diagonals_of(g, diagonals, offsets, like):
    """The cotangents of the diagonals that an array is made of; one number stands for a whole diagonal."""
    found = []
    if like.format != "dia" and is_operator(g):
        ones, where = with_ones(diagonals, offsets)
        require_complete(g, like, of_diagonals(ones, where, like).nnz)
    for d, k in zip(*lines(diagonals, offsets), strict=True):
        count = min(like.shape[0] - max(-k, 0), like.shape[1] - max(k, 0))
        bar = read(g, *on_line(k, count))
        if np.ndim(d) and np.size(d) >= count:  # what is longer is cut
            found.append(np.append(bar, np.zeros(np.size(d) - count, bar.dtype)))
        else:
            found.append(np.reshape(np.sum(bar), np.shape(d))[()])
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
    *_KINDS, *existing(sparse, *_MAKING), *_CONVERTING, *methods("tobsr", "copy", "asformat", "astype", "multiply", "power"),
    made, made_along, of_diagonals, ones_like, spread, times, plus, minus, divided, negated, of_elements, on_diagonal,
    at_places, kron_left, kron_right, along, powers, kron_of,
)  # fmt: skip
sharing(*_KINDS, *_CONVERTING, *methods("tobsr", "asformat", "astype", "transpose"))
structured("arg1", *_OF_ENTRIES, *_OF_BLOCKS)
for _name in ("nnz", "format", "shape", "ndim", "size", "dtype", "indices", "indptr", "row", "col", "coords", "offsets"):
    attribute_of_operators(_name)
flat(
    *methods("count_nonzero", "getnnz", "nonzero", "argmax", "argmin"), sparse.random, sparse.rand,
    *existing(sparse, "random_array"), sparse.eye, sparse.identity, sparse.issparse, sparse.isspmatrix,
    *existing(sparse, "get_index_dtype", "eye_array"),
    *existing(sparse, *(f"isspmatrix_{form}" for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"))),
)  # fmt: skip
