"""What the path taken does not use gets no adjoint, also where its slope is infinite or nan: 0 is selected, not multiplied.

`PROGRAMS` are compared with central differences at points at which something that is not used is infinite or nan.
"""

from __future__ import annotations

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, value_and_grad

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


# --- masks -----------------------------------------------------------------------------------------------------------


@program((np.ones(4), DATA))
def nansum_of_missing_data(x, data):
    return np.nansum(np.where(np.isinf(data), np.nan, data) * x * x)


@program((np.ones(3), DATA[:3]))
def nansum_of_a_product(x, data):
    return np.nansum(data * x)


@program((np.ones(3), DATA[:3]))
def nanmean_of_squares(x, data):
    return np.nanmean((data - x) ** 2)


@program((np.array([0.3, 0.7, 1.1]), DATA[:3]))
def other_nan_reductions(x, data):
    r = data * x
    a = np.nanvar(r) + np.nanstd(r * x) + np.nanprod(r) + np.nanmax(r * x) - np.nanmin(r)
    return a + np.sum(np.nancumsum(r) ** 2) + np.sum(np.nancumprod(r)) + np.nanmedian(r * x) + np.nanquantile(r, 0.3)


@program((np.ones(3), DATA[:3]), (np.ones(4), DATA))
def missing_products_overwritten(x, data):
    r = data * x
    r[~np.isfinite(r)] = 0.0
    return np.sum(r * r)


@program((np.ones(3), DATA[:3]))
def missing_products_replaced(x, data):
    r = data * x * x
    r = np.where(np.isnan(r), 0.0, r)
    s = np.nan_to_num(data * x)
    return np.sum(r * s)


@program((np.ones(3), DATA[:3]))
def missing_products_left_out(x, data):
    r = data * np.exp(x)
    m = ~np.isnan(r)
    return np.sum(r[m] ** 2) + np.sum(np.compress(m, r * x)) + np.sum(np.extract(m, r))


@program((np.ones(3), DATA[:3]))
def missing_data_skipped_in_a_loop(x, data):
    t = 0.0
    for k in range(len(x)):
        r = data[k] * x[k]
        if np.isnan(r):
            continue
        t += r * r
    return t


@program(MIXED)
def named_branch_of_where(x):
    t = np.power(x, 1.5)
    return np.sum(np.where(x > 0, t, x))


@program(MIXED)
def chain_of_named_values_before_where(x):
    u = x - 0.1
    t = np.sqrt(u)
    w = np.log(t) * t + 1.0 / u
    return np.sum(np.where(x > 0.2, w, u * u))


@program(MIXED)
def assigned_where_a_mask_holds(x):
    y = np.zeros_like(x)
    m = x > 0
    y[m] = np.log(x[m])
    y[~m] = np.sqrt(-x[~m])
    return np.sum(y * x)


@program(MIXED)
def selected(x):
    t, u = np.sqrt(x), np.sqrt(-x)
    return np.sum(np.select([x > 0.6, x > 0, x < -1.0], [t, t * x, u], default=x))


@program(MIXED)
def chosen_by_numbers(x):
    return np.sum(np.choose(np.array([0, 1, 0, 1]), [np.sqrt(x), np.sqrt(-x)]))


@program(MIXED)
def power_passed_over(x):
    return np.sum(np.fmax(np.power(x, 1.5), 0.1) + np.fmin(x, np.log(x)))


@program((MIXED, np.array([0.0, 1.0, 0.0, 2.0])))
def larger_than_a_logarithm(x, y):
    t = np.log(y * x * x)
    return np.sum(np.maximum(np.log(x * y * y * x), -5.0)) + np.max(t) + np.sum(np.clip(t, -4.0, 4.0))


@program((np.float64(0.7), np.float64(0.0)))
def larger_of_two_numbers(x, y):
    t = [np.divide(1.0, x * y), x, 5.0]
    return max(np.log(x * y), -5.0) * x + min(np.divide(x, y), 3.0 * x) + max(t[1:]) + max([np.log(x * y), x])


