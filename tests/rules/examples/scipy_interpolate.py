"""scipy.interpolate."""

from __future__ import annotations

import numpy as np
from scipy import interpolate
from scipy.sparse.linalg import spsolve

from s2sgrad.rules.scipy import grids, many_axes, scattered, surfaces, univariate
from s2sgrad.rules.scipy import interpolate as rules
from s2sgrad.rules.scipy.interpolators import (
    at,
    gathered,
    integral,
    integral_along,
    integral_bar,
    made,
    made_of_slopes,
    made_pieces,
    roots,
    solve,
    spread,
)
from s2sgrad.runtime.copies import data_of

from .base import between, example, normal

_knots = np.array([0.0, 0.4, 1.0, 1.3, 2.1, 2.6])
_curve = interpolate.CubicSpline(_knots, normal(6))
_plane_curve = interpolate.CubicSpline(_knots, normal(6, 2))
_called = interpolate.PPoly.__call__
for _spline in (_curve, _plane_curve):
    example(_called, _spline, 0.7)
    example(_called, _spline, between(0.1, 2.5, 2, 3))
    example(_called, _spline, between(0.1, 2.5, 4), 1)
    example(_called, _spline, np.array([-0.3, 0.7, 2.9]), extrapolate=True)
example(_called, interpolate.PchipInterpolator(_knots, normal(6)), between(0.1, 2.5, 4))
example(interpolate.BSpline.__call__, interpolate.make_interp_spline(_knots, normal(6)), between(0.1, 2.5, 4))
example(interpolate.BSpline.__call__, interpolate.make_interp_spline(_knots, normal(6, 2)), between(0.1, 2.5, 4), nu=1)
example(rules.along, normal(2, 3), normal(2))
example(rules.counting, normal(4), normal(4))
example(rules.along, normal(2, 3), normal(2, 3))
example(rules.across, normal(2), normal(2, 3))

_whole = np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3])  # whole numbers carry no derivative
_smooth = interpolate.UnivariateSpline(_knots, normal(6), s=0)
for _x in (0.7, between(0.1, 2.5, 4)):
    example(interpolate.UnivariateSpline.__call__, _smooth, _x)
    example(interpolate.UnivariateSpline.__call__, _smooth, _x, 1, ext=0)
    example(interpolate.splev, _x, (_whole, normal(10), 3))
    example(interpolate.splev, _x, (_whole, normal(10), 3), der=1)

_grid = np.linspace(0.0, 2.6, 6)
_fitted = interpolate.RectBivariateSpline(_grid, _grid, normal(36).reshape(6, 6))  # bisplrep may warn of such heights
_surface = (*_fitted.tck, 3, 3)
example(interpolate.bisplev, 0.7, 1.4, _surface)
example(interpolate.bisplev, 0.7, np.sort(between(0.1, 2.5, 3)), _surface)
example(interpolate.bisplev, np.sort(between(0.1, 2.5, 2)), np.sort(between(0.1, 2.5, 3)), _surface)
example(interpolate.bisplev, np.sort(between(0.1, 2.5, 2)), np.sort(between(0.1, 2.5, 3)), _surface, 1)
for _f, _n in ((rules.by_row, 2), (rules.by_column, 3)):
    example(_f, normal(2, 3), normal(_n))
    example(_f, 0.7, 0.3)
example(rules.rows_like, normal(2), normal(2, 3))
example(rules.rows_like, 0.3, 0.7)
example(rules.columns_like, normal(3), normal(2, 3))
example(rules.columns_like, 0.3, 0.7)

# --- objects made of data --------------------------------------------------------------------------------------------

_data = normal(6)
for _x in (0.77, between(0.1, 2.5, 2, 2)):
    for _given in (_data, normal(6, 2)):
        for _made in (
            made(interpolate.CubicSpline, _given, _knots), made(interpolate.CubicSpline, _given, _knots, bc_type="natural"),
            made(interpolate.make_interp_spline, _given, _knots, 2),
            made(interpolate.BarycentricInterpolator, _given, _knots),
        ):  # fmt: skip
            example(at, _made, _given, _x)
            example(at, _made, _given, _x, 1)
    example(at, made(interpolate.KroghInterpolator, _data, _knots), _data, _x)
    for _kind in ("linear", "cubic"):
        example(at, made(interpolate.interp1d, _data, _knots, _kind), _data, _x)
    example(at, made(interpolate.PchipInterpolator, _data, _knots), _data, _x)
    example(at, made(interpolate.PchipInterpolator, np.sort(_data), _knots), np.sort(_data), _x)
_made = made(interpolate.CubicSpline, _data, _knots)
example(gathered, normal(2), _made, _data, between(0.1, 2.5, 2), 1, None)
example(spread, _made, normal(6), _data, between(0.1, 2.5, 2), 0, None)

