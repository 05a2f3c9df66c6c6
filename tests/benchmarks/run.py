"""Times and ratios of s2sgrad, as a markdown table: `python tests/benchmarks/run.py`.

Every gradient is compared with central differences (or autograd) before it is timed.  A ratio is the median over rounds
that time the gradient and the function one after the other, so that both see the same machine.
"""

from __future__ import annotations

import importlib.util
import inspect
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from corpus import CASES  # noqa: E402
from differences import copied, directional, inner, random_directions  # noqa: E402

from s2sgrad import S2SGradError, grad  # noqa: E402

ROUNDS = 15


# --- what is differentiated ------------------------------------------------------------------------------------------


def scalar_loop(x, r, n):
    total = 0.0
    for i in range(n):  # noqa: B007
        if x > 0.5:
            x = r * x * (1.0 - x)
        else:
            x = x + 0.3 * r * x
        total = total + x * x
    return total


def small_mlp(W1, b1, W2, b2, x, y):
    h = np.tanh(x @ W1 + b1)
    e = h @ W2 + b2 - y
    return np.sum(e * e)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def softmax_loss(z, target):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.sum(target * np.log(p))


def twenty_lines(x, y, n):
    a = x * y
    b = np.sin(a) + x
    c = np.exp(-b * b)
    if c > 0.5:
        d = c * y
        e = d + a
    else:
        d = c - y
        e = d * a
    total = e
    for i in range(n):
        f = np.tanh(d * total)
        if f > 0.9:
            break
        g = f * i + b
        total = total + g * c
        d = d * 0.9 + f
    h = np.sqrt(total * total + 1.0)
    k = h / (1.0 + d * d)
    return k * a + np.log(h)


def programs():
    """Name, function, argnums, arguments."""
    rng = np.random.default_rng(0)
    mlp = [rng.normal(size=shape) for shape in ((4, 8), (8,), (8, 2), (2,), (16, 4), (16, 2))]
    target = np.eye(10)[rng.integers(0, 10, 32)]
    return [
        ("1,000-step scalar loop with an `if`", scalar_loop, (0, 1), (0.3, 0.9, 1000)),
        ("small MLP (16 x 4, 8 hidden)", small_mlp, (0, 1, 2, 3), tuple(mlp)),
        ("Rosenbrock-10", rosenbrock, (0,), (np.linspace(-1.0, 1.5, 10),)),
        ("softmax loss (32 x 10)", softmax_loss, (0,), (rng.normal(size=(32, 10)), target)),
    ]


def generated_function(lines, directory):
    """A function of so many lines: straight code, a branch in every tenth line."""
    body = ["    y0 = x * w"]
    k = 0
    while len(body) < lines - 2:
        here, there = f"y{k}", f"y{k + 1}"
        if k % 10 == 9:
            body += [f"    if {here} > 0.0:", f"        {there} = {here} * 0.5 + x"]
            body += ["    else:", f"        {there} = {here} - w"]
        else:
            values = f"np.sin({here}) * w", f"{here} * 0.9 + x", f"{here} - 0.1 * y{k // 2}"
            body.append(f"    {there} = {values[k % 3]}")
        k += 1
    text = "\n".join(["import numpy as np", "", "", "def f(x, w):", *body, f"    return y{k}", ""])
    path = pathlib.Path(directory) / f"generated_{lines}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


# --- measuring -------------------------------------------------------------------------------------------------------


def once(f, args, count):
    begun = time.perf_counter()
    for _ in range(count):
        f(*args)
    return (time.perf_counter() - begun) / count


def repetitions(f, args):
    """How often to call, so that a round takes some twenty milliseconds."""
    return max(1, int(0.02 / max(once(f, args, 3), 1e-7)))


def ratio(f, df, args):
    """Median seconds of the function and of the gradient, and the median ratio over rounds."""
    counts = repetitions(f, args), repetitions(df, args)
    rounds = [(once(f, args, counts[0]), once(df, args, counts[1])) for _ in range(ROUNDS)]
    return (
        statistics.median(a for a, _ in rounds),
        statistics.median(b for _, b in rounds),
        statistics.median(b / a for a, b in rounds),
    )


def assert_right(f, df, args, argnums):
    """The gradient agrees with differences along a random direction in all arguments."""
    gradient = df(*copied(args))
    directions = random_directions(np.random.default_rng(1), args, argnums)
    slope = directional(f, args, argnums, directions)
    np.testing.assert_allclose(inner(gradient, directions), slope, rtol=1e-4, atol=1e-6)


