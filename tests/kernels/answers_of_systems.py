"""What more kernels must compute: grids, things that move, tables, series and networks."""

import itertools

import numpy as np
from numpy.testing import assert_allclose as close

from .answers import check

# --- grids -------------------------------------------------------------------------------------------------------------


def averaging(n, weights):
    """The matrix of a stencil of three points that leaves the ends alone."""
    matrix = np.eye(n)
    for i in range(1, n - 1):
        matrix[i, i - 1 : i + 2] = weights(i)
    return matrix


@check
def jacobi_1d(args, result):
    steps, A, B = args
    for _ in range(steps):
        B[1:-1] = (averaging(len(A), lambda i: 1 / 3) @ A)[1:-1]
        A[1:-1] = (averaging(len(A), lambda i: 1 / 3) @ B)[1:-1]
    close(result[0], A)


@check
def heat_with_swapped_buffers(args, result):
    u0, kappa, steps = args
    matrix = averaging(len(u0), lambda i: (kappa[i], 1.0 - 2.0 * kappa[i], kappa[i]))
    close(result, np.linalg.matrix_power(matrix, steps) @ u0)


@check
def plate_until_steady(args, result):
    plate = result[0]
    close(plate[0, 1:-1], args[1][1:-1])
    around = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    assert np.max(np.abs(around - plate[1:-1, 1:-1])) < 0.1


@check
def red_black_gauss_seidel(args, result):
    u, f = args[0], args[1]
    residual = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1] - f[1:-1, 1:-1]
    assert result[1] < 0.3 * np.sum(residual**2)


@check
def upwind_advection(args, result):
    assert np.min(args[0]) <= np.min(result[0]) and np.max(result[0]) <= np.max(args[0])


@check
def image_blur(args, result):
    image, weights = args
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="edge"), (3, 3))
    close(result, np.einsum("ijab,ab->ij", windows, weights) / weights.sum())


@check
def lattice_boltzmann(args, result):
    close(result[0].sum(), args[0].sum())  # mass is kept


@check
def hydrostatic_pressure(args, result):
    temperature, humidity, surface, dz = args
    p = surface[:, None] * np.exp(-34.2 * dz * np.cumsum(1.0 / (temperature * (1.0 + 0.61 * humidity)), axis=1))
    close(result[0][:, 1:], p)
    close(result[1][:, 0], np.sum(humidity * -np.diff(result[0], axis=1), axis=1))


@check
def sedimentation(args, result):
    rain, thickness, ground = args[:3]
    close(np.sum(result[0] * thickness, axis=1) + 0.05 * result[1], np.sum(rain * thickness, axis=1) + 0.05 * ground)


@check
def condensation(args, result):
    (heat, vapour, latent, _), wet = args, args[1] > np.exp(args[0] - 1.5)
    assert 3 < wet.sum() < wet.size - 3
    close(result[0][wet] + latent * result[1][wet], heat[wet] + latent * vapour[wet])
    close(result[1][wet], np.exp(result[0][wet] - 1.5), rtol=1e-5)


@check
def vadv(args, result):
    tendency, u_stage, wind, u, forcing, rate = args
    nk = u.shape[2]
    for i, j in np.ndindex(u.shape[:2]):
        wcon = 0.25 * (wind[i + 1, j] + wind[i, j])
        flow = np.zeros((nk, nk))  # times u: half the difference to the layer above and to the one below
        for k in range(nk):
            if k > 0:
                flow[k, k - 1 : k + 1] += -wcon[k], wcon[k]
            if k < nk - 1:
                flow[k, k : k + 2] += -wcon[k + 1], wcon[k + 1]
        rhs = rate * u[i, j] + forcing[i, j] + tendency[i, j] - 0.6 * flow @ u_stage[i, j]
        solved = np.linalg.solve(rate * np.eye(nk) + 0.4 * flow, rhs)
        close(result[0][i, j], rate * (solved - u[i, j]), atol=1e-12)


# --- things that move --------------------------------------------------------------------------------------------------


@check
def nbody(args, result):
    close(result[0] + result[1], np.full(3, result[0][0] + result[1][0]), rtol=0.05)


@check
def leapfrog_chain(args, result):
    def energy(x, v):
        stretch = np.diff(np.concatenate([[0.0], x, [0.0]]))
        return np.sum(v**2) / 2.0 + np.sum(0.6 * stretch**2 + 0.075 * stretch**4)

    close(energy(*result), energy(args[0], args[1]), rtol=0.01)


@check
def lotka_volterra_by_runge_kutta(args, result):
    a, b, c, d = args[1:5]
    x, y = result.T
    kept = d * x - c * np.log(x) + b * y - a * np.log(y)
    close(kept, np.full(6, kept[0]), rtol=1e-6)


