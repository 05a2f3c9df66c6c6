"""Rules of scipy.interpolate for tuples of splines, and for polynomials through points.

    y = interpolate.splint(a, b, tck)                ->     b_bar = y_bar * splev(b, tck), a_bar = -y_bar * splev(a, tck)
    t, c, k = interpolate.splder(tck)                ->     c_bar = M.T @ c_bar, a matrix of the knots
    y = interpolate.barycentric_interpolate(x, v, t) ->     Lagrange's sum of v[j] * prod((t - x[k]) / (x[j] - x[k]))

(de Boor, *A Practical Guide to Splines*, 2001, X.)  Knots and places of data are constants.
"""

from __future__ import annotations

import numpy as np
from scipy import interpolate

from s2sgrad.rules.restated import restates
from s2sgrad.rules.scipy.interpolate import (
    alone,
    along_coefficients,
    bars_still,
    coefficients,
    in_knots,
    of_coefficients,
    still,
    unknown,
    value,
)
from s2sgrad.rules.table import elementwise, flat, general, structured, with_sizes_of_their_own
from s2sgrad.runtime import Refusal

# --- integrals -------------------------------------------------------------------------------------------------------


def integrals(a, b, tck):
    """The integrals of the splines of which each coefficient is one."""
    return np.array([interpolate.splint(a, b, (tck[0], e, tck[2])) for e in np.eye(len(tck[1]))])


@general(integrals)
def sums(w, y, a, b, tck):
    at_a, at_b = of_coefficients(1.0, a, tck, 0, 1), of_coefficients(1.0, b, tck, 0, 1)
    return -np.sum(w * at_a[1]), np.sum(w * at_b[1]), in_knots(tck)


@sums.forward()
def _(y, a, b, tck, a_dot, b_dot, tck_dot):
    by_a = -a_dot * of_coefficients(1.0, a, tck, 0, 1)[1]
    return by_a, b_dot * of_coefficients(1.0, b, tck, 0, 1)[1], y * still(tck_dot, tck)


def of_ends(g, a, b, tck):
    """The cotangent of the spline in its integral; that of its knots is not known."""
    return unknown(tck[0]), g * integrals(a, b, alone(tck)), None


def along_ends(dot, a, b, tck):
    """The integral of the spline that has these coefficients."""
    return np.sum(coefficients(dot, tck) * integrals(a, b, alone(tck)))


def change(dot, x, tck):
    """The value of that spline at one place, and 0 outside."""
    return along_coefficients(dot, x, tck, 0, 1)


@general(of_ends)
def bars(w, y, g, a, b, tck):
    return along_ends(w, a, b, tck), -g * change(w, a, tck), g * change(w, b, tck), in_knots(tck)


def at_end(g, x, tck):
    """The cotangent of a spline in its value at one place, and 0 outside."""
    return of_coefficients(g, x, tck, 0, 1)


@bars.forward()
def _(y, g, a, b, tck, g_dot, a_dot, b_dot, tck_dot):
    return of_ends(g_dot, a, b, tck), at_end(-g * a_dot, a, tck), at_end(g * b_dot, b, tck), bars_still(tck_dot, tck)


@general(along_ends)
def values(g, y, dot, a, b, tck):
    return of_ends(g, a, b, tck), -g * change(dot, a, tck), g * change(dot, b, tck), in_knots(tck)


@values.forward()
def _(y, dot, a, b, tck, dot_dot, a_dot, b_dot, tck_dot):
    by_a = -a_dot * change(dot, a, tck)
    return along_ends(dot_dot, a, b, tck), by_a, b_dot * change(dot, b, tck), y * still(tck_dot, tck)


def end(x):
    """An end of an integral, of which FITPACK reads one number."""
    if np.size(x) != 1:
        raise Refusal(None, "`splint` takes numbers as its ends, and reads the first of several: call it for each")
    return x


@elementwise(end)
def _(g, y, x):
    return g


@general(interpolate.splint)
def splint(g, y, a, b, tck, full_output=0):
    return -g * value(end(a), tck, 0, 1), g * value(end(b), tck, 0, 1), of_ends(g, a, b, tck)


@splint.forward()
def _(y, a, b, tck, a_dot, b_dot, tck_dot, full_output=0):
    along = along_ends(tck_dot, a, b, tck)
    return -a_dot * value(end(a), tck, 0, 1), b_dot * value(end(b), tck, 0, 1), along


splint.refuse(
    lambda full_output: not (full_output.known and not full_output.value), "`splint` with `full_output` has no rule"
)
structured("tck", interpolate.splint)
with_sizes_of_their_own(interpolate.splint, integrals, of_ends, along_ends)  # SciPy reads beyond the end of other tuples

# --- other splines ---------------------------------------------------------------------------------------------------


def derived(tck, n):
    """The knots and the degree of a derivative or an integral, and the matrix of its coefficients."""
    if not isinstance(tck, (tuple, list)):
        raise Refusal(None, "a spline has a derivative rule as a tuple of knots, coefficients and degree")
    make = interpolate.splder if n > 0 else interpolate.splantider
    columns = [make((tck[0], e, tck[2]), abs(n)) for e in np.eye(len(tck[1]))]
    return columns[0][0], columns[0][2], np.stack([c for _, c, _ in columns], axis=1)


