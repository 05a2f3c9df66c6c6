"""Random programs of iterators: endless and named ones, tools on tools, generators, and what is left of each.

`iterator_program(seed)` writes the same program again.  Iterators are drawn from by loops that are left early, by `zip` in
any order, by comprehensions and by `next`; what a gradient draws too much or too little shows in what comes after.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (4,)
PRELUDE = """import itertools

import numpy as np


def naturals(k=1):
    while True:
        yield k
        k += 1


def growing(items):
    total = 0.0
    for item in items:
        total = 0.5 * total + item
        yield total


def chosen(items):
    for item in items:
        if item > 0.0:
            yield item * item
        elif item < -1.0:
            return
        yield item


def doubled(items, by):
    for item in items:
        yield item * by


def first_over(items, bound):
    for item in items:
        if item > bound:
            return item
    return bound


def same(items):
    return items


def squared(items):
    return (item * item for item in items)


def neighbours(items):
    return itertools.pairwise(items) if len(items) > 9 else zip(items, items[1:])


class Fading:
    def __init__(self, value, left):
        self.value, self.left = value, left

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left, self.value = self.left - 1, self.value * 0.8
        return self.value


def weighed(items):
    total = 0.0
    for k, item in enumerate(items):
        if total > 9.0:
            break
        total = 0.6 * total + k * item
    return total


"""
HANDED = ("growing(x)", "chosen(x)", "doubled(x, c)", "doubled(growing(x), c)", "chosen(doubled(x * c, 2.0))",
          "growing(chosen(x))", "doubled(doubled(x, c), x[0])", "(t * c for t in x)", "naturals()",
          "doubled(naturals(2), 1.5)", "x", "x * x")  # fmt: skip
NESTED = """    def fading(t):
        while True:
            yield t
            t = t * 0.7 * c
