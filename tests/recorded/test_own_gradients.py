"""Functions with a gradient of their own in recorded functions: each derivative is by the user's pullback, as in texts."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import custom_gradient, grad, hessian, jvp
from s2sgrad.recorded import derivatives


@custom_gradient
def clipped(x):
    return x, lambda g: np.clip(g, -1.0, 1.0)


@custom_gradient
def tripled(x):
    y = np.exp(x)
    return y, lambda g: 3.0 * g * y


def steep(x):
    return np.sum(tripled(x) ** 2)


def bent(x):
    return np.sum(clipped(x) ** 2 * 0.9)


def recorded_steep(x):
    held = [iter([1.0])]
    return steep(x) * next(held[0])


def recorded_bent(x):
    held = [iter([1.0])]
    return bent(x) * next(held[0])


@pytest.mark.parametrize("x", [0.3, np.array([0.3, -0.2])], ids=["number", "array"])
def test_of_any_order(x):
    text = grad(lambda x: np.sum(grad(steep)(x)))(x)
    np.testing.assert_allclose(text, (18 + 6) * np.exp(2 * x))  # of the value, and of what the pullback holds
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(recorded_steep)(x)))(x), text)
    np.testing.assert_allclose(derivatives.grad(lambda x: np.sum(derivatives.grad(steep)(x)))(x), text)
    np.testing.assert_allclose(jvp(grad(recorded_steep), (x,), (np.ones_like(x),))[1], text)
    np.testing.assert_allclose(hessian(recorded_steep)(x).sum(axis=-1) if np.ndim(x) else hessian(recorded_steep)(x), text)


def test_a_pullback_that_is_not_linear_has_no_tangent():
    assert grad(grad(recorded_bent))(0.3) == grad(grad(bent))(0.3) == 1.0
    for way in (lambda: jvp(recorded_bent, (3.0,), (1.0,)), lambda: jvp(grad(recorded_bent), (0.3,), (1.0,))):
        with pytest.raises(TypeError, match="not linear in the cotangent"):
            way()
    np.testing.assert_allclose(jvp(recorded_bent, (0.3,), (1.0,))[1], 0.54)
