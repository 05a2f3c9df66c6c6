"""Random programs over a line and a grid of numbers, their sections, and containers of both: what kernels do in place.

`buffer_program(seed)` writes the same program again.  All vectors have four elements and most are sections of a line of
twelve or of a grid of four by four, which overlap, run backwards, or are copies where `ravel` and its kin can give no view.
They are kept in lists and dicts that have two names, exchanged as data say, and written in every way that NumPy has between
`break`, `continue`, `return` and `raise`.  What is stored are sines, so that numbers stay moderate.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

NAMES = ["u", "v", "w", "z"]
SECTIONS = """
    B[2:6]|B[k:k + 4]|B[::-1][3:7]|B[1:9:2]|B[10:2:-2]|B[::2][1:5]|B[::-1][::2][:4]|B[4:8][::-1]|B[-4:]|B[:8][k:][:4]
    B[::3]|M[1]|M[k]|M[:, k]|M[-1, ::-1]|M.T[2]|M[::-1][1]|M[::-1, ::-1][0]|M.T[1][::-1]|M[1:3, 1:3].ravel()
    M[:2].reshape(-1)[2:6]|M.ravel()[3:7]|M.T.ravel()[4:8]|np.ravel(M, 'F')[:4]|M[1:3].T[1:3].reshape(4)
    M[:, 1:3][:2].reshape(-1)|M.diagonal().copy()|np.asarray(M)[2]|np.ascontiguousarray(M.T)[1]
    np.ascontiguousarray(B[::-1])[:4]|np.ascontiguousarray(B)[4:8]|M.flatten()[:4]|B.reshape(3, 4)[1]
    B.reshape(4, 3)[:, 1]|B.reshape(3, 4).T.ravel()[2:6]|B.reshape(3, 4)[::-1][0]|np.asarray(B[::-1])[2:6]
    np.flip(M, 0)[k]|np.split(B, 3)[1]|np.swapaxes(M, 0, 1)[0]|np.rot90(M)[1]|{y}[::-1]|{y}[:]|{y}
    {y}.reshape(2, 2).T.ravel()|np.asarray({y})|np.ascontiguousarray({y})|np.ascontiguousarray({y}[::-1])
    {y}.reshape(2, 2)[::-1].ravel()|np.atleast_1d({y})|({y} if {c} else {x})|(M[k] if {c} else {y}[::-1])|section(B, k)
    row(M, k)
"""
NEW = """
    np.sin({y} + {x})|{y}.copy()|0.8 * {y}|np.zeros(4)|np.empty_like({y}) * 0.0|np.where({y} > 0.1, {x}, {y})
    {y}[[3, 0, 0, 2]]|np.cumsum({y}) * 0.3|M @ {y} * 0.2|M.sum(axis=0) * 0.3|np.convolve({y}, [0.5, 0.2], 'same')
    np.full(4, {e})|{y} * M[slice(k, k + 1), 0]|{y} + B[slice(k, k + 1)]|{y} * B[k:k + 1]