@program((np.array([0.3, 0.7, 1.1]), np.array([0.0, 1.0, 4.0])))
def first_mode_overwritten(x, k2):
    inverse = x / k2
    inverse[0] = 0.0
    q = np.log(k2 * x)
    q[0] = x[1]
    return np.sum(inverse * q)


@program((np.array([[1.0, 2.0], [0.5, 3.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])))
def upper_triangle(x, m):
    return np.sum(np.triu(np.log(x * m))) + np.sum(np.diag(np.log(x * m)) ** 2)


@program((np.array([1000.0, -1000.0, 0.5]),))
def stable_sigmoid(x):
    return np.sum(np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))))


# --- places told by a mask, and elements told by a condition ----------------------------------------------------------


@program((np.array([0.3, 0.7, 1.1, -0.5]),))
def missing_overwritten_at_places(x):
    r = (DATA[:3] - x[:3]) ** 2
    s, u, v = r.copy(), r.copy(), r.copy()
    s[np.where(np.isnan(s))] = 0.0
    places = np.isnan(u).nonzero()
    u[places] = x[3]
    first = np.argwhere(np.isnan(v))[:, 0]
    v[first] = 0.0
    return np.sum(s * u + v)


@program((np.array([0.3, 0.7, 1.1]),))
def missing_overwritten_by_functions(x):
    r = (DATA[:3] - x) ** 2
    s, u, v = r * 1.0, r * 2.0, r * 3.0
    np.copyto(s, 0.0, where=np.isnan(s))
    np.putmask(u, np.isnan(u), 0.0)
    np.place(v, np.isnan(v), [0.0])
    return np.sum(s * u + v)


@program((np.array([0.3, 0.7, 1.1]),))
def those_that_are_there_by_places(x):
    r = (DATA[:3] - x) ** 2
    there = np.flatnonzero(~np.isnan(DATA[:3]))
    (again,) = np.nonzero(~np.isnan(DATA[:3]))
    kept = []
    for i in range(len(r)):
        if not np.isnan(r[i]):
            kept.append(i)
    return np.sum(r[there]) + np.sum(np.take(r, again)) + np.sum(r[kept] ** 2)


@program((np.array([0.3, 0.7, 1.1]),))
def those_that_are_there_one_by_one(x):
    r = (DATA[:3] - x) ** 2
    t = 0.0
    for i in range(3):
        if not np.isnan(r[i]):
            t += r[i]
    for v in r:
        if np.isnan(v):
            continue
        t += v * v
    return t + sum(v for v in r if not np.isnan(v)) + np.mean([v for v in r if v == v])


@program((np.array([0.3, 0.7, 1.1]),))
def missing_overwritten_one_by_one(x):
    r = (DATA[:3] - x) ** 2
    for i in range(3):
        if np.isnan(r[i]):
            r[i] = 0.0
    return np.sum(r)


IDX = np.flatnonzero(~np.isnan(DATA[:3]))


def those_that_are_there(d):
    return [i for i in range(len(d)) if not np.isnan(d[i])]


@program((np.array([0.3, 0.7, 1.1]),))
def indices_made_from_masks(x):
    d = DATA[:3]
    r = d * x
    kept = []
    for i in range(3):
        if not np.isnan(d[i]):
            kept = kept + [i]
    there = list(np.nonzero(~np.isnan(d))[0])
    again = np.sort(np.flatnonzero(~np.isnan(d))) + 0
    marked = list(~np.isnan(d))
    total = np.sum(r[kept]) + np.sum(r[np.arange(3)[~np.isnan(d)]]) + np.sum(r[there]) + np.sum(r[again])
    return total + np.sum(r[marked]) + np.sum(r[those_that_are_there(d)]) + np.sum(r[IDX])


@program((np.array([0.3, 0.7, 1.1]),))
def items_left_out(x):
    rs = [d * v for d, v in zip(DATA[:3], x, strict=True)]
    filled = [0.0 if np.isnan(r) else r for r in rs]
    return sum([r for r in rs if not np.isnan(r)]) * sum(filled)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_unused_values_get_no_adjoint(f, args):
    with np.errstate(all="ignore"):
        (expected,) = central_difference(f, args, 0)
        value, gradient = value_and_grad(f)(*args)
    assert np.all(np.isfinite(expected)) and np.isfinite(value)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("x", [1000.0, -1000.0, np.array([1000.0, -1000.0, 0.0, 0.5])], ids=str)
