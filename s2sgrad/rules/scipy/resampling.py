"""Rules of scipy.ndimage for values between the pixels: map_coordinates, shift, zoom, rotate, affine_transform, splines.

y = ndimage.map_coordinates(x, c)    ->    x_bar = unsampled(y_bar, x, c, 3, "constant", True)
                                           c_bar = y_bar * slopes(x, c, 3, "constant", True)

A value is a sum of B-splines at the pixels beside (Unser, Aldroubi and Eden 1993, "B-spline signal processing"): it is
linear in the coefficients, which `spline_filter` makes of the pixels.  The matrix of that filter is symmetric where the
signal is continued by "reflect" or "grid-wrap", and under "mirror" once both ends are counted half.  A coordinate beyond
the edge is mapped into the image as SciPy does it; where a constant is beyond, the derivatives are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, ndimage

from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import Refusal, unbroadcast

# --- splines at the pixels -------------------------------------------------------------------------------------------

_WHOLE = ("mirror", "constant", "wrap", "grid-constant")  # the edge is mirrored about the last pixel
_LONG = 40  # pixels from which on the matrix is symmetric to the last digit: SciPy starts its recursion approximately
_PAD = 12  # SciPy continues the image by so many pixels, in mode "nearest"


def unfiltered(g, order, axis, mode):
    """The transpose of `ndimage.spline_filter1d(x, order, axis, mode=mode)`."""
    if order < 2:
        return g
    if mode in _WHOLE:
        n = np.shape(g)[axis]
        ends = np.ones(n)
        ends[[0, -1]] = 0.5 if n > 1 else 1.0
        ends = np.reshape(ends, [n if k == axis % np.ndim(g) else 1 for k in range(np.ndim(g))])
        return ends * ndimage.spline_filter1d(g / ends, order, axis, mode=mode)
    if order < 4 and np.shape(g)[axis] >= _LONG:
        return ndimage.spline_filter1d(g, order, axis, mode=mode)
    matrix = ndimage.spline_filter1d(np.eye(np.shape(g)[axis]), order, 0, mode=mode)
    return np.moveaxis(np.tensordot(matrix, g, ((0,), (axis,))), 0, axis)


@linear(ndimage.spline_filter1d)
def spline_filter1d(g, y, input, order=3, axis=-1, *, mode="mirror"):
    return unfiltered(g, order, axis, mode)


@linear(unfiltered)
def _(w, y, g, order=3, axis=-1, mode="mirror"):
    return ndimage.spline_filter1d(w, order, axis, mode=mode) if order > 1 else w


@linear(ndimage.spline_filter)
def spline_filter(g, y, input, order=3, *, mode="mirror"):
    for k in range(np.ndim(g)):
        g = unfiltered(g, order, k, mode)
    return g


# --- what a value is made of -----------------------------------------------------------------------------------------


def _within(c: Any, n: int, mode: str) -> tuple[Any, Any]:
    """A coordinate, mapped into an axis of `n` pixels, and the derivative of that; both 0 beyond a constant."""
    inside = (c >= 0) & (c <= n - 1)
    if mode == "constant":
        return np.where(inside, c, 0.0), inside * 1.0
    if mode == "nearest":
        return np.clip(c, 0, n - 1), inside * 1.0
    if n == 1 and mode in ("mirror", "wrap"):  # SciPy has no period here: the one pixel is everywhere
        return np.zeros_like(c), np.zeros_like(c)
    if mode == "mirror":
        r = np.mod(c, 2 * n - 2)
        return np.where(r > n - 1, 2 * n - 2 - r, r), np.where(r > n - 1, -1.0, 1.0)
    if mode in ("reflect", "grid-mirror"):
        r = np.mod(c + 0.5, 2 * n)
        return np.where(r > n, 2 * n - r, r) - 0.5, np.where(r > n, -1.0, 1.0)
    if mode in ("wrap", "grid-wrap"):
        return np.where(inside, c, np.mod(c, n - (mode == "wrap"))), np.ones_like(c)
    raise Refusal(None, f"scipy.ndimage has no derivative rule between pixels in mode {mode!r}")


def _pixel(i: Any, n: int, mode: str) -> Any:
    """The number of a pixel, mapped into the axis."""
    if mode in _WHOLE:
        r = np.mod(i, max(2 * n - 2, 1))
        return np.where(r > n - 1, 2 * n - 2 - r, r)
    if mode == "grid-wrap":
        return np.mod(i, n)
    r = np.mod(i, 2 * n)
    return np.where(r > n - 1, 2 * n - 1 - r, r)


def _spline(u: Any, order: int, nu: int) -> Any:
    """The B-spline of an order at `u`, or its derivative."""
    if order == 0:
        return np.ones_like(u) if nu == 0 else np.zeros_like(u)
    knots = np.arange(order + 2) - (order + 1) / 2
    return np.nan_to_num(interpolate.BSpline.basis_element(knots, extrapolate=False)(u, nu))


def taps(shape: Any, coordinates: Any, order: int, mode: str, nus: tuple[int, ...]) -> tuple[list[Any], list[Any], Any]:
    """For each axis the pixels beside each coordinate, and their weights, differentiated so many times; and where there is a
    value at all."""
    pixels, weights, valid = [], [], True
    for c, n, nu in zip(np.asarray(coordinates, float), shape, nus, strict=True):
        inside, sign = _within(c, n, mode)
        valid = valid & ((c >= 0) & (c <= n - 1) if mode == "constant" else True)
        start = (np.floor(inside) if order % 2 else np.floor(inside + 0.5)) - order // 2
        beside = [start + k for k in range(order + 1)]
        pixels.append([_pixel(i.astype(int), n, mode) for i in beside])
        weights.append([sign**nu * _spline(inside - i, order, nu) for i in beside])
    return pixels, weights, valid


def _padded(x: Any, order: int, mode: str, prefilter: bool) -> int:
    return _PAD if mode == "nearest" and order > 1 and prefilter else 0


def _products(shape: Any, coordinates: Any, order: int, mode: str, along: tuple[int, ...]) -> Any:
    """The flat places of all pixels beside, one after the other, and their weights: differentiated along these axes."""
    pixels, weights, valid = taps(shape, coordinates, order, mode, tuple(along.count(k) for k in range(len(shape))))
    for place in np.ndindex(*[order + 1] * len(shape)):
        weight: Any = valid * 1.0
        for k, tap in enumerate(place):
            weight = weight * weights[k][tap]
        yield np.ravel_multi_index([pixels[k][tap] for k, tap in enumerate(place)], shape), weight


def _spread_out(g: Any, x: Any, coordinates: Any, order: int, mode: str, prefilter: bool, along: tuple[int, ...]) -> Any:
    pad = _padded(x, order, mode, prefilter)
    shape = tuple(n + 2 * pad for n in np.shape(x))
    total = np.zeros(int(np.prod(shape)))
    for places, weight in _products(shape, np.asarray(coordinates) + pad, order, mode, along):
        total += np.bincount(np.ravel(places), np.ravel(weight * g), total.size)
    whole = np.reshape(total, shape)
    for k in range(len(shape) if prefilter else 0):
        whole = unfiltered(whole, order, k, mode)
    for k in range(len(shape) if pad else 0):
        whole = np.moveaxis(whole, k, 0)
        inner = whole[pad:-pad].copy()
        inner[0] += np.sum(whole[:pad], axis=0)
        inner[-1] += np.sum(whole[-pad:], axis=0)
        whole = np.moveaxis(inner, 0, k)
    return whole.astype(np.result_type(x))


def unsampled(g, x, coordinates, order, mode, prefilter):
    """The cotangent of the image in `ndimage.map_coordinates`."""
    return _spread_out(g, x, coordinates, order, mode, prefilter, ())


def _values(x: Any, coordinates: Any, order: int, mode: str, prefilter: bool, along: list[tuple[int, ...]]) -> list[Any]:
    """The values at the coordinates, differentiated along axes, for each of these."""
    pad = _padded(x, order, mode, prefilter)
    whole = np.pad(np.asarray(x, float), pad, mode="edge") if pad else np.asarray(x, float)
    whole = np.ravel(ndimage.spline_filter(whole, order, mode=mode) if prefilter and order > 1 else whole)
    shape, moved = tuple(n + 2 * pad for n in np.shape(x)), np.asarray(coordinates) + pad
    return [sum(weight * whole[places] for places, weight in _products(shape, moved, order, mode, axes)) for axes in along]


def slopes(x, coordinates, order, mode, prefilter):
    """The derivatives of the values in their coordinates, an axis of the image after the other."""
    found = _values(x, coordinates, order, mode, prefilter, [(k,) for k in range(np.ndim(x))])
    return np.stack(found).astype(np.result_type(x))


def bent(h, x, coordinates, order, mode, prefilter):
    """The second derivatives, times `h` along one axis and summed over it."""
    d = np.ndim(x)
    found = _values(x, coordinates, order, mode, prefilter, [(j, k) for j in range(d) for k in range(d)])
    return np.stack([sum(h[k] * found[j * d + k] for k in range(d)) for j in range(d)]).astype(np.result_type(x))


def unsloped(h, x, coordinates, order, mode, prefilter):
    """The transpose of `slopes` in the image."""
    return sum(_spread_out(h[k], x, coordinates, order, mode, prefilter, (k,)) for k in range(np.ndim(x)))


def unbent(w, h, x, coordinates, order, mode, prefilter):
    """The transpose of `bent` in the image."""
    pairs = [(j, k) for j in range(np.ndim(x)) for k in range(np.ndim(x))]
    return sum(_spread_out(w[j] * h[k], x, coordinates, order, mode, prefilter, (j, k)) for j, k in pairs)


@general(unsampled)
def _(w, y, g, x, coordinates, order=3, mode="constant", prefilter=True):
    return (
        ndimage.map_coordinates(w, coordinates, None, order, mode, 0.0, prefilter), None,
        g * slopes(w, coordinates, order, mode, prefilter),
    )  # fmt: skip


@general(slopes)
def slopes_rule(h, y, x, coordinates, order=3, mode="constant", prefilter=True):
    return unsloped(h, x, coordinates, order, mode, prefilter), bent(h, x, coordinates, order, mode, prefilter)


@general(unsloped)
def unsloped_rule(w, y, h, x, coordinates, order=3, mode="constant", prefilter=True):
    return slopes(w, coordinates, order, mode, prefilter), None, bent(h, w, coordinates, order, mode, prefilter)


@general(bent)
def bent_rule(w, y, h, x, coordinates, order=3, mode="constant", prefilter=True):
    return (
        bent(w, x, coordinates, order, mode, prefilter), unbent(w, h, x, coordinates, order, mode, prefilter), None,
    )  # fmt: skip


@general(unbent)
def unbent_rule(v, y, w, h, x, coordinates, order=3, mode="constant", prefilter=True):
    return (
        bent(h, v, coordinates, order, mode, prefilter), bent(w, v, coordinates, order, mode, prefilter), None, None,
    )  # fmt: skip


for _rule in (bent_rule, unbent_rule):
    _rule.constant("coordinates", "the value of an image has no third derivative in its coordinates")


@slopes_rule.forward()
def _(y, x, coordinates, x_dot, coordinates_dot, order=3, mode="constant", prefilter=True):
    along = slopes(x_dot, coordinates, order, mode, prefilter)
    return along, bent(coordinates_dot, x, coordinates, order, mode, prefilter)


# --- at any places ---------------------------------------------------------------------------------------------------


@general(ndimage.map_coordinates)
def map_coordinates(g, y, input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    return (
        unsampled(g, input, coordinates, order, mode, prefilter),
        g * slopes(input, coordinates, order, mode, prefilter),
    )


@map_coordinates.forward()
def _(
    y, input, coordinates, input_dot, coordinates_dot, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):  # fmt: skip
    return (
        ndimage.map_coordinates(input_dot, coordinates, None, order, mode, 0.0, prefilter),
        np.sum(coordinates_dot * slopes(input, coordinates, order, mode, prefilter), axis=0),
    )


# --- on a grid -------------------------------------------------------------------------------------------------------


def grid(shape, dtype=float):
    """The coordinates of all pixels of an image of this shape."""
    return np.stack(np.meshgrid(*[np.arange(n, dtype=dtype) for n in shape], indexing="ij"))


def upright(x):
    """The shape of one number for each axis, beside the coordinates of an image."""
    return (np.ndim(x), *(1,) * np.ndim(x))


def in_a_row(v):
    """Refusal for what is no row of numbers, nor one."""
    if np.ndim(v) > 1:
        raise Refusal(None, "shifts of the axes that are no row of numbers have no derivative rule")


def along_axes(v, x):
    """A number for each axis, or one for all, beside the coordinates of an image."""
    in_a_row(v)
    return np.reshape(np.broadcast_to(v, np.ndim(x)), upright(x))


def shifted(x, shift):
    """Where `ndimage.shift` takes its values from."""
    return grid(np.shape(x)) - along_axes(shift, x)


def each_axis(h):
    """The sums of coordinates' cotangents over the pixels."""
    return np.sum(np.reshape(h, (np.shape(h)[0], -1)), axis=1)


