"""Rules of scipy.interpolate, continued: data on grids (`interpn`, `RegularGridInterpolator`, `RectBivariateSpline`).

y = interpn((x0, x1), v, p)     ->     v_bar = the shares of y_bar, added at the corners of the cells that the points are in;
                                       p_bar by the slopes of the multilinear function there
y = RectBivariateSpline(a, b, v).ev(s, t)    ->    s_bar = y_bar * spline.ev(s, t, 1, 0)

The values between the places of a grid are linear in the data (multilinear: Weiser and Zarantonello 1988, "A note on
piecewise linear and multilinear table interpolation in many dimensions").  The places of the grid are constants.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.scipy.interpolate import by_column, by_row, columns_like, rows_like
from s2sgrad.rules.table import elementwise, flat, general, linear, structured
from s2sgrad.runtime import Refusal, unbroadcast

# --- cells -----------------------------------------------------------------------------------------------------------


def located(xi):
    """Points as an array: a tuple holds their coordinates.

    >>> located((np.array([1.0, 2.0]), 5.0)).tolist()
    [[1.0, 5.0], [2.0, 5.0]]
    """
    if isinstance(xi, tuple) and len(xi) > 1:
        return np.stack(np.broadcast_arrays(*xi), axis=-1)
    return np.asarray(xi[0] if isinstance(xi, tuple) else xi)


def located_bar(w, xi):
    """The cotangent of points, in the structure that they have."""
    if isinstance(xi, tuple):
        each = [w] if len(xi) == 1 else [w[..., k] for k in range(len(xi))]
        return tuple([as_given(bar, x) for bar, x in zip(each, xi, strict=True)])
    return as_given(w, xi)


def as_given(w, x):
    """A cotangent in the structure of `x`, an array or lists of numbers."""
    if isinstance(x, (list, tuple)):
        return type(x)([as_given(w[k], part) for k, part in enumerate(x)])
    return unbroadcast(w, x)


def located_along(dot, xi):
    """The transpose of `located_bar`."""
    if isinstance(xi, tuple):
        parts = [np.zeros(np.shape(x)) if d is None else np.asarray(d) for d, x in zip(dot, xi, strict=True)]
        return located(tuple(parts))
    return np.asarray(dot)


@general(located)
def _located(w, y, xi):
    return located_bar(w, xi)


@_located.forward()
def _(y, xi, xi_dot):
    return located_along(xi_dot, xi)


@linear(located_bar)
def _(g, y, w, xi):
    return located_along(g, xi), None


@linear(located_along)
def _(g, y, dot, xi):
    return located_bar(g, xi), None


structured("xi", located)


def cells(grid, points, method):
    """For each corner of the cells that the points are in: its place in the data, its share, the slopes of the share along
    each axis; Refusal for what is not multilinear."""
    if method not in ("linear", "nearest") or any(np.any(np.diff(x) <= 0) for x in grid):
        raise Refusal(None, "data on a grid have a derivative rule for the methods linear and nearest, and rising places")
    rows = np.reshape(points, (-1, len(grid)))
    places, shares, slopes = np.zeros((1, len(rows)), int), np.ones((1, len(rows))), np.zeros((0, 1, len(rows)))
    for k, x in enumerate(map(np.asarray, grid)):
        at = np.clip(np.searchsorted(x, rows[:, k], side="right") - 1, 0, len(x) - 2)
        width = x[at + 1] - x[at]
        part = (rows[:, k] - x[at]) / width
        slope = 1.0 / width
        if method == "nearest":
            part, slope = (part > 0.5) * 1.0, 0.0 * width
        places = np.concatenate((places * len(x) + at, places * len(x) + at + 1))
        own = np.concatenate((shares * -slope, shares * slope))[None]
        slopes = np.concatenate((np.concatenate((slopes * (1.0 - part), slopes * part), axis=1), own))
        shares = np.concatenate((shares * (1.0 - part), shares * part))
    return places, shares, slopes


def lead(points, grid):
    """The axes of the points, without that of their coordinates."""
    return np.shape(points) if len(grid) == 1 and np.ndim(points) < 2 else np.shape(points)[:-1]


def inside(grid, points, fill_value):
    """1 for each point that the values of a grid are taken at, 0 for one outside, which gets a number."""
    rows = np.reshape(points, (-1, len(grid)))
    if fill_value is None:
        return np.ones(len(rows))
    return np.all([(rows[:, k] >= x[0]) & (rows[:, k] <= x[-1]) for k, x in enumerate(grid)], axis=0) * 1.0


def taken(values, grid, points, method, fill_value):
    """The values between the places of a grid, 0 outside: linear in the data."""
    places, shares, _ = cells(grid, points, method)
    table = np.reshape(values, (-1, *np.shape(values)[len(grid) :]))
    shares = shares * inside(grid, points, fill_value)
    found = np.sum(table[places] * np.reshape(shares, np.shape(shares) + (1,) * (np.ndim(table) - 1)), axis=0)
    return np.reshape(found, (*lead(points, grid), *np.shape(table)[1:])).astype(table.dtype)


def spread(g, values, grid, points, method, fill_value):
    """The transpose of `taken`: the cotangent of the data."""
    places, shares, _ = cells(grid, points, method)
    rest = np.shape(values)[len(grid) :]
    table = np.zeros((int(np.prod(np.shape(values)[: len(grid)])), *rest), np.result_type(g))
    shares = shares * inside(grid, points, fill_value)
    np.add.at(table, places, np.reshape(shares, np.shape(shares) + (1,) * len(rest)) * np.reshape(g, (1, -1, *rest)))
    return np.reshape(table, np.shape(values))


def slope(g, values, grid, points, method, fill_value):
    """The cotangent of the points."""
    places, _, slopes = cells(grid, points, method)
    table = np.reshape(values, (-1, *np.shape(values)[len(grid) :]))
    found = slopes * inside(grid, points, fill_value)
    each = np.reshape(table[places], (*np.shape(places), -1)) * np.reshape(g, (1, np.shape(places)[1], -1))
    whole = np.sum(found * np.sum(each, axis=-1), axis=1).T
    return np.reshape(whole, np.shape(points)).astype(np.result_type(g))


def along(dots, values, grid, points, method, fill_value):
    """The transpose of `slope`: the tangent of the values along that of the points."""
    places, _, slopes = cells(grid, points, method)
    table = np.reshape(values, (-1, *np.shape(values)[len(grid) :]))
    shares = np.sum(slopes * np.reshape(dots, (-1, len(grid))).T[:, None, :], axis=0) * inside(grid, points, fill_value)
    found = np.sum(table[places] * np.reshape(shares, np.shape(shares) + (1,) * (np.ndim(table) - 1)), axis=0)
    return np.reshape(found, (*lead(points, grid), *np.shape(table)[1:])).astype(table.dtype)


def mixed(g, dots, values, grid, points, method, fill_value):
    """The cotangent of the data in `along`."""
    places, _, slopes = cells(grid, points, method)
    rest = np.shape(values)[len(grid) :]
    table = np.zeros((int(np.prod(np.shape(values)[: len(grid)])), *rest), np.result_type(g))
    shares = np.sum(slopes * np.reshape(dots, (-1, len(grid))).T[:, None, :], axis=0) * inside(grid, points, fill_value)
    np.add.at(table, places, np.reshape(shares, np.shape(shares) + (1,) * len(rest)) * np.reshape(g, (1, -1, *rest)))
    return np.reshape(table, np.shape(values))


flat(cells, inside, lead)


@general(taken)
def _taken(w, y, values, grid, points, method, fill_value):
    return spread(w, values, grid, points, method, fill_value), None, None, None, None


@general(spread)
def _spread(w, y, g, values, grid, points, method, fill_value):
    return taken(w, grid, points, method, fill_value), None, None, None, None, None


@general(slope)
def _slope(w, y, g, values, grid, points, method, fill_value):
    g_bar = along(w, values, grid, points, method, fill_value)
    return g_bar, mixed(g, w, values, grid, points, method, fill_value), None, None, None, None


@general(along)
def _along(w, y, dots, values, grid, points, method, fill_value):
    dots_bar = slope(w, values, grid, points, method, fill_value)
    return dots_bar, mixed(w, dots, values, grid, points, method, fill_value), None, None, None, None


@general(mixed)
def _mixed(w, y, g, dots, values, grid, points, method, fill_value):
    g_bar = along(dots, w, grid, points, method, fill_value)
    return g_bar, slope(g, w, grid, points, method, fill_value), None, None, None, None, None


_CURVED = "data on a grid have no second derivative in the points, beyond those of one: pass constants"
for _rule in (_taken, _spread, _slope, _along, _mixed):
    _rule.constant("points", _CURVED)
    _rule.constant("grid", "data on a grid have no derivative in its places: pass constants")
_taken.linear_in("values")

# --- their calls -----------------------------------------------------------------------------------------------------


@general(interpolate.interpn)
def interpn(g, y, points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    return (
        None, spread(g, values, points, located(xi), method, fill_value),
        located_bar(slope(g, values, points, located(xi), method, fill_value), xi),
    )  # fmt: skip


@interpn.forward()
def _(y, points, values, xi, points_dot, values_dot, xi_dot, method="linear", bounds_error=True, fill_value=np.nan):
    return (
        None, taken(values_dot, points, located(xi), method, fill_value),
        along(located_along(xi_dot, xi), values, points, located(xi), method, fill_value),
    )  # fmt: skip


def on_grid(xi, points, values, method="linear", bounds_error=True, fill_value=np.nan):
    """`RegularGridInterpolator(points, values, ..)(xi)`."""
    return interpolate.RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


@general(on_grid)
def _on_grid(g, y, xi, points, values, method="linear", bounds_error=True, fill_value=np.nan):
    return (
        located_bar(slope(g, values, points, located(xi), method, fill_value), xi), None,
        spread(g, values, points, located(xi), method, fill_value),
    )  # fmt: skip


@_on_grid.forward()
def _(y, xi, points, values, xi_dot, points_dot, values_dot, method="linear", bounds_error=True, fill_value=np.nan):
    return (
        along(located_along(xi_dot, xi), values, points, located(xi), method, fill_value), None,
        taken(values_dot, points, located(xi), method, fill_value),
    )  # fmt: skip


def parts(table):
    """The grid, the values, the method and the number outside of an interpolator."""
    return table.grid, table.values, table.method, table.fill_value


flat(parts)


def slope_of(g, table, xi):
    grid, values, method, fill_value = parts(table)
    return slope(g, values, grid, xi, method, fill_value)


def along_of(dots, table, xi):
    grid, values, method, fill_value = parts(table)
    return along(dots, values, grid, xi, method, fill_value)


@general(interpolate.RegularGridInterpolator.__call__)
def regular(g, y, self, xi, method=None, *, nu=None):
    return None, located_bar(slope_of(g, self, located(xi)), xi)


@regular.forward()
def _(y, self, xi, self_dot, xi_dot, method=None, *, nu=None):
    return None, along_of(located_along(xi_dot, xi), self, located(xi))


regular.constant("self", "the data of a grid are constants here: make the interpolator in this function")
regular.refuse(
    lambda method, nu: not all(k.known and k.value is None for k in (method, nu)),
    "a call of an interpolator with `method` or `nu` has no derivative rule: leave them out",
)
for _rule, _places in ((interpn, "points"), (_on_grid, "points")):
    _rule.constant(_places, "an interpolator has no derivative in the places of its data: pass constants")
structured("xi", interpolate.interpn, on_grid, interpolate.RegularGridInterpolator.__call__)
instances.write_methods(interpolate.RegularGridInterpolator, {"__call__": instances.Method(1, on_grid)})

# --- surfaces --------------------------------------------------------------------------------------------------------


def on_surface(surface_, x, axis):
    """1 for each number between the ends of an axis, 0 outside, where a surface goes on as it ends."""
    places = knots(surface_)[axis]
    return ((x >= places[0]) & (x <= places[-1])) * 1.0


def knots(surface_):
    return surface_.get_knots()


flat(on_surface, knots)


@elementwise(interpolate.RectBivariateSpline.ev)
def ev(g, y, self, xi, yi, dx=0, dy=0):
    return (
        None, g * on_surface(self, xi, 0) * self(xi, yi, dx + 1, dy, grid=False),
        g * on_surface(self, yi, 1) * self(xi, yi, dx, dy + 1, grid=False),
    )  # fmt: skip


@general(interpolate.RectBivariateSpline.__call__)
def surface(g, z, self, x, y, dx=0, dy=0, grid=True):
    along_x, along_y = g * self(x, y, dx + 1, dy, grid), g * self(x, y, dx, dy + 1, grid)
    if grid:
        return None, by_row(along_x, x) * on_surface(self, x, 0), by_column(along_y, y) * on_surface(self, y, 1)
    return None, unbroadcast(along_x * on_surface(self, x, 0), x), unbroadcast(along_y * on_surface(self, y, 1), y)


@surface.forward()
def _(z, self, x, y, self_dot, x_dot, y_dot, dx=0, dy=0, grid=True):
    return (
        None, by_place(rows_like, x_dot, on_surface(self, x, 0), z, grid) * self(x, y, dx + 1, dy, grid),
        by_place(columns_like, y_dot, on_surface(self, y, 1), z, grid) * self(x, y, dx, dy + 1, grid),
    )  # fmt: skip


def by_place(along_, dot, inside_, z, grid):
    """A tangent of coordinates, in the shape of a grid of values."""
    return along_(dot * inside_, z) if grid else dot * inside_


for _rule in (ev, surface):
    _rule.constant("self", "what a surface is made of is a constant here: make it outside of the function")
