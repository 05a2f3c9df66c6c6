"""Rules of the user's: `primitive`, `defvjp`, `custom_gradient`, `nondifferentiable`, wherever a function can be called."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import traceback

import numpy as np
import pytest

import s2sgrad
from s2sgrad import (
    GradientTape,
    NoRule,
    Unsupported,
    constant,
    custom_gradient,
    custom_jvp,
    defvjp,
    grad,
    hessian,
    jvp,
    nondifferentiable,
    primitive,
    stop_gradient,
    value_and_grad,
    vjp,
)
from s2sgrad.testing import check_grads

THREE = np.array([0.3, 0.5, 1.1])


@primitive
def power(x, n):
    return eval("x ** n")


power.defvjp(lambda g, y, x, n: g * n * x ** (n - 1), lambda g, y, x, n: g * y * np.log(x))


@primitive
def softsum(x, k=2.0):
    return eval("np.log(np.sum(np.exp(k * x))) / k")


softsum.defvjp(lambda g, y, x, k: g * np.exp(k * (x - y)))


@primitive(elementwise=True)
def area(a, b):
    return eval("a * a * b")


area.defvjp(lambda g, y, a, b: g * 2.0 * a * b, lambda g, y, a, b: g * a * a)


def taped(f, x):
    """The first derivative of `f` on a tape, and that of its sum."""
    x = constant(x)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
        total = np.sum(first)
    return first.numpy(), outer.gradient(total, x).numpy()


class Spring:
    def __init__(self, k):
        self.k = k

    @primitive
    def force(self, x):
        return eval("self.k * x * x")

    force.defvjp(lambda g, y, self, x: g * 2.0 * self.k * x, argnums="x")

    @custom_gradient
    def energy(self, x):
        k = self.k
        return k * x * x, lambda g: g * 2.0 * k * x

    @nondifferentiable
    def rounded(self, x):
        return np.round(x)

    def both(self, x):
        return self.force(x) * x + self.rounded(x) * x


SPRING = Spring(2.0)


def alone(x):
    return power(x, 3.0)


def within(x):
    z = power(x * 2.0, 3.0)
    return z * x


def in_the_exponent(x):
    return power(2.0, x) * power(x, x)


def by_keyword(x):
    return power(n=x, x=1.5) * x


def looped(x):
    s = 0.0
    for i in range(3):
        s = s + power(x + i, 2.0) * x
    return s


def until(x):
    while x < 5.0:
        x = power(x, 2.0) + x
    return x


def branched(x):
    if x > 0.5:
        y = power(x, 2.0)
    else:
        y = x
    return y * x


def helper(x):
    return power(x, 2.0) * x


def called(x):
    return helper(x) + helper(x * x)


def enclosed(x):
    k = 3.0

    def inner(t):
        return power(t * k, 2.0)

    return inner(x) * k


def listed(x):
    s = 0.0
    for f in (functools.partial(power, n=2.0), np.sin):
        s = s + f(x)
    return s


def of_a_method(x):
    return SPRING.force(x) + SPRING.both(x)


NUMBERS = [alone, within, in_the_exponent, by_keyword, looped, until, branched, called, enclosed, of_a_method]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_a_primitive_of_numbers(f):
    check_grads(f, (0.7,), order=2)
    value, slope = value_and_grad(f)(0.7)
    assert value == f(0.7) and vjp(f, 0.7)[1](1.0) == (slope,)
    if f is not by_keyword:
        first, second = taped(f, 0.7)
        np.testing.assert_allclose([first, second], [slope, grad(grad(f))(0.7)], rtol=1e-12)


def test_a_primitive_that_is_looked_up_when_it_is_called():
    check_grads(listed, (0.7,), order=1)


def of_an_array(x):
    s = 0.0
    for i in range(3):
        s = s + softsum(x * i, k=1.5) * x[0]
    return s + softsum(x) ** 2


def elementwise(x):
    m = np.outer(x, x)
    return np.sum(area(m, x) * m) + area(x[0], 3.0)


@pytest.mark.parametrize("f", [of_an_array, elementwise], ids=lambda f: f.__name__)
def test_a_primitive_of_arrays(f):
    check_grads(f, (THREE,), order=2)
    first, second = taped(f, THREE)
    np.testing.assert_allclose(first, grad(f)(THREE))
    np.testing.assert_allclose(second, grad(lambda x: np.sum(grad(f)(x)))(THREE))


def test_an_elementwise_primitive_has_any_order():
    third = grad(grad(grad(lambda x: area(x, x) * x)))
    np.testing.assert_allclose(third(0.7), 24.0 * 0.7)


def test_a_primitive_itself():
    assert grad(power)(2.0, 3.0) == 12.0
    np.testing.assert_allclose(grad(power, "n")(2.0, 3.0), 8.0 * np.log(2.0))
    check_grads(SPRING.force, (0.7,), order=2)


def test_the_text_is_what_a_person_would_write():
    f = grad(lambda x: np.sum(area(np.sin(x), 2.0)))
    f(THREE)
    assert "area_vjp_a(" in f.source and "unbroadcast" not in f.source


def test_a_rule_that_is_replaced_replaces_the_text():
    @primitive
    def tripled(x):
        return 3.0 * x

    tripled.defvjp(lambda g, y, x: g * 3.0)
    slope = grad(lambda x: tripled(x) * 2.0)
    assert slope(1.0) == 6.0
    tripled.defvjp(lambda g, y, x: g * 5.0)
    assert slope(1.0) == 10.0 and grad(tripled)(1.0) == 5.0


def test_closures_have_rules_of_their_own():
    def made(k):
        @primitive
        def scaled(x):
            return k * x

        scaled.defvjp(lambda g, y, x: g * k)
        return lambda x: scaled(x) * x

    assert [grad(made(k))(1.0) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert [grad(grad(made(k)))(1.0) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]


# --- the gradient of the gradient of a function that brings one ------------------------------------------------------


@custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))


@custom_gradient
def rebound(x, y):
    x = x * 2.0

    def deep(t):
        return t * np.cos(x)

    def pullback(g):
        return deep(g) * 2.0 * y, g * np.sin(x)

    return np.sin(x) * y, pullback


@custom_gradient
def sine_and_cosine(x):
    s, c = np.sin(x), np.cos(x)
    return (s, c), lambda a, b: a * c - b * s


@custom_gradient
def of_a_dict(p):
    return p["a"] * p["b"][0], lambda g: {"a": g * p["b"][0], "b": [g * p["a"]]}


def pair_of_results(x):
    a, b = sine_and_cosine(x * x)
    return a * b * x


def in_a_loop(x):
    for i in range(3):
        x = log1pexp(x * i) + x
    return x


def on_a_path(x):
    if x > 0.5:
        y = log1pexp(x)
    else:
        y = x
    return y * x


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [
    log1pexp, in_a_loop, on_a_path, pair_of_results, lambda x: rebound(x * x, np.exp(x)) * x,
    lambda x: of_a_dict({"a": x, "b": [x * x]}) * x, lambda x: SPRING.energy(x) * x, SPRING.energy,
    lambda x: np.sum(log1pexp(np.array([x, 2.0 * x]))),
])  # fmt: skip
def test_the_pullback_is_differentiated_again(f):
    check_grads(f, (0.7,), order=2)


def test_the_value_keeps_its_own_derivative_in_the_gradient_of_the_gradient():
    rounded = custom_gradient(lambda x: (np.round(x), lambda g: g))
    reversed_ = custom_gradient(lambda x: (x, lambda g: -g))
    assert grad(grad(lambda x: rounded(x) ** 2))(0.3) == 2.0
    assert grad(grad(lambda x: reversed_(x) ** 2 / 2.0))(0.3) == 1.0
    for f in (lambda x: rounded(x) ** 2, lambda x: reversed_(x) ** 2 / 2.0):
        assert taped(f, 0.3)[1] == grad(grad(f))(0.3)


def test_what_a_function_draws_is_drawn_once():
    rng = np.random.default_rng(0)

    @custom_gradient
    def dropped(x):
        kept = rng.random(3) > 0.5
        return x * kept, lambda g: g * kept

    second = grad(lambda x: np.sum(grad(lambda t: np.sum(dropped(t) ** 3))(x)))(np.ones(3))
    assert set(second) == {0.0, 6.0}


def test_closures_bring_gradients_of_their_own():
    def made(k):
        f = custom_gradient(lambda x: (k * x * x, lambda g: g * 2.0 * k * x))
        return lambda x: f(x) * x

    assert [grad(grad(made(k)))(1.0) for k in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]


def test_a_pullback_without_text_has_no_second_derivative():
    space = {}
    exec("def squared(x): return x * x, lambda g: 2.0 * g * x", space)
    squared = custom_gradient(space["squared"])
    assert grad(squared)(3.0) == 6.0
    with pytest.raises(Unsupported, match="the gradient of that is made of its text"):
        grad(grad(squared))(3.0)


def test_a_pullback_that_is_chosen_has_no_second_derivative():
    @custom_gradient
    def size(x):
        if x > 0:
            return x, lambda g: g
        return -x, lambda g: -g

    assert grad(size)(-2.0) == -1.0
    with pytest.raises(Unsupported, match="it must end in its only `return value, pullback`") as caught:
        grad(grad(lambda x: size(x) * x))(2.0)
    assert caught.value.place.file == __file__


def test_what_a_pullback_returns_is_checked_in_the_gradient_of_the_gradient():
    @custom_gradient
    def total(x):
        return np.sum(x), lambda g: np.ones(7)

    with pytest.raises(ValueError, match=r"the pullback of `total` returned a gradient of shape \(7,\) for an argument `x`"):
        grad(lambda x: np.sum(grad(lambda t: total(t) * 2.0)(x)))(THREE)


# --- which function it is ----------------------------------------------------------------------------------------------


def scaling(k):
    scaled = primitive(lambda x, n=1.0: k * x)
    scaled.defvjp(lambda g, y, x, n: g * k)
    return scaled


WAYS = {
    "primitive": (scaling, [2.0, 4.0, 6.0], [2.0, 4.0, 6.0]),
    "custom_gradient": (lambda k: custom_gradient(lambda x: (k * x, lambda g: g * k)), [2.0, 4.0, 6.0], [2.0, 4.0, 6.0]),
    "nondifferentiable": (lambda k: nondifferentiable(lambda x: k * x), [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
}


class Holder:
    def __init__(self, held):
        self.held = held


def in_a_dict(p):
    table = {"a": p}
    return lambda x: table["a"](x) * x


def in_a_list(p):
    several = [p]
    return lambda x: sum([f(x) for f in several]) * x


def in_an_object(p):
    holder = Holder(p)
    return lambda x: holder.held(x) * x


def in_a_partial(p):
    partial = functools.partial(p)
    return lambda x: partial(x) * x


def in_a_default(p):
    return lambda x, f=p: f(x) * x


def in_another(p):
    def another(x):
        return p(x)

    return lambda x: another(x) * x


@pytest.mark.sampled(one_in=20)
@pytest.mark.parametrize("hold", [in_a_dict, in_a_list, in_an_object, in_a_partial, in_a_default, in_another])
@pytest.mark.parametrize("way", WAYS)
def test_a_text_for_one_function_is_not_taken_for_another(way, hold):
    make, first, second = WAYS[way]
    assert [grad(hold(make(k)))(1.0) for k in (1.0, 2.0, 3.0)] == first
    assert [grad(grad(hold(make(k))))(1.0) for k in (1.0, 2.0, 3.0)] == second


@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_is_an_argument(way):
    make, first, _ = WAYS[way]
    slope = grad(lambda f, x: f(x) * x, 1)
    assert [slope(make(k), 1.0) for k in (1.0, 2.0, 3.0)] == first


def test_a_rule_that_comes_late_reaches_what_was_compiled():
    def theirs(x):
        return x * x

    def caller(x):
        return theirs(x) * 2.0

    slope, handed = grad(caller), grad(lambda x: sum(map(theirs, [x, x])))
    assert (slope(3.0), grad(slope)(3.0), handed(3.0)) == (12.0, 4.0, 12.0)
    defvjp(theirs, lambda g, y, x: g * 10.0)
    assert (slope(3.0), grad(slope)(3.0), handed(3.0)) == (20.0, 0.0, 20.0)
    nondifferentiable(theirs)
    assert (slope(3.0), handed(3.0)) == (0.0, 0.0)


# --- functions of others -----------------------------------------------------------------------------------------------


def c_function(name):
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = library[name]
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


def test_a_c_function():
    cosine, sine = c_function("cos"), c_function("sin")
    defvjp(cosine, lambda g, y, x: -g * sine(x))
    defvjp(sine, lambda g, y, x: g * cosine(x))
    check_grads(lambda x: cosine(x * x) * x, (0.7,), order=2)
    wrapped, slope = primitive(sine), primitive(cosine)  # on a tape, that is called with Arrays
    wrapped.defvjp(lambda g, y, x: g * slope(x))
    slope.defvjp(lambda g, y, x: -g * wrapped(x))
    assert taped(lambda x: wrapped(x) * x, 0.7)[0] == pytest.approx(grad(lambda x: np.sin(x) * x)(0.7))


def test_a_c_function_where_it_need_not_be_hashed():
    """One of ctypes is not, although its type says so."""
    exponential = c_function("exp")
    defvjp(exponential, lambda g, y, x: g * y)

    def in_a_list(x):
        out = []
        for v in x:
            out.append(exponential(v))
        return sum(out) * out[0]

    def stored(x):
        y = np.zeros(3)
        for k in range(3):
            y[k] = exponential(x[k]) * x[0]
        y[0] *= exponential(y[1])
        return np.sum(y * y)

    for f in (in_a_list, stored, lambda x: sum(map(exponential, x))):
        check_grads(f, (THREE / 10.0,), order=2)


def through_c(f):
    """A function that is called and cannot be read: as what numba has compiled."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(f)


