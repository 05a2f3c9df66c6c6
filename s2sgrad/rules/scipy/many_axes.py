"""Rules of scipy.interpolate for polynomials by pieces in several variables: `NdBSpline`, `NdPPoly`.

    y = NdBSpline(t, c, k)(x)    ->    c_bar = gathered_nd(y_bar, s, c, x, None, None)
                                       x_bar[.., k] = y_bar * at_nd(s, c, x, the orders, one more along axis k)

Both are linear in their coefficients: tensor products of splines (de Boor, *A Practical Guide to Splines*, 2001, chapter
XVII).  Those of the columns of the identity are the weights of the coefficients.  Knots and breaks are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sgrad.rules import instances
from s2sgrad.rules.scipy.grids import on_axis
from s2sgrad.rules.scipy.interpolate import counting
from s2sgrad.rules.table import flat, general
from s2sgrad.runtime import Refusal
from s2sgrad.runtime.copies import copied


class Pieces:
    """A polynomial by pieces in several variables, and what it was made of."""

    __slots__ = ("_weighing", "cls", "options", "own", "places", "values")

    def __init__(self, cls: Any, values: Any, places: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.cls, self.places, self.options = cls, copied(places), copied(options)  # they may be written later
        self.values = np.array(values)
        self.own = self.make(self.values)
        self._weighing: Any = None

    def make(self, values: Any) -> Any:
        """The polynomial of these coefficients."""
        if self.cls is interpolate.NdPPoly:
            return self.cls(values, *self.places, **self.options)
        return self.cls(self.places[0], values, *self.places[1:], **self.options)

    def of(self, values: Any) -> Pieces:
        """The same of these coefficients, which are mostly its own."""
        return self if np.array_equal(values, self.values) else Pieces(self.cls, values, self.places, self.options)

    @property
    def weighing(self) -> Any:
        """The polynomials of which each coefficient is one."""
        if self._weighing is None:
            self._weighing = self.make(np.reshape(np.eye(self.values.size), (*self.values.shape, -1)))
        return self._weighing


def made_nd(cls, values, places, *rest, **options):
    """A polynomial by pieces that tells the weights of its coefficients."""
    degrees = (rest[:1] if rest else (options.pop("k"),)) if cls is interpolate.NdBSpline else ()
    options = dict(zip(("extrapolate",), rest[len(degrees) :], strict=False)) | options
    axes = len(places) * (1 if cls is interpolate.NdBSpline else 2)
    if np.ndim(values) != axes:
        raise Refusal(
            None, f"{cls.__name__} has a derivative in coefficients that make one number at each point: {axes} axes"
        )
    return Pieces(cls, values, (places, *degrees), options)


def more(s, nu, axis):
    """The orders of a derivative, one more along an axis.

    >>> more(None, (0, 1), 1)
    (0, 2)
    """
    orders = (0,) * len(s.places[0]) if nu is None else tuple(nu)
    return tuple([order + (k == axis) for k, order in enumerate(orders)])


def knots_of(s):
    """The knots along each axis."""
    return s.places[0]


flat(made_nd, more, knots_of)


def at_nd(s, values, x, nu=None, extrapolate=None):
    """A call of the polynomial, of which `values` are the coefficients."""
    return s.of(values).own(x, nu=nu, extrapolate=extrapolate)


def gathered_nd(g, s, values, x, nu, extrapolate):
    """The cotangent of the coefficients."""
    weight = s.weighing(x, nu=nu, extrapolate=extrapolate)
    axes = tuple(range(np.ndim(weight) - 1))
    if np.any(np.isnan(weight)):  # outside
        weight = np.where(np.expand_dims(g == 0.0, -1) & np.isnan(weight), 0.0, weight)
    return np.reshape(np.tensordot(g, weight, (axes, axes)), np.shape(values))


def points_bar(g, s, values, x, nu, extrapolate):
    """The cotangent of the points: along each axis `g` times the slope."""
    whole = 0.0
    for k in range(len(knots_of(s))):
        slope = g * counting(g, at_nd(s, values, x, more(s, nu, k), extrapolate))
        whole = whole + np.expand_dims(slope, -1) * on_axis(k, knots_of(s))
    return whole


def points_along(dots, s, values, x, nu, extrapolate):
    """The transpose of `points_bar`."""
    dots, whole = np.asarray(dots), 0.0
    for k in range(len(knots_of(s))):
        whole = whole + dots[..., k] * at_nd(s, values, x, more(s, nu, k), extrapolate)
    return whole


@general(at_nd)
def _at_nd(g, y, s, values, x, nu=None, extrapolate=None):
    return None, gathered_nd(g, s, values, x, nu, extrapolate), points_bar(g, s, values, x, nu, extrapolate)


@_at_nd.forward()
def _(y, s, values, x, s_dot, values_dot, x_dot, nu=None, extrapolate=None):
    return None, at_nd(s, values_dot, x, nu, extrapolate), points_along(x_dot, s, values, x, nu, extrapolate)


@general(gathered_nd)
def _gathered_nd(w, bar, g, s, values, x, nu, extrapolate):
    return (
        at_nd(s, w, x, nu, extrapolate), None, None, points_bar(g, s, w, x, nu, extrapolate), None, None,
    )  # fmt: skip


instances.write(interpolate.NdBSpline, instances.Maker(made_nd, at_nd))
instances.write(interpolate.NdPPoly, instances.Maker(made_nd, at_nd, data=(0,)))
