"""Rules of scipy.ndimage for filters of spectra, which multiply each element, and of distances.

    y = ndimage.fourier_gaussian(x, 2.0)           ->    x_bar = ndimage.fourier_gaussian(y_bar, 2.0)
    d = ndimage.distance_transform_edt(x, s)       ->    s_bar[k] = sum(d_bar * s[k] * steps[k] ** 2 / d)

A filter of a spectrum is linear and its own transpose.  Distances jump with what is background, and else move with the
spacing of the grid alone: the nearest element of the background stays the same.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from s2sgrad.rules.made import made
from s2sgrad.rules.table import complex_of_real_numbers, flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal

# --- spectra ---------------------------------------------------------------------------------------------------------


_TEXT = """
def {filter}(g, y, input, {name}, n=-1, axis=-1, output=None):
    return ndimage.{filter}(g, {name}, n, axis), None
"""
_FILTERS = {
    ndimage.fourier_gaussian: "sigma", ndimage.fourier_uniform: "size", ndimage.fourier_ellipsoid: "size",
    ndimage.fourier_shift: "shift",
}  # fmt: skip
for _filter, _name in _FILTERS.items():
    _own = _filter.__name__
    _text = _TEXT.format(filter=_own, name=_name)
    _rule = general(_filter)(made(_text, f"{__name__}.{_own}", {"ndimage": ndimage})[_own])
    _rule.linear_in("input")
    _rule.constant(_name)
    _rule.refuse(
        lambda output: not (output.known and output.value is None),
        "a filter of scipy.ndimage with `output=` has no derivative rule: use its result",
    )
of_complex_numbers(*_FILTERS)
complex_of_real_numbers(ndimage.fourier_shift)

# --- distances -------------------------------------------------------------------------------------------------------


def steps_to_background(x):
    """How far the nearest element of the background is, along each axis, in a grid of these spacings."""
    places = ndimage.distance_transform_edt(x[0], x[1], return_distances=False, return_indices=True)
    return places - np.indices(np.shape(x[0]))


def distances_alone(x, return_distances, return_indices, sampling):
    """Refuse places of the background, and a spacing that is a list, or none of one number or one for each axis."""
    fits = not isinstance(sampling, (list, tuple)) and np.shape(sampling) in ((), (np.ndim(x),)) and np.ndim(x) > 0
    if return_indices or not return_distances or not fits:
        raise Refusal(None, "distance_transform_edt has a derivative rule for distances alone, in a number or an array of "
                            "spacings")  # fmt: skip
    return True


flat(steps_to_background, distances_alone)


@general(ndimage.distance_transform_edt)
def distance_transform_edt(
    g, d, input, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None
):  # fmt: skip
    return None


def refuse_arrays_for_results(rule):
    """Refuse arrays that are given for the results of a distance transform."""
    for test in (
        lambda distances: not (distances.known and distances.value is None),
        lambda indices: not (indices.known and indices.value is None),
    ):
        rule.refuse(test, "a distance transform that writes into an array of yours has no derivative rule: use its result")


refuse_arrays_for_results(distance_transform_edt)


@distance_transform_edt.keyword("sampling")
def _(g, d, input, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None):
    distances_alone(input, return_distances, return_indices, sampling)
    each = g / np.where(d > 0.0, d, 1.0) * steps_to_background((input, sampling)) ** 2
    by_axis = sampling * np.sum(np.reshape(each, (np.ndim(input), -1)), axis=1)
    return by_axis if np.ndim(sampling) else np.sum(by_axis)
