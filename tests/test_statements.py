"""What statements do beside computing: once, in order, and undone where something is raised."""

from __future__ import annotations

import sys
import threading
import types
import warnings

import numpy as np
import pytest

from s2sgrad import Unsupported, grad, value_and_grad

count = 0
lock = threading.Lock()


def counts(x, n):
    global count
    for _ in range(n):
        count += 1
        print("trip", count)
        x = np.sin(x) * count
    count = count * 10
    return x


def test_a_global_is_written_once_and_in_order(capsys):
    global count
    count = 0
    expected = counts(0.7, 3)
    printed = capsys.readouterr().out
    for derivative in (grad(counts), value_and_grad(counts), grad(grad(counts))):
        count = 0
        derivative(0.7, 3)
        assert count == 30
        assert capsys.readouterr().out == printed
    count = 0
    assert value_and_grad(counts)(0.7, 3)[0] == expected


def subject(x):
    print("subject")
    return 2 if x > 0.0 else 1


def matched(x):
    match subject(x):
        case 1:
            return x
        case k if k > 5:
            return -x
        case 2:
            return x * x


def test_the_subject_of_match_is_evaluated_once(capsys):
    assert grad(matched)(3.0) == 6.0
    assert capsys.readouterr().out == "subject\n"


def under_a_lock(x, fails):
    with lock:
        assert lock.locked()
        y = x * x
        if fails:
            raise ValueError("inside")
    return y


def test_a_lock_is_released_where_something_is_raised():
    assert grad(under_a_lock)(3.0, False) == 6.0
    with pytest.raises(ValueError, match="inside"):
        grad(under_a_lock)(3.0, True)
    assert not lock.locked()


def logarithms(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x)
    return np.sum(np.where(x > 0.0, y, 0.0))


def test_settings_hold_in_both_sweeps_and_are_restored():
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(grad(logarithms)(np.array([0.5, 2.0])), [2.0, 0.5])
        value_and_grad(logarithms)(np.array([0.5, 0.0]))
    assert np.geterr() == before


def raises_inside(x):
    with np.errstate(all="ignore"):
        y = x / 2.0
        raise RuntimeError(str(y))


def test_settings_are_restored_where_something_is_raised():
    before = np.geterr()
    with pytest.raises(RuntimeError):
        grad(raises_inside)(np.ones(2))
    assert np.geterr() == before


def square(x):
    return x * x


def cube(x):
    return x * x * x


def finally_speaks(x, fails):
    try:
        if fails:
            raise ValueError("inside")
        return x * x
    finally:
        print("finally")


def test_finally_runs_once_whether_or_not_something_is_raised(capsys):
    for derivative in (grad(finally_speaks), grad(grad(finally_speaks))):
        derivative(3.0, False)
        assert capsys.readouterr().out == "finally\n"
        with pytest.raises(ValueError, match="inside"):
            derivative(3.0, True)
        assert capsys.readouterr().out == "finally\n"


def imports(x):
    from module_of_settings import factor, power

    return power(x) * factor


def test_what_is_imported_is_found_anew(monkeypatch):
    module = types.ModuleType("module_of_settings")
    module.factor, module.power = 1.0, square
    monkeypatch.setitem(sys.modules, "module_of_settings", module)
    df = grad(imports)
    assert df(3.0) == 6.0
    module.factor = 4
    assert df(3.0) == 24.0
    module.power = cube
    assert df(3.0) == 108.0


def test_an_import_runs_no_module(tmp_path, monkeypatch):
    (tmp_path / "module_with_effects.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def f(x):
        import module_with_effects

        return x * module_with_effects.value

    with pytest.raises(Unsupported, match="not imported"):
        grad(f)(2.0)
