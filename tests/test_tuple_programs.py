"""Random programs about tuples whose items are read one by one, or not at all: what nobody reads needs no rule."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest
from scipy import special

from s2sgrad import NoRule, grad, jvp

NUMBERS = ("a", "b", "c")


class Writer:
    """The text of the program of a number."""

    def __init__(self, seed: int) -> None:
        self.rng, self.lengths, self.indent = random.Random(f"{seed}/tuples"), {}, "    "
        self.lines = ["def f(x, s):", "    a, b, c = x[0] * s, x[1] * x[2], s * 2.0", "    y = x * s"]
        for _ in range(self.rng.randint(4, 9)):
            getattr(self, self.rng.choice(("made", "made", "copied", "unpacked", "unpacked", "read", "stored", "block")))()
        self.lines.append("    return a * b + np.sin(c) + np.sum(y * y)")
        self.text = "\n".join(self.lines) + "\n"

    def write(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def value(self) -> str:
        return self.rng.choice((*NUMBERS, "y", "x", "s", "special.itstruve0(y * y)"))

    def made(self) -> None:
        name, size = f"q{self.rng.randint(0, 2)}", self.rng.randint(2, 3)
        self.write(f"{name} = ({', '.join(self.value() for _ in range(size))})")
        self.lengths[name] = size

    def known(self) -> str:
        if not self.lengths:
            self.made()
        return self.rng.choice(sorted(self.lengths))

    def copied(self) -> None:
        name, other = self.known(), f"q{self.rng.randint(0, 2)}"
        self.write(f"{other} = {name}")
        self.lengths[other] = self.lengths[name]

    def unpacked(self) -> None:
        name = self.known()
        targets = [f"v{self.rng.randint(0, 3)}" for _ in range(self.lengths[name])]
        self.write(f"{', '.join(targets)} = {name}")
        self.write(f"{self.rng.choice(NUMBERS)} = np.sum({self.rng.choice(targets)}) * 0.7 + {self.rng.choice(NUMBERS)}")

    def read(self) -> None:
        name = self.known()
        place, target, factor = self.rng.choice((0, 1, -1)), self.rng.choice(NUMBERS), self.rng.choice(NUMBERS)
        self.write(f"{target} = np.sum({name}[{place}]) * {factor}")

    def stored(self) -> None:
        self.write(f"y[{self.rng.randint(0, 2)}] = {self.rng.choice(NUMBERS)}")

    def block(self) -> None:
        if self.indent == "    ":
            self.write(self.rng.choice(("for i in range(2):", "if s > 0.1:", "if s > 0.9:")))
            self.indent += "    "
            self.write("c = c * 0.5 + a")
        else:
            self.indent = "    "


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed):
    text = Writer(seed).text
    filename = f"<tuples {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"np": np, "special": special}
    exec(compile(text, filename, "exec"), space)
    f, x, s, h = space["f"], np.array([0.6, 0.8, 1.1]), 0.5, 1e-6
    try:
        x_bar, s_bar = grad(f, (0, 1))(x, s)
        tangent = jvp(f, (x, s), (np.ones(3), 1.0))[1]
    except NoRule:
        return
    except UnboundLocalError:
        pytest.skip("a tuple of a branch that is not taken")
    slopes = [(f(x + h * e, s) - f(x - h * e, s)) / (2 * h) for e in np.eye(3)]
    slope = (f(x, s + h) - f(x, s - h)) / (2 * h)
    np.testing.assert_allclose(x_bar, slopes, rtol=1e-4, atol=1e-5, err_msg=text)
    np.testing.assert_allclose([s_bar, tangent], [slope, np.sum(slopes) + slope], rtol=1e-4, atol=1e-5, err_msg=text)
