"""Every public callable of NumPy and SciPy, and every attribute of an array, is differentiated rightly or refused.

The search for arguments, the programs and their judgement are in `library_sweep`.
"""

from __future__ import annotations

import library_sweep
import pytest

SHARD = 30  # callables
NAMES = library_sweep.names()


@pytest.mark.dear
@pytest.mark.sampled(one_in=60, turn=12)
@pytest.mark.parametrize("shard", range(-(-len(NAMES) // SHARD)))
def test_callables_are_differentiated_or_refused(shard):
    failures, judged = [], 0
    for told in library_sweep.swept(NAMES[shard :: -(-len(NAMES) // SHARD)]):
        judged += 1
        if told["word"] in ("wrong", "crashed") and not library_sweep.SPECIAL.fullmatch(told["callee"]):
            failures.append(f"{told['word']}: {told['callee']}: {told['why']}\n{told['source']}")
    assert judged
    assert not failures, "\n".join(failures)


def test_the_search_finds_calls_that_carry_derivatives():
    words = {told["word"] for told in library_sweep.swept(["numpy:tanh", "scipy.special:gammaln", "array:dot"])}
    assert words == {"right"}


def test_a_dropped_derivative_is_wrong(monkeypatch):
    dropping = "from s2sgrad import stop_gradient\n\ndef f(v):\n    return stop_gradient(v).sum()\n"
    monkeypatch.setattr(library_sweep.Call, "source", dropping)
    assert library_sweep.judged(library_sweep.Call("numpy:sum", ("v",)))[0] == "wrong"