def zoomed(x, y, grid_mode):
    """Where `ndimage.zoom` takes its values from."""
    places = [np.arange(float(n)) for n in np.shape(y)]
    for k, (m, n) in enumerate(zip(np.shape(x), np.shape(y), strict=True)):
        if grid_mode:
            places[k] = (places[k] + 0.5) * (m / n) - 0.5
        else:
            places[k] = places[k] * ((m - 1) / (n - 1) if n > 1 else 0.0)
    return np.stack(np.meshgrid(*places, indexing="ij"))


def rotated(x, y, angle, axes):
    """Where `ndimage.rotate` takes its values from."""
    first, second = sorted(k % np.ndim(x) for k in axes)
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    turn = np.array([[c, s], [-s, c]])
    places = grid(np.shape(y))
    plane = places[[first, second]]
    middle = (np.array(np.shape(y))[[first, second]] - 1) / 2
    offset = (np.array(np.shape(x))[[first, second]] - 1) / 2 - turn @ middle
    places[[first, second]] = np.tensordot(turn, plane, 1) + np.reshape(offset, (2, *[1] * np.ndim(x)))
    return places


flat(grid, upright, in_a_row, zoomed, rotated)


@general(ndimage.shift)
def shift(g, y, input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    return (
        unsampled(g, input, shifted(input, shift), order, mode, prefilter),
        unbroadcast(-each_axis(g * slopes(input, shifted(input, shift), order, mode, prefilter)), shift),
    )


@shift.forward()
def _(y, input, shift, input_dot, shift_dot, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    return (
        ndimage.shift(input_dot, shift, None, order, mode, 0.0, prefilter),
        -np.sum(along_axes(shift_dot, input) * slopes(input, shifted(input, shift), order, mode, prefilter), axis=0),
    )


@linear(ndimage.zoom)
def zoom(g, y, input, zoom=1.0, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    return unsampled(g, input, zoomed(input, g, grid_mode), order, mode, prefilter)


@linear(ndimage.rotate)
def rotate(
    g, y, input, angle=0.0, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    return unsampled(g, input, rotated(input, g, angle, axes), order, mode, prefilter)


def mapped(x, y, matrix, offset):
    """Where `ndimage.affine_transform` takes its values from."""
    has_scales(matrix)
    return applied(matrix, grid(np.shape(y))) + along_axes(offset, x)


def is_diagonal(matrix: Any, places: Any) -> bool:
    """Whether a matrix is given by its diagonal; Refusal for one of homogeneous coordinates."""
    d = len(places)
    if np.shape(matrix) not in ((d,), (d, d)):
        raise Refusal(None, "scipy.ndimage.affine_transform has no derivative rule with homogeneous coordinates, or for "
                            "another number of axes: give a square matrix and its offset")  # fmt: skip
    return np.ndim(matrix) == 1


def has_scales(matrix: Any) -> bool:
    """Whether a matrix that is given by its diagonal has no 0 there; Refusal where it has one."""
    if np.ndim(matrix) == 1 and not np.all(matrix):
        raise Refusal(None, "scipy.ndimage.affine_transform divides by each of the scales of a diagonal, so that it has no "
                            "derivative where one is 0: give the matrix, as in np.diag(scales)")  # fmt: skip
    return True


flat(is_diagonal, has_scales)


def applied(matrix, places):
    """A matrix, or the diagonal of one, times the coordinates."""
    if is_diagonal(matrix, places):
        return np.reshape(matrix, upright(places[0])) * places
    return np.tensordot(matrix, places, 1)


def unapplied(h, matrix, places):
    """The cotangent of the matrix."""
    if is_diagonal(matrix, places):
        return each_axis(h * places)
    n = np.shape(matrix)[0]
    return np.reshape(h, (n, -1)) @ np.reshape(places, (n, -1)).T


@general(ndimage.affine_transform)
def affine_transform(
    g, y, input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    places = mapped(input, y, matrix, offset)
    h = g * slopes(input, places, order, mode, prefilter)
    return unsampled(g, input, places, order, mode, prefilter), unapplied(h, matrix, grid(np.shape(y), h.dtype))


@affine_transform.forward()
def _(
    y, input, matrix, input_dot, matrix_dot, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0,
    prefilter=True,
):  # fmt: skip
    places = mapped(input, y, matrix, offset)
    return (
        ndimage.affine_transform(input_dot, matrix, offset, output_shape, None, order, mode, 0.0, prefilter),
        np.sum(applied(matrix_dot, grid(np.shape(y), y.dtype)) * slopes(input, places, order, mode, prefilter), axis=0),
    )


@affine_transform.keyword("offset", "general")
def affine_offset(
    g, y, input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):  # fmt: skip
    h = g * slopes(input, mapped(input, y, matrix, offset), order, mode, prefilter)
    return unbroadcast(each_axis(h), offset)


@affine_offset.forward()
def _(
    y, input, matrix, offset_dot, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0,
    prefilter=True,
):  # fmt: skip
    moved = slopes(input, mapped(input, y, matrix, offset), order, mode, prefilter)
    return np.sum(along_axes(offset_dot, input) * moved, axis=0)


for _rule in (zoom, rotate):
    _rule.adds("cval")
for _rule in (map_coordinates, shift, zoom, rotate, affine_transform):
    _rule.refuse(
        lambda output: not (output.known and output.value is None),
        "a function of scipy.ndimage with `output=` has no derivative rule: use its result",
    )
affine_transform.refuse(
    lambda offset: (offset.rank or 0) > 1, "`affine_transform` has a derivative rule with an offset for each axis alone"
)


of_arrays(ndimage.map_coordinates, ndimage.shift, ndimage.zoom, ndimage.rotate, ndimage.affine_transform)
