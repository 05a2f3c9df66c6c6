"""Rules of scipy.stats, continued: tests of variances and of normality.

    F = f_oneway(a, b)[0]     ->  a_bar = F_bar * 2 * ((m_a - m) / (k - 1) - F * (a - m_a) / (n - k)) / within
    T = bartlett(a, b)[0]     ->  a_bar = T_bar * 2 * (a - m_a) * (1 / pooled - 1 / var(a)) / c
    W = levene(a, b)[0]       ->  as f_oneway of |a - median(a)| and |b - median(b)|
    J = jarque_bera(a)[0]     ->  a_bar = J_bar * n / 6 * (2 * s * ds + 0.5 * k * dk)

k samples of n numbers with the mean m, their pooled variance `within`; s and k, the skewness and the kurtosis, have the
slopes of `samples`.  The tests of D'Agostino (1970) and of Anscombe and Glynn (1983) are functions of s and of k alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.hypotheses import chi2_slope, t_slope
from s2sgrad.rules.scipy.samples import count, deviation, power_mean
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import Refusal, product, unbroadcast, unreduce

# --- several samples -------------------------------------------------------------------------------------------------


def group_sizes(samples, axis, equal_var=True):
    """How many numbers each sample has; Refusal for samples that are not beside each other along an axis."""
    arrays = all(isinstance(a, np.ndarray) and np.ndim(a) for a in samples)
    if not equal_var or not isinstance(axis, int) or not arrays or not all(-a.ndim <= axis < a.ndim for a in samples):
        raise Refusal(None, "a test of variances has a derivative rule for arrays along one axis, with equal variances")
    if len(samples) < 2:
        raise Refusal(None, "a test of variances has a derivative rule for two samples or more")
    shapes = {np.shape(np.sum(a, axis=axis)) for a in samples}
    if len(shapes) > 1 or any(np.shape(a)[axis] < 2 for a in samples):
        raise Refusal(None, "a test of variances has a derivative rule for samples of one shape but for the axis")
    return tuple(np.shape(a)[axis] for a in samples)


def ends(sizes):
    """Where each sample but the first begins."""
    return [int(k) for k in np.cumsum(sizes)[:-1]]


def each(numbers: Any, sizes: tuple[int, ...], x: Any) -> Any:
    """A number of each sample beside each of its own numbers, in the type of `x`."""
    return np.repeat(np.asarray(numbers, float), sizes).astype(np.asarray(x).dtype)


def group_means(x, sizes):
    """Along the last axis, the mean of its sample in place of each number.

    >>> group_means(np.array([1.0, 3.0, 5.0]), (2, 1)).tolist()
    [2.0, 2.0, 5.0]
    """
    sums = np.add.reduceat(x, [0, *ends(sizes)], axis=-1)
    return np.repeat(sums, sizes, axis=-1) / each(sizes, sizes, x)


def freedom(sizes, x):
    """What makes of the mean square of each sample its variance."""
    return each([n / (n - 1.0) for n in sizes], sizes, x)


def correction(sizes):
    """The denominator of Bartlett's statistic."""
    total = sum(1.0 / (n - 1.0) for n in sizes) - 1.0 / (sum(sizes) - len(sizes))
    return 1.0 + total / (3.0 * (len(sizes) - 1.0))


def total(sizes):
    return sum(sizes)


flat(group_sizes, ends, freedom, correction, total)


@linear(group_means)
def _(g, y, x, sizes):
    return group_means(g, sizes), None


def last(x, whole, axis, keepdims):
    """A statistic beside the numbers that it is of, whose axis is moved to the end."""
    return np.moveaxis(unreduce(x, whole, axis, keepdims), axis, -1)


def log_constant(m: float, n: float) -> float:
    """The logarithm of the constant in the density of F."""
    return 0.5 * m * math.log(m) + 0.5 * n * math.log(n) - float(special.betaln(0.5 * m, 0.5 * n))


flat(log_constant)


