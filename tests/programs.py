"""Random programs for the main test: a Hypothesis strategy that writes Python text.

`programs()` draws a `Program`; `program_from_seed(seed)` writes the same one again.  The writer keeps a typed scope
(numbers, integers, arrays of known shape, booleans, lists and tuples), so every program runs, and keeps values small
(sines, `tanh`, quotients), so central differences are reliable.  Loops are bounded: `range` of at most four, `while`
with a counter that nothing else writes.

One integer seeds a `random.Random`: that draws in a millisecond or two and reproduces from the number alone.  Shrinking
works on the program's text instead (`reduced`): statements are removed while the failure stays.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

NUMBER, VECTOR, PAIR, MATRIX = (), (3,), (2,), (2, 3)  # a float's type is its shape
INT, COUNT, BOOL, LIST, TUPLE = "int", "count", "bool", "list", "tuple"  # an int is at most 4, a count may be larger
NAMES = {
    NUMBER: "abcdexyz",
    VECTOR: "uvwr",
    PAIR: "pqs",
    MATRIX: "ABCM",
    INT: "nij",
    COUNT: "k",
    LIST: "gh",
    TUPLE: "to",
    BOOL: "f",
}

# What has to occur in at least five percent of the programs.
FEATURES = """
    chained tuple-target nested-target starred swap unpack-array augassign augassign-array annotation ternary boolop
    boolop-value not compare-chain walrus if else elif nested-if both-arms for-range for-range-step for-array
    for-rows for-list for-list-value for-tuple zip enumerate enumerate-start reversed nested-loop while while-float
    while-true break continue early-return return-in-loop return-in-nested-loop for-else while-else else-after-break
    assert raise print fstring docstring pass index slice index-array mask call call-in-loop recursion keyword-call
    default keyword-only star-parameter several-results method attribute matmul math import-spelling broadcasting
    builtin list-value array-result tuple-result list-result dict-result loop-variable-after target-reassigned
    bound-changed rebound-kind int-accumulator
""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Program:
    """The text of a module that defines `f`, arguments for it, and what occurs in it."""

    source: str
    args: tuple
    features: frozenset[str]
    seed: int
    kinds: tuple
    writer: str = "program_from_seed"  # the function that writes it again

    def redrawn(self, attempt: int) -> Program:
        """The same program at another point."""
        return replace(self, args=draw_arguments(random.Random(f"{self.seed}/{attempt}"), self.kinds))

    @property
    def argnums(self) -> tuple[int, ...]:
        """The positions of the float arguments."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind != INT)

    def __repr__(self) -> str:
        return f"{self.writer}({self.seed})"


def programs() -> st.SearchStrategy[Program]:
    """The strategy."""
    return st.integers(0, 2**24 - 1).map(program_from_seed)


def program_from_seed(seed: int) -> Program:
    """Write the program of this number."""
    rng = random.Random(seed)
    source, kinds, tags = Module(rng).write()
    features = frozenset(tags | found_features(ast.parse(source)))
    return Program(source, draw_arguments(rng, kinds), features, seed, kinds)


def draw_arguments(rng: random.Random, kinds, digits: int = 3) -> tuple:
    """A point: every element between 0.2 and 1.5 in size, with any sign."""

    def number():
        return round(rng.choice((-1.0, 1.0)) * rng.uniform(0.2, 1.5), digits)

    def array(shape):
        return np.array([number() for _ in range(int(np.prod(shape)))]).reshape(shape)

    return tuple(rng.randint(1, 3) if k == INT else array(k) if k else number() for k in kinds)


class Expr(NamedTuple):
    """Text, a bound on the size of its value (rough: variables count as 2), and whether it is an atom."""

    text: str
    bound: float = 2.0
    atom: bool = True

    def __str__(self) -> str:
        return self.text if self.atom else f"({self.text})"


def binary(left, op, right, bound) -> Expr:
    return Expr(f"{left} {op} {right}", bound, False)


class Helper(NamedTuple):
    """A function of the module that may be called: parameters (name, type, how they may be given), and results."""

    name: str
    params: tuple
    results: tuple  # of types


class Module:
    """The state that the functions of one program share: spellings of imports, helpers, tags."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.tags: set[str] = set()
        self.helpers: list[Helper] = []
        style = rng.random()
        self.np = "np." if style < 0.8 else "numpy." if style < 0.88 else "onp."
        self.bare = {"sin", "tanh", "sum", "cos"} if rng.random() < 0.15 else set()

    def numpy(self, name: str) -> str:
        """A NumPy function in this program's spelling."""
        return ("total" if name == "sum" else name) if name in self.bare else self.np + name

    def write(self):
        rng = self.rng
        texts = []
        for number in range(rng.choice((0, 1, 1, 2))):
            texts.append(rng.choice((plain_helper, plain_helper, recursive_helper))(self, number))
        kinds = [NUMBER, VECTOR]
        kinds += [rng.choice((NUMBER, VECTOR))] if rng.random() < 0.4 else []
        kinds += [MATRIX] if rng.random() < 0.6 else []
        rng.shuffle(kinds)
        kinds += [INT] if rng.random() < 0.6 else []
        f = Function(self)
        names = [f.bind(f.fresh(kind), kind) for kind in kinds]
        f.result_kind = rng.choice(("number", "number", "array", "tuple", "list", "dict"))
        f.body(rng.randint(3, 8))
        texts.append("\n".join([f"def f({', '.join(names)}):", *f.lines]))
        spelled = {"np.": "import numpy as np", "numpy.": "import numpy", "onp.": "import numpy as onp"}[self.np]
        head = ["import math", "", spelled]
        if self.bare:
            head.append("from numpy import cos, sin, tanh")
            head.append("from numpy import sum as total")
        return "\n".join(head) + "\n\n\n" + "\n\n\n".join(texts) + "\n", tuple(kinds), self.tags


