"""Objects of libraries that are made of arrays which are written afterwards: SciPy keeps some of these, and copies others.

s = make_interp_spline(x, y, k=1); y[0] = 7.0; s(0.2)      ->      the value is that of the plain run, or it is refused
"""

from __future__ import annotations

import types
import warnings

import numpy as np
import pytest

import s2sgrad
from s2sgrad import S2SGradError, jvp, value_and_grad
from s2sgrad.rules import instances
from s2sgrad.source import defined

interpolate = pytest.importorskip("scipy.interpolate")
stats = pytest.importorskip("scipy.stats")
from scipy import sparse  # noqa: E402
from scipy.sparse import linalg  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

Y = np.array([0.1, 0.5, 0.3, 0.9, 0.4])
Z = np.arange(20.0).reshape(5, 4) ** 1.5
C = np.array([[2.0, 0.3], [0.3, 1.0]])
M = np.array([0.1, 0.2])
U, V = np.linspace(0.3, 2.8, 7), np.linspace(0.3, 5.9, 9)
R = 1.0 + 0.1 * np.sin(U)[:, None] * np.cos(V)
NAMES = {
    "np": np, "interpolate": interpolate, "stats": stats, "sparse": sparse, "linalg": linalg, "Rotation": Rotation,
    "X": np.arange(5.0), "E": np.arange(4.0), "P": np.random.default_rng(0).normal(size=(5, 2)), "Q": np.array([[0.1, 0.2]]),
    "G": [g.ravel() for g in np.meshgrid(np.arange(5.0), np.arange(4.0), indexing="ij")],
    "S": [g.ravel() for g in np.meshgrid(U, V, indexing="ij")], "U": U, "V": V,
}  # fmt: skip
# what makes an object of arrays; the arrays; what it is asked
CASES = {
    "gaussian_kde": ("stats.gaussian_kde(y)", {"y": Y}, "(0.4)"),
    "gaussian_kde of rows": ("stats.gaussian_kde(y)", {"y": Y[None]}, ".logpdf([0.4])"),
    **{f"make_interp_spline {k}": (f"interpolate.make_interp_spline(X, y, k={k})", {"y": Y}, "(1.3)") for k in range(4)},
    "derivative of make_interp_spline": ("interpolate.make_interp_spline(X, y, k=1)", {"y": Y}, ".derivative()(1.3)"),
    "make_lsq_spline": ("interpolate.make_lsq_spline(X, y, [0., 0., 2., 4., 4.], k=1)", {"y": Y}, "(1.3)"),
    "make_smoothing_spline": ("interpolate.make_smoothing_spline(X, y, lam=0.1)", {"y": Y}, "(1.3)"),
    "make_splrep": ("interpolate.make_splrep(X, y, s=0)", {"y": Y}, "(1.3)"),
    "lagrange": ("interpolate.lagrange(X, y)", {"y": Y}, "(1.3)"),
    "interp1d": ("interpolate.interp1d(X, y)", {"y": Y}, "(1.3)"),
    "interp1d of the array": ("interpolate.interp1d(X, y, copy=False)", {"y": Y}, "(1.3)"),
    "nearest": ("interpolate.interp1d(X, y, kind='nearest', copy=False)", {"y": Y}, "(1.3)"),
    "CubicSpline": ("interpolate.CubicSpline(X, y)", {"y": Y}, "(1.3)"),
    "PchipInterpolator": ("interpolate.PchipInterpolator(X, y)", {"y": Y}, "(1.3)"),
    "Akima1DInterpolator": ("interpolate.Akima1DInterpolator(X, y)", {"y": Y}, "(1.3)"),
    "BarycentricInterpolator": ("interpolate.BarycentricInterpolator(X, y)", {"y": Y}, "(1.3)"),
    "KroghInterpolator": ("interpolate.KroghInterpolator(X, y)", {"y": Y}, "(1.3)"),
    "BSpline": ("interpolate.BSpline(np.arange(7.0), y, 1)", {"y": Y}, "(2.3)"),
    "integral of BSpline": ("interpolate.BSpline(np.arange(7.0), y, 1)", {"y": Y}, ".integrate(1.1, 2.3)"),
    "derivative of BSpline": ("interpolate.BSpline(np.arange(7.0), y, 1)", {"y": Y}, ".derivative()(2.3)"),
    "PPoly": ("interpolate.PPoly(y, E)", {"y": Z[:2, :3]}, "(1.3)"),
    "BPoly": ("interpolate.BPoly(y, E)", {"y": Z[:2, :3]}, "(1.3)"),
    "CubicHermiteSpline": ("interpolate.CubicHermiteSpline(X, y, z)", {"y": Y, "z": 2.0 * Y}, "(1.3)"),
    "UnivariateSpline": ("interpolate.UnivariateSpline(X, y, s=0)", {"y": Y}, "(1.3)"),
    "InterpolatedUnivariateSpline": ("interpolate.InterpolatedUnivariateSpline(X, y)", {"y": Y}, "(1.3)"),
    "LSQUnivariateSpline": ("interpolate.LSQUnivariateSpline(X, y, [2.1], k=2)", {"y": Y}, "(1.3)"),
    "RectBivariateSpline": ("interpolate.RectBivariateSpline(X, E, y, kx=2, ky=2)", {"y": Z}, ".ev(1.3, 0.6)"),
    "LSQBivariateSpline": ("interpolate.LSQBivariateSpline(*G, y, [2.0], [1.5], kx=2, ky=2)", {"y": Z.ravel()}, "(1, 1)"),
    "LSQSphereBivariateSpline": (
        "interpolate.LSQSphereBivariateSpline(*S, y, [0.8, 1.6, 2.4], [1.0, 2.5, 4.0])", {"y": R.ravel()}, ".ev(1.3, 0.6)"
    ),
    "RectSphereBivariateSpline": ("interpolate.RectSphereBivariateSpline(U, V, y)", {"y": R}, ".ev(1.3, 0.6)"),
    "NdBSpline": ("interpolate.NdBSpline((np.arange(7.0), np.arange(6.0)), y, 1)", {"y": Z}, "([[2.3, 1.6]])"),
    "NdPPoly": ("interpolate.NdPPoly(y, (E[:3], E[:2]))", {"y": Z[:4, :2].reshape(2, 2, 2, 1)}, "([[1.3, 0.6]])"),
    "RegularGridInterpolator": ("interpolate.RegularGridInterpolator((X, E), y)", {"y": Z}, "(np.array([1.3, 0.6]))"),
    "RBFInterpolator": ("interpolate.RBFInterpolator(P, y)", {"y": Y}, "(Q)"),
    "LinearNDInterpolator": ("interpolate.LinearNDInterpolator(P, y)", {"y": Y}, "(Q)"),
    "NearestNDInterpolator": ("interpolate.NearestNDInterpolator(P, y)", {"y": Y}, "(Q)"),
    "CloughTocher2DInterpolator": ("interpolate.CloughTocher2DInterpolator(P, y)", {"y": Y}, "(Q)"),
    "multivariate_normal": ("stats.multivariate_normal(m, c)", {"m": M, "c": C}, ".logpdf(np.array([0.4, 0.7]))"),
    "entropy": ("stats.multivariate_normal(m, c)", {"m": M, "c": C}, ".entropy()"),
    "multivariate_t": ("stats.multivariate_t(m, c, 3.0)", {"m": M, "c": C}, ".logpdf(np.array([0.4, 0.7]))"),
    "dirichlet": ("stats.dirichlet(m)", {"m": Y[:3] + 1.0}, ".logpdf(np.array([0.2, 0.3, 0.5]))"),
    "mean of dirichlet": ("stats.dirichlet(m)", {"m": Y[:3] + 1.0}, ".mean()"),
    "wishart": ("stats.wishart(4, c)", {"c": C}, ".logpdf(np.array([[1.0, 0.2], [0.2, 2.0]]))"),
    "invwishart": ("stats.invwishart(4, c)", {"c": C}, ".logpdf(np.array([[1.0, 0.2], [0.2, 2.0]]))"),
    "multinomial": ("stats.multinomial(5, m)", {"m": np.array([0.2, 0.3, 0.5])}, ".logpmf([1, 2, 2])"),
    "norm": ("stats.norm(m, v)", {"m": M, "v": M + 1.0}, ".logpdf(0.4)"),
    "gamma": ("stats.gamma(m, scale=v)", {"m": M + 1.0, "v": M + 1.0}, ".cdf(0.4)"),
    "binom": ("stats.binom(5, m)", {"m": M}, ".logpmf(2)"),
    "Rotation.from_quat": ("Rotation.from_quat(m)", {"m": np.array([0.1, 0.2, 0.3, 0.9])}, ".apply(np.ones(3))"),
    "Rotation.from_rotvec": ("Rotation.from_rotvec(m)", {"m": Y[:3]}, ".as_matrix()[0]"),
    "Rotation.from_euler": ("Rotation.from_euler('xyz', m)", {"m": Y[:3]}, ".as_matrix()[0]"),
    "splu": ("linalg.splu(sparse.csc_array(c))", {"c": C}, ".solve(np.ones(2))"),
    "factorized": ("linalg.factorized(sparse.csc_array(c))", {"c": C}, "(np.ones(2))"),
}  # fmt: skip
WRITES = {
    "an item": "{0}[(0,) * {0}.ndim] *= 0.9 * x",
    "the same": "{0} *= x",
    "as a whole": "{0}[...] = {0}[::-1].copy() * (1.0 + 0.02 * x)",
}
WAYS = {"s": "s = {}", "o['s']": "o = {{}}\n    o['s'] = {}"}


