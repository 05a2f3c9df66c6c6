"""A dict that changes its size under the loop over it: an error, as in Python; a number where its size stays, or the loop
ends before it looks again.  A list that grows under its loop is walked to its new end."""

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, jvp
from s2sgrad.errors import Unsupported

X = np.array([1.0, 2.0])


class Holder:
    pass


def put(d, v):
    d["b"] = v


def keys(x, d):
    s = 0.0
    for k in d:
        d["b"] = x[1]
        s = s + x[0] * d[k]
    return s


def values(x, d):
    s = 0.0
    for v in d.values():
        d["b"] = x[1]
        s = s + x[0] * v
    return s


def items(x, d):
    s = 0.0
    for _, v in d.items():
        d.update(b=x[1])
        s = s + x[0] * v
    return s


def by_a_function(x, d):
    s = 0.0
    for k in d:
        put(d, x[1])
        s = s + x[0] * d[k]
    return s


def by_another_name(x, d):
    e, s = d, 0.0
    for k in d:
        e["b"] = x[1]
        s = s + x[0] * d[k]
    return s


def numbered(x, d):
    s = 0.0
    for k, key in enumerate(d):
        d["b"] = x[k]
        s = s + x[0] * d[key]
    return s


def in_a_list(x, d):
    s, held = 0.0, [d]
    for k in d:
        held[0]["b"] = x[1]
        s = s + x[0] * d[k]
    return s


def in_an_object(x, d):
    o, s = Holder(), 0.0
    o.d = {"a": 2.0}
    for k in o.d:
        o.d["b"] = x[1]
        s = s + x[0] * o.d[k]
    return s


def in_a_comprehension(x, d):
    def grown():
        d["b"] = x[1]
        return 1.0

    return sum([x[0] * d[k] * grown() for k in d])


def in_a_branch(x, d):
    s = 0.0
    for k in d:
        if x[0] > 0.0:
            s = s + x[0] * d[k]
            d["b"] = s
            continue
        s = s + x[1]
    return s


def under_other_keys(x, d):
    s = 0.0
    for k in {"c": 1.0}:
        for key in d:
            d[k] = x[1]
            s = s + x[0] * d[key]
    return s


def left_at_once(x, d):
    s = 0.0
    for k in d:
        d["b"] = x[1]
        s = s + x[0] * d["b"] * d[k]
        break
    return s


def of_the_same_size(x, d):
    s = 0.0
    for k in d:
        d[k] = d[k] * x[1]
        s = s + d[k] * x[0]
    return s


def within_a_loop_over_others(x, d):
    s = 0.0
    for n in range(3):
        d[n] = x[1]
        for k in d:
            d[k] = d[k] * x[0]
        s = s + d["a"] * d[0]
    return s


def of_a_list(x, d):
    s = 0.0
    for k in list(d):
        d["b"] = x[1]
        s = s + x[0] * d[k]
    return s + d["b"]


def a_list(x, d):
    s, waiting = 0.0, [x[0]]
    for v in waiting:
        s = s + v * x[1]
        if len(waiting) < 4:
            waiting.append(v * x[0])
    return s


GROW = [keys, values, items, by_a_function, by_another_name, numbered, in_a_list, in_an_object, in_a_comprehension,
        in_a_branch, under_other_keys]  # fmt: skip


@pytest.mark.parametrize("f", GROW, ids=lambda f: f.__name__)
def test_no_number(f):
    with pytest.raises(RuntimeError, match="changed size"):
        f(X, {"a": 2.0})
    for derivative in (grad(f), lambda x, d: jvp(f, (x, d), (x, None))):
        with pytest.raises(RuntimeError, match="changed size"):
            derivative(X, {"a": 2.0})
    with pytest.raises((RuntimeError, Unsupported)):
        grad(f, strict=True)(X, {"a": 2.0})


@pytest.mark.parametrize(
    "f", [left_at_once, of_the_same_size, within_a_loop_over_others, of_a_list, a_list], ids=lambda f: f.__name__
)
def test_a_number(f):
    (slope,) = central_difference(lambda x: f(x, {"a": 2.0}), (X,))
    np.testing.assert_allclose(grad(f)(X, {"a": 2.0}), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X, {"a": 2.0}), (X, None))[1], slope @ X, rtol=1e-6)


def test_no_check_where_the_trips_store_under_their_own_keys():
    derivative = grad(of_the_same_size, strict=True)
    derivative(X, {"a": 2.0})
    assert "lasts" not in derivative.source
