"""Rules of scipy.spatial.transform: rotations that a function makes, their matrices, and vectors that they turn.

    w = Rotation.from_rotvec(r).apply(v)     ->     r_bar and v_bar, those of w = v @ rotvec_matrix(r).T

With the matrix K of the cross product by a vector of length 1, a turn by an angle a is 1 + sin(a) * K + (1 - cos(a)) * K @ K
(Rodrigues).  In the vector r = a * k it has no singular point: small angles take the first terms of the series.
"""

from __future__ import annotations

import types

import numpy as np
from scipy.spatial.transform import Rotation

from s2sgrad.rules import instances
from s2sgrad.rules.restated import restates
from s2sgrad.rules.table import general, linear
from s2sgrad.runtime import unbroadcast

_CROSS = np.array(
    [[[0.0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)

# --- matrices --------------------------------------------------------------------------------------------------------


def of_rotvec(rotvec, degrees=False):
    """`Rotation.from_rotvec(..).as_matrix()`."""
    return Rotation.from_rotvec(rotvec, degrees).as_matrix()


@restates(of_rotvec)
def rotvec_matrix(rotvec, degrees=False):
    r = np.asarray(rotvec) * (np.pi / 180.0 if degrees else 1.0)
    t = np.sum(r * r, axis=-1)[..., None, None]
    small = t < 1e-6
    angle = np.sqrt(np.where(small, 1.0, t))
    first = np.where(small, 1.0 - t / 6.0 + t * t / 120.0, np.sin(angle) / angle)
    second = np.where(small, 0.5 - t / 24.0 + t * t / 720.0, (1.0 - np.cos(angle)) / (angle * angle))
    K = np.tensordot(r, _CROSS, 1)
    return np.eye(3) + first * K + second * (K @ K)


def of_quat(quat):
    """`Rotation.from_quat(..).as_matrix()`."""
    return Rotation.from_quat(quat).as_matrix()


@restates(of_quat)
def quat_matrix(quat):
    q = np.asarray(quat)
    unit = q / np.sqrt(np.sum(q * q, axis=-1))[..., None]
    K = np.tensordot(unit[..., :3], _CROSS, 1)
    return np.eye(3) + 2.0 * (unit[..., 3][..., None, None] * K + K @ K)


def of_euler(seq, angles, degrees=False):
    """`Rotation.from_euler(..).as_matrix()`."""
    return Rotation.from_euler(seq, angles, degrees).as_matrix()


@restates(of_euler, constant=("seq",))
def euler_matrix(seq, angles, degrees=False):
    a = np.asarray(angles) * (np.pi / 180.0 if degrees else 1.0)
    if len(seq) == 1 and np.ndim(a) < 2:
        a = a[..., None]
    whole = np.eye(3)
    for k in range(len(seq)):
        K, angle = _CROSS["xyz".index(seq[k].lower())], a[..., k][..., None, None]
        turn = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
        whole = whole @ turn if seq.isupper() else turn @ whole  # about axes that turn along, or that stay
    return whole


# --- vectors ---------------------------------------------------------------------------------------------------------


def turned(vectors, matrix):
    """Vectors, turned by a matrix, or each by its own."""
    return np.sum(matrix * np.asarray(vectors)[..., None, :], axis=-1)


def by_rotvec(vectors, rotvec, degrees=False):
    """`Rotation.from_rotvec(..).apply(vectors)`."""
    return Rotation.from_rotvec(rotvec, degrees).apply(vectors)


@restates(by_rotvec)
def turned_by_rotvec(vectors, rotvec, degrees=False):
    return turned(vectors, rotvec_matrix(rotvec, degrees))


def by_quat(vectors, quat):
    """`Rotation.from_quat(..).apply(vectors)`."""
    return Rotation.from_quat(quat).apply(vectors)


@restates(by_quat)
def turned_by_quat(vectors, quat):
    return turned(vectors, quat_matrix(quat))


def by_euler(vectors, seq, angles, degrees=False):
    """`Rotation.from_euler(..).apply(vectors)`."""
    return Rotation.from_euler(seq, angles, degrees).apply(vectors)


@restates(by_euler, constant=("seq",))
def turned_by_euler(vectors, seq, angles, degrees=False):
    return turned(vectors, euler_matrix(seq, angles, degrees))


def forth(w, rotation, inverse):
    """Vectors that a constant rotation turns, also those that may only be read."""
    return rotation.apply(np.array(w), inverse)


def back(g, rotation, vectors, inverse):
    """The transpose of `forth`."""
    return unbroadcast(rotation.apply(np.array(g), not inverse), vectors)


@linear(forth)
def _(g, y, w, rotation, inverse):
    return back(g, rotation, w, inverse), None, None


@linear(back)
def _(w, y, g, rotation, vectors, inverse):
    return forth(w, rotation, inverse), None, None, None


@general(Rotation.apply)
def apply(g, y, self, vectors, inverse=False):
    return None, back(g, self, vectors, inverse)


@apply.forward()
def _(y, self, vectors, self_dot, vectors_dot, inverse=False):
    return None, forth(vectors_dot, self, inverse)


apply.constant("self", "a rotation is a constant here: call `apply` or `as_matrix` alone of what `from_rotvec` makes")

# --- what a function makes ---------------------------------------------------------------------------------------------

for _maker, _matrix, _turned in (
    (Rotation.from_rotvec, of_rotvec, by_rotvec),
    (Rotation.from_quat, of_quat, by_quat),
    (Rotation.from_euler, of_euler, by_euler),
):
    if isinstance(_maker, types.FunctionType):  # in older versions of SciPy a method in C
        _methods = {
            "apply": instances.Method(1, _turned),
            "as_matrix": instances.Method(0, _matrix),
        }
        instances.write_methods(_maker, _methods)
