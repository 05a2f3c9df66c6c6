"""Reductions of a part of an array, and those that begin somewhere."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
FIELD = np.array([[0.4, -1.2, 0.9], [1.3, 0.6, -0.5]])
PART = np.array([True, False, True])


@case(VECTOR)
def energy_of_what_is_positive(x):
    return np.sum(x * x, where=x > 0.0) - x.mean(where=x < 1.0) * x.sum(where=PART, initial=2.0)


@case(FIELD)
def rows_normalized_by_their_known_items(m):
    known = np.abs(m) < 1.0
    rest = m - m.mean(axis=1, keepdims=True, where=known)
    return np.sum(rest**3, axis=0, where=known) / (0.1 + np.std(m, where=known, ddof=1))


@case(FIELD, 0.7)
def products_that_begin_with_an_argument(m, scale):
    return np.prod(m, axis=0, initial=scale) + np.prod(m, where=PART, initial=scale) * np.sum(m, initial=scale)


@case(FIELD, 0.5)
def largest_of_a_part_or_a_floor(m, floor):
    return np.max(m, axis=1, where=PART, initial=floor) * m.min(where=m > 0.0, initial=9.0) + np.max(m * m, initial=floor)


@case(FIELD)
def mask_that_changes_after_it_was_used(m):
    part = m > 0.0
    total = np.sum(m * m, axis=0, where=part)
    part[:] = False
    m = m * 2.0
    return total + np.sum(m, axis=0, where=part)


@case(FIELD)
def reduced_by_ufuncs_in_part(m):
    return np.add.reduce(m * m, where=PART, initial=1.0) * np.maximum.reduce(m, axis=0, where=m > 0.0, initial=0.2)


@case(VECTOR)
def spread_of_the_numbers_among_nans(x):
    y = np.where(x < 0.0, np.nan, x * x)
    return np.nanstd(y, where=[True, True, True]) + np.nansum(y * x, where=x < 1.0, initial=x[0])
