"""SciPy's solvers that are handed functions: both modes, in what these close over and in `args`, against differences.

Each function of `k` is differentiated at 1.2, with a tolerance at which its own differences are right.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest
from scipy import integrate, linalg, optimize, stats

from s2sgrad import defvjp, grad, jvp, primitive, vjp
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.checks import Refusal

A = np.array([[2.0, 0.3], [0.3, 1.0]])
W = np.array([1.0, 2.0, 0.5])
X = np.linspace(0.0, 1.0, 9)
Y = 2.0 * np.exp(-1.3 * X) + 0.05 * np.sin(20.0 * X)
T = np.linspace(0.2, 1.5, 4)
LEAST = {"xtol": 1e-13, "ftol": 1e-13, "gtol": 1e-13}


def cubic(x, k):
    return x**3 - k * x - 0.3


def well(x, k):
    return np.sum((x - k) ** 4 + (x - 1.0) ** 2) + x[0] * x[1]


def slope(f, k=1.2, h=1e-3):
    """The derivative by differences of fourth order."""
    return (8.0 * (f(k + h) - f(k - h)) - (f(k + 2 * h) - f(k - 2 * h))) / (12.0 * h)


# --- roots -----------------------------------------------------------------------------------------------------------


def one_function_handed_twice(k):
    def f(x):
        return cubic(x, k)

    return optimize.brentq(f, 0.0, 5.0) + 2.0 * optimize.brentq(f, -0.6, 0.3)


def told_in_full(k):
    x, _ = optimize.toms748(lambda x: cubic(x, k * k), 0.5, 5.0, full_output=True)
    return x * k


def argument_without_a_tuple(k):
    return optimize.brentq(cubic, 0.5, 5.0, k) * optimize.bisect(cubic, 0.5, 5.0, args=k, xtol=1e-13)


def newton_with_its_slope(k):
    return optimize.newton(lambda x: cubic(x, k), 1.5, fprime=lambda x: 3.0 * x * x - k)


def newton_of_several(k):
    return np.sum(optimize.newton(cubic, np.array([1.5, 1.7]), args=(k,)) ** 2)


def equations_in_a_list(k):
    return np.sum(optimize.fsolve(lambda x: [x[0] ** 2 + k * x[1] - 3.0, x[0] * x[1] - k], [1.0, 1.0]) ** 2)


def one_further_argument(k):
    return np.sum(optimize.fsolve(lambda x, k: A @ x + np.sin(x) * k - 1.0, np.ones(2), args=k))


def parts_of_a_result(k):
    found = optimize.root(lambda x: A @ x + np.sin(x) * k - 1.0, np.ones(2))
    again = optimize.root_scalar(lambda x: cubic(x, k), bracket=[0.5, 3.0], method="brentq")
    return np.sum(found.x**2) + again.root * k


ROOTS = [
    lambda k: optimize.brentq(lambda x: cubic(x, k), 0.5, 5.0 * k), lambda k: optimize.brenth(cubic, 0.5, 5.0, (k,)),
    lambda k: optimize.bisect(lambda x, k, w: x**3 - k * x * w - 1.0, 0.0, 5.0, args=(k, k)),
    lambda k: optimize.ridder(functools.partial(cubic, k=k), 0.5, 5.0), one_function_handed_twice, told_in_full,
    argument_without_a_tuple,
    newton_with_its_slope, newton_of_several, equations_in_a_list, one_further_argument, parts_of_a_result,
    lambda k: np.sum(optimize.fixed_point(lambda x, w: np.cos(x * w * 0.5), np.array([0.6, 0.7]), args=(k,))),
    lambda k: np.sum(optimize.newton_krylov(lambda x: A @ x + np.sin(x) * k - 1.0, np.ones(2), f_tol=1e-12) ** 2),
    lambda k: np.sum(optimize.broyden1(lambda x: A @ x + np.sin(x) * k - 1.0, np.ones(2), f_tol=1e-12) ** 2),
    lambda k: np.sum(optimize.anderson(lambda x: A @ x + np.sin(x) * k - 1.0, np.ones(2), f_tol=1e-12) ** 2),
]  # fmt: skip

# --- minima and fits -------------------------------------------------------------------------------------------------


def minimum_and_value(k):
    found = optimize.minimize(well, np.array([0.1, 0.3]), args=(k,), tol=1e-12)
    return found.fun * np.sum(found.x**2)


def cost_and_residuals(k):
    found = optimize.least_squares(lambda p, k: p[0] * np.exp(-p[1] * X * k) - Y * k, np.ones(2), args=(k,), **LEAST)
    return found.cost + found.fun[2] + found.x[0]


def curve(k):
    found, _ = optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x), X * k, Y**k, sigma=1.0 + k * X, ftol=1e-13)
    return found[0] * found[1]


def corners(k):
    found = optimize.linprog([-k, -1.0], A_ub=[[1.0, k], [2.0, 1.0]], b_ub=np.array([2.0, k * k]))
    other = optimize.linprog(
        [1.0, k, 1.0], A_eq=np.array([[1.0, k, 0.3]]), b_eq=[2.0 * k], bounds=[(0.1, None), (0, 0.5), (0, 1)]
    )
    return found.fun + found.x[0] ** 2 + 3.0 * found.x[1] * other.fun * other.x[0]


def between_bounds(k):
    found = optimize.lsq_linear(SQUARE * k + SQUARE**2, Y[:6] * k, bounds=(-0.1, 0.3), tol=1e-13)
    return np.sum(found.x**2) + found.cost * k + found.fun[1] ** 2


def in_monotone_blocks(k):
    weights = np.array([1.0, k, 2.0, k * k])
    found = optimize.isotonic_regression(np.array([3.0, k, 0.5, 2.0]), weights=weights, increasing=False)
    return np.sum(found.x**2)


def in_whole_numbers(k):
    rows = optimize.LinearConstraint(np.array([[1.0, 1.0]]), ub=1.5)
    found = optimize.milp(np.array([-k, -1.0]), integrality=np.array([1, 0]), constraints=rows, bounds=optimize.Bounds(0, 2))
    return found.fun * k + optimize.quadratic_assignment(SQUARE[:3] * k, np.cos(SQUARE[3:] * k)).fun


SQUARE = np.cos(np.arange(18.0) ** 2).reshape(6, 3)


def slope_of_well(x, k):
    return np.array([4 * (x[0] - k) ** 3 + 2 * (x[0] - 1.0) + x[1], 4 * (x[1] - k) ** 3 + 2 * (x[1] - 1.0) + x[0]])


def tight_fmin(f, x, args=(), full_output=0, disp=0):
    return optimize.fmin(f, x, args, 1e-10, 1e-14, full_output=full_output, disp=disp)


BOX = [(-3.0, 3.0)] * 2
ROUGH = [  # solutions of too few digits for differences of their gradients
    lambda k: optimize.differential_evolution(well, BOX, args=(k,), tol=1e-10, rng=0).fun,
    lambda k: optimize.differential_evolution(well, BOX, args=(k,), tol=1e-10, seed=0).fun,
    lambda k: optimize.basinhopping(lambda x: well(x, k), np.zeros(2), niter=3, seed=0, minimizer_kwargs={"tol": 1e-10}).fun,
    lambda k: optimize.brute(lambda x, k: (x[0] - k) ** 4 + (x[0] - 1.0) ** 2, ((0, 2),), (k,), finish=tight_fmin)[0],
    lambda k: optimize.dual_annealing(lambda x: well(x, k), BOX, rng=0, maxiter=20).fun,
    lambda k: np.sum(optimize.shgo(lambda x: well(x, k), BOX, options={"f_tol": 1e-12}).x ** 2),
    lambda k: np.sum(optimize.fmin_l_bfgs_b(well, np.zeros(2), slope_of_well, (k,), factr=10.0, pgtol=1e-10)[0] ** 2),
    lambda k: np.sum(optimize.fmin_slsqp(well, np.zeros(2), args=(k,), acc=1e-14, iprint=0) ** 2),
]
MINIMA = [
    corners, between_bounds, in_monotone_blocks, in_whole_numbers,
    minimum_and_value, cost_and_residuals, curve,
    lambda k: np.sum(optimize.fmin(lambda x: well(x, k), np.array([0.1, 0.3]), xtol=1e-9, ftol=1e-13, disp=0) ** 2),
    lambda k: optimize.minimize_scalar(lambda x: (x - k) ** 4 + (x - 1.0) ** 2, bounds=(0, 3), options={"xatol": 1e-10}).x,
    lambda k: optimize.minimize_scalar(lambda x, k: (x - k) ** 4 + (x - 1.0) ** 2, args=(k,)).fun,
    lambda k: optimize.brent(lambda x: (x - k) ** 4 + (x - 1.0) ** 2),
    lambda k: optimize.leastsq(lambda p: p[0] * np.exp(-p[1] * X * k) - Y * k, np.ones(2), xtol=1e-13)[0][1],
    lambda k: np.sum(optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x * k), X, Y, p0=[1.0, 1.0])[0] ** 2),
]  # fmt: skip

# --- integrals -------------------------------------------------------------------------------------------------------


def integral_of_an_integral(k):
    return integrate.quad(lambda t: integrate.quad(lambda s: np.exp(-k * t * s), 0.0, t)[0], 0.0, 1.0)[0]


def placed(limit, *places):
    return limit(*places) if callable(limit) else limit


def limit_of_an_inner_integral_may_be_called(k):
    def inner(x):
        top = 2.0 * k
        return integrate.quad(lambda y: k * np.exp(k * x * y), placed(lambda t: k * t, x), placed(top, x))[0]

    return integrate.quad(inner, 0.0, 1.0)[0]


INTEGRALS = [
    lambda k: integrate.tanhsinh(lambda x: np.exp(-k * x * x) * np.log(x), 0.0, 1.0).integral if NEW else k,
    lambda k: integrate.tanhsinh(lambda x, a: np.exp(-a * x), 0.1 * k, k * k, args=(k,)).integral if NEW else k,
    lambda k: integrate.quad(lambda t, a: np.exp(-a * t * t), 0.0, k, args=(k,))[0],
    lambda k: integrate.quad(lambda t: np.exp(-k * t * t) * t, -k, np.inf)[0],
    lambda k: integrate.quad(lambda t, a, w: np.sum(w * a * t) ** 2, 0.0, 1.0, args=(k, W * k))[0],
    lambda k: integrate.quad(lambda t: np.abs(np.sin(k * t) - 0.5), 0.0, 1.0, points=[0.3], epsabs=1e-10)[0],
    lambda k: np.sum(integrate.quad_vec(lambda t: np.exp(-k * t * W), 0.0, k)[0] ** 2),
    lambda k: np.sum(integrate.quad_vec(lambda t, a: np.exp(-a * t * W), 0.0, np.inf, args=(k,))[0] ** 2),
    lambda k: integrate.fixed_quad(lambda t, a: np.exp(-a * t * t), 0.0, k, args=(k,), n=7)[0], integral_of_an_integral,
]  # fmt: skip

NEW = hasattr(integrate, "nsum")
SUMS = [
    lambda k: integrate.nsum(lambda n: 1.0 / n ** (2.0 * k), 1, np.inf).sum if NEW else k,
    lambda k: integrate.nsum(lambda n, a, b: np.exp(-a * n) * b, 1, 20, args=(k, k * k)).sum if NEW else k,
]


def between_boundaries(k):
    def bent(x, y):
        return np.vstack((y[1], -k * np.sin(y[0])))

    guess = np.ones((2, 5))
    found = integrate.solve_bvp(bent, lambda a, b: [a[0], b[0] - k], np.linspace(0, 1, 5), guess, tol=1e-3, bc_tol=1e-9)
    return found.y[1, 0] ** 2


def of_a_parameter(k):
    x = np.linspace(0.0, 1.0, 5)
    found = integrate.solve_bvp(
        lambda x, y, p: np.vstack((y[1], -(p[0] ** 2) * y[0] * k)), lambda a, b, p: np.array([a[0], b[0], a[1] - p[0]]), x,
        np.stack((np.sin(np.pi * x), np.cos(np.pi * x))), [3.0], tol=1e-6,
    )  # fmt: skip
    return found.p[0]


VOLUMES = [
    lambda k: integrate.tplquad(lambda z, y, x: np.sin(k * x * y * z), 0, 1, 0, k, 0, 1)[0],
    lambda k: integrate.tplquad(
        lambda z, y, x, w: w * x * y * z,
        0,
        k,
        lambda x: 0.0,
        lambda x: x * k,
        lambda x, y: 0.0,
        lambda x, y: x * y,
        args=(k * k,),
    )[0],
    lambda k: integrate.dblquad(lambda y, x: np.sin(k * x * y), 0, 1, 0, 1)[0],
    lambda k: integrate.dblquad(lambda y, x, w: w * x * y, 0, k, lambda x: x * k, lambda x: x + k, args=(k * k,))[0],
    lambda k: integrate.dblquad(lambda y, x: np.exp(-k * x * y), 0, 1, 0, lambda x: k * x)[0],
    lambda k: integrate.nquad(lambda y, x: k * x * y + np.cos(k * y), [[0, k], [0, 1.5]])[0],
    lambda k: integrate.nquad(lambda y, k: k * y, [[0, 1]], args=(k,))[0],
]  # in one order


def test_numbers_are_not_written_by_a_helper_that_may_call_a_limit():
    f, h = limit_of_an_inner_integral_may_be_called, 1e-5
    difference = (f(0.7 + h) - f(0.7 - h)) / (2 * h)
    assert np.isclose(grad(f)(0.7), difference, rtol=1e-7)
    assert np.isclose(jvp(f, (0.7,), (1.0,))[1], difference, rtol=1e-7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.dear
@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    "f",
    [
        pytest.param(VOLUMES[2], id="numbers"),
        pytest.param(VOLUMES[4], id="functions", marks=pytest.mark.sampled(one_in=8)),  # half a minute
    ],
)
def test_second_order_of_integrals_over_areas(f):
    once = grad(f)
    assert np.isclose(jvp(once, (1.2,), (1.0,))[1], slope(once), rtol=1e-5)


@pytest.mark.sampled(one_in=2, turn=-1)  # the first takes half a minute
@pytest.mark.parametrize("f", [integral_of_an_integral, INTEGRALS[0]], ids=["0", "1"])
def test_tangents_of_tangents_of_integrals(f):
    def along(k):
        return jvp(f, (k,), (1.0,))[1]

    second = (f(0.7 + 1e-3) - 2.0 * f(0.7) + f(0.7 - 1e-3)) / 1e-6
    for found in (jvp(along, (0.7,), (1.0,))[1], jvp(grad(f), (0.7,), (1.0,))[1]):
        assert np.isclose(found, second, rtol=1e-5)


# --- equations -------------------------------------------------------------------------------------------------------

TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def pendulum(t, y, k):
    return [y[1], -k * np.sin(y[0])]


def until_a_time(k):
    found = integrate.solve_ivp(pendulum, (0.0, 1.5 * k), np.array([1.0, k]), args=(k * k,), rtol=1e-9, atol=1e-10)
    return np.sum(found.y[:, -1] ** 2)


def at_times(k):
    found = integrate.solve_ivp(
        lambda t, y: [y[1], -k * (y[0] ** 2 - 1.0) * y[1] - y[0]], [0.0, 1.5 * k], [1.0, k], t_eval=T * k, method="Radau",
        rtol=1e-8, atol=1e-9,
    )  # fmt: skip
    return np.sum(found.y[0] ** 2) + found.t[1] * k


EQUATIONS = [
    lambda k: np.sum(integrate.odeint(lambda y, t: -k * y * np.sin(t + y), np.array([1.0, 2.0]), T) ** 2),
    lambda k: np.sum(integrate.odeint(pendulum, [1.0, 0], T * k, (k,), tfirst=True, rtol=1e-10, atol=1e-10)[-1] ** 2),
    lambda k: integrate.odeint(lambda y, t: -k * y, 1.5 * k, [0.0, 1.0, 2.0 * k], rtol=1e-10, atol=1e-10)[-1, 0],
    lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1.5), [k], rtol=1e-9, atol=1e-10).y[0, -1],
    until_a_time, at_times,
]  # fmt: skip


# --- complex numbers -------------------------------------------------------------------------------------------------

SPINS = np.array([[0.5, 0.3 - 0.2j], [0.3 + 0.2j, -0.5]])


def turning_spin(k):
    found = integrate.solve_ivp(
        lambda t, psi: -1j * (SPINS @ psi) * np.cos(k * t) * k, (0.0, 1.0), np.array([1.0 + 0j, 0.0]), t_eval=[0.5, 1.0],
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return np.abs(found.y[1, -1]) ** 2 + found.y[0, 0].imag


def waves_that_feel_their_size(k):
    found = integrate.solve_ivp(
        lambda t, y, c: -1j * np.abs(y) ** 2 * y * c + 0.3j * np.conj(y), (0.0, 1.0), [k + 0j, 0.4j], args=(k + 0.3j,),
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return np.sum(np.abs(found.y[:, -1]) ** 2)


def real_state_of_complex_numbers(k):
    z = k + 0.3j
    return np.sum(integrate.odeint(lambda y, t: -np.abs(z) * y * y, [1.0, 2.0], T, rtol=1e-10, atol=1e-10)[-1])


def root_in_complex_numbers(k):
    return np.angle(optimize.newton(lambda z: z**3 - k * 1j, 0.6 + 0.3j, tol=1e-13)) + k


def minimum_over_parts(k):
    z = k * np.exp(0.3j)
    return np.prod(optimize.minimize(lambda x: np.abs(x[0] + 1j * x[1] - z) ** 2 + x[0] ** 4, np.ones(2), tol=1e-10).x)


def stiff_equations_of_real_states(k):
    c = 1.0 + 1j * k
    told = {"t_eval": T, "rtol": 1e-9, "atol": 1e-10}
    paths = [integrate.solve_ivp(lambda t, y: -np.abs(c) * y, (0.0, 2.0), np.array([k]), method, **told).y
             for method in ("Radau", "LSODA")]  # fmt: skip
    return np.sum(paths[0] ** 2) + np.sum(paths[1])


COMPLEX = [
    turning_spin,
    waves_that_feel_their_size,
    real_state_of_complex_numbers,
    root_in_complex_numbers,
    minimum_over_parts,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [
    lambda z: integrate.quad(lambda x: np.abs(np.exp(1j * z * x) + 1.0) ** 2, 0.0, 1.0)[0],
    lambda z: np.abs(integrate.quad_vec(lambda x: np.exp(1j * z * x) * np.array([1.0, x]), 0.0, 1.0)[0][1]) ** 2,
    lambda z: np.abs(integrate.fixed_quad(lambda x: np.exp(1j * z * x), 0.0, 1.0, n=6)[0]) ** 2,
    lambda z: np.abs(optimize.newton(lambda x: x**3 - z, 0.6 + 0.3j, tol=1e-13)) ** 2,
])  # fmt: skip
@pytest.mark.parametrize("z", [0.5 + 0.3j, np.complex128(0.5 + 0.3j)], ids=["number", "numpy"])
def test_functions_that_close_over_complex_numbers(f, z):
    wanted = slope(lambda h: f(z + h), 0.0) - 1j * slope(lambda h: f(z + h * 1j), 0.0)
    assert np.isclose(grad(f)(z), wanted, rtol=1e-6)
    assert np.isclose(jvp(f, (z,), (1.0 - 2.0j,))[1], (wanted * (1.0 - 2.0j)).real, rtol=1e-6)


@pytest.mark.parametrize("f", [
    lambda k: np.abs(optimize.newton(lambda z: z**3 - k + 0.1 * np.conj(z), 0.6 + 0.3j, tol=1e-12)),
    lambda k: np.abs(optimize.newton(lambda z: 1e-10 * (z**3 - k + 0.1 * np.conj(z)), 0.6 + 0.3j, tol=1e-12)),
])  # fmt: skip
def test_equations_that_conjugate_are_refused(f):
    for derivative in (grad(f), lambda k: jvp(f, (k,), (1.0,))):
        with pytest.raises((S2SGradError, Refusal), match="not holomorphic"):
            derivative(0.5)


# --- expectations, functions of matrices -----------------------------------------------------------------------------
# the second derivatives of expectations of floats take minutes: those of the integrals that they are, above, are checked

EXPECTATIONS = [
    lambda k: stats.norm.expect(lambda x: x * x, loc=1000.0 * k, scale=k),  # a peak that one integral would miss
    lambda k: stats.gamma.expect(np.sqrt, (3000.0 * k,)),
    lambda k: stats.uniform.expect(np.exp, loc=k, scale=2.0, lb=-1.0, ub=k + 1.0),  # a bound outside of the support
    lambda k: stats.norm.expect(lambda x: x * x + np.sin(k * x), loc=k, scale=k * k),
    lambda k: stats.norm.expect(lambda x: np.log(3.0 + x), loc=k, lb=-k, ub=2.0),
    lambda k: stats.gamma.expect(lambda x: x**k, (k,)),
    lambda k: stats.beta.expect(np.log1p, args=(k, 2.0 * k), loc=k, scale=2.0),
    lambda k: stats.uniform.expect(lambda x: np.log(1.0 + x), loc=k, scale=k),  # its density has jumps
    lambda k: stats.lognorm.expect(args=(0.3,), scale=k) * k,
    lambda k: stats.poisson.expect(lambda n: n * n * np.exp(-k * n), args=(k,)),
    lambda k: stats.arcsine.expect(lambda x: k * np.exp(x), scale=k),  # a density that is infinite at both ends
    lambda k: stats.gamma(k, scale=2.0).expect(np.sqrt) + stats.norm(k).expect(np.sin, lb=0.2),  # frozen
    lambda k: stats.poisson(mu=k).expect(np.sqrt),
    lambda k: stats.binom.expect(lambda n: np.sqrt(n + 1.0), (7, 0.3 * k)),
]
MATRICES = [
    lambda k: np.sum(linalg.funm(A * k, lambda z: z * np.sin(k * z)) * A),
    lambda k: np.sum(linalg.funm(np.array([[2.0, k], [-0.8, 1.0]]), lambda z: z**3) ** 2),  # complex eigenvalues
    lambda k: np.sum(np.abs(linalg.funm(A + k * 1j, np.exp)) ** 2),
]


def test_an_expectation_of_what_jumps_at_a_place():
    def f(m):
        return stats.norm.expect(lambda x: x * (x > 0.5), loc=m)

    wanted = stats.norm.cdf(0.8) + 0.5 * stats.norm.pdf(0.8)
    assert np.isclose(grad(f)(1.3), wanted, rtol=1e-7)
    assert np.isclose(jvp(f, (1.3,), (1.0,))[1], wanted, rtol=1e-7)


@pytest.mark.parametrize("law", [stats.expon, stats.uniform])
def test_an_expectation_of_what_jumps_where_the_support_has_an_end(law):
    with pytest.raises((S2SGradError, Refusal), match="with a jump"):
        grad(lambda k: law.expect(lambda x: 1.0 * (x > 1.2), scale=k))(2.0)


KINDS = {"root": ROOTS, "minimum": MINIMA, "integral": INTEGRALS, "equation": EQUATIONS, "complex": COMPLEX}
KINDS |= {"expectation": EXPECTATIONS[-2:], "matrix": MATRICES}
EVERY = [pytest.param(f, id=f"{kind}-{n}") for kind, fs in KINDS.items() for n, f in enumerate(fs)]
ONCE = [
    pytest.param(f, id=f"rough-{n}")
    for n, f in enumerate(
        [*ROUGH, *SUMS, stiff_equations_of_real_states, between_boundaries, of_a_parameter, *EXPECTATIONS[:-2]]
    )
]


def test_a_default_that_is_a_number_of_numpy():
    k, found = 1.2, lambda k: optimize.bisect(lambda x, k, w: x**3 - k * x * w - 1.0, 0.0, 5.0, args=(k, k))
    assert np.isclose(grad(found)(k), slope(found), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("f", EVERY + ONCE)
def test_both_modes(f):
    is_right_in_both_modes(f)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=len(VOLUMES), turn=-3)  # the first takes two minutes, this one four seconds
@pytest.mark.parametrize("f", VOLUMES, ids=map(str, range(len(VOLUMES))))
def test_both_modes_of_integrals_over_volumes(f):
    is_right_in_both_modes(f)


def is_right_in_both_modes(f):
    wanted = slope(f)
    assert np.isclose(grad(f)(1.2), wanted, rtol=1e-5, atol=1e-7)
    y, y_dot = jvp(f, (1.2,), (1.0,))
    assert np.isclose(y, f(1.2)) and np.isclose(y_dot, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.dear
@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("f", [c for c in EVERY if c.id != "integral-3"])  # its kink moves
def test_second_order(f):
    once = grad(f)
    wanted = slope(once)
    assert np.isclose(grad(once)(1.2), wanted, rtol=1e-4, atol=1e-6)
    assert np.isclose(jvp(once, (1.2,), (1.0,))[1], wanted, rtol=1e-4, atol=1e-6)


# --- what has no derivative ------------------------------------------------------------------------------------------


def bounded_states(k):
    return integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], -k * y[0])),
        lambda a, b: np.array([a[0], b[0] - k]),
        np.linspace(0, 1, 5),
        np.ones((2, 5)),
    )


REFUSED = [
    (lambda k: optimize.lsq_linear(SQUARE, Y[:6], bounds=(-0.1 * k, 0.3)).cost, "in `bounds`"),
    (lambda k: optimize.lsq_linear(np.ones((3, 2)) * k, np.arange(3.0)).x[0], "the only solution"),
    (lambda k: optimize.minimize(lambda x: np.sum((x - k) ** 2), np.zeros(2), bounds=[(0, 0.5)] * 2).x[0], "no solution"),
    (lambda k: optimize.fsolve(lambda x: x * x + k, 1.5)[0], "no solution"),
    (lambda k: optimize.newton(lambda x: (x - k) * (x - k), 1.2), "singular"),
    (lambda k: optimize.minimize(lambda x: (np.sum((x - k) ** 2), 2.0 * (x - k)), np.zeros(2), jac=True).x[0], "jac=True"),
    (lambda k: optimize.root(lambda x: (x - k, np.eye(2)), np.zeros(2), jac=True).x[0], "give the two apart"),
    (lambda k: optimize.root_scalar(lambda x: (x - k, 1.0), x0=0.3, fprime=True).root, "give the two apart"),
    (lambda k: optimize.least_squares(lambda x: x - k, np.zeros(2), loss="huber").x[0], "loss"),
    (lambda k: integrate.solve_ivp(lambda t, y: y * y * k, (0, 1.5), [1.0]).y[0, -1], "did not reach the end"),
    (lambda k: np.sum(integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0]).y), "steps that it chooses"),
    (lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], events=lambda t, y: y[0] - 0.5).y[0, -1], "events"),
    (lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], dense_output=True).y[0, -1], "dense_output"),
    (lambda k: integrate.quad(lambda t: np.cos(k * t), 0, 1, weight="cos", wvar=2.0)[0], "weight"),
    (lambda k: bounded_states(k).sol(0.5)[0], "`sol` is a function|makes a PPoly"),
    (lambda k: np.sum(integrate.tanhsinh(lambda x, a: np.exp(-k * a * x), 0, 1, args=(W,)).integral), "one number at"),
    (lambda k: stats.norm.expect(lambda x: x, loc=k, lb=0.0, conditional=True), "conditional="),
    (lambda k: np.sum(linalg.funm(np.eye(2) * k, np.exp)), "equal eigenvalues"),
    (lambda k: np.sum(linalg.funm(np.array([[k, 1.0], [0.0, k + 1e-4]]), np.exp)), "too few eigenvectors"),
    (lambda k: stats.vonmises.expect(np.cos, (k,)), "expect"),  # over one turn
    (lambda k: integrate.nquad(lambda y, x: k * x * y, [[0, 1], [0, 1]], opts={"limit": 20})[0], "without opts="),
    (lambda k: optimize.linprog([-2 * k, -1.0], A_ub=[[1.0, k], [1.0, 0.0]], b_ub=[1.0, 1.0]).x[1], "no corner"),
]  # fmt: skip
IN_REVERSE = [
    (lambda k: optimize.minimize(lambda x: np.sum((x - k) ** 2), np.zeros(2)).hess_inv[0, 0], "hess_inv"),
    (lambda k: optimize.curve_fit(lambda x, a: a * x, X, Y * k)[1][0, 0], "part `1`"),
    (lambda k: integrate.quad(lambda t: t**k, 0, 1)[1], "part `1`"),
]


@pytest.mark.sampled(one_in=3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "why"), REFUSED + IN_REVERSE)
def test_refused(f, why):
    with pytest.raises((S2SGradError, Refusal), match=why):
        grad(f)(1.2)
    if (f, why) in REFUSED and "steps" not in why:
        with pytest.raises((S2SGradError, Refusal), match=why):
            jvp(f, (1.2,), (1.0,))
    else:
        assert np.isnan(jvp(f, (1.2,), (1.0,))[1])


class Cubic:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return cubic(x, self.k)

    __call__ = at


@pytest.mark.parametrize("mode", ["text", pytest.param("record", marks=pytest.mark.records)])
@pytest.mark.parametrize("f", [
    lambda k: optimize.brentq(Cubic(k).at, 0.5, 5.0), lambda k: optimize.brentq(Cubic(k), 0.5, 5.0),
    lambda k: optimize.brentq([Cubic(k).at][0], 0.5, 5.0),
])  # fmt: skip
def test_methods_and_objects_are_right_or_refused(f, mode):
    for derivative in (lambda: grad(f)(1.2), lambda: jvp(f, (1.2,), (1.0,))[1]):
        with contextlib.suppress(S2SGradError, Refusal):
            assert np.isclose(derivative(), slope(f), rtol=1e-5)


# --- rules of users that are handed functions ------------------------------------------------------------------------


def test_the_gradients_of_a_function_that_is_handed_twice_are_added():
    @primitive
    def at_two(f):
        return f(2.0)

    at_two.defvjp(lambda g, y, f: vjp(lambda f: f(2.0), f)[1](g)[0])
    for rule in (at_two, defvjp(at_three, lambda g, y, f, w: vjp(lambda f: f(3.0), f)[1](g)[0], None)):

        def handed(k, rule=rule):
            def f(t):
                return t * k * k

            return (rule(f, 1.0) if rule is at_three else rule(f)) * (rule(f, 1.0) if rule is at_three else rule(f))

        assert np.isclose(grad(handed)(1.2), slope(handed)) and np.isclose(grad(grad(handed))(1.2), slope(grad(handed)))


def at_three(f, w):
    return f(3.0)