def test_stable_sigmoid_twice(x):
    def f(x):
        return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))

    s = 1 / (1 + np.exp(-np.clip(x, -500, 500)))
    first = grad(f)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(first(x), s * (1 - s), atol=1e-12)
        np.testing.assert_allclose(grad(lambda x: np.sum(first(x)))(x), s * (1 - s) * (1 - 2 * s), atol=1e-12)


def masked_store(x):
    s = np.log1p(np.exp(x))
    m = x > 30.0
    s[m] = x[m]
    return np.sum(s)


def two_masked_stores(x):
    y = np.empty_like(x)
    p, n = 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))
    y[x >= 0] = p[x >= 0]
    y[x < 0] = n[x < 0]
    return np.sum(y)


def selected_by_name(x):
    s = np.log1p(np.exp(x))
    return np.sum(np.where(x > 30.0, x, s))


@pytest.mark.parametrize("f", [masked_store, two_masked_stores, selected_by_name])
def test_masks_twice(f):
    """What a mask leaves out stays 0 in the gradient of the gradient, whatever its slope and the slope of that."""
    x, w = np.array([800.0, 0.5, -1.2, -800.0]), np.array([0.3, -0.7, 1.1, 0.6])
    with np.errstate(all="ignore"):
        first = grad(f)
        second = grad(lambda x: np.sum(first(x) * w))(x)
        h = 1e-5
        rough = [(np.sum(first(x + e) * w) - np.sum(first(x - e) * w)) / (2 * h) for e in h * np.eye(4)]
    np.testing.assert_allclose(second, rough, rtol=1e-6, atol=1e-9)


def test_logarithm_at_zero():
    def named(x):
        t = np.log(x)
        return np.sum(np.where(x > 0, t, 0.0))

    def inline(x):
        return np.sum(np.where(x > 0, np.log(x), 0.0))

    def stored(x):
        y = np.zeros_like(x)
        m = x > 0
        y[m] = np.log(x[m])
        return np.sum(y)

    x = np.array([0.0, 2.0])
    with np.errstate(all="ignore"):
        for f in (named, inline, stored):
            np.testing.assert_array_equal(grad(f)(x), [0.0, 0.5])


def test_a_zero_by_chance_keeps_its_derivative():
    """Only a cotangent that is 0 because of a mask is selected: the derivative of one that happens to be 0 is the slope."""

    def f(x):
        t = np.log(x)
        r = np.where(x > 0, t, 0.0)
        return np.sum(r * r)

    x = np.array([1.0, 2.0])
    twice = grad(lambda x: np.sum(grad(f)(x)))(x)
    np.testing.assert_allclose(twice, 2 * (1 - np.log(x)) / x**2)


def taken_from_the_choices_of_select(x, c):
    t = np.sin(np.log(x) / (1.5 + c)) * c
    return np.sum(np.select([x > 0.0, x < -1.0], [t, x * c], 0.0))


def overwritten_by_copyto(x, c):
    t = np.log(x) / (1.5 + c)
    t = t / (1.5 + c)
    np.copyto(t, 0.0, where=~(x > 0.0))
    return np.sum(0.3 * t)


def passed_over_by_nanmax(x, c):
    t = x**1.5 / (1.5 + c)
    return np.nanmax(t / (1.5 + c))


@pytest.mark.parametrize("f", [taken_from_the_choices_of_select, overwritten_by_copyto, passed_over_by_nanmax])
def test_a_zero_of_a_mask_stays_one_in_another_argument(f):
    x, c, h = np.array([-0.4, -1.5, 0.6, 0.0]), -0.66, 1e-6
    with np.errstate(all="ignore"):
        for k in (0, 1):
            first = grad(f, k)
            twice = grad(lambda c, first=first: np.sum(first(x, c)))(c)
            rough = (np.sum(first(x, c + h)) - np.sum(first(x, c - h))) / (2 * h)
            np.testing.assert_allclose(twice, rough, rtol=1e-7)
