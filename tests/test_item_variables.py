"""Local dicts, lists and tuples whose items are variables, among others that are not: random functions and differences."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from judging import loaded

from s2sgrad import grad
from s2sgrad.testing import check_grads

USES = """
    c['a'] = {v}|c['b'] = {v}|c['b'] = {v}|c['a b'] = {v}|d[0] = {v}|d[-1] = {v}|x = x + {r}|x = x * {r}|y = {r}
    y = np.sin({r})|c['a'] += {v}|d[1] *= {v}|{r}[0] = 0.5|{r}[1:] *= 1.5|y += {r}|x = x + first(d)
    c['a'], c['b'] = c['b'], c['a']|x = x + len(d) * y|c = dict(c)|t = (d[0], {v})|d = [{r}, {v}]
    c = {{'a': {r}, 'b': {v}}}|x = x + t[k]|d[k] = {v}
    c = {{'a': {v}, 'b': {v}}}|d = [{v}, {v}]|t = ({v}, {v})|d = d2|d2 = d
"""
BLOCKS = ["if x[0] > {s}:", "for k in range(2):", "if y[1] > {s}:"]
READ = ["c['a']", "c['b']", "d[0]", "d[-1]", "d[1]", "t[0]", "t[-1]"]
NEW = ["x * y", "np.cos(x)", "x + 0.3", "y * 0.9", "x", "y", "np.tanh({r})", "{r} * x", "x.copy()"]


def program(seed: int) -> str:
    """The text of a function."""
    rng = random.Random(f"items {seed}")
    uses = [use.strip() for line in USES.strip().splitlines() for use in line.split("|")]

    def filled(text: str) -> str:
        text = text.replace("{s}", f"{rng.uniform(-0.5, 0.9):.4f}")
        while "{v}" in text or "{r}" in text:
            text = text.replace("{v}", rng.choice(NEW), 1).replace("{r}", rng.choice(READ), 1)
        return text.replace("{{", "{").replace("}}", "}")

    lines = ["import numpy as np", "", "", "def first(d):", "    return d[0]", "", "", "def f(x, y):"]
    lines += [
        "    x, y, k = x * 1.0, y * 1.0, 0",
        "    c = {'a': x * y, 'b': y}",
        "    d = [x, np.sin(y)]",
        "    t = (x, y * x)",
    ]
    lines += ["    d2 = [y, x]"]
    for _ in range(rng.randint(3, 9)):
        text, block = filled(rng.choice(uses)), filled(rng.choice(BLOCKS))
        inside = [f"    {block}", f"        {text}", f"        {filled('x = np.sin(x + {r})')}"]
        lines += inside if rng.random() < 0.4 else [f"    {text}"]
    return "\n".join([*lines, f"    return np.sum(x * y) + np.sum({filled('{r}')})", ""])


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("seed", range(40))
def test_right_or_refused(seed):
    arguments = np.array([0.4, -0.3, 0.8]), np.array([0.6, 0.5, -0.2])
    with loaded(program(seed), f"<items {seed}>") as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if abs(f(*map(np.copy, arguments))) < 1e3:
            check_grads(f, arguments, order=1, modes=("fwd", "rev"))


def test_text_has_no_container():
    def f(x):
        cache = {"h": np.tanh(x)}
        cache["y"] = cache["h"] * x
        return np.sum(cache["y"] * cache["h"])

    text = grad(f).source_for(np.ones(3))
    lines = [line for line in text.splitlines() if "#" not in line]
    assert "    cache_h = np.tanh(x)" in lines and not any("cache[" in line for line in lines)
    check_grads(f, (np.array([0.2, 0.5]),), order=2, modes=("fwd", "rev"))
