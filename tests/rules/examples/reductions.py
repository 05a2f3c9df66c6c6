"""Reductions, scans, order statistics, statistics."""

from __future__ import annotations

import statistics as python

import numpy as np

from s2sgrad.rules import masked, reductions, scans, statistics

from .base import between, example, example_if_taken, normal, younger

# --- reductions ------------------------------------------------------------------------------------------------------

_AXES = ({}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": (0, 2)}, {"axis": (0, -1), "keepdims": True})
_AXES += ({"axis": 0, "keepdims": False}, {"axis": None, "keepdims": True})
_REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin, np.ptp, np.median)
for _f in (*_REDUCTIONS, np.nansum, np.var, np.std):
    for _keywords in _AXES:
        example(_f, normal(2, 3, 4), **_keywords)
    example(_f, normal(5))
    example(_f, normal(3, 4), axis=0)
for _f in (np.sum, np.mean, np.max, np.std):
    example(_f, [normal(3), normal(3)], axis=0)
    example(_f, (0.3, 0.7, 1.1))
for _f in (np.var, np.std):
    example(_f, normal(5), ddof=1)
    example(_f, normal(3, 4), axis=0, ddof=1, keepdims=True)
example(np.nansum, np.array([[1.0, np.nan], [2.0, 3.0]]), axis=0)
for _f in (np.sum, np.mean, np.prod):
    example(_f, 0.7)
example(np.prod, np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]), axis=1)
example(np.prod, np.array([0.0, 2.0, 3.0]))
for _f in (np.cumsum, np.cumprod, scans.products_before):
    example(_f, normal(4))
    example(_f, normal(2, 3))
    example(_f, normal(2, 3), axis=0)
    example(_f, normal(2, 3, 2), axis=-2)
    example(_f, np.array([1.5, 0.0, 2.0, 0.0, 3.0]))
example(scans.products_before, normal(2, 3, 2), axis=(0, 2), reverse=True)
example(scans.carried, normal(4), normal(4))
example(scans.carried, normal(2, 3, 2), normal(2, 3, 2), axis=(0, 2), reverse=True)
example(scans.carried, np.array([0.0, 1.5, 0.0, 2.0]), normal(4))
for _f in (np.diff, scans.undiff):
    example(_f, normal(5))
    example(_f, normal(5, 2), n=2, axis=0)
example(np.diff, normal(5), prepend=0.7)
example(np.diff, normal(5), n=2, prepend=normal(1), append=0.4)
example(np.diff, normal(3, 4), axis=0, append=normal(2, 4))
example(np.diff, normal(2), n=3)
example(np.diff, 0.7, n=0)
example(np.diff, normal(3, 2), n=0, axis=0, prepend=normal(2, 2), append=0.4)
for _f in (scans.add_neighbours, scans.spread_pairs):
    example(_f, normal(5))
    example(_f, normal(3, 4, 2), axis=1)
_trapezoid = younger(np, "trapezoid") or younger(np, "trapz")
example(_trapezoid, normal(5))
example(_trapezoid, normal(5), dx=0.3)
example(_trapezoid, normal(5), np.sort(normal(5)))
example(_trapezoid, normal(3, 4), np.sort(normal(3)), axis=0)
example(_trapezoid, normal(3, 4), np.sort(normal(3, 4)), axis=1)
example(_trapezoid, normal(3, 4), dx=0.3, axis=0)
example(_trapezoid, normal(4), np.sort(normal(2, 4)))
example(_trapezoid, normal(3, 1, 4), np.sort(normal(2, 4)))
example(scans.lined, normal(3), (2, 3, 4), 1)
example(scans.lined, normal(4, 2), (2, 3, 4), (2, 0))
example(scans.unlined, normal(1, 3, 1), normal(3), 1)
example(scans.unlined, normal(2, 1, 4), normal(4, 2), (-1, 0))
example(scans.lined, normal(2, 3), (2, 3), 1)
example(np.average, normal(2, 3), axis=[0, 1])
example(np.average, normal(2, 3), axis=1)
example(np.average, normal(2, 3), axis=1, weights=between(0.5, 1.5, 3))
example(np.average, normal(2, 3), weights=between(0.5, 1.5, 2, 3))
example(reductions.centered, normal(4))
example(reductions.centered, normal(2, 3, 4), axis=(0, 2))

# --- cumulative, nan ------------------------------------------------------------------------------------------------

example(np.ediff1d, normal(5))
example(np.ediff1d, normal(2, 3))
for _f in (younger(np, "cumulative_sum"), younger(np, "cumulative_prod")):
    example(_f, normal(4))
    example(_f, normal(2, 3), axis=1)
    example(_f, normal(2, 3), axis=0, include_initial=True)
    example(_f, normal(2, 3), axis=(1,))
