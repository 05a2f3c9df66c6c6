"""Rules of scipy.interpolate for surfaces that a function makes of data: `RectBivariateSpline`, `LSQBivariateSpline`.

    z = RectBivariateSpline(a, b, v).ev(x, y)    ->    v_bar = the sum of z_bar * outer(the weights of x, those of y)

A surface through data on a grid is linear in these, and the product of splines along both axes (Dierckx, *Curve and Surface
Fitting with Splines*, 1993, chapter 5).  So is one whose knots are given, by least squares: the surfaces of the columns of
the identity are the weights of its data.  Outside a surface goes on as it ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal, unbroadcast
from s2sgrad.runtime.copies import copied


class Surface:
    """A surface, and what it was made of."""

    __slots__ = ("_lines", "cls", "options", "own", "places", "values")

    def __init__(self, cls: Any, values: Any, places: tuple[Any, Any], options: dict[str, Any]) -> None:
        self.cls, self.places, self.options = cls, copied(places), copied(options)  # they may be written later
        self.values = np.array(values)
        self.own = cls(*self.places, self.values, **options)
        self._lines: Any = None

    def of(self, values: Any) -> Surface:
        """The same of this data, which is mostly its own."""
        return self if np.array_equal(values, self.values) else type(self)(self.cls, values, self.places, self.options)

    def value(self, x: Any, y: Any, dx: int, dy: int) -> Any:
        """Its value at points, or a derivative of these orders."""
        if dx < self.options.get("kx", 3) and dy < self.options.get("ky", 3):  # SciPy takes no higher orders
            return self.own.ev(x, y, dx, dy)
        rows, columns = line_weights(self, x, 0, dx), line_weights(self, y, 1, dy)
        return np.sum((rows @ self.values) * columns, axis=-1)

    def gathered(self, g: Any, x: Any, y: Any, dx: int, dy: int) -> Any:
        """The cotangent of the data: of numbers beside each other."""
        rows = line_weights(self, x, 0, dx) * g[:, None]
        return rows.T @ line_weights(self, y, 1, dy)

    def ends(self, axis: int) -> tuple[Any, Any]:
        """Where it ends along an axis."""
        _, first, last = self.lines[axis]
        return first, last

    @property
    def lines(self) -> Any:
        """For each axis the splines through the columns of the identity, and its ends."""
        if self._lines is None:
            ends, found = self.options.get("bbox", [None] * 4), []
            for axis, places in enumerate(self.places):
                k, bounds = self.options.get("kxky"[2 * axis : 2 * axis + 2], 3), ends[2 * axis : 2 * axis + 2]
                each = [interpolate.InterpolatedUnivariateSpline(places, e, bbox=bounds, k=k) for e in np.eye(len(places))]
                knots = each[0].get_knots()
                whole = np.concatenate((np.full(k, knots[0]), knots, np.full(k, knots[-1])))
                spline = interpolate.BSpline(whole, np.stack([s.get_coeffs() for s in each], axis=-1), k)
                found.append((spline, knots[0], knots[-1]))
            self._lines = found
        return self._lines


_NAMES = ("bbox", "kx", "ky", "s", "maxit")


def made_surface(cls, values, x, y, *rest, **options):
    """A surface that tells the weights of its data."""
    options = dict(zip(_NAMES, rest, strict=False)) | options
    if options.get("s", 0) != 0:
        raise Refusal(None, "a surface that smooths its data has no derivative in them: make it with s=0")
    return Surface(cls, values, (x, y), options)


def line_weights(s: Surface, x: Any, axis: int, order: int) -> Any:
    """The weights along an axis, behind the axes of `x`."""
    spline, first, last = s.lines[axis]
    return spline(np.clip(x, first, last), order)


class Fit(Surface):
    """A surface of given knots, by least squares."""

    __slots__ = ("_columns",)

    def __init__(self, cls: Any, values: Any, places: tuple[Any, Any], options: dict[str, Any]) -> None:
        super().__init__(cls, values, places, options)
        self._columns: Any = None

    @property
    def columns(self) -> Any:
        """The surfaces of the columns of the identity."""
        if self._columns is None:
            each = np.reshape(np.eye(np.size(self.values)), (-1, *np.shape(self.values)))
            self._columns = [self.cls(*self.places, e, **self.options) for e in each]
        return self._columns

    def value(self, x: Any, y: Any, dx: int, dy: int) -> Any:
        return self.own.ev(x, y, *self._orders(dx, dy))

    def gathered(self, g: Any, x: Any, y: Any, dx: int, dy: int) -> Any:
        orders = self._orders(dx, dy)
        return np.reshape([np.sum(g * column.ev(x, y, *orders)) for column in self.columns], np.shape(self.values))

    def _orders(self, dx: int, dy: int) -> tuple[int, int]:
        """These orders, if SciPy takes them."""
        if dx >= self.own.degrees[0] or dy >= self.own.degrees[1]:
            raise Refusal(
                None, f"{self.cls.__name__} has derivatives of orders below the degree of its pieces: give kx and ky"
            )
        return dx, dy

    def ends(self, axis: int) -> tuple[Any, Any]:
        knots, k = self.own.get_knots()[axis], self.own.degrees[axis]  # around a sphere those of a period lie beyond
        return knots[k], knots[-1 - k]


_OF_FITS = {
    interpolate.LSQBivariateSpline: ("tx", "ty", "w", "bbox", "kx", "ky", "eps"),
    interpolate.LSQSphereBivariateSpline: ("tt", "tp", "w", "eps"),
    interpolate.RectSphereBivariateSpline: ("s", "pole_continuity", "pole_values", "pole_exact", "pole_flat"),
}


def made_fit(cls, values, x, y, *rest, **options):
    """A surface by least squares that tells the weights of its data."""
    options = dict(zip(_OF_FITS[cls], rest, strict=False)) | options
    if options.get("s", 0) != 0 or options.get("pole_values") is not None:
        raise Refusal(None, f"{cls.__name__} has a derivative in its data with s=0 and without values at the poles")
    return Fit(cls, values, (x, y), options)


def is_on(s: Surface, x: Any, axis: int) -> Any:
    """1 for each number between the ends of an axis, 0 outside, where a surface goes on as it ends."""
    first, last = s.ends(axis)
    return ((x >= first) & (x <= last)) * 1.0


flat(made_surface, made_fit, is_on)


def at_places(s, values, x, y, dx=0, dy=0):
    """The surface at points."""
    return s.of(values).value(x, y, dx, dy)


def data_bar(g, s, values, x, y, dx, dy):
    """The cotangent of the data."""
    g, x, y = np.broadcast_arrays(g, x, y)
    return s.gathered(np.ravel(g), np.ravel(x), np.ravel(y), dx, dy)


@general(at_places)
def _at_places(g, z, s, values, x, y, dx=0, dy=0):
    return (
        None, data_bar(g, s, values, x, y, dx, dy),
        unbroadcast(g * at_places(s, values, x, y, dx + 1, dy) * is_on(s, x, 0), x),
        unbroadcast(g * at_places(s, values, x, y, dx, dy + 1) * is_on(s, y, 1), y),
    )  # fmt: skip


@_at_places.forward()
def _(z, s, values, x, y, s_dot, values_dot, x_dot, y_dot, dx=0, dy=0):
    return (
        None, at_places(s, values_dot, x, y, dx, dy),
        x_dot * is_on(s, x, 0) * at_places(s, values, x, y, dx + 1, dy),
        y_dot * is_on(s, y, 1) * at_places(s, values, x, y, dx, dy + 1),
    )  # fmt: skip


@general(data_bar)
def _data_bar(w, bar, g, s, values, x, y, dx, dy):
    return (
        at_places(s, w, x, y, dx, dy), None, None,
        unbroadcast(g * at_places(s, w, x, y, dx + 1, dy) * is_on(s, x, 0), x),
        unbroadcast(g * at_places(s, w, x, y, dx, dy + 1) * is_on(s, y, 1), y), None, None,
    )  # fmt: skip


def on_grid(s, values, x, y, dx=0, dy=0, grid=True):
    """A call of the surface."""
    return s.of(values).own(x, y, dx, dy, grid)


@general(on_grid)
def _on_grid(g, z, s, values, x, y, dx=0, dy=0, grid=True):
    rows, columns = (np.reshape(x, (-1, 1)), np.reshape(y, (1, -1))) if grid else (x, y)
    along_x = g * at_places(s, values, rows, columns, dx + 1, dy) * is_on(s, rows, 0)
    along_y = g * at_places(s, values, rows, columns, dx, dy + 1) * is_on(s, columns, 1)
    return (
        None, data_bar(g, s, values, rows, columns, dx, dy), np.reshape(unbroadcast(along_x, rows), np.shape(x)),
        np.reshape(unbroadcast(along_y, columns), np.shape(y)),
    )  # fmt: skip


def on_sphere(s, values, theta, phi, dtheta=0, dphi=0, grid=True):
    """A call of a surface on a sphere, whose orders have names of their own."""
    return s.of(values).own(theta, phi, dtheta, dphi, grid)


@general(on_sphere)
def _on_sphere(g, z, s, values, theta, phi, dtheta=0, dphi=0, grid=True):
    rows, columns = (np.reshape(theta, (-1, 1)), np.reshape(phi, (1, -1))) if grid else (theta, phi)
    along_theta = g * at_places(s, values, rows, columns, dtheta + 1, dphi) * is_on(s, rows, 0)
    along_phi = g * at_places(s, values, rows, columns, dtheta, dphi + 1) * is_on(s, columns, 1)
    return (
        None, data_bar(g, s, values, rows, columns, dtheta, dphi),
        np.reshape(unbroadcast(along_theta, rows), np.shape(theta)),
        np.reshape(unbroadcast(along_phi, columns), np.shape(phi)),
    )  # fmt: skip


def at_angles(s, values, theta, phi, dtheta=0, dphi=0):
    """A surface on a sphere at points."""
    return s.of(values).value(theta, phi, dtheta, dphi)


@general(at_angles)
def _at_angles(g, z, s, values, theta, phi, dtheta=0, dphi=0):
    return (
        None, data_bar(g, s, values, theta, phi, dtheta, dphi),
        unbroadcast(g * at_places(s, values, theta, phi, dtheta + 1, dphi) * is_on(s, theta, 0), theta),
        unbroadcast(g * at_places(s, values, theta, phi, dtheta, dphi + 1) * is_on(s, phi, 1), phi),
    )  # fmt: skip


instances.write(interpolate.RectBivariateSpline, instances.Maker(made_surface, on_grid, 3, (2,), methods={"ev": at_places}))
instances.write(interpolate.LSQBivariateSpline, instances.Maker(made_fit, on_grid, 3, (2,), methods={"ev": at_places}))
for _class in (interpolate.LSQSphereBivariateSpline, interpolate.RectSphereBivariateSpline):
    instances.write(_class, instances.Maker(made_fit, on_sphere, 3, (2,), methods={"ev": at_angles}))