class Function:
    """Writes one function: a typed scope, expressions of a wanted type, statements."""

    def __init__(self, module: Module, in_helper: bool = False) -> None:
        self.module, self.rng, self.in_helper = module, module.rng, in_helper
        self.scopes: list[dict] = [{}]
        self.lines: list[str] = []
        self.loops: list[str] = []  # the kinds of the loops around
        self.locked: set[str] = set()
        self.pending: set[str] = set()  # names given out and not bound yet
        self.result_kind = "number"

    # Scope

    def tag(self, *names: str) -> None:
        self.module.tags.update(names)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def bind(self, name: str, kind) -> str:
        self.scopes[-1].pop(name, None)  # the newest come last
        if not any(name in scope for scope in self.scopes):
            self.scopes[-1][name] = kind
        self.pending.discard(name)
        return name

    def visible(self, kind, writable: bool = False) -> list[str]:
        return [
            name
            for scope in self.scopes
            for name, known in scope.items()
            if known == kind and not (writable and name in self.locked)
        ]

    def fresh(self, kind) -> str:
        """A name that is not in use."""
        letters = NAMES[kind]
        number = 0
        while True:
            for letter in letters:
                name = letter + str(number or "")
                if name not in self.pending and not any(name in scope for scope in self.scopes):
                    self.pending.add(name)
                    return name
            number += 1

    def target(self, kind) -> str:
        """A name to assign to: often an old one of the same type."""
        old = self.visible(kind, writable=True)
        return self.rng.choice(old) if old and self.chance(0.6) else self.fresh(kind)

    def emit(self, line: str) -> None:
        self.lines.append("    " * len(self.scopes) + line)

    def block(self, write: Callable[[], object]) -> None:
        """An indented block, with a scope of its own."""
        self.scopes.append({})
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.emit("pass")
        self.scopes.pop()

    # Expressions

    def constant(self) -> Expr:
        return Expr(str(self.rng.choice((0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 2.0))), 1.3)

    def integer(self) -> Expr:
        """An int from 0 to 4."""
        names = self.visible(INT)
        arrays = self.visible(VECTOR)
        choice = self.rng.random()
        if names and choice < 0.75:
            return Expr(self.rng.choice(names), 4.0)
        if arrays and choice < 0.9:
            name = self.rng.choice(arrays)
            return Expr(self.rng.choice((f"len({name})", f"{name}.shape[0]", f"{name}.size")), 3.0)
        return Expr(str(self.rng.randint(1, 3)), 3.0)

    def position(self, length: int) -> str:
        """An index into an axis of this length."""
        names = self.visible(INT) + self.visible(COUNT)
        if names and self.chance(0.4):
            return self.rng.choice((f"{{}} % {length}", f"-1 - {{}} % {length}")).format(self.rng.choice(names))
        return str(self.rng.randrange(-length, length))

    def leaf(self, shape) -> Expr:
        rng = self.rng
        names = self.visible(shape)
        if names and self.chance(0.6):
            return Expr(names[-1] if self.chance(0.35) else rng.choice(names))
        made = [*self.elements(shape)]
        if made and self.chance(0.75):
            return Expr(rng.choice(made))
        if names:
            return Expr(rng.choice(names))
        return self.constant() if shape == () else self.built(shape)

    def elements(self, shape) -> list[str]:
        """Reads of larger values that have this shape."""
        pick = self.rng.choice
        vectors, matrices, pairs = self.visible(VECTOR), self.visible(MATRIX), self.visible(PAIR)
        found = []
        if shape == NUMBER:
            found += [f"{pick(vectors)}[{self.position(3)}]"] * 2 if vectors else []
            found += [f"{pick(pairs)}[{self.position(2)}]"] if pairs else []
            if matrices:
                row, column = self.position(2), self.position(3)
                found.append(pick((f"{pick(matrices)}[{row}, {column}]", f"{pick(matrices)}[{row}][{column}]")))
            found += [f"{pick(lists)}[{self.position(2)}]" for lists in [self.visible(LIST)] if lists]
            found += [f"{pick(tuples)}[{self.position(2)}]" for tuples in [self.visible(TUPLE)] if tuples]
            integers = self.visible(INT) + self.visible(COUNT)
            found += [f"(0.1 * {pick(integers)})"] if integers else []
        elif shape == VECTOR:
            if vectors:
                name = pick(vectors)
                repeats = f"{self.module.numpy('array')}([2, 0, 2])"
                found += [
                    pick((f"{name}[::-1]", f"{name}[[0, 2, 0]]", f"{name}[{repeats}]", f"{name}[1:][::-1][[0, 1, 1]]"))
                ]
                found += [f"{name}.copy()", f"{name}[::-1]"]
            if matrices:
                name = pick(matrices)
                found += [f"{name}[{self.position(2)}]", pick((f"{name}.sum(axis=0)", f"{name}[0, :]", f"{name}[-1]"))]
        elif shape == PAIR:
            found += [pick(("{}[1:]", "{}[:2]", "{}[::2]", "{}[:-1]")).format(pick(vectors))] if vectors else []
            if matrices:
                name, column = pick(matrices), self.position(3)
                found += [pick((f"{name}[:, {column}]", f"{name}.mean(axis=1)", f"{name}[..., {column}]"))]
        return found

    def built(self, shape) -> Expr:
        """An array made of numbers."""
        np_ = self.module.numpy
        if shape == MATRIX:
            rows = [self.leaf(VECTOR) for _ in range(2)] if self.visible(VECTOR) else []
            if rows:
                return Expr(f"{np_('stack')}([{rows[0].text}, {rows[1].text}])")
            return Expr(f"{np_('ones')}((2, 3))", 1.0)
        parts = [self.number(0).text for _ in range(shape[0])]
        return Expr(f"{np_('array')}([{', '.join(parts)}])", 3.0)

    def expr(self, shape, depth: int = 2) -> Expr:
        return self.number(depth) if shape == () else self.array(shape, depth)

    def positive(self, e: Expr) -> str:
        """One or more, of this expression."""
        if len(e.text) < 25:
            return f"1.0 + {e} * {e}"
        return f"2.0 + {self.module.numpy(self.rng.choice(('sin', 'cos')))}({e.text})"

    def arithmetic(self, left: Expr, right: Expr) -> Expr:
        """One operator between two operands whose shapes fit."""
        op = self.rng.choice("++-**/")
        if op == "/":
            return binary(left, "/", Expr(self.positive(right), 1.0, False), left.bound)
        bound = left.bound * right.bound if op == "*" else left.bound + right.bound
        return binary(left, op, right, bound)

    def ufunc(self, e: Expr) -> Expr:
        np_, choice = self.module.numpy, self.rng.randrange(9)
        if choice < 4:
            return Expr(f"{np_(('sin', 'cos', 'tanh', 'arctan')[choice])}({e.text})", 1.0)
        if choice == 4:
            return Expr(f"{np_('exp')}(-({self.positive(e)}))", 1.0)
        if choice == 5:
            return Expr(f"{np_('sqrt')}({self.positive(e)})", 1.0 + e.bound)
        if choice == 6:
            return Expr(f"{np_('log')}(2.0 + {np_('cos')}({e.text}))", 1.1)
        if choice == 7:
            return binary(e, "**", 2, e.bound**2)
        return Expr(f"{np_(self.rng.choice(('abs', 'square')))}({self.tame(e).text})", 4.0)

    def number(self, depth: int) -> Expr:
        rng, np_ = self.rng, self.module.numpy
        if depth <= 0:
            return self.constant() if self.chance(0.15) else self.leaf(NUMBER)
        choice = rng.random()
        if choice < 0.38:
            return self.arithmetic(self.number(depth - 1), self.number(depth - 1))
        if choice < 0.52:
            return self.ufunc(self.number(depth - 1))
        if choice < 0.60:
            e = self.number(depth - 1)
            name = rng.choice(("sin", "cos", "tanh", "atan", "exp", "sqrt", "log"))
            inner = {"exp": f"0.3 * {self.tame(e)}", "sqrt": self.positive(e), "log": f"0.5 + {self.positive(e)}"}.get(name)
            return Expr(f"math.{name}({inner or e.text})", 1.0 if inner is None else 1.0 + e.bound)
        if choice < 0.66:
            a, b = self.number(depth - 1), self.number(depth - 1)
            texts = f"max({a.text}, {b.text})", f"min({a.text}, {b.text})", f"abs({a.text})", f"pow({a.text}, 2)"
            text = rng.choice((*texts, f"{a} % 1.7"))
            self.tag("builtin")
            return Expr(text, max(a.bound, b.bound, a.bound**2 if "pow" in text else 0.0), "%" not in text)
        if choice < 0.84:
            shape = rng.choice((VECTOR, VECTOR, MATRIX, PAIR))
            e = self.array(shape, depth - 1)
            form = rng.randrange(9)
            if form == 0:
                return Expr(f"{np_('sum')}({e.text})", 4.0 * e.bound)
            if form == 1:
                return Expr(f"{np_('mean')}({e.text})", e.bound)
            if form == 2:
                return Expr(f"{np_(rng.choice(('max', 'min')))}({e.text})", e.bound)
            if form == 3 and shape != MATRIX:
                return binary(e, "@", self.array(shape, depth - 1), 6.0 * e.bound)
            if form == 4 and shape != MATRIX:
                return Expr(f"{np_('dot')}({e.text}, {self.leaf(shape).text})", 6.0 * e.bound)
            if form == 5 and self.visible(shape):
                self.tag("mask")
                name = rng.choice(self.visible(shape))
                return Expr(f"{np_('sum')}({name}[{name} > {self.constant().text}])", 5.0)
            if form == 6 and shape == VECTOR:
                return Expr(f"sum({e.text})", 3.0 * e.bound)
            return Expr(f"{e}.{rng.choice(('sum', 'mean', 'max', 'min'))}()", 3.0 * e.bound)
        if choice < 0.90:
            a, b = self.number(depth - 1), self.number(depth - 1)
            return Expr(f"{a} if {self.condition()} else {b}", max(a.bound, b.bound), False)
        if choice < 0.93:
            self.tag("boolop-value")
            a, b = self.number(depth - 1), self.number(depth - 1)
            return Expr(f"{a} {rng.choice(('or', 'and'))} {b}", max(a.bound, b.bound), False)
        call = self.call((NUMBER,), depth - 1)
        return call or Expr(f"-{self.number(depth - 1)}", 2.0, False)

    def array(self, shape, depth: int) -> Expr:
        rng, np_ = self.rng, self.module.numpy
        if depth <= 0:
            return self.leaf(shape)
        choice = rng.random()
        if choice < 0.30:
            return self.arithmetic(self.array(shape, depth - 1), self.array(shape, depth - 1))
        if choice < 0.54:
            self.tag("broadcasting")
            a, b = self.array(shape, depth - 1), self.smaller(shape, depth - 1)
            return self.arithmetic(*((a, b) if self.chance(0.5) else (b, a)))
        if choice < 0.74:
            return self.ufunc(self.array(shape, depth - 1))
        if choice < 0.80:
            a, b = self.array(shape, depth - 1), self.smaller(shape, 0)
            name = rng.choice(("maximum", "minimum", "where"))
            condition = f"{self.leaf(shape)} > {self.constant()}, " if name == "where" else ""
            if self.chance(0.3):
                self.tag("mask")
                return binary(a, "*", Expr(f"{self.leaf(shape)} > {self.constant()}", 1.0, False), a.bound)
            return Expr(f"{np_(name)}({condition}{a.text}, {b.text})", max(a.bound, b.bound))
        if choice < 0.90 and self.visible(MATRIX):
            m = rng.choice(self.visible(MATRIX))
            if shape == PAIR:
                return binary(m, "@", self.leaf(VECTOR), 8.0)
            if shape == VECTOR:
                return rng.choice((binary(f"{m}.T", "@", self.leaf(PAIR), 8.0), Expr(f"{np_('mean')}({m}, axis=0)")))
            return rng.choice(
                (
                    binary(f"{m} @ {m}.T", "@", m, 30.0),
                    Expr(f"{m}.reshape(3, 2).T"),
                    Expr(f"{np_('outer')}({self.leaf(PAIR).text}, {self.leaf(VECTOR).text})", 4.0),
                    binary(m, "-", f"{m}.mean(axis=1, keepdims=True)", 4.0),
                )
            )
        if choice < 0.94 and shape == VECTOR:
            ends = self.leaf(PAIR), self.number(1)
            return Expr(f"{np_('concatenate')}([{ends[0].text}, {np_('array')}([{ends[1].text}])])", 3.0)
        if choice < 0.96:
            return self.built(shape)
        return self.call((shape,), depth - 1) or self.leaf(shape)

    def smaller(self, shape, depth: int) -> Expr:
        """A value that broadcasts to the shape."""
        if shape == MATRIX and self.chance(0.6):
            if self.chance(0.5):
                return self.array(VECTOR, depth)
            return Expr(f"{self.leaf(PAIR)}[:, None]") if self.visible(MATRIX) else self.leaf(VECTOR)
        return self.number(depth)

    def tame(self, e: Expr, limit: float = 2.0) -> Expr:
        """The expression, squashed if it may be large."""
        if e.bound <= limit:
            return e
        if e.bound <= 3.0 * limit and self.chance(0.3):
            return binary(round(limit / e.bound, 2), "*", e, limit)
        if e.bound > 8.0:
            e = binary("0.2", "*", e, 2.0)
        return Expr(f"{self.module.numpy(self.rng.choice(('sin', 'tanh', 'cos', 'arctan')))}({e.text})", 1.0)

    def value(self, shape, depth: int | None = None) -> Expr:
        """What may be assigned to a variable; in loops a contraction, so that many trips stay harmless."""
        e = self.tame(self.expr(shape, self.rng.choice((1, 1, 2, 2, 3)) if depth is None else depth))
        if self.loops and e.bound > 1.0 and self.chance(0.7):
            return binary("0.5", "*", e, 0.5 * e.bound)
        return e

    def condition(self, depth: int = 1) -> str:
        rng, choice = self.rng, self.rng.random()
        flags, integers = self.visible(BOOL), self.visible(INT) + self.visible(COUNT)
        if depth and choice < 0.22:
            joined = f" {rng.choice(('and', 'or'))} ".join(self.condition(0) for _ in range(rng.choice((2, 2, 3))))
            return f"not ({joined})" if self.chance(0.25) else joined
        if flags and choice < 0.40:
            return f"{rng.choice(('', 'not '))}{rng.choice(flags)}"
        if integers and choice < 0.58:
            return f"{rng.choice(integers)} {rng.choice(('% 2 == 0', '% 2 == 1', '> 1', '!= 2', '< 2'))}"
        if choice < 0.70:
            return f"-0.{rng.randint(3, 9)} < {self.variable()} <= {self.constant()}"
        left, right = self.variable(), rng.choice((self.variable(), self.constant()))
        return f"{left} {rng.choice('<>')} {right if right != left else self.constant()}"

    def variable(self) -> Expr:
        """A number that is not a constant, if there is one."""
        e = self.leaf(NUMBER)
        return e if not e.text[0].isdigit() else self.leaf(NUMBER)

    def call(self, results, depth: int = 1) -> Expr | None:
        """A call of a helper with these results, if there is one."""
        fitting = [helper for helper in self.module.helpers if helper.results == results]
        if not fitting:
            return None
        helper = self.rng.choice(fitting)
        positional, keywords = [], []
        for name, kind, way in helper.params:
            if way == "star":
                positional += [self.number(0).text for _ in range(self.rng.randint(1, 3))] if not keywords else []
            elif way in ("plain", "keyword") or self.chance(0.6):
                value = self.integer().text if kind == INT else self.tame(self.expr(kind, depth)).text
                if way.startswith("keyword") or keywords or self.chance(0.25):
                    keywords.append(f"{name}={value}")
                else:
                    positional.append(value)
            else:
                keywords = keywords or [""]  # what follows needs its name
        self.rng.shuffle(keywords)
        return Expr(f"{helper.name}({', '.join(positional + [k for k in keywords if k])})", 2.0)

    # Statements

    def body(self, count: int) -> None:
        """The statements of the whole function, with the final return."""
        if self.chance(0.15):
            self.emit(f'"""{self.rng.choice(("A function of its arguments.", "Compute x * y."))}"""')
        for _ in range(count):
            if len(self.lines) < (8 if self.in_helper else 22):
                statement(self)
        self.emit(f"return {self.result(final=True)}")

    def result(self, final: bool = False) -> str:
        """The value to return: it gathers what has been computed."""
        if self.in_helper:
            return ", ".join(self.tame(self.expr(kind, 2)).text for kind in self.result_kind)
        kind = self.result_kind
        if not final and self.chance(0.1):
            kind = self.rng.choice(("number", "array"))
        count = 4 if final else 2
        numbers, arrays = self.visible(NUMBER)[-count:], []
        for shape in (VECTOR, PAIR, MATRIX):
            arrays += self.visible(shape)[-2:]
        total = self.module.numpy("sum")
        terms = [*numbers, *(f"{total}({name} * {name})" for name in arrays)]
        if kind == "number":
            return " + ".join(terms)
        self.tag(f"{kind}-result")
        vector = self.array(VECTOR, 1).text
        rest = " + ".join(terms)
        if kind == "array":
            return f"({vector}) * ({rest})"
        if kind == "dict":
            return f"{{'value': {rest}, 'parts': ({self.number(1).text}, {vector})}}"
        items = f"{rest}, {vector}, {self.number(1).text}"
        return f"[{items}]" if kind == "list" else items


