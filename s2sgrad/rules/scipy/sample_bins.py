"""Bins, credible intervals and distances of samples in scipy.stats, stated again.

    h = cumfreq(x, n)                     ->     h.binsize = (max(x) - min(x)) / (n - 1), the counts are steps
    s = binned_statistic_2d(x, y, v)      ->     s.statistic[b] = mean(v in b)
    m, v, s = bayes_mvs(x)                ->     v.statistic = k * var(x): k is that of so many numbers (Oliphant, 2006)
    d = wasserstein_distance_nd(u, v)     ->     d = sum(plan[i, j] * norm(u[i] - v[j]))

The plan of the least distance, and what lies in which bin, do not change between ties and edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, stats

from s2sgrad.rules.restated import restates
from s2sgrad.rules.scipy.sample_texts import ks_1samp, root
from s2sgrad.rules.table import existing, flat
from s2sgrad.runtime import Refusal

# --- frequencies -----------------------------------------------------------------------------------------------------


def places_in(x, numbins, limits):
    """Which numbers lie in bins, in which, and how many do not."""
    edges = np.linspace(limits[0], limits[1], numbins + 1)
    within = (x >= limits[0]) & (x <= limits[1])
    places = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, numbins - 1)
    return np.flatnonzero(within), places[within], int(np.sum(~within))


flat(places_in)


def frequencies(a, numbins, limits, weights):
    x = np.ravel(a)
    if limits is None:
        least, most = np.min(x), np.max(x)
        step = (most - least) / (2.0 * (numbins - 1.0))
        low, high = least - step, most + step
    else:
        low, high = limits
    kept, places, outside = places_in(x, numbins, (low, high))
    w = np.ones_like(x) if weights is None else np.ravel(weights)
    return np.bincount(places, weights=w[kept], minlength=numbins), low, (high - low) / numbins, outside


@restates(stats.cumfreq, moving=("weights",), counts=True)
def cumfreq(a, numbins=10, defaultreallimits=None, weights=None):
    found, low, step, outside = frequencies(a, numbins, defaultreallimits, weights)
    return np.cumsum(found), low, step, outside


@restates(stats.relfreq, moving=("weights",), counts=True)
def relfreq(a, numbins=10, defaultreallimits=None, weights=None):
    found, low, step, outside = frequencies(a, numbins, defaultreallimits, weights)
    return found / len(a), low, step, outside


# --- levels, and intervals of them -----------------------------------------------------------------------------------


def within(a, limit):
    """Which numbers are between two limits."""
    return np.nonzero((limit[0] <= a) & (a <= limit[1]))


def units(n, alpha):
    """The centers and ends of credible intervals of the mean, the variance and the deviation, where these are 0, 1 and 1."""
    shape = np.arange(n) - 0.5 * (n - 1.0)
    return [(center, ends[0], ends[1]) for center, ends in stats.bayes_mvs(shape / np.std(shape), alpha)]


def levels(per: Any) -> Any:
    return np.asarray(per)


flat(within, units, levels)


@restates(stats.scoreatpercentile, constant=("per",))
def scoreatpercentile(a, per, limit=(), interpolation_method="fraction", axis=None):
    method: Any = "linear" if interpolation_method == "fraction" else interpolation_method
    return np.percentile(a[within(a, limit)] if limit else a, levels(per), axis=axis, method=method)


@restates(stats.bayes_mvs)
def bayes_mvs(data, alpha=0.9):
    x = np.ravel(data)
    mean, variance, scale = np.mean(x), np.var(x), np.std(x)
    (a, b, c), (p, q, r), (k, m, n) = units(np.size(x), alpha)
    center = (mean + a * scale, (mean + b * scale, mean + c * scale))
    return center, (p * variance, (q * variance, r * variance)), (k * scale, (m * scale, n * scale))


# --- bins of several variables ---------------------------------------------------------------------------------------


def bins_of(points, bins, range, statistic):
    """Which points lie in bins, in which, how many each has; the number of each point; the edges, fixed ones."""
    if statistic not in ("mean", "sum", "count", "std"):
        raise Refusal(None, "a binned statistic has a derivative rule for the mean, the sum, the count and the deviation")
    one = np.zeros(np.shape(points)[1])
    found = stats.binned_statistic_dd(points.T, one, "count", bins, range, expand_binnumbers=True)
    sizes = np.shape(found.statistic)
    places = np.array([number - 1 for number in found.binnumber])
    kept = np.flatnonzero(np.all((places >= 0) & (places < np.array(sizes)[:, None]), axis=0))
    where = np.ravel_multi_index(tuple(places[:, kept]), sizes)
    numbers = np.ravel_multi_index(tuple(found.binnumber), np.array(sizes) + 2)
    return kept, where, found.statistic, numbers


flat(bins_of)


def in_bins(points, values, statistic, bins, range):
    """The statistic of the values in each bin, and in which bin each is."""
    kept, places, count, numbers = bins_of(points, bins, range, statistic)
    whole = np.reshape(np.bincount(places, weights=values[kept], minlength=np.size(count)), np.shape(count))
    if statistic in ("count", "sum"):
        return (whole if statistic == "sum" else count + 0.0 * whole), numbers
    mean = whole / count
    apart = values[kept] - np.ravel(mean)[places]
    square = np.reshape(np.bincount(places, weights=apart * apart, minlength=np.size(count)), np.shape(count))
    return (mean if statistic == "mean" else root(square / count)), numbers


def fixed_edges(points, bins, range):
    """The edges, which stand still as the points do."""
    return stats.binned_statistic_dd(points.T, np.zeros(np.shape(points)[1]), "count", bins, range).bin_edges


flat(fixed_edges)


@restates(stats.binned_statistic_2d, constant=("x", "y"), counts=True)
def binned_statistic_2d(x, y, values, statistic="mean", bins=10, range=None):
    points = np.array([x, y])
    found, numbers = in_bins(points, values, statistic, bins, range)
    edges = fixed_edges(points, bins, range)
    return found, edges[0], edges[1], numbers


@restates(stats.binned_statistic_dd, constant=("sample",), counts=True)
def binned_statistic_dd(sample, values, statistic="mean", bins=10, range=None):
    found, numbers = in_bins(sample.T, values, statistic, bins, range)
    return found, fixed_edges(sample.T, bins, range), numbers


# --- distances -------------------------------------------------------------------------------------------------------


def planned(u, v, u_weights, v_weights):
    """The pairs of points between which something is moved, and how much (Kantorovich, 1942)."""
    m, n = len(u), len(v)
    here = np.full(m, 1.0 / m) if u_weights is None else np.divide(u_weights, np.sum(u_weights))
    there = np.full(n, 1.0 / n) if v_weights is None else np.divide(v_weights, np.sum(v_weights))
    cost = np.sqrt(np.sum((u[:, None] - v[None]) ** 2, axis=-1))
    sums = np.concatenate((np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))))
    plan = np.reshape(optimize.linprog(np.ravel(cost), A_eq=sums, b_eq=np.concatenate((here, there))).x, (m, n))
    i, j = np.nonzero((plan > 1e-12) & (cost > 0.0))
    return i, j, plan[i, j]


def law_of(cdf):
    """The probability by its name."""
    return getattr(stats, cdf).cdf if isinstance(cdf, str) else cdf


def compared(x, y, alternative, method):
    """What comparing two samples gives, which are steps."""
    found = stats.ks_2samp(x, y, alternative, method)
    return found.statistic, found.pvalue


flat(planned, law_of, compared)


@restates(*existing(stats, "wasserstein_distance_nd"))
def wasserstein_distance_nd(u_values, v_values, u_weights=None, v_weights=None):
    if np.ndim(u_values) == 1:
        return stats.wasserstein_distance(u_values, v_values, u_weights, v_weights)
    i, j, moved = planned(u_values, v_values, u_weights, v_weights)
    return np.sum(moved * np.linalg.norm(u_values[i] - v_values[j], axis=-1))


@restates(stats.ks_2samp)
def ks_2samp(data1, data2, alternative="two-sided", method="auto"):
    found, p = compared(data1, data2, alternative, method)
    still = 0.0 * (data1[0] + data2[0])
    return found + still, p + still


@restates(stats.kstest, constant=("cdf",))
def kstest(rvs, cdf, args=(), N=20, alternative="two-sided", method="auto"):
    if isinstance(cdf, np.ndarray):
        return ks_2samp(rvs, cdf, alternative, method)
    return ks_1samp(rvs, law_of(cdf), args, alternative, method)
