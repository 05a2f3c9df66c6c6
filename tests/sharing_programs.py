"""Random programs in which nobody can tell what shares memory: names bound anew by branches and loops, views, lists, dicts.

`sharing_program(seed)` writes the same program again.  All arrays have four elements, whatever is a view of what; numbers
stay moderate, for what is stored are sines.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

NAMES = ["u", "v", "w", "z"]
VIEWS = """
    {y}|{y}|{y}[:]|{y}[::-1]|{y}.T|{y}.ravel()|{y}.reshape(4)|np.asarray({y})|np.flip({y})|np.squeeze({y})|{y}.view()
    np.ravel({y})|np.atleast_1d({y})|{y}.reshape(2, 2).ravel()|{y}.reshape(2, 2).T.ravel()|np.frombuffer({y})|{y}.real
    np.concatenate(np.split({y}, 2))|{y}.reshape(2, 2).T.reshape(4)|np.hstack(np.split({y}[::-1], 2))
    ({y} if {c} else {x})|({y}[:] if {c} else {x} * 0.5)
"""
NEW = """
    {y} * 0.9|{y}.copy()|np.sin({y} + {x})|{y} * {x}|{y}[[3, 1, 0, 2]]|np.sort({y})|np.where({y} > 0.1, {x}, {y})
    np.zeros(4)|0.5 * {y}[::-1]
"""
STORED = """
    {y}[0] = {e}|{y}[k] = {e}|{y}[1:] = {x}[:-1]|{y}[:2] = np.sin({x}[2:])|{y}[::2] = {e}|{y}[-1] = {e}
    {y}[[0, 2]] = {x}[1:3]|{y}[...] = np.sin({x})|{y} *= 0.7|{y} += 0.2 * {x}|{y}[1:] *= {e}|{y}[k] += {e}
    {y} -= 0.1 * {x}[::-1]|{y}[1:] += 0.3 * {y}[:-1]|{y}[{y} > 0.4] = {e}|np.sin({y}, out={y})
    {y}[0], {y}[1] = {y}[1], {e}|{y}[k], {x}[k] = {x}[k], {y}[k]|np.add.at({y}, [0, 0], 0.1 * {e})|{y}.fill({e})
    {y}.sort()|{y}[:] = {y}[::-1] * 0.8|np.multiply({y}, {e}, out={y})|put({y}, {e})|exchange({y}, {x})
    {y}[2:] = [{e}, 0.3]|{y}[k - 1] *= {x}[k]
"""
NUMBERS = """
    np.sin({y}[0])|np.sin({y}[k] * {x}[1])|np.sin({y} @ {x})|0.4 * s|np.sin(s + {y}[-1])|np.tanh(np.sum({y}))|0.5
"""
LISTS = """
    xs.append({y})|xs.append({y})|xs[0] = {y}|xs[-1] = {y}|{y} = xs[0]|{y} = xs[-1]|{y} = xs[k % len(xs)]|xs[0][k] = {e}
    xs[-1] *= 0.9|xs[0] += 0.1 * {y}|xs[0], xs[-1] = xs[-1], xs[0]|{y} = xs.pop() if len(xs) > 1 else {x}|xs = [{y}, {x}]
    xs = [xs[0], {y}, {y}]|s += np.sin(xs[-1][0])|for q in xs:#    q[0] = {e}|for q in xs:#    s += 0.1 * np.sum(q)
    xs = xs[::1]|xs = list(xs)|xs[k % 2 - 1] = {y}[::-1]|s += 0.1 * np.sum(np.stack(xs))|xs.append(xs[0])
    xs.append({y}[::-1])|d['a'] = {y}|{y} = d['a']|d['a'][k] = {e}|d['a'] *= 0.8|d['n'] = {e}|s += 0.3 * d['n']
    d = {{'a': {y}, 'n': {e}}}|t = ({y}, {e}, {x})|{y}, s, {x} = t|t[0][k] = {e}|{y} = t[2]|s = s + 0.2 * t[1]
    t = (t[2], {e}, t[0])
"""
MIXED = """
    p = s if {c} else {y}|p = {y} if {c} else {e}|p = 0.0 if {c} else {y}[1:]|q = p|p = q|p, q = q, p|p = {y}[k:]|p = {y}[k]
    p = p * 0.5|p = np.sin(p)|p = q + s|q = np.sum({y} * p)|s += 0.1 * np.sum(p)|s = s + 0.2 * np.sum(q * p)|{y} = p * {x}
    ys.append(p)|p = ys[0]|q = ys[k % len(ys)]|p = ys.pop() if len(ys) > 1 else s|ys[0] = p|ys = [p, {y}, s]|r = (p, {y}, s)
    p = r[k % 3]|p, q, s = r[0], r[1], np.sum(r[2])|if np.ndim(p):#    p[0] = {e}|if np.ndim(q):#    q[...] = 0.6 * q[::-1]
    if np.ndim(ys[-1]):#    ys[-1][0] = {e}|{y}[:] = {x} + np.mean(p)|q = 0#for k in range(3):#    q = q + {y}[k:k + 1]
    q = m[k % 2]|q = m[k % 2, 1:]|m[0] *= {e}|q = m[[k % 2]]|q = m[..., [k % 2]]|p = {y}[[k, 0]]|p = +{y}|p = min(s, {e})
    p = np.squeeze({y}[:k]) * 0.5|q = np.squeeze({y}[k:]) + s|p += {e}|p *= 0.9|q -= s|q += p * 0.1|p += {y}[0]|ys[-1] *= 0.8
    ys[0] -= {e}