# Statements: each of these functions writes one, or nothing where the scope lacks what it needs.


def assign(f: Function) -> None:
    shape = f.rng.choice((NUMBER, NUMBER, NUMBER, VECTOR, VECTOR, PAIR, MATRIX))
    value = f.value(shape)
    f.emit(f"{f.bind(f.target(shape), shape)} = {value.text}")


def chained(f: Function) -> None:
    shape = f.rng.choice((NUMBER, VECTOR))
    value, names = f.value(shape), [f.target(shape), f.fresh(shape)]
    f.emit(" = ".join([f.bind(name, shape) for name in names] + [value.text]))


def tuple_target(f: Function) -> None:
    shapes = [f.rng.choice((NUMBER, NUMBER, VECTOR)) for _ in range(f.rng.choice((2, 2, 3)))]
    values = ", ".join(f.value(shape, 1).text for shape in shapes)
    f.emit(", ".join([f.bind(f.fresh(shape), shape) for shape in shapes]) + " = " + values)


def nested_target(f: Function) -> None:
    values = [f.value(NUMBER, 1).text for _ in range(3)]
    a, b, c = (f.bind(f.fresh(NUMBER), NUMBER) for _ in range(3))
    form = f.rng.choice(("({}, {}), {}", "{}, ({}, {})"))
    f.tag("nested-target")
    f.emit(f"{form.format(a, b, c)} = {form.format(*values)}")


