"""Random programs that compute the same expressions again and again, while operands and results are written in between.

`repeated_program(seed)` writes the same program again.  Operands are written by stores, through views, by `out=`, by methods
and by functions; results are kept in lists, bound to names, and written as well.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (5,)
OPERANDS = ["a", "b", "x", "v", "m[1]", "a[1:]", "v[:-1]", "x[1:]", "rows[0]", "rows[-1]", "W"]
VALUES = [
    "np.exp({0} * 0.1)", "np.sqrt({0} * {0} + 1.0)", "{0} * {0}", "{0} @ {0}", "np.sum({0})", "np.sum(np.sin({0}))",
    "np.tanh({0})", "helped({0})", "1.0 / (2.0 + {0} * {0})", "({0} - np.mean({0})) ** 2", "np.linalg.norm({0})",
    "{0}.sum()", "np.abs({0})", "np.maximum({0}, 0.1)", "np.cumsum({0})", "np.ravel({0})", "np.outer({0}, {0})",
    "np.where({0} > 0.5, np.sqrt(np.abs({0})), 0.0)", "np.dot(m, x)", "s * s", "np.cos(s) * c", "s / (1.0 + s * s)",
    "a[1] * a[2]", "np.exp(a[1])", "np.hypot(a[1], v[0])", "x[0] ** 2 * s", "total(a)", "k * x[1] * x[2]",
]  # fmt: skip
WRITES = [
    "a[1] = 0.5 * s", "a[1] += x[0]", "v[0] = c", "v *= 1.1", "b = b + a", "m[1] = a", "m[:, 0] *= c", "s = s * 0.5",
    "s = s + a[1]", "c = c * 1.5", "rows[0] = x * c", "rows.append(a * 2.0)", "rows[0][1] = c", "np.exp(v * 0.2, out=v)",
    "np.copyto(a, x)", "a.sort()", "bent(a)", "W[1] = 1.5", "x = x * 0.9", "a = np.cos(a)", "v = a[1:]", "v = b[:3]",
    "k += 1",     "shift()", "a[:], b[:] = b.copy(), a.copy()", "a, b = b, a",
]  # fmt: skip
KEPT = [
    "r = {0}\n    s = s + np.sum(r)", "r = {0}\n    r *= 0.5\n    s = s + np.sum(r)",
    "rows.append(np.zeros(5) + np.sum({0}))",
    "s = s + np.sum({0}) * np.sum({0})", "s = s + np.sum({0} / (3.0 + np.abs({0})))", "s = s + np.max({0})",
    "r = {0}\n    t = {0}\n    r[0] = 2.0\n    s = s + np.sum(np.sin(r) * np.sin(t))", "s = s + np.sum(halved({0}) * {0})",
    "r = {0}\n    t = {0}\n    s = s + np.sum(np.sin(t))\n    r[0] = 2.0\n    s = s + np.sum(np.sin(r))",
    "s = s + np.sum({0}) * halved({0}) * np.sum({0})", "kept.append({0})",
    "kept[-1] = kept[-1] * 2.0\n    s = s + np.sum(kept[-1])", "t = r\n    s = s + np.sum(t * 0.1)",
    "r = {0}\n    t = {0}\n    t = t + 1.0\n    s = s + np.sum(r * t)", "b[0] = np.sum({0}) * 0.1",
    "b[1] += np.sum({0}) * 0.1",
    "a[2:] = a[2:] * np.sum({0}) * 0.1", "kept += [{0}]\n    kept[-1] = kept[-1] + 1.0",
]  # fmt: skip
HEADS = ["for i in range(2):", "for i in range(0):", "if s > 1.0:", "if c > 0.7:", "for q in (0.5, 1.5):", "while k < 2:"]
BEFORE = """import numpy as np

W = np.array([0.7, 0.2, 0.4, 0.9, 0.3])
STATE = [1.0]


def helped(u):
    return np.sin(u) * u


def total(u):
    return np.sum(u) * STATE[0]


def bent(u):
    u[0] = u[0] * 0.5


def halved(u):
    if np.ndim(u):
        u[0] = 0.5 * u[0]
    return np.sum(u * u)


def shift():
    STATE[0] = 1.0


def f(x, c):
"""


def repeated_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"repeated {seed}")
    pool = [rng.choice(VALUES).format(rng.choice(OPERANDS)) for _ in range(3)]
    lines = ["k = 0", "s = 0.1", "a = x * 1.0", "b = np.cos(x)", "v = a[1:]", "m = np.outer(x, x) + c"]
    lines += ["rows = [x * 2.0, a]", "kept = [x + 1.0]", "r = x * 1.0"]
    body = ["    " + line for line in lines]
    for _ in range(rng.randint(4, 7)):
        if rng.random() < 0.3:
            head = rng.choice(HEADS)
            body.append("    " + head)
            body += ["    " + line for line in _statements(rng, pool, rng.randint(2, 4))]
            body += ["        k += 1"] if head.startswith("while") else []
        else:
            body += _statements(rng, pool, rng.randint(1, 3))
    body.append("    return s + np.sum(a * a) + np.sum(b * c) + np.sum(m) * 0.1 + np.sum(rows[0]) + np.sum(kept[0])")
    kinds = (VECTOR, NUMBER)
    source = BEFORE + "\n".join(body) + "\n"
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(), seed, kinds, "repeated_program")


def _statements(rng: random.Random, pool: list[str], count: int) -> list[str]:
    out: list[str] = []
    for _ in range(count):
        text = rng.choice(WRITES) if rng.random() < 0.4 else rng.choice(KEPT).format(rng.choice(pool))
        out += ["    " + line.removeprefix("    ") for line in text.split("\n")]
    return out
