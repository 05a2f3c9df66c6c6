"""Generated sources that people read: compared exactly with tests/golden/<name>.py, and checked by differences.

`pytest tests/test_golden.py --update-golden` writes the files anew; read the difference before you keep it.
"""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest
from corpus import by_name
from differences import central_difference, copied
from kernels import kernel_of

from s2sgrad import grad

GOLDEN = pathlib.Path(__file__).parent / "golden"

# functions of the corpus, with all their float arguments
CORPUS = [
    "augmented_numbers",
    "branch_inside_a_loop",
    "break_from_a_for",
    "calls_to_depth_four",
    "chained_methods",
    "column_with_a_vector_and_a_matrix",
    "comparison_chain",
    "continue_in_a_while",
    "elif_chain",
    "for_else_whose_break_is_taken",
    "gaussian_log_likelihood",
    "helper_called_in_a_loop",
    "kalman_filter",
    "linear_loop",
    "newton_iteration",
    "nested_result",
    "recurrent_network",
    "recursion_with_two_calls",
    "return_from_nested_loops",
    "rosenbrock",
    "runge_kutta_pendulum",
    "selected_by_where",
    "softmax_cross_entropy",
    "starred_target_in_the_middle",
    "ternary_of_arrays",
    "walrus_in_a_condition",
    "zip_of_two_arrays",
]

# whole programs that leave their results in their arguments
KERNELS = ["jacobi_2d", "lu", "trisolv"]


def logistic(x, r, n):
    for i in range(n):  # noqa: B007
        x = r * x * (1.0 - x)
    return x


def mlp(W1, b1, W2, x, y):
    h = np.tanh(x @ W1 + b1)
    e = h @ W2 - y
    return np.sum(e * e)


def unroll(W, U, h, xs):
    for x in xs:
        h = np.tanh(W @ h + U @ x)
    return np.sum(h * h)


def newton(a, tolerance):
    x = a
    while abs(x * x - a) > tolerance:
        x = 0.5 * (x + a / x)
    return x


def first_above(xs, bound):
    total = 0.0
    for x in xs:
        total = total + x * x
        if total > bound:
            return total * x
    return total


def clipped_step(x, lower, upper):
    if x < lower:
        return lower
    if x > upper:
        return upper
    return x * x


def dot_product(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):  # noqa: B905
        total += x * y
    return total


def kinetic(m, v):
    return 0.5 * m * v * v


def energy(m, v, h):
    return kinetic(m, v) + 9.81 * m * h - kinetic(0.1 * m, h)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


def spread(column, row):
    return np.sum(np.sin(column * row) + row)


