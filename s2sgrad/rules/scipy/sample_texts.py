"""Statistics of samples and of tables in scipy.stats, stated again.

    P = power_divergence(o, e, lambda_=k)[0]   ->     P = 2 * sum(o * ((o / e) ** k - 1)) / (k * (k + 1))
    v = kstat(x, 2)                            ->     v = (n * s2 - s1 ** 2) / (n * (n - 1))
    l2 = lmoment(x)[1]                         ->     l2 = sum((2 * j / (n - 1) - 1) * sort(x)[j]) / n
    h = differential_entropy(x)                ->     h = mean(log((n + 1) * (s[i + m] - s[i]) / m)) + .., s = sort(x)

(Cressie and Read, 1984; Fisher, 1928; Hosking, 1990; van Es, 1992; Vasicek, 1976; Ebrahimi, 1994; Correa, 1995; Royston,
1995; Epps and Singleton, 1986.)  What is chosen by ranks or by bins does not change between ties and edges.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import existing, flat
from s2sgrad.runtime import Refusal


def lines(a, axis):
    """The lines along an axis, as the last axis."""
    return np.ravel(a) if axis is None else np.moveaxis(a, axis, -1)


# --- tables ----------------------------------------------------------------------------------------------------------


def exponent(lambda_):
    """The exponent of a divergence by its name."""
    names = {"pearson": 1, "log-likelihood": 0, "freeman-tukey": -0.5, "mod-log-likelihood": -1, "neyman": -2}
    names["cressie-read"] = 2 / 3
    return 1 if lambda_ is None else names.get(lambda_, lambda_)


def corrected(observed, expected, wanted, df):
    """By how much counts move towards those that are expected: Yates' correction, of one degree of freedom."""
    apart = expected - observed
    return np.sign(apart) * np.minimum(0.5, np.abs(apart)) if wanted and df == 1 else np.zeros_like(apart)


def unmoved(observed, expected, wanted, df):
    """1 for counts that do not move the whole way to those that are expected."""
    return 1.0 * (np.abs(expected - observed) > 0.5) if wanted and df == 1 else np.ones_like(observed)


def two_ways(table):
    """Raise Refusal for a table of other than two ways."""
    if np.ndim(table) != 2:
        raise Refusal(None, "`chi2_contingency` has a derivative rule for tables of two ways")
    return True


flat(exponent, corrected, unmoved, two_ways)


def divergence(o, e, k):
    """The terms of the divergence of observed frequencies from those that are expected."""
    if k == 1:
        return (o - e) ** 2 / e
    if k == 0:
        return 2.0 * special.xlogy(o, o / e)
    if k == -1:
        return 2.0 * special.xlogy(e, e / o)
    return 2.0 / (k * (k + 1)) * o * ((o / e) ** k - 1.0)


@restates(stats.power_divergence)  # those that are expected have sums that are checked, as those of `chisquare` need not
def power_divergence(f_obs, f_exp=None, ddof=0, axis=0, lambda_=None):
    o = lines(f_obs, axis)
    e = np.mean(o, axis=-1, keepdims=True) if f_exp is None else lines(f_exp, axis)
    found = np.sum(divergence(o, e, exponent(lambda_)), axis=-1)
    return found, special.chdtrc(np.shape(o)[-1] - 1.0 - ddof, found)


@restates(stats.chi2_contingency, counts=True)
def chi2_contingency(observed, correction=True, lambda_=None):
    two_ways(observed)
    m, n = np.shape(observed)
    df = (m - 1) * (n - 1)
    expected = np.outer(np.sum(observed, axis=1), np.sum(observed, axis=0)) / np.sum(observed)
    step = corrected(observed, expected, correction, df)
    kept = unmoved(observed, expected, correction, df)
    near = kept * (observed + step) + (1.0 - kept) * expected
    found = np.sum(divergence(near, expected, exponent(lambda_)))
    return found, special.chdtrc(1.0 * df, found) if np.any(kept) else 1.0, df, expected


# --- probabilities of errors -----------------------------------------------------------------------------------------


