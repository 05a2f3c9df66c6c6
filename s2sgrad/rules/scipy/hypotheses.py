"""Rules of scipy.stats, continued: statistics of tests, and the probabilities of errors of two sides.

    t = ttest_1samp(a, m)[0]    ->  m_bar = -t_bar / e; a_bar = -m_bar / n - t_bar * t * (a - mean(a)) / (n * (n - 1) * e**2)
    c = chisquare(o, e)[0]      ->  o_bar = 2 * c_bar * (o - e) / e; e_bar = c_bar * (1 - (o / e) ** 2)

`e`: the standard error of the mean.  The slope of a probability of errors in its statistic is the density, but for the sign.
Statistics of ranks do not change between jumps.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.scipy.samples import count, deviation
from s2sgrad.rules.table import Rule, existing, flat, general
from s2sgrad.runtime import Refusal, product, unbroadcast, unreduce

# --- Student ---------------------------------------------------------------------------------------------------------


def t_slope(t, df):
    """The slope of the probability of errors of two sides in Student's t: twice the density.

    >>> float(np.round(t_slope(0.0, 1.0), 4)), float(np.round(t_slope(1.0, 1.0), 4))
    (-0.0, -0.3183)
    """
    log = -special.betaln(0.5, 0.5 * df) - 0.5 * np.log(df) - 0.5 * (df + 1.0) * np.log1p(t * t / df)
    return -2.0 * np.sign(t) * np.exp(log)


def mean_of(a, axis):
    return np.mean(a, axis=axis, keepdims=True)


def number_of(a, axis, popmean=0.0):
    """How many numbers a mean is of; Refusal for fewer than two, and for a mean to compare with that has other lines."""
    known = axis is None or (np.ndim(axis) == 0 and -np.ndim(a) <= axis < np.ndim(a))
    shape = np.shape(np.sum(a, axis=axis, keepdims=True)) if known else ()
    if not known or count(a, axis) < 2 or np.broadcast_shapes(shape, np.shape(popmean)) != shape:
        why = "a test of means has a derivative rule along one axis of two numbers or more, with a mean for each line"
        raise Refusal(None, why)
    return count(a, axis)


def alike(a, b, axis=None, paired=True):
    """Raise Refusal for two samples of other shapes."""
    shapes = [list(np.shape(x)) for x in (a, b)]
    if not paired and axis is not None and len(shapes[0]) == len(shapes[1]):
        for shape in shapes:
            shape[axis] = 0
    lined = not paired and axis is None and len(shapes[0]) == len(shapes[1])
    if shapes[0] != shapes[1] and not lined:
        raise Refusal(None, "a test of two samples has a derivative rule for samples of one shape: broadcast them before")
    return True


flat(number_of, alike)


@general(stats.ttest_1samp)
def ttest_1samp(g, y, a, popmean, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    n, d, t = number_of(a, axis, popmean), deviation(a, axis), unreduce(y[0], a, axis, keepdims)
    error = np.std(a, axis=axis, ddof=1, keepdims=True) / np.sqrt(n)
    t_bar = unreduce(g[0] + product(g[1], t_slope(y[0], n - 1.0)), a, axis, keepdims)
    mean_bar = -mean_of(t_bar, axis) / error
    return t_bar * (1.0 / (n * error) - t * d / (n * (n - 1.0) * error * error)), unbroadcast(mean_bar, popmean)


@general(stats.ttest_rel)
def ttest_rel(g, y, a, b, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    alike(a, b)
    whole = a - b
    n, d, t = number_of(whole, axis), deviation(whole, axis), unreduce(y[0], whole, axis, keepdims)
    error = np.std(whole, axis=axis, ddof=1, keepdims=True) / np.sqrt(n)
    t_bar = unreduce(g[0] + product(g[1], t_slope(y[0], n - 1.0)), whole, axis, keepdims)
    each = t_bar * (1.0 / (n * error) - t * d / (n * (n - 1.0) * error * error))
    return unbroadcast(each, a), unbroadcast(-each, b)


def spread(a, axis):
    """The variance of a sample."""
    return np.var(a, axis=axis, ddof=1, keepdims=True)


def statistic_alone(g, equal_var):
    """Raise Refusal for the probability of errors of Welch's test, whose degrees of freedom depend on the samples."""
    if not equal_var and np.any(g):
        raise Refusal(
            None, "the probability of errors of samples of other variances has no derivative rule: use the statistic"
        )
    return 1.0


flat(statistic_alone)


