"""Random programs in which a local integer moves on while a view that was made with it lives and is written.

    v = y[k:]; k += 1; v[0] = y[0] * 2.0      # v stays where it was

`cursor_program(7)` is the same program on every machine.
"""

from __future__ import annotations

import random

from programs import Program, draw_arguments

VECTOR = (4,)
FORMS = ("y[{k}:]", "y[:{k} + 2]", "y[{k}:{k} + 2]", "y[::{k} + 1]", "y[{k}:][:2]", "y[{k}:].reshape(-1)", "A[{k}]",
         "A[:, {k}]", "A[{k}, {j}:]", "A[{k}:, 1]", "A[{k}:]", "A.T[{k}]")  # fmt: skip
MOVES = ("{k} = ({k} + 1) % 3", "{k} += 1; {k} %= 3", "{k} = 2 - {k}", "{k} //= 2", "{k} -= {k} // 2", "{k} *= 0",
         "{k} = {j}", "k, j = j, k")  # fmt: skip
STORES = ("{v}[0] = y[1] * s", "{v}[0] = x[1] * s", "{v}[...] *= 1.1", "{v} *= 0.9", "{v}[-1] += x[0] * 0.3",
          "{v}[:] = {v} * 0.7", "y[{k}] = np.sin(x[{k}])", "A[{k}] *= x[{k}]", "A[{k}, {j}] = y[{k}]")  # fmt: skip
READS = ("s += np.sum({v} * {v})", "s = s * 0.5 + y[{k}]", "s += A[{k}, 0]")
HEADS = ("for i in range(1):", "for i in range(3):", "if x[0] > 0.0:", "if x[0] > 1.0:", "for {k} in range(3):")


def cursor_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"cursors {seed}")
    writer = _Writer(rng)
    for _ in range(rng.randint(4, 9)):
        writer.statement(1)
    views = "".join(f" + np.sum({v} * x[0])" for v in sorted(set(writer.views)))
    heads = ["y = x * 1.0", "A = np.outer(x[:3], x)", f"k = {rng.randrange(3)}", f"j = {rng.randrange(3)}", "s = 0.0"]
    lines = [*(f"    {head}" for head in heads), *writer.lines]
    end = f"    return np.sum(y * y) + np.sum(A * A * 0.3) + s * s{views}"
    source = "\n".join(["import numpy as np", "", "", "def f(x):", *lines, end, ""])
    args = draw_arguments(rng, (VECTOR,), digits=5)
    return Program(source, args, frozenset(writer.features), seed, (VECTOR,), "cursor_program")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.views: list[str] = []
        self.features: set[str] = set()

    def statement(self, depth: int) -> None:
        rng = self.rng
        kind = rng.choices(("view", "move", "store", "read", "block"), (30, 22, 28, 10, 10 if depth < 3 else 0))[0]
        self.features.add(kind)
        view = rng.choice(self.views) if self.views and rng.random() < 0.7 else "y"
        names = {"k": rng.choice("kj"), "j": rng.choice("kj"), "v": view}
        if kind == "view":
            self.views.append(rng.choice("uvw"))
            self.emit(f"{self.views[-1]} = {rng.choice(FORMS)}", names, depth)
        elif kind == "block":
            self.emit(rng.choice(HEADS), names, depth)
            for _ in range(rng.randint(1, 3)):
                self.statement(depth + 1)
        else:
            self.emit(rng.choice({"move": MOVES, "store": STORES, "read": READS}[kind]), names, depth)

    def emit(self, line: str, names: dict[str, str], depth: int) -> None:
        self.lines.append("    " * depth + line.format(**names))
