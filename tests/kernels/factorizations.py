"""Factorizations and solvers: LU, Cholesky, QR, Toeplitz and tridiagonal systems, pivoting, conjugate gradients."""

import numpy as np

from .case import kernel


def spread(rng, n):
    """A matrix that is well conditioned and needs no pivoting."""
    return rng.normal(size=(n, n)) * 0.5 / np.sqrt(n) + np.diag(rng.uniform(2.0, 3.0, n))


def positive(rng, n):
    """A positive definite matrix, symmetric to the last digit."""
    root = rng.normal(size=(n, n)) / np.sqrt(n)
    return (root @ root.T + (root @ root.T).T) / 2.0 + np.diag(rng.uniform(1.0, 2.0, n))


# --- triangular factors ------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (spread(rng, 5),),
    bench=lambda rng: (spread(rng, 60),),
    argnums=("A",),
    outputs=("A",),
)
def lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


@kernel(
    args=lambda rng: (spread(rng, 5), rng.normal(size=5)),
    bench=lambda rng: (spread(rng, 60), rng.normal(size=60)),
    argnums=("A", "b"),
)
def ludcmp(A, b):
    A = A.copy()
    n = len(b)
    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            w -= A[i, :j] @ A[:j, j]
            A[i, j] = w / A[j, j]
        A[i, i:] -= A[i, :i] @ A[:i, i:]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x, y


@kernel(
    args=lambda rng: (positive(rng, 5),),
    bench=lambda rng: (positive(rng, 70),),
    argnums=("A",),
    outputs=("A",),
)
def cholesky(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - np.dot(A[i, :j], A[j, :j])) / A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


@kernel(
    args=lambda rng: (positive(rng, 5),),
    bench=lambda rng: (positive(rng, 150),),
    argnums=("A",),
)
def ldlt_by_outer_products(A):
    n = A.shape[0]
    rest = A.copy()
    L = np.eye(n)
    d = np.empty(n)
    for k in range(n):
        d[k] = rest[k, k]
        column = rest[k + 1 :, k]
        L[k + 1 :, k] = column / d[k]
        rest[k + 1 :, k + 1 :] -= np.outer(column, column) / d[k]
    return L, d


# --- orthogonal factors ------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=(5, 4)),),
    bench=lambda rng: (rng.normal(size=(80, 50)),),
    argnums=("A",),
)
def gramschmidt(A):
    """Writes its argument and returns something else."""
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        nrm = A[:, k] @ A[:, k]
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def reflect(block, v):
    """Householder's reflection of the columns of a block, in place."""
    block -= np.outer(2.0 * v, v @ block)


@kernel(
    args=lambda rng: (rng.normal(size=(5, 3)),),
    bench=lambda rng: (rng.normal(size=(120, 80)),),
    argnums=("A",),
)
def householder_qr(A):
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for k in range(n):
        v = R[k:, k].copy()
        v[0] += np.sign(v[0]) * np.linalg.norm(v)
        v /= np.linalg.norm(v)
        reflect(R[k:, k:], v)
        R[k + 1 :, k] = 0.0
        reflect(Q[k:, :], v)
    return Q.T, R


@kernel(
    args=lambda rng: (positive(rng, 4), rng.uniform(0.5, 1.5, 4), 1e-4),
    bench=lambda rng: (positive(rng, 500), rng.uniform(0.5, 1.5, 500), 1e-4),
    argnums=("A", "x0"),
)
def power_iteration(A, x0, tolerance):
    x = x0 / np.sqrt(x0 @ x0)
    y = np.empty_like(x)
    value, error = 0.0, 1.0
    while error > tolerance:
        y[:] = A @ x
        previous = value
        value = x @ y
        y /= np.sqrt(np.sum(y * y))
        x, y = y, x
        error = abs(value - previous)
    return value, x


