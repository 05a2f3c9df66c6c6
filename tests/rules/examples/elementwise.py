"""Elementwise functions, of arrays and of numbers."""

from __future__ import annotations

import math

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import choices, elementwise, helpers, monomials, scalar_math, special

from .base import between, example, normal

# --- elementwise, one argument ---------------------------------------------------------------------------------------

_ANYWHERE = (np.negative, np.positive, np.exp, np.exp2, np.expm1, np.cbrt, np.square, np.reciprocal, np.sin, np.cos)
_ANYWHERE += (np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.rad2deg, np.degrees, np.deg2rad, np.radians)
_ANYWHERE += (np.sinc, np.absolute, np.fabs, np.nan_to_num, np.real, np.conjugate, elementwise.sinc_slope, abs)
for _f in _ANYWHERE:
    example(_f, normal(2, 3))
    example(_f, 0.7)
for _f in (np.log, np.log2, np.log10, np.sqrt, np.log1p):
    example(_f, between(0.3, 2.0, 3))
    example(_f, 0.7)
for _f in (np.arcsin, np.arccos, np.arctanh):
    example(_f, between(-0.8, 0.8, 2, 3))
    example(_f, 0.7)
example(np.arccosh, between(1.3, 3.0, 3))
example(np.arccosh, 1.7)
example(np.sinc, np.array([0.0, 1e-6, 1.0, 30.0]))
for _n in (1, 2, 3, 4):
    example(elementwise.sinc_slope, np.array([-30.0, -2.0, -0.9, -1e-6, 0.0, 0.3, 1.0, 1.6]), n=_n)
example(np.nan_to_num, normal(3), nan=1.0, posinf=2.0, neginf=-2.0)

# --- elementwise, several arguments ----------------------------------------------------------------------------------

_PAIRS = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp)
_PAIRS += (np.logaddexp2, np.hypot, np.arctan2, np.remainder, np.fmod, np.copysign, elementwise.exp_difference)
_PAIRS += (runtime.over, runtime.times, runtime.product, runtime.ratio, runtime.share)
for _f in _PAIRS:
    example(_f, normal(3), normal(3))
    example(_f, normal(2, 3), normal(3))
    example(_f, normal(2, 1), normal(3))
    example(_f, normal(2, 3), 0.7)
    example(_f, 1.6, normal(3))
    example(_f, 1.6, 0.7)
    example(_f, 0.7, 1.6)
for _f in (np.power, np.float_power, runtime.power_slope, helpers.power_or_zero):
    example(_f, between(0.4, 2.0, 3), normal(2, 3))
    example(_f, normal(3), 3)
    example(_f, normal(3), -1)
    example(_f, 1.4, 0.7)
    example(_f, 1.4, normal(2, 3))
    example(_f, between(0.4, 2.0, 3), 2.5)
example(np.power, between(0.4, 2.0, 3), 0.5)
example(monomials.power, between(0.4, 2.0, 3), 1.5)
example(monomials.level, between(0.4, 2.0, 3), between(-1.0, 1.0, 3), 1.0)
for _x in (1.3, between(0.4, 2.0, 3)):
    for _p in (1, 2, 2.5):
        example(monomials.monomial, _x, 3, _p)
    for _p, _q in ((1, 2), (1, -2), (1.5, -1)):
        example(monomials.product_of_powers, _x, between(0.4, 2.0, 2, 3), 3, _p, _q)
for _axis in (None, 1):
    for _p in (2, 3):
        _x = normal(2, 3)
        example(monomials.power_of_norm, _x, np.linalg.norm(_x, axis=_axis), 3, _p, axis=_axis)
    for _w, _q in ((1.3, -2), (1.3, 2), (between(0.4, 2.0, 2), -2)):
        example(monomials.square_of_scaled_norm, _x, _w, np.linalg.norm(_x, axis=_axis), 3, _q, axis=_axis)
for _p in (1, 3, 1.5):
    example(monomials.sum_of_powers, between(0.4, 2.0, 2, 3), 3, _p)
    example(monomials.sum_of_powers, between(0.4, 2.0, 2, 3), 1, _p, axis=1)
    example(monomials.sum_of_powers, between(0.4, 2.0, 2, 3), 1, _p, axis=0, keepdims=True)
    example(monomials.sum_of_powers, between(0.4, 2.0, 3), 1, _p)
for _p in (2, 3):
    _x, _y = between(0.4, 2.0, 2, 3), between(0.4, 2.0, 3)
    example(monomials.power_of_distance, _x, _y, np.hypot(_x, _y), 3, _p)
