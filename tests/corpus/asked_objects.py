"""Objects that are asked for their class, or for attributes with the names of an array's, wherever they are found."""

from __future__ import annotations

import functools

import numpy as np

from .case import case

VECTOR = np.array([0.7, 1.3, 0.4])


class Part:
    def __init__(self, value, other=None):
        self.value, self.other, self.held = value, other, []


class Doubled(Part):
    pass


class Sized:
    def __init__(self, size):
        self.size = size

    @property
    def ndim(self):
        return self.size * self.size


KINDS = (Doubled, Sized)


def chained(x):
    first = Part(x[0], Doubled(x[1]))
    first.held.append(Doubled(x[2]))
    return first


def weight(part):
    return 2.0 if isinstance(part, KINDS) else 1.0


def is_doubled(part):
    return type(part) is Doubled


def sizes(parts, n):
    return 0.0 if n == 0 else parts[n - 1].size * 2.0 + sizes(parts, n - 1)


def called_with(called, *args, **keywords):
    return called(*args, **keywords)


def sizes_by_helper(parts, n):
    return 0.0 if n == 0 else parts[n - 1].size ** 2 * n + called_with(sizes_by_helper, parts, n - 1)


def sizes_by_partial(parts, n):
    return 0.0 if n == 0 else parts[n - 1].size * n + functools.partial(sizes_by_partial, parts)(n - 1)


def sizes_by_lambda(parts, n):
    again = lambda k: sizes_by_lambda(parts, k)  # noqa: E731
    return 0.0 if n == 0 else parts[n - 1].size * n + [sizes_by_lambda][0](parts, n - 1) * called_with(again, n - 1)


def squares(parts, n):
    return 0.0 if n == 0 else parts[n - 1].ndim + squares(parts, n - 1)


@case(VECTOR)
def attribute_is_an_instance(x):
    first = chained(x)
    return first.value * first.other.value if isinstance(first.other, Doubled) else first.value


@case(VECTOR)
def item_of_an_attribute_is_an_instance(x):
    first = chained(x)
    return first.held[0].value ** 2 if isinstance(first.held[0], Doubled) else first.value


@case(VECTOR)
def class_of_an_attribute(x):
    first = chained(x)
    return first.value * 3.0 if type(first.other) is Doubled else first.value


@case(VECTOR)
def new_object_is_an_instance(x):
    return np.sum(x * x) if isinstance(chained(x), Part) else np.sum(x)


@case(VECTOR)
def classes_in_a_global_tuple(x):
    first = chained(x)
    return weight(first.other) * first.value + weight(first) * x[2]


@case(VECTOR)
def class_is_asked_by_a_function(x):
    parts = [chained(x), Doubled(x[2])]
    return sum(p.value * (3.0 if is_doubled(p) else 1.0) for p in parts)


@case(VECTOR)
def recursion_reads_a_size(x):
    return sizes([Sized(v) for v in x], 3)


@case(VECTOR)
def recursion_by_way_of_a_helper(x):
    return sizes_by_helper([Sized(v) for v in x], 3) + sizes_by_partial([Sized(v * v) for v in x], 3)


@case(VECTOR)
def nested_recursion_by_way_of_a_helper(x):
    parts = [Sized(v) for v in x]

    def power(n):
        return 1.0 if n == 0 else parts[n - 1].size * x[0] * called_with(power, n - 1)

    return power(3)


@case(VECTOR)
def recursion_by_way_of_a_lambda(x):
    return sizes_by_lambda([Sized(v) for v in x], 3)


@case(VECTOR)
def recursion_reads_a_computed_ndim(x):
    return squares([Sized(v) for v in x], 3)
