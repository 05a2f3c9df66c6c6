"""Random programs that change things: stores of every form, views of views, lists, dicts and objects of arrays, aliases.

`mutation_program(seed)` writes the same program again.  Where `programs.py` draws expressions and control flow,
these programs draw *memory*: names that may share an array, and what is written by one of them while another is read.
Nothing says which programs are easy: whatever Python accepts is written, and a gradient is right or refused.

The values stay moderate (factors near one, sines), the arrays have four elements, or three rows of four.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR, PAIR, MATRIX = (4,), (2,), (3, 4)
VIEWS = ("{}[::-1]", "{}[:]", "{}.reshape(4)", "np.ravel({})", "np.asarray({})", "np.flip({})", "{}.T", "np.atleast_1d({})",
         "{}[...]", "{}.view()", "np.squeeze({})")  # fmt: skip
LETTERS = {
    VECTOR: "uvwxyz", PAIR: "pqr", MATRIX: "ABCM", NUMBER: "stcd", "list": ["xs", "ys"], "dict": "gh", "box": "o",
    "index": "ijk", "cursor": ["at", "now"], "mask": "m", "ints": ["ia", "ib"], "function": ["go", "do"],
}  # fmt: skip

HELPERS = {
    "scale": ("def scale(a, k):\n    a *= k", "effect"),
    "bump": ("def bump(a, k):\n    a[0] += k\n    return a", "vector"),
    "part": ("def part(a):\n    return a[1:3]", "pair"),
    "fresh": ("def fresh(a):\n    b = a.copy()\n    b[0] = 0.3\n    return b * a", "vector"),
    "same": ("def same(v):\n    return v", "vector"),
    "exchange": ("def exchange(a, b):\n    t = a.copy()\n    a[:] = b\n    b[:] = t", "two"),
    "capped": ("def capped(a, k):\n    if k > 0.4:\n        a[1] = k\n        return a\n    return a * 2.0", "vector"),
    "smooth": (
        "def smooth(a, k):\n    for i in range(1, 3):\n        a[i] = 0.5 * a[i] + 0.2 * k * (a[i - 1] + a[i + 1])",
        "effect",
    ),
    "total": ("def total(a, k):\n    s = 0.0\n    for v in a:\n        s += v * k\n    return s", "number"),
    "both": ("def both(a):\n    return a[:2], a[2:]", "pairs"),
    "descend": (
        "def descend(a, k):\n    if len(a) < 2:\n        return a[0]\n    a[0] *= k\n    return descend(a[1:], k) + a[0]",
        "number",
    ),
    "turned": (
        "def turned(a, k, n=0):\n    a[n] *= k\n    return turned(a, k, n + 1) if n < 2 else a[::-1]",
        "vector",
    ),
    "halves": ("def halves(parts):\n    parts = list(parts)\n    parts[0] = parts[0] / 2\n    return parts", "list"),
    "shrink": ("def shrink(parts, k):\n    for i in range(len(parts)):\n        parts[i] *= k", "list-effect"),
    "stacked": ("def stacked(parts):\n    parts.append(parts[-1] * parts[0])\n    return len(parts)", "list-effect"),
}

BOX = """class Box:
    def __init__(self, a, k=1.0):
        self.a = a
        self.k = k
        self.n = 0

    def scale(self, k):
        self.a *= k
        self.n += 1

    def put(self, i, v):
        self.a[i] = v
        return self

    def bind(self, v):
        self.a = v * self.k

    def grow(self, k):
        self.k += k
        return self.k

    def first(self):
        return self.a[0] * self.k

    def view(self):
        return self.a[1:3]

    def total(self):
        return np.sum(self.a * self.a) * self.k"""


# What a loop over rows does with a matrix `a`, vectors `u` and `v`, and the names `w` and `e` of one trip.
ROWS = """
    {w} = {a}[{i}] * {e}; {w} = {a}[{i}]; {w} = {a}[{i}].copy(); {w} = {w} + {a}[{i}]; {w} += {a}[{i}]
    {a}[{i}] = {w}; {a}[{i}] = {w} * {u}; {a}[{i}] += {w}; {a}[{i}] = {a}[{i} - 1] * 0.5; {a}[{i}:] += 0.1 * {a}[{i}]
    {a}[:, {i}] *= 0.9; {a}[{i}, {i}:] = {w}[{i}:]; {a}[{i}, :{i}] *= {e}; {a}[{i}:, {i}] -= 0.3 * {a}[{i}:, {i} + 1]
    {a} -= 0.1 * np.outer({u}[:3], {w}); {e} += {a}[{i}] @ {v}; {e} = {a}[{i}, 1] * {v}[{i}]; {v}[{i}] = {e}
    {v}[{i}] = {a}[{i}] @ {u}; {u}[{i}] += {e} * {v}[{i}]; {u} += {v}[{i}] * {a}[{i}]; {v}[{i}] = 0.5 * {v}[{i} - 1]
    {e}, {v}[{i}] = {v}[{i}], {u}[{i}]
