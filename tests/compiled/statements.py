"""Random programs of matrices, vectors, numbers and integers, as text."""

from __future__ import annotations

import random

HEAD = """import numpy as np

def helper(a, b):
    c = a * b
    for i in range(2):
        c = c + a[i] * c
    return c

def f(x, y, v, w, s, t, n, k, rows, places):
    x, y, v, w, ii, tape, z, o = x.copy(), y.copy(), v.copy(), w.copy(), 1, [], 0.0, None
    tape.append((v.copy(), s * 0.5))
"""

SECTIONS = ["1:", ":-1", "1:-1", ":", "::2", "n:", ":n", "ii:", ":ii", "-2:", "::-1"]

MATRICES = [
    "({m} {op} {m})", "({m} * {v})", "({m} * {s})", "np.sin({m})", "{m}[::-1]", "{m}[:, ::-1]", "{m}.copy()",
    "np.where({m} > {s}, {m}, {v})", "np.roll({m}, {shift}, axis={axis})", "np.outer({v}[:4], {v})", "np.maximum({m}, {v})",
    "{m}[rows]", "({m} - {m}.mean(axis=1, keepdims=True))", "{m}.reshape(5, 4).T",
    "{m}[rows[:, None], places[None, :]]", "np.concatenate([{m}[:2], {m}[1:3]])",
]  # fmt: skip
VECTORS = [
    "({v} {op} {v})", "({v} * {s})", "{m}[{place}]", "np.sum({m}, axis=0)", "{m}.max(axis=0)", "{v}[::-1]", "{v}.copy()",
    "({m}.T @ {m}[:, {axis}])", "np.cumsum({v})", "({m} @ {v})[places]", "np.roll({v}, n)", "np.abs({v})",
    "np.where({v} > {s}, {v}, {s})", "helper({v}, {s})",
]  # fmt: skip
NUMBERS = [
    "({s} {op} {s})", "{v}[{place}]", "{v}[k[1]]", "np.sum({m})", "np.sum({v})", "{m}[{place}, {axis}]", "({v} @ {v})",
    "np.mean({m})", "np.sum(k) * {s}", "np.tanh({s})", "len({v})", "np.argmax({v})", "np.sum({m} > {s})", "0.5", "n", "ii",
]  # fmt: skip
STATEMENTS = [
    "{V} = {v}", "{V} = {v}", "{M} = {m}", "{M} = {m}", "{S} = {s}", "{V}[{section}] {set} {s}", "{M}[{place}] {set} {v}",
    "{V}[{same}] {set} {v}[{same}]", "{M}[{same}, {same2}] {set} {m}[{same}, {same2}]", "{M}[:, {axis}] {set} {v}[1:]",
    "{M}[{m} > {s}] = {s}", "{V} += {v}", "{M} *= {m}", "x, y = y, x", "v, w = w, v * 0.5", "s, t = t, s",
    "{V} = {M}[{place}]", "p = ({s}, {v}); s = s + p[0] * 0.5; w = p[1] * 0.9", "v[k] += {v}[:3]",
    "{M}[rows[:3], k] {set} {v}[:3]", "{M}[{v}[1:] > {s}] {set} {v}",
    "z = {v}", "z = {s}", "z = {v}; z = z[1] * 0.5", "z = z * {s} - z", "{V} = {v} - z * {v}", "{M}[{place}] {set} z",
    "o = {v} * 1.0", "o = None", "{V} = {v} if o is None else o * {s}", "o = o if {s} > {s} else None",
    "tape.append(({v}.copy(), {s} * 1.0))", "r, z = tape.pop(); v = v + r * z; tape.append((r, z))",
]  # fmt: skip


class Statements:
    """A program; `names`: of matrices, vectors and numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.names, self.count = rng, {"m": ["x", "y"], "v": ["v", "w"], "s": ["s", "t"]}, 0

    def expression(self, kind: str, depth: int) -> str:
        """An expression of a matrix, a vector or a number."""
        forms = {"m": MATRICES, "v": VECTORS, "s": NUMBERS}[kind]
        if depth > 2 or self.rng.random() < 0.35:
            return self.rng.choice(self.names[kind])
        return self.filled(self.rng.choice(forms), depth + 1)

    def filled(self, form: str, depth: int) -> str:
        """A form with its operands."""
        pick = self.rng.choice
        same, same2 = pick(SECTIONS), pick(SECTIONS)
        while "{" in form:
            before, _, rest = form.partition("{")
            what, _, after = rest.partition("}")
            one = {
                "op": lambda: pick("+-*"), "shift": lambda: str(self.rng.randint(-3, 3)), "axis": lambda: pick("01"),
                "place": lambda: pick(["0", "-1", "n", "ii", "2", "n - 3"]), "section": lambda: pick(SECTIONS),
                "same": lambda: same, "same2": lambda: same2, "set": lambda: pick(["=", "+=", "*=", "-="]),
                "M": lambda: pick(self.names["m"]), "V": lambda: pick(self.names["v"]), "S": lambda: pick(["s", "t"]),
            }.get(what)  # fmt: skip
            form = before + (one() if one else self.expression(what, depth)) + after
        return form

    def block(self, least: int, most: int, depth: int) -> list[str]:
        """A block of statements."""
        return [line for _ in range(self.rng.randint(least, most)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        """The lines of a statement."""
        r = self.rng.random()
        if r < 0.1 and depth == 0:  # a new name
            kind = self.rng.choice("mv")
            self.count += 1
            name, value = f"{kind}{self.count}", self.expression(kind, 0)
            self.names[kind].append(name)
            return [f"{name} = {value}"]
        if r < 0.2 and depth < 2:
            trips = self.rng.choice(["range(3)", "range(n)", "range(1, 4)", "reversed(range(3))", "range(n - 2)"])
            return [f"for {self.rng.choice(['ii', 'j'])} in {trips}:", *indented(self.block(1, 4, depth + 1))]
        if r < 0.3 and depth < 2:
            lines = [self.filled("if {s} > {s}:", 1), *indented(self.block(1, 3, depth + 1))]
            return [*lines, "else:", *indented(self.block(1, 3, depth + 1))] if self.rng.random() < 0.5 else lines
        return [self.filled(self.rng.choice(STATEMENTS), 0)]

    def program(self) -> str:
        """The text of a module."""
        lines = [*self.block(3, 9, 0), "return x, y, v, w, s, t"]
        return HEAD + "".join(f"    {line}\n" for line in lines)


def indented(lines: list[str]) -> list[str]:
    """The lines of a block."""
    return ["    " + line for line in lines]
