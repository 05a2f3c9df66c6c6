"""Distances in programs: at distance 0, of ties, with a metric that a function takes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import spatial
from scipy.spatial import cKDTree, distance
from scipy.spatial.transform import Rotation

from s2sgrad import NoRule, grad, hessian, jvp, stop_gradient
from s2sgrad.rules.table import lookup
from s2sgrad.runtime import Refusal
from s2sgrad.testing import check_grads

POINTS = np.random.default_rng(4).normal(size=(4, 2))
BOTH = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])


def energy(x):
    d = distance.cdist(x, x[:3], "sqeuclidean")
    return np.sum(np.exp(-d)) + np.sum(np.exp(-distance.squareform(distance.pdist(x))))


def matched(x):
    first, second, rest = spatial.procrustes(POINTS, x)
    return rest + np.sum(first[0] * second[1])


@pytest.mark.sampled(one_in=3)
def test_programs():
    check_grads(energy, (POINTS,), order=2, rtol=1e-4, atol=1e-5)
    check_grads(matched, (POINTS[::-1].copy() ** 2,), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "minkowski", "canberra"])
def test_at_distance_0_the_slope_is_0(metric):
    f = lambda x: np.sum(distance.pdist(x, metric)[:1]) + np.sum(distance.cdist(x[:1], x[1:2], metric))  # noqa: E731
    assert np.all(grad(f)(BOTH) == 0.0) and jvp(f, (BOTH,), (np.ones((3, 2)),))[1] == 0.0
    assert np.all(grad(lambda u: distance.euclidean(u, np.zeros(2)))(np.zeros(2)) == 0.0)


def test_squares_at_distance_0():
    assert np.allclose(hessian(lambda u: distance.sqeuclidean(u, np.ones(2)))(np.ones(2)), 2.0 * np.eye(2))


def test_ties_of_the_largest_difference_share():
    assert grad(lambda u: distance.chebyshev(u, np.zeros(2)))(np.ones(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("f", "named"),
    [
        (lambda x: Rotation.from_rotvec(x[0]).apply(np.ones(3))[0], "Rotation"),
        (lambda x: cKDTree(x).query(POINTS)[0][0], "cKDTree"),
        (lambda x: spatial.Delaunay(x).transform[0, 0, 0], "Delaunay"),
        (lambda x: spatial.ConvexHull(x).area, "ConvexHull"),
    ],
)
def test_refused(f, named):
    with pytest.raises(NoRule, match=named):
        grad(f)(POINTS)


@pytest.mark.parametrize("keywords", [{"metric": "seuclidean"}, {"metric": "mahalanobis"}, {"metric": distance.euclidean}])
def test_refused_when_it_runs(keywords):
    y = distance.cdist(POINTS, POINTS[:3], **keywords)
    with pytest.raises(Refusal):
        lookup(distance.cdist).pullback(y, y, POINTS, POINTS[:3], **keywords)


def to_neighbours(x):
    _, near = spatial.KDTree(stop_gradient(x)).query(stop_gradient(x), k=3)
    return np.sum(np.linalg.norm(x[near[:, 1:]] - x[:, None], axis=-1))


def test_distances_to_the_nearest_neighbours():
    check_grads(to_neighbours, (POINTS,), order=2, rtol=1e-4, atol=1e-5)
    with pytest.raises(NoRule) as found:
        grad(lambda x: np.sum(cKDTree(x).query(x, k=2)[0]))(POINTS)
    assert "stop_gradient" in "\n".join(found.value.__notes__)
