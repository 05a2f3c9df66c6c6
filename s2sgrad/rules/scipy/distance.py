"""Rules of scipy.spatial.distance: distances of two vectors, of all pairs of rows (cdist, pdist), squareform.

    d = distance.euclidean(u, v)      ->     u_bar = d_bar * over(u - v, d); v_bar = -u_bar
    y = distance.cdist(a, b)          ->     a_bar = np.einsum("ij,ijk->ik", y_bar, over(a[:, None] - b, y[..., None]))

`slope` is the derivative of a distance in its first vector. Distances are symmetric: in the second it is `slope` with the
vectors exchanged.  At distance 0 it is 0, as that of the norm.  Ties of the Chebyshev distance share evenly.  Where both
vectors have a 0, canberra and jensenshannon are flat.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from s2sgrad.rules.helpers import power_or_zero
from s2sgrad.rules.reductions import is_several
from s2sgrad.rules.scipy.linalg import of_rank
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import Refusal, over, unbroadcast, unreduce

# --- slopes, along the last axis -------------------------------------------------------------------------------------


def weighed(m, w):
    return m if w is None else w * m


def size(x, w):
    """The lengths of vectors, with an axis of one."""
    return np.sqrt(np.sum(weighed(x * x, w), axis=-1, keepdims=True))


def centred(x, w):
    """Vectors less their weighted means."""
    return x - np.sum(weighed(x, w), axis=-1, keepdims=True) / np.sum(weighed(np.ones_like(x), w), axis=-1, keepdims=True)


def cosine_slope(x, y, z, w):
    """Of `1 - (x @ y) / (|x| |y|)`."""
    length, other = size(x, w), size(y, w)
    return weighed((1.0 - z) * over(over(x, length), length) - over(over(y, length), other), w)


def chebyshev_slope(d, z, w):
    """Of the largest difference, of those with a weight."""
    largest = np.logical_and(np.abs(d) == z, weighed(np.ones_like(d), w) > 0)
    count = np.sum(np.where(largest, np.ones_like(d), 0.0), axis=-1, keepdims=True)
    return np.where(largest, np.sign(d) / np.maximum(count, 1.0), 0.0)


def minkowski_slope(d, z, p, w):
    if np.isinf(p):
        return chebyshev_slope(d, z, w)
    return weighed(np.sign(d) * (power_or_zero(over(np.abs(d), z), p - 1.0) if p != 1 else np.abs(np.sign(d))), w)


def canberra_slope(x, y, w):
    sums = np.abs(x) + np.abs(y)
    return weighed(over(np.sign(x - y), sums) - over(over(np.abs(x - y) * np.sign(x), sums), sums), w)


def braycurtis_slope(x, y, z, w):
    whole = np.sum(weighed(np.abs(x + y), w), axis=-1, keepdims=True)
    return weighed(over(np.sign(x - y) - z * np.sign(x + y), whole), w)


def logarithm(base):
    of_rank(0, base)
    return 1.0 if base is None else float(np.log(base))


flat(logarithm)


def information_slope(x, y, z, base, axis):
    """Of the root of the mean divergence of `x` and `y` from what lies between them, each divided by its sum."""
    whole = np.sum(x, axis=axis, keepdims=True)
    p, q = x / whole, y / np.sum(y, axis=axis, keepdims=True)
    here, there = p > 0, p + q > 0
    ratio = np.log(np.where(here, 2.0 * p / np.where(there, p + q, 1.0), 1.0))
    ratio = np.where(there, np.where(here, ratio, -np.inf), 0.0)
    slope = over(ratio, 4.0 * logarithm(base) * z)
    return (slope - np.sum(np.where(here, slope * p, 0.0), axis=axis, keepdims=True)) / whole


COUNTS = ("hamming", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "matching", "sokalmichener",
          "kulczynski1")  # fmt: skip


def counts(metric):
    """Whether a distance counts what differs, so that it has no slope; an error for one that has no rule."""
    if not isinstance(metric, str):
        raise Refusal(None, "cdist and pdist of a function have no derivative rule: name the metric")
    return metric.lower() in COUNTS


def need(value, name, metric):
    """Raise where a metric computes this of all vectors."""
    if value is None:
        raise Refusal(None, f"the metric {metric!r} has no derivative rule without `{name}`: pass it")
    return True


def of_one_shape(p, q):
    """Raise for arrays of two shapes, of which SciPy spreads one."""
    if np.shape(p) != np.shape(q):
        raise Refusal(None, "a distance of arrays of two shapes has no derivative rule: broadcast them first")
    return True


def unknown(metric):
    raise Refusal(None, f"the metric {metric!r} has no derivative rule: name it in full")


flat(counts, need, of_one_shape, unknown)


def slope(x, y, z, metric, p, w, V, VI):
    """The derivative of the distances `z` of `x` and `y` in `x`, whose last axis has the places of a vector."""
    if metric == "euclidean":
        return weighed(over(x - y, z), w)
    if metric == "sqeuclidean":
        return weighed(2.0 * (x - y), w)
    if metric == "cityblock":
        return weighed(np.sign(x - y), w)
    if metric == "chebyshev":
        return chebyshev_slope(x - y, z, w)
    if metric == "minkowski":
        return minkowski_slope(x - y, z, p, w)
    if metric == "cosine":
        return cosine_slope(x, y, z, w)
    if metric == "correlation":
        return cosine_slope(centred(x, w), centred(y, w), z, w)
    if metric == "canberra":
        return canberra_slope(x, y, w)
    if metric == "braycurtis":
        return braycurtis_slope(x, y, z, w)
    if metric == "jensenshannon":
        return information_slope(x, y, z, None, -1)
    if metric == "seuclidean" and need(V, "V", metric):
        return over((x - y) / V, z)
    if metric == "mahalanobis" and need(VI, "VI", metric) and of_one_shape(VI[0], x[0, 0]):
        return over(0.5 * ((x - y) @ (VI + np.transpose(VI))), z)
    return np.zeros_like(x * y) if counts(metric) else unknown(metric)


# --- two vectors -----------------------------------------------------------------------------------------------------


def both(g, u, v, y, metric, p, w, V, VI):
    """The cotangents of two vectors."""
    u, v = np.asarray(u), np.asarray(v)
    u_bar, v_bar = g * slope(u, v, y, metric, p, w, V, VI), g * slope(v, u, y, metric, p, w, V, VI)
    return unbroadcast(u_bar, u), unbroadcast(v_bar, v)


@general(distance.euclidean)
def euclidean(g, y, u, v, w=None):
    return both(g, u, v, y, "euclidean", None, w, None, None)


def unweighed(u, v, w):
    return u.rank == 1 and v.rank == 1 and w.known and w.value is None


@euclidean.refined(unweighed)
def _(g, y, u, v, w=None):
    u_bar = g * over(u - v, y)
    return u_bar, -u_bar


@general(distance.sqeuclidean)
def sqeuclidean(g, y, u, v, w=None):
    return both(g, u, v, y, "sqeuclidean", None, w, None, None)


@sqeuclidean.refined(unweighed)
def _(g, y, u, v, w=None):
    u_bar = 2.0 * g * (u - v)
    return u_bar, -u_bar


@general(distance.cityblock)
def cityblock(g, y, u, v, w=None):
    return both(g, u, v, y, "cityblock", None, w, None, None)


@general(distance.chebyshev)
def chebyshev(g, y, u, v, w=None):
    return both(g, u, v, y, "chebyshev", None, w, None, None)


@general(distance.minkowski)
def minkowski(g, y, u, v, p=2, w=None):
    return both(g, u, v, y, "minkowski", p, w, None, None)


@general(distance.cosine)
def cosine(g, y, u, v, w=None):
    return both(g, u, v, y, "cosine", None, w, None, None)


@general(distance.correlation)
def correlation(g, y, u, v, w=None, centered=True):
    return both(g, u, v, y, "correlation" if centered else "cosine", None, w, None, None)


@general(distance.canberra)
def canberra(g, y, u, v, w=None):
    return both(g, u, v, y, "canberra", None, w, None, None)


@general(distance.braycurtis)
def braycurtis(g, y, u, v, w=None):
    return both(g, u, v, y, "braycurtis", None, w, None, None)


@general(distance.seuclidean)
def seuclidean(g, y, u, v, V):
    d = np.subtract(u, v)
    u_bar = g * over(d / V, y)
    return unbroadcast(u_bar, u), unbroadcast(-u_bar, v), unbroadcast(-0.5 * g * over((d / V) ** 2, y), V)


@general(distance.mahalanobis)
def mahalanobis(g, y, u, v, VI):
    of_rank(2, VI)
    d = np.subtract(u, v)
    u_bar = 0.5 * g * over(d @ (VI + np.transpose(VI)), y)
    return unbroadcast(u_bar, u), unbroadcast(-u_bar, v), 0.5 * g * over(np.outer(d, d), y)


@general(distance.jensenshannon)
def jensenshannon(g, y, p, q, base=None, *, axis=0, keepdims=False):
    of_one_shape(p, q)
    p, q, z = np.asarray(p), np.asarray(q), unreduce(y, p, axis, keepdims)
    g = unreduce(g, p, axis, keepdims)
    return g * information_slope(p, q, z, base, axis), g * information_slope(q, p, z, base, axis)


jensenshannon.refuse(
    lambda base: is_several(base),
    "`jensenshannon` with several bases has no derivative rule: call it for each",
)
flat(distance.is_valid_dm, distance.is_valid_y, distance.num_obs_dm, distance.num_obs_y)

# --- counts of what differs, which have slopes in the weights alone -----------------------------------------------------


@general(distance.hamming)
def hamming(g, y, u, v, w=None):
    return None, None


@hamming.keyword("w")
def hamming_w(g, y, u, v, w=None):
    return g * (np.not_equal(u, v) - y) / np.sum(w)


@hamming_w.forward()
def _(y, u, v, w_dot, w=None):
    return np.sum(w_dot * (np.not_equal(u, v) - y)) / np.sum(w)


@general(distance.jaccard)
def jaccard(g, y, u, v, w=None):
    return None, None


# newer versions of SciPy compare which elements are 0, older versions the elements themselves
_DIFFER = np.logical_xor if distance.jaccard([1.0], [2.0]) == 0.0 else np.not_equal


def uncommon(u, v, y):
    """What each place adds to the distance, and takes off it: 0 where both are 0."""
    return np.logical_or(u, v) * (_DIFFER(u, v) - y)


@jaccard.keyword("w")
def jaccard_w(g, y, u, v, w=None):
    return over(g * uncommon(u, v, y), np.sum(w * np.logical_or(u, v)))


@jaccard_w.forward()
def _(y, u, v, w_dot, w=None):
    return over(np.sum(w_dot * uncommon(u, v, y)), np.sum(w * np.logical_or(u, v)))


# --- all pairs of rows -----------------------------------------------------------------------------------------------


@general(distance.cdist)
def cdist(g, y, XA, XB, metric="euclidean", *, p=2, w=None, V=None, VI=None):
    a, b, z, g = np.expand_dims(XA, 1), np.expand_dims(XB, 0), np.expand_dims(y, -1), np.expand_dims(g, -1)
    a_bar = np.sum(g * slope(a, b, z, metric, p, w, V, VI), axis=1)
    return a_bar, np.sum(g * slope(b, a, z, metric, p, w, V, VI), axis=0)


def plainly(metric, w):
    return metric.known and metric.value == "euclidean" and w.known and w.value is None


@cdist.refined(plainly)
def _(g, y, XA, XB, metric="euclidean", *, p=2, w=None, V=None, VI=None):
    d = over(np.expand_dims(XA, 1) - XB, np.expand_dims(y, -1))
    return np.einsum("ij,ijk->ik", g, d), -np.einsum("ij,ijk->jk", g, d)


def to_others(y):
    """The distances as a matrix, and 1 from each point to itself, which has no share in the result."""
    whole = distance.squareform(y)
    return whole + np.eye(np.shape(whole)[0])


@general(distance.pdist)
def pdist(g, y, X, metric="euclidean", *, p=2, w=None, V=None, VI=None):
    a, b, z = np.expand_dims(X, 1), np.expand_dims(X, 0), np.expand_dims(to_others(y), -1)
    return np.sum(np.expand_dims(distance.squareform(g), -1) * slope(a, b, z, metric, p, w, V, VI), axis=1)


@pdist.refined(plainly)
def _(g, y, X, metric="euclidean", *, p=2, w=None, V=None, VI=None):
    d = over(np.expand_dims(X, 1) - X, np.expand_dims(to_others(y), -1))
    return np.einsum("ij,ijk->ik", distance.squareform(g), d)


def upper(n):
    """The places above the diagonal, row by row."""
    return np.triu_indices(n, 1)


flat(upper)


def of_vector(X):
    """Whether the distances are given as a vector, and not as a matrix."""
    if np.ndim(X) not in (1, 2):
        raise Refusal(None, "squareform takes a vector or a matrix")
    return np.ndim(X) == 1


flat(of_vector)


@linear(distance.squareform)
def squareform(g, y, X, force="no", checks=True):
    if of_vector(X):
        return (g + np.transpose(g))[upper(np.shape(g)[0])]
    return np.triu(distance.squareform(g))