def test_a_function_that_cannot_be_read_is_given_constants():
    doubled, emptied = through_c(lambda a: 2.0 * a), through_c(lambda a: a.fill(0.0) or a * 1.0)

    def weighted(x, mesh):
        y = x * x
        return np.sum(doubled(mesh) * y) + np.sum(doubled(stop_gradient(y)))

    assert np.array_equal(grad(weighted)(THREE, THREE), 4.0 * THREE * THREE)
    assert np.isclose(jvp(weighted, (THREE, THREE), (THREE, None))[1], 4.0 * np.sum(THREE**3))

    def written(x, mesh):
        return np.sum(emptied(mesh) * x)

    with pytest.raises(TypeError, match="`emptied` writes its argument, which only its run shows"):
        grad(written)(THREE, THREE.copy())


def test_a_function_of_a_library():
    special = pytest.importorskip("scipy.special")
    with pytest.raises(NoRule, match="has no derivative rule"):
        grad(lambda x: special.itstruve0(x))(0.7)
    lambert = primitive(lambda x: special.lambertw(x).real)
    lambert.defvjp(lambda g, w, x: g * w / (x * (1.0 + w)))
    check_grads(lambda x: np.sum(lambert(x) * x), (THREE,), order=2)


def test_a_function_with_source_that_somebody_else_wrote():
    def theirs(x):
        for _ in range(3):
            x = x * 1.0
        return x * x

    before = grad(lambda x: theirs(x) * 2.0)
    assert before(3.0) == 12.0
    defvjp(theirs, lambda g, y, x: g * 100.0)
    assert before(3.0) == 200.0 and grad(theirs)(3.0) == 100.0