# --- solvers -----------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (np.concatenate([[0.4], rng.uniform(-0.1, 0.1, 5)]),),
    bench=lambda rng: (np.concatenate([[0.4], rng.uniform(-0.001, 0.001, 500)]),),
    argnums=("r",),
)
def durbin(r):
    y = np.empty_like(r)
    z = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        z[:k] = y[:k] + alpha * y[k - 1 :: -1]
        y[:k] = z[:k]
        y[k] = alpha
    return y


@kernel(
    args=lambda rng: (np.tril(spread(rng, 5)), rng.normal(size=5), rng.normal(size=5)),
    bench=lambda rng: (np.tril(spread(rng, 800)), rng.normal(size=800), rng.normal(size=800)),
    argnums=("L", "b"),
    outputs=("x",),
)
def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = b[i] - L[i, :i] @ x[:i]
        x[i] /= L[i, i]


@kernel(
    args=lambda rng: (rng.uniform(-1, 1, 5), rng.uniform(2.5, 3.5, 6), rng.uniform(-1, 1, 5), rng.normal(size=6)),
    bench=lambda rng: (rng.uniform(-1, 1, 999), rng.uniform(2.5, 3.5, 1000), rng.uniform(-1, 1, 999), rng.normal(size=1000)),
    argnums=("lower", "diagonal", "upper", "rhs"),
)
def thomas(lower, diagonal, upper, rhs):
    n = len(rhs)
    c, d = np.zeros(n - 1), np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = rhs[0] / diagonal[0]
    for i in range(1, n):
        below = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / below
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / below
    for i in reversed(range(n - 1)):
        d[i] -= c[i] * d[i + 1]
    return d


@kernel(
    args=lambda rng: (rng.normal(size=(5, 5)), rng.normal(size=5)),
    bench=lambda rng: (rng.normal(size=(40, 40)), rng.normal(size=40)),
    argnums=("matrix", "rhs"),
)
def elimination_with_pivots(matrix, rhs):
    n = rhs.size
    M = np.zeros((n, n + 1))
    M[:, :n], M[:, n] = matrix, rhs
    for k in range(n):
        best = k + np.argmax(np.abs(M[k:, k]))
        if best != k:
            M[[k, best]] = M[[best, k]]
        for i in range(k + 1, n):
            factor = M[i, k] / M[k, k]
            M[i, k:] -= factor * M[k, k:]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (M[i, n] - np.sum(M[i, i + 1 : n] * x[i + 1 :])) / M[i, i]
    return x


@kernel(
    args=lambda rng: (spread(rng, 4),),
    bench=lambda rng: (spread(rng, 40),),
    argnums=("matrix",),
)
def inverse_by_gauss_jordan(matrix):
    n = matrix.shape[0]
    work, inverse = matrix.copy(), np.eye(n)
    for k in range(n):
        row, own = work[k], inverse[k]
        pivot = row[k]
        row /= pivot
        own /= pivot
        for i in range(n):
            if i == k:
                continue
            factor = work[i, k]
            work[i] -= factor * row
            inverse[i] -= factor * own
    return inverse


@kernel(
    args=lambda rng: (positive(rng, 5), rng.normal(size=5), 1e-2),
    bench=lambda rng: (positive(rng, 700), rng.normal(size=700), 1e-8),
    argnums=("A", "b"),
)
def conjugate_gradients(A, b, tolerance):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    while np.sqrt(rs) > tolerance:
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        fresh = r @ r
        p *= fresh / rs
        p += r
        rs = fresh
    return x


@kernel(
    args=lambda rng: (positive(rng, 4), rng.normal(size=4), 1.1, 3),
    bench=lambda rng: (positive(rng, 100), rng.normal(size=100), 1.1, 30),
    argnums=("A", "b", "omega"),
)
def overrelaxation(A, b, omega, sweeps):
    n = len(b)
    x = np.zeros(n)
    history = np.zeros((sweeps + 1, n))
    for sweep in range(sweeps):
        for i in range(n):
            sigma = A[i, :] @ x - A[i, i] * x[i]
            x[i] = (1.0 - omega) * x[i] + omega * (b[i] - sigma) / A[i, i]
        history[sweep + 1] = x
    return history
