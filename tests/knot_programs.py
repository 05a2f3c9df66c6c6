"""Random programs of lists, dicts and tuples of which several places share memory, written at one place and read at another.

`knot_program(seed)` writes the same program again.  Containers are made by helpers (which some are chosen by data in) and in
place; what is in them is a whole array beside views of it, the same array twice, rows of a matrix beside it.  The whole is
called by another function, so that its second derivative takes the record of a pair apart.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (4,)
HELPERS = {
    "pair": ("return a, a[1:]", ("{d}[0]", "{d}[1]")),
    "chosen": ("b = a\n    if u[0] > k:\n        b = a[1:]\n    return a, b", ("{d}[0]", "{d}[1]")),
    "parts": ("return {'whole': a, 'parts': [a[:2], a[2:]]}", ("{d}['whole']", "{d}['parts'][0]", "{d}['parts'][1]")),
    "nested": ("return [a, [a[:3], u * 2.0]]", ("{d}[0]", "{d}[1][0]", "{d}[1][1]")),
    "rows": ("m = np.outer(a, u)\n    return [m[0], m, m[1:3, 1]]", ("{d}[0]", "{d}[1][1]", "{d}[2]")),
    "apart": ("return {'x': a, 'y': u * k}", ("{d}['x']", "{d}['y']")),
    "twice": ("w = [a]\n    w.append(a)\n    return w", ("{d}[0]", "{d}[1]")),
    "written": ("b = a[:2]\n    b *= u[1]\n    a[3] = k\n    return [b, a]", ("{d}[0]", "{d}[1]")),
}
WRITES = (
    "{w}[{i}] = {k} * {r}[{j}]", "{w}[{i}] *= {k}", "{w}[:2] += {r}[{j}]", "{w} *= {k}", "{w}[{i}] += {r}[{j}] * {r}[{j}]",
    "if {r}[{j}] > 0.3:\n        {w}[{i}] *= 1.5", "for q in range(2):\n        {w}[q] *= {k} + {r}[{j}]",
    "t = {w}\n    t[{j}] = {r}[{i}] * {k}", "t = {w} if {r}[0] > {k} else {r}\n    t[{i}] *= {k}",
)  # fmt: skip


def knot_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"knot {seed}")
    names = rng.sample(sorted(HELPERS), rng.randint(1, 2))
    texts = [f"def {n}(u, k):\n    a = u * {rng.choice(['k', '1.5', 'u'])}\n    {HELPERS[n][0]}\n" for n in names]
    lines, places, features = ["def inner(x, c):"], ["x"], set(names)
    for number, helper in enumerate(names):
        given = rng.choice(["x", "x * c", "x", "np.sin(x)"])
        if helper == "pair" and rng.random() < 0.5:
            features.add("unpacked")
            lines.append(f"    p{number}, q{number} = {helper}({given}, {rng.choice(['c', '0.5'])})")
            places += [f"p{number}", f"q{number}"]
        else:
            lines.append(f"    d{number} = {helper}({given}, {rng.choice(['c', '0.5'])})")
            places += [p.format(d=f"d{number}") for p in HELPERS[helper][1]]
    if rng.random() < 0.4:
        features.add("held in a list")
        lines.append(f"    h = [{places[1]}, {rng.choice(places[1:])}]")
        places += ["h[0]", "h[1]"]
    if rng.random() < 0.3:
        features.add("copied")
        lines += [f"    e = {places[-1]}.copy()", "    e[0] = c"]
        places.append("e")
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(WRITES)
        features.add(text)
        holes = {"w": rng.choice(places[1:]), "r": rng.choice(places), "i": rng.randint(0, 1), "j": rng.randint(0, 1)}
        lines.append("    " + text.format(**holes, k=rng.choice(["c", "x[2]", "0.8"])))
    read = " + ".join(f"np.sum({p} * {p}) * {weight}" for weight, p in enumerate(dict.fromkeys(places), 1))
    lines.append(f"    return {read}")
    outer = rng.choice(["inner(x, c) ** 2 * 0.1", "np.sin(inner(x, c))", "inner(x, c)", "inner(x * c, c) + inner(x, 0.3)"])
    source = "\n\n".join(["import numpy as np\n", *texts, "\n".join(lines) + "\n", f"def f(x, c):\n    return {outer}\n"])
    kinds = (VECTOR, NUMBER)
    return Program(source, draw_arguments(rng, kinds, digits=4), frozenset(features), seed, kinds, "knot_program")
