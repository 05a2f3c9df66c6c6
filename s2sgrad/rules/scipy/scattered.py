"""Rules of scipy.interpolate for data at scattered places, and for splines that are tuples.

    y = RBFInterpolator(places, d)(x)    ->    d_bar = gathered_at(y_bar, s, x)
    tck = splrep(x, y)                   ->    y_bar = weights_of_knots(x, tck).T @ tck_bar[1]

All are linear in the data: the same interpolator of the columns of the identity gives the weight of each datum.  The places
of the data, and those where interpolators of scattered data are asked, are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal
from s2sgrad.runtime.copies import copied

# --- scattered data --------------------------------------------------------------------------------------------------


class Scattered:
    """An interpolator of data at places, and one of the columns of the identity."""

    __slots__ = ("cls", "options", "own", "places", "values", "weighing")

    def __init__(self, cls: Any, places: Any, values: Any, options: dict[str, Any]) -> None:
        self.cls, self.places, self.options = cls, np.array(places), copied(options)  # they may be written later
        self.values = np.array(values)
        self.own = cls(self.places, self.values, **options)
        inside = {"fill_value": 0.0} if cls in _WITH_FILL else {}
        if cls is interpolate.CloughTocher2DInterpolator:  # whose slopes are found by iteration
            inside |= {"tol": 1e-10, "maxiter": 4000}
        self.weighing = cls(self.places, np.eye(len(values)), **options | inside)

    def of(self, values: Any) -> Scattered:
        """The same of this data, which is mostly its own."""
        same = np.array_equal(values, self.values)
        return self if same else Scattered(self.cls, self.places, values, self.options)


_NAMES = {
    interpolate.RBFInterpolator: ("neighbors", "smoothing", "kernel", "epsilon", "degree"),
    interpolate.LinearNDInterpolator: ("fill_value", "rescale"),
    interpolate.NearestNDInterpolator: ("rescale", "tree_options"),
    interpolate.CloughTocher2DInterpolator: ("fill_value", "tol", "maxiter", "rescale"),
}
_WITH_FILL = (interpolate.LinearNDInterpolator, interpolate.CloughTocher2DInterpolator)


def made_at(cls, values, places, *rest, **options):
    """An interpolator that tells the weights of its data."""
    if np.ndim(values) == 0:
        raise Refusal(None, f"{cls.__name__} has a derivative rule in an array of data")
    return Scattered(cls, places, values, dict(zip(_NAMES[cls], rest, strict=False)) | options)


def points_of(x, *rest):
    """Points as SciPy takes them: rows of coordinates, or an array for each of these."""
    return x if not rest or rest[0] is None else tuple([part for part in (x, *rest) if part is not None])


def weights_at(s, x, y=None, z=None):
    """The derivative of each value in each datum."""
    return s.weighing(points_of(x, y, z))


flat(made_at, weights_at, points_of)


def gathered_at(g, s, x, y=None, z=None):
    """The cotangent of the data."""
    weight = weights_at(s, x, y, z)
    axes = tuple(range(np.ndim(weight) - 1))
    return np.tensordot(weight, g, (axes, axes))


def at_points(s, values, x, y=None, z=None):
    """The interpolator at these points."""
    return s.of(values).own(points_of(x, y, z))


@general(at_points)
def _at_points(g, result, s, values, x, y=None, z=None):
    return None, gathered_at(g, s, x, y, z), None


@_at_points.forward()
def _(result, s, values, x, s_dot, values_dot, x_dot, y=None, z=None):
    return None, np.tensordot(weights_at(s, x, y, z), values_dot, 1), None


for _class in _NAMES:
    instances.write(_class, instances.Maker(made_at, at_points))


def weights_of_grid(points, xi, method, values, rescale):
    """The derivative of each value of `griddata` in each datum."""
    known = np.ndim(points) == 1 or np.shape(points)[-1] == 1 or method != "cubic"
    if not known or isinstance(points, tuple):
        raise Refusal(None, "`griddata` has a derivative rule in data at an array of points, not with method='cubic' in a "
                            "plane: use RBFInterpolator")  # fmt: skip
    if np.size(points) == len(values) > np.size(np.unique(points)):
        raise Refusal(None, "`griddata` on a line has a derivative rule where its places are different numbers")
    return interpolate.griddata(points, np.eye(len(values)), xi, method, 0.0, rescale)


flat(weights_of_grid)


def gathered_grid(g, weight):
    axes = tuple(range(np.ndim(weight) - 1))
    return np.tensordot(weight, g, (axes, axes))


@general(interpolate.griddata)
def griddata(g, y, points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    return None, gathered_grid(g, weights_of_grid(points, xi, method, values, rescale)), None


@griddata.forward()
def _(y, points, values, xi, points_dot, values_dot, xi_dot, method="linear", fill_value=np.nan, rescale=False):
    return None, np.tensordot(weights_of_grid(points, xi, method, values, rescale), values_dot, 1), None


for _rule, _names in ((_at_points, ("x",)), (griddata, ("points", "xi"))):
    for _name in _names:
        _rule.constant(_name, "an interpolator of scattered data has a derivative in the data alone: pass constant places")

# --- splines that are tuples ------------------------------------------------------------------------------------------


def weights_of_knots(x, tck, w, xb, xe, task, s, t, full_output, per):
    """The derivative of each coefficient of a spline through its data in each datum; Refusal for another spline."""
    given = any(a is not None for a in (w, xb, xe, t))
    if given or task != 0 or s not in (None, 0) or full_output or per:
        raise Refusal(None, "`splrep` has a derivative rule where its spline goes through the data: with x, y and k alone")
    columns = [interpolate.splrep(x, e, k=tck[2], s=0)[1] for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


flat(weights_of_knots)


@general(interpolate.splrep)
def splrep(g, tck, x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    return None, weights_of_knots(x, tck, w, xb, xe, task, s, t, full_output, per).T @ g[1]


@splrep.forward()
def _(tck, x, y, x_dot, y_dot, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    weight = weights_of_knots(x, tck, w, xb, xe, task, s, t, full_output, per)
    return None, (np.zeros_like(tck[0]), weight @ y_dot, 0.0)


splrep.constant("x", "a spline has no derivative in the places of its data: pass constants")