@general(derived)
def knots_degree_matrix(g, y, tck, n):
    return in_knots(tck), None


@knots_degree_matrix.forward()
def _(y, tck, n, tck_dot, n_dot):
    return (y[0] * still(tck_dot, tck), None, y[2] * still(tck_dot, tck)), None


structured("tck", derived)
with_sizes_of_their_own(derived, interpolate.splev, value)  # which reads beyond the end of knots that do not fit


@restates(interpolate.splder, tuples=("tck",), counts=True)
def splder(tck, n=1):
    t, k, M = derived(tck, n)
    return t, M @ tck[1], k


@restates(interpolate.splantider, tuples=("tck",), counts=True)
def splantider(tck, n=1):
    t, k, M = derived(tck, -n)
    return t, M @ tck[1], k


def of_more_knots(x, tck, m, per):
    """The matrix of the coefficients with a knot more; of what FITPACK leaves behind them, zeros."""
    if not isinstance(tck, (tuple, list)):
        raise Refusal(None, "a spline has a derivative rule as a tuple of knots, coefficients and degree")
    found = [interpolate.insert(x, (tck[0], e, tck[2]), m, per) for e in np.eye(len(tck[1]))]
    matrix = np.stack([c for _, c, _ in found], axis=1)
    matrix[len(found[0][0]) - tck[2] - 1 :] = 0.0
    return matrix


flat(of_more_knots)


@general(interpolate.insert)
def insert(g, y, x, tck, m=1, per=False):
    return None, (unknown(tck[0]), of_more_knots(x, tck, m, per).T @ g[1], None)


@insert.forward()
def _(y, x, tck, x_dot, tck_dot, m=1, per=False):
    return None, (y[0] * still(tck_dot, tck), of_more_knots(x, tck, m, per) @ coefficients(tck_dot, tck), None)


insert.constant("x")
structured("tck", interpolate.insert)
with_sizes_of_their_own(interpolate.insert)

# --- derivatives of all orders, and roots -----------------------------------------------------------------------------


def all_orders(x, tck):
    """The derivatives of all orders of the splines of which each coefficient is one: a row for each order."""
    if np.ndim(x) > 0:
        raise Refusal(None, "`spalde` has a derivative rule at one place: use `splev` with `der`")
    return np.stack([interpolate.spalde(x, (tck[0], e, tck[2])) for e in np.eye(len(tck[1]))], axis=1)


@general(all_orders)
def orders(w, y, x, tck):
    return np.sum(w[:-1] * y[1:]), in_knots(tck)


@orders.forward()
def _(y, x, tck, x_dot, tck_dot):
    return np.concatenate((y[1:], np.zeros_like(y[:1]))) * x_dot, y * still(tck_dot, tck)


@general(interpolate.spalde)
def spalde(g, y, x, tck):
    return np.sum(g[:-1] * y[1:]), (unknown(tck[0]), all_orders(x, tck).T @ g, None)


@spalde.forward()
def _(y, x, tck, x_dot, tck_dot):
    return np.append(y[1:], 0.0) * x_dot, all_orders(x, tck) @ coefficients(tck_dot, tck)


structured("tck", interpolate.spalde, all_orders)
with_sizes_of_their_own(interpolate.spalde, all_orders)


def steep(slope):
    """1, unless a spline only touches 0 at a root."""
    if np.any(np.abs(slope) < 1e-9):
        raise Refusal(None, "a root at which a spline only touches 0 has no derivative")
    return 1.0


flat(steep)


@general(interpolate.sproot)
def sproot(g, x, tck, mest=10):
    slope = interpolate.splev(x, tck, 1)
    return of_coefficients(-g / slope * steep(slope), x, tck, 0, 0)


@sproot.forward()
def _(x, tck, tck_dot, mest=10):
    slope = interpolate.splev(x, tck, 1)
    return -along_coefficients(tck_dot, x, tck, 0, 0) / slope * steep(slope)


structured("tck", interpolate.sproot)
with_sizes_of_their_own(interpolate.sproot)

# --- polynomials -----------------------------------------------------------------------------------------------------


def values_alone(axis, der):
    """Raise Refusal for derivatives, and for data along another axis."""
    if axis != 0 or der != 0:
        raise Refusal(None, "`barycentric_interpolate` has a derivative rule for values, and data along the first axis")
    return True


flat(values_alone)


@restates(interpolate.barycentric_interpolate, constant=("xi",))
def barycentric_interpolate(xi, yi, x, axis=0, der=0, rng=None):
    values_alone(axis, der)
    xi, places, whole = np.asarray(xi), np.reshape(x, (-1, 1)), np.zeros((np.size(x), 0))
    for j in range(np.size(xi)):
        others = np.delete(xi, j)
        column = np.prod((places - others) / (xi[j] - others), axis=1)
        whole = np.concatenate((whole, column[:, None]), axis=1)
    found = np.tensordot(whole, np.asarray(yi), 1)
    return np.reshape(found, np.shape(x) + np.shape(yi)[1:])
