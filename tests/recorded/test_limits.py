"""A program that does not end is stopped, with its line, before memory is out."""

from __future__ import annotations

import gc
import re

import numpy as np
import pytest

from s2sgrad import grad, hessian, jvp, vjp
from s2sgrad.recorded.limits import Limit

X = np.array([0.5, 1.5])


def grows(x):
    todo = [x[0]]
    for v in todo:
        todo.append(v * 0.9 + 0.1)
        if len(todo) > 30_000:
            break
    return todo[-1]


def catches(x):
    v = next([iter([x[0], x[1]])][0])
    while True:
        try:
            v = v * 0.9 + 0.1
        except Exception:
            return v


DERIVATIVES = {
    "grad": lambda f: grad(f)(X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "vjp": lambda f: vjp(f, X),
    "hessian": lambda f: hessian(f)(X),
}


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize(("f", "line"), [(grows, 20), (catches, 30)])
def test_where_the_program_is(name, f, line, monkeypatch):
    monkeypatch.setattr(Limit, "operations", 3000)
    with pytest.raises(
        MemoryError, match=re.escape(f"the latest in line {line} of {__file__}: does the program end?")
    ) as error:
        DERIVATIVES[name](f)
    assert int(str(error.value).partition(" ")[0].replace(",", "")) < 100_000
    assert not any("Watch" in getattr(callback, "__qualname__", "") for callback in gc.callbacks)


def test_a_higher_limit(monkeypatch):
    monkeypatch.setattr(Limit, "operations", 3000)
    with pytest.raises(MemoryError):
        grad(grows)(X)
    monkeypatch.setattr(Limit, "operations", 100_000)
    assert np.array_equal(grad(grows)(X) > 0.0, [True, False]) or grad(grows)(X)[0] == 0.0


def test_the_limit_is_generous():
    assert Limit.operations >= 10_000_000
