"""Random programs in which nobody knows which function a name stands for: bound anew by branches and loops, composed,
kept in lists and dicts, made by functions, closing over what is bound anew or written (late, in loops, several of them over
one variable), remembering their values.

`function_program(seed)` writes the same program again.  Every function takes a number and returns one of moderate size.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

NAMES = ["f", "g", "h"]
FUNCTIONS = """
    np.sin|np.tanh|np.cos|lambda t: np.sin(t * {e})|lambda t, c={e}: c * np.tanh(t)|lambda t, f={f}: 0.5 * f(t)
    compose({f}, {g})|compose({f}, np.sin)|after({f}, {g})|scaled({e})|partial(affine, {e}, {e})|twice({f})|{f}
    lambda t: np.sin(w * t)|lambda t, w=w: np.sin(w * t)|lambda t, k=k: np.cos(t * x[k])|lambda t: np.tanh(t * u[0])
    weighted(u)|weighted(u * 0.5)|summed([{f}, {g}])|summed(fs)|fs[0]|fs[-1]|fs[k % len(fs)]|d['a']|d['b']
    ({f} if {c} else {g})|(np.sin if {c} else lambda t: t * {e})|reduce(compose, fs)|pick({c})|layers(x)[k]
    lambda t, g={g}: np.sin(g(t) + {e})|ladder({f}, 2)|lambda t: np.sin(t) * np.sum(u)|grad(scaled({e}))|x_of(k)
    partial(affine, b={e}, a=0.5)|shifted(x[1])|reduce(lambda q, c: lambda t: np.sin(q(t) * c), x, {f})
    Gain({e}).run|Gain(x[k]).run|partial(partial(affine, {e}), {e})
"""
NUMBERS = """
    np.sin(x[0])|{f}(x[1])|s|0.5|fs[0](x[2])|d['a'](s)|np.tanh({f}(s) + x[k])|w|{f}({g}(s))|fs[-1](w)|x[k]|np.sin(w * s)
    compose({f}, {g})(s)|applied(fs, x[0])|u[1]|sum(q(s) for q in fs) * 0.2
    steps(4, x, {})|steps(k + 2, u, {}) * w|levels([{e}, [x[k], w], [s]]) * 0.1|handed({f}, {e})|handed(falling, x[k], 3)
    spread({f}, {e})|spread(bent, x[k], (s,))|spread(bent, {e}, (), {'w': s})|spread(bent, s, (0.4,), dict(w=x[k]))
    rewrapped({f}, {e})|rewrapped({f}, s, c={e}, act={g})|rewrapped(np.sin, {e}, **{'c': w, **{'act': np.cos}})
"""
STATEMENTS = """
    fs.append({F})|fs.append({F})|fs = [{F}, {F}]|fs = [scaled(q) for q in x]|d['a'] = {F}|d['b'] = {F}|fs[0] = {F}
    for q in fs:#    s = np.tanh(q(s) + 0.1)|s += np.sin({f}({e}))|s += np.sin({f}({e}))|{f}, {g} = {g}, {f}|w = np.sin({e})
    u[0] = np.sin({e})|u = np.sin(u + {e})|u *= 0.9|fs = fs[::-1]|fs = fs + [{F}]|{f} = fs.pop() if len(fs) > 1 else {F}
    fs{n}, k{n} = bends({v})#s = np.tanh(fs{n}[k % k{n}](t=s))
    fs{n}, k{n} = bends({v})#s = np.tanh(fs{n}[k % k{n}](s, {e}))
    fs{n}, k{n} = bends({v})#s = np.sin(fs{n}[k % k{n}]({e}, c={v}))
    if {f} is not None:#    s = np.tanh({f}(s))|d = {'a': {F}, 'b': {F}}|{f} = np.sin|s = np.tanh(s + d['b'](w))
    for q in [{f}, {g}, np.sin]:#    s = np.sin(q(s))|def {f}(t):#    return np.sin(t * w + 0.1)
    def {f}(t, p={e}, q={F}):#    return np.sin(p * q(t))|def {f}(t):#    v = t * x[0]#    return np.sin(v)
    for q in x:#    {f} = compose({f}, scaled(q))|{f} = None#if {c}:#    {f} = {F}#else:#    {f} = np.tanh
    s += 0.3 * applied(fs, s)|fs = list(map(scaled, x))|fs = layers(u)|{f} = max(fs, key=lambda q: q(0.3))
    s += np.sin(grad({f})(s))|s = np.tanh(s + sum(q(0.2) for q in d.values()))|op = put if {c} else raised#op(u, {e})
    for k in range(3):#    m{n} = {F}#    if k == 0 or {c}:#        o{n} = m{n}#    s = np.tanh(s + o{n}(x[k]))
    for k in range(3):#    def m{n}(t, c=x[k]):#        return c#    if {c}:#        o{n} = [m{n}]#        s = o{n}[0](s)
    {'p': put, 'r': raised}['p'](u, {e})|for op in (put, raised):#    op(u, {e})
    for w in x:#    fs.append(lambda t: np.sin(w * t))|for k in range(3):#    fs.append(lambda t: np.sin(x[k] + t * s))
    fs += [lambda t: np.tanh(s + t), lambda t: np.sin(s * t) + w]|s = np.tanh(s + fs[-1](w))|w *= np.sin(fs[-2](s))
    z{n} = s#def add{n}(t):#    nonlocal z{n}#    z{n} = np.sin(z{n} + t)#add{n}({e})#fs.append(lambda t: t * z{n})#add{n}(w)
    box{n} = [w]#fs.append(lambda t: np.sin(box{n}[0] * t))#box{n}[0] = np.tanh(box{n}[0] + {e})#s += fs[-1](s) * 0.2
    {f}, w = same(({F}, {e}))|{f} = same({F})
    os{n} = [Gain(q) for q in x]#fs.append(os{n}[1].run)#os{n}[1].c = {e}#s = np.tanh(s + fs[-1](w))
    z{n} = {e}#d['a'] = lambda t: np.sin(z{n} * t)#for q in fs:#    z{n} = np.tanh(q(z{n}) + 0.2)#s = np.tanh(s + d['a'](w))
