"""Sparse arrays: products and systems in the right side and in the stored entries, eigenvalues, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph, linalg

from s2sgrad import S2SGradError, grad, jvp, stop_gradient
from s2sgrad.rules import contractions
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


def iterative_otherwise(d):
    A, b = symmetric(d), d[3:]
    x, _ = linalg.lgmres(A, b, **EXACT)
    y, _ = linalg.gcrotmk(A, b, **EXACT)
    z, _ = linalg.qmr(A, b, **EXACT)
    w, _ = linalg.tfqmr(A, b, **EXACT)
    return np.sum(x * y + z * w * w)


def of_constants(d):
    b = d[:3]
    x = linalg.spsolve(FIXED.tocsc(), b) + linalg.expm_multiply(FIXED, b) + FIXED @ b + b @ FIXED + FIXED.T @ b
    return np.sum((x + OLDER @ b) ** 2)


FACTORS, SOLVE = linalg.splu(FIXED.tocsc()), linalg.factorized(FIXED.tocsc())


def fits(d):
    A = sparse.csr_array((d, ([0, 1, 2, 3, 0, 2], [0, 1, 0, 1, 1, 1])), shape=(4, 2))
    b = np.concatenate((d[:2], B[:2]))
    x = linalg.lsqr(A, b, atol=1e-14, btol=1e-14)[0]
    z = linalg.lsmr(A, b * b, atol=1e-14, btol=1e-14)[0]
    return np.sum(x**2) * np.sum(z) + np.sum(linalg.lsqr(A, B[0] * np.ones(4), 0.0, 1e-14, 1e-14)[0] ** 3)


def as_dense(d):
    return np.sum((stored(d) * d[0]).todense() ** 2)


def of_a_column(d):
    return np.sum(linalg.lsqr(stored(d), np.reshape(B, (-1, 1)))[0])


def of_a_dense_matrix(d):
    return np.sum(sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)).todense())


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


def stored(d):
    return sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))


def sums(d):
    A = stored(d)
    M = 2.0 * A + A * d[0] - FIXED + (-A) / d[1] + (FIXED - A.T)
    return np.sum((M @ d[3:]) ** 2) + np.sum((A + DENSE) ** 2 * DENSE)


def numbers_and_constants(d):
    return np.sum(((FIXED * d[0] - OLDER * d[1]) @ d[3:]) ** 2) + np.sum((d[2] * sparse.eye(3) @ B) ** 2)


def matrices_by_numbers(d):
    M = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum(((d[0] * M + M.T - M / 2.0) @ B) ** 2) + M.toarray()[0, 1] ** 2


def elements(d):
    A = stored(d)
    product = A * FIXED + A.multiply(A.T) + A.multiply(DENSE) + A.power(3)
    return np.sum((product.tocsc() @ d[:3]) ** 2) + np.sum(A.tocoo().diagonal() ** 2) + np.sum(A.diagonal(1) ** 3)


def blocks(d):
    A = stored(d)
    M = sparse.vstack([A, 2.0 * A]) @ d[:3]
    K = sparse.kron(A, stored(d * d)) @ np.arange(9.0)
    return np.sum(M**3) + np.sum((sparse.hstack([A, A.T]) @ d) ** 2) + np.sum(np.sin(K))


def factors(d):
    A = sparse.csc_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    lu = linalg.splu(A)
    return np.sum(lu.solve(d[:3]) * lu.solve(B)) + np.sum(linalg.splu(2.0 * A).solve(B) ** 2)


def of_dense(d):
    return np.sum((sparse.csr_array(np.outer(d[:3], d[3:])) @ B) ** 2)


def inverse(d):
    return np.sum((linalg.inv(sparse.csc_array((d, (ROWS, COLUMNS)), shape=(3, 3))) @ B) ** 2) + linalg.norm(stored(d))


def matrices_by_star(d):
    M = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum((M * M) @ B)


def by_another_shape(d):
    return np.sum((stored(d) * B) @ B)


def an_item(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return A[0, 1] ** 2


def orders_of_values(d):
    A = symmetric(d)
    smallest = linalg.eigsh(A, 2, which="SA", v0=B, return_eigenvectors=False)
    return smallest[0] ** 2 + 3.0 * smallest[1]


def scaled_again(d):
    A = FIXED * d[0]
    A *= d[1]
    A *= d[2]
    return np.sum((A @ B) ** 2)


def sections(d):
    A, M = stored(d), sparse.csc_matrix((d * d, (ROWS, COLUMNS)), shape=(3, 3))
    places = np.array([0, 2])
    x = A[1:, ::-1] @ B + A[places][:, places] @ B[:2]
    y = np.sum(A[places, places] ** 2) + A[-1, -1] * A[0, 2] + np.sum(A[A > 1.0] ** 3)
    return np.sum(x * x) + y + np.sum((M[:, 1].T @ d[:3]) ** 2) + np.sum((M[[0, 1]] @ DENSE) ** 2)


def rows_one_by_one(d):
    A, M, total = stored(d), sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)), 0.0
    for i in range(3):
        row = A[i]
        total = total + np.tanh(row @ B) + (row @ DENSE) @ d[:3] + row[0] * d[0] + np.sum((M[i] @ B) ** 2)
    return total


def of_a_graph(d):
    W = stored(d)
    W = W + W.T
    L = sparse.diags_array(W.sum(axis=1)) - W
    return B @ linalg.spsolve((L + sparse.eye_array(3)).tocsc(), L @ B)


def sums_of_matrices(d):
    M = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    degrees = np.asarray(M.sum(axis=1)).ravel()
    return np.sum((sparse.diags(1 / degrees) @ M @ B) ** 2) + np.sum(np.asarray(M.mean(0)) ** 2) + np.sum(M) ** 2


def broadcast(d):
    A = stored(d)
    P = A / A.sum(axis=1)[:, None] + A.multiply(d[:3]) + d[3:, None] * A
    return np.sum((P.tocsr() @ B) ** 2)


def matrices_of_blocks(d):
    A, D = stored(d), sparse.diags(d[:2])
    K = sparse.bmat([[A, None], [2.0 * A.T, np.outer(d[:3], d[3:])]], format="csc") @ np.arange(6.0)
    K = K * (sparse.block_diag((A, D, d[2] * np.ones((1, 1))), format="csr") @ np.arange(6.0))
    return np.sum(K) + np.sum((sparse.kronsum(A, D, format="csr") @ np.arange(6.0)) ** 2)


def triangles(d):
    A = stored(d)
    M = sparse.tril(A) @ B + sparse.triu(A * A, k=1, format="csr") @ B
    i, j, v = sparse.find(A)
    return np.sum(M**2) + np.sum(v * v * (i + 2 * j)) + A.trace() ** 2


def by_diagonals(d):
    A = sparse.spdiags(np.reshape(d, (2, 3)), [0, -1], 3, 3) @ B
    M = sparse.dia_array((np.reshape(d * d, (2, 3)), [1, 0]), shape=(3, 3)) @ B
    return np.sum(A * M)


def other_formats(d):
    A = stored(d).tobsr().tolil().tocsc().todia().tocoo().asformat("csr").astype(float).copy()
    return np.sum((A @ B) ** 2) + A.shape[0] * np.sum(A.data**2) + A.nnz * d[0]


def each_element(d):
    A = stored(d * 0.3)
    S = A.sqrt() + A.sin() + A.tan() + A.sinh() + A.tanh() + A.arcsin() + A.arctan() + A.arcsinh() + A.arctanh()
    S = S + A.expm1() + np.log1p(A) + A.deg2rad() + A.rad2deg() + abs(-A)
    return np.sum((S @ B) ** 2) + A.max() ** 2 + A.min()


def powers_of_matrices(d):
    M = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum(M**3 @ B) + np.sum((stored(d) ** 2 @ B) ** 2)


def damped_and_wide(d):
    A, W = stored(d), sparse.csr_array((d, ([0, 0, 0, 1, 1, 1], [0, 1, 3, 1, 2, 3])), shape=(2, 4))
    exact = {"atol": 1e-14, "btol": 1e-14}
    x = linalg.lsqr(A, B, damp=0.3, **exact)[0] + linalg.lsmr(A, d[:3], d[4], **exact)[0]
    return np.sum(x**2) + np.sum(linalg.lsqr(W, d[:2], **exact)[0] ** 3 + linalg.lsmr(W, B[:2], 0.2, **exact)[0] ** 2)


def triangular_in_entries(d):
    A = stored(d)
    x = linalg.spsolve_triangular(sparse.tril(A, format="csr"), d[:3])
    y = linalg.spsolve_triangular(sparse.triu(A, format="csr"), d[3:], lower=False, unit_diagonal=True)
    return np.sum(x**2) + np.sum(y**3)


def norms(d):
    A = stored(d)
    rows, columns = linalg.norm(A, axis=1), linalg.norm(A, 1, axis=0)
    return linalg.norm(A, 1) + linalg.norm(A, np.inf) + np.sum(rows**3) + np.sum(columns**2) + linalg.onenormest(A) ** 2


def exponentials(d):
    A = sparse.csc_array((0.2 * d, (ROWS, COLUMNS)), shape=(3, 3))
    return np.sum((linalg.expm(A) @ B) ** 2) + np.sum(linalg.expm_multiply(A, np.reshape(d, (3, 2))) ** 2)


def factorized(d):
    A = sparse.csc_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    solve, lu = linalg.factorized(A), linalg.splu(A)
    return np.sum(solve(solve(d[:3])) ** 2) + np.sum(lu.solve(d[3:], "T") ** 2)


def sparse_right_sides(d):
    A = sparse.csc_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    X = linalg.spsolve(A, FIXED.tocsc())
    return np.sum((X @ B) ** 2) + np.sum(linalg.spsolve(A, sparse.csc_array((d[:2], ([0, 1], [0, 0])), shape=(3, 1))) ** 2)


def vectors(d):
    w, v = linalg.eigsh(symmetric(d), 2, which="LA", v0=B)
    u = linalg.lobpcg(symmetric(d), np.eye(3)[:, :1] + 0.1, tol=1e-12, maxiter=500)
    return np.sum(w**2) + np.sum(v**4) + np.sum(u[0] ** 2) + np.sum(u[1] ** 4)


def started(d):
    A, x = symmetric(d), B
    M = sparse.diags_array(1.0 / A.diagonal())
    for _ in range(2):
        x, _info = linalg.cg(A, x, x0=x, M=M, **EXACT)
    return x @ x


def triangular(d):
    lower, upper = sparse.csr_array(np.tril(DENSE)), sparse.csr_array(np.triu(DENSE))
    x = linalg.spsolve_triangular(lower, d[:3]) + linalg.spsolve_triangular(upper, d[3:], lower=False)
    return np.sum(x**2)


TWICE = [
    coordinates,
    rows,
    columns,
    stored_twice,
    steps,
    transposed,
    one_diagonal,
    diagonals,
    direct,
    of_constants,
    sums,
    numbers_and_constants,
    matrices_by_numbers,
    elements,
    blocks,
    factors,
    of_dense,
    inverse,
    triangular,
    matrices_by_star,
    by_another_shape,
    an_item,
    sections,
    rows_one_by_one,
    of_a_graph,
    sums_of_matrices,
    broadcast,
    matrices_of_blocks,
    triangles,
    by_diagonals,
    other_formats,
    each_element,
    damped_and_wide,
    triangular_in_entries,
    norms,
    exponentials,
    factorized,
    sparse_right_sides,
    vectors,
]
ONCE = [fits, as_dense, methods, by_factors, by_dot, kept_in_a_list, numbers_on_diagonals, iterative, iterative_otherwise,
        values, started, orders_of_values, scaled_again, powers_of_matrices]  # fmt: skip


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("f", TWICE + ONCE, ids=lambda f: f.__name__)
def test_programs(f):
    check_grads(f, (DATA,), order=2 if f in TWICE else 1, rtol=1e-4, atol=1e-5)


def zeros_by_chance(d):
    A, M = stored(d), sparse.diags([d[:3], d[3:5]], [0, 1], shape=(3, 3), format="csr")
    C = (A - stored(np.array([2.0, 0.0, 0.3, 1.5, 0.0, 3.0]))) @ B + (A + A.T) @ B + (A @ A) @ B
    K = linalg.inv(A.tocsc()) @ B + M @ B + A.todia() @ B
    return np.sum(C * K) + (A - FIXED).trace() + np.sum((A - FIXED).sum(axis=0) * B)


WITH_ZEROS = np.array([2.0, 0.0, 0.3, 1.5, 0.0, 3.0])


def test_zeros_by_chance_have_derivatives():
    check_grads(zeros_by_chance, (WITH_ZEROS,), order=1, rtol=1e-4, atol=1e-5)


def product_with_zeros(d):
    return np.sum((stored(d) @ stored(d)) @ B)


def sum_with_zeros(d):
    return np.sum((stored(d) + stored(d).T) @ B)


def diagonals_with_zeros(d):
    return np.sum(sparse.diags([d[:3], d[3:5]], [0, 1], shape=(3, 3), format="csr") @ B)


@pytest.mark.parametrize("f", [product_with_zeros, sum_with_zeros, diagonals_with_zeros], ids=lambda f: f.__name__)
def test_zeros_by_chance_in_large_arrays_are_refused(f, monkeypatch):
    monkeypatch.setattr(contractions, "SMALL", 0)
    with pytest.raises(S2SGradError, match="0 by chance"):
        grad(f)(WITH_ZEROS)


LARGE = [elements, sections, broadcast, matrices_of_blocks, triangles, each_element, norms, exponentials, factors, inverse]


@pytest.mark.parametrize("f", LARGE, ids=lambda f: f.__name__)
def test_large_arrays(f, monkeypatch):
    expected = grad(f)(DATA)
    monkeypatch.setattr(contractions, "SMALL", 0)
    assert np.allclose(grad(f)(DATA), expected)


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
    for f in (sections, broadcast, triangles, each_element, steps, matrices_of_blocks):
        assert grad(f)(d).dtype == np.float32


def test_singular_vectors_have_no_derivative():
    f = lambda d: np.sum(linalg.svds(symmetric(d), 2, v0=B)[0])  # noqa: E731
    with pytest.raises(S2SGradError, match="vectors of svds"):
        grad(f)(DATA)
    assert np.isnan(jvp(f, (DATA,), (DATA,))[1])


def sum_of_another_shape(d):
    return np.sum(stored(d) + B[:1, None])


def with_zeros(d):
    return np.sum(sparse.csr_array(DENSE * d[0]) @ B)


def sums_of_a_matrix(d):
    return np.sum(sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)).sum(axis=0))


def by_an_unknown_one(d):
    return np.sum((d[0] * MADE["A"]) @ B)


MADE = {"A": OLDER}


def a_method(d):
    A = sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 3))
    return A.maximum(FIXED).sum()


def an_item_written(d):
    A = sparse.lil_array((3, 3))
    A[0, 1] = d[0]
    return np.sum(A @ B)


def written_through_data(d):
    data = d * 2.0
    A = sparse.csr_array((data, INNER, POINTERS), shape=(3, 3))
    data[0] = 7.0
    return np.sum(A @ B)


def scaled_in_place(d):
    A = stored(d)
    C = A.tocsr()
    C *= 2.0
    return np.sum(A @ B)


def products_of_sums(d):
    s = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3)).sum(axis=1)
    return (s.T * s)[0, 0]


def a_function_of_numpy(d):
    return np.sum(np.dot(stored(d), 2.0) @ B)


def blocks_that_are_no_list(d):
    return np.sum(sparse.block_diag(stored(d)).toarray())


def of_a_number(d):
    return np.sum(sparse.coo_matrix(d[0]) @ np.ones(1))


def products_of_lines(d):
    return np.sum(sparse.kron(d[:3], np.array([0, 1])).toarray())


def sum_with_a_number(d):
    return np.sum(sparse.kronsum(0, np.outer(d[:2], d[2:4])).toarray())


def a_triangle_of_triples(d):
    return np.sum(sparse.triu((d, (ROWS, COLUMNS))).toarray())


def a_system_that_is_no_triangle(d):
    return np.sum(linalg.spsolve_triangular(stored(d), d[:3]))


REFUSED = [blocks_that_are_no_list, of_a_number, products_of_lines, sum_with_a_number, a_triangle_of_triples,
           a_system_that_is_no_triangle, sum_of_another_shape, with_zeros, sums_of_a_matrix, by_an_unknown_one,
           a_method, of_a_column, of_a_dense_matrix, an_item_written, written_through_data, scaled_in_place,
           products_of_sums, a_function_of_numpy]  # fmt: skip


@pytest.mark.filterwarnings("ignore:`kron(sum)?` is switching:DeprecationWarning")
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    with pytest.raises(S2SGradError):
        grad(f)(DATA)
    try:
        tangent = jvp(f, (DATA,), (DATA,))[1]
    except S2SGradError:
        return
    step = 1e-6 * DATA  # a tangent needs no transpose
    assert np.isclose(tangent, (f(DATA + step) - f(DATA - step)) / 2e-6)


def longer_diagonals(d):
    return np.sum(sparse.diags(np.outer(d[:2], d[2:5]), [0, 1]).toarray() ** 2)


def diagonals_of_diagonals(d):
    return np.sum((sparse.dia_array(sparse.diags_array(d)) @ d) ** 2)


def found_in_an_array(d):
    return np.sum(sparse.find(np.outer(d[:2], d[2:5]))[2] ** 2 * np.arange(6.0))


def estimated_norm_of_an_array(d):
    return linalg.onenormest(np.outer(d[:3], d[3:])) ** 2


@pytest.mark.parametrize(
    "f",
    [longer_diagonals, diagonals_of_diagonals, found_in_an_array, estimated_norm_of_an_array],
    ids=lambda f: f.__name__,
)
def test_other_operands(f):
    check_grads(f, (DATA,), rtol=1e-4, atol=1e-5)


def normalized_laplacian(d):
    W = sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))
    roots = sparse.diags(1.0 / np.sqrt(np.array(W.sum(1)).flatten()))
    return B @ (sparse.eye(3) - roots @ W @ roots).dot(B)


def test_a_constant_cotangent_has_a_tangent_of_zeros():
    check_grads(normalized_laplacian, (DATA,), order=2, rtol=1e-4, atol=1e-5)


def test_products_with_an_operator_of_scipy():
    operator = linalg.aslinearoperator(FIXED)
    check_grads(lambda d: np.sum((operator @ d[:3]) ** 2), (DATA,), order=2, rtol=1e-4, atol=1e-5)


def test_a_fit_to_what_is_no_matrix_is_refused():
    f = lambda s: np.sum(linalg.lsmr(np.array([0, 2, 1]), 1, s)[0])  # noqa: E731
    with pytest.raises(S2SGradError, match=r"matrix of two axes|vector as right side"):
        grad(f)(0.6)
    with pytest.raises(S2SGradError, match=r"matrix of two axes|vector as right side"):
        jvp(f, (0.6,), (1.0,))


def test_the_tangent_of_the_exponential_of_a_dense_matrix_is_dense():
    def f(m):
        y = linalg.expm(m)
        return np.sum(np.arange(4.0).reshape(2, 2) * y)

    m, direction = np.array([[0.3, 0.7], [0.2, -0.4]]), np.array([[0.5, -0.3], [0.8, 0.1]])
    tangent = jvp(f, (m,), (direction,))[1]
    np.testing.assert_allclose(tangent, np.sum(grad(f)(m) * direction))
    np.testing.assert_allclose(tangent, (f(m + 1e-6 * direction) - f(m - 1e-6 * direction)) / 2e-6, rtol=1e-7)


def helped(d):
    A = symmetric(d)
    M = linalg.LinearOperator(A.shape, linalg.spilu(stop_gradient(A)).solve)  # which knows no transpose
    return np.sum(linalg.gmres(A, d[3:], M=M, rtol=1e-12)[0] ** 2)


def test_an_incomplete_factorization_helps_along():
    check_grads(helped, (DATA,), rtol=1e-4, atol=1e-5)


def by_an_incomplete_factorization(d):
    return np.sum(linalg.spilu(symmetric(d)).solve(d[:3]))


def filled_like_a_dict(d):
    A = sparse.dok_array((3, 3))
    A[0, 1] = d[0]
    return np.sum(A.tocsr() @ B)


def laplacian(d):
    return np.sum(csgraph.laplacian(stored(d)) @ B)


@pytest.mark.parametrize(
    "f, advice",
    [
        (by_an_incomplete_factorization, "pass it as `M`"),
        (filled_like_a_dict, "gather rows, columns and values"),
        (laplacian, "scipy.sparse.diags"),
    ],
    ids=lambda x: getattr(x, "__name__", "advice"),
)
def test_what_has_no_rule_says_what_to_do(f, advice):
    with pytest.raises(S2SGradError) as found:
        grad(f)(DATA)
    assert advice in "\n".join([str(found.value), *getattr(found.value, "__notes__", ())])


STIFF = sparse.csr_array(np.vander(np.linspace(0.2, 1.4, 8)) @ np.vander(np.linspace(0.2, 1.4, 8)).T + np.eye(8))
METHODS = ("cg", "bicg", "bicgstab", "cgs", "gmres", "minres", "lgmres", "gcrotmk", "tfqmr", "qmr", "lsqr", "lsmr")


def stopped(name):
    """A call that ends before the method has converged."""
    method = getattr(linalg, name)
    options = {"iter_lim": 1} if name == "lsqr" else {"maxiter": 1}
    options |= (
        {"restart": 1} if name == "gmres" else {"inner_m": 1} if name == "lgmres" else {"m": 1} if name == "gcrotmk" else {}
    )
    return lambda b: np.sum(method(STIFF, b, **options)[0] ** 2)


def coarse(name):
    """A call with a tolerance that says nothing."""
    method = getattr(linalg, name)
    options = {"atol": 2.0} if name in ("lsqr", "lsmr") else {"rtol": 2.0}
    return lambda b: np.sum(method(STIFF, b, **options)[0] ** 2)


def at_once(name):
    """A call that is content with its first step: by the size of what is left, or for the condition of the matrix."""
    method = getattr(linalg, name)
    options = {"conlim": 1.0} if name in ("lsqr", "lsmr") else {"rtol": 2.0} if name == "minres" else {"atol": 4.0}
    return lambda b: np.sum(method(STIFF, b, **options)[0] ** 2)


@pytest.mark.parametrize("call", [stopped, coarse, at_once], ids=lambda call: call.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_what_is_no_solution_has_no_derivative_as_one(name, call):
    f, b = call(name), np.linspace(0.5, 2.0, 8)
    for derivative in (grad(f), lambda b: jvp(f, (b,), (b,))):
        with pytest.raises(S2SGradError, match=r"no (solution|fit)") as caught:
            derivative(b)
        assert __file__ in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_what_are_no_eigenvalues_have_no_derivative_as_such():
    start, beside = np.cos(np.arange(40.0)).reshape(20, 2), sparse.diags_array(np.full(20, 0.3))
    for iterations, converges in ((1, False), (200, True)):

        def f(d, iterations=iterations):
            return np.sum(linalg.lobpcg(beside + sparse.diags_array(d), start, maxiter=iterations)[0])

        for derivative in (grad(f), lambda d, f=f: jvp(f, (d,), (d,))):
            try:
                derivative(np.linspace(1.0, 2.0, 20))
            except S2SGradError as error:
                assert not converges and "no eigenvalues" in str(error)
            else:
                assert converges


def test_an_eigenvalue_of_0_has_a_slope():
    """Of the graph of a path: the vector is constant, so that the slope in each diagonal entry is 1 over their number."""

    def f(d):
        path = sparse.diags_array([-np.ones(7), np.r_[1.0, np.full(6, 2.0), 1.0] + d, -np.ones(7)], offsets=[-1, 0, 1])
        return linalg.eigsh(path.tocsc(), 1, sigma=-0.1)[0][0]

    assert abs(f(np.zeros(8))) < 1e-12
    np.testing.assert_allclose(grad(f)(np.zeros(8)), np.full(8, 0.125), rtol=1e-6)


def test_several_dampings_are_refused():
    with pytest.raises(S2SGradError, match="one number damps"):
        jvp(lambda w: linalg.lsqr(STIFF, np.zeros(8), w)[0][0], (np.ones(8),), (np.ones(8),))


def test_a_vector_has_no_found_elements_of_two_axes():
    with pytest.raises(S2SGradError, match="array of two axes"):
        grad(lambda w: np.sum(sparse.find(w)[2]))(np.ones(3))
