"""Rules of scipy.sparse for what moves entries and leaves them as they are: blocks, triangles, items, other shapes.

    B = sparse.tril(A)     ->     A_bar = back(B_bar, sparse.tril(numbered(A)), A)

Each entry of such a result is one of the arguments'.  Which one, the function itself says: it moves an array that stores
the numbers 1, 2, .. of its entries.  What is not stored has no number, and so no derivative.
"""

from __future__ import annotations

import operator

import numpy as np
from scipy import sparse

from s2sgrad.rules.contractions import is_operator, is_small, with_zeros
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.sparse import (
    at_places,
    diagonal_of,
    kron_left,
    kron_right,
    methods,
    on_diagonal,
    part,
    pattern,
    read,
    require_complete,
    require_planes,
)
from s2sgrad.rules.table import existing, flat, general, linear, operates, rule_of, structured, with_own_operators
from s2sgrad.runtime import Refusal

# --- numbers in the place of entries ---------------------------------------------------------------------------------


def coordinates(A):
    """The places that are numbered, in the order of their numbers: of an array and of a small sparse array all of them, of
    a large one where it stores entries, each once."""
    if not is_operator(A) or is_small(A):
        shape = A.shape if is_operator(A) else np.shape(A)
        return tuple(np.indices(shape).reshape(len(shape), int(np.prod(shape))))
    if len(A.shape) == 2:
        c = with_zeros(A) if A.format == "dia" else A.tocsr(copy=True)
        c.sum_duplicates()
        c = c.tocoo()
        return c.row, c.col
    c = A.tocoo(copy=True)
    c.sum_duplicates()
    return c.coords


def count(A):
    """How many entries are numbered."""
    return len(coordinates(A)[0]) if np.ndim(A) or is_operator(A) else 1


def numbered(A, first=1):
    """An array that stores the numbers of its entries, from `first` on; of a small one, of all its elements.

    >>> numbered(sparse.csr_array([[0.0, 5.0], [7.0, 0.0]])).toarray().tolist()
    [[1, 2], [3, 4]]
    """
    if isinstance(A, (list, tuple)):
        raise Refusal(None, "blocks have a derivative rule as arrays or sparse arrays: write `np.array(..)`")
    numbers = np.arange(first, first + count(A))
    if not is_operator(A):
        return np.reshape(numbers, np.shape(A))
    kind = sparse.coo_matrix if isinstance(A, sparse.spmatrix) else sparse.coo_array
    return kind((numbers, coordinates(A)), shape=A.shape).asformat(A.format)


def told(numbers):
    """Numbers and where they are, in an array or a sparse one."""
    if not is_operator(numbers):
        return np.ravel(np.asarray(numbers)), tuple(
            np.indices(np.shape(numbers)).reshape(np.ndim(numbers), np.size(numbers))
        )
    c = numbers.tocoo()
    return c.data, (c.row, c.col) if len(c.shape) == 2 else c.coords


def values(g, where, shape):
    """The elements of an array or a sparse one at these places."""
    if len(where) == 2 and is_operator(g):
        return read(g, *where)
    if not is_operator(g):
        return np.asarray(g)[where] if np.shape(g) == shape else np.zeros(np.shape(where[0]) if where else ())
    keys = np.ravel_multi_index(where, shape)
    flattened = sparse.coo_array((np.ones(len(keys)), (np.zeros(len(keys), int), keys)), shape=(1, int(np.prod(shape))))
    return read(g.reshape((1, -1)), flattened.row, flattened.col)


def stored(data, where, shape):
    """A sparse array of these data: `coo_array` of one row gives a number in its product with a vector."""
    return (sparse.csr_array if len(shape) == 2 else sparse.coo_array)((data, where), shape=shape)


def of_values(data, like):
    """An array, or a sparse one, of these elements in the order of the numbers."""
    if is_operator(like):
        return stored(data, coordinates(like), like.shape)
    return np.reshape(data, np.shape(like))[()]


def back(g, numbers, like, first=1):
    """The cotangent of an array whose entries are at the numbers `first`, `first + 1`, .. in what came of it."""
    known, where = told(numbers)
    g_there = np.ravel(values(g, where, np.shape(numbers)))
    own = (known >= first) & (known < first + count(like))
    data = np.bincount(np.asarray(known[own], int) - first, g_there[own], count(like))
    return of_values(data.astype(g_there.dtype), like)


def forth(w, numbers, like):
    """Where the entries of `w` come, an array that is stored where `like` is."""
    return gathered(np.ravel(values(w, coordinates(like), np.shape(like))), numbers)


