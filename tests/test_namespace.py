"""The printed text of a gradient runs in the user's module, and beside the modules that it was made from."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys

import numpy as np
import pytest
from metamorphic import loaded

from s2sgrad import grad
from s2sgrad.__main__ import main

VECTOR = np.array([0.3, -0.7, 1.1])

FUNCTIONS_CALLED_LIKE_OURS = """
import numpy as np
def like(x): return x * 2.0
def zeros(x): return like(x) * x
def use(x): return like(x).sum() * zeros(x).sum()
def f(x):
    if x.sum() > 0:
        return use(x) + np.sum(np.outer(x, x))
    return use(x)
"""

LOCALS_CALLED_LIKE_BUILTINS = """
import numpy as np
def f(x):
    range = x * 3.0
    reversed = 0.0
    for len in (1, 2, 3):
        reversed = reversed + np.sin(range) ** 3 * len
    return reversed * range
"""

GRADIENT_INSIDE = """
import numpy as np
from s2sgrad import grad
def seed_like(x): return x * 2.0
def g(x):
    reversed = 0.0
    for k in (1, 2, 3):
        reversed = reversed + np.sin(x) ** 3 * k
    return reversed
def f(x): return grad(g)(x) * seed_like(x)
"""

OF_ANOTHER_MODULE = """
import numpy as np
import numpy as like
K = 3.0
SCALE = 0.5
def shifted(x): return np.sin(x) * K
def g(x):
    y = 0.0
    while x < 10.0:
        x = x * K + 1.0
        y += shifted(x) * SCALE - shifted(0.5 * x)
    return y * like.cos(x)
"""

USES_IT = """
import numpy as np
from other import g
K, SCALE = "a name of this module", 0.25
def like(x): return x * SCALE
def f(x):
    return g(x.sum()) + np.sum(like(x) ** 2)
"""


def pasted(df, args, space):
    """The value of the printed text for these arguments, run in this namespace."""
    text = df.source_for(*args)
    space = dict(space)
    exec(compile(text, "<pasted>", "exec"), space)
    return space[text.rpartition("\ndef ")[2].partition("(")[0]](*args)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("text", "args"),
    [(LOCALS_CALLED_LIKE_BUILTINS, (0.7,)), (GRADIENT_INSIDE, (0.7,)), (FUNCTIONS_CALLED_LIKE_OURS, (VECTOR,))],
)
def test_printed_text_runs_in_the_module_of_the_function(text, args, order):
    with loaded(text, "hostile", "") as module:
        df = module.f
        for _ in range(order):
            df = grad(df)
        np.testing.assert_allclose(pasted(df, args, vars(module)), df(*args), rtol=1e-12)


def test_printed_text_has_what_the_functions_of_other_modules_reach():
    with loaded(OF_ANOTHER_MODULE, "other", ""), loaded(USES_IT, "hostile", "") as module:
        df = grad(module.f)
        value = df(VECTOR)
        np.testing.assert_allclose(pasted(df, (VECTOR,), vars(module)), value, rtol=1e-12)
        text = df.source_for(VECTOR)
        assert "import other\n" in text and "x * other.K" in text  # data may be bound anew
        assert "from other import shifted\n" in text
        sys.modules["other"].K = 2.0
        assert not np.allclose(df(VECTOR), value)
        np.testing.assert_allclose(pasted(df, (VECTOR,), vars(module)), df(VECTOR), rtol=1e-12)


def test_what_the_command_shows_is_a_file_that_runs(tmp_path, monkeypatch):
    (tmp_path / "hostile.py").write_text(FUNCTIONS_CALLED_LIKE_OURS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert not main(["show", "hostile.py:f", "--args", "np.ones(3)"])
    (tmp_path / "saved.py").write_text(f"{FUNCTIONS_CALLED_LIKE_OURS}\n\n{shown.getvalue()}\nvalue = f_grad(np.ones(3))\n")
    space = runpy.run_path(str(tmp_path / "saved.py"))
    with loaded(FUNCTIONS_CALLED_LIKE_OURS, "hostile", "") as module:
        np.testing.assert_allclose(space["value"], grad(module.f)(np.ones(3)), rtol=1e-12)
