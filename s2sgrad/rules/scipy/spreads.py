"""Rules of scipy.stats, continued: spreads, scores, means of angles, transformations and distances of samples.

    y = tvar(a)                  ->  a_bar = 2 * y_bar * (a - mean(a)) / (n - 1)
    y = iqr(a)                   ->  a_bar = y_bar * (quantile_weights(a, 0.75) - quantile_weights(a, 0.25))
    y = circmean(a)              ->  a_bar = y_bar * cos(a - y) / (n * R),  R the length of the mean of exp(1j * a)
    y = wasserstein_distance(u, v)     a number moves the integral of |U - V| by the difference of it on both of its sides

(Fisher, *Statistical Analysis of Circular Data*, 1993, 2.3.)  Limits, weights and other treatments of nan are refused by
name.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules.quantiles import quantile_weights
from s2sgrad.rules.reductions import is_container, is_list, is_several
from s2sgrad.rules.scipy.samples import count, deviation
from s2sgrad.rules.scipy.transformations import bounded_log, boxcox_in_lmbda
from s2sgrad.rules.table import Rule, flat, general
from s2sgrad.runtime import Refusal, over, unbroadcast, unreduce

# --- what is refused -------------------------------------------------------------------------------------------------


def lines(a, axis):
    """The axis of a statistic of lines; Refusal for one number."""
    count(a, axis)
    return axis


def one_number(*numbers):
    """Raise Refusal unless each parameter is a number."""
    if any(np.ndim(x) for x in numbers):
        raise Refusal(None, "a parameter of a statistic has a derivative rule as one number: call it for each")
    return True


flat(lines, one_number)

# --- trimmed moments, without limits ---------------------------------------------------------------------------------


@general(stats.tmean)
def tmean(g, y, a, limits=None, inclusive=(True, True), axis=None, *, nan_policy="propagate", keepdims=False):
    return unreduce(g, a, axis, keepdims) / count(a, axis)


@general(stats.tvar)
def tvar(g, y, a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    return 2.0 * unreduce(g, a, axis, keepdims) * deviation(a, axis) / (count(a, axis) - ddof)


@general(stats.tstd)
def tstd(g, y, a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    n = count(a, axis) - ddof
    return unreduce(g, a, axis, keepdims) * over(deviation(a, axis), n * unreduce(y, a, axis, keepdims))


@general(stats.tsem)
def tsem(g, y, a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    n = count(a, axis)
    return unreduce(g, a, axis, keepdims) * over(deviation(a, axis), n * (n - ddof) * unreduce(y, a, axis, keepdims))


# --- spreads ---------------------------------------------------------------------------------------------------------


@general(stats.variation)
def variation(g, y, a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    n = count(a, axis)
    mean, scale = np.mean(a, axis=axis, keepdims=True), np.std(a, axis=axis, ddof=ddof, keepdims=True)
    each = over(deviation(a, axis), (n - ddof) * scale * mean) - scale / (n * mean * mean)
    return unreduce(g, a, axis, keepdims) * each


@general(stats.gstd)
def gstd(g, y, a, axis=0, ddof=1, *, keepdims=False, nan_policy="propagate"):
    d, n = deviation(np.log(a), axis), count(a, axis) - ddof
    whole = unreduce(y, a, axis, keepdims)
    return unreduce(g, a, axis, keepdims) * whole * over(d, n * np.log(whole) * a)


def percents(rng):
    """Both percentiles, the lower one first."""
    low, high = sorted(rng)
    return low / 100.0, high / 100.0


def factor(scale):
    """The number that a spread is divided by."""
    if isinstance(scale, str):
        if scale != "normal":
            raise Refusal(None, "a spread by another name of a scale has no derivative rule: pass a number")
        return 2.0 * float(special.ndtri(0.75))
    if np.ndim(scale):
        raise Refusal(None, "a spread with several scales has no derivative rule: divide by them behind it")
    return scale


def half_factor(scale):
    """The same of one that is half as wide."""
    return 0.5 * factor(scale) if isinstance(scale, str) else factor(scale)


flat(percents, factor, half_factor)


@general(stats.iqr)
def iqr(g, y, x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False):
    low, high = percents(rng)
    weights = quantile_weights(x, high, axis, interpolation) - quantile_weights(x, low, axis, interpolation)
    return unreduce(g, x, axis, keepdims) * weights / factor(scale)


@general(stats.median_abs_deviation)
def median_abs_deviation(g, y, x, axis=0, center=None, scale=1.0, nan_policy="propagate", *, keepdims=False):
    away = x - np.median(x, axis=lines(x, axis), keepdims=True)
    each = unreduce(g, x, axis, keepdims) * quantile_weights(np.abs(away), 0.5, axis) * np.sign(away) / half_factor(scale)
    return each - np.sum(each, axis=axis, keepdims=True) * quantile_weights(x, 0.5, axis)


@general(stats.pmean)
def pmean(g, y, a, p, *, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    whole = unreduce(y, a, axis, keepdims)
    return unreduce(g, a, axis, keepdims) * (a / whole) ** (p - 1.0) / count(a, axis), None


pmean.constant("p")

# --- scores ----------------------------------------------------------------------------------------------------------


@general(stats.zmap)
def zmap(g, y, scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    scale, n = np.std(compare, axis=axis, ddof=ddof, keepdims=True), count(compare, axis)
    in_scores = g / scale
    mean_bar, scale_bar = unbroadcast(-in_scores, scale), unbroadcast(-in_scores * y, scale)
    d = deviation(compare, axis)
    return unbroadcast(in_scores, scores), mean_bar / n + scale_bar * over(d, (n - ddof) * scale)


# --- angles ----------------------------------------------------------------------------------------------------------


def angles(a, high, low):
    one_number(high, low)
    return (a - low) * (2.0 * math.pi / (high - low))


def of_mean(t, axis):
    """The cosines and sines of angles less that of their mean, and the length of the mean, along the axes."""
    axis = lines(t, axis)
    c, s = np.mean(np.cos(t), axis=axis, keepdims=True), np.mean(np.sin(t), axis=axis, keepdims=True)
    length = np.hypot(c, s)
    return (c * np.cos(t) + s * np.sin(t)) / length, (c * np.sin(t) - s * np.cos(t)) / length, length


@general(stats.circmean)
def circmean(g, y, samples, high=2.0 * math.pi, low=0.0, axis=None, nan_policy="propagate", *, keepdims=False):
    cosine, _, length = of_mean(angles(samples, high, low), axis)
    return unreduce(g, samples, axis, keepdims) * over(cosine, count(samples, axis) * length)


@general(stats.circvar)
def circvar(g, y, samples, high=2.0 * math.pi, low=0.0, axis=None, nan_policy="propagate", *, keepdims=False):
    _, sine, _ = of_mean(angles(samples, high, low), axis)
    return unreduce(g, samples, axis, keepdims) * sine * (2.0 * math.pi / ((high - low) * count(samples, axis)))


@general(stats.circstd)
def circstd(
    g, y, samples, high=2.0 * math.pi, low=0.0, axis=None, nan_policy="propagate", *, normalize=False, keepdims=False
):
    _, sine, length = of_mean(angles(samples, high, low), axis)
    spread = np.sqrt(np.maximum(-2.0 * np.log(length), 0.0))
    each = over(sine * (spread > 0.0), count(samples, axis) * length * spread)  # of equal samples 0, as a norm's is at 0
    return unreduce(g, samples, axis, keepdims) * each * (2.0 * math.pi / (high - low) if normalize else 1.0)


# --- transformations of data -----------------------------------------------------------------------------------------


@general(stats.boxcox)
def boxcox(g, y, x, lmbda=None, alpha=None, optimizer=None):
    one_number(lmbda)
    return g * x ** (lmbda - 1.0)


@boxcox.keyword("lmbda")
def _(g, y, x, lmbda=None, alpha=None, optimizer=None):
    one_number(lmbda)
    return np.sum(g * boxcox_in_lmbda(bounded_log(x), lmbda))


def yeojohnson_in_lmbda(x, lmbda):
    """The slope of the transformation in its parameter."""
    up = boxcox_in_lmbda(np.log1p(np.abs(x)), lmbda)
    return np.where(x >= 0.0, up, boxcox_in_lmbda(np.log1p(np.abs(x)), 2.0 - lmbda))


@general(stats.yeojohnson)
def yeojohnson(g, y, x, lmbda=None):
    one_number(lmbda)
    return g * (1.0 + np.abs(x)) ** (np.sign(x) * (lmbda - 1.0))


@yeojohnson.keyword("lmbda")
def _(g, y, x, lmbda=None):
    one_number(lmbda)
    return np.sum(g * yeojohnson_in_lmbda(x, lmbda))


for _rule, _fit in ((boxcox, "scipy.stats.boxcox_llf"), (yeojohnson, "scipy.stats.yeojohnson_llf")):
    _rule.refuse(
        lambda lmbda: lmbda.known and lmbda.value is None,
        f"a transformation whose parameter is fitted has no derivative rule: pass `lmbda`, and differentiate `{_fit}`",
    )


@general(stats.boxcox_llf)
def boxcox_llf(g, y, lmb, data, *, axis=0, keepdims=False, nan_policy="propagate"):
    one_sample(data)
    one_number(lmb)
    g, log_data = np.sum(g), np.log(data)
    z = special.boxcox(data, lmb)
    d = (z - np.mean(z)) / np.mean((z - np.mean(z)) ** 2)
    lmb_bar = np.sum(log_data) - np.sum(d * boxcox_in_lmbda(log_data, lmb))
    return g * lmb_bar, g * ((lmb - 1.0) / data - d * data ** (lmb - 1.0))


def one_sample(data):
    """Raise Refusal unless a sample is a line of numbers."""
    if np.ndim(data) != 1:
        raise Refusal(None, "this statistic has a derivative rule for a sample of one axis: call it for each")
    return True


flat(one_sample)

# --- distances of distributions --------------------------------------------------------------------------------------


def steps(u, v):
    """The differences of the distribution functions of two samples, before and behind each number; those of `u` first.

    A row for a number that falls and one for a number that rises: between equal numbers these are not the same.
    """
    one_sample(u)
    one_sample(v)
    m, n = np.size(u), np.size(v)
    jumps = np.concatenate((np.full(m, 1.0 / m), np.full(n, -1.0 / n)))
    groups = np.unique(np.concatenate((u, v)), return_inverse=True)[1]
    sums = np.bincount(groups, jumps)
    above, below = np.cumsum(sums)[groups], (np.cumsum(sums) - sums)[groups]
    return np.stack((below, above - jumps)), np.stack((below + jumps, above))


flat(steps)


@general(stats.wasserstein_distance)
def wasserstein_distance(g, y, u_values, v_values, u_weights=None, v_weights=None):
    before, behind = steps(u_values, v_values)
    each = np.mean(np.abs(before) - np.abs(behind), axis=0)
    return g * each[: np.size(u_values)], g * each[np.size(u_values) :]


@general(stats.energy_distance)
def energy_distance(g, y, u_values, v_values, u_weights=None, v_weights=None):
    before, behind = steps(u_values, v_values)
    each = np.mean(before * before - behind * behind, axis=0)
    each = g * over(each * (y > 0.0), y)  # of equal samples the slope is 0, as a norm's is
    return each[: np.size(u_values)], each[np.size(u_values) :]


for _rule in (wasserstein_distance, energy_distance):
    _rule.refuse(
        lambda u_weights, v_weights: not all(w.known and w.value is None for w in (u_weights, v_weights)),
        "a distance of weighted samples has no derivative rule: leave out the weights",
    )

for _rule in [rule for rule in vars().values() if isinstance(rule, Rule) and rule.differentiable]:
    _rule.refuse(lambda operand: is_container(operand), "a statistic of a list has no derivative rule: pass an array")
    if "axis" in _rule.keywords:
        _rule.refuse(
            lambda axis: is_list(axis),
            "a statistic along a list of axes has no derivative rule: pass a tuple",
        )
    if "nan_policy" in _rule.keywords:
        _rule.refuse(
            lambda nan_policy: not nan_policy.known or nan_policy.value != "propagate",
            "a statistic with another `nan_policy` has no derivative rule: leave the nans out before",
        )
    if "limits" in _rule.keywords:
        _rule.refuse(
            lambda limits: not limits.known or limits.value is not None,
            "a statistic with `limits` has no derivative rule: select the numbers before",
        )
gstd.refuse(
    lambda ddof: is_several(ddof),
    "`gstd` with several `ddof` has no derivative rule: call it for each",
)
for _rule in (tvar, tstd, tsem):
    _rule.refuse(lambda a: a.rank == 0, "the spread of one number has no derivative rule: pass an array")
zmap.refuse(lambda compare: is_container(compare), "`zmap` has no derivative rule where `compare` is a list: pass an array")
pmean.refuse(
    lambda weights: not weights.known or weights.value is not None,
    "a mean with weights has no derivative rule: write np.average(a**p, weights=w) ** (1 / p)",
)
median_abs_deviation.refuse(
    lambda center: not center.known or center.value is not None,
    "`median_abs_deviation` with `center` has no derivative rule: leave it out, which takes the median",
)