def starred(f: Function) -> None:
    vectors = f.visible(VECTOR)
    if vectors and f.chance(0.3):
        source, count = f.rng.choice(vectors), 3
    else:
        count = f.rng.randint(3, 4)
        source = ", ".join(f.value(NUMBER, 1).text for _ in range(count))
    names, where = [f.fresh(NUMBER) for _ in range(1 if count == 3 else 2)], f.rng.randint(0, 1)
    rest = f.fresh(LIST)
    targets = [f.bind(name, NUMBER) for name in names]
    targets.insert(where, "*" + f.bind(rest, LIST))
    f.emit(f"{', '.join(targets)} = {source}")


def swap(f: Function) -> None:
    shape = f.rng.choice((NUMBER, VECTOR))
    names = f.visible(shape, writable=True)
    if len(names) < 2:
        return
    a, b = f.rng.sample(names, 2)
    values = (b, a) if f.chance(0.6) or shape != NUMBER else (b, f.tame(f.arithmetic(Expr(a), Expr(b))).text)
    f.tag("swap")
    f.emit(f"{a}, {b} = {', '.join(values)}")


def unpack_array(f: Function) -> None:
    f.tag("unpack-array")
    if f.visible(MATRIX) and f.chance(0.4):
        matrix = f.rng.choice(f.visible(MATRIX))
        f.emit(", ".join([f.bind(f.fresh(VECTOR), VECTOR) for _ in range(2)]) + f" = {matrix}")
    else:
        vector = f.value(VECTOR, 1)
        f.emit(", ".join([f.bind(f.fresh(NUMBER), NUMBER) for _ in range(3)]) + f" = {vector.text}")