_holes = np.where(np.array([[0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]), np.nan, normal(3, 4))
for _f in (np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanmedian):
    example(_f, _holes)
    example(_f, _holes, axis=1)
    example(_f, _holes, axis=0, keepdims=True)
example(np.nanvar, _holes, axis=1, ddof=1)
example(np.nanstd, _holes, ddof=1)
for _f in (np.nancumsum, np.nancumprod):
    example(_f, _holes)
    example(_f, _holes, axis=1)

# --- parts, beginnings ------------------------------------------------------------------------------------------------

_PART = np.array([[True, False, True, True], [False, True, True, False], [True, True, True, True]])
_AXIS = ({}, {"axis": 1}, {"axis": (0, -1), "keepdims": True}, {"axis": 2, "keepdims": True}, {"axis": (0, 2)})
_FROM = {f: {"initial": c} for f, c in ((np.sum, 0.3), (np.prod, 0.7), (np.max, -9.0), (np.min, 9.0), (np.nansum, 0.3))}
_FROM |= {np.nanprod: {"initial": 0.7}, np.nanmax: {"initial": -9.0}, np.mean: {}, np.var: {}, np.std: {}}
_FROM |= {np.nanmean: {}, np.nanvar: {}, np.nanstd: {}}
for _f, _from in _FROM.items():
    for _keywords in _AXIS:
        example(_f, normal(2, 3, 4), where=_PART, **_from, **_keywords)
    example(_f, normal(2, 4), where=np.array([True, False, True, True]), **_from)
    example(_f, [0.3, 0.7, 1.1], where=[True, False, True], **_from)
    example(_f, np.where(_PART, normal(3, 4), np.nan), axis=1, where=_PART, **_from)
    if _from:
        example(_f, normal(2, 3), axis=0, **_from)
        example(_f, normal(4), **_from)
for _f in (np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanprod, np.nanmax):
    example(_f, _holes, where=_PART, axis=1, **_FROM[_f])
example(np.var, normal(2, 3, 4), where=_PART, axis=1, ddof=1)
example(np.std, np.array([[2.5, 1.0, 2.5], [1.0, 2.0, 4.0]]), where=[[True, True, True], [False, True, True]], axis=1)
for _f, _initial in ((np.max, 2.0), (np.min, -2.0), (np.maximum.reduce, 2.0), (np.fmin.reduce, -2.0)):
    example(_f, between(-1.0, 1.0, 2, 3), axis=1, initial=_initial)
    example(_f, np.array([[3.0, 0.5], [-3.0, 0.7]]), axis=0, initial=_initial, where=[[True, False], [True, True]])
for _f in (np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce):
    example(_f, normal(3, 4), where=_PART, initial=0.6, axis=1)
    example(_f, normal(3, 4), where=_PART, initial=0.6, keepdims=True)
example(masked.deviations, normal(3, 4), _PART)
example(masked.deviations, normal(2, 3, 4), _PART, axis=(0, 2))

# --- order statistics ------------------------------------------------------------------------------------------------

example(np.sort, normal(2, 5))
example(np.sort, normal(4, 2), axis=0)
example(np.sort, normal(2, 3), axis=None, kind="stable")
example(np.partition, normal(6), 2)
example(np.partition, normal(5, 3), (1, 3), axis=0)
example(np.partition, normal(2, 3), 2, axis=None)
for _f, _of_one in ((np.quantile, 1.0), (np.percentile, 100.0)):
    example(_f, normal(7), 0.3 * _of_one)
    example(_f, normal(7), np.array([0.0, 0.35, 1.0]) * _of_one)
    example(_f, normal(3, 5), 0.3 * _of_one, axis=1)
    example(_f, normal(3, 5), 0.25 * _of_one, axis=0, keepdims=True)
    example(_f, normal(3, 2, 4), np.array([[0.1, 0.5], [0.6, 0.9]]) * _of_one, axis=(0, 2))
for _f, _of_one in ((np.nanquantile, 1.0), (np.nanpercentile, 100.0)):
    example(_f, _holes, 0.3 * _of_one)
    example(_f, _holes, np.array([0.2, 0.7]) * _of_one, axis=1)
    example(_f, _holes, 0.4 * _of_one, axis=0, keepdims=True)
for _method in ("hazen", "weibull", "midpoint", "nearest", "lower", "inverted_cdf", "averaged_inverted_cdf"):
    example(np.quantile, normal(6), 0.4, method=_method)

# --- statistics ------------------------------------------------------------------------------------------------------

example(np.average, normal(4), weights=between(0.5, 1.5, 4))
example(np.average, normal(2, 3), axis=1, keepdims=True)
example_if_taken(np.average, normal(2, 3, 4), axis=(0, 2), weights=between(0.5, 1.5, 2, 4))
for _f in (statistics.variables, np.cov, np.corrcoef):
    example(_f, normal(3, 5), None) if _f is statistics.variables else example(_f, normal(3, 5))
    example(_f, normal(5), normal(5))
    example(_f, normal(3, 5), normal(2, 5))
    example(_f, normal(5, 3), normal(5, 2), rowvar=False)
example(np.cov, normal(5))
example(np.cov, normal(1, 5))
example(np.cov, normal(3, 5), bias=True)
example(np.cov, normal(5, 3), rowvar=False)
example(np.cov, normal(5, 3), rowvar=False, ddof=2)
example(np.cov, 0.7, 1.2, rowvar=False, bias=True)
example(statistics.unvariables, normal(5, 4), normal(3, 4), normal(2, 4))
example(statistics.unvariables, normal(5, 4), normal(4, 3), normal(4, 2), rowvar=False)
example(statistics.unvariables, normal(1, 4), normal(4), None)
example(np.bincount, np.array([0, 2, 2, 1]), normal(4))
example(np.bincount, np.array([0, 2, 2, 1]), normal(4), minlength=5)
example(np.histogram, normal(6), 3)
example(np.histogram, normal(6), bins=np.array([-1.0, 0.0, 0.5, 2.0]), weights=normal(6))
example(np.histogram, normal(2, 3), bins=4, range=(-1.0, 1.0), weights=normal(2, 3))
for _f in (python.mean, python.fmean, python.pvariance, python.variance, python.pstdev, python.stdev):
    example(_f, [0.3, 0.7, -0.4])
    example(_f, (0.3, 0.7))
    example(_f, normal(4))
