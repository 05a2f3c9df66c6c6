"""Lists and tuples that are repeated, `3 * xs` and `xs *= 2`, wherever they come from: right in every mode, or refused.

Only the run may know that a value is a list: one that a branch, a loop, a function or a dict gives.
"""

from __future__ import annotations

import itertools
import textwrap

import numpy as np
import pytest
from judging import assert_gradient, assert_tangent, loaded

from s2sgrad import S2SGradError, grad, hessian, jacobian
from s2sgrad.runtime.checks import Refusal

HEAD = """
import numpy as np

def either(x, k): return [x[0] * x[0], x[1]] if k else x * 2.0
def pair(x): return x[0] * x[2], x[1]
def grown(x, n): return pair(x) if n == 0 else 2 * grown(x, n - 1)
class Box:
    def __init__(self, x): self.s = [x[1], x[0] * x[1]]
"""
MADE = {
    "tuple": "s = x[0] * x[0], x[1]",
    "list": "s = [x[0] * x[0], x[1]]",
    "list of arrays": "s = [x[:2] * x[0], x[1:3]]",
    "nested": "s = [[x[0] * x[0]], [x[1]]]",
    "items of an array": "s = tuple(x * x)",
    "comprehension": "s = [t * t for t in x]",
    "grown in a loop": "s = []\nfor t in x[:3]:\n    s.append(t * t)",
    "bound in a branch": "s = [x[0] * x[0], x[1]]\nif x[0] > 0.0:\n    s = x * x",
    "bound in the other branch": "s = x * x\nif x[0] < 0.0:\n    s = (x[0] * x[0], x[1])",
    "of a helper": "s = pair(x)",
    "of a helper, in a branch": "s = either(x, x[0] < 0.0)",
    "of a recursion": "s = grown(x, 2)",
    "of a dict": "d = {'a': x * x, 'b': [x[0] * x[0], x[1]]}\nfor q in d:\n    s = d[q]",
    "of an object": "s = Box(x).s",
    "a number first": "s = x[0]\nfor k in range(2):\n    s = [s] * 2 if k == 0 else s",
}
REPEATED = {
    "right": "s = s * 2",
    "left": "s = 2 * s",
    "in place": "s *= 2",
    "in a loop": "for k in range(2):\n    s = s * 2",
    "in place, in a loop": "for k in range(2):\n    s *= 2",
    "by a count of the trip": "for k in range(2):\n    s = s * (k + 1)",
    "in a branch": "if x[1] < 0.0:\n    s = s * 2",
    "in place, in a branch": "if x[1] < 0.0:\n    s *= 2",
    "under another name": "r = s\nr = r * 2\ns = r",
    "under two names": "r = s\ns *= 2\ns = r * 1",
    "by a length": "s = s * len(x[:2])",
    "and extended": "s = (s + s) * 2",
    "twice": "s = 2 * (s * 2)",
}
X = np.array([-0.3097, -0.61588, 0.83001, -1.13549])
CASES = list(itertools.product(MADE, REPEATED))


def program(made: str, repeated: str) -> str:
    """The text of a module with the function `f`."""
    lines = (
        f"{MADE[made]}\n{REPEATED[repeated]}\nreturn np.sum(np.array(s[0])) * 3.0 + np.sum(s[-1]) * np.sum(s[-1]) * len(s)"
    )
    return f"{HEAD}\ndef f(x):\n{textwrap.indent(lines, '    ')}\n"


@pytest.mark.records
@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("made", "repeated"), CASES, ids=[f"{m}, {r}" for m, r in CASES])
def test_repeated(made, repeated):
    with loaded(program(made, repeated), "<repeated>") as f:
        assert_gradient(f, (X.copy(),), (0,))
        try:
            assert_tangent(f, (X.copy(),), (0,))
            matrix = hessian(f)(X)
        except (S2SGradError, Refusal):
            return
        np.testing.assert_allclose(matrix, jacobian(grad(f))(X), rtol=1e-10)