@restates(stats.combine_pvalues, moving=("weights",))
def combine_pvalues(pvalues, method="fisher", weights=None, axis=0):
    p = lines(pvalues, axis)
    n = 1.0 * np.shape(p)[-1]
    if method == "fisher":
        found = -2.0 * np.sum(np.log(p), axis=-1)
        return found, special.chdtrc(2.0 * n, found)
    if method == "pearson":
        found = 2.0 * np.sum(np.log1p(-p), axis=-1)
        return found, special.chdtr(2.0 * n, -found)
    if method == "mudholkar_george":
        found = np.sum(np.log1p(-p) - np.log(p), axis=-1)
        df = 5.0 * n + 4.0
        return found, special.stdtr(df, -found * math.sqrt(3.0 / n) / math.pi * math.sqrt(df / (df - 2.0)))
    if method == "tippett":
        found = np.min(p, axis=-1)
        return found, 1.0 - (1.0 - found) ** n
    z, w = -special.ndtri(p), np.ones_like(p) if weights is None else lines(weights, axis)
    found = np.sum(w * z, axis=-1) / np.sqrt(np.sum(w * w, axis=-1))
    return found, special.ndtr(-found)


# --- moments ---------------------------------------------------------------------------------------------------------


@restates(stats.describe, counts=True)
def describe(a, axis=0, ddof=1, bias=True):
    x = lines(a, axis)
    spread = np.var(x, axis=-1, ddof=ddof)
    ends = np.min(x, axis=-1), np.max(x, axis=-1)
    skewness, peak = stats.skew(x, axis=-1, bias=bias), stats.kurtosis(x, axis=-1, bias=bias)
    return np.shape(x)[-1], ends, np.mean(x, axis=-1), spread, skewness, peak


@restates(stats.kstat)
def kstat(data, n=2, axis=None):
    x = lines(data, axis)
    m, (s1, s2, s3, s4) = 1.0 * np.shape(x)[-1], [np.sum(x**k, axis=-1) for k in (1, 2, 3, 4)]
    if n == 1:
        return s1 / m
    if n == 2:
        return (m * s2 - s1**2) / (m * (m - 1.0))
    if n == 3:
        return (2.0 * s1**3 - 3.0 * m * s1 * s2 + m * m * s3) / (m * (m - 1.0) * (m - 2.0))
    whole = -6.0 * s1**4 + 12.0 * m * s1**2 * s2 - 3.0 * m * (m - 1.0) * s2**2
    whole = whole - 4.0 * m * (m + 1.0) * s1 * s3 + m * m * (m + 1.0) * s4
    return whole / (m * (m - 1.0) * (m - 2.0) * (m - 3.0))


@restates(stats.kstatvar)
def kstatvar(data, n=2, axis=None):
    m = 1.0 * np.shape(lines(data, axis))[-1]
    k2 = kstat(data, 2, axis)
    return k2 / m if n == 1 else (2.0 * m * k2**2 + (m - 1.0) * kstat(data, 4, axis)) / (m * (m + 1.0))


def shares_of_ranks(n, order):
    """The weights of sorted numbers in their linear moments: shifted Legendre polynomials of the ranks."""
    ranks, found = np.arange(n), []
    for r in range(int(np.max(order))):
        each = [math.comb(r, k) * math.comb(r + k, k) * (-1.0) ** (r - k) * np.ones(n) for k in range(r + 1)]
        for k in range(r + 1):
            for j in range(k):
                each[k] = each[k] * (ranks - j) / (n - 1.0 - j)
        found.append(sum(each) / n)
    return np.array(found)


def orders(order):
    return np.arange(1, 5) if order is None else np.asarray(order)


flat(shares_of_ranks, orders)


@restates(*existing(stats, "lmoment"))
def lmoment(sample, order=None, axis=0, sorted=False, standardize=True):
    x = lines(sample, axis) if sorted else np.sort(lines(sample, axis), axis=-1)
    wanted = orders(order)
    found = np.moveaxis(x @ shares_of_ranks(np.shape(x)[-1], wanted).T, -1, 0)
    if standardize and np.max(wanted) > 2:
        found = np.concatenate([found[:2], found[2:] / found[1]])
    return found[wanted - 1]


@restates(*existing(stats, "gzscore"))
def gzscore(a, axis=0, ddof=0):
    logs = np.log(a)
    mean, scale = np.mean(logs, axis=axis, keepdims=True), np.std(logs, axis=axis, ddof=ddof, keepdims=True)
    return (logs - mean) / scale


def is_boolean(x):
    """Raise Refusal for groups that are not given as truth values."""
    if np.asarray(x).dtype.kind != "b":
        raise Refusal(None, "`pointbiserialr` has a derivative rule for groups of truth values")
    return True


flat(is_boolean)


