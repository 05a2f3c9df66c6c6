"""Random programs that call functions which write their arguments, each at several places: pairs of these get copies.

`writer_program(seed)` writes the same program again.  Up to three helpers of four statements and more write one array or
two, and may call each other.  The differentiated function hands them arrays, views, transposed matrices, swapped buffers,
the same array twice, rows of lists, in loops and branches, and reads other names of the memory afterwards.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (6,)
FIXED = """import numpy as np

LEVELS = np.array([0.3, 0.9, 0.5, 0.7, 0.4, 0.8])"""

ONE = """
    u[0] = k * u[1]|u[-1] = u[-2] - k|u *= k|u += k|u[1:-1] += k * (u[2:] - u[:-2])|u[1:] *= u[:-1]|u[:] = np.sin(u)
    u[n] = u[n - 1] * k|u[0], u[1] = u[1], u[0]|t = u[1:]; t *= k|t = u[1:-1]; t[0] = k; u[-1] += t[0]|u[::2] -= 0.1
    if n == 1: u[0] = -u[1]|u[0] = -u[1] if n == 1 else u[1]|np.multiply(u, k, out=u)|u.fill(k)|u[:2] = k * u[-2:]|u -= u[0]
    u[u > 0.8] *= k|t = u.copy(); u[0] = t[1] * t[2]|u[np.argmax(u)] = k|np.copyto(u[:2], u[2:4])|u[-1] = np.sum(u)
    u[0] = LEVELS[0] * k|LEVELS_0 = LEVELS[1]; u[1] += LEVELS_0 * u[0]
"""
LOOPS = """
    for i in range(1, len(u)): u[i] += k * u[i - 1]|for i in range(len(u) - 1): u[i] = 0.5 * (u[i] + u[i + 1])
    for i in range(1, len(u)): u[i] = -u[i - 1] if n == 1 else u[i] * k|for _ in range(n): u[:] = 0.9 * u + 0.1 * u[::-1]
"""
TWO = """
    v[0] = u[0] * k|v[:2] += u[:2]|v *= k|v[:] = u[: len(v)] * k|u[0] += v[-1]|v[1] = u[1]; u[1] = v[0]
    v[:2], u[:2] = u[:2] * k, v[:2] * 0.5|u[0] = v[0]; v[0] = k
"""
ENDS = ["", "", "", "return np.sum(u)", "return k * u[0]", "return None", "return u", "return u[1:]", "return u * k"]
ARRAYS = ["a", "a", "a", "b", "b", "m[0]", "m[:, 1]", "m.T[1]", "a[1:]", "b[::-1]", "v", "d", "rows[0]", "rows[1]", "a[:5]",
          "a * 1.0", "LEVELS.copy()", "m.ravel()", "w[0]", "keep['a']"]  # fmt: skip
OTHERS = ["b", "b", "a", "m[1]", "c * x", "d", "v", "rows[0]", "LEVELS", "a[::-1]", "b[1:]", "z"]


def _parts(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


ONE, LOOPS, TWO = map(_parts, (ONE, LOOPS, TWO))


def writer_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"writer {seed}")
    helpers: list[tuple[str, bool]] = []
    texts = [_helper(rng, name, helpers) for name in ("edges", "relax", "mix")[: rng.randint(1, 3)]]
    lines = ["def f(x, c):", "    a = x * 1.5", "    b = x * x + c", "    z = c * x", "    m = np.outer(x[:4], x) + 0.2",
             "    v = a[1:]", "    d = a", "    n = 0.0", "    rows = [x * 0.5, b * c]", "    w = np.array([a, b])",
             "    keep = {'a': z}"]  # fmt: skip
    for _ in range(rng.randint(3, 7)):
        lines += _use(rng, helpers)
    lines.append(
        "    return n + np.sum(a * b) + np.sum(m * m) * v[0] + d[2] * z[0] + rows[0][1] * rows[1][2] + w[0, 0] * w[1, 1]"
    )
    source = "\n\n\n".join([FIXED, *texts, "\n".join(lines)]) + "\n"
    kinds = (VECTOR, NUMBER)
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(), seed, kinds, "writer_program")


def _helper(rng: random.Random, name: str, helpers: list[tuple[str, bool]]) -> str:
    """The text of a helper, which may call those before it."""
    two = rng.random() < 0.35
    head = f"def {name}(u, v, k, n={rng.randint(0, 2)}):" if two else f"def {name}(u, k, n={rng.randint(0, 2)}):"
    body: list[str] = []
    for _ in range(rng.randint(4, 6)):
        way = rng.random()
        if way < 0.2:
            body.append(rng.choice(LOOPS))
        elif way < 0.45 and two:
            body += rng.choice(TWO).split("; ")
        elif way < 0.55 and helpers:
            inner, takes_two = rng.choice(helpers)
            given = "u, v" if takes_two and two else "u, u * k" if takes_two else rng.choice(["u", "v" if two else "u"])
            body.append(f"{inner}({given}, k)")
        else:
            body += rng.choice(ONE).split("; ")
    if rng.random() < 0.1:
        body.insert(rng.randrange(len(body)), "u = u[:5]" if rng.random() < 0.5 else "u = u * 1.0")
    end = rng.choice(ENDS)
    helpers.append((name, two))
    return "\n".join([head, *(f"    {line}" for line in [*body, *filter(None, [end])])])


def _use(rng: random.Random, helpers: list[tuple[str, bool]]) -> list[str]:
    """One use of a helper, or what else happens to the arrays."""
    way = rng.random()
    if way < 0.08:
        return [
            rng.choice(["    a, b = b, a", "    d = b", "    v = b[1:]", "    rows[0] = a", "    a = a * c", "    w = m"])
        ]
    name, two = rng.choice(helpers)
    array = rng.choice(ARRAYS)
    given = [array, rng.choice(OTHERS)] if two else [array]
    k = rng.choice(["0.7", "c", "x[1]", "b[0]", "0.3 * c"])
    given += [f"k={k}"] if rng.random() < 0.15 else [k]
    if rng.random() < 0.4:
        given.append(rng.choice(["n=1", "n=2", "n=int(x[0] > 0.7)"]))
    call = f"{name}({', '.join(given)})"
    form = rng.random()
    if form < 0.55:
        return [f"    {call}"]
    if form < 0.65:
        return [f"    for i in range({rng.randint(1, 3)}):", f"        {call}"]
    if form < 0.75:
        return [f"    if {rng.choice(['c > 0.5', 'x[0] > x[1]', 'len(a) > 3'])}:", f"        {call}"]
    if form < 0.85:
        return [f"    for i in range({rng.randint(1, 2)}):", f"        {call}", "        a, b = b, a"]
    return [f"    q = {call}", "    n += 0.0 if q is None else np.sum(q * q)"]
