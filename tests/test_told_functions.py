"""What a function writes that calls the functions it is given, where the caller tells which these are."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad.memory import mod_ref


def writer(x):
    x[0] = 1.0
    return x


def applied(f, *args):
    return f(*args)


def applied_to_one(f, x):
    return f(x)


def by_name(x, f=None):
    return f(x)


def rebound(f, x):
    if x[0] > 0.0:
        f = writer
    return f(x)


def rebound_inside(f, x):
    def other():
        nonlocal f
        f = writer

    other()
    return f(x)


def shadowed(f, x):
    return [f(x) for f in (np.sin, writer)]


def shadowed_by_a_parameter(f, x):
    return (lambda f: f(x))(writer), f


def recursive(f, x, n):
    return x if n == 0 else applied(recursive, f, applied(f, x), n - 1)


reads = [lambda x: applied_to_one(np.sin, x), lambda x: by_name(x, f=np.sin)]
writes = [
    lambda x: applied(np.sin, x),  # the second of `args` would be `out`
    lambda x: applied(writer, x),
    lambda x: by_name(f=writer, x=x),
    lambda x: recursive(writer, x, 3),
    lambda x: rebound(np.sin, x),
    lambda x: rebound_inside(np.sin, x),
    lambda x: shadowed(np.sin, x),
    lambda x: shadowed_by_a_parameter(np.sin, x),
]


@pytest.mark.parametrize("f", reads)
def test_what_is_given_a_function_that_writes_nothing_writes_nothing(f):
    assert mod_ref.of(f) == mod_ref.Writes(frozenset(), outside=False)


@pytest.mark.parametrize("f", writes)
def test_what_may_be_given_a_writer_writes(f):
    assert mod_ref.of(f).arguments & {"x", mod_ref.ANY}