def test_a_rule_of_ours_is_not_lost_by_accident():
    with pytest.raises(ValueError, match="`sin` has a derivative rule of s2sgrad's: pass replace=True"):
        defvjp(np.sin, lambda g, y, x: g)
    with pytest.raises(ValueError, match=r"`sin` has a derivative rule of s2sgrad's: use stop_gradient\(sin\("):
        nondifferentiable(np.sin)
    assert grad(np.sin)(0.0) == 1.0


def test_a_gradient_of_the_broadcast_shape_is_to_be_summed():
    scaled = custom_gradient(lambda x, a: (x * a, lambda g: (g * a, g * x)))
    with pytest.raises(
        ValueError, match="of shape \\(\\): sum it over the axes along which the argument was broadcast"
    ) as error:
        grad(lambda a, x: np.sum(scaled(x, a)))(2.0, THREE)
    assert error.value.__suppress_context__


def test_a_rule_that_does_not_fit_is_an_error_of_the_line_that_gives_it():
    cube = primitive(lambda x, k: k * x**3)
    for way in (cube.defvjp, cube.defjvp, functools.partial(defvjp, cube)):
        with pytest.raises(TypeError, match="must take") as error:
            way(lambda g, x, k: g * x)
        assert traceback.extract_tb(error.value.__traceback__)[-1].filename == __file__


