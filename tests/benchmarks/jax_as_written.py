"""Compiled gradients beside JAX, of programs as they are written: `python tests/benchmarks/jax_as_written.py [names]`.

Each program is that of `tests/kernels` over `jax.numpy`: loops are Python's, which JAX unrolls, and stores are
`.at[..].set`.  Where so long a program would not compile within minutes, both get fewer trips.  Gradients are compared
before they are timed.  Each program has a process of its own, on one core; calls take turns.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]  # `kernels` is a name there, too
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from kernels.case import SEED, kernel_of  # noqa: E402
from kernels.flows import DIRECTIONS, OPPOSITE, SHARES, obstacle  # noqa: E402
from kernels.weather import EXPLICIT, IMPLICIT  # noqa: E402

from s2sgrad import grad  # noqa: E402

SECONDS = 10.0
WORST = 1e-9  # of the largest entry


# --- the arguments where fewer trips are to be unrolled ---------------------------------------------------------------


SMALLER = {
    "seidel_2d": lambda rng: (2, rng.uniform(0.5, 1.5, (20, 20))),
    "exponential_moving_average": lambda rng: (rng.normal(size=200), 0.03),
    "thomas": lambda rng: (rng.uniform(-1, 1, 99), rng.uniform(2.5, 3.5, 100), rng.uniform(-1, 1, 99), rng.normal(size=100)),
    "viterbi": lambda rng: (rng.normal(size=6), rng.normal(size=(6, 6)), rng.normal(size=(6, 20))),
    "lstm": lambda rng: (
        rng.normal(size=(20, 30)), 0.3 * rng.normal(size=(160, 30)), 0.3 * rng.normal(size=(160, 40)), rng.normal(size=160),
        np.zeros(40), np.zeros(40),
    ),
    "conv2d_bias": lambda rng: (rng.normal(size=(4, 12, 12, 3)), rng.normal(size=(3, 3, 3, 8)), rng.normal(size=8)),
    "max_pooling": lambda rng: (rng.permutation(16384).reshape(4, 16, 16, 16) / 8192.0,),
    "kalman_filter": lambda rng: (
        rng.normal(size=(20, 4)), 0.9 * np.eye(8) + 0.05 * rng.normal(size=(8, 8)), rng.normal(size=(4, 8)),
        0.1 * np.eye(8), 0.3 * np.eye(4), rng.normal(size=8),
    ),
}  # fmt: skip


# --- the programs over `jax.numpy` ------------------------------------------------------------------------------------


def programs():
    """The programs for JAX, by name."""
    import jax
    import jax.numpy as jnp

    def seidel_2d(steps, A):
        n = A.shape[0]
        for _ in range(steps):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    A = A.at[i, j].set(
                        (
                            A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                            + A[i, j - 1] + A[i, j] + A[i, j + 1]
                            + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                        ) / 9.0
                    )  # fmt: skip
        return A

    def jacobi_2d(steps, A, B):
        for _ in range(steps):
            B = B.at[1:-1, 1:-1].set(0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1]))
            A = A.at[1:-1, 1:-1].set(0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[:-2, 1:-1] + B[2:, 1:-1]))
        return A

    def heat_half_step(source, target, k):
        inner = source[1:-1, 1:-1, 1:-1]
        return target.at[1:-1, 1:-1, 1:-1].set(
            inner + k * (
                (source[2:, 1:-1, 1:-1] - 2.0 * inner + source[:-2, 1:-1, 1:-1])
                + (source[1:-1, 2:, 1:-1] - 2.0 * inner + source[1:-1, :-2, 1:-1])
                + (source[1:-1, 1:-1, 2:] - 2.0 * inner + source[1:-1, 1:-1, :-2])
            )
        )  # fmt: skip

    def heat_3d(steps, k, A, B):
        for _ in range(steps):
            B = heat_half_step(A, B, k)
            A = heat_half_step(B, A, k)
        return A

    def hdiff(field, out, coeff):
        ni, nj = out.shape[0], out.shape[1]
        lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
            field[2 : ni + 4, 1 : nj + 3, :] + field[: ni + 2, 1 : nj + 3, :]
            + field[1 : ni + 3, 2 : nj + 4, :] + field[1 : ni + 3, : nj + 2, :]
        )  # fmt: skip
        step = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
        apart = field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :]
        along_i = jnp.where(step * apart > 0.0, 0.0, step)
        step = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
        apart = field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :]
        along_j = jnp.where(step * apart > 0.0, 0.0, step)
        return field[2 : ni + 2, 2 : nj + 2, :] - coeff * (
            along_i[1:, :, :] - along_i[:-1, :, :] + along_j[:, 1:, :] - along_j[:, :-1, :]
        )

    def exponential_moving_average(x, alpha):
        mean, var = jnp.empty_like(x), jnp.empty_like(x)
        mean, var = mean.at[0].set(x[0]), var.at[0].set(0.0)
        for i in range(1, len(x)):
            step = alpha * (x[i] - mean[i - 1])
            mean = mean.at[i].set(mean[i - 1] + step)
            var = var.at[i].set((1.0 - alpha) * (var[i - 1] + step * (x[i] - mean[i - 1])))
        return mean, var

    def thomas(lower, diagonal, upper, rhs):
        n = len(rhs)
        c, d = jnp.zeros(n - 1), jnp.zeros(n)
        c = c.at[0].set(upper[0] / diagonal[0])
        d = d.at[0].set(rhs[0] / diagonal[0])
        for i in range(1, n):
            below = diagonal[i] - lower[i - 1] * c[i - 1]
            if i < n - 1:
                c = c.at[i].set(upper[i] / below)
            d = d.at[i].set((rhs[i] - lower[i - 1] * d[i - 1]) / below)
        for i in reversed(range(n - 1)):
            d = d.at[i].add(-c[i] * d[i + 1])
        return d

    def viterbi(prior, transition, emission):
        states, length = emission.shape
        score = jnp.full((length, states), -jnp.inf)
        back = jnp.zeros((length, states), dtype=int)
        score = score.at[0].set(prior + emission[:, 0])
        for t in range(1, length):
            for s in range(states):
                candidates = score[t - 1] + transition[:, s]
                back = back.at[t, s].set(jnp.argmax(candidates))
                score = score.at[t, s].set(candidates[back[t, s]] + emission[s, t])
        best = jnp.zeros(length, dtype=int)
        best = best.at[-1].set(jnp.argmax(score[-1]))
        for t in range(length - 1, 0, -1):
            best = best.at[t - 1].set(back[t, best[t]])
        along = jnp.zeros(length)
        for t in range(length):
            along = along.at[t].set(emission[best[t], t])
        return jnp.max(score[-1]), along

    def sigmoid(x):
        return 1.0 / (1.0 + jnp.exp(-x))

    def lstm(xs, W, U, bias, h0, c0):
        steps, size = len(xs), len(h0)
        hs = jnp.zeros((steps + 1, size))
        cs = jnp.zeros((steps + 1, size))
        hs, cs = hs.at[0].set(h0), cs.at[0].set(c0)
        for t in range(steps):
            gates = W @ xs[t] + U @ hs[t] + bias
            gates = gates.at[: 3 * size].set(sigmoid(gates[: 3 * size]))
            gates = gates.at[3 * size :].set(jnp.tanh(gates[3 * size :]))
            enter, forget, leave, fresh = jnp.split(gates, 4)
            cs = cs.at[t + 1].set(forget * cs[t] + enter * fresh)
            hs = hs.at[t + 1].set(leave * jnp.tanh(cs[t + 1]))
        return hs[1:], cs[-1]

    def softmax_in_place(x):
        out = x - jnp.max(x, axis=-1, keepdims=True)
        out = jnp.exp(out)
        return out / jnp.sum(out, axis=-1, keepdims=True)

    def conv2d_bias(image, weights, bias):
        size = weights.shape[0]
        n, height, width = image.shape[0], image.shape[1] - size + 1, image.shape[2] - size + 1
        out = jnp.empty((n, height, width, weights.shape[3]), dtype=image.dtype)
        for i in range(height):
            for j in range(width):
                patch = image[:, i : i + size, j : j + size, :, jnp.newaxis]
                out = out.at[:, i, j, :].set(jnp.sum(patch * weights[jnp.newaxis], axis=(1, 2, 3)))
        return out + bias

    def max_pooling(x):
        x = x * x + x
        out = jnp.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
        for i in range(x.shape[1] // 2):
            for j in range(x.shape[2] // 2):
                out = out.at[:, i, j, :].set(jnp.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2)))
        return out

    def kalman_filter(ys, F, H, Q, R, x0):
        steps, n = len(ys), len(x0)
        xs = jnp.zeros((steps, n))
        Ps = jnp.zeros((steps, n, n))
        surprise = 0.0
        x, P = x0, jnp.eye(n)
        for t in range(steps):
            x = F @ x
            P = F @ P @ F.T + Q
            innovation = ys[t] - H @ x
            S = H @ P @ H.T + R
            gain = jnp.linalg.solve(S, H @ P).T
            xs = xs.at[t].set(x + gain @ innovation)
            Ps = Ps.at[t].set(P - gain @ H @ P)
            surprise += 0.5 * innovation @ jnp.linalg.solve(S, innovation) + 0.5 * jnp.log(jnp.linalg.det(S))
            x, P = xs[t], Ps[t]
        return xs, Ps, surprise

    def vadv(tendency, u_stage, wind, u, forcing, rate):
        ni, nj, nk = tendency.shape
        c = jnp.empty((ni, nj, nk), dtype=u.dtype)
        d = jnp.empty((ni, nj, nk), dtype=u.dtype)
        for k in range(nk):
            below = above = 0.0
            change = jnp.zeros((ni, nj))
            diagonal = jnp.full((ni, nj), rate)
            if k > 0:
                g = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
                below = g * IMPLICIT
                diagonal -= below
                change -= g * EXPLICIT * (u_stage[:, :, k - 1] - u_stage[:, :, k])
            if k < nk - 1:
                g = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
                above = g * IMPLICIT
                diagonal -= above
                change -= g * EXPLICIT * (u_stage[:, :, k + 1] - u_stage[:, :, k])
            c = c.at[:, :, k].set(above)
            d = d.at[:, :, k].set(rate * u[:, :, k] + forcing[:, :, k] + tendency[:, :, k] + change)
            if k == 0:
                divided = 1.0 / diagonal
            else:
                divided = 1.0 / (diagonal - c[:, :, k - 1] * below)
                d = d.at[:, :, k].add(-d[:, :, k - 1] * below)
            c = c.at[:, :, k].multiply(divided)
            d = d.at[:, :, k].multiply(divided)
        for k in range(nk - 1, -1, -1):
            if k == nk - 1:
                solved = d[:, :, k]
            else:
                solved = d[:, :, k] - c[:, :, k] * solved
            tendency = tendency.at[:, :, k].set(rate * (solved - u[:, :, k]))
        return tendency

    def lattice_boltzmann(f, wall, omega, steps):
        wall = obstacle(wall.shape)  # masks are to be known
        equilibrium = jnp.empty_like(f)
        for _ in range(steps):
            for k in range(9):
                f = f.at[k].set(jnp.roll(f[k], (DIRECTIONS[k, 0], DIRECTIONS[k, 1]), axis=(0, 1)))
            bounced = f[:, wall][OPPOSITE]
            density = f.sum(axis=0)
            ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
            uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density
            for k in range(9):
                along = DIRECTIONS[k, 0] * ux + DIRECTIONS[k, 1] * uy
                equilibrium = equilibrium.at[k].set(
                    SHARES[k] * density * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * (ux**2 + uy**2))
                )
            f = f + omega * (equilibrium - f)
            f = f.at[:, wall].set(bounced)
        kinetic = 0.5 * density * (ux**2 + uy**2)
        return f, kinetic.at[wall].set(0.0)

    def jacobi_1d(steps, A, B):
        for _ in range(steps):
            B = B.at[1:-1].set((A[:-2] + A[1:-1] + A[2:]) / 3.0)
            A = A.at[1:-1].set((B[:-2] + B[1:-1] + B[2:]) / 3.0)
        return A, B

    def fdtd_2d(steps, ex, ey, hz, pulse):
        for t in range(steps):
            ey = ey.at[0, :].set(pulse[t])
            ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
            ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
            hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return ex, ey, hz

    jax.config.update("jax_enable_x64", True)
    found = locals()
    return {name: found[name] for name in NAMES}


NAMES = [
    "seidel_2d", "jacobi_2d", "heat_3d", "hdiff", "exponential_moving_average", "thomas", "viterbi", "lstm",
    "softmax_in_place", "conv2d_bias", "max_pooling", "kalman_filter", "vadv", "lattice_boltzmann", "jacobi_1d", "fdtd_2d",
]  # fmt: skip


# --- both of them ------------------------------------------------------------------------------------------------------


def draw(entry):
    """Fresh arguments of the size that both get."""
    return SMALLER.get(entry.name, entry.draw_bench)(np.random.default_rng(SEED))


def by_jax(entry):
    """The compiled gradient by JAX of the sum of all results, and what prepares its arguments."""
    import jax
    import jax.numpy as jnp

    program = programs()[entry.name]

    def total(*args):
        return sum(jnp.sum(part) for part in jax.tree.leaves(program(*args)))

    sizes = tuple(k for k, arg in enumerate(draw(entry)) if isinstance(arg, int))
    compiled = jax.jit(jax.grad(total, entry.places), static_argnums=sizes)

    def prepared(args):
        args = (arg if isinstance(arg, int) else jnp.asarray(arg) for arg in args)
        return tuple(map(jax.block_until_ready, args))

    return lambda *args: jax.block_until_ready(compiled(*args)), prepared


def row(name):
    """The line of a program: compile seconds of both, times of a call, and how many times longer JAX takes."""
    entry = kernel_of(name)
    theirs, prepared = by_jax(entry)
    ours = grad(entry.function, compile=True, **entry.options)
    sides = [(ours, tuple), (theirs, prepared)]
    first, results = [], []
    for function, prepare in sides:
        args = prepare(draw(entry))
        begun = time.process_time()
        results.append(as_tuple(function(*args)))
        first.append(time.process_time() - begun)
    for mine, other in zip(*results, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.0, atol=WORST * max(1.0, float(np.max(np.abs(other)))))
    assert "is compiled" in ours.explain_compile()
    clocks = time.perf_counter, time.process_time
    times = [[[], []] for _ in sides]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for (function, prepare), mine in zip(sides, times, strict=True):
            args = prepare(draw(entry))
            begun = [clock() for clock in clocks]
            function(*args)
            for seconds, clock, start in zip(mine, clocks, begun, strict=True):
                seconds.append(clock() - start)
    (our_wall, our_cpu), (their_wall, their_cpu) = times
    shortest = min(their_wall) / min(our_wall)
    median = statistics.median(their_cpu) / statistics.median(our_cpu)
    fewer = " (fewer trips)" if name in SMALLER else ""
    return (
        f"| {name}{fewer} | {1e6 * min(our_wall):.0f} | {shortest:.2g} | {median:.2g} | {first[0]:.1f} | {first[1]:.1f} |",
        shortest,
        median,
    )


def as_tuple(value):
    """The gradients, one or several."""
    return value if isinstance(value, tuple) else (value,)


def main(names):
    """Print the table: a process for each program."""
    print("| program | µs | JAX / compiled, shortest | processor time, medians | compiles in, s | JAX compiles in, s |")
    print("|---|---|---|---|---|---|", flush=True)
    found = []
    for name in names or NAMES:
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            print(f"| {name}: {(done.stderr.strip().splitlines() or ['?'])[-1]} |", flush=True)
            continue
        print(lines[0], flush=True)
        found.append([float(number) for number in lines[1].split()])
    means = [statistics.geometric_mean(column) for column in zip(*found, strict=True)]
    print(f"| *geometric mean of {len(found)}* | | {means[0]:.2g} | {means[1]:.2g} | | |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})  # before JAX starts its threads
        with tempfile.TemporaryDirectory() as os.environ["S2SGRAD_CACHE"]:  # nothing is compiled before
            line, *ratios = row(sys.argv[2])
        print(line, " ".join(map(str, ratios)), sep="\n")
    else:
        main(sys.argv[1:])
