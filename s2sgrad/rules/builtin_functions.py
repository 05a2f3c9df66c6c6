"""Rules of Python's own functions on numbers and containers: sum, max, min, list, tuple.

s = sum(xs)      ->    xs_bar = spread(s_bar, xs)
y = max(a, b)    ->    a_bar = y_bar * (a >= b); b_bar = y_bar * (a < b)
"""

from __future__ import annotations

import bisect
import builtins

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import times, unbroadcast


def spread(g, xs):
    """The cotangent of `xs` with `g` at every item.

    >>> spread(2.0, [1.0, 5.0]), spread(2.0, np.zeros(2))
    ([2.0, 2.0], array([2., 2.]))
    """
    if isinstance(xs, np.ndarray):
        return np.broadcast_to(unbroadcast(g, xs[0]) if len(xs) else g, xs.shape)
    each = [g if np.shape(x) == np.shape(g) else unbroadcast(g, x) for x in xs]
    return tuple(each) if isinstance(xs, tuple) else each


def regroup(g, xs):
    """The cotangent `g` of `list(xs)` or `tuple(xs)` as a cotangent of `xs`.

    >>> regroup([1.0, 2.0], np.zeros(2)), regroup((1.0, 2.0), [0.0, 0.0])
    (array([1., 2.]), [1.0, 2.0])
    """
    if isinstance(xs, np.ndarray):
        return np.stack(g) if len(g) else np.zeros_like(xs)
    return tuple(g) if isinstance(xs, tuple) else list(g)


@linear(spread)
def _(w, y, g, xs):
    return sum_of(w, g), None


@linear(regroup)
def _(w, y, g, xs):
    return regroup(w, g), None


def sum_of(w, g):
    """The sum of the items of `w`; a zero like `g` if there are none."""
    if not len(w):
        return np.zeros_like(g)
    total = builtins.sum(w)
    return total if np.shape(total) == np.shape(g) else unbroadcast(total, g)


@linear(sum_of)
def _(v, y, w, g):
    return spread(v, w), None


@linear(builtins.sum)
def sum_(g, y, xs, start=0):
    return spread(g, xs)


@sum_.keyword("start")
def sum_start(g, y, xs, start=0):
    return unbroadcast(g, start)


@linear(builtins.dict)
def dict_(g, y, d):
    return runtime.own(g)


@linear(builtins.list, builtins.tuple)
def list_(g, y, xs):
    return regroup(g, xs)


def largest(xs):
    """`max(xs)`: the first of the largest items."""
    return builtins.max(xs)


def smallest(xs):
    """`min(xs)`: the first of the smallest items."""
    return builtins.min(xs)


def place_of(y, xs):
    """The position of the first item of `xs` that equals `y`."""
    return next(k for k in range(len(xs)) if xs[k] == y)


flat(place_of)


def placed(g, k, xs):
    """A zero cotangent of `xs` with `g` at the k-th item.

    >>> placed(2.0, 1, [5.0, 7.0]), placed(2.0, 0, np.zeros(2))
    ([0.0, 2.0], array([2., 0.]))
    """
    return runtime.add_at(runtime.zeros(xs), k, g)


@linear(placed)
def _(w, y, g, k, xs):
    return w[k], None, None


def preceded(x, xs):
    """The items of `xs` after `x`, a list.

    >>> preceded(1.0, (5.0, 7.0))
    [1.0, 5.0, 7.0]
    """
    return [x, *xs]


@linear(preceded)
def _(w, y, x, xs):
    return w[0], w[1:]


@general(largest)
def _(g, y, xs):
    return placed(g, place_of(y, xs), xs)


@general(smallest)
def _(g, y, xs):
    return placed(g, place_of(y, xs), xs)


def numbers(a, b):
    return a.rank == 0 and b.rank == 0


@general(builtins.max)
def max_(g, y, a, b):
    return unbroadcast(g * (a >= b), a), unbroadcast(g * (a < b), b)


@max_.refined(numbers)
def _(g, y, a, b):
    return g * (a >= b), g * (a < b)


@general(builtins.min)
def min_(g, y, a, b):
    return unbroadcast(g * (a <= b), a), unbroadcast(g * (a > b), b)


@min_.refined(numbers)
def _(g, y, a, b):
    return g * (a <= b), g * (a > b)


@max_.forward()
def _(y, a, b, a_dot, b_dot):
    return unbroadcast(times(a >= b, a_dot), y), unbroadcast(times(a < b, b_dot), y)


@max_.forward(numbers)
def _(y, a, b, a_dot, b_dot):
    return times(a >= b, a_dot), times(a < b, b_dot)


@min_.forward()
def _(y, a, b, a_dot, b_dot):
    return unbroadcast(times(a <= b, a_dot), y), unbroadcast(times(a > b, b_dot), y)


@min_.forward(numbers)
def _(y, a, b, a_dot, b_dot):
    return times(a <= b, a_dot), times(a > b, b_dot)


for _rule in (max_, min_):
    _rule.refuse(
        lambda a, b: hasattr(a, "items") or hasattr(b, "items"),
        "the larger or smaller of two lists or tuples has no derivative rule: compare numbers",
    )


def largest_of(*xs):
    """`max(*xs)` of three arguments or more."""
    return builtins.max(*xs)


def smallest_of(*xs):
    """`min(*xs)` of three arguments or more."""
    return builtins.min(*xs)


@general(largest_of)
def _(g, y, *xs):
    return placed(g, place_of(y, xs), xs)


@general(smallest_of)
def _(g, y, *xs):
    return placed(g, place_of(y, xs), xs)


@general(builtins.divmod, np.divmod)
def divmod_(g, z, x, y):
    return unbroadcast(g[1], x), unbroadcast(-g[1] * np.floor_divide(x, y), y)


def order_of(xs, reverse=False):
    """The places of the items of `xs` in `sorted(xs, reverse=reverse)`."""
    return builtins.sorted(range(len(xs)), key=lambda k: xs[k], reverse=reverse)


flat(order_of, bisect.bisect_left, bisect.bisect_right)


def arranged(xs, order):
    """The items of `xs` at the places in `order`, a list."""
    return [xs[k] for k in order]


def unarranged(g, xs, order):
    """The transpose of `arranged`.

    >>> unarranged([1.0, 2.0], (5.0, 4.0), [1, 0])
    (2.0, 1.0)
    """
    bars = [g[order.index(k)] for k in range(len(order))]
    return regroup(bars, xs)


@linear(arranged)
def _(g, y, xs, order):
    return unarranged(g, xs, order), None


@linear(unarranged)
def _(w, y, g, xs, order):
    return arranged(w, order), None, None


@linear(builtins.sorted)  # while the order stays
def sorted_(g, y, xs, *, reverse=False):
    return unarranged(g, xs, order_of(xs, reverse))


@sorted_.forward()
def _(y, xs, xs_dot, *, reverse=False):
    return arranged(xs_dot, order_of(xs, reverse))