def test_draws_that_are_rejected():
    rng = np.random.default_rng(0)
    for draw in (rng.gamma, np.random.gamma):
        with pytest.raises(NoRule) as error:
            grad(lambda a, draw=draw: np.sum(draw(a, size=3)))(2.0)
        assert "`scipy.stats.gamma.ppf(u, ..)`" in error.value.__notes__[-1]


def test_numba():
    numba = pytest.importorskip("numba")

    @numba.njit
    def squares(x):
        total = 0.0
        for v in x:
            total += v * v
        return total

    with pytest.raises(NoRule, match="`squares` has no derivative rule"):
        grad(lambda x: 2.0 * squares(x))(THREE)
    cube = numba.njit(lambda x: x * x * x)
    defvjp(cube, lambda g, y, x: g * 3.0 * x * x)
    check_grads(lambda x: cube(np.sin(x)), (0.7,), order=2)


# --- everyday cases ----------------------------------------------------------------------------------------------------


def residual(x, a):
    return x**3 + a * x - 1.0


in_x, in_a = grad(residual), grad(residual, 1)
TIMES = np.linspace(0.0, 1.0, 11)
TABLE = TIMES**2


def slope_of_the_table(g, y, x):
    k = np.clip(np.searchsorted(TIMES, x) - 1, 0, len(TIMES) - 2)
    return g * (TABLE[k + 1] - TABLE[k]) / (TIMES[k + 1] - TIMES[k])


@functools.lru_cache(None)
def simulated(k):
    return np.exp(-k * np.arange(4.0))


def test_a_root():
    brentq = pytest.importorskip("scipy.optimize").brentq
    root = primitive(lambda a: brentq(residual, 0.0, 2.0, args=(a,)))
    root.defvjp(lambda g, x, a: -g * in_a(x, a) / in_x(x, a))
    check_grads(lambda a: root(a) ** 2 * a, (1.3,), order=2)


def test_a_table():
    table = primitive(lambda x: np.interp(x, TIMES, TABLE), elementwise=True)
    table.defvjp(slope_of_the_table)
    check_grads(lambda x: np.sum(table(x) * x), (np.array([0.13, 0.57, 0.81]),), order=2)


