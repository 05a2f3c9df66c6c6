"""Rules of the runtime's own helpers, so that generated text can be differentiated again.

    x_bar = over(y_bar, 2.0 * y)   ->  y_bar_bar = over(x_bar_bar, 2.0 * y), ...
    b_bar = unbroadcast(y_bar, b)  ->  y_bar_bar = unbroadcast(b_bar_bar, y_bar)

The helpers of shape are linear in one argument and take only the shape of the other, whose cotangent is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.table import elementwise, flat, general, linear
from s2sgrad.runtime import (
    as_weak,
    closures,
    handed,
    item_slots,
    keywords,
    log_or_zero,
    over,
    power_slope,
    product,
    ratio,
    shadows,
    share,
    structure,
    times,
    unbroadcast,
)
from s2sgrad.runtime.copies import copied, copied_as_laid
from s2sgrad.runtime.given import fitted

# --- shapes and structures -------------------------------------------------------------------------------------------


@linear(runtime.unbroadcast)
def unbroadcast_(w, y, g, x):
    return unbroadcast(w, g), None


@linear(runtime.unreduce)
def unreduce(w, y, g, x, axis=None, keepdims=False):
    return np.sum(w, axis=axis, keepdims=keepdims), None


@linear(runtime.spreading)
def spreading(w, y, g, x, axis=None, keepdims=False):
    return np.reshape(w, np.shape(g)), None


def fit(g: Any, x: Any) -> Any:
    """The cotangent `g` brought to the structure and shape of `x`, itself a cotangent (a container, a number, None).

    >>> float(fit(np.ones(2), 5.0)), fit(np.ones(2), [5.0]), fit({"a": 2.0, "b": 3.0}, {"b": 5.0, "c": 7.0})
    (2.0, array([2.]), {'b': 3.0, 'c': 0.0})
    """
    if isinstance(g, dict) and isinstance(x, dict):
        return {k: g[k] if k in g else runtime.zeros(x[k]) for k in x}
    if isinstance(x, (list, tuple)) and isinstance(g, np.ndarray):  # NumPy made an array of it
        return unbroadcast(g, np.array(x))
    if x is None or isinstance(x, (list, tuple, dict, handed.Ungiven)):
        return None if x is None else g
    if isinstance(g, (list, tuple)) and isinstance(x, np.ndarray):  # of a list that was stacked
        return np.array([fit(a, b) for a, b in zip(g, x, strict=True)])
    return unbroadcast(g, x)


@linear(fit)
def _(w, y, g, x):
    return fit(w, g), None


@general(closures.closure)
def closure(g, y, function, holds, usual=0):
    return None, g


closure.complex = True  # asked by name: users do not know this one's


@linear(runtime.as_number)
def _(w, y, value, name, line):
    return w, None, None


@linear(runtime.add)
def add(w, y, a, b):
    return fit(w, a), fit(w, b)


@linear(runtime.add_at)
def add_at(w, y, x_bar, index, e):
    return w, None, fit(w[index], e)


@linear(runtime.restored)
def restored(w, y, x, old):
    return None, fit(w, old)


@linear(runtime.own, copied, copied_as_laid, structure.kept)
def own(w, y, x_bar):
    return w


def fit_given(g, bar, x, said, argument=""):
    """As `fit`, of the tangent `g` of the argument `x` of a user's rule that gave `bar` for it. Refusal where the rule gives
    nothing for what a function in `x` closes over, which has a tangent.

    >>> fit_given((2.0, 3.0), (1.0, None), (5.0, 7.0), "`f`")
    (2.0, 3.0)
    """
    handed.require_given(bar, handed.ungiven(x, said, argument), g)
    return fit(g, bar)


@linear(fit_given)
def _(w, y, g, bar, x, said, argument=""):
    return fit(w, g), None, None, None


@linear(fitted)
def fitted_(w, y, bar, x, said, argument="", tangent=False):
    return fit_given(w, bar, x, said, argument), None, None


@fitted_.refined(lambda x: x.rank is not None or hasattr(x, "dims"))  # a number or an array
def _(w, y, bar, x, said, argument="", tangent=False):
    return fit(w, bar), None, None


@linear(runtime.like)
def like(w, y, x, x_bar):
    return None, fit(w, x_bar)


@linear(runtime.seed_like, runtime.holomorphic_seed)
def seed_like(w, s, y, seed):
    return None, fit(w, seed)


@seed_like.forward()
def _(s, y, seed, y_dot, seed_dot):  # a seed that is None means ones, a tangent that is None zeros
    return None, fit(seed_dot, s)


@general(runtime.require_array, keywords.held)
def same(w, y, x):
    return w


@same.forward()
def _(y, x, x_dot):
    return x_dot


def walked(g, x, like):
    """The cotangent of what a loop walks: of a dict, whose keys these are, zeros like `like`.

    >>> walked([1.0, 2.0], [5.0, 6.0], [5.0, 6.0]), walked([None], {"a": 5.0}, {"a": 5.0})
    ([1.0, 2.0], {'a': 0.0})
    """
    return runtime.zeros(like) if isinstance(x, dict) else g


@linear(walked)
def _(w, y, g, x, like):
    return walked(w, x, g), None, None


@general(runtime.sequence)
def sequence(w, y, x):
    return walked(w, x, x)


@sequence.forward()
def _(y, x, x_dot):
    return walked(x_dot, x, y)


@linear(handed.require_still)
def _(w, y, dot, x, said, argument):
    return w, None, None, None


flat(handed.ungiven, handed.unmoved)
flat(runtime.zeros, runtime.lasting, runtime.keys, runtime.reads_only, runtime.unset)

# --- shadows ---------------------------------------------------------------------------------------------------------

flat(shadows.shadow, shadows.cell, shadows.shadow_of_argument, shadows.apart)


@linear(shadows.each_once)
def _(w, y, g, x):
    return shadows.each_once(w, x), None


@general(shadows.shadow_of)
def shadow_of(w, y, v, x, x_bar):
    return None, None, shadows.put(w, v, x, x_bar)


@shadow_of.forward()
def _(y, v, x, x_bar, v_dot, x_dot, x_bar_dot):
    return None, None, shadows.tangent_of(v, x, x_bar_dot, 0.0)


@general(shadows.put)
def put(w, y, g, v, x, x_bar):
    return shadows.tangent_of(v, x, w, 0.0), None, None, None


@put.forward()
def _(y, g, v, x, x_bar, g_dot, v_dot, x_dot, x_bar_dot):
    return shadows.put(g_dot, v, x, x_bar), None, None, None


@general(shadows.tangent_of)
def tangent_of(w, y, v, x, x_dot, otherwise):
    return None, None, shadows.put(w, v, x, x_dot), unbroadcast(shadows.unless_shared(w, v, x), otherwise)


@tangent_of.forward()
def _(y, v, x, x_dot, otherwise, v_dot, x__dot, x_dot_dot, otherwise_dot):
    return None, None, shadows.tangent_of(v, x, x_dot_dot, 0.0), shadows.unless_shared(otherwise_dot, v, x)


@linear(shadows.add_into)
def add_into(w, y, x_bar, g):
    return w, fit(w, g)


@linear(item_slots.slots)
def slots(w, y, x_bar, *sources):
    return item_slots.slots(w), None


@linear(item_slots.slot)
def slot(w, y, x_bar, key):
    return {key: w}, None


@general(item_slots.cell_at)
def cell_at(w, y, x_bar, k):
    return item_slots.at_item(w, x_bar, k), None


@cell_at.forward()
def _(y, x_bar, k, x_bar_dot, k_dot):
    return x_bar_dot[k], None


@linear(item_slots.at_item)
def at_item(w, y, g, x_bar, k):
    return w[k], None, None


@linear(item_slots.at_section)
def at_section(w, y, g, x_bar, index):
    return w[index], None, None


@linear(shadows.refilled)
def refilled(w, y, x, old):
    return None, fit(w, old)


@linear(shadows.laid_like)
def laid_like(w, y, x_dot, x):
    return fit(shadows.each_once(w, w), x_dot), None


@laid_like.refined(lambda x_dot: x_dot.rank is not None or hasattr(x_dot, "dims"))  # a number or an array
def _(w, y, x_dot, x):
    return unbroadcast(w, x_dot), None


@linear(shadows.unless_shared)
def unless_shared(w, y, g, v, x):
    return shadows.unless_shared(w, v, x), None, None


@linear(shadows.of_copies)
def of_copies(w, y, g, apart):
    return shadows.of_copies(w, apart), None


# --- numbers ---------------------------------------------------------------------------------------------------------


@elementwise(runtime.over)
def over_(w, z, g, y):
    return over(w, y), -over(over(product(g, w), y), y)


@elementwise(runtime.times)
def times_(w, y, g, e):
    return times(w, e), product(g, w)


@elementwise(runtime.product)
def product_(w, y, a, b):
    return product(w, b), product(w, a)


@elementwise(runtime.ratio)
def ratio_(w, z, a, b):
    return ratio(w, b), -ratio(w * z, b)


# Not `y * (1 - y) / e`, as in the exponent: where `e` is so small that its inverse is infinite, that is no number.
@elementwise(runtime.share)
def share_(w, y, e, c):
    return product(over(w, e + c), share(c, e)), -product(over(w, e + c), y)


def power_or_zero(x, n):
    """`x ** n`, but 0 where `x` is 0: what is left of `x ** n` in an exponent's derivative, by convention."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        powers = np.power(as_weak(np.multiply(x, 1.0), x), n * 1.0)
        return as_weak(np.where(np.equal(x, 0.0), 0.0, powers)[()], x, n)


@elementwise(power_or_zero)
def _(w, z, x, n):
    return w * times(n, power_or_zero(x, n - 1)), w * z * log_or_zero(x)


@elementwise(runtime.power_slope)
def power_slope_(w, z, x, n):
    return times(w, times(n, power_slope(x, n - 1))), w * power_or_zero(x, n - 1) * (1.0 + n * log_or_zero(x))


@elementwise(runtime.log_or_zero)
def log_or_zero_(w, y, x):
    return w * power_or_zero(x, -1)
