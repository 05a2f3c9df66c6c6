"""Every function of the corpus, recorded: its value bit by bit, its gradient, its tangent and its second derivatives."""

from __future__ import annotations

import contextlib
import io
import sys

import numpy as np
import pytest
from corpus import ALL, RECORDED, by_name
from differences import central_difference

from recorded.judged import assert_gradient, assert_second, assert_tangent
from s2sgrad import S2SGradError, grad
from s2sgrad.recorded.runs import OPEN
from s2sgrad.runtime.checks import Refusal

REFUSED = {
    "integer_of_numpy_added_to_a_list",
    "numbers_of_numpy_added_to_a_list_in_place",
    "pieces_of_a_function",
    "rule_that_gives_a_gradient_for_what_a_function_closes_over",
}
"""Cases that are refused in the recorded mode: this list only shrinks."""

READS_ITS_STATE = {"layers_of_a_global_net"}
"""Cases that read what an earlier call left outside, whose derivative is gone: their gradient is taken once."""

WITH_DERIVATIVES_INSIDE = {
    "gradient_of_a_gradient_inside", "hessian_times_a_vector_inside", "gradient_of_a_nested_function_that_calls_another",
    "matrices_of_functions_that_close_over_an_argument", "a_matrix_that_was_made_before",
    "gradient_of_a_lambda_that_calls_a_method",
}  # fmt: skip
"""Cases whose value is computed from derivatives: these differ in the last digit, by the order of their sums."""

OF_DERIVATIVES = {e.function.__module__ for e in ALL if "grad" in vars(sys.modules[e.function.__module__])}
"""Modules of the corpus that take derivatives: whether these are numbers of Python's or of NumPy's is left open."""

every_case = pytest.mark.parametrize("entry", [e for e in ALL if e.name not in REFUSED], ids=lambda entry: entry.name)


@pytest.fixture(autouse=True)
def quiet():
    """What the programs print is not for us; and no run stays open."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
    assert not OPEN.runs


@every_case
def test_value_and_gradient(entry):
    types = entry.function.__module__ not in OF_DERIVATIVES
    assert_gradient(entry.function, entry.args, entry.argnums, entry.name not in WITH_DERIVATIVES_INSIDE, types)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name):
    entry = by_name(name)
    with pytest.raises((S2SGradError, Refusal)):
        assert_gradient(entry.function, entry.args, entry.argnums)


@pytest.mark.sampled(one_in=6)
@every_case
def test_tangent(entry):
    assert_tangent(entry.function, entry.args, entry.argnums)


TWICE = [e for e in ALL if e.second and e.name not in REFUSED | READS_ITS_STATE]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("entry", TWICE, ids=lambda entry: entry.name)
def test_second_derivatives(entry):
    assert_second(entry.function, entry.args, entry.argnums)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_recorded_as_users_see_it(name):
    """No text, and the right gradient all the same, twice in a row and at second order."""
    entry = by_name(name)
    number = entry.argnums[0]
    with pytest.raises((S2SGradError, Refusal)):
        grad(entry.function, number, strict=True)(*entry.fresh_args())
    first = grad(entry.function, number)
    for _ in range(2):
        bar = first(*entry.fresh_args())
        np.testing.assert_allclose(bar, central_difference(entry.function, entry.args, number)[0], rtol=1e-5, atol=1e-6)
    second = grad(first, number)(*entry.fresh_args())
    np.testing.assert_allclose(second, central_difference(first, entry.args, number)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("part", range(8))
def test_what_is_listed_as_recorded_has_no_text(part):
    """Each of them, so that the list cannot say more than is so."""
    for name in sorted(RECORDED)[part::8]:
        entry = by_name(name)
        with pytest.raises((S2SGradError, Refusal)):
            grad(entry.function, entry.argnums, strict=True)(*entry.fresh_args())
            pytest.fail(f"{name} has a text", pytrace=False)