def gathered(data, numbers):
    """An array of these elements where their numbers are; 0 where there is none."""
    known, where = told(numbers)
    known = np.asarray(known, int)
    found = np.where(known > 0, np.append(data, np.zeros(1, data.dtype))[known - 1], np.zeros(1, data.dtype))
    if is_operator(numbers):
        return stored(found, where, numbers.shape)
    return np.reshape(found, np.shape(numbers))[()]


@linear(back)
def _(w, y, g, numbers, like, first=1):
    return forth(w, numbers, like), None, None


@linear(forth)
def _(g, y, w, numbers, like):
    return back(g, numbers, like), None, None


flat(numbered)

# --- triangles, axes, shapes -----------------------------------------------------------------------------------------


@linear(sparse.tril)
def tril(g, y, A, k=0, format=None):
    return back(g, sparse.tril(numbered(A), k), A)


@linear(sparse.triu)
def triu(g, y, A, k=0, format=None):
    return back(g, sparse.triu(numbered(A), k), A)


for _triangle in (tril, triu):
    _triangle.refuse(lambda A: is_container(A), "a triangle has a derivative rule of a sparse array: make it before")


for _swapaxes in existing(sparse, "swapaxes"):

    @linear(_swapaxes)
    def swapaxes(g, y, A, axis1=0, axis2=1):
        return back(g, sparse.swapaxes(numbered(A), axis1, axis2), A)


for _permute in existing(sparse, "permute_dims"):

    @linear(_permute)
    def permute_dims(g, y, A, axes=None, copy=False):
        return back(g, sparse.permute_dims(numbered(A), axes), A)

    permute_dims.refuse(
        lambda A: hasattr(A, "dims"), "`permute_dims` of an array has no derivative rule: write `np.transpose`"
    )


for _expand in existing(sparse, "expand_dims"):

    @linear(_expand)
    def expand_dims(g, y, A, *, axis=0):
        return back(g, sparse.expand_dims(numbered(A), axis=axis), A)


@linear(*methods("transpose"))
def transpose(g, y, self, axes=None, copy=False):
    return g.T


def row_numbers(A, i):
    """The numbers of the entries of a row."""
    return numbered(A).getrow(i)


def column_numbers(A, j):
    """The numbers of the entries of a column."""
    return numbered(A).getcol(j)


flat(row_numbers, column_numbers)


@linear(*methods("getrow"))
def getrow(g, y, self, i=0):
    return back(g, row_numbers(self, i), self)


@linear(*methods("getcol"))
def getcol(g, y, self, j=0):
    return back(g, column_numbers(self, j), self)


@linear(*methods("trace"))
def trace(g, y, self, offset=0):
    return on_diagonal(g * np.ones_like(diagonal_of(self, offset)), offset, self)


# --- items -----------------------------------------------------------------------------------------------------------


def item(A, key):
    """`A[key]`."""
    return A[key]


def by_key(A, key):
    """The numbers of an item, at which a mask that is a sparse array selects as an array does."""
    numbers = numbered(A.tocsr() if A.format in ("coo", "dia", "bsr") else A)
    return numbers[key.nonzero()] if is_operator(key) else numbers[key]


def item_along(w, key, like):
    """The item of a tangent, in the shape of that of `like`."""
    return forth(w, by_key(like, key), like)


@linear(item_along)
def _(g, y, w, key, like):
    return item_back(g, key, like), None, None


def item_back(g, key, like):
    """The cotangent of an array of which an item was read."""
    if isinstance(like[key], np.matrix):
        raise Refusal(None, "items of a sparse matrix by two lists are a dense matrix, which has no derivative rule: use a "
                            "sparse array (`csr_array`)")  # fmt: skip
    return back(g, by_key(like, key), like)


@linear(item_back)
def _(w, y, g, key, like):
    return item_along(w, key, like), None, None


@general(item)
def _item(g, y, A, key):
    return item_back(g, key, A), None


@_item.forward()
def _(y, A, key, A_dot, key_dot):
    return item_along(A_dot, key, A), None


# --- blocks ----------------------------------------------------------------------------------------------------------


def leaves(blocks):
    """The blocks of a list, or of a list of lists, but for those that are None."""
    rows = [row if isinstance(row, (list, tuple)) else [row] for row in blocks]
    return [b for row in rows for b in row if b is not None]


def each(f, blocks):
    """`f` of each block and the number of its first entry, in the same lists: numbers go on from block to block."""
    if is_operator(blocks) or (isinstance(blocks, np.ndarray) and blocks.dtype != object):
        raise Refusal(None, "blocks have a derivative rule in a list")
    firsts = iter(np.cumsum([1, *map(count, leaves(blocks))]).tolist())

    def rebuilt(part):
        if isinstance(part, (list, tuple)):
            return [rebuilt(b) for b in part]
        return None if part is None else f(part, next(firsts))

    return [rebuilt(b) for b in blocks]