"""


def iterator_program(seed: int) -> Program:
    """Write the program of this number."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    source = writer.text()
    kinds = (VECTOR, NUMBER)
    return Program(source, draw_arguments(rng, kinds), frozenset(writer.features), seed, kinds, "iterator_program")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.names: list[tuple[str, bool]] = []  # iterators with a name, and whether they end
        self.features: set[str] = set()
        self.nested = rng.random() < 0.3
        self.written = rng.random() < 0.3  # a list that loops over it write, under another name
        self.fresh = 0
        self.variables: list[str] = []  # of loops

    def text(self) -> str:
        self.line("total = 0.3")
        if self.written:
            self.line("xs = [x[0], c, x[1] * c, x[2]]")
            self.line("ys = xs")
        for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
            self.named()
        for _ in range(self.rng.randint(1, 3)):
            self.statement()
        for name, ends in self.names:
            if self.rng.random() < 0.8:
                self.line(f"total = total * c + {self.asked(name, ends)}")
        nested = NESTED if self.nested else ""
        return PRELUDE + "def f(x, c):\n" + nested + "\n".join(self.lines) + "\n    return np.tanh(0.1 * total) + c * x[0]\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def a(self, feature: str) -> None:
        self.features.add(feature)

    def new(self, base: str) -> str:
        self.fresh += 1
        return f"{base}{self.fresh}"

    # --- iterables ---

    def named(self) -> None:
        name = self.new("it")
        kind = self.rng.choice(("count", "iter", "cycle", "tool", "expression"))
        ends = False
        if kind == "count":
            value = f"itertools.count({self.rng.choice(('', '1', '0.5, 0.25', 'c'))})"
        elif kind == "cycle":
            value = self.rng.choice(("itertools.cycle(x)", "itertools.cycle([1.0, -c])"))
        elif kind == "iter":
            value, ends = f"iter({self.rng.choice(('x', 'x * x', 'x[1:]', '[c, x[0], 0.5]', 'range(5)'))})", True
        elif kind == "tool":
            value, ends = self.iterable(2, tools=True)
        else:
            over, ends = self.iterable(1)
            value = f"(c * t for t in {over})"
        self.a(f"named {kind}")
        self.line(f"{name} = {value}")
        self.names.append((name, ends))

    def asked(self, name: str, ends: bool) -> str:
        self.a("next")
        return f"next({name}, 0.25)" if ends else f"next({name})"

    def iterable(self, deep: int, tools: bool = False) -> tuple[str, bool]:
        """Something that gives numbers, and whether it ends."""
        rng = self.rng
        if deep > 0 and (tools or rng.random() < 0.6):
            return self.tool(deep - 1)
        if self.names and rng.random() < 0.4:
            self.a("name in a tool")
            return rng.choice(self.names)
        if rng.random() < 0.15:
            self.a("generator")
            if self.nested and rng.random() < 0.5:
                return "fading(x[1])", False
            return rng.choice((("naturals()", False), ("growing(x)", True), ("chosen(x)", True), ("naturals(3)", False)))
        if rng.random() < 0.35:
            self.a("endless")
            return rng.choice(("itertools.count(1)", "itertools.count(2, 3)", "itertools.cycle(x)", "itertools.repeat(c)",
                               "itertools.cycle((1.0, c))", "itertools.count(c, 0.5)")), False  # fmt: skip
        if self.written and rng.random() < 0.6:
            self.a("written")
            return rng.choice(("xs", "xs", "ys", "itertools.chain.from_iterable([x, xs])")), True
        return rng.choice(("x", "x * c", "x[::-1]", "[c, 2.0, x[1]]", "range(4)", "range(1, 6, 2)", "itertools.repeat(c, 3)",
                           "reversed(x)", "(x[2], c)")), True  # fmt: skip

    def tool(self, deep: int) -> tuple[str, bool]:
        rng = self.rng
        over, ends = self.iterable(deep)
        kind = rng.choice(("map", "filter", "takewhile", "dropwhile", "islice", "slice", "accumulate", "chain", "genexp",
                           "starmap", "conditional", "start", "compress"))  # fmt: skip
        self.a(kind)
        if kind == "map":
            return f"map(lambda t: 0.5 * t + c, {over})", ends
        if kind == "filter":
            if not ends:  # of which none might pass
                over, ends = f"itertools.islice({over}, 7)", True
            return f"filter(lambda t: t > -0.5, {over})", ends
        if kind == "takewhile":
            return f"itertools.takewhile(lambda t: t < {rng.choice((0.7, 2.5))}, itertools.islice({over}, 6))", True
        if kind == "dropwhile":
            return f"itertools.dropwhile(lambda t: t < 0.4, itertools.islice({over}, 6))", True
        if kind == "islice":
            return f"itertools.islice({over}, {rng.randint(0, 5)})", True
        if kind == "slice":
            return f"itertools.islice({over}, {rng.randint(0, 2)}, {rng.randint(2, 6)}, {rng.randint(1, 3)})", True
        if kind == "accumulate":
            how = rng.choice(("", ", lambda a, b: 0.5 * a * b", ", initial=c", ", lambda a, b: a - 0.3 * b, initial=1.0"))
            return f"itertools.accumulate({over}{how})", ends
        if kind == "chain":
            first = rng.choice(("[c, 0.5]", "x", "range(2)"))
            return f"itertools.chain({first}, {over})", ends
        if kind == "compress":
            return f"itertools.compress({over}, (1, 0, 1, 1, 0, 1))", True
        if kind == "starmap":
            other, stops = self.iterable(0)
            return f"itertools.starmap(lambda a, b: a - 0.5 * b, zip({over}, {other}))", ends or stops
        if kind == "conditional":
            return f"(t * t for t in {over} if t < 2.0)" if ends else f"(t * c for t in {over})", ends
        if kind == "start":
            return f"(k * t for k, t in enumerate({over}, 1))", ends
        return f"(t * c for t in {over})", ends

    def side_by_side(self) -> tuple[str, str, bool]:
        """A target, an iterable, and whether it ends."""
        rng = self.rng
        kind = rng.choice(("one", "one", "zip", "zip", "zip three", "enumerate", "pairwise", "longest"))
        self.a(kind)
        names = [self.new(v) for v in "abd"]
        if kind == "enumerate":
            over, ends = self.iterable(2)
            self.variables += names[:2]
            return f"{names[0]}, {names[1]}", f"enumerate({over}{rng.choice(('', ', 2'))})", ends
        if kind == "pairwise":
            over, ends = self.iterable(1)
            self.variables += names[:2]
            return f"{names[0]}, {names[1]}", f"itertools.pairwise({over})", ends
        if kind == "longest":
            self.variables += names[:2]
            one, other = (rng.choice(("x", "xs[:2]", "xs") if self.written else ("x", "x[1:]", "[c]")) for _ in "ab")
            return f"{names[0]}, {names[1]}", f"itertools.zip_longest({one}, {other}, fillvalue=c)", True
        parts = [self.iterable(2) for _ in range({"one": 1, "zip": 2, "zip three": 3}[kind])]
        own = names[: len(parts)]
        self.variables += own
        over = parts[0][0] if len(parts) == 1 else f"zip({', '.join(text for text, _ in parts)})"
        return ", ".join(own), over, any(ends for _, ends in parts)

    # --- statements ---

    def statement(self) -> None:
        choices = [
            self.loop,
            self.loop,
            self.loop,
            self.collected,
            self.next_alone,
            self.until_nothing,
            self.handed,
            self.kept,
            self.kept,
        ]
        self.rng.choice(choices)()

    def value(self) -> str:
        return self.rng.choice((*self.variables[-3:], "c", "x[1]", "0.5" if self.variables else "x[2]"))

    def loop(self) -> None:
        rng = self.rng
        before = list(self.variables)
        trips = self.new("n")
        target, over, ends = self.side_by_side()
        self.line(f"{trips} = 0")
        self.line(f"for {target} in {over}:")
        self.depth += 1
        body = [f"total = 0.6 * total + {self.value()} * {self.value()}", f"total = total + np.sin({self.value()}) * c"]
        if self.names and rng.random() < 0.4:
            name, stops = rng.choice(self.names)
            body.append(f"total = total * 0.9 + {self.asked(name, stops)}")
        if self.written and rng.random() < 0.7:
            self.a("writes in a loop")
            body.append(f"ys[{trips} % 4] = 0.5 * ys[{trips} % 4] + 0.3 * {self.value()}")
        if rng.random() < 0.2:
            self.a("continue")
            body.insert(0, f"if {self.value()} > 0.9:\n{'    ' * (self.depth + 1)}continue")
        rng.shuffle(body)
        self.line(f"{trips} += 1")
        if not ends or rng.random() < 0.4:
            self.a("break")
            leave = f"if {trips} > {rng.randint(1, 5)}:\n{'    ' * (self.depth + 1)}break"
            body.insert(0 if not ends else rng.randrange(len(body)), leave)
        for text in body:
            self.line(text)
        if self.depth == 2 and rng.random() < 0.15:
            self.a("loop in a loop")
            self.loop()
        self.depth -= 1
        if rng.random() < 0.15:
            self.a("else")
            self.line("else:")
            self.line("    total = total * 1.5")
        self.variables = before

    def collected(self) -> None:
        rng = self.rng
        over, ends = self.iterable(2)
        if not ends:
            over = f"itertools.islice({over}, {rng.randint(1, 5)})"
        kind = rng.choice(("sum", "list", "comprehension", "any", "expression", "max"))
        self.a(f"collected by {kind}")
        text = {
            "sum": f"sum({over})", "list": f"sum(list({over}))", "comprehension": f"sum([t * c for t in {over}])",
            "any": f"(1.5 if any(t > 0.8 for t in {over}) else c)", "expression": f"sum(t * t for t in {over})",
            "max": f"max([0.1, *[t for t in {over}]])",
        }[kind]  # fmt: skip
        self.line(f"total = total * 0.5 + {text}")

    def handed(self) -> None:
        """A generator that a function, or another generator, draws from."""
        over, call = self.rng.choice(HANDED), self.rng.choice(("first_over({}, 0.7)", "weighed({})", "first_over({}, c)"))
        self.a(f"handed to {call[:6]}")
        self.line(f"total = total * 0.5 + {call.format(over)}")

    def kept(self) -> None:
        """An iterator that is kept until it is run through, after something has changed; seldom twice."""
        rng, name = self.rng, self.new("kept")
        over, ends = self.iterable(2)
        over = over if ends else f"itertools.islice({over}, {rng.randint(1, 5)})"
        kind = rng.choice(("by name", "in a list", "in a dict", "in a tuple", "returned", "made elsewhere", "an object",
                           "pairs", "split", "chosen"))  # fmt: skip
        self.a(f"kept {kind}")
        value, read = {
            "by name": (over, name), "in a list": (f"[{over}, iter(x)]", f"{name}[0]"),
            "in a dict": (f"{{'a': {over}, 'b': 2.0}}", f"{name}['a']"), "in a tuple": (f"({over}, c)", f"{name}[0]"),
            "returned": (f"same({over})", name), "made elsewhere": (f"squared({over})", name),
            "an object": ("Fading(c, 3)", name), "pairs": ("neighbours(x)", f"(u * v for u, v in {name})"),
            "split": (f"itertools.tee({over})", f"{name}[1]"), "chosen": (f"iter(x) if c > 0.0 else {over}", name),
        }[kind]  # fmt: skip
        self.line(f"{name} = {value}")
        if rng.random() < 0.5:
            self.a("changed before it is drawn")
            self.line(rng.choice(("c = 0.9 * c + 0.1", "x = x * 1.1", "ys[1] = c * x[0]" if self.written else "x = x + 0.1",
                                  "xs.append(c * 0.5)" if self.written else "c = c * 1.1")))  # fmt: skip
        for _ in range(1 if rng.random() < 0.8 else 2):
            item = self.new("item")
            if rng.random() < 0.5:
                self.line(f"for {item} in {read}:")
                self.line(f"    total = 0.6 * total + {item} * c")
                if rng.random() < 0.3:
                    self.line(f"    if {item} > 0.9:")
                    self.line("        break")
            else:
                how = rng.choice(("sum({})", "sum([t * c for t in {}])", "weighed({})", "first_over({}, 0.7)",
                                  "(1.5 if any(t > 0.8 for t in {}) else c)", "sum(list({}))"))  # fmt: skip
                self.line(f"total = 0.5 * total + {how.format(read)}")

    def next_alone(self) -> None:
        if not self.names:
            return self.kept()
        name, ends = self.rng.choice(self.names)
        self.line(f"total = total * 0.7 + {self.asked(name, ends)} * {self.asked(name, ends)}")

    def until_nothing(self) -> None:
        ending = [name for name, ends in self.names if ends]
        if not ending:
            return self.loop()
        self.a("while next")
        name, item = self.rng.choice(ending), self.new("item")
        self.line("while True:")
        self.line(f"    {item} = next({name}, None)")
        self.line(f"    if {item} is None:")
        self.line("        break")
        self.line(f"    total = 0.5 * total + {item} * c")