def test_a_spline():
    interpolate = pytest.importorskip("scipy.interpolate")
    spline = interpolate.CubicSpline(TIMES, np.sin(3.0 * TIMES))  # of (x, nu=0, extrapolate=None)
    first, second = spline.derivative(), spline.derivative(2)
    defvjp(spline, lambda g, y, x: g * first(x))
    defvjp(first, lambda g, y, x: g * second(x))
    check_grads(lambda x: np.sum(spline(x) * x), (np.array([0.13, 0.57]),), order=2)
    with pytest.raises(NoRule, match="not known to its derivative rule"):
        grad(lambda x: spline(x, 1))(0.5)


def test_an_integral():
    quad = pytest.importorskip("scipy.integrate").quad

    @primitive
    def area_under(a, b):
        return quad(lambda t: np.exp(-a * t * t), 0.0, b)[0]

    area_under.defvjp(
        lambda g, y, a, b: g * quad(lambda t: -t * t * np.exp(-a * t * t), 0.0, b)[0],
        lambda g, y, a, b: g * np.exp(-a * b * b),
    )
    check_grads(lambda a: area_under(a, a * 2.0) * a, (0.8,))


def test_a_sparse_solve():
    sparse, linalg = pytest.importorskip("scipy.sparse"), pytest.importorskip("scipy.sparse.linalg")
    matrix = sparse.diags([np.full(4, -1.0), np.full(5, 3.0), np.full(4, -2.0)], [-1, 0, 1]).tocsc()

    @primitive
    def solve(a, b, transposed=False):
        return linalg.spsolve(a.T.tocsc() if transposed else a, b)

    solve.defvjp(lambda g, x, a, b, transposed: solve(a, g, transposed=not transposed), argnums="b")
    check_grads(lambda b: np.sum(solve(matrix, b * b) ** 2), (np.arange(1.0, 6.0),), order=2)


def test_a_simulator_that_remembers():
    simulate = primitive(lambda k: simulated(float(k)))
    simulate.defvjp(lambda g, y, k: g @ (-np.arange(4.0) * y))

    def f(k):
        y = simulate(k)
        y[0] = 3.0
        return np.sum(y * y) * k

    check_grads(f, (0.3,), order=2)
    assert simulated(0.3)[0] == 1.0
    remembered = functools.lru_cache(None)(lambda x: x * x)
    defvjp(remembered, lambda g, y, x: g * 2.0 * x)
    check_grads(lambda x: remembered(x) * x, (0.3,), order=2)


def test_clipping_and_reversal():
    clipped = custom_gradient(lambda x: (x, lambda g: np.clip(g, -1.0, 1.0)))
    assert grad(lambda x: 5.0 * clipped(x * x))(0.3) == 0.6
    flipped = primitive(lambda x: x)
    flipped.defvjp(lambda g, y, x: -g)
    assert grad(lambda x: flipped(x) ** 2)(3.0) == -6.0


def test_a_primitive_is_a_function_like_others():
    table = {"area": area}
    for f in (
        lambda x: functools.reduce(lambda s, t: s + area(t, x), [1.0, 2.0], 0.0),
        lambda x: sum(map(log1pexp, [x, x * x])),
        lambda x: np.sum(np.array([area(x, float(i)) for i in range(3)])),
        lambda x: table["area"](x, x),
        functools.partial(area, b=2.0),
    ):
        check_grads(f, (0.7,), order=2)
    check_grads(lambda f, x: f(x, x) * x, (area, 0.3), order=2)


# --- what is no part of the derivative ---------------------------------------------------------------------------------


def test_nondifferentiable():
    @nondifferentiable
    def largest(x):
        return np.max(np.abs(x))

    scaled = lambda x: np.sum(x / largest(x))  # noqa: E731
    np.testing.assert_allclose(grad(scaled)(THREE), np.ones(3) / 1.1)
    np.testing.assert_allclose(taped(lambda x: np.sum(x * x / largest(x)), THREE)[0], 2.0 * THREE / 1.1)
    flat = nondifferentiable(lambda x: x * 5.0)
    assert grad(lambda x: flat(x) * x)(2.0) == 10.0
    assert grad(lambda x: SPRING.rounded(x) * x)(1.7) == 2.0
    theirs = lambda x: x * 7.0  # noqa: E731
    nondifferentiable(theirs)
    assert grad(lambda x: theirs(x) * x)(2.0) == 14.0
    sine = c_function("sin")
    nondifferentiable(sine)
    assert grad(lambda x: sine(x) * x)(0.7) == pytest.approx(np.sin(0.7))


def test_stop_gradient():
    def f(x):
        y = [x, {"a": x * 2.0}]
        z = stop_gradient(y)
        return z[1]["a"] * x

    assert grad(f)(3.0) == 6.0 and grad(grad(f))(3.0) == 0.0
    assert grad(lambda x: stop_gradient(x) * x * x)(3.0) == 18.0


# --- structures, keywords, memory --------------------------------------------------------------------------------------


@primitive
def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