def import_seconds():
    """Seconds that `import s2sgrad` adds to `import numpy`, in a fresh process, median of nine."""
    code = "import time, numpy; a = time.perf_counter(); import s2sgrad; print(time.perf_counter() - a)"
    command = [sys.executable, "-c", code]
    run = lambda: subprocess.run(command, cwd=HERE.parent.parent, capture_output=True, text=True, check=True)  # noqa: E731
    return statistics.median(float(run().stdout) for _ in range(9))


def transform_seconds(f, argnums, args, rounds):
    return statistics.median(once(lambda: grad(f, argnums).source_for(*args), (), 1) for _ in range(rounds))


def code_lines(text):
    """Lines of code: without comments, blank lines and docstrings of one line."""
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith(("#", '"""')) for line in lines)


def lines_per_line():
    """Generated lines for one source line, comments not counted, over the corpus: median, largest, and how many refused.

    The source is the function and those that its text calls and that are written out again (`helper_bwd`).
    """
    shares, refused = [], 0
    for case in CASES:
        try:
            text = grad(case.function, case.argnums).source_for(*case.fresh_args())
        except S2SGradError:
            refused += 1
            continue
        source = code_lines(source_of(case.function, text))
        shares.append(code_lines(text) / source)
    return statistics.median(shares), max(shares), sum(s > 4.0 for s in shares), len(shares), refused


def source_of(function, text):
    def own(f):
        lines = inspect.getsource(f).splitlines()
        start = next(k for k, line in enumerate(lines) if line.lstrip().startswith("def "))
        return "\n".join(lines[start:])

    names = set(re.findall(r"^def (\w+)_(?:fwd|bwd)\w*\(", text, re.M))
    helpers = [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
    return "\n".join([own(function), *(own(helper) for helper in helpers if helper is not function)])


def autograd_gradient(f, argnums):
    """The gradient of autograd, over its own NumPy; None where it is not installed."""
    try:
        import autograd
        import autograd.numpy as autograd_numpy
    except ImportError:
        return None
    own = types.FunctionType(f.__code__, {**f.__globals__, "np": autograd_numpy}, f.__name__, f.__defaults__)
    return autograd.grad(own, argnums)


# --- the table -------------------------------------------------------------------------------------------------------


def unit(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def main():
    with tempfile.TemporaryDirectory() as directory:
        print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}; medians of {ROUNDS} rounds\n")
        print("| what | measured | to reach |\n|---|---|---|", flush=True)
        print(f"| `import s2sgrad` after `import numpy` | {unit(import_seconds())} | < 150 ms |", flush=True)

        args = (0.7, 1.1, 5)
        assert_right(twenty_lines, grad(twenty_lines, (0, 1)), args, (0, 1))
        seconds = transform_seconds(twenty_lines, (0, 1), args, ROUNDS)
        print(f"| transform a 20-line function | {unit(seconds)} | < 50 ms |", flush=True)

        for lines in (250, 500, 1000):
            f = generated_function(lines, directory)
            assert_right(f, grad(f, (0, 1)), (0.7, 1.1), (0, 1))
            seconds = transform_seconds(f, (0, 1), (0.7, 1.1), 3)
            goal = "< 2 s" if lines == 1000 else ""
            print(f"| transform a {lines:,}-line function | {unit(seconds)} | {goal} |", flush=True)

        median, largest, above, count, refused = lines_per_line()
        print(f"| generated lines per source line, {count} functions ({refused} refused) | median {median:.2f}, largest "
              f"{largest:.2f}, {above} above 4 | <= 4 |", flush=True)  # fmt: skip

    print("\n| of | function | gradient | ratio | to reach | autograd | autograd / ours |\n|---|---|---|---|---|---|---|")
    missing = False
    for name, f, argnums, args in programs():
        df = grad(f, argnums)
        assert_right(f, df, args, argnums)
        function, gradient, share = ratio(f, df, args)
        other = autograd_gradient(f, argnums)
        if other is None:
            missing, compared = True, "- | -"
        else:
            for ours, theirs in zip(df(*args), other(*args), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
            _, seconds, times = ratio(df, other, args)
            compared = f"{unit(seconds)} | {times:.1f}"
        goal = "<= 4" if f is scalar_loop else ""
        print(f"| {name} | {unit(function)} | {unit(gradient)} | {share:.2f} | {goal} | {compared} |", flush=True)
    if missing:
        print("\nautograd is not installed (pip install 's2sgrad[bench]'): its columns are empty.")


if __name__ == "__main__":
    main()
