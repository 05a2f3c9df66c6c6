"""What is a view and what a copy, of all that NumPy makes of an array: in the records, and in programs that write."""

import itertools
import linecache
import warnings

import numpy as np
import pytest
from differences import central_difference
from views_and_copies import LAYOUTS, SPACE, WRITES, X, all_programs, calls, expressions, program, shares

from s2sgrad import S2SGradError, jvp, value_and_grad
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives
from s2sgrad.runtime.checks import Refusal

COPIES_ON_DEMAND = (np.array, np.ndarray.astype)  # `copy` says whether, which `memory.sources` reads


def test_records_of_views_and_copies():
    """What shares memory in any layout is said to, and what is said to be a view always is one."""
    for expression, function in calls():
        if expression.count("{y}") > 1 or ", {y}" in expression:  # which may be `out`
            continue
        record = catalogue.of(function)
        for layout in LAYOUTS:
            shared = shares(expression, layout)
            if shared:
                assert record.may_view or (function in COPIES_ON_DEMAND and "copy" in expression), (expression, layout)
            elif record.gives is Gives.VIEW and shared is not None:  # a list is copied, and no axes may give a number
                assert "[{y}" in expression or layout == "no axes", (expression, layout)


@pytest.mark.sampled(one_in=2000)
@pytest.mark.parametrize("number", range(4000))
def test_programs_that_write_views_and_copies(number):
    """Each stands for a dozen programs, of which the suite takes a few."""
    for drawn in itertools.islice(all_programs(), number, None, 4000):
        if (text := program(*drawn)) is not None:
            assert outcome(text) in ("right", "refused"), text


def test_there_are_programs_of_all_kinds():
    found = [text for drawn in itertools.islice(all_programs(), 5, None, 211) if (text := program(*drawn)) is not None]
    assert len(expressions()) > 500 and len(WRITES) == 5 and len(found) > 80


def loaded(text):
    """The function of a text, with its lines where `inspect` finds them."""
    name = f"<views {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = dict(SPACE, __name__="views")
    exec(compile(text, name, "exec"), space)
    return space["f"]


def outcome(text):
    """Whether a program is refused or right, value and derivative of both modes; AssertionError where they are wrong."""
    f = loaded(text)
    value, (slope,) = f(X.copy()), central_difference(f, (X,), (0,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = "refused"
        for way in (lambda: value_and_grad(f)(X), lambda: jvp(f, (X,), (slope,))):
            try:
                again, derivative = way()
            except (S2SGradError, Refusal):
                continue
            np.testing.assert_allclose(again, value, rtol=1e-14)  # sums may be reordered by the layout
            wanted = slope if np.ndim(derivative) else slope @ slope
            np.testing.assert_allclose(derivative, wanted, rtol=1e-6, atol=1e-6)
            found = "right"
        return found