def augmented(f: Function) -> None:
    names = f.visible(NUMBER, writable=True)
    if not names:
        return
    name, e = f.rng.choice(names), f.tame(f.number(1))
    factor = f.tame(e, 1.0)
    steps = [f"+= 0.2 * {e}", f"-= 0.2 * {e}", f"*= {factor.text}", f"/= 1.5 + {e} * {e}"]
    f.emit(f"{name} {f.rng.choice(steps if f.loops else [*steps, '**= 2'])}")


def augmented_array(f: Function) -> None:
    """`op=` on an array that was made in the line before, and that no other name can see."""
    shape = f.rng.choice((VECTOR, VECTOR, MATRIX))
    first = f.arithmetic(f.leaf(shape), f.smaller(shape, 0))
    if f.chance(0.25):
        first = Expr(f"{f.module.numpy('zeros')}({3 if shape == VECTOR else shape})", 0.0)
    name = f.bind(f.fresh(shape), shape)
    f.emit(f"{name} = {first.text}")
    f.tag("augassign-array")

    def step():
        e = f.tame(f.expr(shape, 1) if f.chance(0.6) else f.smaller(shape, 1))
        factor = f.tame(e, 1.0)
        f.emit(f.rng.choice((f"{name} += 0.3 * {e}", f"{name} -= {e.text}", f"{name} *= {factor.text}", f"{name} *= 0.5")))

    if len(f.loops) < 2 and f.chance(0.3):
        trip = f.fresh(INT)
        f.emit(f"for {trip} in range({f.rng.randint(1, 3)}):")
        f.block(step)
        f.pending.discard(trip)
    for _ in range(f.rng.randint(1, 2)):
        step()


def annotated(f: Function) -> None:
    value = f.value(NUMBER)
    f.emit(f"{f.bind(f.fresh(NUMBER), NUMBER)}: float = {value.text}")


def ternary(f: Function) -> None:
    shape = f.rng.choice((NUMBER, NUMBER, VECTOR))
    text = f"{f.value(shape, 1)} if {f.condition()} else {f.value(shape, 1)}"
    if f.chance(0.2):
        text += f" if {f.condition()} else {f.value(shape, 1)}"
    f.emit(f"{f.bind(f.target(shape), shape)} = {text}")


def boolean_value(f: Function) -> None:
    a, b = f.value(NUMBER, 1), f.value(NUMBER, 1)
    f.tag("boolop-value")
    text = f.rng.choice((f"{a} or {b}", f"{a} and {b}", f"0.0 or {a}", f"{a} and {b} and {f.leaf(NUMBER)}"))
    f.emit(f"{f.bind(f.target(NUMBER), NUMBER)} = {text}")


def flag(f: Function) -> None:
    text = f.condition()
    f.emit(f"{f.bind(f.target(BOOL), BOOL)} = {text}")


def walrus(f: Function) -> None:
    value, name = f.value(NUMBER, 1), f.fresh(NUMBER)
    if f.chance(0.5):
        text = f"({name} := {value.text}) * {f.leaf(NUMBER)} + {name}"
        f.bind(name, NUMBER)
        f.emit(f"{f.bind(f.fresh(NUMBER), NUMBER)} = {text}")
    else:
        f.emit(f"if ({name} := {value.text}) > {f.constant()}:")
        f.bind(name, NUMBER)
        f.block(lambda: update(f))


def integer(f: Function) -> None:
    text = f.rng.choice((f"1 + {f.integer()} % 3", f"{f.integer()} // 2 + 1", "2", f"({f.integer()} + 1) % 4"))
    f.emit(f"{f.bind(f.target(INT), INT)} = {text}")


def list_value(f: Function) -> None:
    items = [f.value(NUMBER, 1).text for _ in range(f.rng.randint(2, 3))]
    f.tag("list-value")
    name = f.bind(f.fresh(LIST), LIST)
    f.emit(f"{name} = [{', '.join(items)}]")
    more = f.rng.choice((f"sum({name})", f"{name}[0] * {name}[-1]", f"len({name}) * {name}[1]", f"max({name})"))
    f.emit(f"{f.bind(f.target(NUMBER), NUMBER)} = {f.tame(Expr(more, 6.0)).text}")


def tuple_value(f: Function) -> None:
    items = [f.value(NUMBER, 1).text for _ in range(2)]
    f.emit(f"{f.bind(f.fresh(TUPLE), TUPLE)} = ({', '.join(items)})")


def assertion(f: Function) -> None:
    e = f.leaf(NUMBER)
    message = f.rng.choice(("", f', "{e} is too large"', f', f"{{{e}}} is too large"'))
    f.emit(f.rng.choice((f"assert abs({e.text}) < 100.0{message}", f"assert {e} < 99.0{message}")))


def exception(f: Function) -> None:
    e = f.leaf(NUMBER)
    f.emit(f"if abs({e.text}) > 100.0:")
    f.block(lambda: f.emit(f.rng.choice(('raise ValueError("too large")', f'raise ValueError(f"{{{e}}} is too large")'))))
    if f.chance(0.3):
        f.emit("else:")
        f.block(lambda: update(f))


def show(f: Function) -> None:
    e = f.leaf(NUMBER)
    f.emit(f.rng.choice((f'print("{e} is", {e})', f'print(f"{e}: {{{e}:.3f}}")', f'print({f.leaf(VECTOR)}, sep="")')))


def text(f: Function) -> None:
    e = f.leaf(NUMBER)
    name = f.fresh(COUNT)
    f.emit(f'label = f"{{{e}:.1f}} and {{{f.integer()}}}"')
    f.emit(f"{f.bind(name, COUNT)} = len(label)")


def nothing(f: Function) -> None:
    f.emit(f.rng.choice(("pass", "pass", f.leaf(NUMBER).text)))


def several_results(f: Function) -> None:
    for results in f.rng.sample(((NUMBER, NUMBER), (NUMBER, VECTOR)), 2):
        call = f.call(results)
        if call:
            f.emit(", ".join([f.bind(f.fresh(shape), shape) for shape in results]) + f" = {call.text}")
            return


def call(f: Function) -> None:
    for shape in f.rng.sample((NUMBER, VECTOR), 2):
        e = f.call((shape,))
        if e:
            text = f.arithmetic(e, f.leaf(shape)).text if f.chance(0.4) else e.text
            f.emit(f"{f.bind(f.target(shape), shape)} = {text}")
            return


def rebound_kind(f: Function) -> None:
    """A name for a value of another type; only where every path passes."""
    old = [name for kind in (VECTOR, VECTOR, INT, PAIR, NUMBER) for name in f.visible(kind)]
    if len(f.scopes) > 1 or f.locked:
        return None
    if not old:
        return assign(f)
    name = f.rng.choice(old)
    shape = f.rng.choice((NUMBER, VECTOR, PAIR, MATRIX))
    if name in f.visible(shape):
        return None
    value = f.value(shape)
    f.tag("rebound-kind")
    return f.emit(f"{f.bind(name, shape)} = {value.text}")


