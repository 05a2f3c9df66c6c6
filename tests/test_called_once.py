"""Functions that one place calls are written out: what the text follows from is still guarded, and nothing else is lost."""

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, jvp, value_and_grad

SCALE = 2.0


def bent(t, w):
    a = np.sin(t * w)
    return a * a * SCALE


def straight(t, w):
    return t * w * 3.0


def one_call(x, w):
    return bent(x, w) + w


def test_it_is_written_out():
    df = grad(one_call, (0, 1))
    a = 0.7 * 1.3
    np.testing.assert_allclose(df(0.7, 1.3), (4 * np.sin(a) * np.cos(a) * 1.3, 4 * np.sin(a) * np.cos(a) * 0.7 + 1.0))
    assert "bent_bwd" not in df.source and "# a = np.sin(t * w)" in df.source


def test_another_function_of_that_name_is_read_anew(monkeypatch):
    df = grad(one_call)
    df(0.7, 1.3)
    monkeypatch.setitem(globals(), "bent", straight)
    assert df(0.7, 1.3) == pytest.approx(1.3 * 3.0)


def test_another_text_of_that_function_is_read_anew(monkeypatch):
    df = grad(one_call)
    df(0.7, 1.3)
    monkeypatch.setattr(bent, "__code__", straight.__code__)
    assert df(0.7, 1.3) == pytest.approx(1.3 * 3.0)


def test_a_number_that_it_reads_may_be_bound_anew(monkeypatch):
    df = grad(one_call)
    before = df(0.7, 1.3)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert df(0.7, 1.3) == pytest.approx(before * 2.5)


def perhaps(t, k):
    if k != 1:
        a = t * t
    return a + t


def in_trips(x):
    total = 0.0
    for k in range(3):
        total += perhaps(x, k)
    return total


def test_a_variable_of_an_earlier_trip_is_none_of_this_one():
    with pytest.raises(UnboundLocalError):
        in_trips(0.5)
    with pytest.raises((UnboundLocalError, S2SGradError)):
        grad(in_trips)(0.5)


def doubled(v):
    v *= 2.0
    return v * v


def kept(x):
    y = x * 3.0
    z = doubled(y)
    return z * y


def kept_of_arrays(x):
    y = x * 3.0
    z = doubled(y)
    return np.sum(z * y)


def test_numbers_are_the_functions_own_and_arrays_are_not():
    assert grad(kept)(0.5) == pytest.approx(4 * 27 * 3 * 0.5**2)
    x = np.array([0.5, 1.0])
    np.testing.assert_allclose(grad(kept_of_arrays)(x), 3 * 8 * 27 * x**2)
    np.testing.assert_allclose(jvp(kept_of_arrays, (x,), (np.ones(2),))[1], np.sum(3 * 8 * 27 * x**2))


def divided(t, k):
    return t / k


def by_each(x, ks):
    total = 0.0
    for k in ks:
        total += divided(x, k)
    return total


def test_an_error_names_its_line():
    with pytest.raises(ZeroDivisionError) as raised:
        value_and_grad(by_each)(1.0, [1.0, 0.0])
    assert any("divided(x, k)" in note or "t / k" in note for note in raised.value.__notes__)


def fits_not(x):
    return bent(x)


def test_a_call_that_does_not_fit_is_an_error():
    with pytest.raises((TypeError, S2SGradError)):
        grad(fits_not)(1.0)


def twice(x, w):
    return bent(x, w) * bent(w, x)


def test_what_is_called_twice_has_one_pair():
    df = grad(twice)
    assert df(0.7, 1.3) == pytest.approx((twice(0.7 + 1e-6, 1.3) - twice(0.7 - 1e-6, 1.3)) / 2e-6, rel=1e-6)
    assert df.source.count("def bent_bwd(") == 1