polar.defvjp(
    lambda g, o, x, y: g[0] * x / o[0] - g[1] * y / o[0] ** 2,
    lambda g, o, x, y: g[0] * y / o[0] + g[1] * x / o[0] ** 2,
)


@primitive
def of_a_model(p, k):
    return p["w"] @ p["v"] * k


of_a_model.defvjp(lambda g, y, p, k: {"w": g * k * p["v"], "v": g * k * p["w"]}, lambda g, y, p, k: g * y / k)


@primitive
def squared(x):
    return x * x


squared.defvjp(lambda g, y, x: g * 2.0 * x)


def polar_product(x):
    r, t = polar(x, x * x)
    return r * t


def in_place(x):
    u = x.copy()
    for _ in range(2):
        u[1:] = squared(u[1:]) + u[:-1]
    u *= squared(u)
    return np.sum(u)


def recursive(x, n=3):
    return squared(x) if n == 0 else recursive(squared(x), n - 1) * x


def test_results_and_arguments_with_a_structure():
    check_grads(polar_product, (0.7,), order=2)
    check_grads(lambda x: polar(x, 2.0)[1] * x, (0.7,), order=2)
    check_grads(lambda w: of_a_model({"w": w, "v": w * w}, w[0]), (THREE,), order=2)
    check_grads(lambda p: of_a_model(p, 2.0) ** 2, ({"w": THREE, "v": np.ones(3)},))
    wrong = primitive(lambda p: p["w"])
    wrong.defvjp(lambda g, y, p: {"v": g})
    with pytest.raises(ValueError, match="returned a dict for the argument `p`, a dict of 1"):
        grad(lambda w: wrong({"w": w}))(1.0)


def test_stores_and_recursion_around_a_primitive():
    check_grads(in_place, (THREE,), order=2)
    check_grads(recursive, (0.8,))
    assert grad(lambda x: np.sum(squared(x)))(np.ones(2, np.float32)).dtype == np.float32
    assert grad(grad(grad(lambda x: squared(x) * x)))(2.0) == 6.0


def test_keywords():
    @primitive
    def scaled(x, *, scale=1.0):
        return x * scale

    scaled.defvjp(lambda g, y, x, *, scale: g * scale)
    assert grad(scaled)(1.0) == 1.0 and grad(grad(lambda x: scaled(x * x, scale=3.0)))(1.0) == 6.0
    with pytest.raises(NoRule, match="`scaled` has no derivative in `scale`: give it one with"):
        grad(lambda x: scaled(2.0, scale=x))(1.0)
    scaled.defvjp(lambda g, y, x, *, scale: g * x, argnums="scale")
    assert grad(lambda x: scaled(2.0, scale=x))(1.0) == 2.0


def test_a_container_that_is_given_by_its_name():
    @primitive
    def weighed(x, weights=()):
        return x * weights[0] * weights[1]["b"]

    weighed.defvjp(
        lambda g, y, x, weights: g * weights[0] * weights[1]["b"],
        lambda g, y, x, weights: (g * y / weights[0], {"b": np.sum(g * y) / weights[1]["b"]}),
    )
    for f in (
        lambda x: np.sum(weighed(x, weights=(x * x, {"b": x[0]}))),
        lambda x: np.sum(weighed(x, weights=tuple([x * x, {"b": x[0]}]))),  # noqa: C409
    ):
        check_grads(f, (THREE,), order=2)
        assert np.allclose(taped(f, THREE)[0], grad(f)(THREE))


def test_a_default_that_is_no_constant():
    @primitive
    def looked_up(x, table=TABLE):
        return np.interp(x, TIMES, table)

    looked_up.defvjp(lambda g, y, x, table: g * 10.0 * (table[1] - table[0]))
    slope = 10.0 * TABLE[1]
    np.testing.assert_allclose(grad(looked_up)(0.05), slope)
    np.testing.assert_allclose(grad(lambda x: looked_up(x) + looked_up(x, 2.0 * TABLE))(0.05), 3.0 * slope)


@pytest.mark.parametrize("own", [True, False], ids=["primitive", "custom_gradient"])
def test_a_function_that_writes_its_argument_is_refused(own):
    def written(x):
        x[0] = 5.0
        return x * 1.0

    f = primitive(written) if own else custom_gradient(lambda x: (written(x), lambda g: g))
    if own:
        f.defvjp(lambda g, y, x: g)

    def product(x):
        u = x * 1.0
        return np.sum(f(u) * u)

    with pytest.raises(ValueError, match="read-only") as caught:
        grad(product)(THREE)
    assert any("writes an array that it is only lent" in note for note in caught.value.__notes__)