@pytest.mark.records
@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("case", CASES)
def test_what_is_made_of_an_array_that_is_written_later_is_right_or_refused(case, write, way):
    makes, arrays, asked = CASES[case]
    if not hasattr(interpolate, "make_splrep") and "make_splrep" in makes:
        pytest.skip("this version has no `make_splrep`")
    for target in arrays:
        lines = [f"{name} = DATA[{name!r}] * x" for name in arrays]
        lines += [WAYS[way].format(makes), WRITES[write].format(target), f"return np.sum({way}{asked})"]
        text = "def f(x):\n    " + "\n    ".join(lines) + "\n"
        f = defined(text, "f", f"<{case} {write} {target} {way}>", NAMES | {"DATA": arrays})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted, step = f(1.0), 1e-5
                slope = (f(1.0 + step) - f(1.0 - step)) / (2.0 * step)
            except ValueError:  # of the library
                continue
            try:
                value, gradient = value_and_grad(f)(1.0)
                tangent = jvp(f, (1.0,), (1.0,))[1]
            except S2SGradError:
                continue
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose((gradient, tangent), slope, rtol=1e-4, atol=1e-6)


def test_each_maker_of_the_table_is_tried():
    instances.of(interpolate.BSpline)  # reads the rules
    makers = {getattr(maker, "__name__", type(maker).__name__) for maker in (*instances._KNOWN, *instances._METHODS)}
    tried = {text.split("(")[0].split(".")[-1] for text, _, _ in CASES.values()}
    frozen = {f"{name}_gen" for name in tried} | {"rv_continuous", "rv_discrete"}
    assert makers <= tried | frozen


