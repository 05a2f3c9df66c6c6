"""Sparse arrays: products and systems in the right side and in the stored entries, eigenvalues, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.testing import check_grads

ROWS, COLUMNS = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 1, 2])
INNER, POINTERS = COLUMNS, np.array([0, 2, 4, 6])
DATA, B = np.array([2.0, 0.3, 0.3, 1.5, 0.1, 3.0]), np.array([0.3, 0.5, 0.7])
DENSE = np.array([[2.0, 0.3, 0.0], [0.3, 1.5, 0.2], [0.0, 0.1, 3.0]])
FIXED, OLDER = sparse.csr_array(DENSE), sparse.csr_matrix(DENSE)
EXACT = {"rtol": 1e-12}


def symmetric(d):
    entries = np.concatenate((d[:3] + 4.0, d[3:5], d[3:5]))
    return sparse.csc_array((entries, ([0, 1, 2, 0, 1, 1, 2], [0, 1, 2, 1, 2, 0, 1])), shape=(3, 3))


def coordinates(d):
    return np.sum((sparse.coo_array((d, (ROWS, COLUMNS)), shape=(3, 3)) @ d[3:]) ** 2)


def rows(d):
    return np.sum((sparse.csr_array((d, INNER, POINTERS), shape=(3, 3)) @ np.outer(d[:3], d[3:5])) ** 2)


def columns(d):
    return np.sum((d[:3] @ sparse.csc_array((d * d, INNER, POINTERS), shape=(3, 3))) ** 2)


def stored_twice(d):
    return np.sum((sparse.coo_array((d, (ROWS, ROWS)), shape=(3, 3)) @ d[3:]) ** 2)


def steps(d):
    A, y = sparse.csr_array((d * d, (ROWS, COLUMNS)), shape=(3, 3)), B
    for _ in range(3):
        y = np.tanh(A @ y)
    return y @ y


def kept_in_a_list(d):
    matrices = []
    for k in range(2):
        matrices.append(sparse.csr_array((d + k, (ROWS, COLUMNS)), shape=(3, 3)))
    return np.sum((matrices[0] @ (matrices[1] @ d[:3])) ** 2)


def one_diagonal(d):
    return np.sum((sparse.diags(d[:3]) @ d[3:]) ** 2)


def diagonals(d):
    A = sparse.diags_array([d[:2], d[2:5], d[4:]], offsets=[-1, 0, 1], shape=(3, 3))
    return np.sum((A @ d[3:]) ** 2)


def numbers_on_diagonals(d):
    return np.sum((sparse.diags([d[0], d[2], 1.0], [-1, 0, 1], shape=(3, 3)) @ d[3:]) ** 2)


def direct(d):
    return np.sum(linalg.spsolve(sparse.csc_array((d, (ROWS, COLUMNS)), shape=(3, 3)), d[:3] ** 2) ** 2)


def iterative(d):
    A, b = symmetric(d), d[3:]
    x, _ = linalg.cg(A, b, **EXACT)
    y, _ = linalg.gmres(A, b, **EXACT)
    z, _ = linalg.bicgstab(A, b, **EXACT)
    w, _ = linalg.minres(A, b, **EXACT)
    return np.sum(x * y + z * w * w)


def of_constants(d):
    b = d[:3]
    x = linalg.spsolve(FIXED.tocsc(), b) + linalg.expm_multiply(FIXED, b) + FIXED @ b + b @ FIXED + FIXED.T @ b
    return np.sum((x + OLDER @ b) ** 2)


FACTORS, SOLVE = linalg.splu(FIXED.tocsc()), linalg.factorized(FIXED.tocsc())


def by_factors(d):
    y = d[:3]
    for _ in range(2):
        y = FACTORS.solve(y * y)
    own = linalg.splu(FIXED.tocsc())
    return np.sum((y + SOLVE(d[3:]) + own.solve(d[3:])) ** 2)


def transposed(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    M = A.T
    return B @ (A.T @ (A @ B)) + np.sum((M @ d[:3]) ** 2)


def methods(d):
    A, M = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3)), sparse.coo_array((d * d, (ROWS, COLUMNS)), shape=(3, 3))
    y = A.dot(d[:3]) + A.sum(axis=0) * A.sum(axis=1)
    return np.sum(A.toarray() ** 2 * DENSE) + np.sum(A.T.dot(DENSE) ** 2) + M.sum() ** 2 + np.sum((A @ y) ** 2)


def by_dot(d):
    return np.sum((FIXED.dot(d[:3]) + OLDER.dot(d[3:])) ** 2)


def values(d):
    w = linalg.eigsh(symmetric(d), 2, v0=B)[0]
    s = linalg.svds(symmetric(d), 2, v0=B)[1]
    return np.sum(np.exp(0.1 * w)) + np.sum(s * s) + linalg.eigsh(symmetric(d), 1, v0=B, return_eigenvectors=False)[0]


TWICE = [coordinates, rows, columns, stored_twice, steps, transposed, one_diagonal, diagonals, direct, of_constants]
ONCE = [methods, by_factors, by_dot, kept_in_a_list, numbers_on_diagonals, iterative, values]


@pytest.mark.parametrize("f", TWICE + ONCE, ids=lambda f: f.__name__)
def test_programs(f):
    check_grads(f, (DATA,), order=2 if f in TWICE else 1, rtol=1e-4, atol=1e-5)


def test_like_a_dense_matrix():
    by_dense = grad(lambda m: np.sum(np.linalg.solve(m, B) ** 2))(DENSE)
    data = FIXED.tocoo().data
    places = FIXED.tocoo().row, FIXED.tocoo().col
    by_sparse = grad(lambda d: np.sum(linalg.spsolve(sparse.csc_array((d, places), shape=(3, 3)), B) ** 2))(data)
    assert np.allclose(by_sparse, by_dense[places])


def test_no_dense_matrix_is_made():
    n = 200_000
    where = np.arange(n), np.arange(n)
    bar = grad(lambda d: np.sum((sparse.csr_array((d, where), shape=(n, n)) @ d) ** 2))(np.ones(n))
    assert np.allclose(bar, 4.0)


def test_float32():
    d = DATA.astype(np.float32)
    assert grad(lambda d: np.sum(sparse.csr_array((d, INNER, POINTERS), shape=(3, 3)) @ d[:3]))(d).dtype == np.float32


def test_vectors_have_no_derivative():
    f = lambda d: np.sum(linalg.eigsh(symmetric(d), 2, v0=B)[1])  # noqa: E731
    with pytest.raises(S2SGradError, match="vectors of eigsh"):
        grad(f)(DATA)
    assert np.isnan(jvp(f, (DATA,), (DATA,))[1])


def by_star(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum((A * DENSE) @ B)


def added(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum((A + FIXED) @ B)


def an_item(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return A[0, 1] ** 2


def a_method(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return A.max()


def older(d):
    return np.sum(sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)) @ B)


def transposed_by_star(d):
    A = sparse.diags(d[:3], 0).T
    return np.sum(A * DENSE)


def of_factors(d):
    A = sparse.csc_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum(linalg.splu(A).solve(B))


def of_diagonals_by_star(d):
    matrices = []
    for k in range(2):
        matrices.append(sparse.diags(d[:3] + k))
    return np.sum(matrices[1] * DENSE)


@pytest.mark.parametrize(
    "f",
    [by_star, added, an_item, a_method, older, of_diagonals_by_star, transposed_by_star, of_factors],
    ids=lambda f: f.__name__,
)
def test_refused(f):
    with pytest.raises(S2SGradError):
        grad(f)(DATA)
    with pytest.raises(S2SGradError):
        jvp(f, (DATA,), (DATA,))


def test_of_a_dense_matrix_is_refused_when_it_runs():
    with pytest.raises(S2SGradError):
        grad(lambda d: np.sum(sparse.csr_array(np.outer(d, d)) @ d))(B)
