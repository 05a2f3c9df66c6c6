"""Short random programs with lists in lists and dicts that several names stand for, and arrays that stand in many of them.

`container_program(seed)` writes the same program again: a dozen statements at most, so that thousands can be judged.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

LISTS = ["r", "q", "rows[0]", "rows[1]", "d['k']", "rows[-1]", "t[0]"]
PLACES = ["0", "-1", "k"]
STATEMENTS = """
    r = {l}|q = {l}|r = rows[k]|rows[0] = {l}|rows[1] = {l}|d['k'] = {l}|rows[k] = [{a}, {a}]|r = [{a}, {a}]
    q = list({l})|q = {l}[:]|q = {l}[::-1]|t = ({l}, {a})|d = {{'k': {l}, 'a': {a}}}|rows = [{l}, {l}]|rows = [q, r]
    r, q = q, r|e = d|e['k'] = {l}|e['a'] = {a}|rows[0], rows[1] = rows[1], rows[0]|{l}[{p}] = {a}|{l}[{p}] = {a}
    {l}[{p}] = {a}|d['a'] = {a}|{x} = {l}[{p}]|{x} = {l}[{p}]|{x} = {l}[{p}]|{x} = d['a']|{x} = t[1]|{x} = e['a']
    {x} = {a}|{l}[{p}] *= {s}|{l}[{p}] += 0.2 * {a}|{l}[{p}][0] = {s}|{l}[{p}][1:] *= {s}|d['a'] *= {s}|e['a'][0] = {s}
    t[1][1] = {s}|{x} *= {s}|{x} += 0.3 * {a}|{x}[0] = {s}|{x}[1:] = {x}[:-1] * 0.7|{l}.append({a})|{l}.append({a})
    {x} = {l}.pop() if len({l}) > 2 else {a}|{l}[0], {x} = {x}, {l}[0]|for i in rows:#    i[0] = {a}
    for i in rows:#    i[-1] *= {s}|for i in {l}:#    i[0] = {s}|for i in {l}:#    n += i[0]
    for i in (q, r):#    i[k] = {a}|for i in range(2):#    rows[i][0] = {a}
    for i in range(2):#    {x} = rows[i][0]#    {x} *= {s}|put({l}, {a})|scale({l}, {s})|{x} = first({l})|r = same({l})
    n += {l}[{p}][1]|if {c}:#    r = {l}#else:#    q = {l}|if {c}:#    {l}[{p}] = {a}|if {c}:#    {x} = {l}[{p}]
    if {c}:#    {x} *= {s}|{x} = {x}[::-1]|{x} = {x}[:]|{x} = np.sin({x})|{x} = {a} * {s}|k = 1 - k
    {l}[{p}] = {l}[{p}] * {s}|{l}[k], {l}[1 - k] = {l}[1 - k], {l}[k]
"""
NEW = ["u * {s}", "u * v", "np.sin({y})", "{y} * 0.9", "u.copy()", "{y} + v"]
FIXED = """import numpy as np


def put(row, a):
    row[0] = a


def scale(row, s):
    for a in row:
        a *= s


def first(row):
    return row[0]


def same(row):
    return row
"""
STATEMENTS = [part.strip() for line in STATEMENTS.strip().splitlines() for part in line.split("|")]


def container_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"container {seed}")
    features: set[str] = set()

    def filled(text: str) -> str:
        x = rng.choice("xyz")
        for hole, choices in (("{l}", LISTS), ("{p}", PLACES), ("{a}", ["x", "y", "z", *NEW]), ("{y}", ["x", "y", "z"]),
                              ("{c}", ["u[0] > 0.1", "n > 0.4", "x[0] < y[1]", "k"]),
                              ("{s}", ["np.sin(x[0])", "0.7", "v[1]", "np.cos(z[1])", "1.2"])):  # fmt: skip
            while hole in text:
                text = text.replace(hole, rng.choice(choices), 1)
        return text.replace("{x}", x).replace("{{", "{").replace("}}", "}")

    lines = ["k, n = 0, 0.3", "x, y, z = u * v, np.sin(u), v * 1.0", "r, q = [x, y], [z, u * 1.0]",
             rng.choice(["rows = [r, q]", "rows = [r, [x, z]]", "rows = [[y, z], [x, v * 0.5]]"]),
             "d, t = {'k': r, 'a': x}, (q, y)", "e = d"]  # fmt: skip
    for _ in range(rng.randint(3, 8)):
        text = rng.choice(STATEMENTS)
        features.add(text)
        lines += filled(text).split("#")
    lines.append("s = np.sum(x * y) + np.sum(z * z * u) + np.sum(d['a'] * e['k'][0]) + np.sum(t[0][-1] * t[1])")
    lines.append("s = s + np.sum(rows[0][0] * v) + np.sum(rows[1][-1] * rows[0][-1])")
    lines.append("return n + s + np.sum(r[0] * q[-1]) + np.sum(r[-1])")
    body = "\n".join(f"    {line}" for line in lines)
    kinds = ((3,), (3,), NUMBER)
    args = draw_arguments(rng, kinds, digits=5)
    return Program(f"{FIXED}\n\ndef f(u, v, c):\n{body}\n", args, frozenset(features), seed, kinds, "container_program")
