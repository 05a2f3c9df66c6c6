"""Slopes of elliptic integrals where arguments are equal, or nearly so: no nan, and no digits lost."""

import numpy as np
import pytest
from scipy import special

from s2sgrad import grad, hessian, jvp

EQUAL = {  # all arguments 1: integrals of one power of t + 1
    special.elliprf: (3, (-1 / 6, -1 / 6, -1 / 6)),
    special.elliprc: (2, (-1 / 6, -1 / 3)),
    special.elliprd: (3, (-0.3, -0.3, -0.9)),
    special.elliprg: (3, (1 / 6, 1 / 6, 1 / 6)),
    special.elliprj: (4, (-0.3, -0.3, -0.3, -0.6)),
}


@pytest.mark.parametrize("apart", [0.0, 1e-15, 1e-12, 1e-9])
@pytest.mark.parametrize("f", EQUAL, ids=lambda f: f.__name__)
def test_carlson_of_equal_arguments(f, apart):
    count, slopes = EQUAL[f]
    args = (1.0 + apart, *[1.0] * (count - 1))
    np.testing.assert_allclose(grad(f, tuple(range(count)))(*args), slopes, rtol=1e-13 + 5.0 * apart)
    np.testing.assert_allclose(jvp(f, args, (1.0,) * count)[1], sum(slopes), rtol=1e-13 + 5.0 * apart)


def test_second_derivatives_of_equal_arguments():
    def integral(x):
        return special.elliprj(x[0], x[1], x[2], x[3])

    powers = np.array([0.5, 0.5, 0.5, 1.0])
    wanted = 1.5 * (np.outer(powers, powers) + np.diag(powers)) * 2.0 / 7.0
    np.testing.assert_allclose(hessian(integral)(np.ones(4)), wanted, rtol=1e-12)


@pytest.mark.parametrize("m", [0.0, 1e-16, 1e-12])
def test_legendre_near_the_circle(m):
    np.testing.assert_allclose(grad(special.ellipk)(m), np.pi / 8.0, rtol=1e-11)
    np.testing.assert_allclose(grad(special.ellipe)(m), -np.pi / 8.0, rtol=1e-11)
    np.testing.assert_allclose(grad(grad(special.ellipk))(m), 9.0 * np.pi / 64.0, rtol=1e-11)
    np.testing.assert_allclose(grad(special.ellipkinc, 1)(0.7, m), 0.25 * (0.7 - 0.5 * np.sin(1.4)), rtol=1e-11)


def test_legendre_near_the_pole():
    assert np.isclose(grad(special.ellipkm1)(1e-20), -5e19)
    assert np.isclose(grad(special.ellipkinc, 1)(0.7, 1.0), grad(special.ellipkinc, 1)(0.7, 1.0 - 1e-9), rtol=1e-7)


def test_noncentral_distributions_at_the_central_one():
    for f, x in ((special.chndtr, (1.3, 2.5)), (special.ncfdtr, (1.3, 2.5))):
        args, tail = (x, ()) if f is special.chndtr else (x, (1.2,))
        for k in range(len(x)):
            inside = grad(f, k)(*args, 1e-9, *tail)
            np.testing.assert_allclose(grad(f, k)(*args, 0.0, *tail), inside, rtol=1e-6)
        step = (f(*args, 1e-6, *tail) - f(*args, 0.0, *tail)) / 1e-6
        np.testing.assert_allclose(grad(f, 2)(*args, 0.0, *tail), step, rtol=1e-5)


def test_outside_of_the_support_of_tukey_lambda():
    assert grad(special.tklmbda, (0, 1))(0.6, 2.4) == (0.0, 0.0)


def test_a_deviation_of_0():
    assert grad(special.nrdtrisd, 1)(0.6, 0.3, 0.6) == 0.0
    np.testing.assert_allclose(grad(special.nrdtrisd, 2)(0.6, 0.3, 0.6), 1.0 / special.ndtri(0.3))
