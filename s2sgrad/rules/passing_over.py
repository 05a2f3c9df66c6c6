"""Functions that leave elements out: those get a cotangent of exactly 0, whatever they are made of.

    y = np.maximum(np.log(x), -5.0)    ->  x_bar is 0 where x is 0, and not `0.0 / 0.0`
    s = np.nansum(data * x)            ->  x_bar is 0 where `data` is nan, and not `0.0 * nan`

Through the first list a nan or an infinite element would show; the second passes them over, or is told where they are.
"""

from __future__ import annotations

import builtins

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import builtin_functions, choices
from s2sgrad.rules.table import SLOPES, VALUES, existing, passing_over

passing_over(
    SLOPES,
    np.maximum, np.minimum, np.clip, np.max, np.min, np.amax, np.amin, np.ptp, np.median, np.quantile, np.percentile,
    np.maximum.reduce, np.minimum.reduce, np.maximum.accumulate, np.minimum.accumulate, np.maximum.outer, np.minimum.outer,
    builtins.max, builtins.min, builtin_functions.largest, builtin_functions.smallest, builtin_functions.largest_of,
    builtin_functions.smallest_of, choices.chosen, np.tril, np.triu, np.diag, np.diagonal, np.trace,
    np.delete, np.take, np.take_along_axis, np.interp, np.histogram, *existing(np.linalg, "diagonal", "trace"),
)  # fmt: skip
passing_over(
    VALUES,
    np.where, np.select, np.choose, np.compress, np.extract, np.nan_to_num, np.fmax, np.fmin, np.fmax.reduce, np.fmin.reduce,
    np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmax, np.nanmin, np.nancumsum, np.nancumprod, np.nanmedian,
    np.nanquantile, np.nanpercentile, runtime.times, runtime.over,
)  # fmt: skip
