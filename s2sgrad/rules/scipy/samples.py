"""Rules of scipy.stats, continued: statistics of samples.

    y = zscore(a)          ->  a_bar = (y_bar - mean(y_bar) - y * mean(y_bar * y)) / std(a)
    y = gmean(a)           ->  a_bar = y_bar * y / (n * a)
    y = skew(a)            ->  a_bar = y_bar * (3 * (d * d - m2) / m2 ** 1.5 - 3 * y * d / m2) / n     # d = a - mean(a)

Moments about the mean have the slopes (k * d ** (k - 1) - k * m_(k - 1)) / n, for d moves with the mean.  Probabilities of
errors (`pvalue`) are differentiated too, those of two sides.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import Rule, flat, general, linear
from s2sgrad.runtime import Refusal, over, product, unbroadcast, unreduce


def count(a, axis):
    """How many numbers are reduced to one."""
    if np.ndim(a) == 0:
        raise Refusal(None, "a statistic of one number has no derivative rule: pass an array")
    if isinstance(axis, list):
        raise Refusal(None, "a statistic over a list of axes has no derivative rule: pass a tuple")
    return np.size(a) // max(np.size(np.sum(a, axis=axis)), 1)


flat(count)


def broadcast(x, y, axis):
    """`x` in the shape that it has with `y`."""
    if axis is None and np.shape(x) != np.shape(y):
        raise Refusal(None, "a statistic of two arrays of other shapes has no derivative rule with `axis=None`")
    return x + np.zeros_like(y)


@linear(broadcast)
def _(g, z, x, y, axis):
    return unbroadcast(g, x), None, None


def deviation(a, axis):
    """The numbers less their mean."""
    return a - np.mean(a, axis=axis, keepdims=True)


def power_mean(d, axis, k):
    """The mean of powers of deviations."""
    return np.mean(d**k, axis=axis, keepdims=True)


# --- scores and means ----------------------------------------------------------------------------------------------------


@general(stats.zscore)
def zscore(g, y, a, axis=0, ddof=0, nan_policy="propagate"):
    n = count(a, axis)
    scale = np.std(a, axis=axis, ddof=ddof, keepdims=True)
    mean, part = np.mean(g, axis=axis, keepdims=True), np.sum(g * y, axis=axis, keepdims=True) / (n - ddof)
    return (g - mean - y * part) / scale


def alone_at_zero(a, axis):
    """Which numbers are the only 0 of their line: the others do not move a mean of that kind, whatever they are."""
    zero = np.equal(a, 0.0)
    return zero & (np.sum(zero, axis=axis, keepdims=True) == 1)


def slope_at_zero(n):
    """What the slope of a geometric mean of n numbers is the reciprocal of, in one that is 0."""
    return 1.0 if n == 1 else 0.0


flat(alone_at_zero, slope_at_zero)


@general(stats.gmean)
def gmean(g, y, a, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    n, alone = count(a, axis), alone_at_zero(a, axis)
    whole, bar = unreduce(y, a, axis, keepdims), unreduce(g, a, axis, keepdims)
    return over(bar * np.where(alone, 1.0, whole), np.where(alone, slope_at_zero(n), n * np.where(a == 0.0, 1.0, a)))


@general(stats.hmean)
def hmean(g, y, a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    n, alone = count(a, axis), alone_at_zero(a, axis)
    ratio = over(unreduce(y, a, axis, keepdims), np.where(a == 0.0, 1.0, a))
    return unreduce(g, a, axis, keepdims) * np.where(alone, n, ratio * ratio / n)


@general(stats.sem)
def sem(g, y, a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    n = count(a, axis)
    return unreduce(g, a, axis, keepdims) * over(deviation(a, axis), n * (n - ddof) * unreduce(y, a, axis, keepdims))


@general(stats.trim_mean)
def trim_mean(g, y, a, proportiontocut, axis=0):
    n = count(a, axis)
    cut = int(proportiontocut * n)
    ranks = np.reshape(np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis, kind="stable"), np.shape(a))
    kept = np.logical_and(np.greater_equal(ranks, cut), np.less(ranks, n - cut))
    return np.where(kept, unreduce(g, a, axis), 0.0) / (n - 2 * cut), None


trim_mean.constant("proportiontocut")

# --- moments -------------------------------------------------------------------------------------------------------------


@general(stats.moment)
def moment(g, y, a, order=1, axis=0, nan_policy="propagate", *, center=None, keepdims=False):
    g = unreduce(g, a, axis, keepdims) / count(a, axis)
    if center is not None:
        return g * order * (a - center) ** max(order - 1, 0)
    if order < 2:
        return 0.0 * g
    d = deviation(a, axis)
    return g * order * (d ** (order - 1) - power_mean(d, axis, order - 1))


moment.refuse(lambda order: order.rank != 0, "`moment` of several orders has no derivative rule: call it for each")


@general(stats.skew)
def skew(g, y, a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    n, d = count(a, axis), deviation(a, axis)
    m2 = power_mean(d, axis, 2)
    factor = 1.0 if bias or n < 3 else math.sqrt(n * (n - 1.0)) / (n - 2.0)
    slope = factor * 3.0 * (d * d - m2) / m2**1.5 - 3.0 * unreduce(y, a, axis, keepdims) * d / m2
    return unreduce(g, a, axis, keepdims) * slope / n


@general(stats.kurtosis)
def kurtosis(g, y, a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    n, d = count(a, axis), deviation(a, axis)
    m2, m3 = power_mean(d, axis, 2), power_mean(d, axis, 3)
    factor = 1.0 if bias or n < 4 else (n * n - 1.0) / ((n - 2.0) * (n - 3.0))
    slope = 4.0 * (d**3 - m3) / m2**2 - 4.0 * power_mean(d, axis, 4) * d / m2**3
    return factor * unreduce(g, a, axis, keepdims) * slope / n


# --- entropies: of shares, so that a common factor does not matter ---------------------------------------------------------


@general(stats.entropy)
def entropy(g, y, pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    unit, whole = 1.0 if base is None else math.log(base), pk if qk is None else broadcast(pk, qk, axis)
    total = count(whole, axis) * np.mean(whole, axis=axis, keepdims=True)
    g, y = unreduce(g, whole, axis, keepdims) / unit, unreduce(y, whole, axis, keepdims) * unit
    if qk is None:
        return -(special.xlogy(g, pk / total) + g * y) / total
    share = whole / total * np.sum(broadcast(qk, pk, axis), axis=axis, keepdims=True)
    return unbroadcast((special.xlogy(g, over(share, qk)) - g * y) / total, pk)


@entropy.keyword("qk")
def _(g, y, pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    unit, whole = 1.0 if base is None else math.log(base), broadcast(pk, qk, axis)
    other = broadcast(qk, pk, axis)
    total = np.sum(other, axis=axis, keepdims=True)
    g = unreduce(g, whole, axis, keepdims) / unit
    return unbroadcast(g * (1.0 - over(whole / np.sum(whole, axis=axis, keepdims=True) * total, other)) / total, qk)


# --- correlation and regression ------------------------------------------------------------------------------------------


def p_slope(r, n):
    """The slope of the probability of errors in the correlation of `n` pairs: twice the density of Student (1908)."""
    if n < 3:  # there is always a line through two points
        return np.zeros_like(r)
    return -2.0 * np.sign(r) * np.exp(special.xlog1py(0.5 * n - 2.0, -r * r) - special.betaln(0.5, 0.5 * n - 1.0))


@general(stats.pearsonr)
def pearsonr(g, y, x, y_, alternative="two-sided", method=None, axis=0):
    r, whole = y[0], broadcast(x, y_, axis)
    g = unreduce(g[0] + product(g[1], p_slope(r, count(whole, axis))), whole, axis)
    r = unreduce(r, whole, axis)
    a, b = deviation(whole, axis), deviation(broadcast(y_, x, axis), axis)
    a_norm = np.sqrt(np.sum(a * a, axis=axis, keepdims=True))
    b_norm = np.sqrt(np.sum(b * b, axis=axis, keepdims=True))
    in_x, in_y = (b / b_norm - r * a / a_norm) / a_norm, (a / a_norm - r * b / b_norm) / b_norm
    return unbroadcast(g * in_x, x), unbroadcast(g * in_y, y_)


def pairs(x, y):
    """How many pairs two samples are."""
    if np.ndim(x) != 1 or np.shape(x) != np.shape(y) or isinstance(y, (list, tuple)):
        raise Refusal(None, "a line through points has a derivative rule for two arrays of one length")
    return np.size(x)


flat(pairs)


@general(stats.linregress)
def linregress(g, y, x, y_, alternative="two-sided"):
    n, a, b = pairs(x, y_), x - np.mean(x), y_ - np.mean(y_)
    xx, yy, center = np.mean(a * a), np.mean(b * b), np.mean(x)
    slope, r, error = y[0], y[2], y[4]
    error_bar = product(g[4], error)  # of samples on a line, or all the same, what nobody asks for is infinite or nan
    slope_bar = g[0] - g[1] * center
    r_bar = g[2] + product(g[3], p_slope(r, n)) - over(product(error_bar, r), 1.0 - r * r)
    xy_bar = slope_bar / xx + over(r_bar, np.sqrt(xx * yy))
    r_part = product(r_bar, r)
    xx_bar = -(slope_bar * slope + 0.5 * r_part + 0.5 * error_bar) / xx
    yy_bar = over(0.5 * (error_bar - r_part), yy)
    return (2.0 * a * xx_bar + b * xy_bar - g[1] * slope) / n, (2.0 * b * yy_bar + a * xy_bar + g[1]) / n


for _rule in [rule for rule in vars().values() if isinstance(rule, Rule) and rule.differentiable]:
    _rule.refuse(lambda operand: is_container(operand), "a statistic of a list has no derivative rule: pass an array")
for _rule in (zscore, gmean, hmean, sem, moment, skew, kurtosis, entropy):
    _rule.refuse(
        lambda nan_policy: not nan_policy.known or nan_policy.value != "propagate",
        "a statistic with another `nan_policy` has no derivative rule: leave the nans out before",
    )
for _rule in (gmean, hmean):
    _rule.refuse(
        lambda weights: not weights.known or weights.value is not None,
        "a mean with weights has no derivative rule: write np.exp(np.average(np.log(a), weights=w))",
    )
for _rule in (pearsonr, linregress):
    _rule.refuse(
        lambda alternative: not alternative.known or alternative.value != "two-sided",
        "a test of one side has no derivative rule: leave out `alternative`",
    )
pearsonr.refuse(
    lambda method: not method.known or method.value is not None, "`pearsonr` with `method` has no derivative rule"
)
flat(stats.rankdata)
