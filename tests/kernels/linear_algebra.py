"""Products of matrices and vectors, written as people write them: accumulated, in triangles, row by row, sparse."""

import numpy as np

from .case import kernel

# --- general matrices --------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(4, 5)), rng.normal(size=(4, 6)), rng.normal(size=(6, 5))),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(400, 410)), rng.normal(size=(400, 420)), rng.normal(size=(420, 410))),
    argnums=("alpha", "beta", "C", "A", "B"),
    outputs=("C",),
)
def gemm(alpha, beta, C, A, B):
    C *= beta
    C += alpha * A @ B


@kernel(
    args=lambda rng: (1.5, 1.2, *(rng.normal(size=s) for s in ((4, 3), (3, 5), (5, 2), (4, 2)))),
    bench=lambda rng: (1.5, 1.2, *(rng.normal(size=s) for s in ((300, 310), (310, 320), (320, 330), (300, 330)))),
    argnums=("alpha", "beta", "A", "B", "C", "D"),
    outputs=("D",),
)
def two_products(alpha, beta, A, B, C, D):
    tmp = np.empty((A.shape[0], B.shape[1]), dtype=D.dtype)
    tmp[:] = alpha * A @ B
    D[:] = tmp @ C + beta * D


@kernel(
    args=lambda rng: tuple(rng.normal(size=s) for s in ((4, 3), (3, 5), (5, 2), (2, 4))),
    bench=lambda rng: tuple(rng.normal(size=s) for s in ((200, 210), (210, 220), (220, 230), (230, 240))),
    argnums=("A", "B", "C", "D"),
)
def three_products(A, B, C, D):
    E = np.zeros((A.shape[0], B.shape[1]))
    F = np.zeros((C.shape[0], D.shape[1]))
    G = np.zeros((A.shape[0], D.shape[1]))
    for i in range(A.shape[0]):
        E[i, :] = A[i, :] @ B
    for j in range(D.shape[1]):
        F[:, j] = C @ D[:, j]
    np.matmul(E, F, out=G)
    return G


@kernel(
    args=lambda rng: (rng.normal(size=(3, 4, 5)), rng.normal(size=(5, 5))),
    bench=lambda rng: (rng.normal(size=(40, 30, 40)), rng.normal(size=(40, 40))),
    argnums=("A", "C4"),
    outputs=("A",),
)
def doitgen(A, C4):
    nr, nq, n = A.shape
    row = np.zeros(n)
    for r in range(nr):
        for q in range(nq):
            row[:] = A[r, q] @ C4
            A[r, q, :] = row


# --- matrices and vectors ----------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=(5, 4)), rng.normal(size=4)),
    bench=lambda rng: (rng.normal(size=(500, 400)), rng.normal(size=400)),
    argnums=("A", "x"),
)
def atax(A, x):
    y = np.zeros(x.shape[0])
    tmp = np.ndarray((A.shape[0],), dtype=x.dtype)
    for i in range(A.shape[0]):
        tmp[i] = A[i, :] @ x
        y += tmp[i] * A[i, :]
    return y


@kernel(
    args=lambda rng: (rng.normal(size=(5, 4)), rng.normal(size=4), rng.normal(size=5)),
    bench=lambda rng: (rng.normal(size=(500, 400)), rng.normal(size=400), rng.normal(size=500)),
    argnums=("A", "p", "r"),
)
def bicg(A, p, r):
    n, m = A.shape
    s, q = np.zeros(m), np.zeros(n)
    for i in range(n):
        s[:] = s + r[i] * A[i]
        q[i] += np.dot(A[i], p)
    return s, q


@kernel(
    args=lambda rng: (*(rng.normal(size=5) for _ in range(4)), rng.normal(size=(5, 5))),
    bench=lambda rng: (*(rng.normal(size=1800) for _ in range(4)), rng.normal(size=(1800, 1800))),
    argnums=("x1", "x2", "y1", "y2", "A"),
    outputs=("x1", "x2"),
)
def mvt(x1, x2, y1, y2, A):
    x1 += A @ y1
    x2 += y2 @ A


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(4, 4)), *(rng.normal(size=4) for _ in range(8))),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(600, 600)), *(rng.normal(size=600) for _ in range(8))),
    argnums=("alpha", "beta", "A", "u1", "v1", "u2", "v2", "w", "x", "y", "z"),
    outputs=("A", "w", "x"),
)
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(60, 60)), rng.normal(size=(60, 60)), rng.normal(size=60)),
    argnums=("alpha", "beta", "A", "B", "x"),
)
def gesummv(alpha, beta, A, B, x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        tmp = 0.0
        for j in range(n):
            tmp += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        y[i] = alpha * tmp + beta * y[i]
    return y


# --- triangles ---------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(4, 5)), rng.normal(size=(4, 4)), rng.normal(size=(4, 5))),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(40, 35)), rng.normal(size=(40, 40)), rng.normal(size=(40, 35))),
    argnums=("alpha", "beta", "C", "A", "B"),
    outputs=("C",),
)
def symm(alpha, beta, C, A, B):
    m, n = C.shape
    dots = np.empty(n)
    C *= beta
    for i in range(m):
        for j in range(n):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            dots[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * dots


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(5, 5)), rng.normal(size=(5, 3))),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(60, 60)), rng.normal(size=(60, 30))),
    argnums=("alpha", "beta", "C", "A"),
    outputs=("C",),
)
def syrk(alpha, beta, C, A):
    n, m = A.shape
    for i in range(n):
        C[i, : i + 1] *= beta
        for k in range(m):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


