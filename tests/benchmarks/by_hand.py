"""Generated gradients against adjoints written by hand: `python tests/benchmarks/by_hand.py`.

Each workload is a function and the adjoint that a person who knows reverse mode writes for it: shapes known, nothing
recorded that can be computed again, one product where a loop adds up outer products.  Both gradients are compared before
they are timed.  A ratio is the median over rounds that time one after the other, on new arguments each.  `--write` puts the
table into docs/benchmarks.md.
"""

from __future__ import annotations

import ast
import inspect
import math
import pathlib
import statistics
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from s2sgrad import grad  # noqa: E402

ROUNDS, ENOUGH = 21, 2e-3  # seconds that one measurement takes at least


@dataclass(frozen=True)
class Workload:
    """A function of some arguments, its adjoint by hand in the first `argnums`, and how to draw arguments."""

    function: Callable
    by_hand: Callable
    draw: Callable[[np.random.Generator], tuple]
    argnums: tuple[int, ...]


WORKLOADS: list[Workload] = []


def workload(function: Callable, draw: Callable[[np.random.Generator], tuple], *argnums: int) -> Callable:
    """Register the adjoint of a function."""

    def register(by_hand: Callable) -> Callable:
        WORKLOADS.append(Workload(function, by_hand, draw, argnums or (0,)))
        return by_hand

    return register


# --- small functions --------------------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@workload(rosenbrock, lambda rng: (rng.normal(size=10),))
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


@workload(lens, lambda rng: (*rng.uniform(1.0, 2.0, 3).tolist(), 0.1), 0, 1, 2)
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


@workload(logistic, lambda rng: (rng.normal(size=20), rng.normal(size=(200, 20)), rng.choice([-1.0, 1.0], 200)))
def logistic_by_hand(w, X, y):
    e = np.exp(-y * (X @ w))
    return X.T @ (-y * (e / (1.0 + e)) / len(y)) + 0.02 * w


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
    for seen in data[::-1]:
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


# --- measuring --------------------------------------------------------------------------------------------------------


def same(a: Any, b: Any) -> bool:
    """Whether two gradients are equal, to rounding."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.allclose(a, b, rtol=1e-8, atol=1e-9 * (1.0 + float(np.max(np.abs(b))))))


def statements(text: str) -> int:
    """The statements of a text, but for definitions, imports and docstrings."""
    left_out = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    found = [
        n for n in ast.walk(ast.parse(textwrap.dedent(text))) if isinstance(n, ast.stmt) and not isinstance(n, left_out)
    ]
    return sum(not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)) for n in found)


def seconds(function: Callable, arguments: list[tuple]) -> float:
    """Processor time of a call, by the number of arguments."""
    start = time.process_time()
    for args in arguments:
        function(*args)
    return (time.process_time() - start) / len(arguments)


@dataclass
class Row:
    """What was measured of one workload."""

    name: str
    ratio: float
    to_function: float
    lines: tuple[int, int, int]  # statements of the function, by hand, generated


def measured(w: Workload) -> Row:
    """The ratios of one workload; AssertionError where the gradients differ."""
    rng = np.random.default_rng(1)
    gradient = grad(w.function, w.argnums if len(w.argnums) > 1 else w.argnums[0])
    args = w.draw(rng)
    assert same(gradient(*args), w.by_hand(*args)), w.function.__name__
    once = max(seconds(w.by_hand, [args]), 1e-7)
    times = max(1, min(200, int(ENOUGH / once)))
    ratios, functions = [], []
    for _ in range(ROUNDS):
        arguments = [w.draw(rng) for _ in range(times)]
        hand, ours, plain = seconds(w.by_hand, arguments), seconds(gradient, arguments), seconds(w.function, arguments)
        ratios.append(ours / hand)
        functions.append(ours / plain)
    texts = inspect.getsource(w.function), inspect.getsource(w.by_hand), gradient.source
    name = w.function.__name__.replace("_", " ")
    return Row(name, statistics.median(ratios), statistics.median(functions), tuple(map(statements, texts)))


def table(rows: list[Row]) -> str:
    """The rows as a markdown table, with means."""
    out = ["| workload | generated / by hand, time | gradient / function, time | statements: function, by hand, generated |",
           "|---|---|---|---|"]  # fmt: skip
    for row in rows:
        mine, hand, ours = row.lines
        out.append(f"| {row.name} | {row.ratio:.2f} | {row.to_function:.2f} | {mine}, {hand}, {ours} |")
    means = [math.exp(statistics.fmean(math.log(v) for v in values))
             for values in ([r.ratio for r in rows], [r.to_function for r in rows])]  # fmt: skip
    sums = [sum(r.lines[k] for r in rows) for k in range(3)]
    out.append(f"| *geometric mean; sum* | {means[0]:.2f} | {means[1]:.2f} | {sums[0]}, {sums[1]}, {sums[2]} |")
    return "\n".join(out)


def main() -> None:
    """Print the table; `--write` puts it into docs/benchmarks.md."""
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    text = table([measured(w) for w in WORKLOADS if not wanted or w.function.__name__ in wanted])
    print(text)
    if "--write" in sys.argv:
        file = HERE.parent.parent / "docs" / "benchmarks.md"
        before = file.read_text(encoding="utf-8")
        head, _, rest = before.partition("<!-- by hand -->\n")
        _, _, tail = rest.partition("<!-- end -->")
        file.write_text(f"{head}<!-- by hand -->\n{text}\n<!-- end -->{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