def numbered_blocks(blocks):
    """The blocks with the numbers of their entries."""
    return each(numbered, blocks)


def back_to_blocks(g, numbers, blocks):
    """The cotangents of blocks that a sparse array is made of."""
    return each(lambda b, first: back(g, numbers, b, first), blocks)


def forth_of_blocks(dots, numbers, blocks):
    """The tangent of an array that is made of blocks; None for a block without one."""
    found = [
        np.zeros(count(b)) if w is None else np.ravel(values(w, coordinates(b), np.shape(b)))
        for b, w in _pairs(blocks, dots)
    ]  # fmt: skip
    return gathered(np.concatenate(found), numbers)


def _pairs(blocks, dots):
    """The blocks and their tangents."""
    for k, b in enumerate(blocks):
        w = None if dots is None else dots[k]
        if isinstance(b, (list, tuple)):
            yield from _pairs(b, w)
        elif b is not None:
            yield b, w


@linear(back_to_blocks)
def _(w, y, g, numbers, blocks):
    return forth_of_blocks(w, numbers, blocks), None, None


@linear(forth_of_blocks)
def _(g, y, dots, numbers, blocks):
    return back_to_blocks(g, numbers, blocks), None, None


flat(numbered_blocks)


@general(sparse.block_diag)
def block_diag(g, y, mats, format=None, dtype=None):
    return back_to_blocks(g, sparse.block_diag(numbered_blocks(mats)), mats)


@block_diag.forward()
def _(y, mats, mats_dot, format=None, dtype=None):
    return forth_of_blocks(mats_dot, sparse.block_diag(numbered_blocks(mats)), mats)


@general(sparse.bmat, *existing(sparse, "block_array"))
def bmat(g, y, blocks, format=None, dtype=None):
    return back_to_blocks(g, sparse.bmat(numbered_blocks(blocks)), blocks)


@bmat.forward()
def _(y, blocks, blocks_dot, format=None, dtype=None):
    return forth_of_blocks(blocks_dot, sparse.bmat(numbered_blocks(blocks)), blocks)


@general(sparse.vstack)
def vstack(g, y, blocks, format=None, dtype=None):
    return back_to_blocks(g, sparse.vstack(numbered_blocks(blocks)), blocks)


@vstack.forward()
def _(y, blocks, blocks_dot, format=None, dtype=None):
    return forth_of_blocks(blocks_dot, sparse.vstack(numbered_blocks(blocks)), blocks)


@general(sparse.hstack)
def hstack(g, y, blocks, format=None, dtype=None):
    return back_to_blocks(g, sparse.hstack(numbered_blocks(blocks)), blocks)


@hstack.forward()
def _(y, blocks, blocks_dot, format=None, dtype=None):
    return forth_of_blocks(blocks_dot, sparse.hstack(numbered_blocks(blocks)), blocks)


def ones_on_diagonal(A):
    """The identity of the size of a square array."""
    require_planes(A, A)
    return sparse.eye(A.shape[0])


flat(ones_on_diagonal)


@general(sparse.kronsum)
def kronsum(g, y, A, B, format=None):
    return part(kron_right(g, ones_on_diagonal(B), A), A), part(kron_left(g, B, ones_on_diagonal(A)), B)


for _rule in (kronsum, rule_of(sparse.kron)):
    _rule.refuse(
        lambda A, B: any(is_container(k) or k.rank == 0 for k in (A, B)),
        "a product of sparse arrays has a derivative rule for arrays of two axes: make them first",
    )


@kronsum.forward()
def _(y, A, B, A_dot, B_dot, format=None):
    return sparse.kron(ones_on_diagonal(B), A_dot), sparse.kron(B_dot, ones_on_diagonal(A))


# --- diagonals by columns, stored triples ----------------------------------------------------------------------------


def by_columns(g, data, offsets):
    """The cotangent of diagonals whose elements stand in the columns where they come: element `j` in column `j`.

    >>> by_columns(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((1, 2)), [1]).tolist()
    [[0.0, 2.0]]
    """
    columns = np.broadcast_to(np.arange(np.shape(data)[-1]), np.shape(np.atleast_2d(data)))
    rows = columns - np.atleast_1d(offsets).astype(int)[:, None]  # as SciPy takes them
    inside = (rows >= 0) & (rows < np.shape(g)[0]) & (columns < np.shape(g)[1])
    found = values(g, (np.where(inside, rows, 0), np.where(inside, columns, 0)), np.shape(g))
    return np.reshape(np.where(inside, found, 0.0), np.shape(data)).astype(found.dtype)