_u = between(-1.0, 1.0, 3)
for _a in (1, 2):
    example(monomials.over_level, 1, _u, _a + np.exp(_u), _a)
    example(monomials.over_level, between(0.4, 2.0, 2, 3), _u, _a + np.exp(_u), _a)
    example(monomials.log_of_exponential, _u, np.exp(_u), _a)
    example(monomials.share_of_exponential, _u, np.exp(_u), _a)
    for _p in (-1, -2.0):
        example(monomials.over_power_of_level, between(0.4, 2.0, 2, 3), _u, _a + np.exp(_u), _a, -_p)
        example(monomials.power_of_level, _u, _a + np.exp(_u), _a, _p)
for _axis in (None, 0, (0, 1)):
    example(monomials.scaled_variance, between(0.4, 2.0, 2, 3), 3, axis=_axis)
    example(monomials.scaled_variance, between(0.4, 2.0, 2, 3), 3, axis=_axis, ddof=1, keepdims=True)
example(runtime.log_or_zero, between(0.3, 2.0, 3))
example(np.ldexp, normal(3), 4)
example(np.ldexp, normal(3), np.array([1, -2, 0]))
example(np.modf, normal(2, 3))
example(np.modf, 1.7)
example(np.frexp, normal(2, 3))
example(np.divmod, normal(2, 3), normal(3))
example(np.divmod, 1.7, 0.6)
example(np.clip, normal(3, 4), -0.8, 0.9)
example(np.clip, normal(3, 4), between(-0.9, -0.5, 4), between(0.5, 0.9, 3, 1))
example(np.clip, normal(3), None, 0.5)
example(np.clip, 1.3, 0.2, 0.9)
example(np.clip, 0.1, 0.2, 0.9)
example(np.clip, 0.5, 0.2, 0.9)
example(np.where, np.array([True, False, True]), normal(2, 3), 0.7)
example(np.where, np.array([[True], [False]]), normal(3), normal(2, 3))
example(np.where, True, 0.3, 0.7)
example(np.heaviside, np.array([0, 1, -1]), normal(2, 3))
example(np.heaviside, np.array([[0], [1]]), 0.7)
example(np.heaviside, 0, 0.7)
example(np.heaviside, 2, 0.7)
example(np.heaviside, normal(3), normal(3))
for _shape in ((2, 3), (40, 30)):
    _first = normal(*_shape) > 0.0
    example(choices.chosen, normal(*_shape), _first, ~_first & (normal(*_shape) > 0.0))
    example(choices.chosen, 0.7, _first, ~_first)
    _tied = ~_first & (normal(*_shape) > 0.0)
    example(choices.shares, normal(*_shape), _first, _tied)
    example(choices.shares, normal(*_shape), _first, np.zeros(_shape, bool))
example(np.where, False, 0.3, 0.7)

# --- the math module -------------------------------------------------------------------------------------------------

for _f in (math.exp, math.exp2, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.cbrt):
    example(_f, 0.7)
for _f in (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh):
    example(_f, -0.7)
for _f in (math.asinh, math.atanh, math.degrees, math.radians, math.erf, math.erfc, math.fabs, float):
    example(_f, -0.7)
for _f in (math.atan2, math.hypot, math.copysign, math.fmod, math.remainder):
    example(_f, -1.7, 0.7)
example(scalar_math.hypot_of, 0.3, -0.7, 1.2)
example(scalar_math.hypot_of_all, [0.3, -0.7, 1.2])
example(scalar_math.hypot_of_all, normal(3))
example(math.acosh, 1.7)
example(math.log, 3.0, 2)
example(math.pow, 1.7, 0.7)
example(math.pow, -1.7, 3)
example(math.ldexp, 0.7, 3)
example(math.modf, -1.7)
example(math.frexp, 5.3)
example(math.gamma, 2.7)
example(math.gamma, -1.3)
example(math.lgamma, 0.4)
example(math.lgamma, 30.5)
example(special.polygamma, 0.7)
example(special.polygamma, -1.6)
example(special.polygamma, 3.2, 3)
example(math.log, 3.0, 2.5)
example(math.fsum, [0.3, 0.7, -0.4])
example(math.fsum, normal(4))
example(math.prod, [0.3, 0.7, -0.4])
example(math.prod, (1.5, 0.0, 2.0), start=2.5)
example(math.prod, normal(3))
example(math.prod, normal(2, 3))
example(math.prod, [normal(3), normal(3)])
example(math.prod, (normal(2, 3), normal(3), np.float64(0.7), np.array(1.3), 2), start=1.5)
example(math.prod, [normal(3), np.zeros(3), normal(3)])
example(math.prod, [0.3, 0.7], start=normal(3))
example(math.prod, [normal(3), 0.7], start=normal(2, 1))
example(math.dist, (0.3, 0.7), (1.3, -0.7))
example(math.dist, normal(3), normal(3))
