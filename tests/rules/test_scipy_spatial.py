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
        (lambda x: (Rotation.from_rotvec(x[0]) * Rotation.from_rotvec(x[1])).apply(np.ones(3))[0], "Rotation"),
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


VECTORS, TURN = np.random.default_rng(5).normal(size=(4, 3)), np.array([0.3, -0.2, 0.5])
KNOWN = Rotation.from_rotvec(np.random.default_rng(6).normal(size=(4, 3)))


def turned(r):
    R = Rotation.from_rotvec(r)
    return np.sum(R.apply(VECTORS) ** 3) + np.sum(R.as_matrix() ** 2 * np.arange(9.0).reshape(3, 3))


def step_by_step(r):
    x = np.ones(3)
    for k in range(3):
        R = Rotation.from_euler("ZYX", r * 20.0 * k, degrees=True)
        x = R.apply(x) + r
    return x @ x


def by_quaternions(r):
    q = np.append(r, 0.7)
    R = Rotation.from_quat(q)
    q[0] = 5.0  # of which the rotation has a copy
    return np.sum(R.apply(VECTORS)[:, 0] ** 2)


def by_a_constant(r):
    return np.sum(KNOWN.apply(r) ** 3) + np.sum(KNOWN.apply(VECTORS * r, inverse=True)[:, 1] ** 2)


@pytest.mark.records
def test_quaternions_that_are_written_behind_the_rotation():
    check_grads(by_quaternions, (TURN,), order=2, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", [turned, step_by_step], ids=lambda f: f.__name__)
def test_rotations(f):
    check_grads(f, (TURN,), order=2, rtol=1e-4, atol=1e-5)


def test_a_turn_by_no_angle_is_no_singular_point():
    check_grads(turned, (np.zeros(3),), order=2, rtol=1e-4, atol=1e-5)


def test_a_constant_rotation():
    check_grads(by_a_constant, (TURN,), rtol=1e-4, atol=1e-5)