@kernel(
    args=lambda rng: (1.5, 1.2, rng.normal(size=(5, 5)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))),
    bench=lambda rng: (1.5, 1.2, rng.normal(size=(50, 50)), rng.normal(size=(50, 20)), rng.normal(size=(50, 20))),
    argnums=("alpha", "beta", "C", "A", "B"),
    outputs=("C",),
)
def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        row = C[i, : i + 1]
        row *= beta
        for k in range(A.shape[1]):
            row += alpha * B[i, k] * A[: i + 1, k]
            row += alpha * A[i, k] * B[: i + 1, k]


@kernel(
    args=lambda rng: (1.5, rng.normal(size=(4, 4)), rng.normal(size=(4, 3))),
    bench=lambda rng: (1.5, rng.normal(size=(60, 60)), rng.normal(size=(60, 40))),
    argnums=("alpha", "A", "B"),
    outputs=("B",),
)
def trmm(alpha, A, B):
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


# --- sparse matrices, statistics ---------------------------------------------------------------------------------------


def random_rows(rng, n, per_row):
    """The places of a sparse matrix: where each row starts, and the columns of its entries."""
    starts = np.arange(0, n * per_row + 1, per_row)
    columns = np.concatenate([np.sort(rng.choice(n, per_row, replace=False)) for _ in range(n)])
    return starts, columns


@kernel(
    args=lambda rng: (*random_rows(rng, 6, 3), rng.normal(size=18), rng.normal(size=6)),
    bench=lambda rng: (*random_rows(rng, 1000, 20), rng.normal(size=20000), rng.normal(size=1000)),
    argnums=("values", "x"),
)
def spmv(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        here = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[here]
    return y


def multiply_csr(starts, columns, values, x, y):
    """y = S x."""
    y[:] = 0.0
    for row in range(len(y)):
        for place in range(starts[row], starts[row + 1]):
            y[row] += values[place] * x[columns[place]]


@kernel(
    args=lambda rng: (*random_rows(rng, 5, 2), rng.uniform(0.5, 1.5, 10), rng.uniform(0.5, 1.5, 5), 3),
    bench=lambda rng: (*random_rows(rng, 100, 10), rng.uniform(0.5, 1.5, 1000), rng.uniform(0.5, 1.5, 100), 10),
    argnums=("values", "rank"),
)
def ranks_of_a_sparse_graph(starts, columns, values, rank, steps):
    rank, fresh = rank / np.sum(rank), np.empty(len(rank))
    for _ in range(steps):
        multiply_csr(starts, columns, values, rank, fresh)
        fresh *= 0.85 / fresh.sum()
        fresh += 0.15 / len(rank)
        rank, fresh = fresh, rank
    return rank


@kernel(
    args=lambda rng: (rng.normal(size=(6, 4)),),
    bench=lambda rng: (rng.normal(size=(300, 250)),),
    argnums=("data",),
)
def covariance(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    centred = data - mean
    cov = np.zeros((m, m), dtype=data.dtype)
    for i in range(m):
        cov[i, i:] = centred[:, i] @ centred[:, i:] / (n - 1.0)
        cov[i:, i] = cov[i, i:]
    return cov


@kernel(
    args=lambda rng: (rng.normal(size=(6, 4)) * np.array([1.0, 2.0, 0.01, 0.5]),),
    bench=lambda rng: (rng.normal(size=(300, 250)),),
    argnums=("data",),
)
def correlation(data):
    n, m = data.shape
    data = data.copy()
    stddev = np.sqrt(np.sum((data - data.mean(axis=0)) ** 2, axis=0) / n)
    stddev[stddev <= 0.1] = 1.0
    data -= data.mean(axis=0)
    data /= np.sqrt(float(n)) * stddev
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    corr[m - 1, m - 1] = 1.0
    return corr
