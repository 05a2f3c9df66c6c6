"""scipy.ndimage."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from s2sgrad.rules.scipy import filters, labels, rank_filters, resampling

from . import complex_numbers
from .base import between, example, normal
from .complex_numbers import cplx

complexly = complex_numbers.example

MODES = ("reflect", "constant", "nearest", "mirror", "wrap")

# --- linear filters --------------------------------------------------------------------------------------------------

for _mode in MODES:
    for _f in (ndimage.correlate, ndimage.convolve):
        example(_f, normal(4, 5), normal(3, 2), mode=_mode, cval=0.7)
        example(_f, normal(4), normal(6), mode=_mode, origin=-2)
    for _f in (ndimage.correlate1d, ndimage.convolve1d):
        example(_f, normal(4, 5), normal(3), 0, mode=_mode, cval=0.7)
        example(_f, normal(4), normal(4), mode=_mode, origin=1)
    for _f in (ndimage.sobel, ndimage.prewitt):
        example(_f, normal(4, 5), 0, mode=_mode, cval=0.7)
        example(_f, normal(5), mode=_mode)
    example(ndimage.laplace, normal(4, 5), mode=_mode, cval=0.7)
    example(ndimage.uniform_filter1d, normal(4, 3), 4, 0, mode=_mode, cval=0.7, origin=-1)
    example(ndimage.uniform_filter, normal(4, 5), 3, mode=_mode)
    example(ndimage.gaussian_filter1d, normal(4, 5), 0.8, 0, mode=_mode, cval=0.7)
    example(ndimage.gaussian_filter1d, normal(6), 0.8, order=1, mode=_mode)
    example(ndimage.gaussian_filter1d, normal(6), 0.8, order=3, mode=_mode, radius=2)
    example(ndimage.gaussian_filter, normal(4, 5), 0.7, mode=_mode, cval=0.7)
    example(ndimage.gaussian_laplace, normal(4, 5), 0.7, mode=_mode, cval=0.7)
    example(ndimage.gaussian_gradient_magnitude, normal(4, 5), 0.7, mode=_mode)
example(ndimage.sobel, normal(4, 5), mode=("nearest", "wrap"))
example(ndimage.uniform_filter, normal(4, 5), (2, 3), mode=("nearest", "wrap"), origin=(0, -1))
example(ndimage.uniform_filter, normal(2, 4, 3), 3, mode="nearest", axes=(1,))
example(ndimage.gaussian_filter, normal(4, 5), 0.7, (1, 2), mode=("nearest", "constant"), cval=0.3)
example(ndimage.gaussian_filter, normal(2, 3, 4), 0.7, mode="mirror", axes=(0, 2))
example(filters.continued, normal(3, 4), [(2, 1), (0, 0)], "reflect")
example(filters.continued, normal(3), [(7, 5)], "mirror")
example(filters.folded, normal(6, 4), [(2, 1), (0, 0)], "reflect")
example(filters.uncorrelate, normal(4), normal(4), normal(3), "nearest", [0])
example(filters.unweight, normal(4), normal(4), normal(3), "nearest", 0.0, [1])
example(filters.unweight, normal(4), normal(4), normal(3), "constant", 0.7, [0])
example(filters.laid, normal(3), normal(4, 5), 0)

# --- filters that choose, labels -------------------------------------------------------------------------------------

_cross = np.array([[False, True, False], [True, True, True], [False, True, False]])
for _mode in MODES:
    for _f in (ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter):
        example(_f, normal(4, 5), 3, mode=_mode, cval=0.5)
    for _f in (ndimage.grey_erosion, ndimage.grey_dilation, ndimage.grey_opening, ndimage.grey_closing):
        example(_f, normal(4, 5), (2, 3), mode=_mode, cval=0.5)
    for _f in (ndimage.maximum_filter1d, ndimage.minimum_filter1d):
        example(_f, normal(4, 5), 3, 0, mode=_mode, origin=1)
    example(ndimage.rank_filter, normal(4, 5), 2, 3, mode=_mode, cval=0.5)
    example(ndimage.percentile_filter, normal(6), 30, 4, mode=_mode)
for _f in (ndimage.median_filter, ndimage.grey_erosion, ndimage.grey_dilation):
    example(_f, normal(4, 5), footprint=_cross)
for _f in (ndimage.white_tophat, ndimage.black_tophat, ndimage.morphological_gradient, ndimage.morphological_laplace):
    example(_f, normal(4, 5), 3)
    example(_f, normal(4, 5), (2, 3), mode="nearest")
example(rank_filters.chosen, normal(5), np.array([4, 5, 0, 0]))
example(rank_filters.unchosen, normal(4), np.array([4, 5, 0, 0]), normal(5))

_regions = np.array([[1, 2, 2, 0], [1, 1, 3, 3]])
for _f in (
    ndimage.sum_labels, ndimage.sum, ndimage.mean, ndimage.variance, ndimage.standard_deviation,
    ndimage.maximum, ndimage.minimum, ndimage.median,
):  # fmt: skip
    example(_f, normal(2, 4))
    example(_f, normal(2, 4), _regions)
    example(_f, normal(2, 4), _regions, [1, 3, 2])
    example(_f, normal(2, 4), _regions, 2)
example(labels.spread_out, normal(3), normal(2, 4), _regions, [1, 3, 2])
example(labels.gathered, normal(2, 4), normal(3), _regions, [1, 3, 2])

# --- between the pixels ----------------------------------------------------------------------------------------------

for _mode in (*MODES, "grid-wrap"):
    for _order in (0, 1, 3):
        example(ndimage.map_coordinates, normal(6), between(-3.0, 9.0, 1, 7), order=_order, mode=_mode, cval=0.7)
        example(ndimage.map_coordinates, normal(4, 5), between(0.2, 2.8, 2, 6), order=_order, mode=_mode)
    example(ndimage.shift, normal(4, 5), normal(2), order=1, mode=_mode)
    example(ndimage.shift, normal(5), 0.3, mode=_mode, cval=0.7)
    example(ndimage.zoom, normal(4, 5), (1.5, 2.0), order=1, mode=_mode)
    example(ndimage.rotate, normal(4, 5), 30.0, mode=_mode)
    example(ndimage.spline_filter1d, normal(4, 5), 3, 0, mode=_mode)
example(ndimage.map_coordinates, normal(6), between(0.2, 4.8, 1, 7), order=2, prefilter=False)
example(ndimage.map_coordinates, normal(6), between(0.2, 4.8, 1, 7), order=5, mode="reflect")
example(ndimage.zoom, normal(5), 1.7, grid_mode=True, mode="grid-wrap")
example(ndimage.spline_filter, normal(4, 5), 3)
example(ndimage.affine_transform, normal(4, 5), np.array([[0.9, 0.2], [-0.1, 1.1]]), np.array([0.15, -0.23]))
example(ndimage.affine_transform, normal(4, 5), np.array([[0.87, 0.1], [0.0, 0.91]]), offset=0.17, order=1, mode="mirror")
example(resampling.unfiltered, normal(4, 5), 3, 0, "mirror")
example(resampling.unfiltered, normal(4, 5), 5, 0, "reflect")
example(resampling.unsampled, normal(6), normal(4, 5), between(0.2, 2.8, 2, 6), 3, "constant", True)
example(resampling.slopes, normal(4, 5), between(0.2, 2.8, 2, 6), 3, "nearest", True)
example(resampling.unsloped, normal(2, 6), normal(4, 5), between(0.2, 2.8, 2, 6), 1, "constant", True)
for _mode in ("mirror", "nearest", "reflect"):
    _at = between(-1.0, 4.0, 2, 6)
    example(resampling.slopes, normal(4, 5), _at, 3, _mode, True)
    example(resampling.unsloped, normal(2, 6), normal(4, 5), _at, 3, _mode, True)
example(resampling.bent, normal(2, 6), normal(4, 5), between(0.2, 2.8, 2, 6), 3, "constant", True)
example(resampling.unbent, normal(2, 6), normal(2, 6), normal(4, 5), between(0.2, 2.8, 2, 6), 3, "constant", True)

# --- spectra and distances ---------------------------------------------------------------------------------------------

for _f in (ndimage.fourier_gaussian, ndimage.fourier_uniform, ndimage.fourier_ellipsoid):
    example(_f, normal(4, 5), 1.3)
    complexly(_f, cplx(4, 3), 1.3, n=5)
complexly(ndimage.fourier_shift, cplx(4, 5), [0.3, -1.2])
_mask = normal(5, 6) > -0.5
example(ndimage.distance_transform_edt, _mask, sampling=np.array([0.7, 1.3]))
example(ndimage.distance_transform_edt, _mask, sampling=0.7)
