"""What the path taken does not use gets no adjoint, also where its slope is infinite or nan: 0 is selected, not multiplied.

`PROGRAMS` are compared with central differences at points at which something that is not used is infinite or nan.
"""

from __future__ import annotations

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import value_and_grad

PROGRAMS = []
MIXED = np.array([0.5, -1.5, 0.7, -0.2])
DATA = np.array([1.5, np.nan, -0.4, np.inf])


def program(*points):
    """Enter a function with the points at which it is checked; its first argument is differentiated."""

    def enter(function):
        PROGRAMS.extend(pytest.param(function, p if isinstance(p, tuple) else (p,), id=f"{function.__name__}-{k}")
                        for k, p in enumerate(points))  # fmt: skip
        return function

    return enter


# --- one arm of an `if` ----------------------------------------------------------------------------------------------


@program(MIXED)
def power_before_continue(x):
    t = 0.0
    for v in x:
        d = v**1.5
        if v < 0:
            continue
        t += d
    return t


@program(1.7, 0.3)
def early_return(x):
    r = np.arccos(x)
    if x > 1:
        return x
    return r


@program(np.float64(-0.4), np.float64(0.4))
def chosen_by_an_expression(x):
    a = np.log(x)
    b = np.sqrt(-x)
    return a if x > 0 else b


@program((np.float64(0.7), 0.0), (np.float64(0.7), 2.0))
def division_before_the_test(x, m):
    q = np.divide(x, m)
    r = q * q + 1.0
    if m == 0:
        return 3.0 * x
    return r


@program((np.float64(1.3), np.float64(0.0)))
def remainder_by_zero(x, m):
    r = np.remainder(x, m)
    if m == 0:
        return x * x
    return r


@program(np.float64(-0.4), np.float64(0.4))
def either_and_or(x):
    a = np.log(x)
    return (x > 0 and a) or 2.0 * x


@program(np.float64(-0.4), np.float64(0.4))
def chain_of_values(x):
    u = x - 0.1
    v = np.sqrt(u)
    w = np.log(v) * v
    z = w / u
    y = x * x
    if x > 0.2:
        y = y + z * v
    return y


@program(np.float64(-2.0), np.float64(0.5), np.float64(2.0))
def used_in_some_arms_of_a_chain(x):
    r = np.power(x, 1.5)
    if x > 1:
        return r
    elif x > 0:
        return 2.0 * r
    return x * x


@program(MIXED)
def norm_before_the_test(x):
    t = 0.0
    for k in range(len(x)):
        n = np.linalg.norm(x * (x[k] > 0.6)) + np.log(x[k])
        if x[k] > 0:
            t += n
        else:
            t -= x[k]
    return t


def helper(v):
    return np.sqrt(v) * np.log(v)


@program(np.float64(-0.4), np.float64(0.4))
def called_before_the_test(x):
    d = helper(x)
    if x < 0:
        return x * 3.0
    return d * x


@program(MIXED)
def skipped_element_of_an_array(x):
    d = x**1.5
    t = 0.0
    for k in range(len(x)):
        if x[k] > 0:
            t += d[k]
    return t


@program(np.float64(-0.4))
def used_in_no_trip(x):
    d = np.power(x, 1.5)
    t = 0.0
    for k in range(3):
        if x > k:
            t += d * k
        t += x
    return t


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_unused_values_get_no_adjoint(f, args):
    with np.errstate(all="ignore"):
        (expected,) = central_difference(f, args, 0)
        value, gradient = value_and_grad(f)(*args)
    assert np.all(np.isfinite(expected)) and np.isfinite(value)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