def update(f: Function) -> None:
    """An assignment to a variable from outside of this block, so that the block matters."""
    found = [(n, k) for scope in f.scopes[:-1] for n, k in scope.items() if isinstance(k, tuple) and n not in f.locked]
    if not found:
        return assign(f)
    name, shape = f.rng.choice(found)
    if shape == NUMBER and f.chance(0.35):
        e = f.tame(f.number(1), 1.0)
        return f.emit(f"{name} {f.rng.choice('+-*')}= {e if f.chance(0.5) else e.text}")
    other = f.expr(shape, 1) if f.chance(0.6) or shape == NUMBER else f.smaller(shape, 1)
    e = f.tame(f.arithmetic(Expr(name), other) if f.chance(0.7) else f.expr(shape, 2))
    if f.loops and e.bound > 1.0:
        e = binary(f.rng.choice((0.5, 0.7)), "*", e, 1.0)
    return f.emit(f"{name} = {e.text}")


def branch(f: Function) -> None:
    def arm():
        if f.chance(0.12):
            return f.emit("pass")
        update(f)
        if f.chance(0.35):
            statement(f, simple=len(f.scopes) > 2)
        return None

    f.emit(f"if {f.condition()}:")
    f.block(arm)
    for _ in range(f.rng.choice((0, 0, 1, 2))):
        f.emit(f"elif {f.condition()}:")
        f.block(arm)
    if f.chance(0.5):
        f.emit("else:")
        f.block(arm)


def both_arms(f: Function) -> None:
    """A variable that every arm defines."""
    shape, f_value = f.rng.choice((NUMBER, VECTOR)), f.value
    name = f.fresh(shape)
    heads = [f"if {f.condition()}:", "else:"]
    if f.chance(0.3):
        heads.insert(1, f"elif {f.condition()}:")
    f.tag("both-arms")
    for head in heads:
        f.emit(head)
        f.block(lambda: (statement(f, simple=True) if f.chance(0.3) else None, f.emit(f"{name} = {f_value(shape).text}")))
    f.bind(name, shape)


def early_return(f: Function) -> None:
    f.emit(f"if {f.condition()}:")

    def arm():
        if f.chance(0.3):
            update(f)
        if f.chance(0.3):
            return early_return(f)
        return f.emit(f"return {f.result()}")

    f.block(arm)
    if f.chance(0.15):
        f.emit("else:")
        f.block(lambda: update(f))


def iterable(f: Function, depth: int = 0):
    """Text to iterate over, a target for its items as (name, type) pairs or nests of them, the tag, is it non-empty?"""
    rng = f.rng
    kinds = ["range", "range", "range", "step", "array", "rows", "rows", "list", "tuple", "list-value", "reversed"]
    kinds += ["zip", "enumerate"] * (2 - depth)
    kind = rng.choice(kinds)
    if kind == "rows" and not f.visible(MATRIX):
        kind = "range"
    if kind == "list-value" and not f.visible(LIST):
        list_value(f)
    if kind == "range":
        if f.chance(0.5):
            return f"range({rng.randint(1, 3)})", INT, "for-range", True
        return rng.choice((f"range({f.integer().text})", f"range(1, {f.integer().text})")), INT, "for-range", False
    if kind == "step":
        text = rng.choice(("range(3, 0, -1)", "range(0, 4, 2)", f"range({f.integer().text}, 0, -2)", "range(2, -1, -1)"))
        return text, INT, "for-range-step", text[6].isdigit()
    if kind in ("array", "list-value"):
        if kind == "list-value":
            return rng.choice(f.visible(LIST)), NUMBER, "for-list-value", False
        return f.leaf(VECTOR).text, NUMBER, "for-array", True
    if kind == "rows":
        return rng.choice(f.visible(MATRIX)), VECTOR, "for-rows", True
    if kind in ("list", "tuple"):
        items = ", ".join(f.value(NUMBER, 1).text for _ in range(rng.randint(2, 3)))
        return (f"[{items}]" if kind == "list" else f"({items})"), NUMBER, f"for-{kind}", True
    inner, item, _, some = iterable(f, depth + 1)
    if kind == "reversed":
        while "zip" in inner or "enumerate" in inner or "reversed" in inner:
            inner, item, _, some = iterable(f, 2)
        return f"reversed({inner})", item, kind, some
    if kind == "zip":
        other, item_2, _, some_2 = iterable(f, depth + 1)
        return f"zip({inner}, {other})", [item, item_2], kind, some and some_2
    start = f.chance(0.4)
    if start:
        f.tag("enumerate-start")
    return f"enumerate({inner}{rng.choice((', 1', ', start=1')) if start else ''})", [INT, item], kind, some


def targets(f: Function, kind, inner: bool = False) -> str:
    """New names for the items of an iterable; they are bound here."""
    if isinstance(kind, list):
        names = ", ".join([targets(f, item, True) for item in kind])
        return f"({names})" if inner else names
    return f.bind(f.fresh(kind), kind)


def loop(f: Function) -> None:
    if len(f.loops) >= 3:
        return assign(f)
    over, kind, tag, some = iterable(f)
    f.tag(tag)
    at = len(f.lines)
    f.emit("")
    names = ""

    def body():
        nonlocal names
        names = targets(f, kind)
        if kind == INT and f.chance(0.25):
            f.tag("target-reassigned")
            f.emit(f"{names} = ({names} + 1) % 3")
        bounds = [name for name in f.visible(INT, writable=True) if f"range({name})" in over]
        trips(f, "for")
        if bounds:
            f.tag("bound-changed")
            f.emit(f"{bounds[0]} = {bounds[0]} % 3 + 1")

    f.block(body)
    f.lines[at] = "    " * len(f.scopes) + f"for {names} in {over}:"
    loop_else(f, "for-else")
    if some and not isinstance(kind, list) and f.chance(0.6):
        f.bind(names, kind)
        if kind == NUMBER or f.chance(0.5):
            f.tag("loop-variable-after")
            scale = names if kind == NUMBER else f"0.3 * {names}" if kind == INT else f"{names}.sum()"
            value = f"{f.module.numpy('sin')}({f.leaf(NUMBER)} + {scale})"
            f.emit(f"{f.bind(f.target(NUMBER), NUMBER)} = {value}")
    return None