def heat(u, c, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def smooth(u, n):
    un = np.empty_like(u)
    for _ in range(n):
        un[1:-1] = 0.5 * (u[2:] + u[:-2])
        un[0], un[-1] = u[0], u[-1]
        u, un = un, u
    return u @ u


def damp_inside(u, c):
    inner = u[1:-1]
    inner *= c * inner
    return np.sum(u * u)


def accumulate(u, s):
    for i in range(1, len(u)):
        u[i] += s * u[i - 1]


def filtered(x, s):
    y = x * x
    accumulate(y, s)
    return y @ x


def leaky(x, slope):
    y = x.copy()
    y[y < 0.0] *= slope
    return np.sum(y * y)


def kernel_sum(x, y):
    d = x[:, None] - y[None, :]
    return np.sum(np.exp(-(d**2)))


def epidemic(beta, gamma, data):
    S, I = 0.99, 0.01  # noqa: E741
    error = 0.0
    for seen in data:
        new, recovered = beta * S * I, gamma * I
        S, I = S - new, I + new - recovered  # noqa: E741
        error += (I - seen) ** 2
    return error


def kepler(M, e):
    E = M
    while True:
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E = E - step
        if abs(step) < 1e-12:
            break
    return np.cos(E) - e


def reaction(u, v, k):
    spread = lambda a: np.roll(a, 1) + np.roll(a, -1) - 2.0 * a  # noqa: E731
    u, v = u.copy(), v.copy()
    for _ in range(3):
        both = u * v * v
        u += k * spread(u) - both
        v += 0.5 * k * spread(v) + both
    return np.sum(v**2)


def pairwise(positions, c):
    energy = 0.0
    for i in range(len(positions) - 1):
        d = positions[i + 1 :] - positions[i]
        squares = d**2
        near = squares < 1.5
        inverse = 1.0 / (0.1 + squares[near])
        energy += c * np.sum(inverse**2 - inverse)
    return energy


def correlate(x, w):
    n, k = len(x), len(w)
    out = np.zeros(n - k + 1)
    for i in range(k):
        out += w[i] * x[i : i + n - k + 1]
    return np.sum(out**2)


def _random(*shape):
    return np.random.default_rng(sum(shape)).uniform(-1.0, 1.0, shape)


# name: function, argnums, arguments
OWN = {
    "logistic": (logistic, (0, 1), (0.3, 3.1, 4)),
    "mlp": (mlp, (0, 1, 2), (_random(3, 4), _random(4), _random(4, 2), _random(5, 3), _random(5, 2))),
    "rnn": (unroll, (0, 1, 2), (_random(3, 3), _random(3, 2), _random(3), _random(4, 2))),
    "newton": (newton, 0, (2.0, 1e-10)),
    "early_return": (first_above, 0, (np.array([0.5, 1.0, 1.5, 2.0]), 3.0)),
    "guards": (clipped_step, (0, 1, 2), (0.5, -1.0, 1.0)),
    "zip": (dot_product, (0, 1), (_random(3), _random(3) + 2.0)),
    "helper_pair": (energy, (0, 1, 2), (2.0, 3.0, 1.5)),
    "recursion": (power, 0, (1.5, 4)),
    "softmax": (softmax, 0, (np.array([0.1, 0.7, -0.4]),)),
    "broadcasting": (spread, (0, 1), (_random(3, 1), _random(4))),
    "heat": (heat, 0, (_random(6), 0.1, 3)),
    "swap_of_buffers": (smooth, 0, (_random(6), 3)),
    "view_written": (damp_inside, (0, 1), (_random(6), 0.5)),
    "writer_for_effect": (filtered, (0, 1), (_random(5), 0.5)),
    "new_axes": (kernel_sum, (0, 1), (_random(3), _random(4))),
    "epidemic": (epidemic, (0, 1), (0.9, 0.3, np.array([0.02, 0.04, 0.08]))),
    "pairwise": (pairwise, (0, 1), (_random(6), 0.4)),
    "correlate": (correlate, (0, 1), (_random(6), _random(3))),
    "kepler": (kepler, (0, 1), (1.0, 0.3)),
    "reaction": (reaction, (0, 1, 2), (_random(5), _random(5), 0.1)),
    "masked_store": (leaky, (0, 1), (_random(7), 0.1)),
}

NAMES = [*(f"corpus_{name}" for name in CORPUS), *(f"kernel_{name}" for name in KERNELS), *OWN]


def entry_of(name):
    """Function, argnums and arguments of a golden source."""
    if name in OWN:
        return OWN[name]
    if name.startswith("kernel_"):
        kernel = kernel_of(name.removeprefix("kernel_"))
        return kernel.function, kernel.places, kernel.args()
    case = by_name(name.removeprefix("corpus_"))
    return case.function, case.argnums, case.args


def outputs_of(name):
    """The arguments that a golden source is the gradient of; None for the gradient of what the function returns."""
    return kernel_of(name.removeprefix("kernel_")).outputs if name.startswith("kernel_") else None


def values_of(name):
    """The function of a golden source, returning what is differentiated."""
    return kernel_of(name.removeprefix("kernel_")).result if outputs_of(name) else entry_of(name)[0]


@pytest.mark.parametrize("name", NAMES)
def test_source_is_the_golden_one(name, request):
    function, argnums, args = entry_of(name)
    text = grad(function, argnums, outputs=outputs_of(name)).source_for(*copied(args))
    file = GOLDEN / f"{name}.py"
    if request.config.getoption("--update-golden"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_gradient_is_right(name, capsys):
    function, argnums, args = entry_of(name)
    gradient = grad(function, argnums, outputs=outputs_of(name))(*copied(args))
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    parts = gradient if isinstance(argnums, tuple) else (gradient,)
    if name == "softmax":  # its outputs sum to one: ones as the seed would test nothing
        seed = np.array([1.0, -2.0, 0.5])
        weighted = central_difference(lambda z: softmax(z) * seed, args, 0)
        np.testing.assert_allclose(grad(softmax)(*copied(args), seed=seed), weighted[0], rtol=1e-6, atol=1e-9)
    for part, expected in zip(parts, central_difference(values_of(name), args, numbers), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_text_itself_computes_the_gradient(name, capsys):
    """The file, pasted beside the function, is the gradient: nothing hides in the compiler."""
    function, argnums, args = entry_of(name)
    space = dict(function.__globals__)
    exec(compile((GOLDEN / f"{name}.py").read_text(encoding="utf-8"), f"<golden {name}>", "exec"), space)
    made = space[f"{function.__name__}_grad"]
    df = grad(function, argnums, outputs=outputs_of(name))
    gradient, again = made(*copied(args)), df(*copied(args))
    parts, same = (gradient, again) if isinstance(argnums, tuple) else ((gradient,), (again,))
    for part, expected in zip(parts, same, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-13, atol=1e-13)


def test_there_are_no_other_golden_files():
    assert {file.stem for file in GOLDEN.glob("*.py")} == set(NAMES)


def test_golden_sources_are_tidy():
    for name in NAMES:
        text = (GOLDEN / f"{name}.py").read_text(encoding="utf-8")
        assert text.endswith("\n") and not text.endswith("\n\n"), name
        for line in text.splitlines():
            assert line == line.rstrip() and len(line) <= 125, f"{name}: {line}"
            code = line.split("#")[0].replace(" ", "")
            assert not re.search(r"[=(][01]\.0\*", code), f"{name}: {line}"
            assert not code.endswith(("+0.0", "*1.0")), f"{name}: {line}"
