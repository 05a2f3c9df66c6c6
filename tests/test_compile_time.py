"""The work of compiling grows with the length of a function, and not faster: calls are counted, whoever else is at work."""

from __future__ import annotations

import cProfile
import importlib.util
import pstats
from pathlib import Path

import numpy as np
import pytest

from s2sgrad import checkpointed, grad
from s2sgrad.driver import compiled

_PATH = Path(__file__).parent / "benchmarks" / "compile_time.py"
_SPEC = importlib.util.spec_from_file_location("compile_time", _PATH)
compile_time = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(compile_time)

TIMES = 3  # as long
SHORT = {"loops": 2, "comprehensions": 2, "branches in a loop": 4}


def calls(make, size: int) -> int:
    """How many functions are called to compile a function of a family."""
    text = make(size)
    profile = cProfile.Profile()
    profile.runcall(compile_time.seconds, text, 1)
    return pstats.Stats(profile).total_calls


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("family", [name for name, (_, _, order) in compile_time.FAMILIES.items() if order == 1])
def test_work_grows_with_the_length(family):
    make, short = compile_time.FAMILIES[family][0], SHORT.get(family, 6)
    compile_time.seconds(make(short), 1)  # what is read once for all functions
    first, second, third = (calls(make, size) for size in (short, TIMES * short, TIMES * TIMES * short))
    assert third - second <= 1.2 * TIMES * (second - first)


def compilations(monkeypatch, f, *args) -> list[int]:
    """How many gradients are compiled for the first derivative, and then for the second."""
    made, counts = [], []
    compile_gradient = compiled.compile_gradient
    monkeypatch.setattr(compiled, "compile_gradient", lambda *given: made.append(given) or compile_gradient(*given))
    df = grad(f)
    for derivative in (df, grad(df)):
        derivative(*args)
        counts.append(len(made))
    return counts


def test_a_text_on_arrays_is_compiled_once_for_itself_and_for_the_second_derivative(monkeypatch):
    assert compilations(monkeypatch, lambda x: x * x * x, 2.0) == [1, 2]

    class Holder:
        __slots__ = ("v",)

        def __init__(self, v):
            self.v = v

    def of_objects(x):
        held = [Holder(x), Holder(x * 2.0)]
        for one in held:
            one.v *= held[0].v
        return held[1].v

    assert compilations(monkeypatch, of_objects, 2.0) == [1, 2]


def test_a_text_that_is_another_to_be_differentiated_again_is_compiled_for_that(monkeypatch):
    def on_lists(x):
        total = 0.0
        for k in range(len(x)):
            total = np.sin(total) * x[k]
        return total

    def of_states(x):
        for _ in checkpointed(range(10), slots=3):
            x = x * np.cos(x)
        return x

    assert compilations(monkeypatch, on_lists, np.ones(3)) == [1, 3]
    assert compilations(monkeypatch, of_states, 2.0) == [1, 3]
