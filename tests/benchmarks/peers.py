"""The workloads of workloads.py by autograd, PyTorch and JAX: `python tests/benchmarks/peers.py [NAMES] [--json]`.

The same functions run over the module of each library in place of `np`; where those need no stores, they are written without
(`FUNCTIONAL`), and JAX takes loops as `lax.scan` (`SCANNED`).  PyTorch is eager, JAX is under `jit` and was compiled before.
Gradients are compared before they are timed.  A ratio is that of the peer to ours, of processor time: the median over rounds
in turn, on new arguments at each call, one thread, one process a workload.  What is not installed is left out.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import types
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import statistics

import by_hand
import numpy as np
from workloads import WORKLOADS, Workload, prey

ROUNDS, LONGEST = 9, 2.0  # seconds for a peer, after which there are fewer rounds
SOME = 3  # rounds at least
PEERS = "autograd", "torch", "jax"


# --- without stores ---------------------------------------------------------------------------------------------------


def framed(inner, A):
    """The array with another inside."""
    middle = np.concatenate((A[1:-1, :1], inner, A[1:-1, -1:]), axis=1)
    return np.concatenate((A[:1], middle, A[-1:]))


def around(A):
    return A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2]


def bounded(p):
    """The boundary of the pressure."""
    p = np.concatenate((p[:, :-1], p[:, -2:-1]), axis=1)
    p = np.concatenate((p[1:2], p[1:]))
    p = np.concatenate((p[:, 1:2], p[:, 1:]), axis=1)
    return np.concatenate((p[:-1], 0.0 * p[-1:]))


def convolution(image, kernel):
    size = len(kernel)
    n, m = image.shape[0] - size + 1, image.shape[1] - size + 1
    out = 0.0
    for i in range(size):
        for j in range(size):
            out = out + kernel[i, j] * image[i : i + n, j : j + m]
    return np.sum(out * out)


def heat(u, c, steps):
    for _ in range(steps):
        u = np.concatenate((u[:1], u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2]), u[-1:]))
    return u @ u


def jacobi(A, steps):
    B = A
    for _ in range(steps):
        B = framed(0.2 * (A[1:-1, 1:-1] + around(A)), B)
        A = framed(0.2 * (B[1:-1, 1:-1] + around(B)), A)
    return np.sum(A * A)


def pressure(p, b, steps):
    for _ in range(steps):
        p = bounded(framed(0.25 * around(p) - b[1:-1, 1:-1], p))
    return np.sum(p * p)


def columns(u, k, dt):
    last = u.shape[2] - 1
    pivot = 1.0 / (1.0 + dt * (k[:, :, 0] + k[:, :, 1]))
    c, x = [dt * k[:, :, 1] * pivot], [u[:, :, 0] * pivot]
    for z in range(1, last + 1):
        low, high = dt * k[:, :, z], dt * k[:, :, z + 1]
        pivot = 1.0 / (1.0 + high + low * (1.0 - c[-1]))
        c.append(high * pivot)
        x.append((u[:, :, z] + low * x[-1]) * pivot)
    for z in range(last - 1, -1, -1):
        x[z] = x[z] + c[z] * x[z + 1]
    x = np.stack(x)
    return np.sum(x * x)


def seidel(A, steps):
    n = len(A)
    A = [[A[i, j] for j in range(n)] for i in range(n)]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i][j] = 0.2 * (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j])
    return sum(value * value for row in A for value in row)


def recurrence(x, w):
    ys = [x[0]]
    for i in range(1, len(x)):
        ys.append(x[i] * w + ys[-1] * (1.0 - w) * 0.9)
    y = np.stack(ys)
    return np.sum(y * y)


FUNCTIONAL = {f.__name__: f for f in (convolution, heat, jacobi, pressure, columns, seidel, recurrence)}


# --- in JAX's idiom ---------------------------------------------------------------------------------------------------


def scanned(step, state, over=None, length=None):
    """The state after steps over the rows of some arrays, or so many steps."""
    from jax import lax

    return lax.scan(lambda state, row: (step(state, row), None), state, over, length)[0]


def heat_scanned(u, c, steps):
    u = scanned(lambda u, _: u.at[1:-1].add(c * (u[2:] - 2.0 * u[1:-1] + u[:-2])), u, length=steps)
    return u @ u


def jacobi_scanned(A, steps):
    def step(state, _):
        A, B = state
        B = B.at[1:-1, 1:-1].set(0.2 * (A[1:-1, 1:-1] + around(A)))
        return A.at[1:-1, 1:-1].set(0.2 * (B[1:-1, 1:-1] + around(B))), B

    A, _ = scanned(step, (A, A), length=steps)
    return np.sum(A * A)


def pressure_scanned(p, b, steps):
    def step(p, _):
        p = p.at[1:-1, 1:-1].set(0.25 * around(p) - b[1:-1, 1:-1])
        p = p.at[:, -1].set(p[:, -2])
        p = p.at[0, :].set(p[1, :])
        p = p.at[:, 0].set(p[:, 1])
        return p.at[-1, :].set(0.0)

    p = scanned(step, p, length=steps)
    return np.sum(p * p)


def shallow_water_scanned(h, u, g, dt, steps):
    def step(state, _):
        h, u = state
        u = u - g * dt * (np.roll(h, -1) - h)
        return h - dt * (u * h - np.roll(u * h, 1)), u

    h, u = scanned(step, (h, u), length=steps)
    return np.sum(h * h) + np.sum(u * u)


def nbody_scanned(pos, mass, steps):
    def step(state, _):
        pos, vel = state
        d = pos[None] - pos[:, None]
        w = (np.sum(d * d, axis=2) + 0.1) ** -1.5
        vel = vel + 0.01 * np.sum(d * (w * mass)[:, :, None], axis=1)
        return pos + 0.01 * vel, vel

    pos, _ = scanned(step, (pos, np.zeros_like(pos)), length=steps)
    return np.sum(pos * pos)


def fit_scanned(a, b, x, v, data, dt):
    def step(state, seen):
        x, v, loss = state
        k1x, k1v = v, -a * np.sin(x) - b * v
        k2x, k2v = v + 0.5 * dt * k1v, -a * np.sin(x + 0.5 * dt * k1x) - b * (v + 0.5 * dt * k1v)
        x, v = x + dt * k2x, v + dt * k2v
        return x, v, loss + (x - seen) ** 2

    return scanned(step, (x, v, 0.0), data)[2]


def kalman_scanned(q, r, observations):
    def step(state, z):
        mean, variance, total = state
        variance = variance + q
        s = variance + r
        residual = z - mean
        gain = variance / s
        return mean + gain * residual, (1.0 - gain) * variance, total - 0.5 * (np.log(s) + residual * residual / s)

    return scanned(step, (0.0, 1.0, 0.0), observations)[2]


def runge_kutta_scanned(a, b, c, d, data, dt):
    def step(state, seen):
        x, y, loss = state
        k1x, k1y = prey(x, y, a, b, c, d)
        k2x, k2y = prey(x + 0.5 * dt * k1x, y + 0.5 * dt * k1y, a, b, c, d)
        k3x, k3y = prey(x + 0.5 * dt * k2x, y + 0.5 * dt * k2y, a, b, c, d)
        k4x, k4y = prey(x + dt * k3x, y + dt * k3y, a, b, c, d)
        x = x + dt / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + dt / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        return x, y, loss + (x - seen) ** 2

    return scanned(step, (1.0, 0.5, 0.0), data)[2]


def recurrence_scanned(x, w):
    def step(state, value):
        y, total = state
        y = value * w + y * (1.0 - w) * 0.9
        return y, total + y * y

    return scanned(step, (x[0], x[0] * x[0]), x[1:])[1]


def lstm_scanned(W, U, b, xs, size):
    def step(state, x):
        h, c = state
        z = W @ x + U @ h + b
        i, f, o = 1.0 / (1.0 + np.exp(-z[:size])), 1.0 / (1.0 + np.exp(-z[size : 2 * size])), np.tanh(z[2 * size :])
        c = f * c + i * o
        return np.tanh(c), c

    h, _ = scanned(step, (np.zeros(size), np.zeros(size)), xs)
    return h @ h


SCANNED = {
    f.__name__.removesuffix("_scanned"): f
    for f in (
        heat_scanned, jacobi_scanned, pressure_scanned, shallow_water_scanned, nbody_scanned, fit_scanned, kalman_scanned,
        runge_kutta_scanned, recurrence_scanned, lstm_scanned,
    )
}  # fmt: skip
NOT_BY = {("seidel", "jax")}  # unrolled, it is thousands of statements


# --- the libraries ----------------------------------------------------------------------------------------------------


def over(function: Callable, module: Any, erf: Callable) -> Callable:
    """The function with a module in place of `np`, and its functions in place of those of `math`."""
    numbers = types.SimpleNamespace(**{name: getattr(module, name) for name in ("exp", "log", "sqrt")}, erf=erf)

    def moved(one: Any) -> Any:
        if isinstance(one, types.FunctionType) and one.__module__ == function.__module__ and one is not scanned:
            return types.FunctionType(one.__code__, space, one.__name__, one.__defaults__, one.__closure__)
        return one

    space: dict[str, Any] = {}
    space |= {name: moved(value) for name, value in function.__globals__.items() if name not in ("np", "math")}
    space |= {"np": module, "math": numbers}
    return space.get(function.__name__) or moved(function)


def chosen(name: str, peer: str) -> Callable:
    """The function of a workload, as a library can take it."""
    own = next(w.function for w in WORKLOADS if w.function.__name__ == name)
    return (SCANNED.get(name) if peer == "jax" else None) or FUNCTIONAL.get(name, own)


def mapped(change: Callable, value: Any) -> Any:
    """A value of numbers and arrays, in dicts and tuples, with each of them changed."""
    if isinstance(value, dict):
        return {k: mapped(change, v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(mapped(change, v) for v in value)
    return change(value)


def by_autograd(w: Workload) -> tuple[Callable, Callable]:
    """A gradient, and what makes its arguments of NumPy's."""
    import autograd
    from autograd import numpy as module
    from autograd.scipy.special import erf

    places = w.argnums if len(w.argnums) > 1 else w.argnums[0]
    return autograd.grad(over(chosen(w.function.__name__, "autograd"), module, erf), places), lambda args: args


