"""Random programs that raise: `try` around stores, updates and loops, in loops and in each other, left in every way.

`exception_program(seed)` writes the same program again.  What raises depends on the data as often as on the text; what a
piece has bound, stored or appended before another one raises is read by the handler, by `finally` and by what follows.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (4,)
PRELUDE = """import contextlib
import math

import numpy as np


def checked(t, limit=0.8):
    if t > limit:
        raise ValueError("large")
    return t * t + 0.5 * t


def scaled_at(u, k, c):
    if k > 2:
        raise IndexError("far")
    u[k] = u[k] * c + u[k + 1]


"""
KINDS = ("ValueError", "IndexError", "KeyError", "(ValueError, IndexError)", "LookupError", "Exception", "ArithmeticError")
RAISED = ("ValueError", "IndexError", "KeyError", "ZeroDivisionError")


def exception_program(seed: int) -> Program:
    """Write the program of this number."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    source = writer.text()
    kinds = (VECTOR, NUMBER)
    return Program(source, draw_arguments(rng, kinds), frozenset(writer.features), seed, kinds, "exception_program")


ONE = (
    "math.sqrt(%s)", "math.log(%s)", "table['p']", "table['z']", "items[1]", "items[5]", "1.0 / (%s - %s)", "u[2]", "u[9]",
    "np.linalg.cholesky(np.eye(2) * %s)[0, 0]", "math.exp(%s) * b", "float(%s)", "int('2x') * %s", "len(items) * %s",
)  # fmt: skip


def expression_program(seed: int) -> Program:
    """Write the program of this number in which each `try` is around one expression, so that it has a text."""
    rng = random.Random(seed)
    writer = _Expressions(rng)
    kinds = (VECTOR, NUMBER)
    args = draw_arguments(rng, kinds)
    return Program(writer.text(), args, frozenset(), seed, kinds, "expression_program")


