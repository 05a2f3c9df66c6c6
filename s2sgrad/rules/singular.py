"""Functions whose slopes may be infinite, or whose values may overflow, where what is made of them is finite.

r = np.sqrt(s)       ->  the slope is infinite at s = 0, and a slope of 0 behind it wins: `s = x ** 2`
y = 1.0 / d          ->  where `d` has overflowed `y` is 0, and so is its slope, whatever `d` is made of
"""

from __future__ import annotations

import builtins
import math

import numpy as np

from s2sgrad.runtime import over, ratio, share

ADDITIVE = frozenset({np.add, np.subtract, np.negative, np.positive})
PRODUCTS = frozenset({np.multiply, np.divide})
POWERS = frozenset({np.power, np.float_power, math.pow, builtins.pow})
QUOTIENTS = frozenset({np.divide, over, ratio})
ROOTS = frozenset({np.sqrt, math.sqrt})
VECTOR_NORMS = {np.linalg.norm, getattr(np.linalg, "vector_norm", np.linalg.norm)}  # the latter of NumPy 2
NORMS = VECTOR_NORMS | {np.hypot, math.hypot}
MODULI = frozenset({np.absolute, np.fabs, builtins.abs, math.fabs})
PRODUCTS_OF_VECTORS = frozenset({np.dot, np.inner, np.matmul, np.vdot, np.tensordot})
OVERFLOWING = frozenset({np.exp, np.exp2, np.expm1, np.cosh, np.sinh, math.exp, math.expm1, math.cosh, math.sinh})
EXPONENTIALS = frozenset({np.exp, math.exp})
LOGARITHMS = frozenset({np.log, math.log})

LEVELLED = frozenset({np.exp, np.exp2, np.expm1, np.tanh, np.arctan, math.exp, math.expm1, math.tanh, math.atan})

STEEP = frozenset({np.log, np.log2, np.log10, np.log1p, np.exp, np.exp2, np.expm1, np.sinh, np.arcsinh, np.tan, np.arctan,
                   np.arcsin, np.arctanh, math.log, math.log2, math.log10, math.log1p, math.exp, math.expm1})  # fmt: skip


def enter_norm(function: object) -> None:
    """List a norm of vectors of another library, which takes `ord`, `axis` and `keepdims` as NumPy's does."""
    VECTOR_NORMS.add(function)
    NORMS.add(function)


def is_root(primitive: object, exponent: float | None) -> bool:
    """Whether this is the square root, or a power of an exponent from a half up to one.

    >>> is_root(np.sqrt, None), is_root(np.power, 0.5), is_root(np.power, 2.0)
    (True, True, False)
    """
    if exponent is None:
        return any(primitive is root for root in ROOTS)
    return 0.5 <= exponent < 1.0 and any(primitive is power for power in POWERS)


def divides(primitive: object, place: int, exponent: float | None) -> bool:
    """Whether a function divides by this argument, or tends to a number where it is infinite.

    >>> divides(np.divide, 1, None), divides(np.divide, 0, None), divides(np.power, 0, -1.0)
    (True, False, True)
    """
    if exponent is not None and any(primitive is power for power in POWERS):
        return place == 0 and exponent < 0
    quotient = any(primitive is function for function in QUOTIENTS)
    return primitive is np.reciprocal or (quotient and place == 1) or (primitive is share and place == 0)


def levels_off(primitive: object) -> bool:
    """Whether a function of one argument is flat where that is infinite, if its value is finite there.

    >>> levels_off(np.arctan), levels_off(np.log)
    (True, False)
    """
    return any(primitive is function for function in LEVELLED)
