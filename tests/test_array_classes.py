"""Arrays of the user's classes with methods of their own, as constants: right, or refused.

class Doubled(np.ndarray):
    def __mul__(self, other): return 2.0 * np.asarray(self) * other

def f(y): return np.sum(CONSTANT.view(Doubled) * y)
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from judging import loaded

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.runtime.checks import Refusal

METHODS = {
    "nothing": "pass",
    "finalize": "def __array_finalize__(self, other): pass",
    "mul": "def __mul__(self, o): return np.asarray(self) * np.asarray(o) * 2.0",
    "getitem": "def __getitem__(self, k): return np.ndarray.__getitem__(np.asarray(self), k) * 3.0",
    "sum": "def sum(self, *a, **k): return 7.0 * np.asarray(self)[0]",
    "iter": "def __iter__(self): return iter([1.0, 2.0])",
    "transpose": "T = property(lambda self: np.asarray(self) * 4.0)",
    "ufunc": "def __array_ufunc__(self, u, m, *i, **k): return getattr(u, m)(*[np.asarray(q) * 2.0 for q in i], **k)",
    "function": "def __array_function__(self, f, t, a, k): return f(*[np.asarray(q) * 2.0 for q in a], **k)",
    "matmul": "def __matmul__(self, o): return 5.0 * np.asarray(self)[0] * np.asarray(o)[0]",
    "copy": "def copy(self): return np.asarray(self) * 2.0",
    "negative": "def __neg__(self): return np.asarray(self) * 2.0",
}
READ = ["np.sum(p * y)", "np.sum(y * p)", "p[0] * y[0]", "np.sum(p) * y[0]", "sum([q * y[0] for q in p])", "np.sum(p.T * y)",
        "p @ y", "np.dot(p, y)", "np.sum(np.exp(p) * y)", "np.sum(p.copy() * y)", "np.sum(-p * y)", "np.sum(p[1:] * y[1:])",
        "np.sum(np.asarray(p) * y)", "np.where(y > 1.0, p, y).sum()"]  # fmt: skip
PLACES = {
    "outside": "P = np.array([2.0, 3.0]).view(A)\ndef f(y):\n    p = P\n    return {}",
    "given": "def f(y, p):\n    return {}",
    "made": "def f(y):\n    p = np.array([2.0, 3.0]).view(A)\n    return {}",
}
Y = np.array([1.3, 0.6])


@pytest.mark.records
@pytest.mark.sampled(one_in=3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "place"), [*itertools.product(METHODS, PLACES)])
def test_right_or_refused(method, place):
    judged = 0
    for read in READ:
        text = f"import numpy as np\nclass A(np.ndarray):\n    {METHODS[method]}\n{PLACES[place].format(read)}\n"
        with loaded(text, f"<array classes {method} {place} {READ.index(read)}>") as f:
            others = (np.array([2.0, 3.0]).view(f.__globals__["A"]),) if place == "given" else ()
            try:
                wanted = [float(f(Y + e, *others) - f(Y - e, *others)) / 2e-6 for e in 1e-6 * np.eye(2)]
            except Exception:
                continue
            none = (None,) * len(others)
            for derivative in (grad(f), lambda *a, f=f, none=none: [jvp(f, a, (e, *none))[1] for e in np.eye(2)]):
                try:
                    found = np.array(derivative(Y.copy(), *others), float)
                except (S2SGradError, Refusal, TypeError):
                    continue
                judged += 1
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=read)
    assert judged or method not in ("nothing", "finalize")