def f_slope(f, m, n):
    """The slope of the probability of errors in a quotient of variances: the density of F, but for the sign.

    >>> bool(np.isclose(f_slope(1.3, 2.0, 5.0), -stats.f.pdf(1.3, 2.0, 5.0)))
    True
    """
    return -np.exp(log_constant(m, n) + (0.5 * m - 1.0) * np.log(f) - 0.5 * (m + n) * np.log(n + m * f))


@general(stats.f_oneway)
def f_oneway(g, y, *samples, axis=0, equal_var=True, nan_policy="propagate", keepdims=False):
    sizes = group_sizes(samples, axis, equal_var)
    m, n = len(sizes) - 1.0, total(sizes) - float(len(sizes))
    joined = np.concatenate(samples, axis)
    whole = np.moveaxis(joined, axis, -1)
    own = group_means(whole, sizes)
    f_bar = last(g[0] + product(g[1], f_slope(y[0], m, n)), joined, axis, keepdims)
    within = np.sum((whole - own) ** 2, axis=-1, keepdims=True) / n
    between = (own - np.mean(whole, axis=-1, keepdims=True)) / m
    bar = 2.0 * f_bar / within * (between - last(y[0], joined, axis, keepdims) * (whole - own) / n)
    return tuple(np.split(np.moveaxis(bar, -1, axis), ends(sizes), axis))


def shares_of_center(x, sizes, center):
    """The weights with which the numbers of each sample have its center as their sum, along the last axis.

    >>> shares_of_center(np.array([1.0, 3.0, 7.0, 5.0]), (3, 1), "median").tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    if center == "mean":
        return np.ones_like(x) / each(sizes, sizes, x)
    if center != "median":
        raise Refusal(None, "`levene` has a derivative rule for the mean and the median as centers")
    parts = np.split(x, ends(sizes), axis=-1)
    ranks = [np.argsort(np.argsort(part, axis=-1, kind="stable"), axis=-1, kind="stable") for part in parts]
    middle = [((r == (n - 1) // 2) * 1.0 + (r == n // 2)) / 2.0 for r, n in zip(ranks, sizes, strict=True)]
    return np.concatenate(middle, axis=-1).astype(x.dtype)


def group_sums(x, sizes):
    """Along the last axis, the sum of its sample in place of each number."""
    return np.repeat(np.add.reduceat(x, [0, *ends(sizes)], axis=-1), sizes, axis=-1)


flat(shares_of_center)


@linear(group_sums)
def _(g, y, x, sizes):
    return group_sums(g, sizes), None


@general(stats.levene)
def levene(
    g, y, *samples, center="median", proportiontocut=0.05, axis=0, nan_policy="propagate", keepdims=False,
):  # fmt: skip
    sizes = group_sizes(samples, axis)
    m, n = len(sizes) - 1.0, total(sizes) - float(len(sizes))
    joined = np.concatenate(samples, axis)
    whole = np.moveaxis(joined, axis, -1)
    shares = shares_of_center(whole, sizes, center)
    apart = whole - group_sums(shares * whole, sizes)
    d = np.abs(apart)
    own = group_means(d, sizes)
    f_bar = last(g[0] + product(g[1], f_slope(y[0], m, n)), joined, axis, keepdims)
    within = np.sum((d - own) ** 2, axis=-1, keepdims=True) / n
    between = (own - np.mean(d, axis=-1, keepdims=True)) / m
    bar = np.sign(apart) * 2.0 * f_bar / within * (between - last(y[0], joined, axis, keepdims) * (d - own) / n)
    bar = bar - shares * group_sums(bar, sizes)
    return tuple(np.split(np.moveaxis(bar, -1, axis), ends(sizes), axis))


def one_size(samples):
    """Raise Refusal for samples that are not lines of one size."""
    if len({np.shape(a) for a in samples}) > 1 or np.ndim(samples[0]) != 1 or np.size(samples[0]) < 3:
        raise Refusal(None, "`obrientransform` has a derivative rule for lines of one size, three numbers or more")
    return float(np.size(samples[0]))


flat(one_size)


@general(stats.obrientransform)
def obrientransform(g, y, *samples):
    n = one_size(samples)
    g = np.asarray(g)  # of one size an array, and a tuple of arrays from SciPy 1.18 on
    d = np.stack(samples) - np.mean(np.stack(samples), axis=1, keepdims=True)
    bar = 2.0 * d * ((n - 1.5) * n * g - 0.5 * np.sum(g, axis=1, keepdims=True)) / ((n - 1.0) * (n - 2.0))
    return tuple(bar - np.mean(bar, axis=1, keepdims=True))


@general(stats.bartlett)
def bartlett(g, y, *samples, axis=0, nan_policy="propagate", keepdims=False):
    sizes = group_sizes(samples, axis)
    joined = np.concatenate(samples, axis)
    whole = np.moveaxis(joined, axis, -1)
    d = whole - group_means(whole, sizes)
    pooled = np.sum(d * d, axis=-1, keepdims=True) / (total(sizes) - float(len(sizes)))
    slope = chi2_slope(y[0], len(sizes) - 1.0)
    slope = np.where(np.isinf(slope), 0.0, slope)  # of two samples of one variance, where the probability is at its maximum
    t_bar = last(g[0] + product(g[1], slope), joined, axis, keepdims)
    bar = 2.0 * t_bar * d / correction(sizes) * (1.0 / pooled - 1.0 / (group_means(d * d, sizes) * freedom(sizes, d)))
    return tuple(np.split(np.moveaxis(bar, -1, axis), ends(sizes), axis))


# --- normality -------------------------------------------------------------------------------------------------------


def skew_slope(a, axis):
    """The slope of the skewness in each number."""
    d = deviation(a, axis)
    m2, s = power_mean(d, axis, 2), power_mean(d, axis, 3) / power_mean(d, axis, 2) ** 1.5
    return 3.0 * ((d * d - m2) / m2**1.5 - s * d / m2) / count(a, axis)


def kurtosis_slope(a, axis):
    """The slope of the kurtosis in each number."""
    d = deviation(a, axis)
    m2 = power_mean(d, axis, 2)
    return 4.0 * ((d**3 - power_mean(d, axis, 3)) / m2**2 - power_mean(d, axis, 4) / m2**3 * d) / count(a, axis)


def skewness(a, axis):
    return stats.skew(a, axis=axis, keepdims=True)


def kurtosis(a, axis):
    return stats.kurtosis(a, axis=axis, keepdims=True)


def skew_scales(n):
    """The constants of D'Agostino: the score is c[0] * arcsinh(c[1] * skewness)."""
    whole = 3.0 * (n**2 + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0))
    w = math.sqrt(2.0 * (whole - 1.0)) - 1.0
    return 1.0 / math.sqrt(0.5 * math.log(w)), math.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)) * 0.5 * (w - 1.0))


