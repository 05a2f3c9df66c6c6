"""Calls that write their result into an array, by every way to hand it: the value and both modes are right."""

from __future__ import annotations

import inspect
import random
import warnings

import numpy as np
import pytest
from judging import loaded
from out_programs import CALLS, HANDED, OVERLAPS, PLACES, RESULT, SINGLE, out_program

from s2sgrad import S2SGradError, grad, jvp, value_and_grad
from s2sgrad.memory import mod_ref
from s2sgrad.recorded.library import SPECIAL
from s2sgrad.runtime.checks import Refusal

AT, ALONG = np.array([0.7, 1.3, 0.4]), np.array([0.3, -0.7, 1.1])
STEP = 1e-6
SHUFFLED = random.Random(37).sample(SINGLE, len(SINGLE))
EACH = [(name, handed, "helper", "row", "dropped") for name in CALLS for handed in ("keyword", "display", "value")]


def judged(way):
    """How many modes gave the derivative, and how many refused it; None where NumPy refuses the call itself."""
    text, right, refused = out_program(way), 0, 0
    with loaded(text, f"<out {'-'.join(way)}>") as f:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value, wanted = f(AT.copy()), (f(AT + STEP * ALONG) - f(AT - STEP * ALONG)) / (2.0 * STEP)
        except (TypeError, ValueError, AttributeError):
            return None
        for mode in ("grad", "jvp"):
            try:
                if mode == "grad":
                    given, slopes = value_and_grad(f)(AT.copy())
                    found = slopes @ ALONG
                else:
                    given, found = jvp(f, (AT.copy(),), (ALONG,))
            except (S2SGradError, Refusal):
                refused += 1
                continue
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7, err_msg=f"{mode}\n{text}")
            assert given == value, f"{mode}\n{text}"
            right += 1
    return right, refused


@pytest.mark.records
@pytest.mark.sampled(one_in=100, by="part")
@pytest.mark.parametrize("part", range(len(SHUFFLED) // 20))
def test_every_way_to_hand_an_array_for_the_result(part):
    for way in SHUFFLED[20 * part : 20 * part + 20]:
        judged(way)


@pytest.mark.records
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("way", EACH, ids="-".join)
def test_every_function_writes_what_it_reads(way):
    judged(way)


@pytest.mark.records
def test_most_of_them_are_followed():
    found = [counts for way in SHUFFLED[:24] if (counts := judged(way)) is not None]
    assert sum(right for right, _ in found) >= 0.9 * sum(right + refused for right, refused in found)
    assert {part for way in SINGLE for part in way} == {*CALLS, *HANDED, *PLACES, *OVERLAPS, *RESULT}


def by_display(v):
    np.einsum("i,i->i", v, v + 1.0, **{"out": v})


def by_name(v, options):
    np.einsum("i,i->i", v, v + 1.0, **options)


def no_array(v, options):
    np.shape(v, **options)


def test_writes_by_two_stars_are_seen():
    assert mod_ref.of(by_display).arguments == {"v"}
    assert mod_ref.of(by_name).arguments == {"options"}
    assert mod_ref.of(no_array).arguments == set()


def rounded_into(x):
    u = x * 1.0
    z = np.floor(x, **{"out": u})
    return np.sum(u * x) + np.sum(z * x)


@pytest.mark.records
def test_what_has_no_slope_writes_as_well():
    np.testing.assert_array_equal(grad(rounded_into)(AT), 2.0 * np.floor(AT))


def range_of_rows(x):
    m = np.outer(x, x)
    np.ptp(m, axis=1, out=m[0])
    return np.sum(m * m)


@pytest.mark.records
def test_a_reduction_that_reads_what_it_has_written_is_refused():
    for call in (lambda: grad(range_of_rows)(AT), lambda: jvp(range_of_rows, (AT,), (ALONG,))):
        with pytest.raises((S2SGradError, Refusal), match="shares memory with one that is written"):
            call()


def several_by_position(x):
    m = x * 1.5
    np.modf(m, m, x * 1.0)
    return np.sum(m * m)


@pytest.mark.records
def test_several_results_by_position_are_refused():
    with pytest.raises((S2SGradError, Refusal), match="several results"):
        grad(several_by_position)(AT)


def filled_by_value(x):
    m, fill = np.outer(x, x), np.fill_diagonal
    fill(m, val=0.0)
    return np.sum(m * m)


def started_by_value(x):
    total = np.sum
    return total(a=x * x) + total(x, initial=x[0])


@pytest.mark.records
@pytest.mark.parametrize("f", [filled_by_value, started_by_value], ids=lambda f: f.__name__)
def test_functions_as_values_take_the_words_of_numpy(f):
    wanted = (f(AT + STEP * ALONG) - f(AT - STEP * ALONG)) / (2.0 * STEP)
    np.testing.assert_allclose(grad(f)(AT) @ ALONG, wanted, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (AT,), (ALONG,))[1], wanted, rtol=1e-6)


def test_what_stands_for_a_function_in_a_recording_has_its_parameters():
    """By place and by name, as a call may give them."""
    judged = 0
    for function, own in SPECIAL.items():
        try:
            wanted = [*inspect.signature(function).parameters.values()]
        except (TypeError, ValueError):
            continue
        by_name = {p.name for p in wanted if p.kind is not p.POSITIONAL_ONLY}
        for place, parameter in enumerate(inspect.signature(own).parameters.values()):
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and place < len(wanted) and own.__name__ != "<lambda>":
                unnamed = wanted[place].kind is parameter.POSITIONAL_ONLY
                assert parameter.name in by_name or unnamed, (function, parameter.name)
                judged += 1
    assert judged > 30