def in_columns(data, offsets, shape):
    """A sparse array of such diagonals."""
    return sparse.dia_array((np.atleast_2d(data), np.atleast_1d(offsets)), shape=shape)


@linear(by_columns)
def _(w, y, g, data, offsets):
    return in_columns(w, offsets, np.shape(g)), None, None


@linear(in_columns)
def _(g, y, data, offsets, shape):
    return by_columns(g, data, offsets), None, None


@general(sparse.spdiags)
def spdiags(g, y, data, diags, m=None, n=None, format=None):
    stored_diagonals(g, y, data, diags)
    return by_columns(g, data, diags), None


def stored_diagonals(g, y, data, diags):
    """Raise Refusal for one number, and where a large array has left out zeros on its diagonals."""
    if np.ndim(data) == 0:
        raise Refusal(None, "`sparse.spdiags` has a derivative rule for rows of diagonals: pass an array")
    if y.format == "dia" or not is_operator(g):
        return True
    return require_complete(g, y, in_columns(np.ones(np.shape(data)), diags, y.shape).tocsr().nnz)


flat(stored_diagonals)


@spdiags.forward()
def _(y, data, diags, data_dot, diags_dot, m=None, n=None, format=None):
    return in_columns(data_dot, diags, np.shape(y)), None


def given_diagonals(arg):
    """The diagonals by columns that a sparse array is made of, and their offsets; Refusal for what has none."""
    if isinstance(arg, tuple) and len(arg) == 2 and np.ndim(arg[0]) >= 1:
        return arg
    raise Refusal(None, "a sparse array of diagonals has a derivative rule for `(data, offsets)`: use `A.todia()`")


def dia_bar(g, arg):
    """The cotangent of what a sparse array of diagonals is made of."""
    if is_operator(arg):
        return g
    data, offsets = given_diagonals(arg)
    return by_columns(g, data, offsets), None


def dia_along(dot, arg, like):
    """The transpose of `dia_bar`."""
    if is_operator(arg):
        return dot
    offsets = given_diagonals(arg)[1]
    return in_columns(dot[0], offsets, np.shape(like))


@general(sparse.dia_array, sparse.dia_matrix)
def dia(g, A, arg1, shape=None, dtype=None, copy=False):
    return dia_bar(g, arg1)


@dia.forward()
def _(A, arg1, arg1_dot, shape=None, dtype=None, copy=False):
    return dia_along(arg1_dot, arg1, A)


@linear(dia_bar)
def _(w, y, g, arg):
    return dia_along(w, arg, g), None


@linear(dia_along)
def _(g, y, dot, arg, like):
    return dia_bar(g, arg), None, None


flat(given_diagonals)
structured("arg1", sparse.dia_array, sparse.dia_matrix)


@general(sparse.find)
def find(g, y, A):
    all_found(y, A)
    return part(at_places(as_values(g[2], y), (y[0], y[1]), A), A)


find.refuse(lambda A: is_container(A), "`sparse.find` has a derivative rule for arrays: make one first")


def as_values(g, y):
    """The cotangent of the values, 0 where there is none."""
    return np.zeros(np.shape(y[2])) if g is None or np.ndim(g) == 0 else g


@linear(as_values)
def _(w, z, g, y):
    return w, None


def all_found(y, A):
    """Raise Refusal for a vector, and for stored zeros, which `sparse.find` leaves out."""
    if len(np.shape(A)) != 2:
        raise Refusal(None, "`sparse.find` has a derivative rule for an array of two axes")
    if len(y[2]) < count_stored(A):
        raise Refusal(None, "`sparse.find` leaves out zeros that are stored, whose derivative is not known: use `A.tocoo()`")
    return True


def count_stored(A):
    """How many places an array stores."""
    return pattern(A).tocsr().nnz if is_operator(A) else len(np.flatnonzero(A))


flat(all_found)


@find.forward()
def _(y, A, A_dot):
    return no_tangent(y[0]), no_tangent(y[1]), read_found(A_dot, y, A)


def read_found(A_dot, y, A):
    """The tangents of the values that `sparse.find` gives."""
    all_found(y, A)
    return read(A_dot, y[0], y[1])


@linear(read_found)
def _(g, z, A_dot, y, A):
    return at_places(g, (y[0], y[1]), A), None, None


def no_tangent(index):
    """Zeros for indices."""
    return np.zeros(np.shape(index))


flat(no_tangent)


operates(operator.getitem, item)
with_own_operators(
    in_columns, dia_along, ones_on_diagonal, *existing(sparse, "swapaxes", "permute_dims", "expand_dims"),
    *methods("transpose"), *methods("getrow"), *methods("getcol"),
)  # fmt: skip
structured("blocks", sparse.bmat, sparse.vstack, sparse.hstack)
structured("mats", sparse.block_diag)
