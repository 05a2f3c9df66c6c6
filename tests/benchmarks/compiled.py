"""Compiled gradients beside C by hand and JAX: `PYTHONPATH=. python tests/benchmarks/compiled.py`.

C needs `gcc`; JAX is left out where it is not installed.  The three compute the same, which is compared before it is timed.
Calls take turns; the times are medians, one thread.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]  # this file has a common name
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from kernels import KERNELS  # noqa: E402

from s2sgrad import grad  # noqa: E402

SECONDS = 3.0

C = r"""
#include <stdlib.h>
#include <string.h>
void exponential_moving_average(const double *x, double a, double *x_bar, double *a_bar, long n) {
    double *mean = malloc(2 * n * sizeof(double)), *var = mean + n, m_bar = 1.0, v_bar = 1.0, sum = 0.0;
    mean[0] = x[0]; var[0] = 0.0;
    for (long i = 1; i < n; i++) {
        double step = a * (x[i] - mean[i - 1]);
        mean[i] = mean[i - 1] + step;
        var[i] = (1.0 - a) * (var[i - 1] + step * (x[i] - mean[i - 1]));
    }
    for (long i = n - 1; i > 0; i--) {
        double apart = x[i] - mean[i - 1], in = (1.0 - a) * v_bar;
        double step_bar = in * apart + m_bar, apart_bar = in * a * apart + step_bar * a;
        sum += step_bar * apart - v_bar * (var[i - 1] + a * apart * apart);
        x_bar[i] = apart_bar;
        m_bar = 1.0 + m_bar - apart_bar;
        v_bar = 1.0 + in;
    }
    x_bar[0] = m_bar;
    *a_bar = sum;
    free(mean);
}
static void transposed(double *restrict from, double *restrict to, double *restrict t, long n, long m) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < m - 1; j++) { t[i * m + j] = 0.2 * from[i * m + j]; from[i * m + j] = 0.0; }
    for (long k = m; k < (n - 1) * m; k++) to[k] += t[k] + t[k - 1] + t[k + 1] + t[k - m] + t[k + m];
    for (long j = 0; j < m; j++) { to[j] += t[j + m]; to[(n - 1) * m + j] += t[(n - 2) * m + j]; }
}
void jacobi_2d(long steps, double *A_bar, double *B_bar, long n, long m) {
    double *t = calloc(n * m, sizeof(double));
    for (long k = 0; k < n * m; k++) { A_bar[k] = 1.0; B_bar[k] = 0.0; }
    for (long s = 0; s < steps; s++) { transposed(A_bar, B_bar, t, n, m); transposed(B_bar, A_bar, t, n, m); }
    free(t);
}
void seidel_2d(long steps, double *A_bar, long n) {
    for (long k = 0; k < n * n; k++) A_bar[k] = 1.0;
    for (long s = 0; s < steps; s++)
        for (long i = n - 2; i > 0; i--)
            for (long j = n - 2; j > 0; j--) {
                double *p = A_bar + i * n + j, t = *p / 9.0;
                *p = t;
                p[-n - 1] += t; p[-n] += t; p[-n + 1] += t; p[-1] += t;
                p[1] += t; p[n - 1] += t; p[n] += t; p[n + 1] += t;
            }
}
"""


def by_c():
    """The gradients in C, by name."""
    folder = tempfile.mkdtemp()
    (pathlib.Path(folder) / "by_hand.c").write_text(C)
    library = f"{folder}/by_hand.so"
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, f"{folder}/by_hand.c"],
        check=True,
    )
    lib = ctypes.CDLL(library)
    array, number, integer = np.ctypeslib.ndpointer(np.float64), ctypes.c_double, ctypes.c_long
    lib.exponential_moving_average.argtypes = [array, number, array, array, integer]
    lib.jacobi_2d.argtypes, lib.seidel_2d.argtypes = [integer, array, array, integer, integer], [integer, array, integer]

    def average(x, alpha):
        x_bar, alpha_bar = np.empty_like(x), np.empty(1)
        lib.exponential_moving_average(x, alpha, x_bar, alpha_bar, len(x))
        return x_bar, alpha_bar[0]

    def jacobi(steps, A, B):
        A_bar, B_bar = np.empty_like(A), np.empty_like(B)
        lib.jacobi_2d(steps, A_bar, B_bar, *A.shape)
        return A_bar, B_bar

    def seidel(steps, A):
        A_bar = np.empty_like(A)
        lib.seidel_2d(steps, A_bar, len(A))
        return (A_bar,)

    return {"exponential_moving_average": average, "jacobi_2d": jacobi, "seidel_2d": seidel}


def by_jax():
    """The gradients by JAX, of functions in its idiom."""
    try:
        import jax
    except ImportError:
        return {}
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def average(x, alpha):
        def step(carry, x_i):
            mean, var = carry
            by = alpha * (x_i - mean)
            new = mean + by, (1.0 - alpha) * (var + by * (x_i - mean))
            return new, new

        means, variances = jax.lax.scan(step, (x[0], 0.0), x[1:])[1]
        return x[0] + jnp.sum(means) + jnp.sum(variances)

    def star(X):
        return 0.2 * (X[1:-1, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:] + X[:-2, 1:-1] + X[2:, 1:-1])

    def jacobi(A, B, steps):
        def step(carry, _):
            A, B = carry
            B = B.at[1:-1, 1:-1].set(star(A))
            return (A.at[1:-1, 1:-1].set(star(B)), B), None

        return jnp.sum(jax.lax.scan(step, (A, B), None, length=steps)[0][0])

    of_average = jax.jit(jax.grad(average, (0, 1)))
    of_jacobi = jax.jit(jax.grad(jacobi, (0, 1)), static_argnums=2)
    return {
        "exponential_moving_average": lambda x, alpha: jax.block_until_ready(of_average(x, alpha)),
        "jacobi_2d": lambda steps, A, B: jax.block_until_ready(of_jacobi(A, B, steps)),
    }


def medians(functions, make):
    """The median of each function's time, in turns."""
    times = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for mine, function in zip(times, functions, strict=True):
            args = make()
            begun = time.perf_counter()
            function(*args)
            mine.append(time.perf_counter() - begun)
    return [*map(statistics.median, times)]


def main():
    """Print the table."""
    c, jax_ = by_c(), by_jax()
    print("| program | text | compiled | C by hand | JAX |\n|---|---|---|---|---|")
    for name in c:
        entry = next(k for k in KERNELS if k.name == name)
        text, loops = grad(entry.function, **entry.options), grad(entry.function, compile=True, **entry.options)
        others = [f[name] for f in (c, jax_) if name in f]
        expected = text(*entry.bench_args())
        for other in (loops, *others):
            for ours, theirs in zip(as_tuple(other(*entry.bench_args())), as_tuple(expected), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
        primal, *rest = medians([entry.function, text, loops, *others], entry.bench_args)
        shown = [f"{t / primal:.2g}" for t in rest] + [""] * (2 - len(others))
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


def as_tuple(value):
    """The gradients, one or several."""
    return value if isinstance(value, tuple) else (value,)


if __name__ == "__main__":
    main()
