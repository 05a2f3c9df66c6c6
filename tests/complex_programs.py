"""Random programs with real and complex arrays: arithmetic of both, parts, stores, loops, branches, containers, calls.

`program(seed)` gives the text of `f(x, z)`, of three real and three complex numbers, which returns a real number.
"""

from __future__ import annotations

import random

HEAD = """
def both(a, b):
    return a * b + 0.5


def square_or_conjugate(a, n):
    return np.conj(a) if n == 0 else square_or_conjugate(a * a * 0.3 + 0.1, n - 1)


"""
TO_REAL = [
    "{0}.real",
    "{0}.imag",
    "np.abs({0} + 2.0)",
    "np.real({0})",
    "np.abs({0}) ** 2",
    "np.angle({0} + 3.0)",
    "{0}.real * {0}.imag",
    "np.abs(np.sum({0})) * {0}.real",
    "({0} + 0.0).view(float)[1:4]",
    "np.linalg.norm({0} + 1.0) * np.angle({0} + 4.0)",
]
OF_COMPLEX = ["np.exp(0.3 * {0})", "np.sin(0.4 * {0})", "np.conj({0})", "{0} * {0} * 0.3", "np.fft.fft({0}) * 0.4",
              "np.fft.ifft({0})", "1.0 / ({0} + 4.0)", "np.sqrt({0} + 5.0)", "np.cumsum({0}) * 0.5", "{0}[::-1]",
              "{0}[[2, 0, 0]]", "both({0}, 1j)", "square_or_conjugate({0}, 2)", "np.stack([{0}, {0} * 1j])[1]",
              "np.log({0} + 4.0)", "-{0}", "np.sort({0}) * 0.7", "np.sign({0} + 3.0)", "np.clip({0}, -1 - 1j, 1 + 1j)",
              "np.maximum({0}, 0.1j)", "np.convolve({0}, {0}, 'same') * 0.2", "np.outer({0}, {0}.conj())[1] * 0.4",
              "({0} * 0.9).view(float).reshape(2, 3)[1] * 1j", "np.linalg.solve(np.diag({0}) + 4.0 * np.eye(3), {0})",
              "np.real_if_close({0} * 0.8)", "np.nan_to_num({0})"]  # fmt: skip
OF_REAL = ["np.sin({0})", "{0} * {0} * 0.5", "np.tanh({0})", "both({0}, 0.7)", "np.maximum({0}, 0.1)", "{0}[::-1]",
           "np.fft.irfft(np.fft.rfft({0}), 3)", "np.where({0} > 0.2, {0}, 0.3 * {0})"]  # fmt: skip
TO_COMPLEX = ["{0} * 1j", "{0} + 0.5j", "np.exp(1j * {0})", "{0}.astype(complex)", "np.fft.fft({0})",
              "({0} + 0j) ** 2 * 0.4", "square_or_conjugate({0} * 0.5 + 0.2j, 1)"]  # fmt: skip


class Maker:
    """One program: `real` and `complex` are the names of arrays, each with memory of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.real, self.complex, self.lines, self.count = ["x"], ["z"], [], 0

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def of(self, kind: str) -> str:
        return self.random.choice(self.real if kind == "r" else self.complex)

    def expression(self, kind: str) -> str:
        choose = self.random.choice
        if kind == "r":
            return choose([choose(TO_REAL).format(self.of("c")), choose(OF_REAL).format(self.of("r")),
                           f"{self.of('r')} {choose('+-*')} {self.of('r')}"])  # fmt: skip
        return choose([choose(OF_COMPLEX).format(self.of("c")), choose(TO_COMPLEX).format(self.of("r")),
                       f"{self.of('c')} {choose('+-*')} {self.of(choose('rc'))} * 0.6",
                       f"{self.of('r')} {choose('+-*')} {self.of('c')} * 0.6"])  # fmt: skip

    def bind(self, indent: str) -> None:
        kind, name = self.random.choice("rccc"), self.new()
        self.lines.append(f"{indent}{name} = {self.expression(kind)} + 0.0")
        (self.real if kind == "r" else self.complex).append(name)

    def update(self, indent: str) -> None:
        """A change of what was bound, in place or not; a name keeps its kind."""
        owned = [n for n in self.complex if n != "z"]
        if not owned:
            return
        name, choose = self.random.choice(owned), self.random.choice
        k = choose([0, 1])
        self.lines.append(indent + choose([
            f"{name} = {name} * 0.5 + {self.expression('c')} * 0.4",
            f"{name} += {self.expression(choose('rc'))} * 0.3",
            f"{name} *= {self.expression(choose('rc'))} * 0.5",
            f"{name}[{k}:] = ({self.expression(choose('rc'))})[{k}:]",
            f"{name}[{k}] = {self.of(choose('rc'))}[{k + 1}] * 0.7",
            f"{name}[{k}:] *= 0.5j",
            f"{name}.real[{k}:] = ({self.expression('r')})[{k}:]",
            f"{name}.imag[{k}] = {self.of('r')}[{k}]",
            f"{name}.imag[:] += {self.expression('r')} * 0.5",
            f"{name}.real = {self.expression('r')} * 0.5",
            f"{name}.imag *= {self.of('r')}",
        ]))  # fmt: skip

    def block(self, indent: str) -> None:
        self.update(indent)
        self.update(indent)

    def statement(self) -> None:
        kind = self.random.randrange(10)
        indent = "    "
        if kind < 4:
            self.bind(indent)
        elif kind < 6:
            self.update(indent)
        elif kind == 6:
            self.lines.append(f"{indent}for k in range(3):")
            self.lines.append(f"{indent}    s = k")
            self.block(indent + "    ")
        elif kind == 7:
            self.lines.append(f"{indent}if np.sum(np.abs({self.of('c')})) > {self.random.choice(['0.5', '3.0', '50.0'])}:")
            self.lines.append(f"{indent}    s = 1.0")
            self.block(indent + "    ")
        elif kind == 8:
            name, held = self.new(), self.random.choice(["[{}, {}]", "{{0: {}, 1: {}}}", "({}, {})"])
            self.lines.append(f"{indent}h{name} = {held.format(self.of('c'), self.of('r'))}")
            self.lines.append(f"{indent}{name} = h{name}[0] * h{name}[1]")
            self.complex.append(name)
        else:
            name = self.new()
            self.lines.append(f"{indent}{name} = 0.0")
            self.lines.append(f"{indent}for k in range(3):")
            self.lines.append(f"{indent}    {name} = {name} * 0.5 + {self.of('r')}[k] * {self.of('c')}")
            self.complex.append(name)

    def text(self) -> str:
        for _ in range(self.random.randrange(3, 9)):
            self.statement()
        ends = [f"np.sum({self.expression('r')})" for _ in range(2)] + [f"np.sum(np.abs({self.complex[-1]} + 1.5))"]
        return HEAD + "\n".join(["def f(x, z):", *self.lines, f"    return {' + '.join(ends)}", ""])


def program(seed: int) -> str:
    """The text of a program."""
    return Maker(seed).text()
