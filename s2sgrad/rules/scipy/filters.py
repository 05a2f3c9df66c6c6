"""Rules of scipy.ndimage for linear filters: convolutions along an edge that is continued by a mode.

y = ndimage.sobel(x)                   ->   x_bar = -folded(ndimage.sobel(np.pad(y_bar, m), mode="constant"), m, "reflect")
y = ndimage.gaussian_filter(x, 2.0)    ->   x_bar = ndimage.gaussian_filter(y_bar, 2.0)

A filter continues its argument, convolves it, and keeps the middle.  Its transpose puts zeros around the cotangent,
correlates it, and adds up what was continued (`folded`).  Where zeros or a period continue it, and for even kernels under
"reflect", that is the same filter, mirrored.

The kernel of a Gaussian is normalized after it is cut off: `dk/ds = k * (u ** 2 - sum(k * u ** 2)) / s` for `u = x / s`.
Derivatives of it are k times Hermite polynomials, `He[n + 1] = u * He[n] - n * He[n - 1]` (Abramowitz and Stegun, 22.7).
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.table import flat, general, linear, of_complex_numbers
from s2sgrad.runtime import Refusal, over

# --- what is beyond the edge -----------------------------------------------------------------------------------------

_AS_PADDED = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
_ZEROS = ("constant", "grid-constant")
_EVEN = ("reflect", "grid-mirror", "wrap", "grid-wrap", *_ZEROS)  # an even kernel is its own transpose


def modes_of(x, mode):
    """The mode of every axis."""
    return (mode,) * np.ndim(x) if isinstance(mode, str) else tuple(mode)


def margins(x, before, after, mode, axes=None):
    """How far a filter reads beyond the edges of `x`, axis by axis: nowhere along axes that are not filtered, or where there
    are zeros.

    >>> margins(np.zeros((2, 3)), 1, 2, "reflect", (1,))
    [(0, 0), (1, 2)]
    """
    own = axes_of(x, axes)
    before, after = np.broadcast_to(before, len(own)), np.broadcast_to(after, len(own))
    modes = modes_of(np.zeros((0,) * len(own)), mode)
    reach = {k: (int(before[j]), int(after[j])) for j, k in enumerate(own) if modes[j] not in _ZEROS}
    return [reach.get(k, (0, 0)) for k in range(np.ndim(x))] or 0  # a number has none


def axes_of(x, axes):
    """The axes that are filtered, counted from the front; None: all.

    >>> axes_of(np.zeros((2, 3)), None), axes_of(np.zeros((2, 3)), -1)
    ((0, 1), (1,))
    """
    axes = range(np.ndim(x)) if axes is None else axes
    return tuple(int(k) % np.ndim(x) for k in np.atleast_1d(axes))


def continued(x, margin, mode, axes=None):
    """`x` with what a filter reads beyond its edges.

    >>> continued(np.array([1.0, 2.0, 4.0]), [(2, 1)], "reflect")
    array([2., 1., 1., 2., 4., 4.])
    """
    for k, each in by_axis(x, margin, mode, axes):
        x = np.pad(x, [pair if j == k else (0, 0) for j, pair in enumerate(margin)], mode=each)
    return x


def by_axis(x, margin, mode, axes):
    """The axes with margins, and what NumPy calls their modes."""
    own = axes_of(x, axes)
    modes = mode if not isinstance(mode, str) else (mode,) * len(own)
    return [(k, _AS_PADDED[modes[j]]) for j, k in enumerate(own) if margin[k] != (0, 0)]


def folded(g, margin, mode, axes=None):
    """The transpose of `continued`: the margins of `g`, added up where they were taken from.

    >>> folded(np.ones(6), [(2, 1)], "reflect")
    array([2., 2., 2.])
    """
    for k, each in by_axis(g, margin, mode, axes):
        low, high = margin[k]
        g = np.moveaxis(g, k, 0)
        n = len(g) - low - high
        places, inner = np.pad(np.arange(n), margin[k], mode=each), g[low : low + n].copy()
        np.add.at(inner, places[:low], g[:low])
        np.add.at(inner, places[low + n :], g[low + n :])
        g = np.moveaxis(inner, 0, k)
    return g


flat(modes_of, margins, axes_of)


@linear(continued)
def _(w, y, x, margin=None, mode="reflect", axes=None):
    return folded(w, margin, mode, axes)


@linear(folded)
def _(w, y, g, margin=None, mode="reflect", axes=None):
    return continued(w, margin, mode, axes)


# --- kernels of any shape --------------------------------------------------------------------------------------------


def reach(weights, origin):
    """How far the correlation with `weights` reads before each place, and behind it, axis by axis."""
    size = np.array(np.shape(weights))
    before = size // 2 + np.broadcast_to(origin, np.ndim(weights))
    return before, size - 1 - before


def turned_origin(weights, origin):
    """The origin of a correlation that is the convolution with `weights`, of which each axis is turned around."""
    return [
        int(-o - (n % 2 == 0)) for n, o in zip(np.shape(weights), np.broadcast_to(origin, np.ndim(weights)), strict=True)
    ]


def origins(weights, origin):
    """The origin on every axis of a kernel."""
    return [int(o) for o in np.broadcast_to(origin, np.ndim(weights))]


flat(reach, turned_origin, origins)


def uncorrelate(g, x, weights, mode, origin):
    """The cotangent of `x` in `ndimage.correlate(x, weights, None, mode, 0.0, origin)`."""
    before, after = reach(weights, origin)
    margin = margins(x, before, after, mode)
    return folded(ndimage.convolve(np.pad(g, margin), weights, None, "constant", 0.0, origin), margin, mode)


def unweight(g, x, weights, mode, cval, origin):
    """The cotangent of `weights` in the same: for each of them the sum of `g` times what it is multiplied with."""
    before, after = reach(weights, origin)
    margin = [(int(low), int(high)) for low, high in zip(before, after, strict=True)] or 0
    if mode in _ZEROS:
        x = np.pad(x, margin, constant_values=cval)
    else:
        x = continued(x, margin, mode)
    g, x, out = np.asarray(g), np.asarray(x), np.zeros(np.shape(weights), np.result_type(weights))
    for place in np.ndindex(out.shape):
        section = tuple(slice(k, k + n) for k, n in zip(place, g.shape, strict=True))
        out[place] = np.sum(g * x[section])
    return out


@general(uncorrelate)
def _(w, y, g, x, weights, mode="reflect", origin=0):
    return ndimage.correlate(w, weights, None, mode, 0.0, origin), None, unweight(g, w, weights, mode, 0.0, origin)


@general(unweight)
def _(w, y, g, x, weights, mode="reflect", cval=0.0, origin=0):
    return ndimage.correlate(x, w, None, mode, cval, origin), uncorrelate(g, x, w, mode, origin), None


@general(ndimage.correlate)
def correlate(g, y, input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    x_bar = uncorrelate(g, input, weights, mode, origins(weights, origin))
    return x_bar, unweight(g, input, weights, mode, cval, origins(weights, origin))


@general(ndimage.convolve)
def convolve(g, y, input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    turned, o = np.flip(weights), turned_origin(weights, origin)
    return uncorrelate(g, input, turned, mode, o), np.flip(unweight(g, input, turned, mode, cval, o))


@correlate.forward()
def _(y, input, weights, input_dot, weights_dot, output=None, mode="reflect", cval=0.0, origin=0):
    along = ndimage.correlate(input_dot, weights, None, mode, 0.0, origin)
    return along, ndimage.correlate(input, weights_dot, None, mode, cval, origin)


@convolve.forward()
def _(y, input, weights, input_dot, weights_dot, output=None, mode="reflect", cval=0.0, origin=0):
    along = ndimage.convolve(input_dot, weights, None, mode, 0.0, origin)
    return along, ndimage.convolve(input, weights_dot, None, mode, cval, origin)


# --- kernels along one axis ------------------------------------------------------------------------------------------


def laid(weights, x, axis):
    """`weights` along one axis of `x`."""
    return np.reshape(weights, [np.size(weights) if k == axis % np.ndim(x) else 1 for k in range(np.ndim(x))])


def laid_origin(x, axis, origin):
    """`origin` on this axis, 0 on the others."""
    return [origin if k == axis % np.ndim(x) else 0 for k in range(np.ndim(x))]


@linear(laid)
def _(w, y, weights, x, axis=-1):
    return np.ravel(w), None


flat(laid_origin)


@general(ndimage.correlate1d)
def correlate1d(g, y, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    kernel, o = laid(weights, input, axis), laid_origin(input, axis, origin)
    return uncorrelate(g, input, kernel, mode, o), np.ravel(unweight(g, input, kernel, mode, cval, o))


@general(ndimage.convolve1d)
def convolve1d(g, y, input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    kernel = np.flip(laid(weights, input, axis))
    o = turned_origin(kernel, laid_origin(input, axis, origin))
    return uncorrelate(g, input, kernel, mode, o), np.flip(np.ravel(unweight(g, input, kernel, mode, cval, o)))


@correlate1d.forward()
def _(y, input, weights, input_dot, weights_dot, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    along = ndimage.correlate1d(input_dot, weights, axis, None, mode, 0.0, origin)
    return along, ndimage.correlate1d(input, weights_dot, axis, None, mode, cval, origin)


@convolve1d.forward()
def _(y, input, weights, input_dot, weights_dot, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    along = ndimage.convolve1d(input_dot, weights, axis, None, mode, 0.0, origin)
    return along, ndimage.convolve1d(input, weights_dot, axis, None, mode, cval, origin)


# --- kernels that SciPy knows ----------------------------------------------------------------------------------------


@linear(ndimage.sobel)
def sobel(g, y, input, axis=-1, output=None, mode="reflect", cval=0.0):
    margin = margins(input, 1, 1, mode)
    return -folded(ndimage.sobel(np.pad(g, margin), axis, None, "constant"), margin, mode)


@linear(ndimage.prewitt)
def prewitt(g, y, input, axis=-1, output=None, mode="reflect", cval=0.0):
    margin = margins(input, 1, 1, mode)
    return -folded(ndimage.prewitt(np.pad(g, margin), axis, None, "constant"), margin, mode)


@linear(ndimage.laplace)
def laplace(g, y, input, output=None, mode="reflect", cval=0.0):
    margin = margins(input, 1, 1, mode)
    return folded(ndimage.laplace(np.pad(g, margin), None, "constant"), margin, mode)


def even_mode(mode):
    """Whether an even kernel is its own transpose where the mode of all axes is this one."""
    return mode.known and mode.value in _EVEN


@laplace.refined(even_mode)
def _(g, y, input, output=None, mode="reflect", cval=0.0):
    return ndimage.laplace(g, None, mode)


def turned(size, origin):
    """The origin of the transpose of a running mean."""
    return -origin - (size % 2 == 0)


@linear(ndimage.uniform_filter1d)
def uniform_filter1d(g, y, input, size=3, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    margin = margins(input, size, size, mode, axis)
    along = ndimage.uniform_filter1d(np.pad(g, margin), size, axis, None, "constant", 0.0, turned(size, origin))
    return folded(along, margin, mode, axis)


def per_axis(x, axes, *settings):
    """For each axis its place among `axes`, its number, and what each setting is along it: one for all, or a list of them.

    >>> per_axis(np.zeros((2, 3)), 1, 5), per_axis(np.zeros((2, 3)), None, [0, 1])
    ([(0, 1, 5)], [(0, 0, 0), (1, 1, 1)])
    """
    own = axes_of(x, axes)
    spread = [s if isinstance(s, (list, tuple, np.ndarray)) and np.ndim(s) else (s,) * len(own) for s in settings]
    return list(zip(range(len(own)), own, *spread, strict=True))


flat(turned, per_axis, by_axis)


@linear(ndimage.uniform_filter)
def uniform_filter(g, y, input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    for _, axis, n, each, o in per_axis(input, axes, size, mode, origin):
        if n <= 1:  # as SciPy leaves these axes alone
            continue
        margin = margins(input, n, n, each, axis)
        along = ndimage.uniform_filter1d(np.pad(g, margin), n, axis, None, "constant", 0.0, turned(n, o))
        g = folded(along, margin, each, axis)
    return g


for _rule in (sobel, prewitt, laplace, uniform_filter1d, uniform_filter):
    _rule.adds("cval")

# --- Gaussians -------------------------------------------------------------------------------------------------------


def radius_of(sigma, truncate, radius):
    """How far the kernel of a Gaussian goes."""
    return int(radius) if radius is not None else int(truncate * float(sigma) + 0.5)


def is_filtered(sigma):
    """Whether SciPy filters at all with this deviation."""
    return float(sigma) > 1e-15


flat(radius_of, is_filtered)


def gaussian_slopes(sigma, order, radius):
    """The derivative in `sigma` of the kernel of a Gaussian, or of a derivative of one."""
    u = np.arange(-radius, radius + 1) / sigma
    bell = np.exp(-0.5 * u * u)
    bell = bell / np.sum(bell)
    below, here = 0.0 * u, 0.0 * u + 1.0
    for n in range(order):
        below, here = here, u * here - n * below
    change = here * (u * u - np.sum(bell * u * u) - order) - order * u * below
    return change * bell * (-1.0 / sigma) ** order / sigma


def ungaussian(g, x, sigma, axis, order, mode, truncate, radius):
    """The cotangent of `x` of a Gaussian filter along one axis."""
    n = radius_of(sigma, truncate, radius)
    margin = margins(x, n, n, mode, axis)
    along = ndimage.gaussian_filter1d(np.pad(g, margin), sigma, axis, order, None, "constant", 0.0, truncate, radius=radius)
    return (-1.0) ** order * folded(along, margin, mode, axis)


def unblurred(g, x, sigma, order, mode, truncate, radius, axes):
    """The cotangent of `x` of a Gaussian filter along several axes."""
    for k, axis, n, each, r in per_axis(x, axes, order, mode, radius):
        if is_filtered(along_axis(sigma, k)):
            g = ungaussian(g, x, along_axis(sigma, k), axis, n, each, truncate, r)
    return g


def along_axis(sigma, k):
    """The deviation along one axis: one for all, or an item."""
    return sigma[k] if np.ndim(sigma) else sigma


def slope_image(x, sigma, axis, order, mode, cval, truncate, radius):
    """The derivative in `sigma` of a Gaussian filter along one axis."""
    if not is_filtered(sigma):
        return np.zeros_like(x)
    slopes = gaussian_slopes(sigma, order, radius_of(sigma, truncate, radius))
    return ndimage.convolve1d(x, slopes, axis, None, mode, cval)


def one_deviation(sigma):
    """True; Refusal for several deviations."""
    if np.ndim(sigma):
        raise Refusal(None, "scipy.ndimage.gaussian_filter has no derivative rule in several deviations: filter along one "
                            "axis after the other with gaussian_filter1d")  # fmt: skip
    return True


flat(one_deviation)


def blur_slope(x, sigma, order, mode, cval, truncate, radius, axes):
    """The derivative in the deviation of all axes: along each in turn, while the others are filtered as they were."""
    total = np.zeros_like(x)
    for k in axes_of(x, axes):
        t, beyond = x, cval
        for _, axis, n, each, r in per_axis(x, axes, order, mode, radius):
            if axis == k and one_deviation(sigma):
                t, beyond = slope_image(t, sigma, axis, n, each, cval, truncate, r), 0.0
            else:
                t = ndimage.gaussian_filter1d(t, sigma, axis, n, None, each, beyond, truncate, radius=r)
        total = total + t
    return total


def even(order, mode):
    """Whether the kernel is even, and its own transpose."""
    return order.known and order.value == 0 and even_mode(mode)


@general(ndimage.gaussian_filter1d)
def gaussian_filter1d(
    g, y, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    return (
        unblurred(g, input, sigma, order, mode, truncate, radius, axis),
        np.sum(g * slope_image(input, sigma, axis, order, mode, cval, truncate, radius)),
    )


@gaussian_filter1d.refined(even)
def _(g, y, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    return (
        ndimage.gaussian_filter1d(g, sigma, axis, order, None, mode, 0.0, truncate, radius=radius),
        np.sum(g * slope_image(input, sigma, axis, order, mode, cval, truncate, radius)),
    )


@gaussian_filter1d.forward()
def _(
    y, input, sigma, input_dot, sigma_dot, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *,
    radius=None,
):  # fmt: skip
    return (
        ndimage.gaussian_filter1d(input_dot, sigma, axis, order, None, mode, 0.0, truncate, radius=radius),
        sigma_dot * slope_image(input, sigma, axis, order, mode, cval, truncate, radius),
    )


@general(ndimage.gaussian_filter)
def gaussian_filter(
    g, y, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    return (
        unblurred(g, input, sigma, order, mode, truncate, radius, axes),
        np.sum(g * blur_slope(input, sigma, order, mode, cval, truncate, radius, axes)),
    )


@gaussian_filter.refined(even)
def _(g, y, input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None):
    return (
        ndimage.gaussian_filter(g, sigma, order, None, mode, 0.0, truncate, radius=radius, axes=axes),
        np.sum(g * blur_slope(input, sigma, order, mode, cval, truncate, radius, axes)),
    )


@gaussian_filter.forward()
def _(
    y, input, sigma, input_dot, sigma_dot, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *,
    radius=None, axes=None,
):  # fmt: skip
    return (
        ndimage.gaussian_filter(input_dot, sigma, order, None, mode, 0.0, truncate, radius=radius, axes=axes),
        sigma_dot * blur_slope(input, sigma, order, mode, cval, truncate, radius, axes),
    )


@linear(ndimage.gaussian_laplace)
def gaussian_laplace(g, y, input, sigma=1.0, output=None, mode="reflect", cval=0.0):
    margin = gaussian_margins(input, sigma, mode)
    return folded(ndimage.gaussian_laplace(np.pad(g, margin), sigma, None, "constant"), margin, mode)


@gaussian_laplace.refined(even_mode)
def _(g, y, input, sigma=1.0, output=None, mode="reflect", cval=0.0):
    return ndimage.gaussian_laplace(g, sigma, None, mode)


gaussian_laplace.adds("cval")


def gaussian_margins(x, sigma, mode):
    """How far Gaussians of these deviations reach beyond the edges, by axis."""
    reach = [radius_of(s, 4.0, None) for s in np.broadcast_to(sigma, np.ndim(x))]
    return margins(x, reach, reach, mode)


def towards(x, axis):
    """The orders of a first derivative along one axis."""
    return [int(k == axis) for k in range(np.ndim(x))]


flat(gaussian_margins, towards)


@general(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(g, y, input, sigma=1.0, output=None, mode="reflect", cval=0.0):
    x_bar = np.zeros_like(input) if np.ndim(input) else g  # without axes the input is the result
    for k in range(np.ndim(input)):
        along = ndimage.gaussian_filter(input, sigma, towards(input, k), None, mode, cval)
        x_bar = x_bar + unblurred(g * over(along, y), input, sigma, towards(input, k), mode, 4.0, None, None)
    return x_bar


def steepness(y, input, input_dot, sigma, mode, cval):
    """The tangent of `gaussian_gradient_magnitude`."""
    total = np.zeros_like(input) if np.ndim(input) else input_dot
    for k in range(np.ndim(input)):
        along = ndimage.gaussian_filter(input, sigma, towards(input, k), None, mode, cval)
        total = total + over(along, y) * ndimage.gaussian_filter(input_dot, sigma, towards(input, k), None, mode)
    return total


@gaussian_gradient_magnitude.forward()
def _(y, input, input_dot, sigma=1.0, output=None, mode="reflect", cval=0.0):
    return steepness(y, input, input_dot, sigma, mode, cval)


# --- results in buffers ----------------------------------------------------------------------------------------------

for _rule in (
    correlate, convolve, correlate1d, convolve1d, sobel, prewitt, laplace, uniform_filter1d, uniform_filter,
    gaussian_filter1d, gaussian_filter, gaussian_laplace, gaussian_gradient_magnitude,
):  # fmt: skip
    _rule.refuse(
        lambda output: not (output.known and output.value is None),
        "a filter of scipy.ndimage with `output=` has no derivative rule: use its result",
    )


of_complex_numbers(
    ndimage.gaussian_filter,
    ndimage.gaussian_filter1d,
    ndimage.convolve,
    ndimage.convolve1d,
    ndimage.uniform_filter,
    ndimage.sobel,
    ndimage.laplace,
)


of_arrays(ndimage.correlate)
