"""scipy.spatial: distances."""

from __future__ import annotations

import numpy as np
from scipy import spatial
from scipy.spatial import distance
from scipy.spatial.transform import Rotation

from s2sgrad.rules.scipy import rotations

from .base import example
from .drawn import Drawn

draw = Drawn(3)
_weights = np.array([2, 1, 3])
for _f in (distance.euclidean, distance.sqeuclidean, distance.cityblock, distance.chebyshev, distance.cosine,
           distance.correlation, distance.canberra, distance.braycurtis):  # fmt: skip
    example(_f, draw.normal(3), draw.normal(3))
    example(_f, draw.normal(3), draw.normal(3), w=_weights)
for _f in (distance.hamming, distance.jaccard):
    example(_f, np.array([1, 0, 1, 0]), np.array([1, 1, 0, 0]), draw.between(0.5, 2.0, 4))
    example(_f, np.array([3, 0, 2, 0]), np.array([5, 1, 0, 0]), np.array([0.5, 1.5, 0.8, 1.1]))
example(distance.minkowski, draw.normal(3), draw.normal(3), 3)
example(distance.minkowski, draw.normal(3), draw.normal(3), p=1.5, w=_weights)
example(distance.minkowski, draw.normal(3), draw.normal(3), 1)
example(distance.minkowski, draw.normal(3), draw.normal(3), np.inf)
example(distance.correlation, draw.normal(3), draw.normal(3), centered=False)
example(distance.seuclidean, draw.normal(3), draw.normal(3), draw.between(0.5, 2.0, 3))
example(distance.mahalanobis, draw.normal(3), draw.normal(3), draw.positive_definite(3, 3))
example(distance.jensenshannon, draw.between(0.1, 1.0, 3), draw.between(0.1, 1.0, 3))
example(distance.jensenshannon, draw.between(0.1, 1.0, 2, 3), draw.between(0.1, 1.0, 2, 3), 2.0, axis=1, keepdims=True)
for _metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra",
                "braycurtis", "jensenshannon", "hamming"):  # fmt: skip
    _points = draw.between(0.1, 1.0, 5, 3)
    example(distance.cdist, _points[:2], _points[2:], _metric)
    example(distance.pdist, _points, _metric)
example(distance.cdist, draw.normal(2, 3), draw.normal(3, 3), "minkowski", p=3, w=np.array([2.0, 1.0, 3.0]))
example(distance.pdist, draw.normal(4, 3), "seuclidean", V=np.array([2.0, 1.0, 3.0]))
example(
    distance.cdist,
    draw.normal(2, 3),
    draw.normal(3, 3),
    metric="mahalanobis",
    VI=np.array([[2, 1, 0], [1, 3, 1], [0, 1, 1]]),
)
example(distance.squareform, draw.normal(6))
example(distance.squareform, draw.normal(3, 3), checks=False)
example(spatial.procrustes, draw.normal(5, 2), draw.normal(5, 2))
_points = np.array([[2.1, 0.3, 0.25], [0.3, 1.4, 0.4], [0.25, 0.4, 0.9]])
example(spatial.procrustes, _points, _points[::-1] @ _points)  # of as few points as axes, whose turn is not unique
_vectors = draw.normal(4, 3)
example(rotations.of_rotvec, draw.normal(3))
example(rotations.of_rotvec, draw.normal(4, 3) * 90.0, degrees=True)
example(rotations.of_quat, draw.normal(4))
example(rotations.of_euler, "xyz", draw.normal(3))
example(rotations.of_euler, "Z", draw.normal(4, 1))
example(rotations.by_rotvec, _vectors, draw.normal(3))
example(rotations.by_quat, _vectors, draw.normal(4, 4))
example(rotations.by_euler, draw.normal(3), "ZY", draw.normal(2))
_turn = Rotation.from_rotvec(draw.normal(3))
example(Rotation.apply, _turn, _vectors)
example(rotations.forth, _vectors, _turn, False)
example(rotations.back, draw.normal(4, 3), _turn, _vectors, False)