"""
REMEMBERING = [  # their values
    "@cache#def m{n}(i):#    return {v} if i < 1 else np.sin(m{n}(i - 1) + {v}) + 0.3 * m{n}(i // 2)#"
    "s = np.tanh(s + m{n}(3))",
    "@cache#def m{n}(i, j=1):#    if 0 in (i, j):#        return {v} * x[i]#"
    "    return np.tanh(m{n}(i - 1, j) + m{n}(i, j - 1))#w += m{n}(2, 2)",
    "memo{n} = {0: {v}}#def m{n}(i):#    if i not in memo{n}:#"
    "        memo{n}[i] = np.sin(m{n}(i - 1) * {v}) + {v}#    return memo{n}[i]#s *= m{n}(3)",
    "memo{n} = {}#def m{n}(i):#    if i in memo{n}:#        return memo{n}[i]#"
    "    r = u * {v} if i == 0 else np.sin(m{n}(i - 1)) * m{n}(i // 2)#    memo{n}[i] = r#    return r#"
    "s += np.sum(m{n}(2)) * 0.1",
    "def m{n}(i, memo={}):#    if i in memo:#        return memo[i]#"
    "    memo[i] = {v} if i < 2 else m{n}(i - 1) * 0.5 + m{n}(i - 2) * {v}#    return memo[i]#"
    "for i in range(3):#    s = np.tanh(s + m{n}(i + k))",
    "memo{n} = {}#def m{n}(i):#    try:#        return memo{n}[i]#    except KeyError:#        pass#"
    "    r = {v} if i < 1 else np.sin(m{n}(i - 1) + {v})#    memo{n}[i] = r#    return r#s *= m{n}(2)",
    "memo{n} = {}#def m{n}(i):#    r = memo{n}.get(i)#    if r is None:#"
    "        r = {v} if i < 1 else np.tanh(m{n}(i - 1) * {v}) + m{n}(i // 2)#        memo{n}[i] = r#    return r#"
    "s *= m{n}(2)",
]
FIXED = """import functools
from functools import cache, partial, reduce

import numpy as np

from s2sgrad import grad


def compose(f, g):
    return lambda t: f(g(t))


def after(f, g):
    def both(t):
        y = f(t)
        return np.tanh(g(y))

    return both


def scaled(c):
    return lambda t: np.sin(c * t)


def shifted(c):
    def inner(t, by=c):
        return np.tanh(t + by)

    return inner


def affine(a, b, t):
    return np.tanh(a * t + b)


def twice(f):
    return compose(f, f)


def bowed(f, t, c, by=0.5):
    return np.tanh(f(t) * c + by)


def rewrapped(f, t, **words):
    words.setdefault("c", t * 0.5)
    act = words.pop("act", np.sin)
    if t > 0.2:
        words["by"] = act(t)
    return bowed(f, t, **words)


def weighted(u):
    return lambda t: np.tanh(t * np.sum(u))


def summed(fs):
    return lambda t: np.tanh(sum(q(t) for q in fs))


def pick(c):
    if c:
        return np.sin
    return lambda t: t * 0.5


def layers(x):
    return [lambda t, c=c: np.tanh(c * t) for c in x]


def ladder(f, n):
    g = f
    for _ in range(n):
        g = compose(f, g)
    return g


def x_of(k):
    return [np.sin, np.cos, np.tanh, np.arctan][k % 4]


def applied(fs, t):
    for q in fs:
        t = np.tanh(q(t))
    return t