"""
STORED = """
    M[slice(k, k + 1), 1:] += 0.2 * {y}[:3]|B[k:k + 1] *= {y}[:1]|M[k:k + 1] *= {y}|M[slice(k, k + 2), k] -= {e}
    {y}[0] = {e}|{y}[k] = {e}|{y}[-1] += {e}|{y}[1:] += 0.3 * {y}[:-1]|{y}[:-1] -= 0.2 * {y}[1:]
    {y}[::-1][1:] = np.sin({x}[:3])|{y}[::2] *= {e}|{y} *= 0.9|{y} += 0.2 * {x}|{y} -= 0.1 * {x}[::-1]
    {y}[...] = np.sin({x})|{y}[:] = {e}|{y}[1:3][::-1] = {x}[:2]|B[1:] += 0.2 * B[:-1]|B[:-1] = np.sin(B[1:])
    B[::2] = np.sin(B[1::2])|B[::-1][:4] = np.sin({y})|B[k:k + 4] += 0.2 * {y}|B[3:7] = 0.5 * B[2:6]|B *= 0.9
    B[B > 0.5] *= 0.7|B[k] = {e}|B[4:8][{y} > 0.2] = {e}|M[k] = np.sin({y})|M[:, k] += 0.3 * {y}|M += 0.2 * {y}
    M += 0.1 * {y}[:, None]|M[...] = np.sin({y})|M[:, :2] = {e}|M[1:, 1:] += 0.2 * M[:-1, :-1]
    M[k, 1:] = np.sin({y}[:3])|M[M > 0.4] = {e}|M[M > 0.4] *= 0.6|M[{y} > 0.2] *= 0.8|M[{y} > 0.2, 1] = {e}
    M[[0, 2]] = np.sin(M[[2, 3]])|M[:, [1, 3]] *= 0.7|M[[0, 1], [2, 3]] = np.sin({y}[:2])|M[::-1][k] = {e}|M.T[k] *= 0.8
    M[::2, ::-1] -= 0.1 * {y}|M[k][::-1][1:3] = {e}|M[k][k] += {e}|M[k, k - 1] = {e}|M.T[1:, 0] = 0.4 * {x}[1:]
    {y}[{y} > 0.2] = {e}|{y}[{y} > 0.2] *= 0.6|{y}[{x} < 0.3] = np.sin({y}[{x} < 0.3])|{y}[~({y} > 0.1)] += 0.2
    {y}[[0, 2]] = np.sin({x}[1:3])|{y}[[1, 3]] += {e}|{y}[np.argsort({x})] = np.sin({x})
    {y}[[0, 0, 1]] = np.sin({x}[:3])|np.add.at({y}, [0, 1, 0], 0.2 * {x}[:3])|np.add.at(B, [k, 5, k], {e})
    np.subtract.at({y}, [2, 2], 0.1 * {e})|np.add.at(M, k, {y})|np.add.at(M, ([0, 0], [1, 1]), 0.1 * {e})
    np.multiply.at({y}, [0, 2], {e})|np.put({y}, [1, 2], {e})|np.put(B, [0, 7], {x}[:2])|np.put(M, [1, 6, 11], {e})
    np.copyto({y}, np.sin({x}), where={y} > 0.2)|np.copyto({y}, {e}, where={x} > 0.1)|np.copyto(M, 0.5 * {y})
    np.copyto(B[2:6], np.sin({y}))|np.copyto(M[k], {x}, where=[True, False, True, True])
    np.place({y}, {y} > 0.3, [0.2, 0.4])|np.place(M, M > 0.6, [{e}])|np.putmask({y}, {y} > 0.3, np.sin({x}))
    np.putmask(M, M > 0.3, 0.5 * M)|np.putmask(B, B < 0.0, {e})|np.sin({y}, out={y})|np.add({y}, 0.1 * {x}, out={y})
    np.multiply({x}, 0.7, out=B[2:6])|np.sin({x}, out=M[k])|np.cos({x}, out=M[:, k])
    np.subtract(B[1:], B[:-1], out=B[:-1])|np.maximum({y}, 0.1, out={y})|np.clip({y}, -0.5, 0.6, out={y})
    np.cumsum({y}, out={y})|np.multiply({y}, 0.5, out={y}, where={y} > 0.1)|np.add(M, {y}, out=M, where=M < 0.3)
    np.sin({x}, out={y}[::-1])|np.dot(0.2 * M, {x}, out={y})|np.add.accumulate({y}, out={y})|M.fill({e})|{y}.sort()
    M[k].sort()|M.sort(axis=0)|{y}.put(1, {e})|np.fill_diagonal(M, {e})|np.fill_diagonal(M[:, ::-1], np.sin({y}))
    {y}[:2], {y}[2:] = {y}[2:].copy(), np.sin({y}[:2])|M[[0, 1]] = M[[1, 0]]|M[0], M[1] = M[1].copy(), 0.5 * M[0]
    {y}[0], {y}[1] = {y}[1], {e}|M[0, k], {y}[k] = {y}[k], M[0, k]|smooth({y}, {e})|smooth(B[2:6], {e})
    smooth(M[k], {e})|smooth(M[:, k][::-1], {e})|exchange({y}, {x})|exchange(M[0], M[2])|{y} = bumped({y}, {e})
    M[k] = bumped(M[k - 1], {e})|M[...] = np.sin(M.T)|M[1:3, 1:3] = np.sin(M[:2, 2:])|M[..., 0] = 0.3 * {y}
    B.reshape(3, 4)[k - 1] *= 0.8|B.reshape(4, 3)[:, 1] = np.sin({y})|M.reshape(-1)[::5] = 0.5 * {y}|M.ravel()[k] = {e}