def by_torch(w: Workload) -> tuple[Callable, Callable]:
    """A gradient, and what makes its arguments of NumPy's."""
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    own = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    root = lambda v: torch.sqrt(v) if isinstance(v, torch.Tensor) else math.sqrt(v)  # noqa: E731
    function = over(
        chosen(w.function.__name__, "torch"), types.SimpleNamespace(**{**own, "max": torch.amax, "sqrt": root}), torch.erf
    )

    def tensor(value: Any) -> Any:
        return value if isinstance(value, int) else torch.tensor(value)

    def prepared(args: tuple) -> tuple:
        found = mapped(tensor, args)
        for place in w.argnums:
            mapped(lambda leaf: leaf.requires_grad_(), found[place])
        return found

    def gradient(*args: Any) -> Any:
        flat: list[Any] = []
        for place in w.argnums:
            mapped(flat.append, args[place])
        leaves = iter(torch.autograd.grad(function(*args), flat))
        found = tuple(mapped(lambda _: next(leaves), args[place]) for place in w.argnums)
        return found if len(found) > 1 else found[0]

    return gradient, prepared


def by_jax(w: Workload) -> tuple[Callable, Callable]:
    """A gradient, and what makes its arguments of NumPy's."""
    import jax
    from jax.scipy.special import erf

    jax.config.update("jax_enable_x64", True)
    places = w.argnums if len(w.argnums) > 1 else w.argnums[0]
    fixed = [k for k, v in enumerate(w.draw(np.random.default_rng(0))) if isinstance(v, int)]
    function = over(chosen(w.function.__name__, "jax"), jax.numpy, erf)
    gradient = jax.jit(jax.grad(function, places), static_argnums=fixed)
    leaf = lambda v: v if isinstance(v, int) else jax.numpy.asarray(v)  # noqa: E731
    return lambda *args: jax.block_until_ready(gradient(*args)), lambda args: mapped(leaf, args)