def same(v):
    return v


class Gain:
    def __init__(self, c):
        self.c, self.by = c, (0.5, c * c)

    def run(self, t):
        return np.tanh(self.c * t + self.by[1])


def steps(i, x, memo):
    if i in memo:
        return memo[i]
    if i < 2:
        return x[i]
    memo[i] = np.sin(steps(i - 1, x, memo)) + steps(i - 2, x, memo) * 0.4
    return memo[i]


def squares(items):
    return sum(item * item for item in items)


def levels(t):
    return squares([levels(e) for e in t]) if isinstance(t, list) else t


def handed(f, *args):
    return f(*args)


def bent(t, c=0.3, w=2.0):
    return np.sin(c * t) * w


def spread(f, t, items=(), words={}):
    return f(t, *items, **words)


def bends(w):
    def by(t, c=0.3):
        return np.sin(c * t) * w

    return [by, bent], 2


def falling(t, n):
    return t if n == 0 else np.sin(handed(falling, t, n - 1)) + 0.3 * t


def put(u, e):
    u[1] = e


def raised(u, e):
    u += 0.1 * e
"""


def _listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


FUNCTIONS, NUMBERS, STATEMENTS = map(_listed, (FUNCTIONS, NUMBERS, STATEMENTS))
STATEMENTS += REMEMBERING


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.features, self.made = rng, set(), 0

    def filled(self, text: str, depth: int = 0) -> str:
        """A statement or an expression with something in its holes."""
        rng = self.rng
        fills = {
            "{f}": lambda: rng.choice(NAMES), "{g}": lambda: rng.choice(NAMES),
            "{c}": lambda: rng.choice(["x[0] > 0.1", "s > 0.0", "k % 2", "x[1] < x[2]"]),
            "{e}": lambda: self.filled(rng.choice(NUMBERS if depth < 2 else ["x[k]", "0.5", "s"]), depth + 1),
            "{F}": lambda: self.function(depth + 1),
            "{v}": lambda: rng.choice(["w", "s", "x[k]", "x[0]", "u[1]", "0.5", "np.sin(w)"]),
        }  # fmt: skip
        for hole, fill in fills.items():
            while hole in text:
                text = text.replace(hole, fill(), 1)
        return text

    def function(self, depth: int = 0) -> str:
        text = self.rng.choice(FUNCTIONS if depth < 2 else FUNCTIONS[:6])
        self.features.add(text)
        return self.filled(text, depth)

    def statement(self) -> list[str]:
        rng = self.rng
        if rng.random() < 0.4:
            return [f"{rng.choice(NAMES)} = {self.function()}"]
        text = rng.choice(STATEMENTS)
        self.features.add(text)
        self.made += 1
        return self.filled(text.replace("{n}", str(self.made))).split("#")

    def block(self, depth: int, most: int) -> list[str]:
        rng, out = self.rng, []
        for _ in range(rng.randint(1, most)):
            roll = rng.random()
            if depth < 2 and roll < 0.18:
                out += [f"if {self.filled('{c}')}:", *_indented(self.block(depth + 1, 3))]
                if rng.random() < 0.6:
                    out += ["else:", *_indented(self.block(depth + 1, 2))]
            elif depth < 2 and roll < 0.34:
                out += [f"for k in range({rng.choice(['3', '1, 4', '2'])}):", *_indented(self.block(depth + 1, 3))]
            else:
                out += self.statement()
        return out


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def function_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"functions {seed}")
    writer = _Writer(rng)
    lines = ["k, s, w, u = 1, 0.3, x[2], x * 0.7", "f, g, h = np.sin, lambda t: np.tanh(t * x[0]), scaled(w)"]
    lines += ["fs = [np.tanh, scaled(x[1])]", "d = {'a': np.cos, 'b': lambda t: t * 0.5}"]
    if rng.random() < 0.5:  # so that fewer texts are followed as data from their first line
        lines = [*lines[:1], "f, g, h = np.sin, np.cos, np.tanh", "fs = [np.sin, np.tanh]", "d = {'a': np.cos, 'b': np.sin}"]
    lines += writer.block(0, 6)
    result = rng.choice(["np.sin(f(s)) + g(w) * s", "f(s) + h(x[0]) + np.sum(u * x)", "fs[0](s) * fs[-1](w) + f(g(x[1]))",
                         "d['a'](s) + d['b'](w) + f(x[0]) * s", "reduce(compose, fs)(s) + np.sum(u)"])  # fmt: skip
    body = "\n".join(_indented([*lines, f"return {result}"]))
    kinds = ((4,), NUMBER)
    source = f"{FIXED}\n\ndef f(x, c0):\n{body}\n".replace("def f(x, c0):\n", "def f_(x, c0):\n", 1) + "\n\nf = f_\n"
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(writer.features), seed, kinds, "function_program")