@restates(stats.pointbiserialr, constant=("x",))
def pointbiserialr(x, y):
    is_boolean(x)
    u, v = x - np.mean(x), y - np.mean(y)
    r, n = np.sum(u * v) / np.sqrt(np.sum(u * u) * np.sum(v * v)), 1.0 * np.size(y)
    return r, 2.0 * special.stdtr(n - 2.0, -np.abs(r) * np.sqrt((n - 2.0) / (1.0 - r * r)))


# --- what is left of a sample ----------------------------------------------------------------------------------------


def left_along(a, axis, part):
    """Which numbers are left of each line, in the order in which SciPy leaves them."""
    found, order = lines(part, axis), np.argsort(lines(a, axis), axis=-1, kind="stable")
    ranks = np.argsort(np.argsort(found, axis=-1, kind="stable"), axis=-1, kind="stable")
    least = np.min(found, axis=-1, keepdims=True)
    first = np.sum(lines(a, axis) < least, axis=-1, keepdims=True)
    return np.take_along_axis(order, first + ranks, -1)


def left_of_both(a, share, axis):
    return left_along(a, axis, stats.trimboth(a, share, axis))


def left_of_one(a, share, tail, axis):
    return left_along(a, axis, stats.trim1(a, share, tail, axis))


def unclipped(a, low, high):
    """Which numbers are left by clipping again and again."""
    kept = np.arange(np.size(a))
    while True:
        part = np.ravel(a)[kept]
        within = np.abs(part - part.mean() + 0.0) >= 0.0
        within &= (part >= part.mean() - part.std() * low) & (part <= part.mean() + part.std() * high)
        if np.all(within):
            return kept
        kept = kept[within]


def beyond(a, limit, inclusive, sign):
    """What hides the numbers beyond a limit from a reduction: the infinite number that is never chosen."""
    if limit is None:
        return np.zeros_like(a)
    hidden = sign * a > sign * limit if inclusive else sign * a >= sign * limit
    return np.where(hidden, -sign * np.inf, 0.0)


flat(left_of_both, left_of_one, unclipped, beyond)


@restates(stats.trimboth)
def trimboth(a, proportiontocut=None, axis=0):
    places = left_of_both(a, proportiontocut, axis)
    found = np.take_along_axis(lines(a, axis), places, -1)
    return found if axis is None else np.moveaxis(found, -1, axis)


@restates(stats.trim1)
def trim1(a, proportiontocut=None, tail="right", axis=0):
    places = left_of_one(a, proportiontocut, tail, axis)
    found = np.take_along_axis(lines(a, axis), places, -1)
    return found if axis is None else np.moveaxis(found, -1, axis)


@restates(stats.sigmaclip)
def sigmaclip(a, low=4.0, high=4.0):
    part = np.ravel(a)[unclipped(a, low, high)]
    return part, np.mean(part) - np.std(part) * low, np.mean(part) + np.std(part) * high


@restates(stats.tmax)
def tmax(a, upperlimit=None, axis=0, inclusive=True):
    return np.max(lines(a + beyond(a, upperlimit, inclusive, 1.0), axis), axis=-1)


@restates(stats.tmin)
def tmin(a, lowerlimit=None, axis=0, inclusive=True):
    return np.min(lines(a + beyond(a, lowerlimit, inclusive, -1.0), axis), axis=-1)


# --- entropy ---------------------------------------------------------------------------------------------------------


def window(n, window_length, method):
    """The distance of the numbers whose differences are taken, and the method."""
    chosen = method.lower() if method != "auto" else "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    return math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length, chosen


def ends_kept(n, m, shift):
    """The places at a distance from all places, those beyond the ends at the ends."""
    return np.clip(np.arange(n) + shift * m, 0, n - 1)


def near_ends(n, m):
    """The factors of Ebrahimi for differences at the ends."""
    i = np.arange(1, n + 1)
    return np.where(i >= n - m + 1, 1 + (n - i) / m, np.where(i <= m, 1 + (i - 1) / m, 2.0))


def around(n, m):
    """The places around all places, those beyond the ends at the ends, and how far they are."""
    apart = np.arange(-m, m + 1)[:, None]
    return np.clip(np.arange(n) + apart, 0, n - 1), apart


flat(window, ends_kept, near_ends, around)