"""
FIXED = """import numpy as np


def put(a, e):
    a[1] = e


def exchange(a, b):
    t = a.copy()
    a[:] = b
    b[:] = t
"""


def _listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


VIEWS, NEW, STORED, NUMBERS, LISTS, MIXED = map(_listed, (VIEWS, NEW, STORED, NUMBERS, LISTS, MIXED))


class _Writer:
    def __init__(self, rng: random.Random, mixed: bool) -> None:
        self.rng, self.features, self.mixed = rng, set(), mixed
        self.with_lists = rng.random() < (0.3 if mixed else 0.6)

    def filled(self, text: str) -> str:
        """A statement or an expression with names for its holes."""
        rng = self.rng
        y, x = rng.choice(NAMES), rng.choice(NAMES)
        c = rng.choice([f"{x}[0] > 0.1", f"{y}[1] < {x}[2]", "k % 2", "s > 0.0"])
        out = text.replace("{y}", y).replace("{x}", x).replace("{c}", c)
        if "{e}" in out:
            out = out.replace("{e}", self.filled(rng.choice(NUMBERS)))
        return out.replace("{{", "{").replace("}}", "}")

    def statement(self) -> list[str]:
        rng = self.rng
        if self.mixed and rng.random() < 0.4:
            text = rng.choice(MIXED)
            self.features.add(text)
            return self.filled(text).split("#")
        roll = rng.random()
        if self.with_lists and roll < 0.3:
            text = rng.choice(LISTS)
            self.features.add(text)
            return self.filled(text).split("#")
        if roll < 0.55:
            text = rng.choice(STORED)
            self.features.add(text)
            return [self.filled(text)]
        if roll < 0.9:
            text = rng.choice(VIEWS if rng.random() < 0.7 else NEW)
            self.features.add(text)
            return [f"{rng.choice(NAMES)} = {self.filled(text)}"]
        a, b = rng.sample(NAMES, 2)
        number = f"s += {self.filled(rng.choice(NUMBERS))}"
        return [rng.choice([f"{a}, {b} = {b}, {a}", f"s = s + 0.2 * np.sum({a} * {b})", f"{a} = {b}", number])]

    def block(self, depth: int, most: int) -> list[str]:
        rng, out = self.rng, []
        for _ in range(rng.randint(1, most)):
            roll = rng.random()
            if depth < 2 and roll < 0.16:
                out += [f"if {self.filled('{c}')}:", *_indented(self.block(depth + 1, 3))]
                if rng.random() < 0.6:
                    out += ["else:", *_indented(self.block(depth + 1, 2))]
            elif depth < 2 and roll < 0.3:
                out += [f"for k in range({rng.choice(['3', '1, 4', '2'])}):", *_indented(self.block(depth + 1, 4))]
                if rng.random() < 0.2:
                    out += [f"    if {self.filled('{c}')}:", "        break"]
            else:
                out += self.statement()
        return out


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def sharing_program(seed: int) -> Program:
    """The program of this number."""
    return _program(seed, False)


def scalar_program(seed: int) -> Program:
    """The program of this number in which names and items may be numbers or arrays."""
    return _program(seed, True)


def _program(seed: int, mixed: bool) -> Program:
    rng = random.Random(f"{'scalar' if mixed else 'sharing'} {seed}")
    writer = _Writer(rng, mixed)
    lines = ["k, s = 1, 0.3", "w, z = u * v, np.sin(u)"]
    if writer.with_lists:
        lines += ["xs, d, t = [u, v * 1.0], {'a': w, 'n': s}, (v, s, w)"]
    if mixed:
        lines += ["p, q, ys, r, m = s, u, [u, s], (s, u, w), np.outer(u, v)"]
    lines += writer.block(0, 9)
    result = "s + np.sum(u * v) + np.sum(w * z * z) + 0.3 * np.sum(u * u * w)"
    if writer.with_lists:
        result += " + np.sum(xs[0] * xs[-1]) + np.sum(d['a']) * d['n'] + t[1] * np.sum(t[0] * t[2])"
    if mixed:
        result += " + np.sum(p) * 0.7 + np.sum(np.sin(q)) + sum(np.sum(y) for y in ys) * np.sum(r[0]) + np.sum(m * m)"
    body = "\n".join(_indented([*lines, f"return {result}"]))
    kinds = ((4,), (4,), NUMBER)
    source = f"{FIXED}\n\ndef f(u, v, c):\n{body}\n"
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(writer.features), seed, kinds, "sharing_program")
