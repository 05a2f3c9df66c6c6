"""Random programs whose loops store into the inside and the edges of arrays, one after the other, with reads in between."""

from __future__ import annotations

import random

SECTIONS = ["1:-1", "0", "-1", "1", "-2", ":", "2:", ":-1", "k", "1:-1", "0", "-1"]
TERMS = [
    "{c} * {v}[{s}]", "np.sin({v}[{s}])", "{u}[{s}] * {v}[{s}]", "{v}[{s}] + 0.1", "0.5", "{c} * {u}[{s}]",
    "{u}[{s}] * r[{s}]",
]  # fmt: skip
NEXT = {"0": "1", "-1": "-2", "1": "2", "-2": "-3", "2:": "1:-1", ":-1": "1:", "1:-1": "2:"}


def edge_program(seed):
    """The text of a function `f(x, c)` of an array of 6 elements and a number."""
    rng = random.Random(seed)
    lines = ["u, w = x * 1.0, x * x", "s = 0.0"]
    lines += ["h = u[:3]"] * (rng.random() < 0.2) + ["pair = [u, w]"] * (rng.random() < 0.15)
    lines += ["for k in range(3):", "    r = np.cos(u) * c"]
    for _ in range(rng.randint(2, 6)):
        lines.append("    " + _statement(rng, lines))
    lines.append("    u, w = w, u") if rng.random() < 0.2 and "pair" not in "".join(lines) else None
    lines.append("return s + u @ u + np.sum(w * x)")
    return "def f(x, c):\n" + "".join(f"    {line}\n" for line in lines)


def _statement(rng, lines):
    u, v = rng.sample(["u", "w"], 2)
    u = "u" if rng.random() < 0.6 else u
    section = rng.choice(SECTIONS)
    if "h = u[:3]" in lines and rng.random() < 0.2:
        return rng.choice(["h[0] = h[1] * c", "h *= 0.9 * w[:3]", "s = s + h[0] * h[2]"])
    if rng.random() < 0.15:
        return rng.choice([f"s = s + {u}[{section}] * {v}[0]", f"s = s + {v} @ {u}"]).replace(
            f"{u}[{section}]", f"np.sum({u}[{section}])"
        )
    if rng.random() < 0.06:
        return f"if s > 1.0 + k: {rng.choice(['break', f'{u}[0] = {v}[1]'])}"
    if section in NEXT and rng.random() < 0.4:
        return f"{u}[{section}] = {rng.choice([u, v])}[{NEXT[section]}] * {rng.choice(['1.0', 'c'])}"
    term = rng.choice(TERMS).format(c="c", u=u, v=v, s=section)
    return f"{u}[{section}] {rng.choice(['=', '=', '*=', '+='])} {term}"