@restates(stats.differential_entropy)
def differential_entropy(values, window_length=None, base=None, axis=0, method="auto"):
    x = np.sort(lines(values, axis), axis=-1)
    n = np.shape(x)[-1]
    m, chosen = window(n, window_length, method)
    if chosen == "van es":
        found = np.mean(np.log((n + 1) / m * (x[..., m:] - x[..., :-m])), axis=-1)
        found = found + (np.sum(1.0 / np.arange(m, n + 1)) + math.log(m) - math.log(n + 1))
    elif chosen == "correa":
        places, apart = around(n, m)
        near = x[..., places]
        off = near - np.mean(near, axis=-2, keepdims=True)
        found = -np.mean(np.log(np.sum(off * apart, axis=-2) / (n * np.sum(off**2, axis=-2))), axis=-1)
    else:
        steps = x[..., ends_kept(n, m, 1)] - x[..., ends_kept(n, m, -1)]
        factors = near_ends(n, m) if chosen == "ebrahimi" else 2.0
        found = np.mean(np.log(n / m * steps / factors), axis=-1)
    return found if base is None else found / math.log(base)


# --- normality, and equal distributions ------------------------------------------------------------------------------


def royston(n):
    """The weights of sorted numbers in the statistic of Shapiro and Wilk (Royston, 1995)."""
    if n < 4:
        raise Refusal(None, "`shapiro` has a derivative rule for four numbers or more")
    m = special.ndtri((np.arange(1.0, n + 1.0) - 0.375) / (n + 0.25))
    norm, u = float(m @ m), 1.0 / math.sqrt(n)
    last = np.polyval([-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, m[-1] / math.sqrt(norm)], u)
    if n <= 5:
        inner, k = math.sqrt((norm - 2.0 * m[-1] ** 2) / (1.0 - 2.0 * last**2)), 1
    else:
        next_to_last = np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, m[-2] / math.sqrt(norm)], u)
        inner, k = math.sqrt((norm - 2.0 * (m[-1] ** 2 + m[-2] ** 2)) / (1.0 - 2.0 * (last**2 + next_to_last**2))), 2
    a = m / inner
    a[-1], a[0] = last, -last
    if k == 2:
        a[-2], a[1] = next_to_last, -next_to_last
    return a


def normal_scale(n):
    """Mean and deviation of log(1 - W), and the constant `gamma` of small samples."""
    if n <= 11:
        mean, log = (
            np.polyval([-0.0006714, 0.025054, -0.39978, 0.544], n),
            np.polyval([-0.0020322, 0.062767, -0.77857, 1.3822], n),
        )
        return mean, math.exp(log), 0.459 * n - 2.273
    mean = np.polyval([0.0038915, -0.083751, -0.31082, -1.5861], math.log(n))
    return mean, math.exp(np.polyval([0.0030302, -0.082676, -0.4803], math.log(n))), 0.0


flat(royston, normal_scale)


@restates(stats.shapiro)
def shapiro(x):
    s, n = np.sort(np.ravel(x)), np.size(x)
    d = s - np.mean(s)
    found = np.sum(royston(n) * s) ** 2 / np.sum(d * d)
    mean, scale, gamma = normal_scale(n)
    low = np.log(1.0 - found)
    return found, special.ndtr((mean - (-np.log(gamma - low) if n <= 11 else low)) / scale)


def sizes_of(x, y):
    """The numbers of numbers, and the correction of small samples."""
    m, n = 1.0 * np.size(x), 1.0 * np.size(y)
    small = 1.0 / (1.0 + (m + n) ** -0.45 + 10.1 * (m**-1.7 + n**-1.7)) if max(m, n) < 25 else 1.0
    return m, n, small


flat(sizes_of)


@restates(stats.epps_singleton_2samp)
def epps_singleton_2samp(x, y, t=(0.4, 0.8)):
    m, n, small = sizes_of(x, y)
    ts = np.array(t)[:, None] / (0.5 * stats.iqr(np.concatenate([x, y])))
    gx, gy = np.concatenate([np.cos(ts * x), np.sin(ts * x)]), np.concatenate([np.cos(ts * y), np.sin(ts * y)])
    dx, dy = gx - np.mean(gx, axis=1, keepdims=True), gy - np.mean(gy, axis=1, keepdims=True)
    spread = (m + n) * (dx @ dx.T / (m * m) + dy @ dy.T / (n * n))
    apart = np.mean(gx, axis=1) - np.mean(gy, axis=1)
    found = small * (m + n) * (apart @ np.linalg.solve(spread, apart))
    return found, special.chdtrc(2.0 * len(t), found)


# --- pictures --------------------------------------------------------------------------------------------------------


def expected_quantiles(count, sparams, dist):
    """What the sorted numbers are compared with."""
    found = stats.probplot(np.arange(1.0 * count), sparams, dist, fit=False)
    return found[0]


flat(expected_quantiles)