def counting_loop(f: Function) -> None:
    """`while` with a counter, perhaps with a condition on a float; or `while True` that breaks."""
    if len(f.loops) >= 3:
        return assign(f)
    counter, limit = f.fresh(COUNT), f.rng.randint(2, 4)
    f.emit(f"{f.bind(counter, COUNT)} = 0")
    f.locked.add(counter)
    forever = f.chance(0.4)
    heads = [f"{counter} < {limit}"]
    numbers = f.visible(NUMBER, writable=True)
    if numbers and f.chance(0.6) and not forever:
        f.tag("while-float")
        name = f.rng.choice(numbers)
        heads.append(f.rng.choice((f"{name} < 1.2", f"{name} * {name} > 0.05", f"abs({name}) < 1.4", f"-1.0 < {name}")))
        if f.chance(0.2):
            heads[1] = f"({name} := {f.tame(f.arithmetic(Expr(name), f.leaf(NUMBER)), 1.0).text}) < 0.9"
    f.emit(f"while {'True' if forever else ' and '.join(heads)}:")

    def body():
        f.emit(f"{counter} += 1")
        if forever:
            f.emit(f"if {counter} > {limit} or {f.condition(0)}:" if f.chance(0.5) else f"if {counter} > {limit}:")
            last = "break" if f.chance(0.8) else f"return {f.result()}"
            f.block(lambda: f.emit(last))
        trips(f, "while")

    f.block(body)
    f.locked.discard(counter)
    if not forever or f.chance(0.1):
        loop_else(f, "while-else")
    return None


def trips(f: Function, kind: str) -> None:
    """The body of a loop: an update, other statements, and ways out among them."""
    f.loops.append(kind)
    actions = [update] + [statement] * f.rng.choice((0, 1, 1, 2))
    actions += [way_out] * f.rng.choice((0, 0, 1, 1, 2))
    f.rng.shuffle(actions)
    for action in actions:
        if action is statement:
            statement(f, simple=len(f.scopes) > 3 or f.chance(0.6))
        else:
            action(f)
    f.loops.pop()


def way_out(f: Function) -> None:
    """`break`, `continue` or `return` under a condition, alone or buried in an arm that does more."""
    word = f.rng.choice(("break", "break", "continue", "continue", "return", *["return"] * len(f.loops[1:])))
    f.emit(f"if {f.condition()}:")

    def arm():
        if f.chance(0.3):
            update(f)
        if f.chance(0.15) and len(f.scopes) < 6:
            return way_out(f)
        return f.emit(f"return {f.result()}" if word == "return" else word)

    f.block(arm)
    if f.chance(0.2):
        f.emit("else:")
        f.block(lambda: update(f))


def loop_else(f: Function, tag: str) -> None:
    if f.chance(0.25):
        f.tag(tag)
        f.emit("else:")
        f.block(lambda: f.emit(f"return {f.result()}") if f.chance(0.1) else update(f))


def accumulation(f: Function) -> None:
    """A sum or product that starts at an integer."""
    if len(f.loops) >= 2:
        return assign(f)
    name, product = f.fresh(NUMBER), f.chance(0.3)
    f.emit(f"{name} = {1 if product else 0}")
    f.tag("int-accumulator")
    over, kind, tag, _ = iterable(f, 1)
    f.tag(tag)
    at = len(f.lines)
    f.emit("")
    names = ""

    def body():
        nonlocal names
        names = targets(f, kind)
        f.loops.append("for")
        e = f.tame(f.number(2), 1.0)
        step = f"*= 1.0 + 0.3 * {e}" if product else f"+= {e.text}"
        f.emit(f"{name} {step}" if f.chance(0.5) else f"{name} = {name} {step[0]} ({step[3:]})")
        f.loops.pop()

    f.block(body)
    f.lines[at] = "    " * len(f.scopes) + f"for {names} in {over}:"
    f.bind(name, NUMBER)
    return None


SIMPLE = [
    assign,
    assign,
    chained,
    tuple_target,
    nested_target,
    starred,
    swap,
    swap,
    unpack_array,
    augmented,
    augmented_array,
]
SIMPLE += [
    annotated,
    ternary,
    boolean_value,
    flag,
    walrus,
    integer,
    list_value,
    tuple_value,
    assertion,
    exception,
    show,
]
SIMPLE += [text, nothing, several_results, several_results, call, rebound_kind, rebound_kind]
COMPOUND = [branch, branch, branch, both_arms, early_return, early_return, accumulation, accumulation]
COMPOUND += [loop] * 9 + [counting_loop] * 5


def statement(f: Function, simple: bool = False) -> None:
    """One statement, drawn from the table; `simple` leaves loops and branches out."""
    f.rng.choice(SIMPLE if simple or f.chance(0.5) else COMPOUND)(f)


# Helpers


def plain_helper(module: Module, number: int) -> str:
    """A function of numbers, arrays and integers, with one or two results."""
    rng, f = module.rng, Function(module, in_helper=True)
    params, texts, star = [], [], ""
    kinds = [rng.choice((NUMBER, VECTOR)), *rng.choices((NUMBER, NUMBER, VECTOR, INT), k=rng.randint(0, 2))]
    ways = ["plain"] * len(kinds)
    if rng.random() < 0.5:
        kinds, ways = [*kinds, rng.choice((NUMBER, INT))], [*ways, "default"]
    if rng.random() < 0.25:
        star = "rest"
    if rng.random() < 0.3:
        kinds, ways = [*kinds, NUMBER], [*ways, "keyword"]
    for kind, way in zip(kinds, ways, strict=True):
        name = f.bind(f.fresh(kind), kind)
        if way == "keyword" or (star and way == "default"):
            texts += [f"*{star}"] if star else ["*"] if not any(text.startswith("*") for text in texts) else []
            if star:
                params.append(("", NUMBER, "star"))
                star = ""
                module.tags.add("star-parameter")
            way = "keyword-default" if way == "default" else way
        if way == "keyword" and rng.random() < 0.4:
            way = "keyword-default"
        if way.endswith("default"):
            texts.append(f"{name}={'2' if kind == INT else '0.7'}")
        else:
            texts.append(name)
        params.append((name, kind, way))
    if star:
        texts.append(f"*{star}")
        params.append(("", NUMBER, "star"))
        module.tags.add("star-parameter")
    if any(text.startswith("*") and len(text) > 1 for text in texts):
        total, e = f.fresh(NUMBER), f.fresh(NUMBER)
        f.emit(f"{total} = {f.leaf(NUMBER)} * len(rest)")
        f.emit(f"for {e} in rest:")
        f.pending.discard(e)
        f.block(lambda: f.emit(f"{total} = 0.5 * {total} + {module.numpy('sin')}({e})"))
        f.bind(total, NUMBER)
    results = rng.choice(((NUMBER,), (VECTOR,), (NUMBER, NUMBER), (NUMBER, VECTOR)))
    f.result_kind = results
    f.body(rng.choice((0, 1, 1, 2, 2)))
    name = f"{rng.choice(('helper', 'part', 'step'))}_{number}"
    module.helpers.append(Helper(name, tuple(params), results))
    return "\n".join([f"def {name}({', '.join(texts)}):", *f.lines])


