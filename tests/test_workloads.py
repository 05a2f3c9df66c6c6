"""The workloads of the benchmarks: adjoints by hand are right, peers run the same functions, memory is near that by hand."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "benchmarks"


@pytest.fixture(scope="module")
def scripts():
    """The modules `by_hand` and `peers`."""
    before = {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import by_hand
        import peers

        yield by_hand, peers
    for name in {*sys.modules} - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == FOLDER:
            del sys.modules[name]


def test_there_are_enough(scripts):
    by_hand, _ = scripts
    assert len(by_hand.WORKLOADS) >= 20 and 4 <= sum(w.small for w in by_hand.WORKLOADS) < 10


def test_adjoints_by_hand(scripts):
    by_hand, _ = scripts
    for w in by_hand.WORKLOADS:
        gradient = by_hand.gradient_of(w)
        for seed in (3, 4):
            args = w.draw(np.random.default_rng(seed))
            assert by_hand.same(gradient(*args), w.by_hand(*args)), w.function.__name__
        if not w.small:
            assert by_hand.peak(gradient, args) <= 1.8 * by_hand.peak(w.by_hand, args), w.function.__name__


def test_peers_run_the_same_functions(scripts):
    by_hand, peers = scripts
    known = {w.function.__name__: w for w in by_hand.WORKLOADS}
    assert {*peers.FUNCTIONAL, *peers.SCANNED} <= known.keys()
    for name, function in peers.FUNCTIONAL.items():
        args = known[name].draw(np.random.default_rng(5))
        np.testing.assert_allclose(function(*args), known[name].function(*args), rtol=1e-12)
        scanned = peers.SCANNED.get(name, function)
        assert inspect.signature(function) == inspect.signature(scanned) == inspect.signature(known[name].function)
