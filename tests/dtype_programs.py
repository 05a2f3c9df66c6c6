"""Random programs over arrays of bytes, short integers, booleans and short floats beside the floats that are differentiated.

    n = b + b; y = y * -n; s += x[i] * (n[i] - h[i]); y += np.where(m, y, n)

Small integers wrap around, and an array of them may come under a type that nobody knows before the program runs:
arithmetic that is right for floats is not right for these.  `dtype_program(7)` is the same program on every machine.
"""

from __future__ import annotations

import random

from programs import Program, draw_arguments

VECTOR = (4,)
SETUP = (
    "b = np.array([{0}, {1}, {2}, {3}], np.uint8)", "b = BYTES", "b = BYTES.astype(KINDS[{k}])",
    "b = np.array([{0}, {1}, {2}, {3}]).astype(KINDS[{k}])", "b = np.frombuffer(RAW, np.uint8)", "b = TABLE['b']",
    "b = BYTES[::-1].copy()", "b = np.array([{0}, {1}, {2}, {3}], dtype='int16') * 100",
)  # fmt: skip
WHOLE = (
    "n + n", "-n", "b + n", "n - b", "n * b", "-(n + b)", "n * 2", "n // 3", "n % 7", "n & b", "n + m", "np.abs(n)",
    "n[::-1]", "np.minimum(n, b)", "n * m", "np.where(m, n, b)", "n + b + n", "np.roll(n, 1)", "h * n", "h + h", "m",
    "n ** 2", "m ^ (n > b)", "np.full(4, n[0])", "n + n[1]", "f", "f + f", "f * n", "np.repeat(n[1] + n[2], 4)",
    "np.zeros(4, n.dtype) - n",
)  # fmt: skip
FLOATS = (
    "y * n", "n * y", "y + n * x", "-n * y", "y * -n", "y - -n * x", "y * (n + n)", "y * (n * b)", "(n * b) * y",
    "n * (b * y)", "n * (b * (y * x))", "(y * n) * b", "x * n + y * n", "n * x - n * y", "np.where(m, y, n)",
    "np.where(m, y * n, x)", "y * m", "y * (x > 0.3)", "y * ((x > 0.3) + (y > 0.1))", "y / (n + 1.5)",
    "x * (n[0] + n[1])", "-n[2] * y", "y ** 2 * n", "np.sin(y) * (n - b)", "y + np.sum(x * n)", "np.dot(x, n + n) * y",
    "y * np.sum(n)", "y * np.sum(m)", "x * f + y * f", "y * len(n)", "y * n.size", "np.maximum(y, n * 0.01)",
    "y * np.mean(n)", "(n + n) * x ** 2", "y * (-n) ** 2", "y * n.astype(float)", "np.outer(y, n)[0]",
    "(x * n) @ np.ones((4, 4))", "1.0 * n * y", "(n + 0) * y", "n * 1 * b * y",
)  # fmt: skip
UPDATES = (
    "y *= n", "y += n", "y -= n * x", "y[1:] *= n[1:] + n[1:]", "y[0] += n[0] * x[1]", "y[m] *= 2.0",
    "y[m] += (n * x)[m]", "n = n + b", "n *= b", "n += n", "n[0] = n[1] + n[1]", "y[n % 4] = x * -n",
)  # fmt: skip
HEADS = ("for i in range(4):", "for i, v in enumerate(n):", "if x[0] > 0.3:", "if n[0] > b[1]:", "for _ in range(2):")
INNER = {
    "for i in range(4):": (
        "s += x[i] * (n[i] + n[i])", "s += -n[i] * y[i]", "y[i] *= n[i] * b[i] * 0.01", "s += x[i] * m[i]",
    ),
    "for i, v in enumerate(n):": (
        "s += v * x[i] * v", "s -= x[i] * -v", "y[i] = y[i] * (v + v) * 0.01", "s = s * 0.5 + (v - 1) * y[i]",
    ),
}  # fmt: skip
HEAD = """\
import numpy as np

BYTES = np.array([200, 100, 60, 7], np.uint8)
RAW = bytes([255, 130, 66, 3])
TABLE = {"b": np.array([-100, 90, 60, -128], np.int8)}
KINDS = ["uint8", np.int8, np.dtype("int16"), "float32", "bool", "uint16"]


def f(x, z):
    with np.errstate(all="ignore"):
"""


def dtype_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"dtypes {seed}")
    writer = _Writer(rng)
    for _ in range(rng.randint(2, 7)):
        writer.statement(2)
    numbers = [rng.choice((1, 3, 60, 100, 120)) for _ in range(4)]
    setup = rng.choice(SETUP).format(*numbers, k=rng.randrange(6))
    heads = [setup, rng.choice(("n = b", "n = b + b", "n = b.copy()", "n = b * b")), "m = b > 70",
             "h = np.array([100, -100, 30, 7], np.int8)", "f = np.array([0.1, 0.7, 1.3, -0.4], np.float32)",
             "y, s = z * 1.0, x[0]"]  # fmt: skip
    lines = [*(f"        {head}" for head in heads), *writer.lines]
    end = "        return np.sum(y * x) * 0.001 + np.sum(np.tanh(y * 0.01)) + s * 0.01"
    source = HEAD + "\n".join([*lines, end, ""])
    args = draw_arguments(rng, (VECTOR, VECTOR), digits=5)
    return Program(source, args, frozenset(writer.features), seed, (VECTOR, VECTOR), "dtype_program")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.features: set[str] = set()

    def statement(self, depth: int) -> None:
        rng = self.rng
        kind = rng.choices(("whole", "float", "update", "block"), (25, 45, 20, 15 if depth < 4 else 0))[0]
        self.features.add(kind)
        if kind == "block":
            head = rng.choice(HEADS)
            self.emit(head, depth)
            if head in INNER:
                self.emit(rng.choice(INNER[head]), depth + 1)
                return
            for _ in range(rng.randint(1, 2)):
                self.statement(depth + 1)
        elif kind == "whole":
            self.emit(f"n = {rng.choice(WHOLE)}", depth)
        elif kind == "float":
            self.emit(f"y = {rng.choice(FLOATS)} * 0.1" if rng.random() < 0.3 else f"y = {rng.choice(FLOATS)}", depth)
        else:
            self.emit(rng.choice(UPDATES), depth)

    def emit(self, line: str, depth: int) -> None:
        self.lines.append("    " * depth + line)