def recursive_helper(module: Module, number: int) -> str:
    """A function that calls itself, or a pair that call each other, with an integer that counts down."""
    rng = module.rng
    shape = rng.choice((NUMBER, NUMBER, VECTOR))
    name = f"descend_{number}"
    mutual = rng.random() < 0.3
    texts = []
    for own, other in ((name, name + "_too"), (name + "_too", name)) if mutual else ((name, name),):
        f = Function(module, in_helper=True)
        f.result_kind = (shape,)
        x, n = f.bind(f.fresh(shape), shape), f.bind(f.fresh(INT), INT)
        f.locked.add(n)
        f.emit(f"if {n} <= 0:")
        base = str(rng.choice((1.0, 0.5))) if own != name and rng.random() < 0.3 else None  # a number, beside vectors
        f.block(lambda f=f, base=base: f.emit(f"return {base or f.result()}"))
        if rng.random() < 0.5:
            rng.choice((assign, branch, walrus, tuple_target))(f)
        again = Expr(f"{other}({f.tame(f.expr(shape, 1), 1.5).text}, {n} - 1)")
        if rng.random() < 0.25:
            again = binary(again, "*", f"{other}(n={n} - 2, {x}=0.5 * {x})", 2.0)
        module.tags.add("recursion")
        f.emit(f"return {f.tame(f.arithmetic(again, f.leaf(shape))).text}")
        texts.append("\n".join([f"def {own}({x}, {n}):", *f.lines]))
    params = (x, shape, "plain"), (n, INT, "plain")
    module.helpers.append(Helper(name, params, (shape,)))
    return "\n\n\n".join(texts)


# What occurs in a text


def found_features(tree: ast.Module) -> set[str]:
    """The constructs of a module, read off its syntax tree: all that needs no types."""
    found: set[str] = set()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = [alias for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    if any((a.name == "numpy" and a.asname != "np") or a.asname == "total" for a in imported):
        found.add("import-spelling")
    several = {
        name
        for name, node in functions.items()
        if name != "f" and any(isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple) for n in ast.walk(node))
    }
    for function in functions.values():
        if function.args.defaults:
            found.add("default")
        if function.args.kwonlyargs:
            found.add("keyword-only")
        if ast.get_docstring(function):
            found.add("docstring")
        for place, child in enumerate(function.body):
            last = place == len(function.body) - 1
            _visit(child, 0, 0, last, found, functions, several)
    return found


SIMPLE_NODES = {
    ast.IfExp: "ternary", ast.BoolOp: "boolop", ast.Not: "not", ast.NamedExpr: "walrus", ast.Break: "break",
    ast.Continue: "continue", ast.Assert: "assert", ast.Raise: "raise", ast.JoinedStr: "fstring", ast.Pass: "pass",
    ast.AugAssign: "augassign", ast.AnnAssign: "annotation", ast.MatMult: "matmul",
}  # fmt: skip


def _visit(node, loops, ifs, last, found, functions, several) -> None:
    kind = type(node)
    if kind in SIMPLE_NODES:
        found.add(SIMPLE_NODES[kind])
    if kind is ast.Assign:
        if len(node.targets) > 1:
            found.add("chained")
        if isinstance(node.targets[0], ast.Tuple):
            found.add("tuple-target")
            if any(isinstance(item, ast.Starred) for item in node.targets[0].elts):
                found.add("starred")
    elif kind is ast.If:
        found.add("if")
        if ifs:
            found.add("nested-if")
        if node.orelse:
            found.add("elif" if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) else "else")
    elif kind in (ast.For, ast.While):
        if loops:
            found.add("nested-loop")
        if kind is ast.While:
            found.add("while-true" if isinstance(node.test, ast.Constant) else "while")
        elif isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name):
            name = node.iter.func.id
            found.add(name if name != "range" else "for-range-step" if len(node.iter.args) == 3 else "for-range")
        if node.orelse:
            found.add("for-else" if kind is ast.For else "while-else")
            if any(isinstance(n, ast.Break) for child in node.body for n in ast.walk(child)):
                found.add("else-after-break")
    elif kind is ast.Return:
        if not last:
            found.add("early-return")
        if loops:
            found.add("return-in-loop")
        if loops > 1:
            found.add("return-in-nested-loop")
    elif kind is ast.Compare and len(node.ops) > 1:
        found.add("compare-chain")
    elif kind is ast.Subscript:
        if isinstance(node.slice, (ast.List, ast.Call)):
            found.add("index-array")
        found.add("slice" if any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)) else "index")
    elif kind is ast.Attribute and node.attr in ("T", "shape", "size", "ndim"):
        found.add("attribute")
    elif kind is ast.Call:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id == "print":
                found.add("print")
            if function.id in functions:
                found.update(["call"], ["call-in-loop"] * (loops > 0), ["keyword-call"] * bool(node.keywords))
                found.update(["several-results"] * (function.id in several))
        elif isinstance(function, ast.Attribute):
            module = isinstance(function.value, ast.Name) and function.value.id in ("np", "numpy", "onp", "math")
            found.add("method" if not module else "math" if function.value.id == "math" else "numpy")
    inner_loops = loops + (kind in (ast.For, ast.While))
    for child in ast.iter_child_nodes(node):
        elif_ = kind is ast.If and isinstance(child, ast.If) and node.orelse == [child]
        _visit(child, inner_loops, ifs + (kind is ast.If and not elif_), False, found, functions, several)


# Shrinking


def reduced(source: str, fails: Callable[[str], bool]) -> str:
    """A shorter text for which `fails` still holds: statements go, or what they hold takes their place."""
    shorter = True
    while shorter:
        shorter, place = False, 0
        while (texts := _simplified(source, place)) is not None:
            found = next(filter(fails, texts), None)
            if found is None:
                place += 1
            else:
                source, shorter = found, True
    return source


def _simplified(source: str, place: int) -> list[str] | None:
    """The texts in which the statement of this number is gone, or is its body alone; None behind the last one."""
    texts = []
    for part in ("", "body", "orelse"):
        tree = ast.parse(source)
        blocks = [
            (block, index)
            for node in ast.walk(tree)
            for block in (getattr(node, "body", None), getattr(node, "orelse", None))
            if isinstance(block, list)
            for index in range(len(block))
        ]
        if place >= len(blocks):
            return None
        block, index = blocks[place]
        inside = getattr(block[index], part, None) if part else []
        if isinstance(inside, list) and (inside or not part) and not (part and isinstance(block[index], ast.FunctionDef)):
            block[index : index + 1] = inside
            block[:] = block or [ast.Pass()]
            text = ast.unparse(tree)
            texts += [text] if len(text) < len(source) else []
    return texts
