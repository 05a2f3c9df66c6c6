"""Functions of Python's library and of NumPy that call back into the user's code, reimplemented as source that the compiler
can differentiate.

    np.apply_along_axis(f, 0, x)      ->      apply_along_axis(f, 0, x)      the function below, inlined

Results are eager: a list, where Python's own returns a lazy iterator.

>>> pairs("ab", [1, 2]), largest(["a", "bcd", "efg"], key=len)
([('a', 1), ('a', 2), ('b', 1), ('b', 2)], 'bcd')
>>> ordered([3, 1, 2], key=lambda v: -v), apply_along_axis(np.cumsum, 0, np.ones((2, 2))).tolist()
([3, 2, 1], [[1.0, 1.0], [2.0, 2.0]])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.primitives.record import Gives, know
from s2sgrad.rules import builtin_functions, scalar_math
from s2sgrad.rules.builtin_functions import arranged, order_of
from s2sgrad.rules.joins import columns as columns
from s2sgrad.rules.table import flat
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.keywords import code, given, held

OF_SEQUENCE = {max: builtin_functions.largest, min: builtin_functions.smallest, math.hypot: scalar_math.hypot_of_all}
"""Variadic functions, with the version that takes the arguments as one sequence, for calls such as `max(*xs)`."""

OF_ITEMS = {max: builtin_functions.largest, min: builtin_functions.smallest}
"""Functions of several numbers that take one argument for the sequence of them."""

TOOLS: dict[Any, Callable[..., Any]] = {}
"""Library functions, each with its replacement here; the parameters are the same."""


def stands_for(*tools: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the replacement of these library functions."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        TOOLS.update(dict.fromkeys(tools, function))
        return function

    return note


@stands_for(dict.fromkeys)
def fromkeys(iterable, value=None):
    """`dict.fromkeys`."""
    out = {}
    for key in iterable:
        out[key] = value
    return out


@stands_for(itertools.combinations)
def combinations(iterable, r):
    """`itertools.combinations`, for an iterable with a length."""
    iterable = runtime.sequence(iterable)
    return [[iterable[k] for k in places] for places in list(_combinations(range(len(iterable)), r))]


@stands_for(itertools.permutations)
def permutations(iterable, r=None):
    """`itertools.permutations`, for an iterable with a length."""
    iterable = runtime.sequence(iterable)
    return [[iterable[k] for k in places] for places in list(_permutations(range(len(iterable)), r))]


def singles(first):
    """`itertools.product` of one iterable."""
    return [(a,) for a in first]


def pairs(first, second):
    """`itertools.product` of two iterables."""
    return [(a, b) for a in first for b in second]


def triples(first, second, third):
    """`itertools.product` of three iterables."""
    return [(a, b, c) for a in first for b in second for c in third]


def squared(items):
    """`itertools.product` with `repeat=2`."""
    return [(a, b) for a in items for b in items]


def cubed(items):
    """`itertools.product` with `repeat=3`."""
    return [(a, b, c) for a in items for b in items for c in items]


PRODUCTS = {(1, 1): singles, (2, 1): pairs, (3, 1): triples, (1, 2): squared, (1, 3): cubed}
"""Replacements of `itertools.product`, by the number of arguments and `repeat`."""


def places(array):
    """`np.ndenumerate`."""
    return [(k, array[k]) for k in np.ndindex(np.shape(array))]


def condition(x, p):
    """`np.linalg.cond` in a norm that is no singular value."""
    inverse = np.linalg.inv(x)
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(inverse, p, (-2, -1))


def largest(iterable, key):
    """`max(iterable, key=key)`: the first of equals."""
    items = runtime.sequence(iterable)
    return items[_first_of([key(item) for item in items], True)]


def smallest(iterable, key):
    """`min(iterable, key=key)`: the first of equals."""
    items = runtime.sequence(iterable)
    return items[_first_of([key(item) for item in items], False)]


def largest_or(iterable, default, key=None):
    """`max(iterable, key=key, default=default)`."""
    items = runtime.sequence(iterable)
    if len(items) == 0:
        return default
    return max(items) if key is None else largest(items, key)


def smallest_or(iterable, default, key=None):
    """`min(iterable, key=key, default=default)`."""
    items = runtime.sequence(iterable)
    if len(items) == 0:
        return default
    return min(items) if key is None else smallest(items, key)


def ordered(iterable, key, reverse=False):
    """`sorted(iterable, key=key, reverse=reverse)`."""
    items = runtime.sequence(iterable)
    return arranged(items, order_of([key(item) for item in items], reverse))


know(ordered, gives=Gives.SHELL, of=0)


def first_of(items, default):
    """`next(iter(items), default)`."""
    for item in items:
        return item
    return default


def first_item(items):
    """`next(iter(items))`."""
    for item in items:
        return item
    raise StopIteration


@stands_for(np.fromiter)
def fromiter(iterable, dtype, count=-1):
    """`np.fromiter`."""
    return np.array([item for item in iterable][: None if count < 0 else count], dtype=dtype)  # noqa: C416


def vectorized(function, kind, first):
    """`np.vectorize(function)(first)`, with the output type `kind`; None: the type of the first result, as NumPy does."""
    values = [function(a) for a in np.ravel(first)]
    return np.reshape(np.array(values).astype(kind or np.asarray(values[0]).dtype), np.shape(first))


def vectorized_of_two(function, kind, first, second):
    """`np.vectorize(function)(first, second)`."""
    shape = np.broadcast_shapes(np.shape(first), np.shape(second))
    a, b = np.ravel(np.broadcast_to(first, shape)), np.ravel(np.broadcast_to(second, shape))
    values = [function(a[k], b[k]) for k in range(len(a))]
    return np.reshape(np.array(values).astype(kind or np.asarray(values[0]).dtype), shape)


@stands_for(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`np.apply_along_axis`."""
    moved = np.moveaxis(arr, axis, -1)
    lead = np.shape(moved)[:-1]
    rows = np.array([func1d(row, *args, **kwargs) for row in np.reshape(moved, (-1, np.shape(moved)[-1]))])
    if np.ndim(rows) == 1:
        return np.reshape(rows, lead)
    if np.ndim(rows) > 2:
        own, first = np.ndim(rows) - 1, axis % np.ndim(arr)
        return np.moveaxis(np.reshape(rows, (*lead, *np.shape(rows)[1:])), range(-own, 0), range(first, first + own))
    return np.moveaxis(np.reshape(rows, (*lead, np.shape(rows)[-1])), -1, axis)


