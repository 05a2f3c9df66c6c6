"""Calls of one line are right in both modes or refused by name."""

from __future__ import annotations

import one_line_calls
import pytest

CALLS = [call for _, call in one_line_calls.calls()]


@pytest.mark.records
@pytest.mark.sampled(one_in=120)
@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    word, why = one_line_calls.judged(call)
    if call in one_line_calls.REFUSED:
        assert word == "refused", "take it out of REFUSED"
    else:
        assert word == "right", why


def test_there_are_as_many_as_are_promised():
    assert len({*CALLS}) >= 603 and {*CALLS} >= one_line_calls.REFUSED
    assert len(CALLS) - len(one_line_calls.REFUSED) >= 0.978 * len(CALLS)


def test_a_wrong_derivative_is_found(monkeypatch):
    text = one_line_calls.source("np.sin(x)").replace("r = ", "r = s2sgrad.stop_gradient(").replace("(x)\n", "(x))\n")
    monkeypatch.setattr(one_line_calls, "source", lambda call: "import s2sgrad\n" + text)
    assert one_line_calls.judged("np.sin(x)")[0] == "wrong"
