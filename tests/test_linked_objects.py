"""A random program over linked objects whose second derivative was wrong: what an adjoint returns may alias its record."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from judging import loaded

from s2sgrad import grad


@pytest.mark.dear
@pytest.mark.records
def test_second_derivative_beside_records_of_a_recursion():
    x, d, step = np.array([0.9, 0.7, 0.5, 1.1, 0.8]), np.array([0.3, -0.5, 0.7, 0.2, 0.9]), 1e-5
    text = (pathlib.Path(__file__).parent / "graph_program.txt").read_text(encoding="utf-8")
    with loaded(text, "<graph program>") as f:
        df = grad(f)
        second = grad(lambda x: np.sum(df(x) * d))(x)
        slopes = [np.sum((df(x + step * e) - df(x - step * e)) * d) / (2.0 * step) for e in np.eye(5)]
    np.testing.assert_allclose(second, slopes, rtol=1e-4, atol=1e-4)
