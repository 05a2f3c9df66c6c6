"""Random programs with a nested function of several statements that is called at several places: some of its copies are
called again (`specialize.outlining`), and must not be where they write, share or return what they are given.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

INSIDE = [
    "p = u * {c}", "p = u + w", "p = np.sin(p) + u", "p = p * w[0]", "q = p[1:] * u[:-1]", "p = p * np.sum(q)",
    "p = u", "p[0] = p[1] * {c}", "u[1] = u[0] * {c}", "w[2] = p[0] + w[2]", "p = u.copy()", "q = u[:3]", "q[0] = w[1]",
    "p = v * s", "s = s * 1.1", "v[0] = v[0] * {c}", "p += u", "p *= {c}", "u = u * 0.5", "u = np.tanh(u)",
    "if p[0] > {c}:\n    p = p * 0.5", "if k > 1:\n    p = np.cos(p)\nelse:\n    p = p - w",
    "for i in range(k):\n    p = p * 0.9 + u", "for i in range(1, 4):\n    p[i] = p[i - 1] * u[i]", "seen.append(p[0])",
    "k = k + 1", "t = t + p[1]",
]  # fmt: skip
AHEAD = {"k = k + 1": "nonlocal k", "t = t + p[1]": "nonlocal t", "s = s * 1.1": "nonlocal s"}
RETURNS = ["p", "p * {c} + u", "u", "p[::-1] * 2.0", "w * p", "np.sin(p)", "np.append(q, p[:1])", "v"]
BETWEEN = [
    "a = a * {c} + x", "a[0] = a[0] * {c}", "b[1] += x[0]", "w = w * {c}", "w[0] = {c}", "v = v + a", "k = 2", "x = x * {c}",
    "a = b", "b = a + x", "s = np.sum(a)", "t = t + a[0]", "a[:] = b * {c}",
]  # fmt: skip
CALLS = ["a = g(b)", "b = g(a)", "a = g(x)", "b = g(b * 0.5)", "b = g(v)", "a = a + g(w)", "a = g(g(b))", "b = g(a[::-1])"]


def called_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"called {seed}")
    inside = [rng.choice(INSIDE) for _ in range(rng.randint(3, 6))]
    ahead = sorted({AHEAD[line] for line in inside if line in AHEAD})
    if rng.random() < 0.3:
        inside.insert(rng.randint(1, len(inside)), "if u[0] > {c}:\n    return u * p")
    body = [*ahead, "p = u * 1.0" if rng.random() < 0.7 else "p = u", "q = p[1:]", *inside, f"return {rng.choice(RETURNS)}"]
    calls = [rng.choice(CALLS) for _ in range(rng.randint(2, 4))]
    around = [line for call in calls for line in (*(rng.choice(BETWEEN) for _ in range(rng.randint(0, 2))), call)]
    if rng.random() < 0.3:
        place = rng.randrange(len(around))
        around[place:] = ["for _ in range(2):", *_indented(around[place:])]
    written = ["w, v, k, s, t = x * 0.7, x + 0.2, 1, 0.9, 0.0", "a, b = x * 1.5, x - c0", "seen = []", "def g(u):"]
    lines = [*written, *_indented(body), *around, "return np.sum(a * w + b * b) + np.sum(v) + s + t + len(seen)"]
    text = "\n".join(_indented(lines))
    while "{c}" in text:
        text = text.replace("{c}", str(round(rng.uniform(0.3, 1.2), 2)), 1)
    kinds = ((4,), NUMBER)
    source = f"import numpy as np\n\n\ndef f(x, c0):\n{text}\n"
    features = frozenset(line.partition("\n")[0] for line in (*inside, *around))
    return Program(source, draw_arguments(rng, kinds, digits=5), features, seed, kinds, "called_program")


def once_program(seed: int) -> Program:
    """The program of this number that calls a function of its module at one place, perhaps in a loop."""
    rng = random.Random(f"once {seed}")
    inside = [rng.choice([line for line in INSIDE if "seen" not in line]) for _ in range(rng.randint(2, 6))]
    start = ["p = u * 1.0" if rng.random() < 0.7 else "p = u", "q = p[1:]"]
    body = [*start, *inside, f"return {rng.choice(RETURNS)}"]
    around = [rng.choice(BETWEEN) for _ in range(rng.randint(0, 3))]
    call = [f"{rng.choice('ab')} = g({rng.choice(['a', 'b', 'x', 'b * 0.5', 'a[::-1]'])}, w, v, k, s, t)"]
    call += [rng.choice(BETWEEN) for _ in range(rng.randint(0, 1))]
    around[len(around) // 2 : 0] = ["for _ in range(2):", *_indented(call)] if rng.random() < 0.5 else call
    written = ["w, v, k, s, t = x * 0.7, x + 0.2, 1, 0.9, 0.0", "a, b = x * 1.5, x - c0"]
    result = "return np.sum(a * w + b * b) + np.sum(v) + s + t"
    helper, function = ("\n".join(_indented(lines)) for lines in (body, [*written, *around, result]))
    text = f"import numpy as np\n\n\ndef g(u, w, v, k, s, t):\n{helper}\n\n\ndef f(x, c0):\n{function}\n"
    while "{c}" in text:
        text = text.replace("{c}", str(round(rng.uniform(0.3, 1.2), 2)), 1)
    kinds = ((4,), NUMBER)
    return Program(text, draw_arguments(rng, kinds, digits=5), frozenset(inside), seed, kinds, "once_program")


def _indented(lines: list[str]) -> list[str]:
    return [f"    {part}" for line in lines for part in line.split("\n")]