_falling = np.array([1.3, 0.9, 0.35, -0.2, -1.1, -1.4])
_made = made(interpolate.CubicSpline, _falling, _knots, bc_type=((1, -0.4), "natural"))
example(data_of, normal(6), (_knots,))
for _nu in (-1, 0, 1):
    example(integral, _made, _falling, 0.2, 1.7, nu=_nu)
    example(integral_along, _made, normal(6), _falling, 0.2, 1.7, None, _nu)
example(integral, made(interpolate.make_interp_spline, normal(6, 2), _knots), normal(6, 2), 0.2, 1.7)
example(integral_bar, 0.7, _made, _falling, 0.2, 1.7, None, 0)
example(solve, _made, _falling, 0.5, extrapolate=False)
example(roots, _made, _falling, extrapolate=False)
_pair = normal(2, 6)
example(at, made_of_slopes(interpolate.CubicHermiteSpline, _pair, _knots), _pair, between(0.1, 2.5, 2))
example(at, made_pieces(interpolate.BPoly, normal(3, 5), _knots), normal(3, 5), between(0.1, 2.5, 2), 1)
for _data in (normal(6), np.array([0.0, 1.0, 1.0, 1.0, 1.0, 2.0])):  # a slope that is not told
    for _how in ("akima", "makima"):
        _given = _data if _data[0] else np.cumsum(np.abs(_data)) + normal(6)
        _made = made(interpolate.Akima1DInterpolator, _given, _knots, method=_how)
        example(at, _made, _given, between(0.1, 2.5, 2, 2))
_lsq = interpolate.make_lsq_spline
_made = made(_lsq, normal(6), _knots, np.array([0.0, 0.0, 0.0, 1.1, 2.6, 2.6, 2.6]), 2)
example(at, _made, _made.values, between(0.1, 2.5, 2))
_pieces = normal(3, 5)
for _x in (0.77, between(0.1, 2.5, 2, 2), np.array([-0.3, 2.9])):
    example(at, made_pieces(interpolate.PPoly, _pieces, _knots), _pieces, _x)
    example(at, made_pieces(interpolate.PPoly, _pieces, _knots), _pieces, _x, 1)

# --- scattered data, and splines that are tuples ----------------------------------------------------------------------

_points, _asked = between(0.0, 1.0, 7, 2), between(0.3, 0.7, 2, 2)
_corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.4, 0.6]])
for _class, _where in ((interpolate.RBFInterpolator, _points), (interpolate.LinearNDInterpolator, _corners),
                       (interpolate.NearestNDInterpolator, _points)):  # fmt: skip
    for _given in (normal(len(_where)), normal(len(_where), 2)):
        example(scattered.at_points, scattered.made_at(_class, _given, _where), _given, _asked)
        if _class is interpolate.LinearNDInterpolator:
            example(scattered.at_points, scattered.made_at(_class, _given, _where), _given, 0.3, np.array([0.4, 0.6]))
example(interpolate.griddata, _corners, normal(5), _asked)
example(interpolate.griddata, _corners, normal(5, 2), np.array([[0.3, 0.4], [2.0, 0.1]]), "linear", 0.3)
example(interpolate.griddata, _knots, normal(6), between(0.1, 2.5, 2), method="cubic")
example(interpolate.splrep, _knots, normal(6))
example(interpolate.splrep, _knots, normal(6), k=2)
_tck = _whole, normal(10), 3
for _x in (0.7, between(0.1, 2.5, 2, 2)):
    example(rules.of_coefficients, 0.7 * np.ones_like(_x), _x, _tck, 0, 0)
    example(rules.along_coefficients, (None, normal(10), None), _x, _tck, 1, 0)

# --- functions that make an interpolator, and grids ------------------------------------------------------------------------

for _f in (interpolate.pchip_interpolate, interpolate.krogh_interpolate):
    example(_f, _knots, normal(6), between(0.1, 2.5, 4))
    example(_f, _knots, normal(6), 0.7, der=1)
_points = between(0.1, 2.5, 4, 2)
for _method, _orders in (("linear", (0, 0)), ("linear", (1, 0)), ("cubic", (0, 0)), ("cubic", (1, 2)), ("quintic", (0, 1))):
    example(grids.taken, normal(6, 6), (_grid, _grid), _points, _method, None, _orders)
    example(grids.spread, normal(4), normal(6, 6), (_grid, _grid), _points, _method, None, _orders)
