"""scipy.signal and scipy.integrate."""

from __future__ import annotations

import numpy as np
from scipy import integrate, signal

from .base import example, normal

for _m, _n in (((5,), (3,)), ((4,), (4,)), ((3,), (4,)), ((3, 4), (2, 3)), ((2, 3), (3, 4))):
    for _f in (signal.convolve, signal.correlate, signal.fftconvolve):
        example(_f, normal(*_m), normal(*_n))
        for _mode in ("full", "same", "valid"):
            example(_f, normal(*_m), normal(*_n), mode=_mode)
example(signal.convolve, 0.7, 1.3, "same")
example(signal.convolve, normal(5), normal(3), "same", "direct")
example(signal.correlate, normal(5), normal(3), "full", method="fft")

_places = np.array([0.0, 0.4, 1.0, 1.3, 2.1])
for _f in (integrate.trapezoid, integrate.cumulative_trapezoid):
    example(_f, normal(5))
    example(_f, normal(5), _places)
    example(_f, normal(2, 5), _places)
    example(_f, normal(5, 2), dx=0.7, axis=0)
    example(_f, normal(2, 4), np.sort(normal(2, 4)))
example(integrate.trapezoid, normal(3, 4), np.sort(normal(1, 4)), axis=0)
example(integrate.cumulative_trapezoid, normal(2, 4), initial=0)
for _n in (2, 3, 4, 5):
    example(integrate.simpson, normal(_n))
    example(integrate.simpson, normal(_n, 2), dx=0.7, axis=0)
    example(integrate.simpson, normal(2, _n), x=_places[:_n])
    example(integrate.simpson, normal(_n), dx=normal(3))

example(integrate.romb, normal(5))
example(integrate.romb, normal(2, 5), 0.7)
example(integrate.romb, normal(5, 2), axis=0)
example(integrate.cumulative_simpson, normal(5))
example(integrate.cumulative_simpson, normal(2, 6), dx=0.7)
example(integrate.cumulative_simpson, normal(5, 2), x=np.array([0.0, 0.4, 1.0, 1.3, 2.1]), axis=0, initial=0.0)
_random = np.random.default_rng(43)  # of its own: the others draw what they drew
for _n in (2, 3, 4, 5):
    example(integrate.simpson, _random.normal(size=_n), x=_places[:_n])
    example(integrate.simpson, _random.normal(size=(_n, 2)), x=_places[:_n], axis=0)
    example(integrate.cumulative_simpson, _random.normal(size=_n), x=_places[:_n], initial=0.7)
    example(integrate.cumulative_simpson, _random.normal(size=_n), dx=0.7)
example(integrate.cumulative_simpson, _random.normal(size=(2, 4)), x=np.stack((_places[:4], _places[1:])))