"""
KEPT = """
    xs.append({y})|xs[0] = {y}|xs[-1] = B[k:k + 4]|xs[k % len(xs)] = M[k]|xs[0][k] = {e}|xs[-1] *= 0.8
    xs[0][:] = np.sin({y})|{y} = xs[0]|{y} = xs[-1][::-1]|ys = xs|ys = list(xs)|ys[0][1:] *= {e}|ys[-1] = {y}
    ys[0], ys[-1] = ys[-1], ys[0]|ys.append({y})|{y} = xs.pop() if len(xs) > 1 else {x}|d['a'][k] = {e}|d['a'] *= 0.8
    d['a'] = {y}|d['b'][0] = {y}|d['b'][0][1:] += {e}|g = d|g = dict(d)|g['a'][::-1][0] = {e}|g['a'] = B[2:6]
    g['b'].append({y})|d['b'] = [{y}, {x}]|{y} = g['a']|{y} = d['b'][-1]|g['b'][-1] *= 0.9
    d['a'], g['b'][0] = g['b'][0], d['a']|d = {{'a': {y}, 'b': xs}}|g['b'][0], {y} = {y}, g['b'][0]
    for q in xs:#    q[k] = {e}|for q in ys:#    q *= 0.9|for q in M:#    q[1:] += 0.1 * q[:-1]
    for q in d['b']:#    s += 0.1 * q[0]|for j, q in enumerate(xs):#    xs[j] = q[::-1]
    for q, r in zip(xs, M):#    r += 0.1 * q|for key in ('a',):#    g[key] += 0.1 * {y}|xs = [{y}, B[:4], {x}]
    xs = [r for r in M]|xs = list(M)|xs = [B[j:j + 4] for j in range(3)]|ys = [q[::-1] for q in xs]|t = ({y}, M[k])
    t[0][k] = {e}|{y} = t[1]|s += 0.1 * np.sum(np.stack(xs))|np.sin(xs[0], out=xs[-1])|smooth(d['a'], {e})
    np.add.at(xs[0], [0, 0], 0.1 * {e})|exchange(xs[0], ys[-1])|M[:3] = np.stack([xs[0], {y}, {x}]) * 0.5
    old, xs[0] = xs[0], {y}|last = {y}|last = None|if last is None:#    last = {y}.copy()#else:#    last += 0.2 * {x}
    if last is not None:#    last[k] = {e}|for q in M:#    if last is not None:#        last *= 0.9#    last = q
    if last is not None:#    s += 0.1 * last[0]|last = {y} if {c} else None
"""
NUMBERS = """
    np.sin({y}[0])|np.sin({y}[k] * {x}[1])|np.sin({y} @ {x})|0.4 * s|np.sin(s + {y}[-1])|np.tanh(np.sum({y}))|0.5
    np.sin(B[k])|np.cos(M[k, 1])|np.sin(np.trace(M))|np.tanh(np.sum(B * B))|np.sin(np.sum(M[1:3, ::2]))|np.mean(M)
    np.sin(c * {y}[2])
"""
TESTS = ["{y}[0] > 0.1", "{y}[k] < {x}[2]", "k % 2", "s > 0.2", "np.sum({y}) > 0.5", "B[k] > B[0]", "M[k, 0] < 0.3"]
FIXED = """import numpy as np


def smooth(a, e):
    for i in range(1, 3):
        a[i] = 0.5 * a[i] + 0.2 * e * (a[i - 1] + a[i + 1])


def exchange(a, b):
    t = a.copy()
    a[:] = b
    b[:] = t


def bumped(a, e):
    a[1] += e
    return a * 0.9


def section(a, k):
    return a[k:k + 4]


def row(a, k):
    return a[k, ::-1]
