"""Rules of elliptic integrals, by DLMF 19.4.1 to 19.4.7 with the parameter m = k**2.

y = special.ellipe(m)          ->      m_bar = y_bar * -0.5 * legendre_d(m)
y = special.ellipkinc(phi, m)  ->      phi_bar = y_bar / np.sqrt(1.0 - m * np.sin(phi) ** 2)
"""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.table import elementwise


def legendre_d(m):
    """The complete elliptic integral D(m) = (K(m) - E(m)) / m, finite at 0 (DLMF 19.2.6).

    >>> float(legendre_d(0.0)) == np.pi / 4.0
    True
    """
    safe = np.where(m == 0.0, 0.5, m)
    return np.where(m == 0.0, 0.25 * np.pi, (special.ellipk(safe) - special.ellipe(safe)) / safe)


@elementwise(legendre_d)
def _(g, y, m):
    safe = np.where(m == 0.0, 0.5, m)
    slope = (special.ellipk(safe) - 2.0 * y + safe * y) / (2.0 * safe * (1.0 - safe))
    return g * np.where(m == 0.0, 0.09375 * np.pi, slope)


@elementwise(special.ellipk)
def ellipk(g, y, m):
    return g * (y - legendre_d(m)) / (2.0 * (1.0 - m))


@elementwise(special.ellipkm1)
def ellipkm1(g, y, p):
    return -g * (y - legendre_d(1.0 - p)) / (2.0 * p)


@elementwise(special.ellipe)
def ellipe(g, y, m):
    return -0.5 * g * legendre_d(m)


@elementwise(special.ellipkinc)
def ellipkinc(g, y, phi, m):
    return g / np.sqrt(1.0 - m * np.sin(phi) ** 2), None


@elementwise(special.ellipeinc)
def ellipeinc(g, y, phi, m):
    return g * np.sqrt(1.0 - m * np.sin(phi) ** 2), None


for _rule in (ellipkinc, ellipeinc):
    _rule.constant("m")