class _Expressions:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []

    def text(self) -> str:
        for _ in range(self.rng.randint(2, 5)):
            self.block(1)
        first = ["def f(x, c):", "    a, b, total = c * x[0], x[1], 0.3", "    table, items, u = {'p': c}, [x[0], c], x * c"]
        last = ["    return total * b + a * np.sum(u)"]
        return PRELUDE + "\n".join([*first, *self.lines, *last]) + "\n"

    def line(self, deep: int, text: str) -> None:
        self.lines.append("    " * deep + text)

    def expression(self) -> str:
        text = self.rng.choice(ONE)
        return text % tuple(self.rng.choice(("a", "b", "total", "x[2]", "-a", "c")) for _ in range(text.count("%s")))

    def target(self) -> str:
        return self.rng.choice(("a", "b", "total"))

    def block(self, deep: int) -> None:
        draw = self.rng.random()
        if draw < 0.25 and deep < 3:
            self.line(deep, f"for k in range({self.rng.randint(1, 3)}):")
            self.block(deep + 1)
            self.line(deep, "    total = total * 0.7 + a * b")
        elif draw < 0.35 and deep < 3:
            self.line(deep, f"if {self.target()} > {self.rng.choice((0.2, 0.7, -1.0))}:")
            self.block(deep + 1)
        else:
            self.attempt(deep)

    def attempt(self, deep: int) -> None:
        rng = self.rng
        kinds = rng.sample((*KINDS, "np.linalg.LinAlgError", "TypeError"), rng.randint(1, 3))
        bound = f"    {self.target()} = {self.expression()}"
        if rng.random() < 0.15:
            self.line(deep, f"with contextlib.suppress({', '.join(kinds)}):")
            self.line(deep, bound)
            return
        self.line(deep, "try:")
        self.line(deep, bound)
        for kind in kinds:
            self.handler(deep, kind)
        if rng.random() < 0.3:
            self.line(deep, "else:")
            self.line(deep, f"    {self.target()} += {rng.choice(('a * b', 'x[2]'))}")
        if rng.random() < 0.2:
            self.line(deep, "finally:")
            self.line(deep, "    print('done')")

    def handler(self, deep: int, kind: str) -> None:
        draw = self.rng.random()
        self.line(deep, f"except {kind}:" if draw < 0.7 or draw > 0.8 else f"except {kind} as error:")
        if 0.7 < draw < 0.8:
            self.line(deep, "    raise RuntimeError(f'no: {error}') from error")
        elif draw > 0.9 and deep < 3:
            self.block(deep + 1)
        else:
            value = self.rng.choice(("a * b", "x[2] * c", "total + a"))
            body = "pass" if draw < 0.1 else "return total * a + b" if draw < 0.2 else f"{self.target()} = {value}"
            self.line(deep, f"    {body}")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.features: set[str] = set()
        self.loops: list[str] = []  # their counters
        self.counters = 0
        self.fresh = 0
        self.final = 0  # how many `finally` are around, out of which nothing leaves

    def text(self) -> str:
        rng = self.rng
        self.line("total, a, b = 0.3, c * x[0], 0.0")
        self.line("y, items, table = x * c, [c, x[1]], {'p': c, 'q': x[2]}")
        if rng.random() < 0.65:
            self.a("around all")
            self.attempt(2, kind="Exception")
        else:
            for _ in range(rng.randint(1, 2)):
                self.statement(2, compound=True)
        ending = "np.tanh(0.1 * total) + c * a + 0.3 * b * x[0] + np.sum(y * x) + 0.1 * sum(items) + table['p'] * table['q']"
        return PRELUDE + "def f(x, c):\n" + "\n".join(self.lines) + f"\n    return {ending}\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def a(self, feature: str) -> None:
        self.features.add(feature)

    def pick(self, **ways: object) -> object:
        name = self.rng.choice(list(ways))
        self.a(name.replace("_", " "))
        return ways[name]

    # --- expressions: numbers, some of which raise ---

    def index(self) -> str:
        return self.rng.choice((*self.loops, "0", "1", "2", "3", "-1", "1"))

    def safe(self) -> str:
        return self.rng.choice(("a", "b", "c", "x[0]", "x[1]", "y[2]", "y[0]", "items[0]", "table['p']", "1.5", "total"))

    def value(self) -> str:
        rng, t = self.rng, self.safe()
        if rng.random() < 0.45:
            return rng.choice((t, f"{t} * {self.safe()}", f"np.sin({t})", f"0.5 * {t} - {self.safe()}"))
        self.a("raises")
        return rng.choice((
            f"math.sqrt({t})", f"math.log({t} + 0.5)", f"checked({t})", f"x[{self.index()} + {rng.randint(1, 3)}]",
            f"y[{rng.randint(2, 5)}]", f"table['{rng.choice('pqr')}'] * c", f"items[{self.index()}]",
            f"1.0 / math.floor({t})", f"checked({t}, 0.2) * math.sqrt({self.safe()})",
            f"sum([math.sqrt(v + 1.5) * {t} for v in x])",
        ))  # fmt: skip

    def test(self) -> str:
        rng = self.rng
        tests = [f"{self.safe()} > {rng.choice(('0.3', '-0.4', '0.8'))}", f"{self.value()} < 0.6", "len(items) > 3"]
        tests += [f"{self.loops[-1]} == {rng.randint(0, 3)}"] * 2 if self.loops else []
        return rng.choice(tests)

    # --- statements ---

    def block(self, deep: int, least: int = 1, most: int = 3) -> None:
        self.depth += 1
        for _ in range(self.rng.randint(least, most)):
            self.statement(deep)
        self.depth -= 1

    def statement(self, deep: int, compound: bool = False) -> None:
        rng = self.rng
        if deep > 0 and (compound or rng.random() < 0.35):
            return rng.choice((self.attempt, self.attempt, self.loop, self.loop, self.branch, self.suppressed))(deep - 1)
        rng.choice((self.bind, self.bind, self.update, self.update, self.store, self.store, self.grow, self.leave, self.told,
                    self.unpack, self.write))()  # fmt: skip

    def bind(self) -> None:
        self.line(f"{self.rng.choice('ab')} = {self.value()}")

    def update(self) -> None:
        target = self.rng.choice(("total", "a", "b", f"y[{self.index()}]", "table['p']", "y", "y[1:]"))
        value = self.value() if target not in ("y", "y[1:]") else self.rng.choice((self.value(), "x", "x[:3]", "y[:-1] * c"))
        self.a(f"update of {'a name' if len(target) < 6 and target != 'y' else target[:1]}")
        self.line(f"{target} {self.rng.choice(('+=', '-=', '*='))} 0.7 * {value}")

    def store(self) -> None:
        self.a("store")
        target = self.rng.choice((f"y[{self.index()}]", f"y[{self.rng.randint(2, 5)}]", "items[1]", "items[3]", "table['p']",
                                  f"table['{self.rng.choice('rs')}']", "y[:2]"))  # fmt: skip
        value = self.value() if target != "y[:2]" else self.rng.choice((self.value(), "x[:3]", "x[2:] * c"))
        self.line(f"{target} = {value}")

    def grow(self) -> None:
        self.a("append")
        value = f"items.append(0.5 * {self.value()})"
        self.line(value if self.rng.random() < 0.7 else f"{self.rng.choice('ab')} = items.pop()")

    def write(self) -> None:
        self.a("writer")
        self.line(f"scaled_at(y, {self.rng.choice((*self.loops, '1', '0', '3'))}, {self.safe()})")

    def unpack(self) -> None:
        self.a("unpack")
        self.line(f"a, b = {self.rng.choice((f'{self.value()}, {self.value()}', 'x[1:3]', 'x[1:]', 'y[:2]'))}")

    def told(self) -> None:
        self.line(f"print({self.value()})")

    def leave(self) -> None:
        rng = self.rng
        kinds = ["raise", "raise", "assert"]
        if not self.final:
            kinds += ["return"] + (["break", "continue"] * 2 if self.loops else [])
        kind = rng.choice(kinds)
        self.a(kind)
        if kind == "assert":
            self.line(f"assert {self.test()}, 'so'")
            return
        always = rng.random() < 0.15
        if not always:
            self.line(f"if {self.test()}:")
            self.depth += 1
        ways = {"raise": f"raise {rng.choice(RAISED)}('no')", "return": f"return {self.value()} + np.sum(y)"}
        self.line(ways.get(kind, kind))
        self.depth -= not always

    def branch(self, deep: int) -> None:
        self.a("branch")
        self.line(f"if {self.test()}:")
        self.block(deep)
        if self.rng.random() < 0.5:
            self.line("else:")
            self.block(deep)

    def loop(self, deep: int) -> None:
        rng = self.rng
        self.counters += 1
        counter = f"k{self.counters}"
        if rng.random() < 0.25:
            self.a("while")
            self.line(f"{counter} = 0")
            self.line(f"while {rng.choice((f'{counter} < 4', f'y[{counter}] > -9.0 and {counter} < 6'))}:")
            self.line(f"    {counter} += 1")
        else:
            self.a("for")
            over = self.pick(range=f"range({rng.randint(2, 5)})", entries="x", enumerate="enumerate(y)", zip="zip(items, x)")
            target = {"e": f"{counter}, v", "z": f"v, {counter}"}.get(over[0], counter)
            target = f"v{self.counters}" if over == "x" else target.replace("v", f"v{self.counters}")
            self.line(f"for {target} in {over if over[0] != 'z' else 'zip(x, range(4))'}:")
            if over == "x":
                self.line(f"    total = 0.5 * total + v{self.counters}")
                counter = "1"
        self.loops.append(counter)
        outer, self.final = self.final, 0
        self.block(deep)
        self.final = outer
        self.loops.pop()
        if rng.random() < 0.15:
            self.a("loop with else")
            self.line("else:")
            self.loops, loops = [], self.loops
            self.block(0, 1, 1)
            self.loops = loops

    def suppressed(self, deep: int) -> None:
        self.a("suppress")
        self.line(f"with contextlib.suppress({self.rng.choice(KINDS[2:]).strip('()')}):")
        self.block(deep, 1, 3)

    def attempt(self, deep: int, kind: str = "") -> None:
        rng = self.rng
        self.a("try in a loop" if self.loops else "try")
        self.line("try:")
        self.block(deep, 1, 4)
        if kind or rng.random() < 0.92:
            for k in range(1 if kind or rng.random() < 0.7 else 2):
                told = rng.random() < 0.2
                self.line(f"except {kind or rng.choice(KINDS[:6] if k == 0 else KINDS)}{' as error' if told else ''}:")
                if told:
                    self.a("message")
                    self.line("    print(f'failed: {error}')")
                self.block(max(deep - 1, 0), 1, 2)
                if rng.random() < 0.1 and not self.final and not kind:
                    self.a("raised again")
                    self.line("    raise")
            if rng.random() < 0.2:
                self.a("try with else")
                self.line("else:")
                self.block(0, 1, 2)
            if rng.random() < 0.75:
                return
        self.a("finally")
        self.line("finally:")
        self.final += 1
        loops, self.loops = self.loops, [k for k in self.loops if k == "1"]
        self.depth += 1
        for _ in range(rng.randint(1, 2)):
            self.line(rng.choice(("total = total * 0.9 + a", "y[1] = y[0] * c", "b += 0.3 * a", "items.append(a)",
                                  "table['q'] *= 0.8", "y *= 0.9")))  # fmt: skip
        self.depth -= 1
        self.loops = loops
        self.final -= 1
