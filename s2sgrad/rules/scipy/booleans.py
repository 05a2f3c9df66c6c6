"""Rules of scipy.spatial.distance for dissimilarities of truth values, whose formulas take any numbers.

    d = distance.dice(u, v)      ->      (ntf + nft) / (2 * ntt + ntf + nft)     with ntf = sum(u * (1 - v)) and so on
    d = distance.directed_hausdorff(u, v)[0]     ->      norm(u[i] - v[j]) of the pair that decides

(Choi, Cha and Tappert, "A Survey of Binary Similarity and Distance Measures", 2010.)
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import flat


def counts(u, v, w):
    """The weighted sums of what is false in both, in the first, in the second and in neither."""
    u, v = np.asarray(u), np.asarray(v)
    w = np.ones(np.shape(u)) if w is None else np.asarray(w)
    first, second = 1.0 - u, 1.0 - v
    return np.sum(w * first * second), np.sum(w * first * v), np.sum(w * u * second), np.sum(w * u * v)


@restates(distance.dice, moving=("w",))
def dice(u, v, w=None):
    _, nft, ntf, ntt = counts(u, v, w)
    return (ntf + nft) / (2.0 * ntt + ntf + nft)


@restates(distance.rogerstanimoto, moving=("w",))
def rogerstanimoto(u, v, w=None):
    nff, nft, ntf, ntt = counts(u, v, w)
    return 2.0 * (ntf + nft) / (ntt + nff + 2.0 * (ntf + nft))


@restates(distance.russellrao, moving=("w",))
def russellrao(u, v, w=None):
    n = np.size(u) if w is None else np.sum(w)
    return (n - counts(u, v, w)[3]) / n


@restates(distance.sokalsneath, moving=("w",))
def sokalsneath(u, v, w=None):
    _, nft, ntf, ntt = counts(u, v, w)
    return 2.0 * (ntf + nft) / (ntt + 2.0 * (ntf + nft))


@restates(distance.yule, moving=("w",))
def yule(u, v, w=None):
    nff, nft, ntf, ntt = counts(u, v, w)
    return 2.0 * ntf * nft / (ntt * nff + ntf * nft)


def pair_of(u, v):
    """The places of the pair that decides."""
    return distance.directed_hausdorff(u, v)[1:]


flat(pair_of)


@restates(distance.directed_hausdorff, counts=True)
def directed_hausdorff(u, v):
    i, j = pair_of(u, v)
    return np.sqrt(np.sum((np.take(u, i, axis=0) - np.take(v, j, axis=0)) ** 2)), i, j