def kurtosis_scales(n):
    """The constants of Anscombe and Glynn: the score is c[0] - c[1] * cbrt(1 / (1 + c[2] * (kurtosis - c[3])))."""
    variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    root = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    root = root * math.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / root * (2.0 / root + math.sqrt(1.0 + 4.0 / root**2))
    unit, first = math.sqrt(2.0 / (9.0 * a)), 1.0 - 2.0 / (9.0 * a)
    return first / unit, (1.0 - 2.0 / a) ** (1.0 / 3.0) / unit, math.sqrt(2.0 / (a - 4.0) / variance), -6.0 / (n + 1.0)


def numbers_of(a, axis, least):
    """How many numbers a test is of; Refusal for fewer than it can tell."""
    if count(a, axis) < least:
        raise Refusal(None, f"a test of normality has a derivative rule for {least} numbers or more")
    return float(count(a, axis))


flat(skew_scales, kurtosis_scales, numbers_of)


def skew_score(a, axis):
    """The score of a skewness, and its slope in each number."""
    c, s = skew_scales(numbers_of(a, axis, 8)), skewness(a, axis)
    return c[0] * np.arcsinh(c[1] * s), c[0] * c[1] / np.sqrt(1.0 + (c[1] * s) ** 2) * skew_slope(a, axis)