@restates(stats.probplot)
def probplot(x, sparams=(), dist="norm", fit=True):
    at, s = expected_quantiles(len(x), sparams, dist), np.sort(x)
    if not fit:
        return at, s
    u, v = at - np.mean(at), s - np.mean(s)
    slope = np.sum(u * v) / np.sum(u * u)
    return (at, s), (slope, np.mean(s) - slope * np.mean(at), np.sum(u * v) / np.sqrt(np.sum(u * u) * np.sum(v * v)))


def binned(x, bins, range, statistic):
    """Which numbers lie in bins, in which, how many each has, and the places of the edges between the ends."""
    if statistic not in ("mean", "sum", "count", "std"):
        raise Refusal(None, "`binned_statistic` has a derivative rule for the mean, the sum, the count and the deviation")
    found = stats.binned_statistic(x, np.zeros_like(x), "count", bins, range)
    kept = np.flatnonzero((found.binnumber > 0) & (found.binnumber < len(found.bin_edges)))
    edges = found.bin_edges
    moves = np.ndim(bins) == 0 and range is None and edges[0] == np.min(x)
    shares = np.linspace(0.0, 1.0, len(edges)) if moves else None
    return kept, found.binnumber[kept] - 1, found.statistic, shares, edges, found.binnumber


flat(binned)


def root(square):
    """The square root of what is not negative, constant where that is 0: the deviation of one number alone."""
    return np.where(square == 0.0, 0.0, np.sqrt(np.where(square == 0.0, 1.0, square)))


@restates(stats.binned_statistic, counts=True)
def binned_statistic(x, values, statistic="mean", bins=10, range=None):
    kept, places, count, shares, edges, numbers = binned(x, bins, range, statistic)
    ends = edges if shares is None else np.min(x) * (1.0 - shares) + np.max(x) * shares
    whole = np.bincount(places, weights=values[kept], minlength=len(count))
    if statistic == "count":
        found = count + 0.0 * whole
    elif statistic == "sum":
        found = whole
    elif statistic == "mean":
        found = whole / count
    else:
        apart = values[kept] - (whole / count)[places]
        found = root(np.bincount(places, weights=apart * apart, minlength=len(count)) / count)
    return found, ends, numbers


# --- distances of distributions --------------------------------------------------------------------------------------


def critical(n, dist):
    """What the statistic of Anderson and Darling is compared with (Stephens, 1974), and the probabilities of errors."""
    if dist == "norm":
        limits = np.array([0.561, 0.631, 0.752, 0.873, 1.035]) / (1.0 + 0.75 / n + 2.25 / n / n)
    elif dist == "expon":
        limits = np.array([0.916, 1.062, 1.321, 1.591, 1.959]) / (1.0 + 0.6 / n)
    else:
        raise Refusal(None, "`anderson` has a derivative rule for the normal and the exponential distribution")
    return np.round(limits, 3), np.array([15.0, 10.0, 5.0, 2.5, 1.0])


def of_one_side(alternative):
    """The side of a test: 0 for both."""
    return {"t": 0, "g": 1, "l": -1}[alternative.lower()[0]]


flat(critical, of_one_side)


@restates(stats.anderson, counts=True)
def anderson(x, dist="norm", method=None):
    s, n = np.sort(x), np.size(x)
    limits, levels = critical(n, dist)
    if dist == "norm":
        z = (s - np.mean(s)) / np.std(s, ddof=1)
        low, high = special.log_ndtr(z), special.log_ndtr(-z)
    else:
        z = s / np.mean(s)
        low, high = np.log(-np.expm1(-z)), -z
    found = -n - np.sum((2.0 * np.arange(1, n + 1) - 1.0) / n * (low + high[::-1]))
    return (found, limits, levels) if method is None else (found, np.interp(found, limits, levels / 100.0))


@restates(stats.ks_1samp, constant=("cdf",))
def ks_1samp(x, cdf, args=(), alternative="two-sided", method="auto"):
    s, n = np.sort(x), np.size(x)
    side, p = of_one_side(alternative), cdf(s, *args)
    above, below = np.max(np.arange(1.0, n + 1.0) / n - p), np.max(p - np.arange(0.0, n) / n)
    if side:
        found = above if side > 0 else below
        return found, stats.ksone.sf(found, n)
    found = above if above > below else below
    if method == "asymp":
        return found, special.kolmogorov(found * math.sqrt(n))
    return found, stats.kstwo.sf(found, n) if method in ("auto", "exact") else 2.0 * stats.ksone.sf(found, n)


flat(stats.tiecorrect, *existing(stats, "spearmanrho"))
