"""The same functions under every spelling of the import."""

import math as m
from math import sqrt as root

import numpy
import numpy as onp
import numpy.linalg
import numpy.linalg as nla
from numpy import array, exp, linalg, pi, sin
from numpy import sum as total
from numpy.linalg import norm

from .case import case

VECTOR = numpy.array([0.3, -0.7, 1.1])
sine = onp.sin


@case(VECTOR, 0.7)
def numpy_in_full(v, x):
    return numpy.sum(numpy.sin(v) * x) + numpy.linalg.norm(v)


@case(VECTOR, 0.7)
def numpy_under_another_name(v, x):
    return onp.sum(onp.cos(v) ** 2) * x + onp.linalg.norm(v) * onp.pi


@case(VECTOR, 0.7)
def names_from_numpy(v, x):
    return total(sin(v) * exp(x)) + pi * x * total(array([x, 2.0]))


@case(VECTOR, 0.7)
def names_from_submodules(v, x):
    return norm(v) * linalg.norm(v * x) + nla.norm(v + x)


@case(1.3, 0.7)
def math_under_other_names(x, y):
    return m.sin(x) * root(y) + m.exp(x * y)


@case(VECTOR, 0.7)
def several_spellings_at_once(v, x):
    return sin(x) + onp.sin(x) + numpy.sin(x) + sine(x) + total(sine(v))


def of_any_accuracy(x, digits):
    if digits > 16:
        try:
            from mpmath import mp
        except ImportError as error:
            raise ImportError("so many digits need mpmath") from error
        mp.dps = digits
        return float(mp.sin(x))
    return m.sin(x)


@case(0.7)
def import_in_a_branch_that_is_not_taken(x):
    return of_any_accuracy(x, 15) * x
