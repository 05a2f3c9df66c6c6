"""Slopes of quotients of gamma functions where poles meet: known in closed form."""

import numpy as np
import pytest
from scipy import special

from s2sgrad import grad, hessian, jvp

AT_POLES = [
    (special.rgamma, (-2.0,), 0, 2.0),  # (-1) ** n * n!
    (special.rgamma, (0.0,), 0, 1.0),
    (special.binom, (0.7, 2.7), 1, special.beta(1.7, 2.0)),
    (special.binom, (0.7, 2.7), 0, -special.beta(1.7, 2.0)),
    (special.binom, (2.6, 6.6), 1, special.beta(3.6, 4.0)),
    (special.binom, (3.0, 5.0), 1, special.beta(4.0, 2.0)),
    (special.binom, (-2.5, 2.0), 0, -3.0),  # n * (n - 1) / 2
    (special.poch, (-2.0, 3.0), 0, 2.0),  # z * (z + 1) * (z + 2)
    (special.poch, (-2.0, 1.0), 0, 1.0),
    (special.beta, (-0.5, -1.5), 0, 2.0 * special.gamma(-0.5) * special.gamma(-1.5)),
    (special.beta, (-1.5, 1.0), 0, -1.0 / 2.25),  # 1 / a
    (special.betaln, (-1.5, 1.0), 0, 1.0 / 1.5),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("f", "args", "k", "slope"), AT_POLES)
def test_slopes_where_poles_meet(f, args, k, slope):
    np.testing.assert_allclose(grad(f, k)(*args), slope, rtol=1e-12)
    tangents = tuple(1.0 if i == k else None for i in range(len(args)))
    np.testing.assert_allclose(jvp(f, args, tangents)[1], slope, rtol=1e-12)


@pytest.mark.parametrize("f", [special.binom, special.beta, special.betaln, special.poch])
@pytest.mark.parametrize("args", [(2.6, 1.3), (-0.7, -1.6), (-0.7, 2.2), (2.3, -1.1)])
def test_second_derivatives_beside_poles(f, args):
    for k in (0, 1):

        def shifted(h, k=k):
            return grad(f, k)(*(a + h * (i == k) for i, a in enumerate(args)))

        steps = (shifted(-2e-4) - 8 * shifted(-1e-4) + 8 * shifted(1e-4) - shifted(2e-4)) / 1.2e-3
        np.testing.assert_allclose(grad(grad(f, k), k)(*args), steps, rtol=1e-7, atol=1e-7)


def test_whole_orders_are_cut_when_the_text_is_written():
    text = grad(lambda x: special.kn(2, x)).source
    assert "special.kv(1.0, x) + special.kv(3.0, x)" in text


def test_the_voigt_profile_without_a_normal_part():
    x, gamma = 0.4, 0.7
    wide = np.pi * (x * x + gamma * gamma) ** 2
    wanted = -2.0 * x * gamma / wide, 0.0, (x * x - gamma * gamma) / wide
    np.testing.assert_allclose(grad(special.voigt_profile, (0, 1, 2))(x, 0.0, gamma), wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("f", [special.binom, special.beta, special.betaln, special.poch], ids=lambda f: f.__name__)
@pytest.mark.parametrize("at", [(-3.5, 2.0), (0.7, 3.0), (-1.5, 3.0), (5.5, 1.0)], ids=str)
def test_second_derivatives_are_symmetric_at_whole_steps(f, at):
    """Where `sin(pi * d)` is 0 its slope is not."""
    found, h = hessian(lambda x: f(x[0], x[1]))(np.array(at)), 1e-5
    slopes = [(grad(f, 1)(at[0] + s * h, at[1]) / (2.0 * h)) * s for s in (1.0, -1.0)]
    np.testing.assert_allclose([found[0, 1], found[1, 0]], [sum(slopes)] * 2, rtol=1e-6)