SHARING = {
    "an array that is kept": (lambda x: _later(interpolate.make_interp_spline, x, k=1), True),
    "an array that is copied": (lambda x: _later(interpolate.make_interp_spline, x, k=3), True),
    "an array of which a part was computed before": (lambda x: _kde_later(x), False),
}


def _later(maker, x, **options):
    y, made = x * x, {}
    made["s"] = maker([0.0, 1.0, 2.0, 3.0], y, **options)
    y[1] = 5.0 * x[0]
    return made["s"](1.3)


def _kde_later(x):
    made = [stats.gaussian_kde(x)]
    x[0] = 2.0 * x[1]
    return np.sum(made[0](0.4))


@pytest.mark.parametrize("f, followed", SHARING.values(), ids=SHARING)
def test_what_an_object_reads_again_is_found_by_a_trial(f, followed):
    x = np.array([0.3, 0.7, 1.2, 0.4])
    if not followed:
        with pytest.raises(S2SGradError, match="copy"):
            value_and_grad(f)(x)
        return
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy())
    steps = 1e-6 * np.eye(4)
    slopes = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)


def places_written_behind(x):
    places = np.arange(4.0)
    s = interpolate.CubicSpline(places, x)
    v = s(1.3)
    places *= 2.0
    return v * places[1]


def places_written_between(x):
    places = np.arange(4.0)
    s = interpolate.BarycentricInterpolator(places, x)
    places[1] = 1.2
    return s(1.3)


def a_list_that_changes(x):
    m = [x[0], x[1]]
    laws = [stats.norm(m, 1.0)]
    m[0] = 2.0 * x[2]
    return np.sum(laws[0].logpdf(0.4))


def in_a_loop(x):
    y, total = np.zeros(4), 0.0
    for k in range(3):
        y[...] = x * (k + 1.0)
        s = interpolate.make_interp_spline(np.arange(4.0), y, k=1)
        total += s(1.3) ** 2
    return total


def asked_before_it_is_made_again(x):
    y, total, s = x * 1.0, 0.0, None
    for _ in range(3):
        if s is not None:
            total += s(1.3) ** 2
        s = interpolate.make_interp_spline(np.arange(4.0), y, k=1)
        y *= 1.5
    return total


@pytest.mark.parametrize(
    "f", [places_written_behind, places_written_between, a_list_that_changes, in_a_loop, asked_before_it_is_made_again],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_other_ways_to_write_are_right_or_refused(f):
    x = np.array([0.3, 0.7, 1.2, 0.4])
    slopes = [(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    try:
        value, gradient = value_and_grad(f)(x)
    except S2SGradError:
        assert f is a_list_that_changes or f is places_written_between
        return
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)


def test_what_is_written_behind_the_last_question_has_a_text():
    assert isinstance(places_written_behind, types.FunctionType)
    for f in (places_written_behind, in_a_loop):
        assert "recorded" not in value_and_grad(f).source


def of_itself(x):
    def fold(item, deeper):
        return item if deeper == 0 else fold(item * x[0], deeper - 1)

    it = iter([x[0], x[1]])
    next(it)
    return fold(next(it), 1)


def test_a_gradient_beside_the_function_keeps_no_frames(monkeypatch):
    """It is asked what it wraps while escapes are looked for: its refusal must not hold the frames that asked."""
    monkeypatch.setitem(globals(), "gradient_of_itself", s2sgrad.grad(of_itself))
    assert np.allclose(s2sgrad.vjp(of_itself, np.array([0.3, 0.7]))[1](1.0), [0.7, 0.3])
