"""`exp`, `tanh` and `log` as arithmetic, without branches: a compiler computes several of them at once, as NumPy does.

    exp(x)      ->      2 ** n * (1 + 2 r P(r * r) / (Q(r * r) - r P(r * r))), x = n log(2) + r

The rational approximations are those of the Cephes library.  Errors are below 5e-16 of the result.  `bits` and `number` have
forms of their own under numba.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np


def bits(x: Any) -> Any:
    """The bits of a number, as an integer."""
    return struct.unpack("q", struct.pack("d", x))[0]


def number(k: Any) -> Any:
    """The number with these bits."""
    return struct.unpack("d", struct.pack("q", k))[0]


def two_to(n: Any) -> Any:
    """The power of two, as a number."""
    return number((n + 1023) << 52)


def exp(x: Any) -> Any:
    """`e ** x`."""
    y = -746.0 if x < -746.0 else (710.0 if x > 710.0 else x)
    n = np.floor(1.4426950408889634 * y + 0.5)
    r = y - n * 6.93145751953125e-1
    r = r - n * 1.42860682030941723212e-6
    z = r * r
    p = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 9.99999999999999999910e-1)
    q = ((3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z + 2.27265548208155028766e-1) * z + 2.0
    e = 1.0 + 2.0 * (p / (q - p))
    k = np.int64(np.int32(n if x == x else 0.0))
    half = k >> 1
    e = e * two_to(half) * two_to(k - half)
    return e if x == x else x


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    a, z = abs(x), x * x
    p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3
    q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3
    near = x + x * (z * (p / q))
    far = 1.0 - 2.0 / (exp(2.0 * (30.0 if a > 30.0 else a)) + 1.0)
    return math.copysign(near if a < 0.625 else far, x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    small = x < 2.3e-308
    b = bits(x * 18014398509481984.0 if small else x)
    e = ((b >> 52) & 2047) - (1076 if small else 1022)
    m = number((b & 4503599627370495) | 4602678819172646912)
    low = m < 0.70710678118654752440
    e = e - 1 if low else e
    m = 2.0 * m - 1.0 if low else m - 1.0
    z = m * m
    p = ((((1.01875663804580931796e-4 * m + 4.97494994976747001425e-1) * m + 4.70579119878881725854) * m
          + 1.44989225341610930846e1) * m + 1.79368678507819816313e1) * m + 7.70838733755885391666  # fmt: skip
    q = ((((m + 1.12873587189167450590e1) * m + 4.52279145837532221105e1) * m + 8.29875266912776603211e1) * m
         + 7.11544750618563894466e1) * m + 2.31251620126765340583e1  # fmt: skip
    y = m * (z * (p / q)) - e * 2.121944400546905827679e-4
    y = y - 0.5 * z
    y = m + y + e * 0.693359375
    y = -np.inf if x == 0.0 else (np.nan if x < 0.0 else y)
    return y if x - x == 0.0 else (x if x > 0.0 or x != x else np.nan)
