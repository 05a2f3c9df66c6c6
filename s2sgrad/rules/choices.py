"""Rules of elementwise choices: absolute values, maxima, masks; and the functions that are flat.

    z = np.maximum(x, y)   ->  x_bar, y_bar = shares(z_bar, x > y, x == y)

Choices are made with np.where and not by multiplying with a mask: an infinite cotangent of a branch that was not taken
then leaves no nan behind.
"""

from __future__ import annotations

import math

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.table import elementwise, flat, linear


@elementwise(np.absolute, np.fabs, abs)
def absolute(g, y, x):
    return g * np.sign(x)


@elementwise(np.nan_to_num)
def nan_to_num(g, y, x, *, nan=0.0, posinf=None, neginf=None):
    return np.where(np.isfinite(x), g, 0.0)


@elementwise(np.real)
def real(g, y, x):
    return g


@elementwise(np.conjugate)
def conjugate(g, y, x):
    return g


def numbers(x, y):
    """Whether both operands are numbers: then Python chooses faster than NumPy."""
    return x.rank == 0 and y.rank == 0


_MANY = 200  # from here on np.where, which branches at every element, is slower than arithmetic


def _is_plain(g):
    """Whether a cotangent may be multiplied by a mask: where it is infinite, that would leave a nan."""
    return type(g) is np.ndarray and g.dtype == np.float64 and math.isfinite(np.vdot(g, g))  # the quickest way to ask


def chosen(g, first, tied):
    """`g` where `first`, half of it where `tied`, and 0 elsewhere, whatever `g` is there.

    >>> chosen(np.array([1.0, 2.0, np.inf]), np.array([True, False, False]), np.array([False, True, False]))
    array([1., 1., 0.])
    """
    if np.size(g) > _MANY and _is_plain(g):
        return g * (first + 0.5 * tied) if np.count_nonzero(tied) else g * first
    return np.where(first, g, np.where(tied, 0.5 * g, 0.0))


@elementwise(chosen)
def _(w, y, g, first, tied):
    return chosen(w, first, tied), None, None


def shares(g, first, tied):
    """`g` where `first` and `g` elsewhere, half of it in both where `tied`, whatever `g` is.

    >>> shares(np.array([1.0, 2.0, np.inf]), np.array([True, False, False]), np.array([False, True, False]))
    (array([1., 1., 0.]), array([ 0.,  1., inf]))
    """
    if _is_plain(g):
        part = g * (first + 0.5 * tied) if np.count_nonzero(tied) else g * first
        return part, g - part
    half = 0.5 * g
    return np.where(first, g, np.where(tied, half, 0.0)), np.where(first, 0.0, np.where(tied, half, g))


@linear(shares)
def _(w, y, g, first, tied):
    return chosen(w[0], first, tied) + chosen(w[1], ~(first | tied), tied), None, None


@elementwise(np.maximum)
def maximum(g, z, x, y):
    return chosen(g, x > y, x == y), chosen(g, y > x, x == y)


@maximum.jointly
def _(g, z, x, y):
    return shares(g, x > y, x == y)


@maximum.refined(numbers)
def _(g, z, x, y):
    return g if x > y else 0.5 * g if x == y else 0.0, g if y > x else 0.5 * g if x == y else 0.0


@elementwise(np.minimum)
def minimum(g, z, x, y):
    return chosen(g, x < y, x == y), chosen(g, y < x, x == y)


@minimum.jointly
def _(g, z, x, y):
    return shares(g, x < y, x == y)


@minimum.refined(numbers)
def _(g, z, x, y):
    return g if x < y else 0.5 * g if x == y else 0.0, g if y < x else 0.5 * g if x == y else 0.0


@elementwise(np.fmax, np.fmin)  # which may pass a nan over: the result tells
def fmax(g, z, x, y):
    return np.where(x == y, 0.5 * g, np.where(x == z, g, 0.0)), np.where(x == y, 0.5 * g, np.where(y == z, g, 0.0))


@elementwise(np.clip)
def clip(g, y, a, a_min, a_max):
    moved = a != y  # where the bounds cross, the upper one holds
    return np.where(a == y, g, 0.0), np.where(moved & (y != a_max), g, 0.0), np.where(moved & (y == a_max), g, 0.0)


@clip.refined(lambda a, a_min, a_max: a.rank == 0 and a_min.rank == 0 and a_max.rank == 0)
def _(g, y, a, a_min, a_max):
    return g if a == y else 0.0, g if a != y and y != a_max else 0.0, g if a != y and y == a_max else 0.0


@elementwise(np.where)
def where(g, z, condition, x, y):
    return None, np.where(condition, g, 0.0), np.where(condition, 0.0, g)


@where.refined(lambda condition, x, y: condition.rank == 0 and numbers(x, y))
def _(g, z, condition, x, y):
    return None, g if condition else 0.0, 0.0 if condition else g


@elementwise(np.heaviside)
def heaviside(g, z, x, y):
    return None, np.where(x == 0.0, g, 0.0)


@heaviside.refined(numbers)
def _(g, z, x, y):
    return None, g if x == 0.0 else 0.0


@linear(np.modf)  # between the jumps
def modf(g, y, x):
    return g[0]


@modf.forward()
def _(y, x, x_dot):
    return x_dot, np.zeros_like(x_dot)


@linear(np.frexp)
def frexp(g, y, x):
    return np.ldexp(g[0], -y[1])


@frexp.forward()
def _(y, x, x_dot):
    return np.ldexp(x_dot, -y[1]), np.zeros_like(x_dot)


flat(np.sign, np.floor, np.ceil, np.trunc, np.rint, np.fix, np.round, round, np.floor_divide)
flat(runtime.stop_gradient, runtime.emptied, runtime.raised, runtime.caught)
flat(np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit, np.isreal, np.iscomplex)
flat(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.gcd, np.lcm, np.around)
flat(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
