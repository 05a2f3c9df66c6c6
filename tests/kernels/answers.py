"""What some kernels must compute, said in another way: each function looks at the arguments and the results of its namesake.

`CHECKS` lists them by the kernel's name.  They get fresh arguments, as the kernel got them, and what it made of them.
"""

import itertools

import numpy as np
from numpy.testing import assert_allclose as close

CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


# --- products ----------------------------------------------------------------------------------------------------------

PRODUCTS = {
    "gemm": lambda alpha, beta, C, A, B: (beta * C + alpha * A @ B,),
    "two_products": lambda alpha, beta, A, B, C, D: (alpha * A @ B @ C + beta * D,),
    "three_products": lambda A, B, C, D: A @ B @ (C @ D),
    "doitgen": lambda A, C4: (np.einsum("rqp,ps->rqs", A, C4),),
    "atax": lambda A, x: A.T @ (A @ x),
    "bicg": lambda A, p, r: (A.T @ r, A @ p),
    "mvt": lambda x1, x2, y1, y2, A: (x1 + A @ y1, x2 + A.T @ y2),
    "gesummv": lambda alpha, beta, A, B, x: alpha * A @ x + beta * B @ x,
    "symm": lambda alpha, beta, C, A, B: (beta * C + alpha * (np.tril(A) + np.tril(A, -1).T) @ B,),
    "syrk": lambda alpha, beta, C, A: (np.where(np.tri(len(C)) > 0, beta * C + alpha * A @ A.T, C),),
    "syr2k": lambda alpha, beta, C, A, B: (np.where(np.tri(len(C)) > 0, beta * C + alpha * (A @ B.T + B @ A.T), C),),
    "trmm": lambda alpha, A, B: (alpha * (np.tril(A, -1).T + np.eye(len(A))) @ B,),
    "covariance": lambda data: np.cov(data.T),
    "correlation": lambda data: np.where(np.eye(4) > 0, 1.0, np.corrcoef(data.T) * np.outer(*2 * [small_as_they_are(data)])),
    "softmax_in_place": lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True),
    "max_pooling": lambda x: (x * x + x).reshape(2, 2, 2, 2, 2, 2).max(axis=(2, 4)),
    "products_of_the_others": lambda factors: factors.prod(axis=1, keepdims=True) / factors,
    "seam": lambda energy: min(sum(energy[i, j] for i, j in enumerate(way)) for way in steady_ways(*energy.shape)),
    "knapsack": lambda worth, weights, capacity: np.array([best_choice(worth, weights, c) for c in range(capacity + 1)]),
    "epidemic": lambda infection, recovery, start, lockdown, days: epidemic_by_recursion(
        infection, recovery, start, lockdown, days
    ),
}


def small_as_they_are(data):
    """Columns with a standard deviation below the threshold are not scaled."""
    return np.where(data.std(axis=0) <= 0.1, data.std(axis=0), 1.0)


def steady_ways(height, width):
    ways = itertools.product(range(width), repeat=height)
    return [way for way in ways if all(abs(a - b) <= 1 for a, b in itertools.pairwise(way))]


def best_choice(worth, weights, capacity):
    choices = (np.array(choice) for choice in itertools.product((0, 1), repeat=len(worth)))
    return max(choice @ worth for choice in choices if choice @ weights <= capacity)


def epidemic_by_recursion(infection, recovery, start, lockdown, days):
    states = [start]
    for t in range(days):
        rate = infection * (1.0 if t < days // 2 else lockdown[(t + 1) % 2])
        s, i, r = states[-1]
        states.append(np.array([s - rate * s * i, i + rate * s * i - recovery * i, r + recovery * i]))
    return np.transpose(states)


def _plain(formula):
    def compare(args, result):
        expected = formula(*args)
        pairs = zip(result, expected, strict=True) if isinstance(expected, tuple) else [(result, expected)]
        for got, value in pairs:
            close(got, value, rtol=1e-10, atol=1e-12)

    return compare


CHECKS |= {name: _plain(formula) for name, formula in PRODUCTS.items()}


def dense(starts, columns, values):
    matrix = np.zeros((len(starts) - 1,) * 2)
    np.add.at(matrix, (np.repeat(np.arange(len(matrix)), np.diff(starts)), columns), values)
    return matrix


@check
def gemver(args, result):
    alpha, beta, A, u1, v1, u2, v2, w, x, y, z = args
    A = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = x + beta * A.T @ y + z
    for got, expected in zip(result, (A, w + alpha * A @ x, x), strict=True):
        close(got, expected)


@check
def spmv(args, result):
    close(result, dense(*args[:3]) @ args[3])


@check
def ranks_of_a_sparse_graph(args, result):
    assert np.isclose(result.sum(), 1.0)
    rank, matrix = args[3] / args[3].sum(), dense(*args[:3])
    for _ in range(args[4]):
        rank = 0.85 * matrix @ rank / np.sum(matrix @ rank) + 0.15 / len(rank)
    close(result, rank)


# --- factorizations ----------------------------------------------------------------------------------------------------


@check
def lu(args, result):
    close((np.tril(result[0], -1) + np.eye(5)) @ np.triu(result[0]), args[0])


@check
def ludcmp(args, result):
    close(args[0] @ result[0], args[1])


@check
def cholesky(args, result):
    close(np.tril(result[0]), np.linalg.cholesky(args[0]))
    close(np.triu(result[0], 1), np.triu(args[0], 1))


@check
def ldlt_by_outer_products(args, result):
    L, d = result
    close(L * d @ L.T, args[0], atol=1e-14)
    assert np.all(np.triu(L, 1) == 0.0)


def orthogonal_and_triangular(args, result):
    Q, R = result
    close(Q @ R, args[0])
    close(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
    close(np.tril(R, -1), np.zeros_like(R), atol=1e-12)


CHECKS |= {"gramschmidt": orthogonal_and_triangular, "householder_qr": orthogonal_and_triangular}


@check
def power_iteration(args, result):
    close(result[0], np.max(np.linalg.eigvalsh(args[0])), rtol=1e-3)


@check
def durbin(args, result):
    n = len(result)
    first = np.concatenate([[1.0], args[0][:-1]])
    close(first[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))] @ result, -args[0])


@check
def trisolv(args, result):
    close(args[0] @ result[0], args[2])


@check
def thomas(args, result):
    lower, diagonal, upper, rhs = args
    close((np.diag(diagonal) + np.diag(lower, -1) + np.diag(upper, 1)) @ result, rhs)


@check
def elimination_with_pivots(args, result):
    close(args[0] @ result, args[1])
    assert abs(args[0][0, 0]) < np.max(np.abs(args[0][:, 0])), "rows are exchanged"


@check
def inverse_by_gauss_jordan(args, result):
    close(result, np.linalg.inv(args[0]))


@check
def conjugate_gradients(args, result):
    assert np.linalg.norm(args[0] @ result - args[1]) < 1.01e-2


@check
def overrelaxation(args, result):
    errors = np.linalg.norm(result - np.linalg.solve(args[0], args[1]), axis=1)
    assert np.all(errors[1:] < errors[:-1])
