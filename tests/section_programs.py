"""Random programs that store into sections of arrays in nested loops, and read these sections and their neighbours there,
in the loops around, and behind them.

`section_program(seed)` writes the same program again.  Indices are variables of loops, these plus a constant under a name of
their own, the counts of `enumerate`; rows are read through views that are bound in each trip.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (6,)
HEADS = [
    "for {v} in range(1, 5):", "for {v} in range(1, 5):", "for {v} in range(4, 0, -1):", "for {v} in range(2, 4):",
    "for {v}, q in enumerate(x[:4], start=1):", "for {v}, q in enumerate(x[:4], 1):", "for {v}_ in range(4):",
    "for _ in range(n):", "for {v} in reversed(range(1, 5)):", "for {v} in range(1, n + 2):", "while n > {d}:",
]  # fmt: skip
TRIPS = ["2", "0", "len(x) - 3", "1 if c > 0.7 else 3"]
PLAIN = [
    "a[1:-1]",
    "a[0]",
    "a[-1]",
    "a[2]",
    "b[1:]",
    "b[:-1]",
    "m[0]",
    "m[:, 0]",
    "m[1:-1, 1:-1]",
    "m[-1, 1:]",
    "a",
    "b",
    "m",
]
BY_VARIABLE = ["a[{v}]", "a[{v} - 1]", "a[{v} + 1]", "b[{v}]", "b[{v} - 1]", "a[:{v}]", "a[{v}:]", "m[{v}]", "m[{v} - 1]",
               "m[:, {v}]", "m[{v}, 1:]", "m[{v} - 1, :-1]", "m[{v}, 0]", "m[{v} + 1, {v}]"]  # fmt: skip
BY_TWO = [
    "m[{v}, {w}]",
    "m[{v} - 1, {w}]",
    "m[{v}, {w} - 1]",
    "m[{v} - 1, {w} - 1]",
    "m[{v} + 1, {w}]",
    "m[{w}, {v}]",
    "a[{w}]",
]
NAMES = ["{n} = {v} + 1", "{n} = {v} - 1", "{n} = 1 + {v}"]
VIEWS = ["r = m[{v}]", "r = m[{v} - 1]", "r = m[:, {v}]", "r = a[{v}:]", "r = b[:{v} + 1]", "r = a"]
SUMS = ["np.sum({})", "np.mean({})", "np.max({})", "np.sum(np.sin({}))"]


def section_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"section {seed}")
    lines = [
        "def f(x, c):",
        f"    n = {rng.choice(TRIPS)}",
        "    a = x * 1.0",
        "    b = np.cos(x)",
        "    m = np.outer(x, x) + c",
        "    s = 0.0",
    ]
    lines += _block(rng, "    ", [], 0, rng.randint(3, 5))
    lines.append("    return s + np.sum(a * a) + np.sum(b * c) + np.sum(m * m * 0.1)")
    kinds = (VECTOR, NUMBER)
    source = "import numpy as np\n\n\n" + "\n".join(lines) + "\n"
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(), seed, kinds, "section_program")


def _block(rng: random.Random, indent: str, known: list[str], depth: int, count: int) -> list[str]:
    """Statements, some of them loops; `known` are the names of indices."""
    out: list[str] = []
    for _ in range(count):
        way = rng.random()
        if way < (0.5, 0.3, 0.0)[depth]:
            out += _loop(rng, indent, known, depth)
        elif way < 0.65 and known:
            name = rng.choice("jk")
            out.append(indent + rng.choice(NAMES).format(n=name, v=rng.choice(known)))
            if name not in known and rng.random() < 0.7:
                known = [*known, name]
        elif way < 0.72 and known:
            out.append(indent + rng.choice(VIEWS).format(v=rng.choice(known)))
            out.append(
                indent + rng.choice(["s += r[0] * r[-1]", "s += np.sum(r * r)", "r *= c", "a[0] = r[1] * r[0]", "r[0] += c"])
            )
        else:
            out += [indent + line for line in _store(rng, known)]
    return out or [indent + "s += a[1]"]


def _loop(rng: random.Random, indent: str, known: list[str], depth: int) -> list[str]:
    """A loop with its block, or a branch."""
    if rng.random() < 0.2:
        test = rng.choice(["c > 0.7", "s > 1.0", "a[1] > b[1]", "x[0] > x[1]", *(f"{name} > 2" for name in known)])
        return [f"{indent}if {test}:", *_block(rng, indent + "    ", known, depth, rng.randint(1, 3))]
    variable = "il"[depth]
    head = rng.choice(HEADS).format(v=variable, d=depth)
    inside = known if "_ in" in head or "while" in head else [*known, variable]
    body = _block(rng, indent + "    ", inside, depth + 1, rng.randint(1, 4))
    if "while" in head:
        return [indent + head, *body, indent + "    n -= 1"]
    if f"{variable}_ in" in head:
        body = [
            indent + f"    {variable} = {variable}_ + 1",
            *_block(rng, indent + "    ", [*known, variable], depth + 1, 3),
        ]
    return [indent + head, *body]


def _section(rng: random.Random, known: list[str]) -> str:
    if len(known) > 1 and rng.random() < 0.4:
        return rng.choice(BY_TWO).format(v=rng.choice(known[:1]), w=rng.choice(known[1:]))
    if known and rng.random() < 0.7:
        return rng.choice(BY_VARIABLE).format(v=rng.choice(known))
    return rng.choice(PLAIN)


def _store(rng: random.Random, known: list[str]) -> list[str]:
    """A store into a section of a number made of others, of the section itself, or of neighbours of its shape."""
    target = _section(rng, known)
    number = (
        rng.choice(SUMS).format(_section(rng, known))
        if rng.random() < 0.7
        else rng.choice(["c", "x[1]", "a[0] * b[-1]", "0.5"])
    )
    way = rng.random()
    if way < 0.25:
        return [f"{target} *= {number}"]
    if way < 0.4:
        return [f"{target} += 0.3 * {number}"]
    if way < 0.55:
        return [f"{target} = np.sin({target}) * {number}"]
    if way < 0.65:
        return [f"s += {number} * np.sum({target})"]
    if way < 0.75:
        return [f"a[1:-1] = 0.5 * (a[2:] + {rng.choice(['a[:-2]', 'b[:-2] * a[1:-1]'])})"]
    if way < 0.82:
        return ["m[1:-1, 1:-1] = 0.25 * (m[2:, 1:-1] + m[:-2, 1:-1])", f"m[0] = {rng.choice(['m[1]', 'a', 'c'])}"]
    return [f"{target} = {number}"]
