"""Edges of SciPy's functions: polynomials of degree 0, points outside of splines, constant matrices, rough tolerances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse, special
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline, NdBSpline

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.runtime.checks import Refusal

STEP = 1e-6
POLYNOMIALS = [name for name in dir(special) if name.startswith("eval_")]
PLACES = (0.0, 0.3, 0.5, 1.0, -0.4)
PARAMETERS = {0: [()], 1: [(0.5,), (2,), (0,), (-0.5,)], 2: [(2, 1.5), (0.5, 0.5), (2.0, 1.0), (1, 1), (2, 2)]}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("degree", [0, 1, 2, 0.0, 1.0, 2.5])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_slopes_of_orthogonal_polynomials(name, degree):
    function = getattr(special, name)
    if "hermite" in name and type(degree) is float:
        return  # whose degrees are integers
    for given in PARAMETERS[function.nin - 2]:

        def f(x, given=given):
            return function(degree, *given, x)

        for x in PLACES:
            with np.errstate(all="ignore"):
                wanted = [(f(x + h) - f(x - h)) / (2.0 * h) for h in (STEP, 2.0 * STEP)]
            if np.all(np.isfinite(wanted)) and np.isclose(*wanted, rtol=1e-4, atol=1e-5):
                np.testing.assert_allclose(grad(f)(x), wanted[0], rtol=1e-4, atol=1e-5)
                np.testing.assert_allclose(jvp(f, (x,), (1.0,))[1], wanted[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("degree", [-2, -3])
@pytest.mark.parametrize("name", ["eval_chebyt", "eval_chebyc", "eval_sh_chebyt"])
def test_slopes_of_negative_degrees(name, degree):
    function = getattr(special, name)
    wanted = (function(degree, 0.3 + STEP) - function(degree, 0.3 - STEP)) / (2.0 * STEP)
    np.testing.assert_allclose(grad(lambda x: function(degree, x))(0.3), wanted, rtol=1e-6)


@pytest.mark.parametrize("degree", [-1, -2, -3, -4, -7, -2.0, -3.0, -0.3, -1.5])
@pytest.mark.parametrize("name", ["eval_legendre", "eval_chebyu", "eval_chebys", "eval_sh_chebyu", "eval_sh_legendre"])
def test_slopes_of_degrees_that_fold(name, degree):
    function = getattr(special, name)

    def f(x):
        return function(degree, x)

    def slope(f, x):
        return (f(x + STEP) - f(x - STEP)) / (2.0 * STEP)

    with np.errstate(all="ignore"):
        np.testing.assert_allclose(grad(f)(0.31), slope(f, 0.31), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(grad(grad(f))(0.31), slope(grad(f), 0.31), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("degree", [1e9 + 0.5, np.inf, np.nan])
def test_slopes_of_degrees_without_a_polynomial_take_no_time(degree):
    with np.errstate(all="ignore"):
        wanted = special.eval_gegenbauer(degree - 1, 1.5, 0.3)
        np.testing.assert_array_equal(grad(lambda x: special.eval_legendre(degree, x))(0.3), wanted)


def test_a_constant_spline_outside():
    constant = BSpline(KNOTS, ROWS[0], 3, extrapolate=False)
    x = np.array([0.5, 4.0])
    told = grad(lambda x: np.nansum(constant(x, extrapolate=False)))(x)
    np.testing.assert_array_equal(np.isnan(told), [False, False])
    assert told[1] == 0.0
    np.testing.assert_array_equal(np.isnan(grad(lambda x: np.nansum(constant(x)))(x)), [False, True])


KNOTS = np.array([0.0, 0, 0, 0, 1, 2, 3, 3, 3, 3])
ROWS = np.arange(36.0).reshape(6, 6) ** 1.5
OUTSIDE = {
    "NdBSpline": lambda x: NdBSpline((KNOTS, KNOTS), ROWS * x[0], 3, extrapolate=False)(np.stack([x, x[::-1] + 2.0], -1)),
    "BSpline": lambda x: BSpline(KNOTS, ROWS[0] * x[0], 3, extrapolate=False)(x + 2.0),
    "CubicSpline": lambda x: CubicSpline([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 0.0, x[0]])(x + 2.0, extrapolate=False),
}
MASKS = {"nansum": np.nansum, "where": lambda y: np.sum(np.where(np.isnan(y), 0.0, y))}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_mask_wins_outside_of_a_spline(name, mask):
    spline, masked = OUTSIDE[name], MASKS[mask]

    def f(x):
        return masked(spline(x))

    x, along = np.array([0.7, 1.3, 0.4]), np.array([0.3, -0.7, 1.1])
    wanted = (f(x + STEP * along) - f(x - STEP * along)) / (2.0 * STEP)
    assert np.isnan(spline(x)).any()
    np.testing.assert_allclose(grad(f)(x) @ along, wanted, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (along,))[1], wanted, rtol=1e-6)


def test_what_is_read_outside_of_a_spline_is_nan():
    def f(x):
        return np.sum(BSpline(KNOTS, ROWS[0], 3, extrapolate=False)(x))

    np.testing.assert_array_equal(np.isnan(grad(f)(np.array([0.5, 4.0]))), [False, True])


MATRIX = sparse.csr_array(np.array([[-1.0, 0.2, 0.0], [0.1, -2.0, 0.3], [0.0, 0.5, -1.5]]))


def test_a_constant_sparse_matrix_beside_a_tangent():
    def f(x):
        end = solve_ivp(lambda s, y, m, k: m @ y * k, (0.0, 1.0), x, args=(MATRIX, x[0]), rtol=1e-9, atol=1e-10)
        return np.sum(end.y[:, -1])

    x, along = np.array([0.7, 1.3, 0.4]), np.array([0.3, -0.7, 1.1])
    wanted = (f(x + STEP * along) - f(x - STEP * along)) / (2.0 * STEP)
    np.testing.assert_allclose(jvp(f, (x,), (along,))[1], wanted, rtol=1e-5)
    np.testing.assert_allclose(grad(f)(x) @ along, wanted, rtol=1e-5)


def test_a_rough_tolerance_of_lambertw_is_refused_where_it_solves_nothing():
    with pytest.raises((S2SGradError, Refusal), match="solves no equation"):
        grad(lambda x: special.lambertw(x, 0, 2).real)(0.7)
    for tol in (1e-3, 1e-10):
        assert grad(lambda x, tol=tol: special.lambertw(x, 0, tol).real)(0.7) == pytest.approx(0.4416279, rel=1e-6)


COUNTED = [f for f in vars(special).values() if isinstance(f, np.ufunc) and any("l" in t.split("->")[0] for t in f.types)]
COUNTED += [special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn]
COUNTED += [special.pdtr, special.pdtrc]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("orders", [(2.0, 5.0), (2.5, 5.0), (0.1, 5.5), (1.7, 4.3), (-0.4, 3.6)])
@pytest.mark.parametrize("function", COUNTED, ids=lambda f: f.__name__)
def test_an_order_is_the_whole_number_that_scipy_computes_with(function, orders):
    """Of each function that takes integers in C, and so may cut off the fraction of a float."""
    count = getattr(function, "nin", 2)
    given = (*orders, 0.5)[: count - 1]
    if "hermite" in function.__name__:
        given = (int(orders[0]),)

    def f(x):
        return function(*given, x)

    with np.errstate(all="ignore"):
        wanted = [(f(0.7 + h) - f(0.7 - h)) / (2.0 * h) for h in (STEP, 2.0 * STEP)]
        if np.all(np.isfinite(wanted)) and np.isclose(*wanted, rtol=1e-4, atol=1e-5):
            np.testing.assert_allclose(grad(f)(0.7), wanted[0], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], wanted[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("given", [(5.0,), (2.4,)])
def test_a_noncentrality_of_probability_zero_stays_at_the_end_of_its_range(given):
    def f(df):
        return special.nctdtrinc(df, 0.0, *given)

    assert f(0.6) == f(0.7)
    assert grad(f)(0.6) == jvp(f, (0.6,), (1.0,))[1] == 0.0


def inverse_by_vectors(a):
    """`inv(a)`: all eigenvalues of the pair are 1, so that the vectors may turn, and their squares do not."""
    v = linalg.eigh(a, a)[1]
    return v @ v.T


def test_vectors_of_one_eigenvalue_stay_orthonormal():
    rng = np.random.default_rng(3)
    a, t, weights = rng.normal(size=(3, 3, 3))
    a, t = a @ a.T + 3.0 * np.eye(3), t + t.T
    wanted = -np.linalg.inv(a) @ t @ np.linalg.inv(a)
    np.testing.assert_allclose(jvp(inverse_by_vectors, (a,), (t,))[1], wanted, rtol=1e-9)
    np.testing.assert_allclose(np.sum(grad(inverse_by_vectors)(a, seed=weights) * t), np.sum(wanted * weights), rtol=1e-9)
