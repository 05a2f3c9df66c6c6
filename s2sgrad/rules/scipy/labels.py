"""Rules of scipy.ndimage for sums, means and extremes over labelled regions, and what is flat: labels, distances, shapes.

y = ndimage.mean(x, labels, index)    ->   x_bar = (y_bar / counted(x, labels, index))[the place of each label in index]

Elements whose label is not in `index` have no share.  The median and the extremes choose elements, as the filters do.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from s2sgrad.rules.reductions import of_arrays
from s2sgrad.rules.scipy.fourier_filters import refuse_arrays_for_results
from s2sgrad.rules.scipy.rank_filters import chosen, unchosen
from s2sgrad.rules.table import existing, flat, general, linear
from s2sgrad.runtime import Refusal, over

# --- which region each element is in ---------------------------------------------------------------------------------


def regions(x, labels, index):
    """For each element of `x` the place of its label in `index`; -1 for one that is not there.

    >>> regions(np.zeros(4), np.array([1, 2, 2, 0]), [2, 1])
    array([ 1,  0,  0, -1])
    """
    if labels is None:
        return np.zeros(np.shape(x), int)
    if np.broadcast_shapes(np.shape(labels), np.shape(x)) != np.shape(x):
        raise Refusal(None, "scipy.ndimage has no derivative rule where labels have other axes than the array: broadcast it")
    labels = np.broadcast_to(labels, np.shape(x))
    if index is None:
        return np.where(labels > 0, 0, -1)
    order = np.argsort(np.ravel(index), kind="stable")
    sorted_ = np.ravel(index)[order]
    if np.any(sorted_[1:] == sorted_[:-1]):
        raise Refusal(None, "scipy.ndimage has no derivative rule where `index` names a label twice: name each label once")
    at = np.searchsorted(sorted_, labels).clip(0, len(sorted_) - 1)
    return np.where(sorted_[at] == labels, order[at], -1)


def counted(x, labels, index):
    """The number of elements of each region."""
    places = regions(x, labels, index)
    counts = np.bincount(places[places >= 0], minlength=max(1, np.size(index) if index is not None else 1)).astype(float)
    return np.reshape(counts, np.shape(index)) if index is not None else float(counts[0])


flat(regions, counted)


def spread_out(g, x, labels, index):
    """The number that each element's region has in `g`; 0 for an element in none."""
    padded = np.append(np.ravel(g), 0.0)
    return padded[regions(x, labels, index)].astype(np.result_type(x))


def gathered(w, g, labels, index):
    """The transpose of `spread_out`: the sums over the regions, like `g`."""
    return np.reshape(ndimage.sum_labels(w, labels, index), np.shape(g)).astype(np.result_type(g))[()]


@linear(spread_out)
def _(w, y, g, x, labels=None, index=None):
    return gathered(w, g, labels, index), None


@linear(gathered)
def _(v, y, w, g, labels=None, index=None):
    return spread_out(v, w, labels, index), None


# --- sums and means --------------------------------------------------------------------------------------------------


@linear(ndimage.sum_labels, ndimage.sum)
def sum_labels(g, y, input, labels=None, index=None):
    return spread_out(g, input, labels, index)


@linear(ndimage.mean)
def mean(g, y, input, labels=None, index=None):
    return spread_out(over(g, counted(input, labels, index)), input, labels, index)


def apart(x, labels, index):
    """Each element less the mean of its region; 0 for an element in none, which may be nan."""
    return np.where(regions(x, labels, index) < 0, 0.0, x - spread_out(ndimage.mean(x, labels, index), x, labels, index))


@general(ndimage.variance)
def variance(g, y, input, labels=None, index=None):
    share = over(2.0 * g, counted(input, labels, index))
    return spread_out(share, input, labels, index) * apart(input, labels, index)


@general(ndimage.standard_deviation)
def standard_deviation(g, y, input, labels=None, index=None):
    spread = spread_out(y * counted(input, labels, index), input, labels, index)
    return over(spread_out(g, input, labels, index) * apart(input, labels, index), spread)


