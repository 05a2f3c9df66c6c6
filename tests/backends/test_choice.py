"""Which backend a gradient has, and when the default runs in its place."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver import lowering
from s2sgrad.ir.quote import expression


class Overeager(Backend):
    """Writes `raise ArithmeticError` in the place of what it is given, unless it is told not to take it."""

    name = "overeager"
    gives_up_on = (ArithmeticError,)
    taken = True

    def takes(self, unit, tree, kinds):
        return self.taken

    def lower(self, unit, tree):
        tree.body[-1].value = expression("1 // 0")
        return True


@pytest.fixture
def overeager(monkeypatch):
    backend = Overeager()
    monkeypatch.setitem(lowering._BACKENDS, "scalar_lists", backend)
    return backend


def cube(x):
    return x**3


def test_the_default_runs_where_a_backend_gives_up(overeager):
    def f(x):
        return cube(x) * 2.0

    df = grad(f)
    assert df(2.0) == 24.0
    assert df._latest.backend is overeager and "1 // 0" in df.source
    assert grad(grad(f))(2.0) == 24.0


def test_another_exception_is_the_callers(overeager):
    def f(x):
        raise IndexError("of the user's")

    overeager.gives_up_on = (ZeroDivisionError,)
    with pytest.raises(IndexError, match="of the user's"):
        grad(f)(2.0)


def test_what_it_does_not_take_stays_as_it_is(overeager):
    def f(x):
        return x**3

    overeager.taken = False
    df = grad(f)
    assert df(2.0) == 12.0
    assert df._latest.backend is NUMPY


def test_what_must_not_run_twice_is_left_to_the_default(overeager):
    def prints(x):
        print(end="")
        return x**3

    def draws(x, it):
        return x * next(it)

    for f, args in ((prints, (2.0,)), (draws, (2.0, iter([3.0])))):
        df = grad(f)
        df(*args)
        assert df._latest.backend is NUMPY
    assert np.isfinite(grad(prints)(2.0))


@pytest.mark.records
def test_a_derivative_divides_by_zero_as_numpy_does():
    """The default seed is one of Python's numbers, which raise where those of the function, NumPy's, give inf."""

    def mean(x, n):
        return np.sum(x / n)

    def each(x, n):
        out = []
        try:
            out.append(x[0] / n)
        except ZeroDivisionError:
            out.append(x[1])
        return sum(out)

    def python_numbers(x, n):
        return x / n

    with np.errstate(all="ignore"):
        assert grad(mean)(np.ones(2), 0).tolist() == [np.inf, np.inf]
        assert grad(each)(np.ones(2), 0).tolist() == [np.inf, 0.0]
    with pytest.raises(ZeroDivisionError):
        grad(python_numbers)(1.0, 0)


def test_what_counts_its_calls_runs_once():
    class Counter:
        calls = 0

    def counted(x, counter, n):
        counter.calls += 1
        total = 0.0
        for k in range(3):
            total += x[k] * x[k] / n
        return total

    counter = Counter()
    with np.errstate(all="ignore"), pytest.raises(ZeroDivisionError):
        grad(counted)(np.ones(3), counter, 0)
    assert counter.calls == 1
