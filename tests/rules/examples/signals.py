"""Signals on a line, and polynomials."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import polynomials, signals

from .base import example, normal

for _f in (np.convolve, np.correlate):
    for _m, _n in ((5, 3), (3, 4), (4, 4), (6, 1)):
        example(_f, normal(_m), normal(_n))
        for _mode in ("full", "same", "valid", 0, 1, 2):
            example(_f, normal(_m), normal(_n), mode=_mode)
example(np.convolve, normal(3), 0.7)
example(np.convolve, 0.7, 0.4)
_xp = np.array([-1.0, 0.2, 0.9, 2.0])
_x = np.array([[-2.3, -0.7, 0.5], [1.3, 1.9, 2.6]])
example(np.interp, _x, _xp, normal(4))
example(np.interp, 0.4, _xp, normal(4))
example(np.interp, -3.0, _xp, normal(4))
example(np.interp, _x, _xp, normal(4), left=0.3, right=-0.7)
example(np.interp, _x, _xp, normal(4), 0.3)
example(np.interp, _x, np.array([0.3]), normal(1))
_places = np.array([0.0, 0.7, 1.0, 2.2, 3.1])
for _k in (0, 1, 2):  # NumPy takes 0 for 2
    example(np.gradient, normal(5), edge_order=_k)
    example(np.gradient, normal(5), 0.3, edge_order=_k)
    example(np.gradient, normal(5), _places, edge_order=_k)
    example(np.gradient, normal(4, 5), edge_order=_k)
    example(np.gradient, normal(4, 5), 0.3, edge_order=_k)
    example(np.gradient, normal(4, 5), 0.3, _places, edge_order=_k)
    example(np.gradient, normal(4, 5), _places, axis=1, edge_order=_k)
    example(np.gradient, normal(4, 3, 5), 0.3, 0.7, axis=(0, -1), edge_order=_k)
    example(signals.ungradient, normal(4, 5), normal(4, 5), _places, -1, _k)
    example(signals.ungradient, normal(4, 5), normal(4, 5), 0.3, 0, _k)
example(np.gradient, normal(4, 5), axis=[0, 1])
example(np.gradient, np.array([0, 2, 1, 3, 1]), 2.4)
example(np.gradient, normal(2), 0.3)
example(np.gradient, normal(3), np.array([0.0, 0.4, 1.0]), edge_order=2)
example(np.unwrap, np.array([0.3, 2.9, 6.8, 1.1]))
example(np.unwrap, np.array([[0.3, 0.9, 0.1]]), axis=1, period=0.7)

# --- polynomials -----------------------------------------------------------------------------------------------------

example(np.vander, normal(3))
example(np.vander, normal(3), 5, increasing=True)
example(np.polyval, normal(4), normal(2, 3))
example(np.polyval, normal(4), 0.7)
example(np.polyval, [0.3, 0.7], 0.4)
example(np.polyval, normal(1), normal(3))
for _f in (np.polyder, np.polyint):
    example(_f, normal(4))
    example(_f, normal(4), 2)
example(np.polyder, normal(2), 3)
example(polynomials.unpolyder, normal(3), normal(4))
example(polynomials.unpolyint, normal(4))
for _x in (0.7, normal(2, 3)):
    example(np.poly1d.__call__, np.poly1d(normal(4)), _x)
    example(np.polynomial.Polynomial.__call__, np.polynomial.Polynomial(normal(4), [0.0, 2.0]), _x)
    example(np.polynomial.Polynomial.__call__, np.polynomial.Legendre(normal(3)), _x)
    example(polynomials.slope_of, np.polynomial.Chebyshev(normal(4)), _x, 2)
example(np.polyfit, np.sort(normal(6)), normal(6), 2)
example(np.polyfit, np.sort(normal(6)), normal(6, 2), 1)
example(np.fft.fftfreq, 5, 0.4)
example(np.fft.rfftfreq, 5, d=0.4)
