"""Arguments for the examples of one file, from a generator of its own: an example more there changes no other file's.

draw = Drawn(7); example(linalg.sqrtm, draw.positive_definite(3, 3))
"""

from __future__ import annotations

import numpy as np


class Drawn:
    """Arrays of random numbers."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def normal(self, *shape: int) -> np.ndarray:
        """Numbers of both signs, none near 0, no two alike."""
        x = self.random.normal(size=shape)
        return x + 0.2 * np.sign(x)

    def between(self, low: float, high: float, *shape: int) -> np.ndarray:
        return self.random.uniform(low, high, size=shape)

    def regular(self, *shape: int) -> np.ndarray:
        """A regular matrix, or a stack of them."""
        return 0.3 * self.normal(*shape) + 2.0 * np.eye(shape[-1])

    def positive_definite(self, *shape: int) -> np.ndarray:
        m = self.normal(*shape)
        return m @ np.swapaxes(m, -1, -2) + np.eye(shape[-1])
