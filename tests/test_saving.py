"""A generated text saved as a module of its own gives the same bits, with and without s2sgrad beside it."""

from __future__ import annotations

import ast
import contextlib
import io
import subprocess
import sys

import numpy as np
import pytest
from corpus import CASES
from differences import leaves

from s2sgrad import grad, jvp
from s2sgrad.__main__ import main
from s2sgrad.api import saving

MODEL = '''
import numpy as np

SCALE = 2.0


def inner(w, x):
    return np.log1p(np.exp(x @ w)) * SCALE


def loss(w, x):
    out = np.zeros(len(x))
    for k in range(len(x)):
        out[k] = inner(w, x[k])
    return np.sum(out ** 2)
'''


@pytest.mark.sampled(one_in=40, turn=3)
@pytest.mark.parametrize("standalone", [False, True])
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_saved_text_gives_the_same_bits(entry, standalone):
    """What it closes over may be more than a module can hold: that is said."""
    derivatives = [grad(entry.function, entry.argnums)]
    if entry.second:
        derivatives.append(grad(grad(entry.function, entry.argnums[0]), entry.argnums[0]))
    for df in derivatives:
        with contextlib.redirect_stdout(io.StringIO()):
            expected = df(*entry.fresh_args())
        try:
            text = saving.module_text(df._latest, standalone)
        except ValueError as error:
            assert any(w in str(error) for w in ("pass it as an argument", "standalone=True", "could import"))
            continue
        if standalone:
            homes = [n.module or "" for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom)]
            assert not any(home.startswith("s2sgrad") for home in homes)
        space = {"__name__": "saved"}
        exec(compile(text, "<saved>", "exec"), space)
        with contextlib.redirect_stdout(io.StringIO()):
            got = space[df._latest.function.__name__](*entry.fresh_args())
        for a, b in zip(leaves(expected), leaves(got), strict=True):
            assert np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("flags", [[], ["--forward"], ["--order", "2"]])
def test_saved_from_the_shell(tmp_path, monkeypatch, flags):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fitted_model.py").write_text(MODEL)
    given = "np.ones(2), np.eye(3)[:, :2]"
    assert main(["show", "fitted_model.py:loss", "--args", given, "-o", "saved.py", "--standalone", *flags]) == 0
    text = (tmp_path / "saved.py").read_text()
    assert "from fitted_model import SCALE" in text and "from s2sgrad" not in text
    more = ", w_dot=np.ones(2)" if flags == ["--forward"] else ""
    name = {"[]": "loss_grad", "['--forward']": "loss_jvp"}.get(str(flags), "loss_grad_grad")
    program = "import sys; sys.modules['s2sgrad'] = None; import numpy as np; import saved; "
    program += f"print(saved.{name}({given}{more}))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert "nan" not in out and out.strip()


def test_what_cannot_be_saved_leaves_no_file(tmp_path):
    held = object()
    df = grad(lambda x: x * x if held else x)
    df(2.0)
    with pytest.raises(ValueError, match="`held`, which the function closed over"):
        df.save(tmp_path / "saved.py")
    along = jvp(lambda x: x * x)
    along((2.0,), (1.0,))
    along.save(tmp_path / "along.py")
    assert [p.name for p in tmp_path.iterdir()] == ["along.py"]
    space = {}
    exec((tmp_path / "along.py").read_text(), space)
    assert space["lambda__jvp"](3.0, x_dot=1.0) == (9.0, 6.0)


def test_values_that_are_closed_over_are_written_out(tmp_path):
    weights, options = np.array([1.0, 2.0]), {"power": 3, "names": ("a", None)}
    df = grad(lambda x: np.sum(weights * x ** options["power"]))
    x = np.array([0.5, 2.0])
    expected = df(x)
    df.save(tmp_path / "saved.py")
    space = {}
    exec((tmp_path / "saved.py").read_text(), space)
    assert np.array_equal(space["lambda__grad"](x), expected)