@general(stats.ttest_ind)
def ttest_ind(
    g, y, a, b, *, axis=0, equal_var=True, nan_policy="propagate", alternative="two-sided", trim=0, method=None,
    keepdims=False,
):  # fmt: skip
    m, n = number_of(a, axis), number_of(b, axis)
    alike(a, b, axis, paired=False)
    df = m + n - 2.0
    both = ((m - 1.0) * spread(a, axis) + (n - 1.0) * spread(b, axis)) / df * (1.0 / m + 1.0 / n)
    square = both if equal_var else spread(a, axis) / m + spread(b, axis) / n
    part_a = (1.0 / m + 1.0 / n) / df if equal_var else 1.0 / (m * (m - 1.0))
    part_b = (1.0 / m + 1.0 / n) / df if equal_var else 1.0 / (n * (n - 1.0))
    t_bar = g[0] + product(g[1], t_slope(y[0], df)) * statistic_alone(g[1], equal_var)
    error = np.sqrt(square)
    t_of_a, t_of_b = unreduce(y[0], a, axis, keepdims), unreduce(y[0], b, axis, keepdims)
    in_a = 1.0 / (m * error) - t_of_a * deviation(a, axis) * part_a / square
    in_b = -1.0 / (n * error) - t_of_b * deviation(b, axis) * part_b / square
    return unreduce(t_bar, a, axis, keepdims) * in_a, unreduce(t_bar, b, axis, keepdims) * in_b


ttest_ind.refuse(
    lambda trim, method: not all(k.known and k.value in (0, None) for k in (trim, method)),
    "`ttest_ind` with `trim` or `method` has no derivative rule: leave them out",
)
for _rule in (ttest_1samp, ttest_rel, ttest_ind):
    _rule.refuse(
        lambda alternative: not alternative.known or alternative.value != "two-sided",
        "a test of one side has no derivative rule: leave out `alternative`",
    )

# --- counts ----------------------------------------------------------------------------------------------------------


def chi2_slope(x, df):
    """The slope of the probability of errors in a sum of squares; nan without degrees of freedom."""
    half = 0.5 * df
    return -0.5 * np.exp(special.xlogy(half - 1.0, 0.5 * x) - 0.5 * x - special.gammaln(half))


def expected(f_obs, f_exp, axis):
    """The frequencies that are expected: all the same, unless they are given."""
    return mean_of(f_obs, axis) if f_exp is None else f_exp


@general(stats.chisquare)
def chisquare(g, y, f_obs, f_exp=None, ddof=0, axis=0, *, sum_check=True, nan_policy="propagate", keepdims=False):
    alike(f_obs, f_obs if f_exp is None else f_exp)
    df = count(f_obs, axis) - 1.0 - ddof
    c_bar = unreduce(g[0] + product(g[1], chi2_slope(y[0], df)), f_obs, axis, keepdims)
    share = f_obs / expected(f_obs, f_exp, axis)
    each = 2.0 * product(c_bar, share - 1.0)
    return each + mean_of(product(c_bar, 1.0 - share * share), axis) if f_exp is None else each


@chisquare.keyword("f_exp")
def _(g, y, f_obs, f_exp=None, ddof=0, axis=0, *, sum_check=True, nan_policy="propagate", keepdims=False):
    alike(f_obs, f_exp)
    df = count(f_obs, axis) - 1.0 - ddof
    share = f_obs / f_exp
    c_bar = unreduce(g[0] + product(g[1], chi2_slope(y[0], df)), f_obs, axis, keepdims)
    return unbroadcast(product(c_bar, 1.0 - share * share), f_exp)


chisquare.refuse(lambda ddof: ddof.rank != 0, "`chisquare` with several `ddof` has no derivative rule: call it for each")

for _rule in [rule for rule in vars().values() if isinstance(rule, Rule) and rule.differentiable]:
    _rule.refuse(lambda operand: is_container(operand), "a statistic of a list has no derivative rule: pass an array")
    _rule.refuse(
        lambda nan_policy: not nan_policy.known or nan_policy.value != "propagate",
        "a statistic with another `nan_policy` has no derivative rule: leave the nans out before",
    )

# --- ranks -----------------------------------------------------------------------------------------------------------

flat(
    stats.kendalltau, stats.spearmanr, stats.mannwhitneyu, stats.wilcoxon, stats.kruskal, stats.percentileofscore,
    stats.ranksums, stats.brunnermunzel, stats.friedmanchisquare, stats.fligner, stats.ansari, stats.mood, stats.weightedtau,
    stats.somersd, stats.cramervonmises_2samp, stats.page_trend_test,
    *existing(stats, "chatterjeexi", "bws_test"),
)  # fmt: skip
# tables of counts, which are whole numbers
flat(stats.fisher_exact, stats.barnard_exact, stats.boschloo_exact)
