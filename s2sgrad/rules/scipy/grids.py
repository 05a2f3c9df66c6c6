"""Rules of scipy.interpolate, continued: data on grids (`interpn`, `RegularGridInterpolator`, `RectBivariateSpline`).

y = interpn((x0, x1), v, p)     ->     v_bar = the shares of y_bar, added at the corners of the cells that the points are in;
                                       p_bar = y_bar times the derivatives along each axis, of the order that is next
y = RectBivariateSpline(a, b, v).ev(s, t)    ->    s_bar = y_bar * spline.ev(s, t, 1, 0)

The values between the places of a grid are linear in the data, and products of functions of one axis each.  These are hats
(Weiser and Zarantonello 1988, "A note on piecewise linear and multilinear table interpolation in many dimensions"), or
splines (de Boor 1978, "A practical guide to splines", chapter XVII).  The coefficients of splines are `C0 @ v @ C1.T`, where
`C` has those of the spline through each unit vector.  So a derivative in the points is one more such product, in which the
function of one axis is differentiated.  The places of the grid are constants.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.scipy.interpolate import by_column, by_row, columns_like, rows_like
from s2sgrad.rules.table import elementwise, flat, general, linear, may_turn_complex, of_complex_numbers, structured
from s2sgrad.runtime import Refusal, unbroadcast

# --- points ----------------------------------------------------------------------------------------------------------


def located(xi, count):
    """Points of so many coordinates as an array: a tuple holds their coordinates.

    >>> located((np.array([1.0, 2.0]), 5.0), 2).tolist()
    [[1.0, 5.0], [2.0, 5.0]]
    >>> located([1.0, 5.0], 2).tolist()
    [[1.0, 5.0]]
    """
    if isinstance(xi, tuple) and len(xi) > 1:
        return np.stack(np.broadcast_arrays(*xi), axis=-1)
    points = np.asarray(xi[0] if isinstance(xi, tuple) else xi)
    return np.reshape(points, (-1, count)) if np.ndim(points) == 1 else points


def located_bar(w, xi, count):
    """The cotangent of points, in the structure that they have."""
    if isinstance(xi, tuple) and len(xi) > 1:
        return tuple([as_given(w[..., k], x) for k, x in enumerate(xi)])
    if isinstance(xi, tuple):
        return (as_given(np.reshape(w, np.shape(xi[0])), xi[0]),)
    return as_given(np.reshape(w, np.shape(xi)), xi)


def as_given(w, x):
    """A cotangent in the structure of `x`, an array or lists of numbers."""
    if isinstance(x, (list, tuple)):
        return type(x)([as_given(w[k], part) for k, part in enumerate(x)])
    return unbroadcast(w, x)


def located_along(dot, xi, count):
    """The transpose of `located_bar`."""
    if isinstance(xi, tuple):
        parts = [np.zeros(np.shape(x)) if d is None else np.asarray(d) for d, x in zip(dot, xi, strict=True)]
        return located(tuple(parts), count)
    return located(dot, count)


@general(located)
def _located(w, y, xi, count):
    return located_bar(w, xi, count), None


@_located.forward()
def _(y, xi, count, xi_dot, count_dot):
    return located_along(xi_dot, xi, count), None


@linear(located_bar)
def _(g, y, w, xi, count):
    return located_along(g, xi, count), None, None


@linear(located_along)
def _(g, y, dot, xi, count):
    return located_bar(g, xi, count), None, None


structured("xi", located)

# --- functions of one axis -------------------------------------------------------------------------------------------

DEGREES = {"cubic": 3, "quintic": 5}


def hats(x, p, method, order):
    """The places beside each number on one axis, and the shares of the values there, or derivatives of these shares."""
    if len(x) == 1:  # the value does not change along this axis
        return np.zeros((1, len(p)), int), np.full((1, len(p)), float(order == 0))
    at = np.clip(np.searchsorted(x, p, side="right") - 1, 0, len(x) - 2)
    width = x[at + 1] - x[at]
    part = (p - x[at]) / width
    if method == "nearest":
        part, width = (part > 0.5) * 1.0, np.inf
    lower = (1.0 - part, -1.0 / width, 0.0 * part)[min(order, 2)]
    upper = (part, 1.0 / width, 0.0 * part)[min(order, 2)]
    return np.stack((at, at + 1)), np.stack(np.broadcast_arrays(lower, upper, part)[:2])


def cardinals(x, degree, order):
    """The splines that are 1 at one place and 0 at the others, or a derivative of them."""
    if order > degree:
        return interpolate.BSpline(np.array([x[0], x[-1]]), np.zeros((1, len(x))), 0)
    return interpolate.make_interp_spline(x, np.eye(len(x)), degree).derivative(order)


def of_axis(x, p, method, order):
    """For numbers on one axis: which values count, with which shares, and the matrix that makes these values of the data;
    None where they are the data."""
    x = np.asarray(x, float)
    if x[0] > x[-1]:
        places, shares, matrix = of_axis(x[::-1], p, method, order)
        return (len(x) - 1 - places, shares, None) if matrix is None else (places, shares, matrix[:, ::-1])
    if method in ("linear", "slinear", "nearest"):
        return *hats(x, p, method, order), None
    spline = cardinals(x, DEGREES[method], order)
    size = len(spline.t) - spline.k - 1
    rows = interpolate.BSpline.design_matrix(np.ravel(p), spline.t, spline.k, extrapolate=True)
    return rows.indices.reshape(-1, spline.k + 1).T, rows.data.reshape(-1, spline.k + 1).T, spline.c[:size]


def cells(grid, points, method, fill_value, orders):
    """For each point: the places that count in a table that one matrix for each axis makes of the data, their shares, the
    matrices; Refusal for what is not linear in the data."""
    if method not in ("linear", "nearest", "slinear", "cubic", "quintic"):
        raise Refusal(None, f"data on a grid have no derivative rule for the method {method}: take linear or cubic")
    rows = np.reshape(points, (-1, len(grid)))
    places, shares, matrices = np.zeros((1, len(rows)), int), inside(grid, rows, fill_value)[None], []
    for x, p, order in zip(grid, rows.T, orders, strict=True):
        at, part, matrix = of_axis(x, p, method, order)
        shape = len(places) * len(at), len(rows)
        places = np.reshape(places[:, None] * len(x if matrix is None else matrix) + at, shape)
        shares = np.reshape(shares[:, None] * part, shape)
        matrices.append(matrix)
    return places, shares, matrices


def inside(grid, rows, fill_value):
    """1 for each point that the values of a grid are taken at, 0 for one outside, which gets a number."""
    if fill_value is None:
        return np.ones(len(rows))
    return np.all([(rows[:, k] >= np.min(x)) & (rows[:, k] <= np.max(x)) for k, x in enumerate(grid)], axis=0) * 1.0


def raised(orders, axis):
    """Orders of derivatives, one more along this axis.

    >>> raised((0, 1), 1)
    (0, 2)
    """
    return tuple([order + (k == axis) for k, order in enumerate(orders)])


def mapped(matrices, table):
    """A table with a matrix applied along each of its first axes; None leaves it as it is."""
    for k, matrix in enumerate(matrices):
        if matrix is not None:
            table = np.moveaxis(np.tensordot(matrix, table, (1, k)), 0, k)
    return table


# --- products of them ------------------------------------------------------------------------------------------------


def taken(values, grid, points, method, fill_value, orders):
    """The values between the places of a grid, or a derivative of these orders, 0 outside: linear in the data."""
    places, shares, matrices = cells(grid, points, method, fill_value, orders)
    rest = np.shape(values)[len(grid) :]
    table = np.reshape(mapped(matrices, values), (-1, *rest))
    found = np.sum(table[places] * np.reshape(shares, np.shape(shares) + (1,) * len(rest)), axis=0)
    return np.reshape(found, (*np.shape(points)[:-1], *rest)).astype(np.result_type(values, 1.0), copy=False)


def spread(g, values, grid, points, method, fill_value, orders):
    """The transpose of `taken`: the cotangent of the data."""
    places, shares, matrices = cells(grid, points, method, fill_value, orders)
    sizes = tuple([len(x) if matrix is None else len(matrix) for x, matrix in zip(grid, matrices, strict=True)])
    rest = np.shape(values)[len(grid) :]
    table = np.zeros((int(np.prod(sizes)), *rest), np.result_type(g))
    np.add.at(
        table, places, np.reshape(shares, np.shape(shares) + (1,) * len(rest)) * np.reshape(g, (1, len(shares[0]), *rest))
    )
    back = [None if matrix is None else matrix.T for matrix in matrices]
    return mapped(back, np.reshape(table, (*sizes, *rest))).astype(np.result_type(g), copy=False)


def on_axis(k, grid):
    """True for the coordinate along axis k.

    >>> on_axis(1, (3, 4)).tolist()
    [False, True]
    """
    return np.arange(len(grid)) == k


def shaped(points, rest):
    """The axes of the points, without that of their coordinates, and others behind them."""
    return (*np.shape(points)[:-1], *rest)


def width(values, grid):
    """How many values there are at one place."""
    return int(np.prod(np.shape(values)[len(grid) :]))


def by_axis(g, values, grid, points, method, fill_value, orders):
    """The cotangent of the points: along each axis, `g` times the derivative of the values."""
    whole = 0.0
    for k in range(len(grid)):
        slopes = g * taken(values, grid, points, method, fill_value, raised(orders, k))
        sums = np.sum(np.reshape(slopes, shaped(points, (width(values, grid),))), axis=-1)
        whole = whole + np.expand_dims(sums, -1) * on_axis(k, grid)
    return whole


def along(dots, values, grid, points, method, fill_value, orders):
    """The transpose of `by_axis`: the tangent of the values along that of the points."""
    whole, rest = 0.0, (1,) * (np.ndim(values) - len(grid))
    for k in range(len(grid)):
        slopes = taken(values, grid, points, method, fill_value, raised(orders, k))
        whole = whole + np.reshape(dots[..., k], shaped(points, rest)) * slopes
    return whole


flat(cells, raised, on_axis, shaped, width)


@general(taken)
def _taken(w, y, values, grid, points, method, fill_value, orders):
    return (
        spread(w, values, grid, points, method, fill_value, orders), None,
        by_axis(w, values, grid, points, method, fill_value, orders), None, None, None,
    )  # fmt: skip


@_taken.forward()
def _(
    y, values, grid, points, method, fill_value, orders,
    values_dot, grid_dot, points_dot, method_dot, fill_value_dot, orders_dot,
):  # fmt: skip
    return (
        taken(values_dot, grid, points, method, fill_value, orders), None,
        along(points_dot, values, grid, points, method, fill_value, orders), None, None, None,
    )  # fmt: skip


@general(spread)
def _spread(w, y, g, values, grid, points, method, fill_value, orders):
    return (
        taken(w, grid, points, method, fill_value, orders), None, None,
        by_axis(g, w, grid, points, method, fill_value, orders), None, None, None,
    )  # fmt: skip


for _rule in (_taken, _spread):
    _rule.constant("grid", "data on a grid have no derivative in its places: pass constants")
_taken.linear_in("values")

# --- their calls -----------------------------------------------------------------------------------------------------


def zero_orders(grid):
    """No derivative along any axis."""
    return (0,) * len(grid)


flat(zero_orders)


@general(interpolate.interpn)
def interpn(g, y, points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    at = located(xi, len(points))
    orders = zero_orders(points)
    return (
        None, spread(g, values, points, at, method, fill_value, orders),
        located_bar(by_axis(g, values, points, at, method, fill_value, orders), xi, len(points)),
    )  # fmt: skip


@interpn.forward()
def _(y, points, values, xi, points_dot, values_dot, xi_dot, method="linear", bounds_error=True, fill_value=np.nan):
    at = located(xi, len(points))
    orders = zero_orders(points)
    return (
        None, taken(values_dot, points, at, method, fill_value, orders),
        along(located_along(xi_dot, xi, len(points)), values, points, at, method, fill_value, orders),
    )  # fmt: skip


def on_grid(
    xi, points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None,
):  # fmt: skip
    """`RegularGridInterpolator(points, values, ..)(xi)`."""
    options = {} if solver is None else {"solver": solver, "solver_args": solver_args}
    return interpolate.RegularGridInterpolator(points, values, method, bounds_error, fill_value, **options)(xi)


@general(on_grid)
def _on_grid(
    g, y, xi, points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None,
):  # fmt: skip
    at = located(xi, len(points))
    orders = zero_orders(points)
    return (
        located_bar(by_axis(g, values, points, at, method, fill_value, orders), xi, len(points)), None,
        spread(g, values, points, at, method, fill_value, orders),
    )  # fmt: skip


@_on_grid.forward()
def _(
    y, xi, points, values, xi_dot, points_dot, values_dot,
    method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None,
):  # fmt: skip
    at = located(xi, len(points))
    orders = zero_orders(points)
    return (
        along(located_along(xi_dot, xi, len(points)), values, points, at, method, fill_value, orders), None,
        taken(values_dot, points, at, method, fill_value, orders),
    )  # fmt: skip


def parts(table):
    """The grid, the values, the method and the number outside of an interpolator."""
    return table.grid, table.values, table.method, table.fill_value


def count(table):
    """How many axes its grid has."""
    return len(table.grid)


flat(parts, count)


def slope_of(g, table, at):
    grid, values, method, fill_value = parts(table)
    return by_axis(g, values, grid, at, method, fill_value, zero_orders(grid))


def along_of(dots, table, at):
    grid, values, method, fill_value = parts(table)
    return along(dots, values, grid, at, method, fill_value, zero_orders(grid))


@general(interpolate.RegularGridInterpolator.__call__)
def regular(g, y, self, xi, method=None, *, nu=None):
    return None, located_bar(slope_of(g, self, located(xi, count(self))), xi, count(self))


@regular.forward()
def _(y, self, xi, self_dot, xi_dot, method=None, *, nu=None):
    return None, along_of(located_along(xi_dot, xi, count(self)), self, located(xi, count(self)))


regular.constant("self", "the data of a grid are constants here: make the interpolator in this function")
regular.refuse(
    lambda method, nu: not all(k.known and k.value is None for k in (method, nu)),
    "a call of an interpolator with `method` or `nu` has no derivative rule: leave them out",
)
for _rule, _places in ((interpn, "points"), (_on_grid, "points")):
    _rule.constant(_places, "an interpolator has no derivative in the places of its data: pass constants")
structured("xi", interpolate.interpn, on_grid, interpolate.RegularGridInterpolator.__call__)
of_complex_numbers(taken, spread, interpolate.interpn, on_grid)  # in the data
may_turn_complex(interpolate.RegularGridInterpolator.__call__)  # its data may be complex
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
