"""Rules of scipy.spatial: procrustes.

    first, second, rest = spatial.procrustes(a, b)     ->     first = (a - m) / size,  second = s * (b - n) / other @ R.T

Both are centred and divided by their size; the second is turned and scaled to the first.  The cotangents go these ways back,
that of the rotation by `polar_bar` (`orthogonal.py`).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, spatial

from s2sgrad.rules.scipy.orthogonal import procrustes_bar
from s2sgrad.rules.table import general


def sized(x):
    """A set of points less its mean, divided by its size; and the size."""
    moved = x - np.mean(x, axis=0)
    size = np.sqrt(np.sum(moved * moved))
    return moved / size, size


def sized_bar(g, m, size):
    """The cotangent of the points, given that of the set of size 1."""
    bar = (g - m * np.sum(m * g)) / size
    return bar - np.mean(bar, axis=0)


@general(spatial.procrustes)
def procrustes(g, y, data1, data2):
    first, size = sized(data1)
    second, other = sized(data2)
    turn, scale = linalg.orthogonal_procrustes(first, second)
    away = 2.0 * g[2] * (y[0] - y[1])
    first_bar, turned_bar = g[0] + away, g[1] - away
    turn_bar = scale * (turned_bar.T @ second)
    from_turn = procrustes_bar((turn_bar, np.sum(turned_bar * (second @ turn.T))), turn, first, second)
    second_bar = scale * (turned_bar @ turn) + from_turn[1]
    return sized_bar(first_bar + from_turn[0], first, size), sized_bar(second_bar, second, other)
