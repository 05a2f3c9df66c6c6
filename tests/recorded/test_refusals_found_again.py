"""The refusal of a text that is differentiated is found again, while that text is the one that was refused."""

from __future__ import annotations

import numpy as np

from s2sgrad import grad, jvp
from s2sgrad.driver.program import Program
from s2sgrad.errors import Unsupported


def test_a_second_derivative_is_refused_once(monkeypatch):
    whole, compiled = Program.gradient, []

    def gradient(self, function, *rest):
        compiled.append(function.__name__)
        if function.__name__ == "cube_grad":
            raise Unsupported("this text, for the sake of the test")
        return whole(self, function, *rest)

    def cube(x):
        return factor * x**3

    def along(tangent_of):
        return tangent_of((2.0,), (1.0,))[1]

    factor = 1.0
    monkeypatch.setattr(Program, "gradient", gradient)
    second = jvp(grad(cube), None, None)
    np.testing.assert_allclose(along(second), 12.0)
    before = len(compiled)
    np.testing.assert_allclose([along(second), along(jvp(grad(cube), None, None))], 12.0)
    assert "cube_grad" in compiled and len(compiled) == before
    factor = 2.0
    np.testing.assert_allclose(along(second), 24.0)
