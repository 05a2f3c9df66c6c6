"""Functions, and the adjoints that a person who knows reverse mode writes for them.

Shapes are known, nothing is recorded that can be computed again, and a loop that adds up outer products is one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SQRT2, DENSITY = math.sqrt(2.0), 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Workload:
    """A function of some arguments, its adjoint by hand in the first `argnums`, and how to draw arguments."""

    function: Callable
    by_hand: Callable
    draw: Callable[[np.random.Generator], tuple]
    argnums: tuple[int, ...]
    small: bool  # some microseconds: what a call costs counts


WORKLOADS: list[Workload] = []


def workload(
    function: Callable, draw: Callable[[np.random.Generator], tuple], *argnums: int, small: bool = False
) -> Callable:
    """Register the adjoint of a function."""

    def register(by_hand: Callable) -> Callable:
        WORKLOADS.append(Workload(function, by_hand, draw, argnums or (0,), small))
        return by_hand

    return register


# --- small functions --------------------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@workload(rosenbrock, lambda rng: (rng.normal(size=10),), small=True)
def rosenbrock_by_hand(x):
    head = x[:-1]
    residual = 200.0 * (x[1:] - head**2)
    x_bar = np.zeros_like(x)
    x_bar[1:] = residual
    x_bar[:-1] -= 2.0 * head * residual + 2.0 * (1.0 - head)
    return x_bar


def lens(r1, r2, n, d):
    power = (n - 1.0) * (1.0 / r1 - 1.0 / r2 + (n - 1.0) * d / (n * r1 * r2))
    return math.exp(-power) + power * power


@workload(lens, lambda rng: (*rng.uniform(1.0, 2.0, 3).tolist(), 0.1), 0, 1, 2, small=True)
def lens_by_hand(r1, r2, n, d):
    m = n - 1.0
    bracket = 1.0 / r1 - 1.0 / r2 + m * d / (n * r1 * r2)
    power = m * bracket
    power_bar = 2.0 * power - math.exp(-power)
    bracket_bar = power_bar * m
    thick = d / (n * r1 * r2)
    r1_bar = -bracket_bar * (1.0 / (r1 * r1) + m * thick / r1)
    r2_bar = bracket_bar * (1.0 / (r2 * r2) - m * thick / r2)
    n_bar = power_bar * bracket + bracket_bar * (thick - m * thick / n)
    return r1_bar, r2_bar, n_bar


def logistic(w, X, y):
    z = X @ w
    return np.mean(np.log1p(np.exp(-y * z))) + 0.01 * (w @ w)


def _labelled(rng):
    return rng.normal(size=20), rng.normal(size=(200, 20)), rng.choice([-1.0, 1.0], 200)


@workload(logistic, _labelled, small=True)
def logistic_by_hand(w, X, y):
    e = np.exp(-y * (X @ w))
    return X.T @ (-y * (e / (1.0 + e)) / len(y)) + 0.02 * w


def option(spot, strike, rate, volatility, years):
    spread = volatility * math.sqrt(years)
    high = (math.log(spot / strike) + rate * years) / spread + 0.5 * spread
    low = high - spread
    discount = math.exp(-rate * years)
    return 0.5 * (spot * (1.0 + math.erf(high / SQRT2)) - strike * discount * (1.0 + math.erf(low / SQRT2)))


@workload(option, lambda rng: (*rng.uniform(0.8, 1.2, 2).tolist(), 0.03, 0.3, 1.5), 0, 2, 3, 4, small=True)
def option_by_hand(spot, strike, rate, volatility, years):
    root = math.sqrt(years)
    spread = volatility * root
    drift = math.log(spot / strike) + rate * years
    high = drift / spread + 0.5 * spread
    low = high - spread
    discount = math.exp(-rate * years)
    above, below = 0.5 * (1.0 + math.erf(high / SQRT2)), 0.5 * (1.0 + math.erf(low / SQRT2))
    low_bar = -strike * discount * DENSITY * math.exp(-0.5 * low * low)
    high_bar = spot * DENSITY * math.exp(-0.5 * high * high) + low_bar
    drift_bar = high_bar / spread
    spread_bar = high_bar * (0.5 - drift / (spread * spread)) - low_bar
    exponent_bar = strike * discount * below
    rate_bar = (drift_bar + exponent_bar) * years
    years_bar = (drift_bar + exponent_bar) * rate + spread_bar * volatility * 0.5 / root
    return above + drift_bar / spot, rate_bar, spread_bar * root, years_bar


def spring(a, b, stiffness, rest):
    d = b - a
    stretch = np.sqrt(np.sum(d * d)) - rest
    return 0.5 * stiffness * stretch * stretch


@workload(spring, lambda rng: (rng.normal(size=3), rng.normal(size=3), 2.0, 1.0), 0, 1, 2, small=True)
def spring_by_hand(a, b, stiffness, rest):
    d = b - a
    length = np.sqrt(np.sum(d * d))
    stretch = length - rest
    b_bar = (stiffness * stretch / length) * d
    return -b_bar, b_bar, 0.5 * stretch * stretch


# --- products, solves, statistics -------------------------------------------------------------------------------------


def products(A, B, C):
    return np.sum((A @ B @ C) ** 2)


@workload(products, lambda rng: tuple(rng.normal(size=(60, 60)) for _ in range(3)), 0, 1, 2)
def products_by_hand(A, B, C):
    AB = A @ B
    R = 2.0 * (AB @ C)
    AB_bar = R @ C.T
    return AB_bar @ B.T, A.T @ AB_bar, AB.T @ R


def solve(A, b):
    x = np.linalg.solve(A, b)
    return x @ x


@workload(solve, lambda rng: (rng.normal(size=(50, 50)) + 10.0 * np.eye(50), rng.normal(size=50)), 0, 1)
def solve_by_hand(A, b):
    x = np.linalg.solve(A, b)
    b_bar = np.linalg.solve(A.T, 2.0 * x)
    return -np.outer(b_bar, x), b_bar


def covariance(X, W):
    centred = X - X.mean(axis=0)
    C = centred.T @ centred / (len(X) - 1)
    return np.sum(C * W)


@workload(covariance, lambda rng: (rng.normal(size=(300, 30)), rng.normal(size=(30, 30))))
def covariance_by_hand(X, W):
    centred = X - X.mean(axis=0)
    centred_bar = centred @ ((W + W.T) / (len(X) - 1))
    return centred_bar - centred_bar.mean(axis=0)


def gaussian(m, L, X):
    S = L @ L.T + np.eye(len(m))
    r = X - m
    _, logdet = np.linalg.slogdet(S)
    return 0.5 * np.sum(r * np.linalg.solve(S, r.T).T) + 0.5 * len(X) * logdet


@workload(gaussian, lambda rng: (rng.normal(size=15), rng.normal(size=(15, 15)), rng.normal(size=(200, 15))), 0, 1)
def gaussian_by_hand(m, L, X):
    S = L @ L.T + np.eye(len(m))
    r = X - m
    inverse = np.linalg.inv(S)
    z = r @ inverse
    S_bar = 0.5 * len(X) * inverse - 0.5 * z.T @ z
    return -z.sum(axis=0), 2.0 * S_bar @ L


def mixture(means, logs, X):
    d = X[:, None, :] - means[None]
    terms = logs - 0.5 * np.sum(d * d, axis=2)
    top = np.max(terms, axis=1, keepdims=True)
    return -np.sum(top[:, 0] + np.log(np.sum(np.exp(terms - top), axis=1)))


@workload(mixture, lambda rng: (rng.normal(size=(5, 4)), rng.normal(size=5), rng.normal(size=(400, 4))), 0, 1)
def mixture_by_hand(means, logs, X):
    d = X[:, None, :] - means[None]
    terms = logs - 0.5 * np.sum(d * d, axis=2)
    e = np.exp(terms - np.max(terms, axis=1, keepdims=True))
    share = e / np.sum(e, axis=1, keepdims=True)
    return -np.einsum("nk,nkd->kd", share, d), -share.sum(axis=0)


def softmax_loss(W, b, X, target):
    z = X @ W + b
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.sum(target * np.log(p))


def _classes(rng):
    return rng.normal(size=(20, 10)), rng.normal(size=10), rng.normal(size=(300, 20)), np.eye(10)[rng.integers(0, 10, 300)]


@workload(softmax_loss, _classes, 0, 1)
def softmax_loss_by_hand(W, b, X, target):
    z = X @ W + b
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    z_bar = e * (target.sum(axis=1, keepdims=True) / np.sum(e, axis=1, keepdims=True)) - target
    return X.T @ z_bar, z_bar.sum(axis=0)


def mlp(p, X, y):
    h = np.tanh(X @ p["W1"] + p["b1"])
    e = h @ p["W2"] + p["b2"] - y
    return np.sum(e * e)


def _layers(rng):
    p = {"W1": rng.normal(size=(8, 32)), "b1": rng.normal(size=32), "W2": rng.normal(size=(32, 3)), "b2": rng.normal(size=3)}
    return p, rng.normal(size=(64, 8)), rng.normal(size=(64, 3))


@workload(mlp, _layers)
def mlp_by_hand(p, X, y):
    h = np.tanh(X @ p["W1"] + p["b1"])
    e_bar = 2.0 * (h @ p["W2"] + p["b2"] - y)
    z_bar = (e_bar @ p["W2"].T) * (1.0 - h * h)
    return {"W1": X.T @ z_bar, "b1": z_bar.sum(axis=0), "W2": h.T @ e_bar, "b2": e_bar.sum(axis=0)}


def attention(Q, K, V, mask):
    scores = Q @ K.T / np.sqrt(Q.shape[1]) + mask
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    out = (e / np.sum(e, axis=1, keepdims=True)) @ V
    return np.sum(out * out)


def _tokens(rng):
    return *(rng.normal(size=(96, 16)) for _ in range(3)), np.where(np.tri(96) > 0.0, 0.0, -1e9)


@workload(attention, _tokens, 0, 1, 2)
def attention_by_hand(Q, K, V, mask):
    scale = 1.0 / math.sqrt(Q.shape[1])
    scores = Q @ K.T * scale + mask
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    e /= np.sum(e, axis=1, keepdims=True)
    out = e @ V
    out_bar = 2.0 * out
    scores_bar = e * (out_bar @ V.T - np.sum(out_bar * out, axis=1, keepdims=True))
    scores_bar *= scale
    return scores_bar @ K, scores_bar.T @ Q, e.T @ out_bar


def convolution(image, kernel):
    size = len(kernel)
    n, m = image.shape[0] - size + 1, image.shape[1] - size + 1
    out = np.zeros((n, m))
    for i in range(size):
        for j in range(size):
            out += kernel[i, j] * image[i : i + n, j : j + m]
    return np.sum(out * out)


@workload(convolution, lambda rng: (rng.normal(size=(60, 60)), rng.normal(size=(5, 5))), 0, 1)
def convolution_by_hand(image, kernel):
    size = len(kernel)
    n, m = image.shape[0] - size + 1, image.shape[1] - size + 1
    out = np.zeros((n, m))
    for i in range(size):
        for j in range(size):
            out += kernel[i, j] * image[i : i + n, j : j + m]
    out *= 2.0
    image_bar, kernel_bar = np.zeros_like(image), np.empty_like(kernel)
    for i in range(size):
        for j in range(size):
            kernel_bar[i, j] = np.vdot(out, image[i : i + n, j : j + m])
            image_bar[i : i + n, j : j + m] += kernel[i, j] * out
    return image_bar, kernel_bar


# --- stencils and time steps ------------------------------------------------------------------------------------------


def heat(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u @ u


@workload(heat, lambda rng: (rng.normal(size=400), 0.2, 100), 0, 1)
def heat_by_hand(u, c, steps):
    u, kept = u.copy(), []
    for _ in range(steps):
        change = u[2:] - 2.0 * u[1:-1] + u[:-2]
        kept.append(change)
        u[1:-1] += c * change
    u_bar, c_bar = 2.0 * u, 0.0
    for _ in range(steps):
        inner = u_bar[1:-1]
        c_bar += inner @ kept.pop()
        scaled = c * inner
        inner -= 2.0 * scaled
        u_bar[2:] += scaled
        u_bar[:-2] += scaled
    return u_bar, c_bar


def jacobi(A, steps):
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A * A)


@workload(jacobi, lambda rng: (rng.normal(size=(60, 60)), 20))
def jacobi_by_hand(A, steps):
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    A_bar, B_bar = 2.0 * A, np.zeros_like(A)
    for _ in range(steps):
        for new, old in ((A_bar, B_bar), (B_bar, A_bar)):
            part = 0.2 * new[1:-1, 1:-1]
            new[1:-1, 1:-1] = 0.0
            old[1:-1, 1:-1] += part
            old[1:-1, :-2] += part
            old[1:-1, 2:] += part
            old[2:, 1:-1] += part
            old[:-2, 1:-1] += part
    return A_bar + B_bar


def pressure(p, b, steps):
    p = p.copy()
    for _ in range(steps):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]) - b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0
    return np.sum(p * p)


@workload(pressure, lambda rng: (rng.normal(size=(50, 50)), rng.normal(size=(50, 50)), 30), 0, 1)
def pressure_by_hand(p, b, steps):
    p = p.copy()
    for _ in range(steps):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]) - b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0
    p_bar, b_bar = 2.0 * p, np.zeros_like(b)
    for _ in range(steps):
        p_bar[-1, :] = 0.0
        p_bar[:, 1] += p_bar[:, 0]
        p_bar[:, 0] = 0.0
        p_bar[1, :] += p_bar[0, :]
        p_bar[0, :] = 0.0
        p_bar[:, -2] += p_bar[:, -1]
        p_bar[:, -1] = 0.0
        b_bar[1:-1, 1:-1] -= p_bar[1:-1, 1:-1]
        part = 0.25 * p_bar[1:-1, 1:-1]
        p_bar[1:-1, 1:-1] = 0.0
        p_bar[2:, 1:-1] += part
        p_bar[:-2, 1:-1] += part
        p_bar[1:-1, 2:] += part
        p_bar[1:-1, :-2] += part
    return p_bar, b_bar


def limited_diffusion(field, coeff):
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    step = lap[1:, 1:-1] - lap[:-1, 1:-1]
    along_i = np.where(step * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0, 0.0, step)
    step = lap[1:-1, 1:] - lap[1:-1, :-1]
    along_j = np.where(step * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0, 0.0, step)
    out = field[2:-2, 2:-2] - coeff * (along_i[1:] - along_i[:-1] + along_j[:, 1:] - along_j[:, :-1])
    return np.sum(out * out)


@workload(limited_diffusion, lambda rng: (rng.normal(size=(36, 36, 20)), rng.uniform(0.1, 0.5, (32, 32, 20))), 0, 1)
def limited_diffusion_by_hand(field, coeff):
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    step = lap[1:, 1:-1] - lap[:-1, 1:-1]
    stopped_i = step * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0
    along_i = np.where(stopped_i, 0.0, step)
    step = lap[1:-1, 1:] - lap[1:-1, :-1]
    stopped_j = step * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0
    along_j = np.where(stopped_j, 0.0, step)
    flux = along_i[1:] - along_i[:-1] + along_j[:, 1:] - along_j[:, :-1]
    out_bar = 2.0 * (field[2:-2, 2:-2] - coeff * flux)
    flux_bar = -out_bar * coeff
    along_i[1:] = flux_bar
    along_i[0] = 0.0
    along_i[:-1] -= flux_bar
    along_i[stopped_i] = 0.0
    along_j[:, 1:] = flux_bar
    along_j[:, 0] = 0.0
    along_j[:, :-1] -= flux_bar
    along_j[stopped_j] = 0.0
    lap_bar = np.zeros_like(lap)
    lap_bar[1:, 1:-1] = along_i
    lap_bar[:-1, 1:-1] -= along_i
    lap_bar[1:-1, 1:] += along_j
    lap_bar[1:-1, :-1] -= along_j
    field_bar = np.zeros_like(field)
    field_bar[2:-2, 2:-2] = out_bar
    field_bar[1:-1, 1:-1] += 4.0 * lap_bar
    field_bar[2:, 1:-1] -= lap_bar
    field_bar[:-2, 1:-1] -= lap_bar
    field_bar[1:-1, 2:] -= lap_bar
    field_bar[1:-1, :-2] -= lap_bar
    return field_bar, -out_bar * flux


def columns(u, k, dt):
    last = u.shape[2] - 1
    c, x = np.empty_like(u), np.empty_like(u)
    pivot = 1.0 / (1.0 + dt * (k[:, :, 0] + k[:, :, 1]))
    c[:, :, 0] = dt * k[:, :, 1] * pivot
    x[:, :, 0] = u[:, :, 0] * pivot
    for z in range(1, last + 1):
        low, high = dt * k[:, :, z], dt * k[:, :, z + 1]
        pivot = 1.0 / (1.0 + high + low * (1.0 - c[:, :, z - 1]))
        c[:, :, z] = high * pivot
        x[:, :, z] = (u[:, :, z] + low * x[:, :, z - 1]) * pivot
    for z in range(last - 1, -1, -1):
        x[:, :, z] += c[:, :, z] * x[:, :, z + 1]
    return np.sum(x * x)


@workload(columns, lambda rng: (rng.normal(size=(30, 30, 20)), rng.uniform(0.5, 1.5, (30, 30, 21)), 0.3), 0, 1)
def columns_by_hand(u, k, dt):
    last = u.shape[2] - 1
    c, d, pivots = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    pivots[:, :, 0] = pivot = 1.0 / (1.0 + dt * (k[:, :, 0] + k[:, :, 1]))
    c[:, :, 0] = dt * k[:, :, 1] * pivot
    d[:, :, 0] = u[:, :, 0] * pivot
    for z in range(1, last + 1):
        low, high = dt * k[:, :, z], dt * k[:, :, z + 1]
        pivots[:, :, z] = pivot = 1.0 / (1.0 + high + low * (1.0 - c[:, :, z - 1]))
        c[:, :, z] = high * pivot
        d[:, :, z] = (u[:, :, z] + low * d[:, :, z - 1]) * pivot
    x = d.copy()
    for z in range(last - 1, -1, -1):
        x[:, :, z] += c[:, :, z] * x[:, :, z + 1]
    d_bar, c_bar, k_bar = 2.0 * x, np.zeros_like(u), np.zeros_like(k)
    for z in range(last):
        c_bar[:, :, z] = d_bar[:, :, z] * x[:, :, z + 1]
        d_bar[:, :, z + 1] += d_bar[:, :, z] * c[:, :, z]
    for z in range(last, 0, -1):
        low, pivot = dt * k[:, :, z], pivots[:, :, z]
        below_bar = -pivot * (d_bar[:, :, z] * d[:, :, z] + c_bar[:, :, z] * c[:, :, z])
        k_bar[:, :, z + 1] += dt * (c_bar[:, :, z] * pivot + below_bar)
        d_bar[:, :, z] *= pivot
        k_bar[:, :, z] = dt * (d_bar[:, :, z] * d[:, :, z - 1] + below_bar * (1.0 - c[:, :, z - 1]))
        d_bar[:, :, z - 1] += d_bar[:, :, z] * low
        c_bar[:, :, z - 1] -= below_bar * low
    below_bar = -pivots[:, :, 0] * (d_bar[:, :, 0] * d[:, :, 0] + c_bar[:, :, 0] * c[:, :, 0])
    k_bar[:, :, 0] = dt * below_bar
    k_bar[:, :, 1] += dt * (c_bar[:, :, 0] * pivots[:, :, 0] + below_bar)
    d_bar[:, :, 0] *= pivots[:, :, 0]
    return d_bar, k_bar


def seidel(A, steps):
    A, n = A.copy(), len(A)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j])
    return np.sum(A * A)


@workload(seidel, lambda rng: (rng.normal(size=(25, 25)), 4))
def seidel_by_hand(A, steps):
    A, n = A.tolist(), len(A)
    for _ in range(steps):
        for i in range(1, n - 1):
            above, row, below = A[i - 1], A[i], A[i + 1]
            for j in range(1, n - 1):
                row[j] = 0.2 * (above[j] + row[j - 1] + row[j] + row[j + 1] + below[j])
    A_bar = (2.0 * np.array(A)).tolist()
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            above, row, below = A_bar[i - 1], A_bar[i], A_bar[i + 1]
            for j in range(n - 2, 0, -1):
                row[j] = part = 0.2 * row[j]
                above[j] += part
                row[j - 1] += part
                row[j + 1] += part
                below[j] += part
    return np.array(A_bar)


def prey(x, y, a, b, c, d):
    return a * x - b * x * y, c * x * y - d * y


def runge_kutta(a, b, c, d, data, dt):
    x, y, loss = 1.0, 0.5, 0.0
    for seen in data:
        k1x, k1y = prey(x, y, a, b, c, d)
        k2x, k2y = prey(x + 0.5 * dt * k1x, y + 0.5 * dt * k1y, a, b, c, d)
        k3x, k3y = prey(x + 0.5 * dt * k2x, y + 0.5 * dt * k2y, a, b, c, d)
        k4x, k4y = prey(x + dt * k3x, y + dt * k3y, a, b, c, d)
        x = x + dt / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + dt / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        loss = loss + (x - seen) ** 2
    return loss


def prey_bar(x, y, a, b, c, d, x_rate_bar, y_rate_bar):
    xy, xy_bar = x * y, c * y_rate_bar - b * x_rate_bar
    return (
        a * x_rate_bar + xy_bar * y, xy_bar * x - d * y_rate_bar,
        x_rate_bar * x, -x_rate_bar * xy, y_rate_bar * xy, -y_rate_bar * y,
    )  # fmt: skip


@workload(runge_kutta, lambda rng: (1.1, 0.4, 0.1, 0.4, rng.normal(size=150), 0.05), 0, 1, 2, 3)
def runge_kutta_by_hand(a, b, c, d, data, dt):
    x, y, kept, half = 1.0, 0.5, [], 0.5 * dt
    for _ in data:
        k1x, k1y = prey(x, y, a, b, c, d)
        x2, y2 = x + half * k1x, y + half * k1y
        k2x, k2y = prey(x2, y2, a, b, c, d)
        x3, y3 = x + half * k2x, y + half * k2y
        k3x, k3y = prey(x3, y3, a, b, c, d)
        x4, y4 = x + dt * k3x, y + dt * k3y
        k4x, k4y = prey(x4, y4, a, b, c, d)
        kept.append((x, y, x2, y2, x3, y3, x4, y4))
        x += dt / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y += dt / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
    a_bar = b_bar = c_bar = d_bar = x_bar = y_bar = 0.0
    for seen in data[::-1].tolist():
        x_bar += 2.0 * (x - seen)
        x, y, x2, y2, x3, y3, x4, y4 = kept.pop()
        sixth_x, sixth_y = dt / 6.0 * x_bar, dt / 6.0 * y_bar
        x4_bar, y4_bar, a4, b4, c4, d4 = prey_bar(x4, y4, a, b, c, d, sixth_x, sixth_y)
        x3_bar, y3_bar, a3, b3, c3, d3 = prey_bar(
            x3, y3, a, b, c, d, 2.0 * sixth_x + dt * x4_bar, 2.0 * sixth_y + dt * y4_bar
        )
        x2_bar, y2_bar, a2, b2, c2, d2 = prey_bar(
            x2, y2, a, b, c, d, 2.0 * sixth_x + half * x3_bar, 2.0 * sixth_y + half * y3_bar
        )
        x1_bar, y1_bar, a1, b1, c1, d1 = prey_bar(x, y, a, b, c, d, sixth_x + half * x2_bar, sixth_y + half * y2_bar)
        x_bar += x1_bar + x2_bar + x3_bar + x4_bar
        y_bar += y1_bar + y2_bar + y3_bar + y4_bar
        a_bar += a1 + a2 + a3 + a4
        b_bar += b1 + b2 + b3 + b4
        c_bar += c1 + c2 + c3 + c4
        d_bar += d1 + d2 + d3 + d4
    return a_bar, b_bar, c_bar, d_bar


def shallow_water(h, u, g, dt, steps):
    for _ in range(steps):
        u = u - g * dt * (np.roll(h, -1) - h)
        h = h - dt * (u * h - np.roll(u * h, 1))
    return np.sum(h * h) + np.sum(u * u)


@workload(shallow_water, lambda rng: (1.0 + 0.1 * rng.random(300), 0.1 * rng.random(300), 9.8, 1e-3, 50), 0, 1)
def shallow_water_by_hand(h, u, g, dt, steps):
    kept = []
    for _ in range(steps):
        u = u - g * dt * (np.roll(h, -1) - h)
        kept.append((h, u))
        flux = u * h
        h = h - dt * (flux - np.roll(flux, 1))
    h_bar, u_bar = 2.0 * h, 2.0 * u
    for _ in range(steps):
        h, u = kept.pop()
        flux_bar = dt * (np.roll(h_bar, -1) - h_bar)
        u_bar = u_bar + flux_bar * h
        change_bar = g * dt * u_bar
        h_bar = h_bar + flux_bar * u + change_bar - np.roll(change_bar, 1)
    return h_bar, u_bar


def nbody(pos, mass, steps):
    vel = np.zeros_like(pos)
    for _ in range(steps):
        d = pos[None] - pos[:, None]
        w = (np.sum(d * d, axis=2) + 0.1) ** -1.5
        vel = vel + 0.01 * np.sum(d * (w * mass)[:, :, None], axis=1)
        pos = pos + 0.01 * vel
    return np.sum(pos * pos)


@workload(nbody, lambda rng: (rng.normal(size=(30, 3)), rng.uniform(0.5, 1.5, 30), 20), 0, 1)
def nbody_by_hand(pos, mass, steps):
    vel, kept = np.zeros_like(pos), []
    for _ in range(steps):
        d = pos[None] - pos[:, None]
        s = np.sum(d * d, axis=2) + 0.1
        w = s**-1.5
        kept.append((d, s, w))
        vel = vel + 0.01 * np.einsum("ijk,ij->ik", d, w * mass)
        pos = pos + 0.01 * vel
    pos_bar, vel_bar, mass_bar = 2.0 * pos, np.zeros_like(pos), np.zeros_like(mass)
    for _ in range(steps):
        d, s, w = kept.pop()
        vel_bar = vel_bar + 0.01 * pos_bar
        wm_bar = 0.01 * np.einsum("ik,ijk->ij", vel_bar, d)
        mass_bar += np.einsum("ij,ij->j", wm_bar, w)
        s_bar = wm_bar * mass * (-1.5 * w / s)
        d_bar = 0.01 * vel_bar[:, None] * (w * mass)[:, :, None] + 2.0 * s_bar[:, :, None] * d
        pos_bar = pos_bar + d_bar.sum(axis=0) - d_bar.sum(axis=1)
    return pos_bar, mass_bar


def fit(a, b, x, v, data, dt):
    loss = 0.0
    for seen in data:
        k1x, k1v = v, -a * np.sin(x) - b * v
        k2x, k2v = v + 0.5 * dt * k1v, -a * np.sin(x + 0.5 * dt * k1x) - b * (v + 0.5 * dt * k1v)
        x = x + dt * k2x
        v = v + dt * k2v
        loss = loss + (x - seen) ** 2
    return loss


@workload(fit, lambda rng: (1.3, 0.1, 0.5, 0.0, rng.normal(size=200), 0.05), 0, 1, 2, 3)
def fit_by_hand(a, b, x, v, data, dt):
    kept, half = [], 0.5 * dt
    for _ in data:
        kept.append((x, v))
        middle = v + half * (-a * math.sin(x) - b * v)
        v = v + dt * (-a * math.sin(x + half * v) - b * middle)
        x = x + dt * middle
    a_bar = b_bar = x_bar = v_bar = 0.0
    for seen in data[::-1].tolist():
        x_bar += 2.0 * (x - seen)
        last, v_last = kept.pop()
        middle = v_last + half * (-a * math.sin(last) - b * v_last)
        angle = last + half * v_last
        slope_bar = dt * v_bar
        middle_bar = dt * x_bar - slope_bar * b
        angle_bar = -slope_bar * a * math.cos(angle)
        a_bar -= slope_bar * math.sin(angle) + half * middle_bar * math.sin(last)
        b_bar -= slope_bar * middle + half * middle_bar * v_last
        v_bar += middle_bar * (1.0 - half * b) + half * angle_bar
        x_bar += angle_bar - half * middle_bar * a * math.cos(last)
        x, v = last, v_last
    return a_bar, b_bar, x_bar, v_bar


def kalman(q, r, observations):
    mean, variance, total = 0.0, 1.0, 0.0
    for z in observations:
        variance = variance + q
        s = variance + r
        residual = z - mean
        gain = variance / s
        mean = mean + gain * residual
        variance = (1.0 - gain) * variance
        total = total - 0.5 * (np.log(s) + residual * residual / s)
    return total


@workload(kalman, lambda rng: (0.1, 0.4, rng.normal(size=300)), 0, 1)
def kalman_by_hand(q, r, observations):
    kept, mean, variance = [], 0.0, 1.0
    observations = observations.tolist()
    for z in observations:
        kept.append((mean, variance))
        variance += q
        gain = variance / (variance + r)
        mean += gain * (z - mean)
        variance *= 1.0 - gain
    q_bar = r_bar = mean_bar = variance_bar = 0.0
    for z in reversed(observations):
        mean, variance = kept.pop()
        variance += q
        s = variance + r
        gain = variance / s
        residual = z - mean
        gain_bar = mean_bar * residual - variance_bar * variance
        s_bar = -gain_bar * gain / s - 0.5 / s + 0.5 * (residual / s) ** 2
        mean_bar -= mean_bar * gain - residual / s
        variance_bar = variance_bar * (1.0 - gain) + gain_bar / s + s_bar
        r_bar += s_bar
        q_bar += variance_bar
    return q_bar, r_bar


def recurrence(x, w):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = x[i] * w + y[i - 1] * (1.0 - w) * 0.9
    return np.sum(y * y)


@workload(recurrence, lambda rng: (rng.normal(size=1000), 0.3), 0, 1)
def recurrence_by_hand(x, w):
    ys, y = [], float(x[0])
    ys.append(y)
    xs = x.tolist()
    for value in xs[1:]:
        y = value * w + y * (1.0 - w) * 0.9
        ys.append(y)
    x_bar, w_bar, y_bar, keep = [0.0] * len(xs), 0.0, 0.0, (1.0 - w) * 0.9
    for i in range(len(xs) - 1, 0, -1):
        y_bar += 2.0 * ys[i]
        x_bar[i] = y_bar * w
        w_bar += y_bar * (xs[i] - 0.9 * ys[i - 1])
        y_bar *= keep
    x_bar[0] = y_bar + 2.0 * ys[0]
    return np.array(x_bar), w_bar


def lstm(W, U, b, xs, size):
    h, c = np.zeros(size), np.zeros(size)
    for t in range(len(xs)):
        z = W @ xs[t] + U @ h + b
        i, f, o = 1.0 / (1.0 + np.exp(-z[:size])), 1.0 / (1.0 + np.exp(-z[size : 2 * size])), np.tanh(z[2 * size :])
        c = f * c + i * o
        h = np.tanh(c)
    return h @ h


def _sequence(rng):
    return (
        0.3 * rng.normal(size=(48, 8)),
        0.3 * rng.normal(size=(48, 16)),
        rng.normal(size=48),
        rng.normal(size=(1024, 8)),
        16,
    )


@workload(lstm, _sequence, 0, 1, 2)
def lstm_by_hand(W, U, b, xs, size):
    h, c, kept = np.zeros(size), np.zeros(size), []
    hs, zs_bar = np.zeros((len(xs), size)), np.empty((len(xs), 3 * size))
    for t in range(len(xs)):
        hs[t] = h
        z = W @ xs[t] + U @ h + b
        gates, o = 1.0 / (1.0 + np.exp(-z[: 2 * size])), np.tanh(z[2 * size :])
        last = c
        c = gates[size:] * c + gates[:size] * o
        h = np.tanh(c)
        kept.append((gates, o, last, h))
    h_bar, c_bar = 2.0 * h, np.zeros(size)
    for t in range(len(xs) - 1, -1, -1):
        gates, o, last, h = kept.pop()
        i, f = gates[:size], gates[size:]
        c_bar = c_bar + h_bar * (1.0 - h * h)
        z_bar = zs_bar[t]
        z_bar[:size] = c_bar * o
        z_bar[size : 2 * size] = c_bar * last
        z_bar[: 2 * size] *= gates * (1.0 - gates)
        z_bar[2 * size :] = c_bar * i * (1.0 - o * o)
        c_bar = c_bar * f
        h_bar = z_bar @ U
    return zs_bar.T @ xs, zs_bar.T @ hs, zs_bar.sum(axis=0)