BY = {"autograd": by_autograd, "torch": by_torch, "jax": by_jax}


# --- measuring --------------------------------------------------------------------------------------------------------


def ratio(w: Workload, peer: str) -> float:
    """The time of a peer over ours; AssertionError where the gradients differ."""
    gradient, prepared = BY[peer](w)
    ours = by_hand.gradient_of(w)
    rng = np.random.default_rng(1)
    args = w.draw(rng)
    expected, found = ours(*args), mapped(np.asarray, gradient(*prepared(args)))
    assert by_hand.same(found, expected), (w.function.__name__, peer)
    slow = min(by_hand.cost(gradient, [prepared(args)])[0] for _ in range(2))
    quick = min(by_hand.cost(ours, [args])[0] for _ in range(2))
    often = [max(1, min(500, int(by_hand.ENOUGH / max(took, 1e-7)))) for took in (slow, quick)]
    ratios = []
    for _ in range(max(SOME, min(ROUNDS, int(LONGEST / (slow * often[0]))))):
        theirs = [prepared(w.draw(rng)) for _ in range(often[0])]
        mine = [w.draw(rng) for _ in range(often[1])]
        ratios.append(by_hand.cost(gradient, theirs)[0] / by_hand.cost(ours, mine)[0])
    return statistics.median(ratios)


def measured(w: Workload) -> dict[str, Any]:
    """The ratio of each peer that is installed."""
    row: dict[str, Any] = {"name": w.function.__name__.replace("_", " ")}
    for peer in PEERS:
        if importlib.util.find_spec(peer) is not None and (w.function.__name__, peer) not in NOT_BY:
            row[peer] = ratio(w, peer)
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a markdown table, with means."""
    out = ["| workload | autograd / ours | PyTorch / ours | JAX with `jit` / ours |", "|---|---|---|---|"]
    shown = lambda v: "" if v is None else f"{v:.1f}" if v >= 1 else f"{v:.2f}"  # noqa: E731
    for row in rows:
        out.append(f"| {row['name']} | {' | '.join(shown(row.get(peer)) for peer in PEERS)} |")
    values = [[row[peer] for row in rows if peer in row] for peer in PEERS]
    out.append(f"| *geometric mean* | {' | '.join(shown(by_hand.mean(v) if v else None) for v in values)} |")
    return "\n".join(out)


def main() -> None:
    """Print the table, or the figures; of one workload only in this process, of several each in its own."""
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    wanted = [w for w in WORKLOADS if not names or w.function.__name__ in names]
    if len(wanted) == 1:
        rows = [measured(wanted[0])]
    else:
        rows = [row for w in wanted for row in by_hand.alone("peers.py", w.function.__name__)]
    print(json.dumps(rows) if "--json" in sys.argv else table(rows))


if __name__ == "__main__":
    main()