example(interpolate.interpn, (_grid, _grid), normal(6, 6), _points)
example(interpolate.interpn, (_grid, _grid), normal(6, 6, 2), _points, "linear", False, None)
example(interpolate.interpn, (_grid,), normal(6), between(0.1, 2.5, 4), method="nearest", bounds_error=False, fill_value=0.0)
example(interpolate.interpn, (_grid[::-1], _grid), normal(6, 6), _points)
example(grids.on_grid, _points, (_grid, _grid), normal(6, 6, 2))
example(grids.on_grid, _points, (_grid, _grid), normal(6, 6), "cubic", solver=spsolve)
example(grids.on_grid, _points[0], (_grid, _grid), normal(6, 6))
example(
    interpolate.RegularGridInterpolator.__call__, interpolate.RegularGridInterpolator((_grid, _grid), normal(6, 6)), _points
)
example(interpolate.RectBivariateSpline.ev, _fitted, between(0.1, 2.5, 4), 0.7)
example(interpolate.RectBivariateSpline.ev, _fitted, 0.7, between(0.1, 2.5, 4), 0, 0)
example(interpolate.RectBivariateSpline.__call__, _fitted, np.sort(between(0.1, 2.5, 3)), np.sort(between(0.1, 2.5, 4)))
example(interpolate.RectBivariateSpline.__call__, _fitted, between(0.1, 2.5, 3), 0.7, grid=False)

# --- splines of FITPACK, and surfaces, that a function makes -------------------------------------------------------------

_given = normal(6)
for _made in (
    univariate.fitted(interpolate.InterpolatedUnivariateSpline, _given, _knots, k=2),
    univariate.fitted(interpolate.UnivariateSpline, _given, _knots, s=0),
    univariate.fitted(interpolate.LSQUnivariateSpline, _given, _knots, [1.1], 1.0 + _knots),
):
    example(at, _made, _given, between(0.1, 2.5, 2))
_heights = normal(6, 5)
_made = surfaces.made_surface(interpolate.RectBivariateSpline, _heights, _grid, _grid[:5], kx=2)
_x, _y = np.sort(between(0.1, 2.0, 3)), np.sort(between(0.1, 2.0, 3))
example(surfaces.at_places, _made, _heights, _x, 0.7)
example(surfaces.at_places, _made, _heights, 9.0, _y, 0, 1)
example(surfaces.data_bar, normal(3), _made, _heights, _x, _y, 0, 0)
example(surfaces.on_grid, _made, _heights, _x, _y[:2])
example(surfaces.on_grid, _made, _heights, _x, _y, 1, grid=False)

# --- surfaces of given knots, and polynomials by pieces in several variables --------------------------------------------

_random = np.random.default_rng(44)  # of its own: the others draw what they drew
_east, _north = _random.uniform(0.0, 1.0, (2, 30))
_heights = _random.normal(size=30)
_made = surfaces.made_fit(interpolate.LSQBivariateSpline, _heights, _east, _north, [0.5], [0.4])
_x, _y = _random.uniform(0.2, 0.8, (2, 3))
example(surfaces.at_places, _made, _heights, _x, 0.7)
example(surfaces.data_bar, _random.normal(size=3), _made, _heights, _x, _y, 0, 0)
example(surfaces.on_grid, _made, _heights, np.sort(_x), np.sort(_y)[:2])
_angles, _turns = np.linspace(0.1, 3.0, 6), np.linspace(0.1, 6.0, 7)
_heights = _random.normal(size=(6, 7))
_made = surfaces.made_fit(interpolate.RectSphereBivariateSpline, _heights, _angles, _turns)
example(surfaces.at_angles, _made, _heights, _x + 1.0, _y + 2.0)
example(surfaces.at_angles, _made, _heights, _x + 1.0, _y + 7.0)  # outside it goes on as it ends
example(surfaces.on_sphere, _made, _heights, np.sort(_x) + 1.0, np.sort(_y)[:2] + 2.0)
_rows = np.array([0.0, 0.0, 0.0, 0.0, 0.3, 1.0, 1.0, 1.0, 1.0])
_coefficients, _asked = _random.normal(size=(5, 5)), _random.uniform(0.1, 0.9, (3, 2))
_made = many_axes.made_nd(interpolate.NdBSpline, _coefficients, (_rows, _rows), 3)
_steps = np.array([0.0, 0.5, 1.0])
_boxes = _random.normal(size=(3, 3, 2, 2))
for _whole, _given in (
    (_made, _coefficients),
    (many_axes.made_nd(interpolate.NdPPoly, _boxes, (_steps, _steps)), _boxes),
):
    example(many_axes.at_nd, _whole, _given, _asked)
    example(many_axes.at_nd, _whole, _given, _asked, (0, 1))
    example(many_axes.gathered_nd, _random.normal(size=3), _whole, _given, _asked, None, None)