@stands_for(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    """`np.piecewise`, with lists of conditions, or one condition, and of functions or values."""
    x = np.asarray(x)
    if np.isscalar(condlist) or (not isinstance(condlist[0], (list, np.ndarray)) and np.ndim(x) != 0):
        condlist = [condlist]
    conditions = np.asarray(condlist, dtype=bool)  # numbers are true or false here, and no places
    if len(conditions) not in (len(funclist), len(funclist) - 1):
        raise ValueError("np.piecewise takes one function for each condition, and at most one more")
    y = np.zeros_like(x)
    if len(funclist) > len(conditions):
        rest = np.logical_not(np.any(conditions, axis=0))
        if np.any(rest):
            last = funclist[-1]
            y[rest] = last(x[rest], *args, **kw) if callable(last) else last
    for where, function in zip(conditions, funclist):  # noqa: B905
        if np.any(where):  # a function is not called where there is nothing
            y[where] = function(x[where], *args, **kw) if callable(function) else function
    return y


_combinations, _permutations = itertools.combinations, itertools.permutations


def added(items, start=0):
    """`sum` of objects with a `+` of their own."""
    total = start
    for item in items:
        total = total + item
    return total


def least(items):
    """`min` of objects with a `<` of their own."""
    best = items[0]
    for item in items[1:]:
        if item < best:
            best = item
    return best


def _first_of(keys, most):
    return order_of(keys, most)[0]


def called_with(f, first, rest, words, more):
    """`f(*first, *rest, **words, **more)`, for a function value that is known only at run time.

    >>> from s2sgrad.runtime.closures import closure
    >>> called_with(closure(lambda w, c, t: (w, c, t), (2.0, 1.0), 1), (), [3.0], {"c": 5.0}, {})
    (2.0, 5.0, 3.0)
    """
    captured = held(f)
    g = code(f)
    for source, key in given(f, len(first), len(rest), words, more):
        if source == "captured":
            g = partial(g, captured[key])
        elif source == "first":
            g = partial(g, first[key])
        elif source == "rest":
            g = partial(g, rest[key])
        elif source == "words":
            g = partial(g, words[key])
        elif source == "more":
            g = partial(g, more[key])
        else:
            g = partial(g, key)
    return g()


def by_count(f: Any, count: int, keywords: dict[str, Any]) -> Any:
    """The function itself, or what stands for it where it is called with one argument, the items.

    >>> by_count(max, 1, {})([2.0, 3.0]), by_count(max, 2, {}) is max
    (3.0, True)
    """
    return next((g for known, g in OF_ITEMS.items() if f is known), f) if count == 1 and not keywords else f


def called_otherwise(f, *args, words):
    """`f(*args, **words)`, where these are given for parameters with captured defaults, or by name."""
    return called_with(f, args, (), words, {})


Closure.spreads = called_with
flat(code, given)
know(given, gives=Gives.NEW, computes=True)
know(code, gives=Gives.NEW, computes=True)
know(held, gives=Gives.MAYBE, of=0, computes=True)
