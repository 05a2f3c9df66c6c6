"""Rules of scipy.interpolate for surfaces that a function makes of data on a grid: `RectBivariateSpline`.

    z = RectBivariateSpline(a, b, v).ev(x, y)    ->    v_bar = the sum of z_bar * outer(the weights of x, those of y)

A surface through data on a grid is linear in these, and the product of splines along both axes (Dierckx, *Curve and Surface
Fitting with Splines*, 1993, chapter 5).  Outside it goes on as it ends.
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
        return self if np.array_equal(values, self.values) else Surface(self.cls, values, self.places, self.options)

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


def is_on(s: Surface, x: Any, axis: int) -> Any:
    """1 for each number between the ends of an axis, 0 outside, where a surface goes on as it ends."""
    _, first, last = s.lines[axis]
    return ((x >= first) & (x <= last)) * 1.0


flat(made_surface, is_on)


def at_places(s, values, x, y, dx=0, dy=0):
    """The surface at points."""
    own = s.of(values)
    if dx < own.options.get("kx", 3) and dy < own.options.get("ky", 3):  # SciPy takes no higher orders
        return own.own.ev(x, y, dx, dy)
    rows, columns = line_weights(own, x, 0, dx), line_weights(own, y, 1, dy)
    return np.sum((rows @ own.values) * columns, axis=-1)


def data_bar(g, s, values, x, y, dx, dy):
    """The cotangent of the data."""
    g, x, y = np.broadcast_arrays(g, x, y)
    rows = line_weights(s, np.ravel(x), 0, dx) * np.ravel(g)[:, None]
    return rows.T @ line_weights(s, np.ravel(y), 1, dy)


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


instances.write(interpolate.RectBivariateSpline, instances.Maker(made_surface, on_grid, 3, (2,), methods={"ev": at_places}))
