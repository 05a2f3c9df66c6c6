"""Compiled gradients: the numbers of the text, its errors, other arguments, other processes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from as_loops import assert_same

from s2sgrad import Unsupported, grad, jvp, value_and_grad

V, M = np.linspace(-0.7, 0.9, 7), np.linspace(0.3, 1.9, 20).reshape(4, 5)
FACTOR = 2.0


def recurrence(x, k):
    s = 0.5
    for i in range(len(x)):
        s = k * s + x[i] * s
    return s


def layers(w, v, x):
    h = np.tanh(x @ w)
    return FACTOR * np.mean((h @ v) ** 2)


def quotient(x, y):
    return np.sum(x / y) + 1.0 / np.sum(y)


@pytest.fixture
def numba(tmp_path, monkeypatch):
    monkeypatch.setenv("S2SGRAD_CACHE", str(tmp_path))
    return pytest.importorskip("numba")


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match=r"pip install 's2sgrad\[compile\]'"):
        grad(recurrence, compile=True)


def test_debug_and_compile_exclude_each_other():
    with pytest.raises(ValueError, match="leave out compile=True"):
        grad(recurrence, compile=True, debug=True)


def test_numbers_are_those_of_the_text(numba):
    df = value_and_grad(recurrence, (0, 1), compile=True)
    assert_same(df(V, 0.3), value_and_grad(recurrence, (0, 1))(V, 0.3))
    assert "is compiled" in df.explain_compile() and "for i in range(n0)" in df.compiled_source
    space = {}
    exec(df.compiled_source, space)  # as it stands, without numba
    assert np.isclose(space["recurrence_value_and_grad_loops"](V, 0.3, 1.0)[0], recurrence(V, 0.3))


def test_a_chain_of_products_is_bit_equal(numba):
    assert grad(recurrence, compile=True)(V, 0.3).tolist() == grad(recurrence, lists=False)(V, 0.3).tolist()


def test_other_arguments(numba):
    global FACTOR
    df, plain = grad(layers, (0, 1, 2), compile=True), grad(layers, (0, 1, 2))
    for x in (np.ones((3, 4)), np.asfortranarray(np.ones((6, 4))), np.ones((8, 4))[::2]):
        assert_same(df(M, V[:5], x), plain(M, V[:5], x))
    frozen = np.ones((3, 4))
    frozen.flags.writeable = False
    before, FACTOR = FACTOR, 3.0
    try:
        assert_same(df(M, V[:5], frozen), plain(M, V[:5], frozen))
    finally:
        FACTOR = before
    assert "is compiled" in df.explain_compile() and "ran as NumPy text" not in df.explain_compile()


def test_errors_are_those_of_the_text(numba):
    df, plain = grad(quotient, compile=True), grad(quotient)
    df(V, V)
    with pytest.raises(ValueError) as theirs:
        plain(V, np.ones(3))
    with pytest.raises(ValueError) as ours:
        df(V, np.ones(3))
    assert str(ours.value) == str(theirs.value)
    assert_same(df(V, np.ones(1)), plain(V, np.ones(1)))


def test_what_has_no_loops_runs_as_text(numba):
    def f(x):
        return np.sum(np.linalg.norm(x, axis=0))

    df = grad(f, compile=True)
    assert_same(df(M), grad(f)(M))
    assert "runs as NumPy text" in df.explain_compile() and df.compiled_source.startswith("# ")


def test_tangents_and_second_derivatives(numba):
    along = jvp(recurrence, compile=True)
    assert_same(along((V, 0.3), (V, 1.0)), jvp(recurrence, (V, 0.3), (V, 1.0)))
    assert_same(grad(grad(recurrence, 1, compile=True), 1)(V, 0.3), grad(grad(recurrence, 1), 1)(V, 0.3))


def test_a_second_process_reads_the_file(numba, tmp_path):
    (tmp_path / "model.py").write_text(
        "from s2sgrad import grad\n\n\ndef f(x):\n    return x * x * x\n\n\nprint(grad(f, compile=True)(2.0))\n"
    )
    run = [sys.executable, str(tmp_path / "model.py")]
    root = importlib.import_module("s2sgrad").__path__[0] + "/.."
    env = {"S2SGRAD_CACHE": str(tmp_path), "PYTHONPATH": root, "PATH": ""}
    for _ in range(2):
        done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
        assert done.stdout == "12.0\n"
    assert len([*tmp_path.glob("loops_*.py")]) == 1 and [*tmp_path.rglob("*.nbc")]
