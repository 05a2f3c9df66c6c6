"""What people see of a function that is recorded: its text, its explanation, its saved module."""

import importlib.util
import sys

import numpy as np
import pytest

from s2sgrad import explain, grad, jvp, value_and_grad
from s2sgrad.cli import main
from s2sgrad.errors import Unsupported

MODEL = """
import numpy as np


def draws(x, n=2, scale=2.0):
    sources = [iter([1.0, 2.0, 3.0]), iter([2.0, 5.0])]
    total = 0.0
    for _ in range(n):
        for source in sources:
            try:
                total += next(source) * np.sum(x**2) * scale
            except StopIteration:
                pass
    return total
"""
X = np.arange(1.0, 4.0)


@pytest.fixture
def draws(tmp_path, monkeypatch):
    (tmp_path / "drawing.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module("drawing").draws
    sys.modules.pop("drawing", None)


def test_the_source_says_why_in_front_of_two_lines(draws):
    df = grad(draws)
    np.testing.assert_allclose(df(X), 40.0 * X)
    *reason, head, first, second = df.source.splitlines()
    assert head == "def draws_grad(x, n=2, scale=2.0, seed=1.0):"
    assert (first, second) == ("    y, pullback = vjp(draws, x, n, scale)", "    return pullback(seed)[0]")
    assert all(line.startswith("# ") for line in reason) and "line 10 of drawing.py" in reason[0]
    assert reason[1] == "#     try:"
    assert "the body of `try`" in df.source
    assert grad(draws).source == df.source  # before any call


def test_the_source_of_several_and_of_a_tangent(draws):
    both = value_and_grad(draws, argnums=("x", "scale"))
    both(X)
    assert both.source.endswith("    return y, (pullback(seed)[0], pullback(seed)[2])\n")
    along = jvp(draws)
    along((X, 2), (X, None))
    assert "    y, y_dot = jvp(draws, (x, n, scale), (x_dot, None, None))\n    return y, y_dot\n" in along.source


def test_explain_names_the_line_and_strict_refuses_it(draws):
    explanation = explain(draws, X)
    ((line, note),) = explanation.notes("run")
    assert line == 10 and "strict=True" in str(note) and "the body of `try`" in str(note)
    assert explanation.refusal is None and isinstance(explanation.recorded, Unsupported)
    strict = explain(grad(draws, strict=True), X)
    assert strict.recorded is None and isinstance(strict.refusal, Unsupported)
    with pytest.raises(Unsupported, match="the body of `try`"):
        grad(draws, strict=True)(X)


def test_the_commands_say_what_is_recorded(draws, capsys):
    assert main(["check", "drawing.py:draws", "--args", "np.ones(3), 2"]) == 0
    assert "Recorded as it runs, for it has no text: line 10 of drawing.py" in capsys.readouterr().out
    assert main(["explain", "drawing.py:draws", "--args", "np.ones(3), 2"]) == 0
    assert "as it runs" in capsys.readouterr().out
    assert main(["show", "drawing.py:draws"]) == 0
    assert "y, pullback = vjp(draws, x, n, scale)" in capsys.readouterr().out


def test_a_saved_module_imports_the_function(draws, tmp_path):
    df = grad(draws)
    df(X)
    df.save(tmp_path / "saved_draws.py")
    spec = importlib.util.spec_from_file_location("saved_draws", tmp_path / "saved_draws.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.draws_grad(X), df(X))


def test_what_cannot_be_saved_says_why(draws, tmp_path):
    df = grad(draws)
    df(X)
    with pytest.raises(ValueError, match=r"line 10 of drawing.py.*without standalone=True"):
        df.save(tmp_path / "saved.py", standalone=True)
    along = jvp(draws)
    along((X, 2), (X, None))
    with pytest.raises(ValueError, match="only `grad` and `value_and_grad`"):
        along.save(tmp_path / "saved.py")
