"""Options that only the run knows, on which depends what a call gives: a tuple or an array, as many axes, which shape.

def f(x, flag):
    u = np.linalg.svd(x, compute_uv=flag)      # (U, S, Vh), or S alone
    return np.sum(u[0])
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from judging import loaded

from s2sgrad import S2SGradError, grad, hessian, jvp, value_and_grad
from s2sgrad.runtime.checks import Refusal

CALLS = {
    "mean": "np.sum((x - np.mean(x, axis=1, keepdims=flag)) ** 2 * W)",
    "sum": "np.sum(np.sum(x, axis=1, keepdims=flag) * W[0])",
    "largest": "np.sum((x - np.max(x, axis=0, keepdims=flag)) ** 3)",
    "norm": "np.sum(x / np.linalg.norm(x, axis=1, keepdims=flag) * W)",
    "median": "np.sum((x - np.median(x, axis=0, keepdims=flag)) / np.std(x, axis=1, keepdims=flag) * W)",
    "svd": "np.sum(np.linalg.svd(x, compute_uv=flag)[0])",
    "svd of scipy": "np.sum(linalg.svd(x, compute_uv=flag)[-1])",
    "values alone": "np.sum(linalg.eigh(x @ x.T, eigvals_only=flag)[0])",
    "second value": "np.sum(linalg.eigh(x @ x.T, eigvals_only=not flag)[0 if flag else 1])",
    "band": "np.sum(linalg.eig_banded(x[:2], flag, flag)[0])",
    "tridiagonal": "np.sum(linalg.eigh_tridiagonal(x[0], x[1, :2], flag)[0])",
    "triangles": "np.sum(linalg.lu(x, permute_l=flag)[0] ** 2) + np.sum(linalg.lu(x, permute_l=flag)[-1])",
    "unique": "np.sum(np.unique(x, return_inverse=flag)[0] ** 2)",
    "average": "np.sum(np.average(x, axis=0, returned=flag)[0] ** 2)",
    "grid": "np.sum(np.meshgrid(x[0], x[1], sparse=flag)[0] * 2.0 + np.meshgrid(x[0], x[1], sparse=flag)[1] ** 2)",
    "covariance": "np.sum(np.cov(x, rowvar=flag) ** 2)",
    "one axis": "np.sum(np.sum(x, axis=None if flag else 0) ** 2)",
    "differences": "np.sum(np.diff(x, n=flag) ** 2)",
    "diagonal": "np.trace(x, offset=flag) ** 2",
    "triangle": "np.sum(np.triu(x, k=flag) @ x)",
    "power": "np.sum(np.linalg.matrix_power(x, flag) * W)",
    "row": "np.sum(np.atleast_2d(x)[flag] ** 2)",
    "rows": "np.sum(np.cumsum(x, axis=flag) * W)",
}
FLAGS = {"True": True, "False": False, "1": 1, "0": 0, "np.True_": np.True_, "np.False_": np.False_}
GIVEN = ("parameter", "global", "found", "attribute")
X = np.array([[2.1, 0.3, 0.27], [0.35, 1.4, 0.4], [0.25, 0.45, 0.9]])
ALONG = np.cos(np.arange(9.0)).reshape(3, 3)
CASES = list(itertools.product(CALLS, FLAGS, GIVEN))


def program(call: str, given: str) -> str:
    """The text of a module with the function `f`."""
    head, bound = {
        "parameter": (", flag", ""),
        "global": ("", ""),
        "found": ("", "    flag = options['flag']\n"),
        "attribute": (", o", "    flag = o.flag\n"),
    }[given]
    return (
        "import numpy as np\nfrom scipy import linalg\nflag = None\noptions = {}\nW = np.arange(9.0).reshape(3, 3)\n"
        f"class Options:\n    flag = None\n\ndef f(x{head}):\n{bound}    return {CALLS[call]}\n"
    )


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize(("call", "flag", "given"), CASES, ids=["-".join(c) for c in CASES])
def test_what_a_flag_decides(call, flag, given):
    with loaded(program(call, given), "<flags>") as f:
        value, space = FLAGS[flag], f.__globals__
        space["flag"] = space["options"]["flag"] = space["Options"].flag = value
        more = {"parameter": (value,), "attribute": (space["Options"](),)}.get(given, ())
        try:
            y = f(X, *more)
            slope = (f(X + 1e-6 * ALONG, *more) - f(X - 1e-6 * ALONG, *more)) / 2e-6
            curve = (f(X + 1e-4 * ALONG, *more) - 2.0 * y + f(X - 1e-4 * ALONG, *more)) / 1e-8
        except Exception:
            pytest.skip("raises")
        for mode in ("grad", "jvp", "hessian"):
            try:
                if mode == "grad":
                    own, gradient = value_and_grad(f)(X, *more)
                    found, expected = np.sum(gradient * ALONG), slope
                elif mode == "jvp":
                    (own, found), expected = jvp(f, (X, *more), (ALONG, *[None] * len(more))), slope
                else:
                    matrix = hessian(f)(X, *more).reshape(9, 9)
                    own, found, expected = y, ALONG.ravel() @ matrix @ ALONG.ravel(), curve
            except (S2SGradError, Refusal):
                continue
            assert own == pytest.approx(y, rel=1e-12)
            assert found == pytest.approx(expected, rel=1e-5 if mode != "hessian" else 1e-3, abs=1e-4)


TYPES = ("float", "int", "np.float32", "np.int64", "bool", "'i4'", "None", "x.dtype", "np.dtype(int)", "object")
MADE_OF_A_TYPE = {
    "zeros": "y = np.zeros(3, T); y[:] = x * 2.5",
    "empty": "y = np.empty(3, T); y[0] = x[0]; y[1:] = x[1:] * 2.0",
    "summed": "y = np.zeros(3, T); y[0] += x[0] * 2.5; y[1] += x[1] * 3.5; y = y * x",
    "array": "y = np.array([x[0], x[1] * 2.5, x[2]], dtype=T)",
    "asarray": "y = np.asarray(x * 2.5, T)",
    "astype": "y = (x * 3.7).astype(T)",
    "full": "y = np.full(3, x[0] * 3.0, T) * x",
    "alike": "y = np.zeros_like(x, dtype=T); y[...] = x * 1.5",
    "total": "y = np.sum(x * 2.3, dtype=T) * x",
    "joined": "y = np.concatenate([x * 2.5, x], dtype=T, casting='unsafe')",
}


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("given", ["parameter", "found", "chosen", "global"])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("made", MADE_OF_A_TYPE)
def test_types_that_only_the_run_knows(made, type_, given):
    """They are taken as those that the text tells, or refused."""
    lines = MADE_OF_A_TYPE[made].replace("; ", "\n    ")
    end = f"\n    {lines}\n    return np.sum(y * y * 0.3) + np.sum(x**2)\n"
    found = {
        "parameter": f"def f(x, T):{end}",
        "found": f"def f(x):\n    c = {{'d': {type_}}}\n    T = c['d']{end}",
        "chosen": f"def f(x):\n    T = {type_} if x[0] > 0.0 else float{end}",
        "global": f"T = None\ndef f(x):{end}",
    }[given]
    x = np.array([0.31, 0.72, 0.55])
    value = eval(type_, {"np": np, "x": x})
    with loaded(f"import numpy as np\n{found}", "<types>") as f:
        f.__globals__["T"] = value
        more = (value,) if given == "parameter" else ()
        told_text = re.sub(r"\bT\b", type_, end)
        with loaded(f"import numpy as np\ndef f(x):{told_text}", "<told>") as g:
            for mode in (grad, lambda f: lambda *args: jvp(f, args, (np.cos(x), *[None] * (len(args) - 1)))[1]):
                try:
                    own, told = mode(f)(x, *more), mode(g)(x)
                except (S2SGradError, Refusal):
                    continue
                np.testing.assert_allclose(own, told, rtol=1e-6)