@check
def pair_forces(args, result):
    close(result[1].sum(axis=0), 0.0, atol=1e-12)  # action and reaction


# --- tables ------------------------------------------------------------------------------------------------------------


@check
def floyd_warshall(args, result):
    path = args[0]
    for _ in range(4):
        path = np.minimum(path, np.min(path[:, :, None] + path[None, :, :], axis=1))
    close(result[0], path)


@check
def viterbi(args, result):
    prior, transition, emission = args

    def score(way):
        steps = sum(transition[a, b] for a, b in itertools.pairwise(way))
        return prior[way[0]] + steps + sum(emission[s, t] for t, s in enumerate(way))

    best = max(itertools.product(range(3), repeat=5), key=score)
    close(result[0], score(best))
    close(result[1], [emission[s, t] for t, s in enumerate(best)])


@check
def forward_backward(args, result):
    emission, transition, start = args
    share = np.zeros((4, 3))
    for way in itertools.product(range(3), repeat=4):
        steps = sum(transition[a, b] for a, b in itertools.pairwise(way))
        probability = np.exp(start[way[0]] + steps + sum(emission[t, s] for t, s in enumerate(way)))
        for t, s in enumerate(way):
            share[t, s] += probability
    close(np.exp(result), share / share.sum(axis=1, keepdims=True))


@check
def edit_distance(args, result):
    substitution, insertion, deletion = args

    def distance(i, j):
        if i == 0 or j == 0:
            return i * deletion + j * insertion
        changed = distance(i - 1, j - 1) + substitution[i - 1, j - 1]
        return min(changed, distance(i - 1, j) + deletion, distance(i, j - 1) + insertion)

    close(result, distance(*substitution.shape))


@check
def order_of_products(args, result):
    def cost(sizes):
        if len(sizes) < 3:
            return 0.0
        splits = range(1, len(sizes) - 1)
        return min(cost(sizes[: k + 1]) + cost(sizes[k:]) + sizes[0] * sizes[k] * sizes[-1] for k in splits)

    close(result, cost(args[0]))


# --- series and networks -----------------------------------------------------------------------------------------------


@check
def exponential_moving_average(args, result):
    x, alpha = args
    for n in range(len(x)):
        weights = alpha * (1.0 - alpha) ** np.arange(n, -1, -1.0)
        weights[0] /= alpha
        close(result[0][n], weights @ x[: n + 1])
        close(result[1][n], weights @ (x[: n + 1] - result[0][n]) ** 2, atol=1e-12)


@check
def rolling_mean_and_variance(args, result):
    windows = np.lib.stride_tricks.sliding_window_view(args[0], args[1])
    close(result, [windows.mean(axis=1), windows.var(axis=1)])


@check
def azimuthal_integral_with_masks(args, result):
    data, radius, bins = args
    place = np.floor(radius / radius.max() * bins).astype(int)
    close(result, [data[place == k].mean() for k in range(bins)])


@check
def histogram_by_element(args, result):
    data, place, bins = args
    close(result[0], [data[place == k].mean() if k in place else 0.0 for k in range(bins)])
    close(result[1], [data[place == k].var() if k in place else 0.0 for k in range(bins)])


@check
def charge_on_a_grid(args, result):
    close(result[0].sum(), 0.0, atol=1e-12)
    close(np.diff(result[1]), (result[0][1:] + result[0][:-1]) / 2.0, atol=1e-12)


@check
def biquad_cascade(args, result):
    x = args[0]
    for b0, b1, b2, a1, a2 in args[1]:
        y = np.zeros(len(x) + 2)
        w = np.concatenate([[0.0, 0.0], x])
        for n in range(2, len(w)):
            y[n] = b0 * w[n] + b1 * w[n - 1] + b2 * w[n - 2] - a1 * y[n - 1] - a2 * y[n - 2]
        x = y[2:]
    close(result[0], x)


@check
def conv2d_bias(args, result):
    image, weights, bias = args
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))
    close(result, np.einsum("nijcab,abcf->nijf", windows, weights) + bias)


@check
def causal_attention(args, result):
    x, Wq, Wk, Wv, _ = args
    for part in (slice(0, 2), slice(2, 4)):
        scores = np.exp((x @ Wq)[:, part] @ (x @ Wk)[:, part].T / np.sqrt(2.0)) * np.tri(5)
        close(result[:, part], scores / scores.sum(axis=1, keepdims=True) @ (x @ Wv)[:, part])


@check
def batch_norm_with_running_statistics(args, result):
    close(result[0].mean(axis=(0, 1, 2)), args[2], atol=1e-12)
    close(result[0].std(axis=(0, 1, 2)), args[1], rtol=1e-4)
    close(result[1], 0.1 * args[0].mean(axis=(0, 1, 2)))
