"""SciPy's rules: when they are read, how they are found, what they refuse, what they say at edges, and in programs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.special
import scipy.stats
from scipy import fft, integrate, interpolate, linalg, ndimage, signal, sparse, spatial, special, stats
from scipy.stats import norm

from s2sgrad import S2SGradError, grad, hessian, jvp, vjp
from s2sgrad.errors import NoRule, Refused
from s2sgrad.rules.table import lookup, owns, rules
from s2sgrad.runtime.checks import Refusal
from s2sgrad.testing import check_grads

V = np.array([0.3, 0.7, 1.2])
M = np.array([[2.0, 0.3], [0.3, 1.5]])


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- when the rules are read -----------------------------------------------------------------------------------------


def test_differentiating_numpy_does_not_import_scipy():
    code = "import sys, numpy as np, s2sgrad; s2sgrad.grad(np.sin)(1.0); print('scipy' in sys.modules)"
    assert python(code) == "False"


def test_only_the_rules_of_what_was_imported_are_read():
    code = "import sys, s2sgrad, scipy.special; print(s2sgrad.grad(scipy.special.gammaln)(1.0));"
    code += "print(*('s2sgrad.rules.scipy.' + n in sys.modules for n in ('special', 'signal')))"
    assert python(code).split() == [str(special.digamma(1.0)), "True", "False"]


def test_rules_are_read_for_what_is_imported_after_a_miss():
    code = "from s2sgrad.rules import table\nbefore = table.lookup(len)\nfrom scipy import special\n"
    code += "print(before, table.lookup(special.erf).tag)"
    assert python(code) == "None elementwise"


# --- how they are found ----------------------------------------------------------------------------------------------


def test_a_bound_method_is_found_by_its_owner_and_function():
    assert lookup(stats.norm.logpdf) is lookup(norm.logpdf) is not None
    assert lookup(stats.norm.logpdf) is not lookup(stats.laplace.logpdf)
    assert owns(norm) and not owns(stats.levy_stable)


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (special.gammaln, 1.3, special.digamma(1.3)),
        (norm.logpdf, 0.3, -0.3),
        (norm.cdf, 0.3, norm.pdf(0.3)),
        (linalg.det, M, np.linalg.det(M) * np.linalg.inv(M).T),
        (integrate.trapezoid, V, [0.5, 1.0, 0.5]),
    ],
)
def test_straight_from_the_table(f, x, expected):
    assert np.allclose(grad(f)(x), expected)


def test_further_arguments_of_a_library_function():
    assert np.isclose(grad(special.jv, argnums=1)(1, 0.7), 0.5 * (special.jv(0, 0.7) - special.jv(2, 0.7)))
    assert np.isclose(grad(norm.logpdf, argnums=1)(0.3, 0.1, 2.0), 0.05)
    assert np.isclose(grad(norm.logpdf, argnums="scale")(0.3, 0.1, 2.0), (0.01 - 1.0) / 2.0)


def through_modules(x):
    return np.sum(scipy.special.gammaln(x)) + scipy.stats.norm.logpdf(x[0], scale=x[1])


def through_names(x):
    return np.sum(special.gammaln(x)) + norm.logpdf(x[0], 0.0, x[1])


def test_the_text_uses_names_of_the_user():
    df, dg = grad(through_modules), grad(through_names)
    assert np.allclose(df(V), dg(V))
    assert "special.digamma(x)" in df.source and "scipy.special" not in dg.source.replace("# ", "")
    check_grads(through_modules, (V,), order=3, rtol=1e-4, atol=1e-4)


def test_a_name_that_is_bound_anew():
    global _law
    _law = stats.norm
    df = grad(_by_law)
    assert np.isclose(df(0.3), -0.3)
    _law = stats.cauchy
    assert np.isclose(df(0.3), -2.0 * 0.3 / (1.0 + 0.09))


_law = stats.norm


def _by_law(x):
    return _law.logpdf(x)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(one_in=15, by="part")
@pytest.mark.parametrize("part", range(15))
def test_arguments_without_a_derivative_are_refused(part):
    plain = "has no derivative rule"  # some have words of their own
    constants = [(f, name) for f, rule in rules().items() for name, why in rule.constants.items() if plain in why]
    assert (special.jv, "v") in constants and (special.hyp1f1, "a") in constants and (stats.poisson.pmf, "k") in constants
    for f, name in constants[part::15]:
        given = [0.5] * len(lookup(f).differentiable)
        with pytest.raises(NoRule, match=f"`{name}`: pass a constant"):
            grad(f, argnums=lookup(f).differentiable.index(name))(*given)


@pytest.mark.parametrize(
    ("f", "x", "named"),
    [
        (lambda x: special.logsumexp(x, return_sign=True)[0], V, "return_sign"),
        (lambda x: np.sum(linalg.inv(x, overwrite_a=True)), M, "overwrite_a"),
        (lambda x: np.sum(linalg.solve(x, V[:2], overwrite_b=True)), M, "overwrite_b"),
        (lambda x: np.sum(linalg.solve(x, V[:2], assume_a="banded")), M, "assume_a"),
        (lambda x: np.sum(linalg.qz(x, M)[0]), M, "qz"),
        (lambda x: np.sum(signal.fftconvolve(x, x, axes=0)), V, "axes"),
        (lambda x: stats.multivariate_normal.logpdf(x, allow_singular=True), 0.3, "allow_singular"),
        (lambda x: stats.gumbel_r.fit(x)[0], V, "fit"),
        (lambda x: np.sum(np.nanvar(x, ddof=[0, 1])), M, "ddof"),
        (lambda x: np.sum(stats.gstd(x, ddof=[0, 1])), V, "ddof"),
        (lambda x: stats.tvar(x, ddof=0), 2.4, "one number"),
        (lambda x: np.sum(stats.iqr(x, axis=[0, 1])), M, "tuple"),
        (lambda x: np.sum(spatial.distance.jensenshannon(x, x * x, M)), V[:2], "bases"),
        (lambda x: fft.idstn(x, type=[0, 1]), 2.4, "type"),
        (lambda x: np.sum(sparse.kronsum((x, ([0, 1], [1, 0])), M).toarray()), V[:2], "two axes"),
    ],
)
def test_refused(f, x, named):
    with pytest.raises(NoRule, match=named):
        grad(f)(x)


@pytest.mark.parametrize(
    ("f", "args", "y"),
    [
        (linalg.solve, (np.stack([M, M]), V[:2]), M),
        (linalg.solve_triangular, (np.stack([M, M]), V[:2]), M),
        (integrate.simpson, (np.ones((2, 3)), np.ones((2, 3)).cumsum(1)), V[:2]),
        (stats.multivariate_normal.logpdf, (V[:2], None, stats.Covariance.from_diagonal(V[:2])), 1.0),
    ],
)
def test_refused_when_it_runs(f, args, y):
    with pytest.raises(Refusal):
        lookup(f).pullback(np.ones_like(y), y, *args)


def test_integrals_over_places_that_move():
    x, lines = np.array([0.0, 0.3, 0.4, 0.9, 1.1, 1.6]), np.arange(12.0).reshape(6, 2) ** 0.5
    for f in (
        lambda x: integrate.simpson(np.sin(x) * x, x=x),
        lambda x: np.sum(integrate.simpson(lines, x=x, axis=0) ** 2),
        lambda x: np.sum(integrate.cumulative_simpson(np.sin(x), x=x, initial=0) ** 2),
        lambda x: np.sum(integrate.cumulative_simpson(lines, x=x, axis=0) ** 2),
    ):
        check_grads(f, (x,), order=2)


# --- edges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (special.erfinv, (1.0,), np.inf),
        (special.ndtri, (0.0,), np.inf),
        (special.logit, (0.0,), np.inf),
        (special.log_ndtr, (-60.0,), 60.0166),
        (special.entr, (0.0,), np.inf),
        (special.xlogy, (0.0, 2.0), np.log(2.0)),
        (special.j1, (0.0,), 0.5),
        (special.exprel, (0.0,), 0.5),
        (special.logsumexp, (np.full(2, -np.inf),), [0.0, 0.0]),
        (special.logsumexp, (np.array([np.inf, 0.0]),), [1.0, 0.0]),
        (stats.expon.logpdf, (np.array([-0.5, 0.5]),), [0.0, -1.0]),
        (stats.gamma.logpdf, (np.array([-0.5, 0.5]), 2.0), [0.0, 1.0]),
        (stats.beta.logpdf, (np.array([-0.5, 0.5, 2.0]), 2.0, 2.0), [0.0, 0.0, 0.0]),
        (stats.laplace.logpdf, (0.0,), 0.0),
        (stats.gamma.logpdf, (np.array([-1.0, 0.0, 0.5]), 2.0), [0.0, 0.0, 1.0]),
        (stats.beta.pdf, (np.array([0.0, 1.0]), 2.0, 2.0), [0.0, 0.0]),
        (stats.expon.pdf, (0.0,), -1.0),
        (stats.uniform.cdf, (np.array([-1.0, 0.0, 2.0]),), [0.0, 1.0, 0.0]),
        (stats.triang.logpdf, (np.array([-1.0, 0.5, 2.0]), 0.5), [0.0, -2.0, 0.0]),
        (stats.norm.ppf, (np.array([0.0, 1.0]),), [np.inf, np.inf]),
        (linalg.norm, (np.zeros(2),), [0.0, 0.0]),
    ],
)
def test_edges(f, args, expected):
    y = f(*args)
    with np.errstate(all="raise"):
        bar = lookup(f).pullback(np.ones_like(y), y, *args)
    assert np.allclose(bar[0] if len(lookup(f).differentiable) > 1 else bar, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("f", "args", "place", "expected"),
    [
        (stats.lognorm.logcdf, (0.1, 0.01), 1, 5301998.2),  # of a probability of 1e-11516
        (stats.gamma.logsf, (600.0, 2.0), 1, np.log(600.0) - special.digamma(2.0)),
        (stats.gamma.cdf, (np.array([-1.0, 0.0]), 2.0), 1, [0.0, 0.0]),
        (stats.beta.cdf, (np.array([0.0, 1.0, 2.0]), 0.5, 2.0), 1, [0.0, 0.0, 0.0]),
        (stats.truncnorm.logpdf, (10.5, 10.0, 11.0), 1, 10.0980),  # far out, where the probability underflows
        (stats.truncnorm.ppf, (0.3, 0.0, np.inf), 2, 0.0),
        (stats.t.cdf, (np.array([0.0, 1e8]), 1.0), 1, [0.0, 5.8e-8]),
    ],
)
def test_shapes_at_edges(f, args, place, expected):
    y = f(*args)
    with np.errstate(all="raise"):
        bar = lookup(f).pullback(np.ones_like(y), y, *args)
    assert np.allclose(bar[place], expected, rtol=1e-2, atol=1e-300), bar[place]


def test_a_target_of_probability_zero_costs_no_gradient():
    assert list(grad(lambda q: np.sum(special.xlogy(np.array([0.0, 1.0]), q)))(np.array([0.0, 0.5]))) == [0.0, 2.0]
    assert list(grad(lambda q: np.sum(special.rel_entr(np.array([0.0, 1.0]), q)))(np.array([0.0, 0.5]))) == [0.0, -2.0]


def test_counts_of_probability_zero_have_no_slope():
    assert grad(lambda p: np.sum(stats.binom.logpmf(np.array([-1, 5]), 4, p)))(0.3) == 0.0
    assert grad(lambda p: np.sum(stats.bernoulli.logpmf(np.array([2, 0]), p)))(0.5) == -2.0
    assert grad(lambda mu: np.sum(stats.poisson.logpmf(np.array([-1, 2]), mu)))(1.0) == 1.0


def test_an_argument_that_others_broadcast():
    """A cotangent that is one number for all elements still counts once for each."""
    assert np.isclose(grad(lambda m: np.sum(norm.ppf(np.array([0.2, 0.3, 0.4]), m)))(0.3), 3.0)
    x = np.array([[0.3, 0.4, 0.5]])
    expected = -np.sum(x - np.arange(6.0).reshape(2, 3), axis=0, keepdims=True)
    assert np.allclose(grad(lambda x: np.sum(norm.logpdf(x, np.arange(6.0).reshape(2, 3))))(x), expected)


def test_dirichlet_on_the_simplex():
    alpha, x, u = np.array([1.5, 0.7, 2.0]), np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, -0.3])
    slope = (stats.dirichlet.logpdf(x + 1e-6 * u, alpha) - stats.dirichlet.logpdf(x - 1e-6 * u, alpha)) / 2e-6
    assert np.isclose(grad(lambda x: stats.dirichlet.logpdf(x, alpha))(x) @ u, slope, rtol=1e-6)
    short = grad(lambda x: stats.dirichlet.logpdf(x, alpha))(x[:2])
    assert np.isclose(short @ u[:2], slope, rtol=1e-6)


# --- programs --------------------------------------------------------------------------------------------------------


def gaussian_process(theta, x, y):
    k = np.exp(theta[0]) * np.exp(-0.5 * (x[:, None] - x) ** 2 / np.exp(theta[1])) + np.exp(theta[2]) * np.eye(len(x))
    factor = linalg.cho_factor(k, lower=True)
    return -0.5 * y @ linalg.cho_solve(factor, y) - np.sum(np.log(np.diag(factor[0])))


def gaussian_process_by_triangles(theta, x, y):
    k = np.exp(theta[0]) * np.exp(-0.5 * (x[:, None] - x) ** 2 / np.exp(theta[1])) + np.exp(theta[2]) * np.eye(len(x))
    root = linalg.cholesky(k, lower=True)
    z = linalg.solve_triangular(root, y, lower=True)
    return -0.5 * z @ z - np.sum(np.log(np.diag(root)))


def regression(theta, x, y):
    return -np.sum(norm.logpdf(y, loc=x @ theta[:-1], scale=np.exp(theta[-1]))) + special.logsumexp(theta)


def counted(theta, x, k):
    return np.sum(stats.poisson.logpmf(k, np.exp(x @ theta))) + np.sum(norm.logpdf(theta))


@pytest.mark.sampled(one_in=3, turn=1)
def test_programs():
    x = np.linspace(0.0, 1.0, 4)
    theta = np.array([0.1, -0.3, -1.0])
    args = theta, x, np.sin(5.0 * x)
    check_grads(gaussian_process, args, order=2, rtol=1e-4)
    check_grads(gaussian_process_by_triangles, args, order=2, rtol=1e-4)
    assert np.allclose(grad(gaussian_process)(*args), grad(gaussian_process_by_triangles)(*args))
    design = np.stack((x, x * x), 1)
    check_grads(regression, (theta, design, np.sin(x)), order=2, rtol=1e-4)
    check_grads(lambda theta: counted(theta, design, np.array([0, 2, 1, 3])), (theta[:2],), order=2, rtol=1e-4)


def of_correlation(x, y):
    r, p = stats.pearsonr(x, y)
    return r * p + stats.pearsonr(y, x).statistic


def of_regression(x, y):
    line = stats.linregress(x, y)
    return line.slope * line.intercept + line.rvalue + line.stderr * line.pvalue + line[0]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", [of_correlation, of_regression])
def test_results_with_names(f):
    x = np.array([0.3, 0.9, 1.2, 2.1, 2.2])
    check_grads(f, (x, np.sin(3.0 * x)), order=2, rtol=1e-4, atol=1e-5)


FROZEN = {
    "in order": norm(0.3, 0.4), "by name": norm(loc=0.3), "usual": norm(), "shape": stats.gamma(2.0, scale=1.5),
    "arrays": norm(np.array([0.3, 0.4]), 1.0), "F": stats.f(3.0, 5.0),
}  # fmt: skip
NORMAL = stats.multivariate_normal(np.array([0.1, 0.2]), np.array([[2.0, 0.3], [0.3, 1.0]]))


class Model:
    def __init__(self):
        self.prior = stats.gamma(2.0, scale=1.5)

    def loss(self, x):
        return np.sum(self.prior.logpdf(x) * self.prior.cdf(x)) + NORMAL.logpdf(x)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("rv", FROZEN.values(), ids=FROZEN)
def test_a_frozen_distribution(rv):
    x = np.array([0.4, 0.7])
    check_grads(lambda x: np.sum(rv.logpdf(x) * rv.sf(x)) + np.sum(rv.ppf(x)), (x,), order=2, rtol=1e-4)


def test_frozen_distributions_of_an_object():
    check_grads(Model().loss, (np.array([0.5, 1.5]),), order=2, rtol=1e-4)


def test_a_frozen_distribution_that_is_changed():
    rv = norm(0.0, 1.0)
    df = grad(lambda x: rv.logpdf(x))
    assert np.isclose(df(0.3), -0.3)
    rv.args = (0.1, 1.0)
    assert np.isclose(df(0.3), -0.2)


def test_a_distribution_of_another_support_is_not_the_one_of_its_name():
    rv = type(stats.norm)(a=0.0, name="norm")(0.0, 1.0)
    with pytest.raises(NoRule):
        grad(lambda x: rv.cdf(x))(0.3)


def of_a_polynomial(c, x):
    return np.sum(np.poly1d(c)(x) ** 2)


def of_a_series(c, x):
    return np.sum(np.polynomial.Chebyshev(c * c)(np.sin(x)) ** 2) + np.polynomial.Polynomial([c[0], 1.0, c[1]])(x[0])


def of_a_product(c, x):
    return np.sum(np.polynomial.polynomial.polyval(x, np.polynomial.polynomial.polymul(c, c)))


@pytest.mark.parametrize("f", [of_a_polynomial, of_a_series, of_a_product])
def test_polynomials_of_coefficients(f):
    check_grads(f, (V - 0.5, V), order=2, rtol=1e-4, atol=1e-5)


def test_density_of_a_list():
    f = lambda x: np.sum(norm.logpdf([0.1, 0.2], x))  # noqa: E731
    assert np.isclose(grad(f)(0.3), -0.3)


PLACES = np.linspace(0.0, 3.0, 7)
SPLINE = interpolate.CubicSpline(PLACES, np.sin(PLACES))


class Table:
    def __init__(self, curves):
        self.curves = curves

    def read(self, x):
        return self.curves["first"](x) * self.curves["second"](x, 1)


TABLE = Table({"first": SPLINE, "second": interpolate.make_interp_spline(PLACES, np.cos(PLACES))})


def of_a_global_spline(x):
    return np.sum(SPLINE(x) * x)


def of_splines_in_an_object(x):
    return np.sum(TABLE.read(x))


def of_a_local_spline(x):
    spline = interpolate.PchipInterpolator(PLACES, np.exp(PLACES))
    return np.sum(np.sin(spline(x)))


def of_an_argument(x, spline=SPLINE):
    return spline(x[0]) * np.sum(spline(x))


def of_a_curve_in_the_plane(x):
    return np.sum(interpolate.CubicSpline(PLACES, np.outer(PLACES**2, [1.0, 2.0]))(x) @ np.array([0.3, 0.7]))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [of_a_global_spline, of_splines_in_an_object, of_a_local_spline, of_an_argument,
                               of_a_curve_in_the_plane, SPLINE])  # fmt: skip
def test_splines_are_called_as_objects(f):
    x = np.array([0.4, 1.2])
    check_grads(f, (x,), order=2, rtol=1e-4, atol=1e-4)


# --- scipy.ndimage ---------------------------------------------------------------------------------------------------


def spread_of_a_region(x):
    regions = np.array([1, 1, 2, 0, 1])
    return ndimage.standard_deviation(x, regions, 1) * 2.0 + ndimage.variance(x, regions, [1, 2])[0]


def test_what_is_nan_in_no_region_counts_for_nothing():
    x, v = np.array([0.3, 1.7, 2.0, np.nan, 4.1]), np.array([1.0, -2.0, 0.5, 0.0, 0.7])
    bar = grad(spread_of_a_region)(x)
    differences = [(spread_of_a_region(x + h) - spread_of_a_region(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(bar, differences, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(spread_of_a_region, (x,), (v,))[1], bar @ v, rtol=1e-12)
    assert grad(ndimage.standard_deviation)(3.0) == 0.0


def into_a_buffer(x):
    t = np.zeros((3, 3))
    ndimage.gaussian_filter(x, 1.0, output=t)
    return np.sum(t * t)


def into_a_buffer_by_position(x):
    t = np.zeros((3, 3))
    ndimage.sobel(x, 0, t)
    return np.sum(t * t)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", [into_a_buffer, into_a_buffer_by_position])
@pytest.mark.parametrize("mode", ["text", pytest.param("record", marks=pytest.mark.records)])
def test_a_filter_that_writes_a_buffer_is_refused(f, mode):
    x = np.arange(9.0).reshape(3, 3) ** 2
    for derivative in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises((S2SGradError, Refusal), match="`output` lets"):
            derivative()


def edges(x, s):
    """Programs of images: blurred, steep, eroded, counted over regions."""
    blurred = ndimage.gaussian_filter(x, s, mode="nearest")
    steep = np.hypot(ndimage.sobel(blurred, 0), ndimage.sobel(blurred, 1, mode="wrap"))
    labels, n = ndimage.label(steep > np.median(steep))
    opened = ndimage.grey_opening(ndimage.median_filter(steep, 3), (2, 2))
    return np.sum(ndimage.mean(opened, labels, np.arange(1, n + 1)) ** 2) + ndimage.maximum(x, labels, 1)


@pytest.mark.sampled(one_in=3)
def test_images():
    check_grads(edges, (np.random.default_rng(6).normal(size=(7, 8)), 0.9), order=2, rtol=1e-4, atol=1e-4)


# --- signals ---------------------------------------------------------------------------------------------------------

NUMERATOR, DENOMINATOR = signal.butter(2, 0.3)


def steady(b, a, x):
    y, _ = signal.lfilter(b, a, x, zi=signal.lfilter_zi(b, a) * x[0])
    return np.sum(y**3)


def power(x):
    """Complex numbers between real ones, of a kind that only the run knows."""
    return np.sum(signal.welch(x, nperseg=6)[1] ** 2) + np.sum(signal.filtfilt(NUMERATOR, DENOMINATOR, x) ** 3)


def envelope(x):
    _, _, z = signal.stft(x * x, nperseg=6)
    _, y = signal.istft(z * np.abs(z), nperseg=6)
    return np.sum(np.abs(signal.hilbert(y)) ** 2)


def response(b, a):
    _, h = signal.freqz(b, a=a, worN=5)
    return np.sum(np.abs(h) ** 2) + np.real(h[1] * h[2])


def test_a_frequency_response_in_both_polynomials():
    check_grads(response, (NUMERATOR, DENOMINATOR), order=2, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("f", "named"),
    [
        (lambda x: np.sum(special.obl_rad1_cv(1, 3, 0.7, 10.0, x)[0]), "`pro_cv` or `obl_cv`"),
        (lambda x: np.sum(special.pro_ang1_cv(1, 3, 0.7, 10.0, x)[1]), "`pro_cv` or `obl_cv`"),
        (lambda x: np.sum(special.obl_rad2(1, 2, 0.2, x)[0]), "inaccurate"),
        (lambda x: np.sum(special.obl_rad2_cv(1, 2, 0.2, special.obl_cv(1, 2, 0.2), x)[0]), "inaccurate"),
    ],
)
def test_no_slopes_of_what_solves_no_equation(f, named):
    for derivative in (grad(f), lambda x: jvp(f, (x,), (np.ones(2),))):
        with pytest.raises(S2SGradError, match=named):
            derivative(np.array([0.4, 0.7]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(WEIGHTS * np.imag(signal.csd(x, np.sin(x), nperseg=6)[1])),
        lambda x: np.sum(WEIGHTS * np.real(signal.csd(x, np.sin(x), nperseg=6)[1] * (1.0 + 2.0j))),
        lambda x: np.sum(WEIGHTS * signal.csd(x, x, nperseg=6)[1]),
    ],
)
def test_cross_spectra_are_complex_but_of_one_array(f):
    x = np.sin(np.arange(16.0) ** 1.3)
    check_grads(f, (x,), rtol=1e-4, atol=1e-6)
    assert not np.iscomplexobj(jvp(f, (x,), (x,))[1])


WEIGHTS = np.cos(np.arange(4.0))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(("f", "n"), [(steady, 3), (power, 1), (envelope, 1)])
def test_signals(f, n):
    x = np.sin(np.arange(16.0) ** 1.3)
    check_grads(f, (NUMERATOR, DENOMINATOR, x)[-n:], order=2, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("f", "x", "named"),
    [
        (lambda x: np.sum(signal.resample(x, 4, t=np.arange(3.0))[0]), V, "np.linspace"),
        (lambda x: np.sum(signal.spectrogram(x, mode="angle")[2]), V, "signal.stft"),
        (lambda x: np.sum(signal.welch(x, average="median")[1]), V, "average='mean'"),
    ],
)
def test_signals_refused(f, x, named):
    with pytest.raises(NoRule, match=named):
        grad(f)(x)


# --- interpolators that a function makes -----------------------------------------------------------------------------

KNOTS = np.array([0.0, 0.4, 1.0, 1.3, 2.1, 2.6])
DATA = np.array([1.0, -2.0, 0.5, 0.7, 2.0, -1.0])
POINTS = np.array([0.3, 1.1, 2.2])


def slopes_by_name(y, t):
    s = interpolate.CubicSpline(KNOTS, np.sin(y), bc_type="natural")
    d = s.derivative()
    return s(0.3 * t[0]) * d(POINTS[1]) + s(t, 1)[2] + s.derivative(2)(0.9)


def data_written_behind_it(y, t):
    w = y * 1.0
    s = interpolate.CubicSpline(KNOTS, w)
    w *= 2.0
    return np.sum(s(t)) * np.sum(w)


def several_kinds(y, t):
    f = interpolate.interp1d(KNOTS, y)
    g = interpolate.interp1d(KNOTS, y * y, kind="cubic")
    nearest = interpolate.interp1d(KNOTS, y, kind="nearest", fill_value="extrapolate")
    return f(t[0]) * g(t[1]) + nearest(0.9) + interpolate.KroghInterpolator(KNOTS, y)(t[2])


def called_in_a_loop(y, t):
    s = interpolate.make_interp_spline(KNOTS, np.stack([y, y * y], 1), k=3)

    def at(p):
        return np.sum(s(p)) * 2.0

    total = 0.0
    for p in t:
        total = total + at(p)
    return total


def in_tuples(y, t):
    tck = interpolate.splrep(KNOTS, y * y)
    _, c, _ = interpolate.splrep(KNOTS, y, k=2)
    more = interpolate.insert(1.1, tck)
    c = c[:4] * np.sum(interpolate.sproot(interpolate.splrep(KNOTS, DATA + 0.01 * y)) ** 2) * interpolate.splev(0.3, more)
    return np.sum(interpolate.splev(t, tck) ** 2) + interpolate.splev(t[0], tck, der=1) * np.sum(c[:4])


def areas_and_roots(y, t):
    s = interpolate.CubicSpline(KNOTS, y, bc_type=((1, 0.5), "natural"))
    d = s.derivative()
    area = s.antiderivative()
    extreme = d.roots(extrapolate=False)
    level = s.solve(0.3 * t[0], extrapolate=False)
    b = interpolate.make_interp_spline(KNOTS, y * y).antiderivative(2)
    return np.sum(s(extreme)) * level[0] + area(t[1]) * s.integrate(t[0], t[2]) + b(t[0]) * d.integrate(0.1, t[1])


def slopes_given(y, t):
    s = interpolate.CubicHermiteSpline(KNOTS, y, y * y)
    places = list(KNOTS)
    closed = interpolate.CubicSpline(places, np.append(y[:-1], y[0]), bc_type="periodic")
    b = interpolate.BPoly(np.reshape(y, (2, 3)) ** 2, KNOTS[:4])
    return s(t[0]) * s.integrate(0.1, t[1]) + closed(4.0 * t[2]) + b(t[0]) * b.derivative()(t[1])


def of_fitpack(y, t):
    s = interpolate.InterpolatedUnivariateSpline(KNOTS, y)
    f = interpolate.UnivariateSpline(KNOTS, y, s=0, k=2).antiderivative()
    z = interpolate.RectBivariateSpline(KNOTS, POINTS, np.outer(y, POINTS), ky=2)
    smooth = interpolate.make_smoothing_spline(KNOTS, y, lam=0.3)
    return s.integral(t[0], 2.0) * f(t[1]) + s.derivative()(t[2]) * smooth(t[0]) + np.sum(z.ev(t, t[1]) * z(t, POINTS)[0])


def by_pieces(y, t):
    s = interpolate.PPoly(np.reshape(y, (2, 3)) ** 2, KNOTS[:4])
    return s(t[0]) * s.derivative()(t[1]) + np.sum(interpolate.make_lsq_spline(KNOTS, y, LEAST, 2)(t) ** 2)


SCATTERED = np.array([[0.0, 0.1], [1.0, 0.0], [0.1, 1.0], [1.0, 1.1], [0.4, 0.6], [0.7, 0.2]])
LEAST = np.array([0.0, 0.0, 0.0, 1.27, 2.6, 2.6, 2.6])


def scattered(y, t):
    s = interpolate.RBFInterpolator(SCATTERED, y, kernel="gaussian", epsilon=1.3)
    a = s(SCATTERED * 0.7) * interpolate.LinearNDInterpolator(SCATTERED, y * y)(SCATTERED * 0.5 + 0.2)
    b = interpolate.griddata(SCATTERED, y, (np.array([0.3, 0.4]), np.array([0.4, 0.5])), method="nearest")
    return np.sum(a) * np.sum(b) + np.sum(t * t)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [
    slopes_by_name, areas_and_roots, slopes_given, of_fitpack, in_tuples, by_pieces, scattered, several_kinds,
    called_in_a_loop, pytest.param(data_written_behind_it, marks=pytest.mark.records),
    lambda y, t: np.sum(interpolate.CubicSpline(KNOTS, y)(t) ** 2),
])  # fmt: skip
def test_interpolators_of_data(f):
    check_grads(f, (DATA, POINTS), order=2, rtol=1e-4, atol=1e-4)


def test_an_interpolator_that_keeps_the_shape_has_no_second_derivative_in_its_data():
    def f(y, t):
        return np.sum(interpolate.PchipInterpolator(KNOTS, y)(t) ** 2)

    for data in (DATA, np.sort(DATA), np.array([0.0, 1.0, 1.1, 1.2, 0.4, 0.3])):
        check_grads(f, (data, POINTS), order=1)
        for how in ("akima", "makima"):
            check_grads(
                lambda y, t, how=how: np.sum(interpolate.Akima1DInterpolator(KNOTS, y, method=how)(t) ** 2), (data, POINTS)
            )
    with pytest.raises((S2SGradError, Refusal), match="no second derivative in its data"):
        grad(lambda y: np.sum(grad(f)(y, POINTS) ** 2))(DATA)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(interpolate.CubicSpline(KNOTS * x, DATA)(POINTS)),
    lambda x: np.sum(interpolate.CubicSpline(KNOTS * x, np.arange(len(KNOTS)))(POINTS)),  # of integers as well
    lambda x: np.sum(interpolate.interp1d(KNOTS * x, [0] * len(KNOTS), fill_value="extrapolate")(POINTS)),
    lambda x: interpolate.CubicSpline(KNOTS, DATA, bc_type=((1, x), (1, 0.0)))(0.3),
    lambda x: interpolate.CubicSpline(KNOTS, DATA * x).solve(0.5, x)[0],
    lambda x: interpolate.interp1d(KNOTS, DATA, bounds_error=False, fill_value=x)(9.0),
    lambda x: interpolate.make_lsq_spline(KNOTS, DATA, LEAST, 2, w=KNOTS + x)(0.3),
    lambda x: interpolate.make_smoothing_spline(KNOTS, DATA, lam=x)(0.3),
    lambda x: interpolate.RBFInterpolator(SCATTERED, DATA * x, epsilon=x, kernel="gaussian")(SCATTERED)[0],
    lambda x: interpolate.RBFInterpolator(SCATTERED * x, DATA)(SCATTERED)[0],
    lambda x: interpolate.griddata(SCATTERED, DATA, SCATTERED * x)[0],
])  # fmt: skip
def test_interpolators_that_are_refused(f):
    with pytest.raises(NoRule):
        grad(f)(1.1)


def test_a_spline_in_its_knots_is_told_to_be_unknown():
    f = lambda x: interpolate.splev(0.7, (LEAST * x, DATA, 2))  # noqa: E731
    assert np.isnan(grad(f)(1.1)) and np.isnan(jvp(f, (1.1,), (1.0,))[1])


def written_behind_it(c, t):
    w, v = c * 1.0, c * t
    s = interpolate.PPoly(w, KNOTS[:4])  # which keeps `w` itself
    b = interpolate.BSpline(LEAST[1:-1], v[0], 1)
    w *= 2.0 * t
    v[0] *= c[1]
    return s(0.3) + s.integrate(0.1, t) + b(t * 0.7) * b.integrate(0.2, 1.1)


@pytest.mark.records
def test_coefficients_that_are_written_behind_a_polynomial():
    c = np.array([[1.0, 0.5, -0.3], [0.2, 2.0, 0.7]])
    check_grads(written_behind_it, (c, 0.6), order=1, modes=["rev"])


def of_whole_numbers(x):
    places, weights = special.roots_legendre(5)
    zeros = special.jn_zeros(1, 3)
    return np.sum(weights * np.exp(x * places)) + np.sum(np.sin(x * zeros)) + np.sum(linalg.hilbert(3) * x) ** 2


def of_ranks(x):
    a = np.array([x, 1.0, 2.5, 0.3])
    return stats.ranksums(a, V * x)[0] * x + stats.fisher_exact([[8, 2], [1, 5]])[1] * x + stats.weightedtau(a, a[::-1])[0]


@pytest.mark.parametrize("f", [of_whole_numbers, of_ranks])
def test_what_whole_numbers_and_ranks_tell(f):
    check_grads(f, (1.3,), order=2)


# --- sections --------------------------------------------------------------------------------------------------------


def response_of_sections(c):
    row = np.concatenate((c[:3], np.ones(1), c[3:]))
    _, h = signal.freqz_sos(np.stack((row, 1.1 * row)) / np.array([[1.0], [1.1]]), np.array([0.3, 0.8]))
    return np.sum(np.abs(h) ** 2)


def run_of_sections(c, x):
    row = np.concatenate((c[:3], np.ones(1), c[3:]))
    return np.sum(signal.sosfilt(np.stack((row, row)), x, 1 if x.ndim > 1 else 0) ** 2)


def both_ways(c, x, axis=-1, padtype="odd", padlen=None):
    row = np.concatenate((c[:3], np.ones(1), c[3:]))
    return np.sum(signal.sosfiltfilt(np.stack((row, row)), x, axis, padtype, padlen) ** 2)


def from_states(c, x, zi):
    row = np.concatenate((c[:3], np.ones(1), c[3:]))
    y, zf = signal.sosfilt(np.stack((row, row)), x, zi=zi)
    return np.sum(y**2) * np.sum(zf)


def designed(w, x):
    return np.sum(signal.sosfilt(signal.butter(3, w, output="sos"), x) ** 2)


@pytest.mark.sampled(one_in=3, turn=1)
def test_sections():
    """`a[0]` of a section is 1: differences of the sections themselves are refused by SciPy."""
    c = np.array([0.3, 0.5, -0.2, -0.4, 0.2])
    check_grads(response_of_sections, (c,), order=1)
    check_grads(run_of_sections, (c, np.cos(np.arange(6.0) ** 2)), order=2)
    check_grads(run_of_sections, (c, np.cos(np.arange(24.0) ** 2).reshape(2, 6, 2)), order=1)
    check_grads(designed, (0.3, np.cos(np.arange(6.0) ** 2)), order=1)
    check_grads(from_states, (c, np.cos(np.arange(6.0) ** 2), np.array([[0.3, 0.1], [-0.2, 0.4]])), order=2)
    check_grads(from_states, (c, np.cos(np.arange(12.0) ** 2).reshape(2, 6), np.sin(np.arange(8.0)).reshape(2, 2, 2)))


@pytest.mark.sampled(one_in=4, turn=1)
@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_sections_run_both_ways(padtype):
    c, order = np.array([0.3, 0.5, -0.2, -0.4, 0.2]), 2 if padtype is None else 1
    check_grads(lambda c, x: both_ways(c, x, padtype=padtype), (c, np.cos(np.arange(17.0) ** 2)), order=order)
    x = np.cos(np.arange(12.0) ** 2).reshape(6, 2)
    check_grads(lambda c, x: both_ways(c, x, 0, padtype, 4 if padtype else None), (c, x))


def test_derivatives_of_splines():
    t, c, k = interpolate.splrep(np.arange(8.0), np.cos(np.arange(8.0)))

    def of_coefficients(c, a, b):
        _, d, _ = interpolate.splder((t, c, k))
        _, e, _ = interpolate.splantider((t, c, k), 2)
        return np.sum(d**2) + 1e-3 * np.sum(e**3) + interpolate.splint(a, b, (t, c, k)) ** 2

    check_grads(of_coefficients, (c, 0.7, 5.2), order=2)


# --- windows ---------------------------------------------------------------------------------------------------------

PARAMETERS = {
    "general_gaussian": (1.3, 2.1), "general_cosine": (np.array([0.5, 0.3, 0.2]),), "chebwin": (60.0,), "tukey": (0.45,),
    "taylor": (4, 28.0), "exponential": (1.1, 1.4),
}  # fmt: skip
WINDOWS = [name for name in signal.windows.__all__ if lookup(getattr(signal.windows, name)) and name != "get_window"]


@pytest.mark.filterwarnings("ignore:This window is not suitable")
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_few_points_have_their_slopes(name):
    window, (*first, last) = getattr(signal.windows, name), PARAMETERS.get(name, (1.3,))
    options = [()] if name == "kaiser_bessel_derived" else [(True,), (False,)]  # symmetric; of Taylor's, `norm`
    for length, told in [(n, told) for n in (0, 1, 2, 5, 6) for told in options]:
        weights, still = np.cos(np.arange(length)), [None] * (1 + len(first))
        try:
            ends = [np.sum(weights * window(length, *first, last + step, *told)) for step in (1e-6, -1e-6)]
        except ValueError:  # of one whose lengths are even alone
            continue
        slope = pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)
        bar = vjp(window, length, *first, last, *told)[1](weights)[len(still)]
        dot = jvp(window, (length, *first, last, *told), (*still, np.ones_like(last), *[None] * len(told)))[1]
        assert (np.sum(bar), np.sum(weights * dot)) == (slope, slope), (length, told)


# --- functions that are stated again ---------------------------------------------------------------------------------


def test_where_the_text_gives_another_value_the_call_is_refused():
    def moved(b):  # of rows, of which SciPy counts the coefficients alone
        return np.sum(signal.lp2lp(b, [1.3, 0.4, -0.2], 0.7)[0])

    for differentiated in (grad(moved), lambda b: jvp(moved, (b,), (np.ones_like(b),))):
        with pytest.raises(S2SGradError, match="`lp2lp` has no derivative rule for these arguments"):
            differentiated(np.array([[0.3, 0.5], [0.2, 0.1]]))


def test_a_zero_at_0_that_goes_to_infinity_has_no_slope():
    def gain(z):
        return signal.lp2hp_zpk(z, [-0.5], 1.0)[2]

    for differentiated in (grad(gain), lambda z: jvp(gain, (z,), (np.ones_like(z),))):
        with pytest.raises(S2SGradError, match="not finite"), np.errstate(divide="ignore"):
            differentiated(np.zeros(1))


def test_lengths_that_are_no_whole_numbers_are_constants():
    with pytest.raises(NoRule, match="in1_len"):
        grad(lambda n: np.sum(signal.correlation_lags(n, 3)))(2.5)


@pytest.mark.parametrize("f", [signal.lp2bp_zpk, signal.lp2bs_zpk])
def test_real_poles_that_become_complex(f):
    check_grads(lambda p, w: np.sum(np.abs(f([], p, 1.0, w)[1] - 0.3)), (np.array([-0.5, -0.7]), 1.4))


def test_chirp_transforms_of_one_ratio():
    def size(x, w):
        return np.sum(np.abs(signal.czt(x, 3, w)))

    check_grads(lambda x: size(x, (0.5,)), (V,))
    with pytest.raises(S2SGradError, match="one ratio"):
        grad(size)(V, np.array([0.5, 0.2, 0.3]))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(
    "value",
    [
        lambda t, c: interpolate.splint(0.7, 5.2, (t, c, 3)),
        lambda t, c: interpolate.splev(1.3, (t, c, 3)),
        lambda t, c: interpolate.splev(1.3, interpolate.splder((t, c, 3))),
        lambda t, c: interpolate.splev(1.3, interpolate.splantider((t, c, 3))),
    ],
)
def test_nothing_is_known_of_knots(value):
    """Not that their derivative is 0, also where the coefficients were differentiated before."""
    t, c, _ = interpolate.splrep(np.arange(8.0), np.cos(np.arange(8.0)))

    def slope(t, c):
        return np.sum(grad(value, argnums=1)(t, c) ** 2)

    for f in (value, slope):
        assert np.all(np.isnan(grad(f)(t, c))) and np.isnan(jvp(f, (t, c), (np.ones_like(t), None))[1])


GRID, HEIGHTS = (np.arange(4.0), np.arange(5.0)), np.sin(np.arange(20.0)).reshape(4, 5)
GRID_POINTS = np.array([[1.2, 2.3], [2.4, 3.1]])
MADE_ONCE = interpolate.RegularGridInterpolator(GRID, HEIGHTS)


def by_coordinates(p):
    return np.sum(interpolate.interpn(GRID, HEIGHTS, (p[0], p[1])) ** 2)


def by_one_coordinate_for_all(p):
    return np.sum(interpolate.RegularGridInterpolator(GRID, HEIGHTS)((p[0], p[0, 0])) ** 2)


def by_lists(p):
    return np.sum(MADE_ONCE([[p[0, 0], p[0, 1]], [p[1, 0], 2.0]]) ** 2) + np.sum(MADE_ONCE((p[0], p[1])))


@pytest.mark.parametrize("f", [by_coordinates, by_one_coordinate_for_all, by_lists], ids=lambda f: f.__name__)
def test_points_of_a_grid_as_a_tuple_of_coordinates(f):
    check_grads(f, (GRID_POINTS,), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("inverse", "at"), [(special.ncfdtrinc, (2.0, 3.0, 0.0, 0.7)), (special.nctdtrinc, (0.7, 0.0, 0.7))]
)
def test_a_noncentrality_that_no_probability_has_is_a_constant(inverse, at):
    """SciPy gives the largest one that it tries; it gave nan and infinite slopes."""
    numbers = tuple(range(len(at)))
    assert inverse(*at) == inverse(*(1.1 * np.array(at)))
    assert grad(inverse, numbers)(*at) == (0.0,) * len(at)
    assert jvp(inverse, at, (1.0,) * len(at))[1] == 0.0


SAME = np.array([0.3, 0.7, 1.1, 0.2])


@pytest.mark.parametrize("f", [
    lambda x: stats.energy_distance(x, x), lambda x: stats.energy_distance(x, SAME * 1.0),
    lambda x: stats.bartlett(x, x).pvalue, lambda x: stats.bartlett(x, SAME * 1.0).pvalue,
    lambda x: stats.bartlett(x, SAME * 1.0).statistic, lambda x: stats.circstd(x[0] + np.zeros(3)),
])  # fmt: skip
def test_statistics_of_equal_samples_are_at_a_least_or_a_greatest_value(f):
    """Where they have a kink, or are smooth: the slope is 0, as that of a norm at 0."""
    np.testing.assert_allclose(grad(f)(SAME), np.zeros(4), atol=1e-12)
    np.testing.assert_allclose(jvp(f, (SAME,), (np.ones(4),))[1], 0.0, atol=1e-12)


def test_an_affine_map_of_a_diagonal_with_a_zero_is_refused():
    """SciPy divides by it, and gives 0: the pullback took the values that the matrix says."""

    def f(x):
        return np.sum(ndimage.affine_transform(x, [0, 1]) * np.arange(1.0, 10.0).reshape(3, 3))

    x = np.arange(9.0).reshape(3, 3)
    with np.errstate(all="ignore"), pytest.raises(Refused, match=r"np\.diag"):
        grad(f)(x)
    check_grads(lambda x: np.sum(ndimage.affine_transform(x, np.diag([0.0, 1.0])) ** 2), (x,), order=1)


def test_two_data_at_one_place_are_refused():
    """SciPy takes one of them for a single curve, and another one for several."""

    def scattered(v):
        return np.sum(interpolate.griddata(np.array([0, 2, 1, 3, 1]), v, [0, 1]))

    def on_a_line(v):
        return interpolate.interp1d(np.array([0, 2, 1, 3, 1]), v)(1.0) * 1.0

    for f in (scattered, on_a_line):
        with pytest.raises(Refused, match="different numbers"):
            grad(f)(np.arange(5.0))


def test_second_derivatives_of_a_text_with_places_that_are_a_tuple():
    x, y = np.linspace(0.0, 3.0, 8), np.sin(np.linspace(0.0, 3.0, 8))
    w = np.cos(np.arange(7.0))
    slopes = hessian(lambda y: np.sum(w * integrate.cumulative_simpson(y, x=x) ** 2))(y)
    unit = np.array([integrate.cumulative_simpson(e, x=x) for e in np.eye(8)])
    np.testing.assert_allclose(slopes, 2.0 * unit @ np.diag(w) @ unit.T, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "args", "slopes"),
    [
        (lambda x: special.sici(x)[0], (0.0,), (1.0,)),
        (lambda x: special.shichi(x)[0], (0.0,), (1.0,)),
        (lambda x: special.itj0y0(x)[0], (0.0,), (1.0,)),
        (lambda x: special.it2i0k0(x)[0], (-1.0,), (-0.266065877752,)),
        (lambda x: special.airye(x)[2], (-1.0,), (0.592375626422,)),
        (lambda x: special.kelvin(x)[0].real, (-1.0,), (0.062445752,)),
        (lambda x: stats.pearsonr(x, 1.0 * x).statistic, (np.array([0.3, 1.0, 0.7]),), (np.zeros(3),)),
        (lambda x: stats.chisquare(x, f_exp=x).pvalue, (np.array([0.3, 0.7]),), (np.zeros(2),)),
        (special.agm, (0.0, 3.0), (np.inf, 0.0)),
        (special.boxcox, (0.0, 2.0), (0.0, 0.25)),
    ],
)
def test_where_what_is_not_read_has_no_finite_slope(f, args, slopes):
    for k, slope in enumerate(slopes):
        tangents = tuple(np.ones_like(a) if j == k else None for j, a in enumerate(args))
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(grad(f, k)(*args), slope, atol=1e-8)
            np.testing.assert_allclose(jvp(f, args, tangents)[1], np.sum(slope), atol=1e-8)


def test_terms_of_results_that_nobody_reads_are_not_written():
    f = grad(lambda x: special.sici(x)[0])
    f(1.0)
    assert "cos" not in f.source
    f = grad(lambda x, y: stats.pearsonr(x, y)[0])
    f(V, V * V)
    assert "p_slope" not in f.source


@pytest.mark.records
def test_a_buffer_by_position():
    """`special.zeta` is a function of Python that hands its third argument on as `out`."""

    def into_another(s, q):
        y = q * 1.0
        special.zeta(s, q, y)
        return np.sum(y)

    def into_itself(s, q):
        y = q * 1.0
        special.zeta(s, y, y)
        return np.sum(y)

    def new(s, q):
        return np.sum(special.zeta(s, q))

    q = np.array([1.3, 2.0])
    for f in (into_another, into_itself):
        for found, expected in zip(grad(f, (0, 1))(2.4, q), grad(new, (0, 1))(2.4, q), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def power_at_peaks(x):
    return np.sum(x[signal.find_peaks(x)[0]] ** 2)


def heights_of_peaks(x):
    return np.sum(signal.find_peaks(x, height=0.1)[1]["peak_heights"] ** 3)


@pytest.mark.parametrize("f", [power_at_peaks, heights_of_peaks])
def test_tangents_of_gradients_of_results_without_floats(f):
    x = np.sin(0.4 * np.arange(30.0))
    once, v = grad(f), np.cos(np.arange(30.0))
    wanted = (once(x + 1e-6 * v) - once(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(jvp(once, (x,), (v,))[1], wanted, rtol=1e-6, atol=1e-8)


SURFACE = interpolate.RegularGridInterpolator((np.arange(4.0), np.arange(5.0)), np.exp(0.3j * np.arange(20.0)).reshape(4, 5))
LINE = interpolate.RegularGridInterpolator((np.array([1.0]), np.arange(5.0)), np.arange(5.0)[None] ** 2)
TURNED, PLACES = np.array([[0.2, 1.0], [-1.0, 0.2]]), np.array([[0.3, 0.4], [1.2, 3.3]])
SYSTEM, SIDE = np.array([[1.0 + 1j, 0.3], [0.2j, 2.0], [0.5, -1j]]), np.array([1.0 - 1j, 0.4, 2j])


def size_on_a_surface(x):
    return np.sum(np.abs(SURFACE(x)) ** 2 + SURFACE(x).imag)


def on_a_grid_of_one_place(x):
    return np.sum(LINE(np.stack((np.ones(2), x[:, 1]), axis=-1)) ** 2)


def at_no_points(x):
    return np.sum(LINE(x[:0])) + np.sum(x)


def residual_of_complex_numbers(x):
    return np.sin(linalg.lstsq(SYSTEM + x[0, 0], SIDE)[1])


def adjoint_of_factors(x):
    return np.sum(
        np.abs(linalg.lu_solve(linalg.lu_factor(SYSTEM[:2] * x[0, 0] + x[1, 1]), SIDE[:2] + x[0, 1], trans=2)) ** 2
    )


@pytest.mark.parametrize(
    "f", [size_on_a_surface, on_a_grid_of_one_place, at_no_points, residual_of_complex_numbers, adjoint_of_factors]
)
def test_edges_of_grids_and_of_complex_systems(f):
    v = np.array([[1.0, -0.5], [0.3, 0.7]])
    wanted = (f(PLACES + 1e-6 * v) - f(PLACES - 1e-6 * v)) / 2e-6
    assert np.isclose(np.sum(grad(f)(PLACES) * v), wanted, rtol=1e-6)
    tangent = jvp(f, (PLACES,), (v,))[1]
    assert not np.iscomplexobj(tangent) and np.isclose(tangent, wanted, rtol=1e-6)


@pytest.mark.parametrize("convolved", [signal.convolve2d, signal.correlate2d])
def test_a_smaller_plane_first_is_refused_in_valid_results(convolved):
    with pytest.raises(S2SGradError, match="larger one"):
        grad(lambda k: np.sum(convolved(M, k, "valid", "wrap")))(np.ones((4, 5)))


def test_complex_solutions_with_real_matrices_are_refused():
    with pytest.raises(S2SGradError, match="complex solution"):
        grad(lambda q: np.abs(linalg.solve_sylvester(TURNED, M, q)[0, 0]))(M * 1j)


def test_no_pivots_are_made_up_for_factors_of_one_number():
    def f(a):
        return np.sum(np.abs(linalg.lu_solve(linalg.lu_factor(a), np.ones(1) * 1j)) ** 2)

    assert np.isclose(grad(f)(np.array([[2.0 + 0j]]))[0, 0], -0.25)
