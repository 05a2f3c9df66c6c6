"""Rules of scipy.ndimage for filters that choose an element of a neighbourhood, and of what is made of their results.

y = ndimage.median_filter(x, 3)       ->   x_bar = unchosen(y_bar, around(ndimage.median_filter, x, 3, ..), x)

Such a filter commutes with everything that keeps the order: applied to the ranks of the elements, it tells which one is
chosen.  Of equal elements it is one of them, as for `np.sort`; `cval`, where it is chosen, gets nothing.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import Refusal

# --- elements by their places ----------------------------------------------------------------------------------------


def places_chosen(function, x, cval, **settings):
    """The places in `np.ravel(x)` of the elements that a filter chooses; the size of `x` for `cval`.

    >>> places_chosen(ndimage.maximum_filter, np.array([3.0, 1.0, 2.0]), 0.0, size=2)
    array([0, 0, 2])
    """
    if settings.get("structure") is not None and np.any(np.asarray(settings["structure"])):
        raise Refusal(None, f"scipy.ndimage.{function.__name__} with a structure that is not flat has no derivative rule: "
                            "use footprint")  # fmt: skip
    x = np.asarray(x)
    order = np.argsort(x, axis=None, kind="stable")
    ranks = np.empty(x.size)
    ranks[order] = np.arange(x.size)
    border = np.searchsorted(np.ravel(x)[order], cval) - 0.5
    settings = {name: value for name, value in settings.items() if value is not None}
    chosen = function(np.reshape(ranks, x.shape), cval=float(border), **settings)
    whole = chosen.astype(int)
    return np.where(chosen == whole, np.append(order, x.size)[whole], x.size) if x.size else whole


def chosen(x, places):
    """The elements of `x` at these places; 0 behind the last."""
    return np.append(x, np.zeros(1, np.result_type(x)))[places]


def unchosen(g, places, x):
    """The transpose of `chosen`: `g`, added up at the places in an array like `x`."""
    sums = np.bincount(np.ravel(places), np.ravel(g), np.size(x) + 1)
    return np.reshape(sums[:-1], np.shape(x)).astype(np.result_type(g))


flat(places_chosen)


@linear(chosen)
def _(w, y, x, places):
    return unchosen(w, places, x), None


@linear(unchosen)
def _(w, y, g, places, x):
    return chosen(w, places), None, None


def around(function, x, size, footprint, mode, cval, origin, axes):
    """The places that a filter of this size or footprint chooses."""
    return places_chosen(function, x, cval, size=size, footprint=footprint, mode=mode, origin=origin, axes=axes)


def morphed(function, x, size, footprint, structure, mode, cval, origin, axes):
    """The places that a grey morphology chooses, with a flat structure."""
    settings = {"size": size, "footprint": footprint, "structure": structure, "mode": mode, "origin": origin, "axes": axes}
    return places_chosen(function, x, cval, **settings)


def in_line(function, x, size, axis, mode, cval, origin):
    """The places that a filter along an axis chooses."""
    return places_chosen(function, x, cval, size=size, axis=axis, mode=mode, origin=origin)


def of_rank(x, rank, size, footprint, mode, cval, origin, axes):
    """The places that `rank_filter` chooses."""
    settings = {"rank": rank, "size": size, "footprint": footprint, "mode": mode, "origin": origin, "axes": axes}
    return places_chosen(ndimage.rank_filter, x, cval, **settings)


def of_percentile(x, percentile, size, footprint, mode, cval, origin, axes):
    """The places that `percentile_filter` chooses."""
    settings = {"percentile": percentile, "size": size, "footprint": footprint, "mode": mode, "origin": origin, "axes": axes}
    return places_chosen(ndimage.percentile_filter, x, cval, **settings)


flat(around, morphed, in_line, of_rank, of_percentile)

# --- filters ---------------------------------------------------------------------------------------------------------


@general(ndimage.maximum_filter)
def maximum_filter(g, y, input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return unchosen(g, around(ndimage.maximum_filter, input, size, footprint, mode, cval, origin, axes), input)


@maximum_filter.forward()
def _(y, input, input_dot, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return chosen(input_dot, around(ndimage.maximum_filter, input, size, footprint, mode, cval, origin, axes))


@general(ndimage.minimum_filter)
def minimum_filter(g, y, input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return unchosen(g, around(ndimage.minimum_filter, input, size, footprint, mode, cval, origin, axes), input)


@minimum_filter.forward()
def _(y, input, input_dot, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return chosen(input_dot, around(ndimage.minimum_filter, input, size, footprint, mode, cval, origin, axes))


@general(ndimage.median_filter)
def median_filter(g, y, input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return unchosen(g, around(ndimage.median_filter, input, size, footprint, mode, cval, origin, axes), input)


@median_filter.forward()
def _(y, input, input_dot, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return chosen(input_dot, around(ndimage.median_filter, input, size, footprint, mode, cval, origin, axes))


@general(ndimage.rank_filter)
def rank_filter(
    g, y, input, rank=0, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, of_rank(input, rank, size, footprint, mode, cval, origin, axes), input)


@rank_filter.forward()
def _(y, input, input_dot, rank=0, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return chosen(input_dot, of_rank(input, rank, size, footprint, mode, cval, origin, axes))


@general(ndimage.percentile_filter)
def percentile_filter(
    g, y, input, percentile=0, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, of_percentile(input, percentile, size, footprint, mode, cval, origin, axes), input)


@percentile_filter.forward()
def _(
    y,
    input,
    input_dot,
    percentile=0,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(input_dot, of_percentile(input, percentile, size, footprint, mode, cval, origin, axes))


@general(ndimage.maximum_filter1d)
def maximum_filter1d(g, y, input, size=3, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return unchosen(g, in_line(ndimage.maximum_filter1d, input, size, axis, mode, cval, origin), input)


@maximum_filter1d.forward()
def _(y, input, input_dot, size=3, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return chosen(input_dot, in_line(ndimage.maximum_filter1d, input, size, axis, mode, cval, origin))


@general(ndimage.minimum_filter1d)
def minimum_filter1d(g, y, input, size=3, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return unchosen(g, in_line(ndimage.minimum_filter1d, input, size, axis, mode, cval, origin), input)


@minimum_filter1d.forward()
def _(y, input, input_dot, size=3, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return chosen(input_dot, in_line(ndimage.minimum_filter1d, input, size, axis, mode, cval, origin))


# --- grey morphology -------------------------------------------------------------------------------------------------


@general(ndimage.grey_erosion)
def grey_erosion(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes), input)


@grey_erosion.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(input_dot, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes))


@general(ndimage.grey_dilation)
def grey_dilation(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes), input)


@grey_dilation.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(input_dot, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes))


@general(ndimage.grey_opening)
def grey_opening(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, morphed(ndimage.grey_opening, input, size, footprint, structure, mode, cval, origin, axes), input)


@grey_opening.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(input_dot, morphed(ndimage.grey_opening, input, size, footprint, structure, mode, cval, origin, axes))


@general(ndimage.grey_closing)
def grey_closing(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, morphed(ndimage.grey_closing, input, size, footprint, structure, mode, cval, origin, axes), input)


@grey_closing.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(input_dot, morphed(ndimage.grey_closing, input, size, footprint, structure, mode, cval, origin, axes))


@general(ndimage.white_tophat)
def white_tophat(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return g - unchosen(g, morphed(ndimage.grey_opening, input, size, footprint, structure, mode, cval, origin, axes), input)


@white_tophat.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return input_dot - chosen(
        input_dot, morphed(ndimage.grey_opening, input, size, footprint, structure, mode, cval, origin, axes)
    )


@general(ndimage.black_tophat)
def black_tophat(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(g, morphed(ndimage.grey_closing, input, size, footprint, structure, mode, cval, origin, axes), input) - g


@black_tophat.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return (
        chosen(input_dot, morphed(ndimage.grey_closing, input, size, footprint, structure, mode, cval, origin, axes))
        - input_dot
    )


@general(ndimage.morphological_gradient)
def morphological_gradient(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return unchosen(
        g, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes), input
    ) - unchosen(g, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes), input)


@morphological_gradient.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return chosen(
        input_dot, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes)
    ) - chosen(input_dot, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes))


@general(ndimage.morphological_laplace)
def morphological_laplace(
    g, y, input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    return (
        unchosen(g, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes), input)
        + unchosen(g, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes), input)
        - 2.0 * g
    )


@morphological_laplace.forward()
def _(
    y,
    input,
    input_dot,
    size=None,
    footprint=None,
    structure=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return (
        chosen(input_dot, morphed(ndimage.grey_dilation, input, size, footprint, structure, mode, cval, origin, axes))
        + chosen(input_dot, morphed(ndimage.grey_erosion, input, size, footprint, structure, mode, cval, origin, axes))
        - 2.0 * input_dot
    )


for _rule in (
    maximum_filter,
    minimum_filter,
    median_filter,
    rank_filter,
    percentile_filter,
    maximum_filter1d,
    minimum_filter1d,
    grey_erosion,
    grey_dilation,
    grey_opening,
    grey_closing,
    white_tophat,
    black_tophat,
    morphological_gradient,
    morphological_laplace,
):
    _rule.refuse(
        lambda output: not (output.known and output.value is None),
        "a filter of scipy.ndimage with `output=` has no derivative rule: use its result",
    )