def kurtosis_score(a, axis):
    """The score of a kurtosis, and its slope in each number."""
    c = kurtosis_scales(numbers_of(a, axis, 5))
    below = 1.0 + c[2] * (kurtosis(a, axis) - c[3])
    share = c[1] * np.cbrt(1.0 / below)
    return c[0] - share, share * c[2] / (3.0 * below) * kurtosis_slope(a, axis)


def two_sides(z):
    """The slope of the probability of errors of two sides in a normal score."""
    return -math.sqrt(2.0 / math.pi) * np.sign(z) * np.exp(-0.5 * z * z)


@general(stats.skewtest)
def skewtest(g, y, a, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    z_bar = unreduce(g[0] + g[1] * two_sides(y[0]), a, axis, keepdims)
    return z_bar * skew_score(a, axis)[1]


@general(stats.kurtosistest)
def kurtosistest(g, y, a, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    z_bar = unreduce(g[0] + g[1] * two_sides(y[0]), a, axis, keepdims)
    return z_bar * kurtosis_score(a, axis)[1]


@general(stats.normaltest)
def normaltest(g, y, a, axis=0, nan_policy="propagate", *, keepdims=False):
    k_bar = unreduce(g[0] - 0.5 * g[1] * np.exp(-0.5 * y[0]), a, axis, keepdims)
    s, k = skew_score(a, axis), kurtosis_score(a, axis)
    return 2.0 * k_bar * (s[0] * s[1] + k[0] * k[1])


@general(stats.jarque_bera)
def jarque_bera(g, y, x, *, axis=None, nan_policy="propagate", keepdims=False):
    j_bar = unreduce(g[0] - 0.5 * g[1] * np.exp(-0.5 * y[0]), x, axis, keepdims) * count(x, axis) / 6.0
    return j_bar * (2.0 * skewness(x, axis) * skew_slope(x, axis) + 0.5 * kurtosis(x, axis) * kurtosis_slope(x, axis))


# --- of what is known of two samples ---------------------------------------------------------------------------------


@general(stats.ttest_ind_from_stats)
def ttest_ind_from_stats(g, y, mean1, std1, nobs1, mean2, std2, nobs2, equal_var=True, alternative="two-sided"):
    both, n = 1.0 / nobs1 + 1.0 / nobs2, nobs1 + nobs2 - 2.0
    square = ((nobs1 - 1.0) * std1 * std1 + (nobs2 - 1.0) * std2 * std2) / n * both
    t_bar = g[0] + product(g[1], t_slope(y[0], n))
    mean_bar, square_bar = t_bar / np.sqrt(square), -t_bar * y[0] / square * both / n
    in_std1, in_std2 = square_bar * (nobs1 - 1.0) * std1, square_bar * (nobs2 - 1.0) * std2
    first = unbroadcast(mean_bar, mean1), unbroadcast(in_std1, std1)
    return first[0], first[1], None, unbroadcast(-mean_bar, mean2), unbroadcast(in_std2, std2), None


ttest_ind_from_stats.refuse(
    lambda equal_var: not equal_var.known or equal_var.value is not True,
    "`ttest_ind_from_stats` of other variances has no derivative rule: leave out `equal_var`",
)
for _name in ("nobs1", "nobs2"):
    ttest_ind_from_stats.constant(_name)
for _rule in (skewtest, kurtosistest, ttest_ind_from_stats):
    _rule.refuse(
        lambda alternative: not alternative.known or alternative.value != "two-sided",
        "a test of one side has no derivative rule: leave out `alternative`",
    )
for _rule in (f_oneway, levene, bartlett, skewtest, kurtosistest, normaltest, jarque_bera):
    if not _rule.variadic:
        _rule.refuse(lambda operand: is_container(operand), "a statistic of a list has no derivative rule: pass an array")
    _rule.refuse(
        lambda nan_policy: not nan_policy.known or nan_policy.value != "propagate",
        "a statistic with another `nan_policy` has no derivative rule: leave the nans out before",
    )
