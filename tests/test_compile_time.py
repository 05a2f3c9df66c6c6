"""The work of compiling grows with the length of a function, and not faster: calls are counted, whoever else is at work."""

from __future__ import annotations

import cProfile
import importlib.util
import pstats
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("family", [name for name, (_, _, order) in compile_time.FAMILIES.items() if order == 1])
def test_work_grows_with_the_length(family):
    make, short = compile_time.FAMILIES[family][0], SHORT.get(family, 6)
    compile_time.seconds(make(short), 1)  # what is read once for all functions
    first, second, third = (calls(make, size) for size in (short, TIMES * short, TIMES * TIMES * short))
    assert third - second <= 1.2 * TIMES * (second - first)
