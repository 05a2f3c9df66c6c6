"""Methods of a library's objects: a derivative that is right, or an error that names the method, in both modes.

def of(x, a): return np.sum(stats.gamma.cdf(x, a))      ->      NoRule: `stats.gamma.cdf` has no derivative rule
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from s2sgrad import NoRule, S2SGradError, grad, jvp
from s2sgrad.source import defined
from s2sgrad.testing import check_grads

stats = pytest.importorskip("scipy.stats")
interpolate = pytest.importorskip("scipy.interpolate")
optimize = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")

SHAPES = {name: dist.numargs for name, dist in vars(stats).items() if isinstance(dist, stats.rv_continuous)}
AT = 0.63
SHAPE = (2.3, 3.1, 1.7, 2.9)
OF_POINTS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
OF_SHAPES = ("mean", "var", "std", "median", "entropy", "interval", "support", "stats")
WAYS = ("named", "given", "frozen", "bound")


def method_cases():
    for name in SHAPES:
        for method in (*OF_POINTS, *OF_SHAPES):
            for way in WAYS:
                yield pytest.param(name, method, way, id=f"{name}.{method}-{way}")


def text_of(method, way, shapes):
    """The function of the first argument (if the method has one), the shapes, the location and the scale."""
    own = ["x"] if method in OF_POINTS else []
    parameters = ["x", *(f"a{k}" for k in range(shapes)), "loc", "scale"]
    rest = parameters[1:] if method != "interval" else ["0.9", *parameters[1:]]
    call = {
        "named": f"dist.{method}({', '.join([*own, *rest])})",
        "given": f"d.{method}({', '.join([*own, *rest])})",
        "frozen": f"d.{method}({', '.join(own or rest[: len(rest) - len(parameters) + 1])})",
        "bound": f"d({', '.join([*own, *rest])})",
    }[way]
    return f"def f({', '.join(parameters)}, d):\n    return np.sum({call})\n", parameters


def agrees(function, arguments, place, ways=("grad", "jvp")):
    """The derivative in the argument at a place: what differences give, or a refusal.  How many modes gave a number."""
    step, numbers = 1e-5, 0

    def value(at):
        return function(*arguments[:place], at, *arguments[place + 1 :])

    for way in ways:
        try:
            if way == "grad":
                found = grad(function, place)(*arguments)
            else:
                dots = tuple(1.0 if k == place else None for k in range(len(arguments)))
                found = jvp(function, arguments, dots)[1]
        except S2SGradError as error:
            assert error.place is not None, "an error without a place"
            continue
        at = arguments[place]
        wanted = (value(at + step) - value(at - step)) / (2.0 * step)
        if np.isfinite(wanted):
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=1e-6, err_msg=way)
            numbers += 1
    return numbers


@pytest.mark.sampled(one_in=300)
@pytest.mark.parametrize("name, method, way", [*method_cases()])
def test_methods_of_distributions_are_right_or_refused(name, method, way):
    dist, shapes = getattr(stats, name), SHAPES[name]
    text, parameters = text_of(method, way, shapes)
    function = defined(text, "f", f"<{name}.{method} {way}>", {"np": np, "dist": dist, "__name__": __name__})
    given = {"named": None, "given": dist, "frozen": None, "bound": getattr(dist, method)}[way]
    if way == "frozen":
        try:
            given = dist(*SHAPE[:shapes], 0.1, 1.4)
        except ValueError:
            pytest.skip("no such distribution")
    arguments = (AT, *SHAPE[:shapes], 0.1, 1.4, given)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of integrals that converge slowly, and supports without an end
        try:
            function(*arguments)
        except Exception:
            pytest.skip("the method cannot be called so")
        for place in range(len(parameters)):
            agrees(function, arguments, place)


class Squared(stats.rv_continuous):
    def _cdf(self, x):
        return 1.0 - np.exp(-x * x)


OBJECTS = {
    "frozen": stats.gamma(2.0),
    "own": Squared(a=0.0),
    "own_frozen": Squared(a=0.0)(0.1, 1.2),
    "histogram": stats.rv_histogram(np.histogram([0.1, 0.4, 0.6, 0.9], bins=3)),
    "spline": interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 2),
    "pieces": interpolate.interp1d(np.arange(5.0), np.arange(5.0) ** 2),
    "polynomial": np.polynomial.Polynomial([1.0, 2.0, 3.0]),
    "poly1d": np.poly1d([1.0, 2.0, 3.0]),
    "sparse": sparse.csr_array(np.eye(2) * 2.0),
    "density": stats.gaussian_kde([0.1, 0.5, 0.9]),
    "bounds": optimize.Bounds(0.0, 1.0),
}
CALLS = {
    "cdf": lambda o, x: o.cdf(x),
    "logsf": lambda o, x: o.logsf(x),
    "call": lambda o, x: np.sum(o(x)),
    "integrate": lambda o, x: o.integrate(0.0, x),
    "derivative": lambda o, x: o.derivative()(x),
    "deriv": lambda o, x: o.deriv()(x),
    "evaluate": lambda o, x: np.sum(o.evaluate(x)),
    "residual": lambda o, x: np.sum(o.residual(np.array([x]))[0]),
    "dot": lambda o, x: np.sum(o.dot(np.array([x, 1.0]) * x)),
    "starred": lambda o, x: o.cdf(*[x]),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", OBJECTS)
def test_methods_of_objects_are_right_or_refused(kind, call):
    try:
        CALLS[call](OBJECTS[kind], AT)
    except (AttributeError, TypeError):
        pytest.skip("it has no such method")
    agrees(CALLS[call], (OBJECTS[kind], AT), 1)


def test_a_method_is_refused_by_name_at_the_line_of_the_user():
    def of(d, x):
        return d.moment(2) * x + d.cdf(x * 1.0)

    with pytest.raises(NoRule, match=r"`Squared\.cdf` has no derivative rule") as caught:
        grad(of, 1)(OBJECTS["own"], AT)
    assert "d.moment(2) * x + d.cdf(x * 1.0)" in caught.value.place.text


@pytest.mark.parametrize("dist", [stats.norm, stats.laplace, stats.cauchy, stats.norm], ids=lambda dist: dist.name)
def test_methods_of_one_name_are_told_apart(dist):
    def handed(m, x, loc, scale):
        return m(x, loc, scale) * x

    assert all(agrees(handed, (dist.logpdf, AT, 0.1, 1.4), place) == 2 for place in (1, 2, 3))


def test_methods_with_the_same_text_are_told_apart():
    places = [stats.gamma.logpdf, stats.t.logpdf, stats.gamma.logpdf]
    assert all(agrees(lambda m, x, a: m(x, a) * x, (m, AT, 2.3), k) == 2 for m in places for k in (1, 2))


def test_calls_of_objects_have_rules_and_methods_that_only_call_what_has_one_are_read():
    assert agrees(CALLS["call"], (OBJECTS["poly1d"], AT), 1) == 2
    assert agrees(CALLS["dot"], (OBJECTS["sparse"], AT), 1) == 2
    poly = OBJECTS["poly1d"]
    assert agrees(lambda x: poly(x) * x, (AT,), 0) == 2


MATRIX = np.array([[2.1, 0.3, 0.25], [0.35, 1.4, 0.41], [0.2, 0.45, 0.9]])
BY_OTHER_NAMES = {
    "the condition in a norm of columns": lambda a: np.linalg.cond(a, 1),
    "the condition in a norm of rows": lambda a: np.linalg.cond(a, p=-np.inf),
    "the condition of several matrices": lambda a: np.sum(np.linalg.cond(np.stack([a, a @ a]), "fro")),
    "the rows that a list tells": lambda a: np.sum(a.compress([True, False, True], 0) ** 2),
    "the columns that a mask tells": lambda a: np.sum(a.compress(condition=a[0] > 0.28, axis=1) ** 3),
}


@pytest.mark.parametrize("f", BY_OTHER_NAMES.values(), ids=BY_OTHER_NAMES)
def test_functions_that_are_written_by_others(f):
    check_grads(f, (MATRIX,), order=2)