"""
CELLS = """
    {a}[{i}, {j}] *= {e}; {a}[{i}, {j}] = {a}[{i}, {j} - 1] * 0.5; {e} += {a}[{i}, {j}] * {v}[{j}]
    {v}[{j}] -= {a}[{i}, {j}] * 0.3; {w}[{j}] = {a}[{i}, {j}]; {a}[{i}, {j}] += {u}[{i}] * {v}[{j}]
    {e} = {v}[{j}] * {u}[{i}]; {v}[{j}] = {e} * 0.7; {a}[{i}] += {a}[{j} % 3] * 0.2
    {a}[{i}, {j}], {v}[{j}] = {v}[{j}], {a}[{i}, {j}]
"""
ROWS, CELLS = ([part.strip() for part in text.replace("\n", ";").split(";") if part.strip()] for text in (ROWS, CELLS))


def mutation_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"mutation {seed}")
    writer = _Writer(rng)
    source, kinds = writer.write()
    args = draw_arguments(rng, kinds, digits=5)  # more of them than `draw_arguments` has by default: there are no ties
    return Program(source, args, frozenset(writer.features), seed, kinds, "mutation_program")


class _Writer:
    """The names of one function with what they hold, and the lines written so far."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, object] = {}  # name -> a shape, or "list", "dict", "box", "index", "mask", "pairs"
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0
        self.used: set[str] = set()
        self.features: set[str] = set()
        self.helpers = rng.sample(sorted(HELPERS), 3)

    def write(self) -> tuple[str, tuple]:
        rng = self.rng
        kinds = (VECTOR, *rng.choice(((NUMBER,), (VECTOR,), (MATRIX,), (NUMBER, MATRIX), ())))
        params = [self.fresh(kind) for kind in kinds]
        self.rich = rng.random() < 0.5  # in containers and objects
        if rng.random() < 0.75:  # the others may write their arguments
            for name in [n for n in params if self.names[n] != NUMBER]:
                self.hold(self.fresh(self.names.pop(name), also=name), f"{name}.copy()", None)
        while not self.of(VECTOR) or rng.random() < 0.5:
            self.made()
        for _ in range(rng.randint(3, 7)):
            self.statement()
        self.result()
        parts = ["import numpy as np"]
        parts += [BOX] if any("Box(" in line for line in self.lines) else []
        parts += [HELPERS[h][0] for h in self.helpers if h in self.used]
        parts.append("\n".join([f"def f({', '.join(params)}):", *self.lines]))
        return "\n\n\n".join(parts) + "\n", kinds

    # names

    def of(self, *kinds) -> list[str]:
        return [n for n, k in self.names.items() if k in kinds]

    def fresh(self, kind, also: str | None = None) -> str:
        letters = LETTERS[kind]
        taken = set(self.names) | {also}
        number = 0
        while True:
            for letter in letters:
                name = letter + str(number or "")
                if name not in taken and name not in self.used:
                    self.names[name] = kind
                    return name
            number += 1

    def pick(self, *kinds) -> str | None:
        names = self.of(*kinds)
        if not names:
            return None
        return names[-1] if self.rng.random() < 0.4 else self.rng.choice(names)

    def target(self, kind) -> str:
        """A name to bind: an old one of this kind, or a new one."""
        old = self.of(kind)
        return self.rng.choice(old) if old and self.rng.random() < 0.35 else self.fresh(kind)

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def hold(self, name: str, text: str, kind) -> None:
        """Bind a name to the value of a text."""
        if kind is not None:
            self.names[name] = kind
        self.emit(f"{name} = {text}")

    # expressions

    def index(self) -> str:
        loop = self.pick("index", "cursor")
        if loop and self.rng.random() < 0.6:
            return self.rng.choice((loop, loop, f"{loop} + 1", f"{loop} - 1", f"-1 - {loop}"))
        return str(self.rng.choice((0, 1, 2, 3, -1)))

    def constant(self) -> str:
        return self.rng.choice(("0.3", "0.7", "1.1", "0.9", "-0.8", "1.2"))

    def section(self) -> str:
        """An index that takes two elements of a vector."""
        forms = ["1:3", ":2", "2:", "::2", "1::2", "::-2", "-2:", "3:1:-1"]
        loop = self.pick("index", "cursor")
        if loop:
            forms += [f"{loop}:{loop} + 2"] * 3
        return self.rng.choice(forms)

    def number(self, depth: int = 1) -> str:
        rng, choice = self.rng, self.rng.random()
        if choice < 0.3 and (v := self.pick(VECTOR)):
            return f"{v}[{self.index()}]"
        if choice < 0.45 and (s := self.pick(NUMBER)):
            return s
        if choice < 0.5 and (a := self.pick(MATRIX)):
            return f"{a}[{rng.randrange(3)}, {self.index()}]"
        if choice < 0.55 and (p := self.pick(PAIR)):
            return f"{p}[{rng.randrange(2)}]"
        if choice < 0.62 and (o := self.pick("box")):
            return rng.choice((f"{o}.first()", f"{o}.a[1]", f"{o}.k", f"{o}.total()", f"{o}.grow(0.2)"))
        if choice < 0.68 and (xs := self.pick("list")):
            return f"{xs}[{rng.choice((0, -1))}][{self.index()}]"
        if choice < 0.72 and (d := self.pick("dict")):
            return f"np.sum({d}[{self.key()}])"
        if choice < 0.85 and depth and (v := self.pick(VECTOR, PAIR)):
            return rng.choice((f"np.sum({v} * {v})", f"{v} @ {v}", f"np.mean({v})", f"np.sin({self.number(0)})"))
        if choice < 0.95 and depth:
            return f"{self.number(0)} * {self.number(0)}"
        return self.constant()

    def vector(self, depth: int = 2) -> str:
        rng, choice = self.rng, self.rng.random()
        name = self.pick(VECTOR)
        if depth == 0 or choice < 0.15:
            if choice < 0.3 and (a := self.pick(MATRIX)):
                return rng.choice((f"{a}[1]", f"{a}[:, 2].repeat(2)[1:5]", f"{a}.sum(axis=0)", f"{a}[-1, ::-1]"))
            if choice < 0.4 and (xs := self.pick("list")):
                return f"{xs}[{rng.choice((0, -1))}]"
            if choice < 0.5 and (o := self.pick("box")):
                return f"{o}.a"
            if choice < 0.6 and (d := self.pick("dict")):
                return f"{d}[{self.key()}]"
            if name and choice > 0.6:  # a view that has no name
                return rng.choice(VIEWS).format(name)
            return name or "np.ones(4)"
        if choice < 0.35:
            return f"{self.constant()} * {self.vector(0)}"
        if choice < 0.5:
            return f"{self.vector(0)} * {self.vector(0)}"
        if choice < 0.6:
            return f"np.sin({self.vector(0)})"
        if choice < 0.7:
            return f"{self.vector(0)} + {self.number(0)}"
        if choice < 0.85:
            return f"{self.vector(0)} - 0.5 * {self.vector(0)}"
        if name is None:
            return "np.ones(4)"
        if (ints := self.pick("ints")) and rng.random() < 0.5:
            return f"{name}[{ints}]"
        return rng.choice((f"{name}[::-1] * 0.9", f"{name}[[2, 0, 0, 3]]", f"np.roll({name}, 1)", f"np.cumsum({name})",
                           f"np.where({name} > 0.1, {self.vector(0)}, {self.constant()})"))  # fmt: skip

    def pair(self) -> str:
        name = self.pick(PAIR)
        if name and self.rng.random() < 0.4:
            return self.rng.choice((name, f"1.1 * {name}", f"{name}[::-1]"))
        return self.rng.choice(("{0}[{1}]", "0.8 * {0}[{1}]", "{0}[{1}] * {0}[{1}]")).format(
            self.vector(0) if self.rng.random() < 0.2 else self.pick(VECTOR) or "np.ones(4)", self.section()
        )

    def key(self) -> str:
        return self.rng.choice(('"a"', '"b"'))

    def condition(self) -> str:
        loop = self.pick("index", "cursor")
        if loop and self.rng.random() < 0.4:
            return self.rng.choice((f"{loop} == 1", f"{loop} > 0", f"{loop} % 2 == 0"))
        if self.rng.random() < 0.1 and (xs := self.pick("list")):
            return f"len({xs}) > 2"
        left = next((n for n in (self.number(0) for _ in range(5)) if not n[-1].isdigit()), "u9")
        if left == "u9":
            return f"{self.pick(VECTOR) or 'np.ones(4)'}[0] > 0.1"
        return f"{left} {self.rng.choice('<>')} {self.constant()}"

    # statements

    def made(self) -> None:
        """A name bound to something new, to a view, or to what another name holds."""
        rng = self.rng
        kinds = ("vector", "vector", "view", "view", "view", "alias", "matrix", "rows", "pair", "list", "dict", "box",
                 "number", "choice", "zeros", "mask", "attribute", "item", "pieces", "ints", "function",
                 "cursor", "cursor")  # fmt: skip
        kind = rng.choice(kinds)
        if self.rich and rng.random() < 0.5:
            kind = rng.choice(("list", "list", "dict", "box", "box", "attribute", "item", "item", "function"))
        self.features.add(kind)
        v, a = self.pick(VECTOR), self.pick(MATRIX)
        if kind == "vector":
            text = self.vector()
            self.hold(self.target(VECTOR), text if "np." in text or " " in text else f"{text}.copy()", VECTOR)
        elif kind == "view" and v:
            if rng.random() < 0.5:
                text = f"{v}[{self.section()}]"
                self.hold(self.target(PAIR), text, PAIR)
            else:
                self.hold(self.target(VECTOR), rng.choice(VIEWS).format(v), VECTOR)
        elif kind == "alias" and v:
            self.hold(self.target(VECTOR), v, VECTOR)
        elif kind == "matrix":
            forms = [f"np.outer({self.vector(0)}[:3], {self.vector(0)})", f"np.ones((3, 4)) * {self.number(0)}"]
            if a:
                forms += [f"0.9 * {a}", f"{a}.copy()", f"{a}[::-1]", f"{a}[:]", f"np.sin({a})"]
            text = rng.choice(forms)
            self.hold(self.target(MATRIX), text, MATRIX)
        elif kind == "rows" and a:
            forms = (f"{a}[{rng.randrange(3)}]", f"{a}[0, :]", f"{a}.T[:, 1]", f"{a}[1:][0]", f"{a}[-1, ::-1]",
                     f"{a}.ravel()[4:8]", f"{a}.reshape(-1)[:4]")  # fmt: skip
            self.hold(self.target(VECTOR), rng.choice(forms), VECTOR)
        elif kind == "pair":
            text = self.pair()
            self.hold(self.target(PAIR), text, PAIR)
        elif kind == "list":
            text = rng.choice((f"[{self.vector(0)}, {self.vector(1)}]", f"[({self.vector(1)}).copy()]",
                               f"[{self.constant()} * {self.vector(0)} for _ in range(2)]", f"list({a or '[np.ones(4)]'})",
                               f"[v7 for v7 in {a}]" if a else f"[{v}, {v}]", f"[{self.vector(0)}] * 2",
                               "[np.zeros(4) for _ in range(3)]"))  # fmt: skip
            xs = self.pick("list")
            if xs and rng.random() < 0.4:
                text = rng.choice((xs, f"{xs}[:]", f"{xs} + [{self.vector(0)}]", f"list({xs})", f"[v7 * 0.5 for v7 in {xs}]",
                                   f"{xs}[::-1]", f"{xs}.copy()", f"[*{xs}, {self.vector(0)}]"))  # fmt: skip
            self.hold(self.fresh("list"), text, "list")
        elif kind == "dict":
            text = f'{{"a": {self.vector(0)}, "b": {self.vector(1)}}}'
            self.hold(self.fresh("dict"), text, "dict")
        elif kind == "ints":
            text = rng.choice(("np.array([2, 0, 1, 3])", f"np.argsort({v or 'np.ones(4)'})", "np.arange(4)", "[1, 0, 3, 2]"))
            self.hold(self.fresh("ints"), f"np.array({text})" if text[0] == "[" else text, "ints")
        elif kind == "cursor":  # an index that moves on, also while a view made with it lives
            self.hold(self.fresh("cursor"), str(rng.randrange(3)), "cursor")
        elif kind == "function" and v and not self.loops and self.depth == 1:
            name = self.fresh("function")
            self.emit(f"def {name}(k):")
            self.depth += 1
            bodies = (f"{v}[1] *= k", f"{v}[:2] = k", f"{v}[0] = {self.number()}", f"return {self.vector(1)} * k",
                      f"return {v}[1:3]", f"return k * {self.number()}", f"return k * {self.number()}")  # fmt: skip
            self.emit(rng.choice(bodies))
            self.depth -= 1
        elif kind == "box" and len(self.of("box")) < 2:
            text = rng.choice((f"Box({self.vector(1)})", f"Box({self.vector(0)}, {self.number(0)})"))
            self.hold(self.fresh("box"), text, "box")
        elif kind == "number":
            text = self.number()
            self.hold(self.target(NUMBER), text, NUMBER)
        elif kind == "choice" and v:
            text = f"{v} if {self.condition()} else {self.vector(0)}"
            self.hold(self.target(VECTOR), text, VECTOR)
        elif kind == "zeros":
            forms = ("np.zeros(4)", "np.ones(4)", f"np.zeros_like({v or 'np.ones(4)'})", f"np.full(4, {self.number(0)})")
            text = rng.choice(forms)
            self.hold(self.target(VECTOR), text, VECTOR)
        elif kind == "mask" and v:
            text = f"{v} > {self.constant()}"
            self.hold(self.target("mask"), text, "mask")
        elif kind == "attribute" and (o := self.pick("box")):
            if rng.random() < 0.5:
                self.hold(self.target(VECTOR), f"{o}.a", VECTOR)
            else:
                self.hold(self.target(PAIR), f"{o}.view()", PAIR)
        elif kind == "item" and (xs := self.pick("list", "dict")):
            where = self.key() if self.names[xs] == "dict" else rng.choice(("0", "-1"))
            self.hold(self.target(VECTOR), f"{xs}[{where}]", VECTOR)
        elif kind == "pieces" and v:
            p, q = self.fresh(PAIR), self.fresh(PAIR)
            forms = f"{v}[:2], {v}[2:]", f"{v}[1:3], {v}[:2]", f"{v}.reshape(2, 2)", f"np.split({v}, 2)"
            self.emit(f"{p}, {q} = {rng.choice(forms)}")

    def operator(self) -> str:
        op = self.rng.choice(("", "", "*", "+", "-"))
        return f"{op}="

    def items(self, count: int = 2) -> str:
        """A list or a tuple that is stored into a section: of as many items, or of one that is stretched."""
        items = ", ".join(self.number(0) for _ in range(self.rng.choice((1, count))))
        return self.rng.choice((f"[{items}]", f"({items},)"))

    def store(self) -> None:
        """An array changed in place."""
        rng = self.rng
        kind = rng.choice(("item", "item", "slice", "slice", "all", "mask", "indices", "whole", "pair", "matrix", "matrix",
                           "call", "call", "chain", "advance", "advance"))  # fmt: skip
        self.features.add(f"store-{kind}")
        v, p, a = self.pick(VECTOR), self.pick(PAIR), self.pick(MATRIX)
        where = [v] if v else []
        if o := self.pick("box"):
            where.append(f"{o}.a")
        if xs := self.pick("list"):
            where.append(f"{xs}[{rng.choice((0, -1))}]")
        if d := self.pick("dict"):
            where.append(f"{d}[{self.key()}]")
        if a:
            where.append(f"{a}[{rng.randrange(3)}]")
        if not where:
            return
        if kind == "advance" and (now := self.pick("cursor")):
            forms = ("{0} = ({0} + 1) % 3", "{0} += 1; {0} %= 3", "{0} = 2 - {0}", "{0} //= 2", "{0} -= {0} // 2")
            self.emit(rng.choice(forms).format(now))
            return
        t = v if v and rng.random() < 0.6 else rng.choice(where)
        if (ints := self.pick("ints")) and rng.random() < 0.25:
            self.emit(rng.choice((f"{t}[{ints}] {self.operator()} {self.vector(1)}", f"{t}[{ints}[:2]] = {self.number(0)}",
                                  f"{ints}[1:] = {ints}[:-1]", f"{ints}[0] = 3 - {ints}[0]", f"{ints} += 1; {ints} %= 4",
                                  f"{t}[{ints}[0]] *= {self.number(0)}")))  # fmt: skip
        elif kind == "item":
            self.emit(f"{t}[{self.index()}] {self.operator()} {self.number()}")
        elif kind == "slice":
            value = rng.choice((self.pair(), self.pair(), self.number(), self.items()))
            self.emit(f"{t}[{self.section()}] {self.operator()} {value}")
        elif kind == "all":
            value = rng.choice((self.vector(), self.items()))
            self.emit(f"{t}[{rng.choice((':', '...', '::-1'))}] {self.operator()} {value}")
        elif kind == "mask":
            m = self.pick("mask")
            if m and rng.random() < 0.5:
                value = rng.choice((self.number(0), f"{self.vector(0)}[{m}]"))
                self.emit(f"{t}[{m}] {self.operator()} {value}")
            else:
                value = rng.choice((self.number(0), self.items(1)))
                self.emit(f"{t}[{t} > {self.constant()}] {self.operator()} {value}")
        elif kind == "indices":
            where = rng.choice(("[0, 2]", "[3, 1]", "np.array([1, 2])"))
            if rng.random() < 0.25:
                self.emit(f"np.add.at({t}, [0, 0, 2], {self.number(0)})")
            else:
                self.emit(f"{t}[{where}] {self.operator()} {rng.choice((self.number(0), self.pair(), self.items()))}")
        elif kind == "whole":
            op = rng.choice(("*=", "+=", "-="))
            self.emit(f"{t} {op} {rng.choice((self.vector(1), self.constant(), self.number(0)))}")
        elif kind == "pair" and p:
            self.emit(rng.choice((f"{p}[{rng.randrange(2)}] {self.operator()} {self.number()}",
                                  f"{p}[:] {self.operator()} {self.pair()}", f"{p} *= {self.number(0)}",
                                  f"{p}[::-1] = {self.pair()}", f"{p} += {self.pair()}")))  # fmt: skip
        elif kind == "matrix" and a:
            r, c = rng.randrange(3), self.index()
            self.emit(rng.choice((f"{a}[{r}] {self.operator()} {self.vector(1)}",
                                  f"{a}[{r}, {c}] {self.operator()} {self.number()}", f"{a}[:, {c}] *= {self.number(0)}",
                                  f"{a}[1:, :-1] {self.operator()} {a}[:-1, 1:]", f"{a}[:2] = [{self.vector(0)}]",
                                  f"{a}[{a} > 0.5] = {self.number(0)}", f"{a} *= {self.constant()}",
                                  f"{a}[:, 1] = {a}[:, 0] * {a}[:, 2]", f"{a}.T[{rng.randrange(4)}] += {a}[:, 1]",
                                  f"{a}[[0, 2]] *= {self.number(0)}", f"{a}.ravel()[2:6] *= {self.number(0)}")))  # fmt: skip
        elif kind == "call":
            u = self.pick(VECTOR) or "np.ones(4)"
            self.emit(rng.choice((f"np.multiply({t}, {self.vector(0)}, out={t})", f"np.copyto({t}, {self.vector(1)})",
                                  f"{t}.fill({self.number(0)})", f"np.put({t}, [0, 2], {self.number(0)})", f"{t}.sort()",
                                  f"np.add({u}, {self.number(0)}, out={t})", f"np.sin({t}, out={t})")))  # fmt: skip
        elif kind == "chain" and v:
            u = self.pick(VECTOR)
            self.emit(rng.choice((f"{v}[0] = {u}[1] = {self.number()}", f"{v}[0], {v}[1] = {u}[1], {u}[0]",
                                  f"{v}[1:3][0] = {self.number()}", f"{v}[::-1][:2] *= {self.number(0)}",
                                  f"{v}[0], s9 = {self.number()}, {self.number()}")))  # fmt: skip

    def container(self) -> None:
        """A list, a dict or an object changed."""
        rng = self.rng
        xs, d, o = self.pick("list"), self.pick("dict"), self.pick("box")
        if xs and rng.random() < 0.5:
            self.features.add("list-changed")
            form = rng.randrange(9)
            if form == 0:
                self.emit(f"{xs}.append({self.vector(1)})")
            elif form == 1:
                self.emit(f"{xs}[{rng.choice((0, -1))}] = {self.vector(1)}")
            elif form == 2 and not self.loops:
                self.emit(f"{xs}.append({self.vector(1)})")
                self.hold(self.target(VECTOR), f"{xs}.pop()", VECTOR)
            elif form == 3:
                self.emit(f"{xs}[0], {xs}[-1] = {xs}[-1], {xs}[0]")
            elif form == 4:
                self.emit(f"for v9 in {xs}:")
                self.emit(f"    v9 *= {self.number(0)}")
            elif form == 5:
                self.emit(rng.choice((f"{xs}.insert(0, {self.vector(0)})", f"{xs}.reverse()", f"{xs}.extend({xs}[:1])",
                                      f"{xs}[0:1] = [{self.vector(1)}]", f"{xs}[-1] *= {self.number(0)}")))  # fmt: skip
            elif form == 6:
                self.emit(f"for k9, v9 in enumerate({xs}):")
                self.emit(rng.choice((f"    v9[k9 % 4] = {self.number(0)}", f"    {xs}[k9] = v9 * {self.number(0)}",
                                      f"    v9[:] = v9[::-1] * {self.number(0)}", "    v9 = v9 * 2.0")))  # fmt: skip
            elif form == 7 and (other := self.pick("list")):
                self.emit(f"for v9, w9 in zip({xs}, {other}):")
                self.emit(rng.choice(("    v9 += 0.3 * w9", "    v9[0] = w9[1]", "    w9[1:] *= v9[:-1]")))
            else:
                self.emit(f"{xs} += [{self.vector(1)}]")
        elif d and rng.random() < 0.6:
            self.features.add("dict-changed")
            self.emit(rng.choice((f"{d}[{self.key()}] = {self.vector(1)}", f"{d}[{self.key()}] *= {self.number(0)}",
                                  f"{d}[{self.key()}] = {d}[{self.key()}]")))  # fmt: skip
        elif o:
            self.features.add("box-changed")
            self.emit(rng.choice((f"{o}.scale({self.number(0)})", f"{o}.put({rng.randrange(4)}, {self.number()})",
                                  f"{o}.bind({self.vector(1)})", f"{o}.a = {self.vector(1)}", f"{o}.k = {self.number()}",
                                  f"{o}.k *= {self.number(0)}", f"{o}.put(0, {self.number(0)}).put(1, {self.number(0)})",
                                  f"{o}.a[1:3] = {self.pair()}")))  # fmt: skip
        else:
            self.store()

    def call(self) -> None:
        """A call of a helper, most of which write."""
        if (go := self.pick("function")) and self.rng.random() < 0.6:
            self.emit(self.rng.choice((f"{go}({self.constant()})", f"{go}({self.number(0)})")))
            return
        rng, name = self.rng, self.rng.choice(self.helpers)
        self.used.add(name)
        self.features.add(f"helper-{name}")
        gives = HELPERS[name][1]
        v = self.pick(VECTOR) or "np.ones(4)"
        if rng.random() < 0.15 and (o := self.pick("box")):
            v = f"{o}.a"
        if gives == "effect":
            self.emit(f"{name}({v}, {self.number(0)})")
        elif gives == "two":
            self.emit(f"{name}({v}, {self.pick(VECTOR) or 'np.ones(4)'})")
        elif gives in ("list", "list-effect"):
            xs = self.pick("list")
            if not xs:
                return
            if gives == "list":
                self.hold(self.fresh("list"), f"{name}({xs})", "list")
            else:
                self.emit(f"{name}({xs})" if name == "stacked" else f"{name}({xs}, {self.number(0)})")
        elif gives == "pairs":
            self.emit(f"{self.fresh(PAIR)}, {self.fresh(PAIR)} = {name}({v})")
        else:
            kind = {"vector": VECTOR, "pair": PAIR, "number": NUMBER}[gives]
            text = f"{name}({v})" if name in ("part", "fresh", "same") else f"{name}({v}, {self.number(0)})"
            self.hold(self.target(kind), text, kind)

    def block(self, count: int) -> None:
        before = dict(self.names)
        self.depth += 1
        for _ in range(count):
            self.statement(nested=True)
        if not self.lines[-1].startswith("    " * self.depth):
            self.emit("pass")
        self.depth -= 1
        self.used |= set(self.names) - set(before)  # names of an inner block are not used again
        self.names = {n: k for n, k in self.names.items() if n in before}

    def control(self) -> None:
        rng = self.rng
        kind = rng.choice(("if", "if", "for", "for", "for", "while", "rows", "elements", "sweep", "sweep"))
        self.features.add(kind)
        if kind == "sweep" and self.of(MATRIX) and self.of(VECTOR):
            self.sweep()
            return
        if kind == "if":
            self.emit(f"if {self.condition()}:")
            self.block(rng.randint(1, 2))
            if rng.random() < 0.5:
                self.emit("else:")
                self.block(rng.randint(1, 2))
        elif kind == "for":
            loop = self.fresh("index")
            self.emit(f"for {loop} in {rng.choice(('range(3)', 'range(2)', 'range(1, 3)', 'reversed(range(3))'))}:")
            self.loops += 1
            self.block(rng.randint(1, 3))
            if rng.random() < 0.15:
                self.emit(f"    if {self.condition()}:")
                self.emit(f"        {rng.choice(('break', 'continue'))}")
                self.block(1)
            self.loops -= 1
            del self.names[loop]
            self.used.add(loop)
        elif kind == "while":
            self.emit("n9 = 0")
            self.emit("while n9 < 2:")
            self.loops += 1
            self.emit("    n9 += 1")
            self.block(rng.randint(1, 2))
            self.loops -= 1
        elif kind == "rows" and (a := self.pick(MATRIX)):
            row = self.fresh(VECTOR)
            self.emit(f"for {row} in {a}:")
            self.loops += 1
            self.block(rng.randint(1, 2))
            self.loops -= 1
            del self.names[row]
            self.used.add(row)
        elif v := self.pick(VECTOR):
            e = self.fresh(NUMBER)
            self.emit(f"for {e} in {v}:")
            self.loops += 1
            self.block(1)
            self.loops -= 1
            del self.names[e]
            self.used.add(e)

    def sweep(self) -> None:
        """A loop over rows, columns or elements with names of one trip: what a linear algebra kernel looks like."""
        rng = self.rng
        a, u, v = self.pick(MATRIX), self.pick(VECTOR), self.pick(VECTOR)
        i, w, e = self.fresh("index"), self.fresh(VECTOR), self.fresh(NUMBER)
        number = self.pick(NUMBER) if self.pick(NUMBER) != e else self.constant()
        self.emit(f"{w}, {e} = {u} * 0.5, {number or '0.3'}" if rng.random() < 0.3 else f"{w} = {u}.copy(); {e} = 0.4")
        self.emit(f"for {i} in {rng.choice(('range(3)', 'range(1, 3)', 'range(2, -1, -1)', f'range(len({a}))'))}:")
        self.depth += 1
        rows = [r.format(a=a, i=i, e=e, u=u, v=v, w=w) for r in ROWS]
        for _ in range(rng.randint(2, 4)):
            self.emit(rng.choice(rows))
        if rng.random() < 0.4:
            j = self.fresh("index")
            self.emit(f"for {j} in {rng.choice(('range(3)', f'range({i})', f'range({i}, 3)', f'range({i} + 1, 4)'))}:")
            cells = [c.format(a=a, i=i, j=j, e=e, u=u, v=v, w=w) for c in CELLS]
            for _ in range(rng.randint(1, 3)):
                self.emit("    " + rng.choice(cells))
            self.names.pop(j)
            self.used.add(j)
        self.depth -= 1
        self.names.pop(i)
        self.used.add(i)

    def statement(self, nested: bool = False) -> None:
        rng, choice, before = self.rng, self.rng.random(), len(self.lines)
        if choice < (0.25 if self.rich else 0.36):
            self.store()
        elif choice < 0.5:
            self.made()
        elif choice < (0.66 if self.rich else 0.6):
            self.container()
        elif choice < 0.7:
            self.call()
        elif choice < 0.75:
            names = self.of(VECTOR)
            if len(names) > 1:
                a, b = rng.sample(names, 2)
                self.emit(f"{a}, {b} = {b}, {a}")
        elif choice < 0.8:
            s = self.pick(NUMBER)
            if s and s not in ("v9",):
                self.emit(f"{s} {rng.choice(('+=', '*=', '='))} {self.number()}")
        elif choice < 0.84 and (v := self.pick(VECTOR)):
            saved = self.fresh(VECTOR)
            self.emit(f"{saved} = {v}.copy()")
            self.store()
            self.emit(f"{v}[:] = {saved}" if rng.random() < 0.6 else f"{v} = {saved}")
        elif choice < 0.87 and not self.loops:
            self.emit(f"if {self.condition()}:")
            self.depth += 1
            self.result()
            self.depth -= 1
            self.features.add("early-return")
        elif not (nested and self.depth > 2):
            self.control()
        if len(self.lines) == before:
            self.store()

    def result(self) -> None:
        """The return: a weighted sum of some of what there is, or arrays as they are."""
        rng = self.rng
        terms = []
        for name, kind in self.names.items():
            if rng.random() < 0.25:
                continue
            weight = round(rng.uniform(0.4, 1.6), 2)
            if kind in (VECTOR, PAIR, MATRIX):
                terms.append(rng.choice((f"{weight} * np.sum({name} * {name})", f"{weight} * np.sum(np.sin({name}))",
                                         f"{weight} * {name}.sum()")))  # fmt: skip
            elif kind == NUMBER:
                terms.append(f"{weight} * {name}")
            elif kind == "list":
                terms.append(rng.choice((f"np.sum({name}[0] * {name}[-1])", f"sum(np.sum(v8 * v8) for v8 in {name})")))
            elif kind == "dict":
                terms.append(f'np.sum({name}["a"] * {name}["b"])')
            elif kind == "box":
                terms.append(f"{name}.total()")
        rng.shuffle(terms)
        arrays = self.of(VECTOR)
        if arrays and rng.random() < 0.15:
            self.emit(f"return {rng.choice(arrays)}")
        elif len(arrays) > 1 and rng.random() < 0.12:
            self.emit(f"return {arrays[0]}, {rng.choice(arrays)}")
        else:
            self.emit(f"return {' + '.join(terms[:4]) or self.number()}")