# --- what is wrong with a rule -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "error", "said"),
    [
        (lambda g, y, x: None, TypeError, "the vjp of `f` in `x` returned None: `return` the gradient in `x`"),
        (lambda g, y, x: "a", ValueError, r"the vjp of `f` returned a str for an argument `x` of shape \(3,\)"),
        (lambda g, y, x: (g, g), ValueError, r"the vjp of `f` returned a tuple for an argument `x` of shape \(3,\)"),
        (lambda g, y, x: np.ones(2), ValueError, r"returned a gradient of shape \(2,\) for an argument `x` of shape \(3,\)"),
        (lambda g, y, x: np.ones((3, 3)), ValueError, r"returned a gradient of shape \(3, 3\) for an argument `x`"),
        (lambda g, y, x: g * 1j * x, ValueError, "returned complex numbers for an argument `x`"),
    ],
)
def test_what_a_rule_returns_is_checked(rule, error, said):
    @primitive
    def f(x):
        return np.sum(x)

    f.defvjp(rule)
    for way in (
        lambda: grad(f)(THREE),
        lambda: grad(lambda x: f(x) * 2.0)(THREE),
        lambda: vjp(f, THREE)[1](1.0),
        lambda: jvp(f, (THREE,), (THREE,)),
        lambda: taped(f, THREE),
        lambda: grad(lambda x: np.sum(grad(lambda t: f(t) * 2.0)(x)))(THREE),
    ):
        with pytest.raises(error, match=said):
            way()


