"""Rules of arrays as sets: unique, union1d, intersect1d, setdiff1d, setxor1d; and of trim_zeros, nextafter, real_if_close.

    y = np.unique(x)         ->      x_bar = shared_out(y_bar, y, x, x)           equal values share evenly

A value of the result is a value of the arguments; between ties it moves with all that are equal to it.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.selections import untake
from s2sgrad.rules.table import elementwise, existing, flat, general, linear
from s2sgrad.runtime import Refusal

# --- sets ------------------------------------------------------------------------------------------------------------


def places(y, x):
    """The place in the sorted values `y` of each `x` that is among them; of any other, some place."""
    return np.minimum(np.searchsorted(y, np.ravel(x)), max(np.size(y) - 1, 0))


def shares(y, x, everything):
    """For each `x` one part of those among `everything` that are equal to it; 0 where `y` does not have it."""
    if np.size(y) == 0:
        return np.zeros(np.size(x), np.result_type(y))
    counts = np.bincount(
        places(y, everything)[np.take(y, places(y, everything)) == np.ravel(everything)], minlength=np.size(y)
    )
    found = np.take(y, places(y, x)) == np.ravel(x)
    return np.where(found, 1.0 / np.maximum(counts, 1)[places(y, x)], 0.0).astype(np.result_type(y))


def joined(a, b):
    """The values of both."""
    return np.concatenate((np.ravel(a), np.ravel(b)))


flat(places, shares, joined)


def shared_out(g, y, x, everything):
    """The cotangent of `x`, of whose values `y` are some, by what is equal among `everything`."""
    if np.size(y) == 0:
        return np.zeros_like(x)
    return np.reshape(np.take(g, places(y, x)) * shares(y, x, everything), np.shape(x))


def shared(x_dot, y, x, everything):
    """The tangent of `y` that those of `x` give."""
    return untake(np.ravel(x_dot) * shares(y, x, everything), y, places(y, x))


def alone(return_index, return_inverse, return_counts):
    """The values are asked for, and nothing else."""
    return all(k.known and not k.value for k in (return_index, return_inverse, return_counts))


@general(np.unique)
def unique(
    g, y, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    if return_index or return_inverse or return_counts:
        return shared_out(g[0], y[0], ar, ar)
    return shared_out(g, y, ar, ar)


@unique.refined(alone)
def _(g, y, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    return shared_out(g, y, ar, ar)


@unique.forward(alone)
def _(
    y, ar, ar_dot, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    return shared(ar_dot, y, ar, ar)


unique.refuse(
    lambda axis: not (axis.known and axis.value is None),
    "`np.unique` of rows has no derivative rule: index the rows by the result of return_index",
)
unique.refuse(
    lambda sorted: not (sorted.known and sorted.value),
    "`np.unique` has a derivative rule for sorted values alone: leave `sorted` out",
)
unique.refuse(
    lambda return_index, return_inverse, return_counts: (
        not all(k.known for k in (return_index, return_inverse, return_counts))
    ),
    "`np.unique` has a derivative rule where it is written what it returns: give True or False",
)


@general(*existing(np, "unique_values"))
def unique_values(g, y, x):
    y = np.sort(y)
    return shared_out(g, y, x, x)


@general(*existing(np, "unique_all", "unique_counts", "unique_inverse"))
def unique_of_several(g, y, x):
    return shared_out(g[0], y[0], x, x)


@general(np.union1d)
def union1d(g, y, ar1, ar2):
    whole = joined(ar1, ar2)
    return shared_out(g, y, ar1, whole), shared_out(g, y, ar2, whole)


@union1d.forward()
def _(y, ar1, ar2, ar1_dot, ar2_dot):
    return shared(ar1_dot, y, ar1, joined(ar1, ar2)), shared(ar2_dot, y, ar2, joined(ar1, ar2))


@general(np.intersect1d, np.setxor1d, np.setdiff1d)
def of_two_sets(g, y, ar1, ar2, assume_unique=False):
    whole = joined(ar1, ar2)
    return shared_out(g, y, ar1, whole), shared_out(g, y, ar2, whole)


@of_two_sets.forward()
def _(y, ar1, ar2, ar1_dot, ar2_dot, assume_unique=False):
    return shared(ar1_dot, y, ar1, joined(ar1, ar2)), shared(ar2_dot, y, ar2, joined(ar1, ar2))


of_two_sets.refuse(
    lambda assume_unique: not (assume_unique.known and not assume_unique.value),
    "sets with `assume_unique` have no derivative rule, for their values need not be sorted: leave it out",
)

# --- others ----------------------------------------------------------------------------------------------------------


def zeros_around(x, y, trim):
    """How many zeros np.trim_zeros leaves out before and behind."""
    if np.ndim(x) != 1:
        raise Refusal(None, "`np.trim_zeros` of several axes has no derivative rule; slice the array")
    before = np.size(x) - np.size(np.trim_zeros(x, "f")) if "f" in trim.lower() else 0
    return before, np.size(x) - np.size(y) - before


flat(zeros_around)


@linear(np.trim_zeros)
def trim_zeros(g, y, filt, trim="fb"):
    return np.pad(g, zeros_around(filt, y, trim))


@trim_zeros.forward()
def _(y, filt, filt_dot, trim="fb"):
    return np.take(filt_dot, np.arange(np.size(y)) + zeros_around(filt, y, trim)[0])


@elementwise(np.nextafter)
def nextafter(g, y, x1, x2):
    return g, 0.0 * g


@linear(np.real_if_close)
def real_if_close(g, y, a, tol=100):
    return g


flat(np.spacing, *existing(np, "bitwise_count"), np.isnat, np.mask_indices)
