"""numpy.polynomial, in six bases."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils

from s2sgrad.rules import bases

from . import complex_numbers
from .base import example

complexly = complex_numbers.example

_random = np.random.default_rng(42)
X, C, D = _random.uniform(-0.9, 0.9, (2, 3)), _random.normal(size=4), _random.normal(size=3)

for _module, _p in ((polynomial, "poly"), (chebyshev, "cheb"), (legendre, "leg"), (laguerre, "lag"), (hermite, "herm"),
                    (hermite_e, "herme")):  # fmt: skip
    _f = {
        _name: getattr(_module, _p + _name)
        for _name in ("val", "vander", "der", "int", "add", "sub", "mul", "mulx", "div", "pow", "fit", "roots", "fromroots")
    }
    example(_f["val"], X, C)
    example(_f["val"], np.array([0.3]), D)
    example(_f["vander"], X, 3)
    example(_f["vander"], X[0], 0)
    for _m in (1, 2):
        example(_f["der"], C, _m)
        example(_f["int"], C, _m, scl=1.5)
    for _name in ("add", "sub", "mul", "div"):
        example(_f[_name], C, D)
        example(_f[_name], D, C)
        example(_f[_name], C, 0.7)
    complexly(_f["roots"], C)
    example(_f["roots"], np.array([-0.3, 1.0, 1.2]))
    example(_f["fromroots"], D)
    example(_f["mulx"], C)
    example(_f["pow"], D, 3)
    example(_f["pow"], D, 1)
    example(_f["fit"], np.linspace(-0.9, 0.8, 6), _random.normal(size=6), 2)
example(polyutils.mapdomain, X, np.array([-0.3, 0.8]), np.array([-1.0, 1.5]))
example(bases.fitted, C, 2)
example(bases.fitted, C, 6)
