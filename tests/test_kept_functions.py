"""Functions that a trip of a loop keeps, under whatever, while their name is bound anew: right in both modes, all of them.

`g = h; h = partial(affine, x[k], 2.0); y = y + g(x[k])` calls the function of the trip before.
"""

from __future__ import annotations

import itertools
import textwrap

import numpy as np
import pytest
from judging import assert_gradient, assert_tangent, loaded

HEAD = """
from functools import partial, wraps
import numpy as np
from s2sgrad import grad

class Gain:
    def __init__(self, c): self.c = c
    def run(self, t): return np.tanh(self.c * t)
    def __call__(self, t): return np.sin(self.c * t)

class Box:
    def __init__(self, f): self.f = f

def affine(a, b, t): return a * t + b
def make(c): return lambda t: c * t * t
def use(f, t): return f(t)
def composed(f, g): return lambda t: f(g(t))

def made(c):
    def inner(t, by=c): return np.tanh(t * by)
    return inner

def thrice(f, t):
    for i in range(3):
        g = f
        f = partial(affine, t, i)
        t = t + g(t)
    return t
"""
LOOPS = ["for k in range(1, 4):", "k = 0\nwhile k < 3:\n    k = k + 1"]
BEFORE = ["partial(affine, 0.5, x[0])", "np.sin", "make(x[1])", "lambda t, c=x[3]: c * t", "Gain(x[3]).run"]
ANEW = [
    "partial(affine, x[k], 2.0)", "partial(affine, y * x[k], x[k])", "Gain(x[k]).run", "Gain(x[k])", "make(x[k])",
    "made(x[k])", "lambda t, c=x[k]: c * t", "lambda t, g=h, c=x[k]: g(t) * c",
]  # fmt: skip
KEPT = {  # ANEW stands for the statement that binds the name anew; the last lines come after the loop, the first before it
    "name": ("", "g = h\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "name, read after the loop": ("", "g = h\nANEW", "y = y + g(x[2])"),
    "name of a name": ("", "g = h\nw = g\nANEW\ny = y + w(x[k])", "y = y + w(x[2])"),
    "name, bound afterwards": ("g = h", "ANEW\ny = y + g(x[k])\ng = h", "y = y + g(x[2])"),
    "name, bound before": ("g = h", "y = y + g(x[k])\nANEW\ng = h", "y = y + g(x[2])"),
    "name, read in later trips": ("", "if k > 1:\n    y = y + g(x[k])\nANEW\ng = h", "y = y + g(x[2])"),
    "name, bound anew in some trips": ("", "g = h\nif k > 1:\n    ANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "name, of another function first": ("g = np.cos", "y = y + g(x[k])\ng = h\nANEW", "y = y + g(x[2])"),
    "name by a condition": ("", "g = h if k > 1 else np.cos\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "trade": ("g = np.cos", "h, g = g, h\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "inner loop": ("", "g = h\nfor j in range(2):\n    y = y + 0.3 * g(x[j])\n    ANEW", "y = y + g(x[2])"),
    "outer loop": ("", "for j in range(2):\n    g = h\n    ANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "two bindings": ("", "g = h\nANEW\nif x[k] > 0:\n    h = np.cos\ny = y + g(x[k])", "y = y + h(x[2])"),
    "no name": ("", "y = y + h(x[k])\nANEW", "y = y + h(x[1])"),
    "argument": ("", "y = y + use(h, x[k])\nANEW", "y = y + use(h, x[1])"),
    "argument that is bound anew": ("", "y = y + thrice(h, x[k])\nANEW", "y = y + thrice(h, x[1])"),
    "default": ("", "g = lambda t, q=h: q(t) + y\nANEW", "y = y + g(x[2])"),
    "default by keyword": ("", "def g(t, *, q=h): return q(t)\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "partial": ("", "g = partial(use, h)\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "composition": ("", "g = composed(h, h)\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "wrapper": ("", "g = wraps(h)(lambda t, q=h: q(t) * x[k])\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "gradient": ("", "g = grad(h)\nANEW\ny = y + g(x[k])", "y = y + g(x[2])"),
    "tuple": ("", "p = (h, x[k])\nANEW\ny = y + p[0](p[1])", "y = y + p[0](x[2])"),
    "unpacked tuple": ("", "(g, *_), z = [h, 1], x[k]\nANEW\ny = y + g(z)", "y = y + g(x[2])"),
    "list": ("", "p = [h]\nANEW\ny = y + p[0](x[k])", "y = y + p[0](x[2])"),
    "list that grows": ("p = []", "p.append(h)\nANEW\ny = y + p[0](x[k])", "y = y + p[1](x[2])"),
    "dict": ("", "d = {'a': h}\nANEW\ny = y + d['a'](x[k])", "y = y + h(x[2])"),
    "item of a dict": ("d = {}", "d['a'] = h\nANEW\ny = y + d['a'](x[k])", "y = y + d['a'](x[2])"),
    "attribute": ("b = Box(np.sin)", "b.f = h\nANEW\ny = y + b.f(x[k])", "y = y + b.f(x[2])"),
    "new object": ("", "b = Box(h)\nANEW\ny = y + b.f(x[k])", "y = y + b.f(x[2])"),
    "class": ("", "class A:\n    run = staticmethod(h)\nANEW\ny = y + A.run(x[k])", ""),
    "map": ("", "m = map(h, [x[0], x[k]])\nANEW\ny = y + sum(m)", ""),
    "generator": ("", "m = (h(t) for t in [x[0], x[k]])\nANEW\ny = y + sum(m)", ""),
    "iterator": ("", "m = iter([h])\nANEW\ny = y + next(m)(x[k])", ""),
}
X = np.array([-0.3097, -0.61588, 0.83001, -1.13549])
CASES = list(itertools.product(LOOPS, BEFORE, ANEW, KEPT))


def program(loop: str, before: str, anew: str, kept: str) -> str:
    """The text of a module with the function `f`."""
    first, inside, last = KEPT[kept]
    inside = textwrap.indent(inside.replace("ANEW", f"h = {anew}"), "    ")
    lines = "\n".join(part for part in ("y = 0.1 * x[0]", f"h = {before}", first, loop, inside, last, "return y") if part)
    return f"{HEAD}\ndef f(x):\n{textwrap.indent(lines, '    ')}\n"


@pytest.mark.records
@pytest.mark.sampled(one_in=50)
@pytest.mark.parametrize(
    ("loop", "before", "anew", "kept"), CASES, ids=[f"{k}-{kept}" for k, (_, _, _, kept) in enumerate(CASES)]
)
def test_kept(loop, before, anew, kept):
    with loaded(program(loop, before, anew, kept), "<kept>") as f:
        assert_gradient(f, (X.copy(),), (0,))
        assert_tangent(f, (X.copy(),), (0,))
