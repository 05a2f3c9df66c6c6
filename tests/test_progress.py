"""A line for long work: after a second, on a terminal alone, and only with tqdm."""

import io
import pickle
import sys
import types

import numpy as np
import pytest

from s2sgrad import checkpointed, grad, jacfwd, jacrev
from s2sgrad.driver import cache
from s2sgrad.runtime import progress
from s2sgrad.runtime.checkpoints import Checkpoints


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def lines(monkeypatch):
    """The lines that are shown: (what, total, how much was done, whether it is closed)."""
    shown = []

    class Bar:
        def __init__(self, desc, total, initial, leave, file):
            assert not leave and file is progress.sys.stderr
            self.line = [desc, total, initial, False]
            shown.append(self.line)

        def update(self):
            self.line[2] += 1

        def close(self):
            self.line[3] = True

    monkeypatch.setattr(progress, "AFTER", -1.0)
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=Terminal()))
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    cache.forget()
    return shown


def stepwise(x):
    for _ in checkpointed(range(20), slots=3):
        x = np.sin(x)
    return np.sum(x)


def written(x):
    y = np.empty(3)
    for k in range(3):
        y[k] = np.sum(x) if x[k] > k else np.sum(x * x)
    return y


def test_a_compilation_counts_its_stages(lines):
    grad(lambda x: np.sum(np.sin(x)))(np.ones(3))
    assert [line[0] for line in lines] == ["compiling <lambda>"]
    assert lines[0][1] is None and lines[0][2] >= 40 and lines[0][3]


def test_a_matrix_counts_its_columns_and_rows(lines):
    jacfwd(written, debug=True)(np.ones(3))
    jacrev(written)(np.ones(3))
    assert ["columns", 3, 3, True] in lines and ["rows", 3, 3, True] in lines


def test_a_checkpointed_loop_counts_its_trips(lines):
    df = grad(stepwise)
    assert np.allclose(df(np.ones(2)), df(np.ones(2)))
    assert lines.count(["reverse sweep", 20, 20, True]) == 2


@pytest.mark.parametrize("where", ["a pipe", "nowhere", "a closed stream", "without tqdm", "within a second"])
def test_nothing_is_shown(lines, where, monkeypatch):
    closed = io.StringIO()
    closed.close()
    if where == "without tqdm":
        monkeypatch.setitem(sys.modules, "tqdm", None)
    elif where == "within a second":
        monkeypatch.setattr(progress, "AFTER", 3600.0)
    else:
        stream = {"a pipe": io.StringIO(), "nowhere": None, "a closed stream": closed}[where]
        monkeypatch.setattr(progress.sys, "stderr", stream)
    assert np.shape(grad(stepwise)(np.ones(2))) == (2,)
    assert np.shape(jacrev(written)(np.ones(3))) == (3, 3)
    assert not lines
    assert progress.sys.stderr is None or progress.sys.stderr.closed or progress.sys.stderr.getvalue() == ""


def test_what_has_a_line_can_be_pickled(lines):
    states = Checkpoints(5, slots=2)
    for k in range(5):
        states.keep(k, 1.0)
    states.latest(4)
    assert pickle.loads(pickle.dumps(states)).latest(0) == states.latest(0)