@pytest.mark.parametrize(
    ("given", "argnums", "said"),
    [
        ([lambda g, y: g], None, r"the vjp of `f` in `x` must take \(g, y, x, n\); it takes \(g, y\)"),
        ([lambda g, y, x: g], None, r"the vjp of `f` in `x` must take \(g, y, x, n\)"),
        ([3], None, "defvjp of `f` needs a function for `x`, not 3"),
        ([], None, "needs a function for each argument"),
        ([lambda *a: a[0]], "k", "`f` has no argument `k`: it takes x, n"),
        ([lambda *a: a[0]], 2, "`f` has no argument number 2"),
        ([lambda *a: a[0]], (0, 1), "2 arguments are named, and 1 functions given"),
        ([None, None, None], None, "`f` has no argument number 2"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_at_once(given, argnums, said):
    @primitive
    def f(x, n):
        return x * n

    with pytest.raises(TypeError, match=said):
        f.defvjp(*given, argnums=argnums)


def test_any_number_of_arguments_is_not_for_a_primitive():
    with pytest.raises(TypeError, match=r"takes any number of arguments, .* `custom_gradient`"):
        primitive(lambda *xs: xs[0])
    with pytest.raises(TypeError, match="primitive needs a function, not 3"):
        primitive(3)


def test_an_argument_without_a_rule_is_refused_where_it_carries_a_derivative():
    @primitive
    def f(x, n):
        return x * n

    f.defvjp(lambda g, y, x, n: g * n)
    assert grad(f)(2.0, 3.0) == 3.0
    with pytest.raises(NoRule, match="`f` has no derivative in `n`: give it one with `defvjp"):
        grad(f, "n")(2.0, 3.0)
    f.defvjp(None, argnums="n")
    assert grad(f, "n")(2.0, 3.0) == 0.0


def test_an_elementwise_function_that_is_none_is_refused():
    @primitive(elementwise=True)
    def f(x):
        return np.sum(x)

    with pytest.raises(ValueError, match=r"`f` is said to be elementwise, and returned shape \(\) for arguments that"):
        f(THREE)


@pytest.mark.parametrize("own", [True, False], ids=["primitive", "custom_gradient"])
def test_a_rule_that_writes_what_it_is_given_is_refused(own):
    def written(g, y, x):
        g *= 2.0
        return g

    if own:
        f = primitive(lambda x: x * 2.0)
        f.defvjp(written)
    else:
        f = custom_gradient(lambda x: (x * 2.0, lambda g: written(g, None, x)))

    def both(x):
        z = x * 1.0
        return np.sum((f(z) + z) * 3.0)

    with pytest.raises(ValueError, match="read-only") as caught:
        grad(both)(THREE)
    assert any("writes an array that it is only lent: write a copy" in note for note in caught.value.__notes__)


def test_a_rule_may_return_what_it_was_given_and_a_buffer():
    buffer = np.zeros(3)
    straight = primitive(lambda x: np.round(x))
    straight.defvjp(lambda g, y, x: g)
    buffered = primitive(lambda x: np.multiply(x, 2.0, out=buffer))
    buffered.defvjp(lambda g, y, x: np.multiply(g, 2.0, out=buffer))
    itself = primitive(lambda x: 0.5 * np.sum(x * x))
    itself.defvjp(lambda g, y, x: x)

    def f(x):
        a, b = buffered(x), buffered(x * x)
        return np.sum(straight(x) * x) + np.sum(a * b) + itself(x)

    expected = np.round(THREE) + THREE + 12.0 * THREE**2 + THREE
    x = THREE.copy()
    np.testing.assert_allclose(grad(f)(x), expected)
    np.testing.assert_array_equal(x, THREE)
    slope = grad(itself)(x)
    slope[0] = 7.0
    assert x[0] == THREE[0]


def test_a_wrapper_of_a_function_has_no_share_in_its_gradient():
    squared = custom_gradient(lambda x: (x * x, lambda g: g * 2.0 * x))
    cubed = primitive(lambda x: x**3)
    cubed.defvjp(lambda g, y, x: g * 3.0 * x**2)

    def twice(f):
        @functools.wraps(f)
        def inner(x):
            return 2.0 * f(x)

        return inner

    assert grad(twice(squared))(3.0) == 12.0 and grad(twice(cubed))(3.0) == 54.0
    assert grad(lambda x: twice(squared)(x) * 2.0)(3.0) == 24.0


def test_a_custom_jvp_has_no_reverse_mode_before_it_is_given_one():
    @custom_jvp
    def sine(x):
        return np.sin(x)

    @sine.defjvp
    def sine_jvp(primals, tangents):
        return np.sin(primals[0]), tangents[0] * np.cos(primals[0])

    with pytest.raises(NoRule, match="`sine` has no derivative in `x`"):
        grad(lambda x: sine(x) * 2.0)(0.7)
    sine.defvjp(lambda g, y, x: g * np.cos(x))
    assert grad(sine)(0.7) == np.cos(0.7)


def test_a_method_gives_no_gradient_in_its_object():
    with pytest.raises(NoRule, match="the pullback of the method `energy` gives no gradient in its object"):
        grad(lambda spring, x: spring.energy(x))(SPRING, 0.7)
    with pytest.raises(NoRule, match="`force` has no derivative in `self`"):
        grad(lambda spring, x: spring.force(x))(SPRING, 0.7)
    with pytest.raises(Unsupported, match="`force` brings its own gradient, which cannot be followed in a method"):
        grad(lambda k: Spring(k).force(2.0))(0.7)
    check_grads(SPRING.energy, (0.7,), order=1)
    check_grads(lambda x: SPRING.energy(x) * x, (0.7,), order=1)


def test_rules_are_given_outside_of_what_is_differentiated():
    def f(x):
        g = custom_gradient(lambda t: (t * t, lambda s: s * 2.0 * t))
        return g(x)

    def h(x):
        square = lambda t: t * t  # noqa: E731
        defvjp(square, lambda g, y, t: g)
        return square(x)

    for function in (f, h):
        with pytest.raises(Unsupported, match=r"not followed inside of a function that is .* outside of it"):
            grad(function)(1.0)


def test_the_names_are_public():
    assert {"primitive", "defvjp", "defjvp", "custom_jvp", "nondifferentiable", "custom_gradient"} <= set(dir(s2sgrad))


@pytest.mark.parametrize(
    "asked",
    [
        lambda f: grad(f, 1)(2.0, 3.0),
        lambda f: jvp(f, (2.0, 3.0), (None, 1.0)),
        lambda f: hessian(f, 1)(2.0, 3.0),
        lambda f: vjp(f, 2.0, 3.0),
    ],
)
def test_a_missing_derivative_of_a_primitive_is_shown_where_it_is_defined(asked):
    @primitive
    def product(x, y):
        return x * y

    product.defvjp(lambda g, r, x, y: g * y)
    with pytest.raises(NoRule, match="in `y`") as caught:
        asked(product)
    assert caught.value.place.file == __file__ and "def product" in caught.value.place.text


def test_linearize_names_what_has_no_text():
    space = {}
    exec("def doubled(x): return 2.0 * x, lambda g: 2.0 * g", space)
    doubled = custom_gradient(space["doubled"])
    for f in (doubled, lambda x: doubled(x) * x):
        with pytest.raises(Unsupported, match=r"the pullback of `.*` cannot be differentiated, .* keeps no source"):
            s2sgrad.linearize(f, 3.0)


class Cubed:
    def __call__(self, x):
        return x**3


cubed, cubed_too = Cubed(), Cubed()
defvjp(cubed, lambda g, y, x: g * 100.0)


class Holding:
    def __init__(self, called):
        self.called = called

    def of(self, x):
        return self.called(x) * 3.0


holding, holding_too = Holding(cubed), Holding(cubed_too)


@pytest.mark.records
def test_a_callable_object_is_known_by_itself_wherever_it_is_called():
    def handed(f, x):
        return f(x)

    assert grad(lambda x: cubed(x) * 2.0)(2.0) == 200.0
    assert grad(lambda x: holding.of(x))(2.0) == 300.0
    assert grad(lambda x: handed(cubed, x))(2.0) == 100.0
    assert grad(lambda x: sum(f(x) for f in [cubed, cubed_too]))(2.0) == 112.0
    assert grad(lambda x: holding_too.of(x))(2.0) == 36.0
    assert jvp(lambda x: handed(cubed, x), (2.0,), (1.0,)) == (8.0, 100.0)
