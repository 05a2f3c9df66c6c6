"""Functions that are made of what was written out, and read again: an update of an item stays an update in them.

`d[0] += e` changes an array that `d` holds, and so what other names stand for; `d[0] = d[0] + e` does not.  A function that
is called several times is outlined, and one that is differentiated inside of another is written for that.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from judging import assert_gradient, assert_tangent, loaded

from s2sgrad import S2SGradError, grad

HEAD = """
import numpy as np
from functools import partial
from s2sgrad import grad

def up(t): return t * t + 1.0
def loop(t):
    s = 0.0 * t
    for k in range(2):
        if t[k] > 0: s = s + t * k
    return s
"""
BODY = """
        d = HELD
        a = ITEM
        ITEM OP= VALUE
        b = np.sin(a)
        c = a * b
        return np.sum(a * a * K + c)
"""
HELD = {
    "list": ("[t * 1.0, t * 2.0]", "d[0]"),
    "dict": ('{"u": t * 1.0}', 'd["u"]'),
    "list of lists": ("[[t * 1.0]]", "d[0][0]"),
    "array": ("t * 1.0", "d[...]"),
    "row": ("np.array([t, t])", "d[0]"),
    "section of an item": ("(t * 1.0, t)", "d[0][:]"),
}
VALUES = {
    "product": "1.5 * t",
    "conditional": "(t if t[0] > 0 else 2 * t)",
    "comprehension": "np.sum([v * 2.0 for v in t]) * t",
    "call": "up(t)",
    "named": "(w := t * 2.0) + w",
    "short circuit": "(t[0] > 0.1 and t * 1.0)",
    "generator": "sum(v for v in t) * t",
    "call of a loop": "loop(t)",
    "key": "max(t, key=lambda v: -v) * t",
}
USES = {
    "two methods": "return M(2.0).loss(x) + M(2.0).loss(2.0 * x) + M(2.0).loss(3.0 * x)",
    "nested function": "y = g(x)\n    y = y + g(2.0 * x)\n    return y + g(3.0 * x)",
    "method": "m = M(2.0)\n    y = m.loss(x)\n    y = y + m.loss(2 * x)\n    return y + m.loss(3 * x)",
    "in a loop": "m, y = M(2.0), 0\n    for k in range(3): y = y + m.loss(x * k) + m.loss(x) - m.loss(3 * x)\n    return y",
    "gradient of a method": "return np.sum(grad(M(2.0).loss)(x)) * 0.1",
    "gradient of a user of both": "m = M(2.0)\n    return np.sum(grad(lambda t: m.loss(t) + m.loss(2 * t) + g(t))(x)) * 0.1",
    "gradient of a lambda": "return np.sum(grad(lambda t: g(t) + M(1.0).loss(t))(x)) * 0.1",
    "gradient of a partial": "return np.sum(grad(partial(of, 2.0))(x)) * 0.1",
}
X = np.array([0.3097, 0.51588])
CASES = list(itertools.product(HELD, "+*", VALUES, USES))


def program(held: str, op: str, value: str, use: str) -> str:
    """The text of a module with the function `f`."""
    made, item = HELD[held]
    body = BODY.replace("HELD", made).replace("ITEM", item).replace("OP", op).replace("VALUE", VALUES[value])
    method = f"class M:\n    def __init__(self, k): self.k = k\n    def loss(self, t):{body.replace('K', 'self.k')}"
    alone = f"def of(k, t):{body.replace('K', 'k')}"
    return f"{HEAD}\n{method}\n{alone}\ndef f(x):\n    def g(t):{body.replace('K', '1.0')}\n    {USES[use]}\n"


@pytest.mark.records
@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize(("held", "op", "value", "use"), CASES, ids=["-".join(c) for c in CASES])
def test_updates(held, op, value, use):
    with loaded(program(held, op, value, use), "<made>") as f:
        if not use.startswith("gradient"):
            assert_gradient(f, (X.copy(),), (0,))
            assert_tangent(f, (X.copy(),), (0,))
            return
        try:
            found = grad(f)(X)  # the value itself is a gradient, whose last digits are not those of the plain run
        except S2SGradError as error:
            assert value == "short circuit" and "is a view of an array that is written" in str(error)
            return
        slopes = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
        np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)