"""


def _listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


SECTIONS, NEW, STORED, KEPT, NUMBERS = map(_listed, (SECTIONS, NEW, STORED, KEPT, NUMBERS))
RESULT = "s + np.sum(u * v) + np.sum(w * z * z) + np.sum(B * B * W) + 0.5 * np.sum(M * M.T) + np.sum(M[0] * M[2])"


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.features = rng, set()
        self.with_lists = rng.random() < 0.5
        self.with_exits = rng.random() < 0.4

    def filled(self, text: str) -> str:
        """A statement or an expression with names for its holes."""
        rng = self.rng
        y, x = rng.choice(NAMES), rng.choice(NAMES)
        out = text.replace("{c}", rng.choice(TESTS)).replace("{y}", y).replace("{x}", x)
        if "{e}" in out:
            out = out.replace("{e}", self.filled(rng.choice(NUMBERS)))
        return out.replace("{{", "{").replace("}}", "}")

    def statement(self) -> list[str]:
        rng, roll = self.rng, self.rng.random()
        if self.with_lists and roll < 0.3:
            text = rng.choice(KEPT)
        elif roll < 0.65:
            text = rng.choice(STORED)
        elif roll < 0.9:
            text = "{y} = " + rng.choice(SECTIONS if rng.random() < 0.75 else NEW)
        else:
            text = rng.choice(["{y}, {x} = {x}, {y}", "s += " + rng.choice(NUMBERS), "s = s + 0.2 * np.sum({y} * {x})"])
        self.features.add(text)
        return self.filled(text).split("#")

    def exit(self, depth: int, loops: int) -> list[str]:
        """What leaves a loop or the function, after a write perhaps."""
        rng = self.rng
        ways = ["return s + np.sum({y} * {x}) + np.sum(B * W)"]
        ways += ["break", "break", "continue", "continue"] if loops else []
        inner = [self.filled(rng.choice(STORED))] if rng.random() < 0.5 else []
        return [self.filled("if {c}:"), *_indented([*inner, self.filled(rng.choice(ways))])]

    def attempt(self) -> list[str]:
        """A store that is tried, and what is done where it is not allowed."""
        stores = [self.filled(self.rng.choice(STORED[:20])) for _ in range(3)]
        raised = ["try:", *_indented([stores[0], self.filled("if {c}:"), "    raise ValueError('too large')", stores[1]])]
        return [*raised, "except ValueError:", *_indented([stores[2]])]

    def block(self, depth: int, most: int, loops: int = 0) -> list[str]:
        rng, out = self.rng, []
        for _ in range(rng.randint(1, most)):
            roll = rng.random()
            if depth < 2 and roll < 0.13:
                out += [self.filled("if {c}:"), *_indented(self.block(depth + 1, 3, loops))]
                if rng.random() < 0.6:
                    out += ["else:", *_indented(self.block(depth + 1, 2, loops))]
            elif depth < 2 and roll < 0.28:
                head = rng.choice(["range(3)", "range(1, 4)", "range(2)", "range(3, 0, -1)", "reversed(range(3))"])
                out += [f"for k in {head}:", *_indented(self.block(depth + 1, 4, loops + 1))]
                if rng.random() < 0.3:
                    out += _indented([self.filled("if {c}:"), *_indented([self.filled("{y}, {x} = {x}, {y}")])])
            elif self.with_exits and roll < 0.36:
                out += self.exit(depth, loops)
            elif self.with_exits and roll < 0.38:
                out += self.attempt()
            else:
                out += self.statement()
        return out


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def buffer_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"buffer {seed}")
    writer = _Writer(rng)
    lines = ["k, s = 1, 0.3", "W = np.linspace(0.4, 1.1, 12)", "B = np.concatenate((np.sin(u), u * v, v))"]
    lines += ["M = np.outer(u, v) * 0.7"]
    lines += [writer.filled(rng.choice(["w, z = M[1], B[2:6]", "w, z = u * v, np.sin(u)", "w, z = B[::-1][1:5], M[:, 2]"]))]
    if rng.random() < 0.6:
        lines += ["u, v = u.copy(), 1.0 * v"]
    if writer.with_lists:
        lines += ["xs, d, t = [u, M[2]], {'a': w, 'b': [v, z]}, (v, w)", "ys, g, old, last = xs, d, u, None"]
    lines += writer.block(0, 9)
    result = RESULT
    if writer.with_lists:
        result += " + np.sum(xs[0] * ys[-1]) + np.sum(d['a'] * g['b'][0]) + 0.3 * np.sum(t[0] * t[1] * old)"
    body = "\n".join(_indented([*lines, f"return {result}"]))
    kinds = ((4,), (4,), NUMBER)
    source = f"{FIXED}\n\ndef f(u, v, c):\n{body}\n"
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(writer.features), seed, kinds, "buffer_program")