@variance.forward()
def _(y, input, input_dot, labels=None, index=None):
    return 2.0 * ndimage.mean(input_dot * apart(input, labels, index), labels, index)


@standard_deviation.forward()
def _(y, input, input_dot, labels=None, index=None):
    return over(ndimage.mean(input_dot * apart(input, labels, index), labels, index), y)


# --- elements of regions ---------------------------------------------------------------------------------------------


def places_of(function, x, labels, index, upper=False):
    """The places in `np.ravel(x)` of the elements that a function chooses; the size of `x` for a region without elements.

    Of a median these are two: their ranks are told by the medians of the ranks and of their squares.

    >>> [int(places_of(ndimage.median, np.array([3.0, 1.0, 2.0, 7.0]), None, None, upper)) for upper in (False, True)]
    [2, 0]
    """
    x = np.asarray(x)
    order = np.argsort(x, axis=None, kind="stable")
    ranks = np.empty(x.size)
    ranks[order] = np.arange(1.0, x.size + 1.0)
    ranks = np.reshape(ranks, x.shape)
    found, squares = (np.nan_to_num(np.asarray(function(r, labels, index), float)) for r in (ranks, ranks * ranks))
    apart = np.rint(np.sqrt(np.maximum(squares - found * found, 0.0)) * 2.0) / 2.0
    return np.append(x.size, order)[(found + apart if upper else found - apart).astype(int)]


flat(places_of)


@general(ndimage.maximum)
def maximum(g, y, input, labels=None, index=None):
    return unchosen(g, places_of(ndimage.maximum, input, labels, index, False), input)


@general(ndimage.minimum)
def minimum(g, y, input, labels=None, index=None):
    return unchosen(g, places_of(ndimage.minimum, input, labels, index, False), input)


@general(ndimage.median)
def median(g, y, input, labels=None, index=None):
    lower = unchosen(0.5 * g, places_of(ndimage.median, input, labels, index, False), input)
    return lower + unchosen(0.5 * g, places_of(ndimage.median, input, labels, index, True), input)


@maximum.forward()
def _(y, input, input_dot, labels=None, index=None):
    return chosen(input_dot, places_of(ndimage.maximum, input, labels, index, False))


@minimum.forward()
def _(y, input, input_dot, labels=None, index=None):
    return chosen(input_dot, places_of(ndimage.minimum, input, labels, index, False))


@median.forward()
def _(y, input, input_dot, labels=None, index=None):
    lower = chosen(input_dot, places_of(ndimage.median, input, labels, index, False))
    return 0.5 * (lower + chosen(input_dot, places_of(ndimage.median, input, labels, index, True)))


# --- what is flat ----------------------------------------------------------------------------------------------------

flat(
    ndimage.label, ndimage.find_objects, ndimage.binary_closing, ndimage.binary_dilation, ndimage.binary_erosion,
    ndimage.binary_fill_holes, ndimage.binary_hit_or_miss, ndimage.binary_opening, ndimage.binary_propagation,
    ndimage.generate_binary_structure,
    ndimage.maximum_position, ndimage.minimum_position, ndimage.histogram,
    ndimage.watershed_ift, *existing(ndimage, "value_indices"),
)  # fmt: skip


@general(ndimage.distance_transform_bf)
def distance_transform_bf(
    g, y, input, metric="euclidean", sampling=None, return_distances=True, return_indices=False, distances=None, indices=None
):
    return None  # in the image, of which zeros count; `sampling` is refused, in which it is not flat


@general(ndimage.distance_transform_cdt)
def distance_transform_cdt(
    g, y, input, metric="chessboard", return_distances=True, return_indices=False, distances=None, indices=None
):
    return None


for _rule in (distance_transform_bf, distance_transform_cdt):
    refuse_arrays_for_results(_rule)


of_arrays(ndimage.sum_labels, ndimage.sum, ndimage.mean, ndimage.variance, ndimage.standard_deviation)
