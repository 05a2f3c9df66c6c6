"""Rules of reductions that run over a part of an array, `where=`, or begin somewhere, `initial=`.

    s = np.sum(x, where=m)               ->  x_bar = np.where(m, s_bar, 0.0)
    p = np.prod(x, initial=c)            ->  x_bar = p_bar * c * others; c_bar = p_bar * np.prod(x)
    t = np.max(x, where=m, initial=c)    ->  x_bar = t_bar * tie_weights(x, t, None, False, m, c)

What a mask leaves out gets exactly 0, whatever stands there: it is selected, never multiplied.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad.rules.nans import nanmean, nanprod, nanstd, nansum, nanvar
from s2sgrad.rules.reductions import along, max_, mean, std, sum_, tie_weights, var, whole
from s2sgrad.rules.scans import prod, products_before
from s2sgrad.rules.table import flat, linear
from s2sgrad.rules.ufunc_methods import add_reduce, maximum_reduce, multiply_reduce
from s2sgrad.runtime import Refusal, over, spreading, times, unreduce

for _rule in (sum_, mean, var, std, max_, prod, nansum, nanmean, nanvar, nanstd, nanprod, add_reduce, maximum_reduce):
    _rule.mask = "where"
multiply_reduce.mask = "where"


def masked(where):
    """A part of the elements may be left out."""
    return not (where.known and where.value is True)


def masked_whole(operand, axis, where):
    return masked(where) and whole(operand, axis)


def masked_along(operand, axis, keepdims, where):
    return masked(where) and along(operand, axis, keepdims)


def not_from_one(initial, where):
    return masked(where) or not (initial.known and initial.value == 1)


def among_others(initial, where):
    """Elements are left out, or there is a candidate that is no element."""
    return masked(where) or not (initial.known and initial.value is None)


# --- what is counted -------------------------------------------------------------------------------------------------


def chosen_count(x, where, axis=None, keepdims=False):
    """How many elements of `x` that `where` selects a reduction over `axis` puts into one.

    >>> chosen_count(np.ones((2, 3)), [True, False, True], 1)
    array([2., 2.])
    """
    x = np.asarray(x)
    return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims, dtype=x.dtype)


def numbers(x, where):
    """Where `where` selects something of `x` that is not nan."""
    return np.logical_and(np.asarray(where, dtype=bool), np.logical_not(np.isnan(x)))


flat(chosen_count, numbers)


def deviations(x, where, axis=None):
    """`x` less its mean over what `where` selects, and 0 elsewhere; exactly 0 where all of that is one number.

    >>> deviations(np.array([1.0, 4.0, np.nan]), [True, True, False])
    array([-1.5,  1.5,  0. ])
    """
    if np.asarray(where).dtype != bool:  # NumPy counts a 2 twice in the mean, and takes it for True elsewhere
        raise Refusal(None, "`where=` of a variance has a derivative rule as an array of bools")
    lowest = np.min(x, axis=axis, keepdims=True, where=where, initial=math.inf)
    count = chosen_count(x, where, axis, True)
    x = np.where(where, np.subtract(x, np.where(count == 0, 0.0, lowest)), 0.0)
    return np.where(where, x - over(np.sum(x, axis=axis, keepdims=True), count), 0.0)


@linear(deviations)
def _(g, y, x, where, axis=None):
    return deviations(g, where, axis), None


# --- sums ------------------------------------------------------------------------------------------------------------


@sum_.keyword("initial", "linear")
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(g)


@sum_.instead(masked)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(where, unreduce(g, x, axis, keepdims), 0.0)


@sum_.refined(masked_whole)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(where, g, 0.0)


@sum_.refined(masked_along)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(where, np.expand_dims(g, axis), 0.0)


@add_reduce.keyword("initial", "linear")
def _(g, y, x, axis=0, *, keepdims=False, initial=0, where=True):
    return np.sum(g)


@add_reduce.instead(masked)
def _(g, y, x, axis=0, *, keepdims=False, initial=0, where=True):
    return np.where(where, unreduce(g, x, axis, keepdims), 0.0)


@nansum.keyword("initial", "general")
def nansum_initial(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(g)


@nansum_initial.forward()
def _(y, x, initial_dot, axis=None, *, keepdims=False, initial=0, where=True):
    return initial_dot + np.zeros_like(y)


@nansum.instead(masked)
def _(g, y, x, axis=None, *, keepdims=False, initial=0, where=True):
    return np.where(numbers(x, where), unreduce(g, x, axis, keepdims), 0.0)


@nansum.forward(masked)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=0, where=True):
    return np.sum(x_dot, axis=axis, keepdims=keepdims, where=numbers(x, where))


# --- means -----------------------------------------------------------------------------------------------------------


@mean.instead(masked)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.where(where, unreduce(over(g, chosen_count(x, where, axis, keepdims)), x, axis, keepdims), 0.0)


@mean.refined(masked_whole)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    return np.where(where, over(g, chosen_count(x, where)), 0.0)


@nanmean.instead(masked)
def _(g, y, x, axis=None, *, keepdims=False, where=True):
    taken = numbers(x, where)
    return np.where(taken, unreduce(over(g, chosen_count(x, taken, axis, keepdims)), x, axis, keepdims), 0.0)


@nanmean.forward(masked)
def _(y, x, x_dot, axis=None, *, keepdims=False, where=True):
    taken = numbers(x, where)
    return over(np.sum(x_dot, axis=axis, keepdims=keepdims, where=taken), chosen_count(x, taken, axis, keepdims))


@var.instead(masked)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    slope = over(2.0 * deviations(x, where, axis), chosen_count(x, where, axis, True) - ddof)
    return times(slope, unreduce(g, x, axis, keepdims))


@var.refined(masked_whole)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return times(over(2.0 * deviations(x, where), chosen_count(x, where) - ddof), g)


@var.forward(masked)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    total = np.sum(deviations(x, where, axis) * x_dot, axis=axis, keepdims=keepdims, where=where)
    return over(2.0 * total, chosen_count(x, where, axis, keepdims) - ddof)


@std.instead(masked)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    spread = unreduce(y * (chosen_count(x, where, axis, keepdims) - ddof), x, axis, keepdims)
    return times(over(deviations(x, where, axis), spread), unreduce(g, x, axis, keepdims))


@std.refined(masked_whole)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    return times(over(deviations(x, where), y * (chosen_count(x, where) - ddof)), g)


@std.forward(masked)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    total = np.sum(deviations(x, where, axis) * x_dot, axis=axis, keepdims=keepdims, where=where)
    return over(total, y * (chosen_count(x, where, axis, keepdims) - ddof))


@nanvar.instead(masked)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    taken = numbers(x, where)
    slope = over(2.0 * deviations(x, taken, axis), chosen_count(x, taken, axis, True) - ddof)
    return times(slope, unreduce(g, x, axis, keepdims))


@nanstd.instead(masked)
def _(g, y, x, axis=None, *, ddof=0, keepdims=False, where=True):
    taken = numbers(x, where)
    spread = unreduce(y * (chosen_count(x, taken, axis, keepdims) - ddof), x, axis, keepdims)
    return times(over(deviations(x, taken, axis), spread), unreduce(g, x, axis, keepdims))


@nanvar.forward(masked)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    taken = numbers(x, where)
    total = np.sum(deviations(x, taken, axis) * x_dot, axis=axis, keepdims=keepdims, where=taken)
    return over(2.0 * total, chosen_count(x, taken, axis, keepdims) - ddof)


@nanstd.forward(masked)
def _(y, x, x_dot, axis=None, *, ddof=0, keepdims=False, where=True):
    taken = numbers(x, where)
    total = np.sum(deviations(x, taken, axis) * x_dot, axis=axis, keepdims=keepdims, where=taken)
    return over(total, y * (chosen_count(x, taken, axis, keepdims) - ddof))


# --- products --------------------------------------------------------------------------------------------------------


def other_factors(x, where, axis=None):
    """For each element the product of the others along `axis` that `where` selects."""
    factors = np.where(where, x, 1.0)
    return products_before(factors, axis) * products_before(factors, axis, True)


@prod.keyword("initial", "bilinear")
def _(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    return np.sum(g * np.prod(x, axis=axis, keepdims=keepdims, where=where))


@prod.instead(not_from_one)
def _(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    others = other_factors(x, where, axis) * initial
    return np.where(where, unreduce(g, x, axis, keepdims) * others, 0.0)


@prod.forward(not_from_one)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=1, where=True):
    return np.sum(x_dot * other_factors(x, where, axis), axis=axis, keepdims=keepdims, where=where) * initial


@multiply_reduce.keyword("initial", "bilinear")
def _(g, y, x, axis=0, *, keepdims=False, initial=1, where=True):
    return np.sum(g * np.prod(x, axis=axis, keepdims=keepdims, where=where))


@multiply_reduce.instead(not_from_one)
def _(g, y, x, axis=0, *, keepdims=False, initial=1, where=True):
    others = other_factors(x, where, axis) * initial
    return np.where(where, unreduce(g, x, axis, keepdims) * others, 0.0)


@multiply_reduce.forward(not_from_one)
def _(y, x, x_dot, axis=0, *, keepdims=False, initial=1, where=True):
    return np.sum(x_dot * other_factors(x, where, axis), axis=axis, keepdims=keepdims, where=where) * initial


@nanprod.keyword("initial", "bilinear")
def _(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    return np.sum(g * np.nanprod(x, axis=axis, keepdims=keepdims, where=where))


@nanprod.instead(not_from_one)
def _(g, y, x, axis=None, *, keepdims=False, initial=1, where=True):
    taken = numbers(x, where)
    others = other_factors(x, taken, axis) * initial
    return np.where(taken, unreduce(g, x, axis, keepdims) * others, 0.0)


@nanprod.forward(not_from_one)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=1, where=True):
    taken = numbers(x, where)
    return np.sum(x_dot * other_factors(x, taken, axis), axis=axis, keepdims=keepdims, where=taken) * initial


# --- largest and smallest --------------------------------------------------------------------------------------------


def initial_weight(x, y, axis=None, keepdims=False, where=True, initial=None):
    """The share of a cotangent of the extreme values `y` that goes to what the search began with."""
    y = spreading(y, x, axis, keepdims)
    ties = np.equal(x, y) & where
    began = np.equal(initial, y)
    share = began / np.maximum(np.add.reduce(ties, axis=axis, keepdims=True) + began, 1)
    return share.astype(np.result_type(y))


flat(initial_weight)


def among_others_whole(operand, axis, initial, where):
    return among_others(initial, where) and whole(operand, axis)


@max_.keyword("initial", "general")
def max_initial(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(spreading(g, x, axis, keepdims) * initial_weight(x, y, axis, keepdims, where, initial))


@max_initial.refined(lambda axis: axis.known and axis.value is None)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return np.sum(g * initial_weight(x, y, where=where, initial=initial))


@maximum_reduce.keyword("initial", "general")
def maximum_reduce_initial(g, y, x, axis=0, *, keepdims=False, initial=None, where=True):
    return np.sum(spreading(g, x, axis, keepdims) * initial_weight(x, y, axis, keepdims, where, initial))


@max_initial.forward()
@maximum_reduce_initial.forward()
def _(y, x, initial_dot, axis=None, *, keepdims=False, initial=None, where=True):
    return initial_dot * np.reshape(initial_weight(x, y, axis, keepdims, where, initial), np.shape(y))


@max_.instead(among_others)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return spreading(g, x, axis, keepdims) * tie_weights(x, y, axis, keepdims, where, initial)


@max_.refined(among_others_whole, exact=True)
def _(g, y, x, axis=None, *, keepdims=False, initial=None, where=True):
    return g * tie_weights(x, y, where=where, initial=initial)


@max_.forward(among_others)
def _(y, x, x_dot, axis=None, *, keepdims=False, initial=None, where=True):
    weights = tie_weights(x, y, axis, keepdims, where, initial)
    return np.sum(times(weights, x_dot), axis=axis, keepdims=keepdims)


@maximum_reduce.instead(among_others)
def _(g, y, x, axis=0, *, keepdims=False, initial=None, where=True):
    return spreading(g, x, axis, keepdims) * tie_weights(x, y, axis, keepdims, where, initial)


@maximum_reduce.forward(among_others)
def _(y, x, x_dot, axis=0, *, keepdims=False, initial=None, where=True):
    weights = tie_weights(x, y, axis, keepdims, where, initial)
    return np.sum(times(weights, x_dot), axis=axis, keepdims=keepdims)
