"""Recorded gradients against the plain run and against autograd, on programs that only the run knows.

PYTHONPATH=. python tests/benchmarks/recorded.py [name ..]      Medians over rounds that time all ways one after the other.

Each program is written once; `np` is NumPy for the recorder and `autograd.numpy` for autograd, which cannot run programs
that write arrays or hand its values to `math`.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
import types
from typing import Any

import numpy

from s2sgrad.recorded.derivatives import grad

np: Any = numpy
ROUNDS = 9


class Ball:
    """A ball on a spring."""

    def __init__(self, place, speed):
        self.place, self.speed = place, speed

    def step(self, k, dt):
        self.speed = self.speed - k * self.place * dt
        self.place = self.place + self.speed * dt


def objects(k):
    """20 objects in a list, stepped 50 times."""
    balls = [Ball(0.1 * i + k, 0.0) for i in range(20)]
    for _ in range(50):
        for ball in balls:
            ball.step(k, 0.01)
    return sum(ball.place for ball in balls)


def newton(a):
    """200 steps for a square root."""
    x = 1.0
    for _ in range(200):
        x = 0.5 * (x + a / x)
    return x


def recursion(x):
    """200 calls deep."""

    def deeper(value, depth):
        return value if depth == 0 else 0.5 * deeper(value + 0.1 * value * value, depth - 1) + value

    return deeper(x, 200)


def elements(x):
    """A loop over the items of an array, which writes another."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i - 1] + (y[i - 1] if i else 0.0)
    return y[len(x) - 1]


def heat(u):
    """50 steps of heat, written in place."""
    u = u.copy()
    for _ in range(50):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def mlp(w):
    """Five layers with the same weights."""
    h = np.ones(w.shape[0])
    for _ in range(5):
        h = np.tanh(np.dot(w, h))
    return np.sum(h * h)


def layers(ws):
    """Layers in a list, of activations in a list, over a batch."""
    h = np.ones((16, ws[0].shape[0]))
    for w, act in zip(ws, [np.tanh, np.sin, lambda v: np.maximum(v, 0.0), np.tanh], strict=True):
        h = act(np.dot(h, w) + 0.1)
    return np.mean(h**2)


TABLE = {
    "sin": lambda v: np.sin(v),
    "square": lambda v: v * v,
    "shift": lambda v: v + 0.3,
    "half": lambda v: 0.5 * v,
}


def dispatch(x):
    """A table of functions, picked by name."""
    for name in ["sin", "square", "shift", "half"] * 50:
        x = TABLE[name](x)
    return x


CODE = "x 2 * x x * + 3 x / - x 0.5 * +"


def machine(x):
    """A stack machine."""
    apply = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    stack = []
    for word in CODE.split() * 20:
        if word in apply:
            b, a = stack.pop(), stack.pop()
            stack.append(apply[word](a, b))
        else:
            stack.append(x if word == "x" else float(word))
    total = 0.0
    while stack:
        total = total + stack.pop()
    return total


def memoized(x):
    """A recursion that remembers."""

    @functools.lru_cache(None)
    def value(n):
        return x if n < 2 else 0.5 * value(n - 1) + 0.4 * value(n - 2) * x

    return value(150)


def generators(x):
    """Generators that feed each other."""

    def powers(v):
        while True:
            yield v
            v = 0.9 * v * x + 0.1

    def pairs(source):
        for v in source:
            yield v * next(source) + v

    total = 0.0
    for _, v in zip(range(100), pairs(powers(x)), strict=False):
        total = total + v
    return total


def vectors(x):
    """200 operations on a small array."""
    y = x
    for _ in range(100):
        y = np.sin(y) + x
    return np.sum(y)


def _random(*shape):
    return numpy.random.default_rng(7).normal(size=shape) / shape[-1] ** 0.5


PROGRAMS: dict[str, tuple[Any, Any]] = {
    "objects, 20 x 50": (objects, 0.7),
    "Newton, 200 steps": (newton, 2.0),
    "recursion, depth 200": (recursion, 0.1),
    "elements, n = 300": (elements, 0.5 + 0.001 * numpy.arange(300.0)),
    "elements, n = 3000": (elements, 0.5 + 0.0001 * numpy.arange(3000.0)),
    "heat, n = 50": (heat, numpy.linspace(0.0, 1.0, 50)),
    "heat, n = 100000": (heat, numpy.linspace(0.0, 1.0, 100000)),
    "mlp, 8 x 8": (mlp, _random(8, 8)),
    "mlp, 200 x 200": (mlp, _random(200, 200)),
    "layers in a list, 8 x 8": (layers, [_random(8, 8) for _ in range(4)]),
    "layers in a list, 100 x 100": (layers, [_random(100, 100) for _ in range(4)]),
    "table of functions": (dispatch, 0.4),
    "stack machine": (machine, 0.8),
    "memoized recursion": (memoized, 0.8),
    "generators": (generators, 0.8),
    "vectors, 200 operations": (vectors, numpy.linspace(0.0, 1.0, 8)),
}


def _with(module: Any, f: Any) -> Any:
    """The program, with `np` of another module."""
    space = {**globals(), "np": module}
    space["TABLE"] = {k: types.FunctionType(v.__code__, space) for k, v in TABLE.items()}
    return types.FunctionType(f.__code__, space, f.__name__)


def peer(f: Any, x: Any) -> Any:
    """The gradient by autograd; None where it is not installed, or cannot run the program."""
    try:
        import autograd

        other = autograd.grad(_with(autograd.numpy, f))
        other(x)
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return other


def compared(name: str) -> tuple[float, float, float | None]:
    """Medians: (seconds of the plain run, recorded / plain, recorded / autograd)."""
    f, x = PROGRAMS[name]
    recorded, other = grad(f), peer(f, x)
    ours = recorded(x)
    if other is not None:
        for a, b in zip(*(v if isinstance(v, list) else [v] for v in (ours, other(x))), strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-8)
    ways = [f, recorded] + ([other] if other is not None else [])
    times = []
    for _ in range(ROUNDS):
        times.append([])
        for way in ways:
            start = time.process_time()
            way(x)
            times[-1].append(time.process_time() - start)
    plain = statistics.median(t[0] for t in times)
    ratio = statistics.median(t[1] for t in times) / plain
    return plain, ratio, None if other is None else statistics.median(t[1] / t[2] for t in times)


def main() -> None:
    """Print the table."""
    print("| program | plain, ms | recorded / plain | recorded / autograd |\n|---|---|---|---|")
    for name in PROGRAMS:
        if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
            plain, ratio, against = compared(name)
            print(f"| {name} | {1e3 * plain:.3f} | {ratio:.0f} | {'-' if against is None else f'{against:.2f}'} |")


if __name__ == "__main__":
    main()
