"""Complex numbers in recorded functions: both modes and second order, against differences in both parts of each number."""

from __future__ import annotations

import copy
import linecache

import numpy as np
import pytest
from complex_functions import CASES
from complex_programs import program
from test_complex_functions import differences, parts

from recorded.complex_ways import WAYS
from recorded.judged import assert_gradient, assert_tangent
from s2sgrad import S2SGradError, custom_gradient, grad, hessian, jacfwd, jacobian, jacrev, jvp, value_and_grad, vjp
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.testing import check_grads

ONCE = {"singular_values", "triangular_factor_alone"}  # the second derivative needs what is free, or not followed


def is_differentiable(a):
    return any(isinstance(x, (float, complex, np.inexact)) or getattr(x, "dtype", np.dtype(int)).kind in "fc"
               for x in parts(a)[0])  # fmt: skip


def numbers_of(args):
    return tuple(k for k, a in enumerate(args) if is_differentiable(a))


def leaves_of(bar):
    return list(bar.values()) if isinstance(bar, dict) else bar if isinstance(bar, list) else [bar]


def along(rng, a):
    """A direction for an argument: of a complex one it is complex."""
    values, made = parts(a)
    return made([(rng.normal(size=np.shape(v)) + 1j * np.iscomplexobj(v) * rng.normal(size=np.shape(v)))[()]
                 if np.iscomplexobj(v) else rng.normal(size=np.shape(v))[()] for v in values])  # fmt: skip


def inner(bars, dots):
    pairs = [pair for bar, dot in zip(bars, dots, strict=True) for pair in zip(leaves_of(bar), parts(dot)[0], strict=True)]
    return sum(np.sum(np.real(a * b)) for a, b in pairs)


IDS = [f.__name__ for f, _, _ in CASES]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("f", "args", "order"), CASES, ids=IDS)
def test_functions(f, args, order):
    numbers = numbers_of(args)
    recorded = Recorded(f, copy.deepcopy(args), {}, numbers)
    np.testing.assert_array_equal(recorded.value, f(*copy.deepcopy(args)))
    bars = recorded.pullback()
    for k, bar in zip(numbers, bars, strict=True):
        for a, b in zip(leaves_of(bar), differences(f, args, k), strict=True):
            assert np.iscomplexobj(a) == np.iscomplexobj(b)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    rng = np.random.default_rng(0)
    dots = [along(rng, args[k]) for k in numbers]
    if not any(isinstance(dot, (dict, list)) or hasattr(dot, "__dataclass_fields__") for dot in dots):
        tangent = recorded.tangent(dots)
        assert not np.iscomplexobj(tangent)
        np.testing.assert_allclose(tangent, inner(bars, dots), rtol=1e-8, atol=1e-9)


def slope_of(f, numbers, dots):
    """The derivative along a direction, by a recording."""
    return lambda *args: inner(Recorded(f, args, {}, numbers).pullback(), dots)


def assert_second(f, args, numbers, rtol=1e-4, atol=1e-5):
    rng = np.random.default_rng(1)
    df = slope_of(f, numbers, [along(rng, args[k]) for k in numbers])
    bars = Recorded(df, copy.deepcopy(args), {}, numbers).pullback()
    for k, bar in zip(numbers, bars, strict=True):
        for a, b in zip(leaves_of(bar), differences(df, args, k, 1e-5), strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize(("f", "args", "order"), CASES, ids=IDS)
def test_second_derivatives(f, args, order):
    if order < 2 or f.__name__ in ONCE or any(hasattr(a, "__dataclass_fields__") for a in args):
        pytest.skip("once")
    assert_second(f, args, numbers_of(args))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed):
    text, name = program(seed), f"<recorded complex program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    rng = np.random.default_rng(seed)
    f, args = space["f"], (rng.uniform(0.4, 1.4, 3), rng.normal(size=3) + 1j * rng.normal(size=3))
    recorded = Recorded(f, copy.deepcopy(args), {}, (0, 1))
    np.testing.assert_array_equal(recorded.value, f(*copy.deepcopy(args)))
    bars = recorded.pullback()
    for k, bar in enumerate(bars):
        np.testing.assert_allclose(bar, differences(f, args, k)[0], rtol=1e-4, atol=1e-5)
    dots = [along(rng, a) for a in args]
    np.testing.assert_allclose(recorded.tangent(dots), inner(bars, dots), rtol=1e-8, atol=1e-8)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", WAYS, ids=lambda f: f.__name__)
def test_ways(f):
    x = np.array([0.7, 1.3, 0.4])
    assert_gradient(f, (x,), (0,), types=False)
    assert_tangent(f, (x,), (0,))
    assert_second(f, (x,), (0,), 1e-4, 1e-4)


# --- what users call -------------------------------------------------------------------------------------------------


def energy(z, x):
    held = [iter([1.0])]
    return np.sum(np.abs(np.fft.fft(z * x * next(held[0]))) ** 2)


def cubic(z):
    held = [iter([1.0])]
    return z**2 * (next(held[0]) + z)


def turned(x):
    held = [iter([1.0])]
    return np.exp(1j * x) * x * next(held[0])


def distance(x):
    held = [iter([1.0])]
    return np.sum(np.abs(np.exp(1j * x) * x * next(held[0]) + 1) ** 2)


def of_a_recorded_callee(x):
    return np.sum(np.abs(turned(x)) ** 2)


def polynomial(z):
    held = [iter([1.0])]
    return z * z + next(held[0])


def of_complex_numbers(z):
    return np.sum(np.abs(polynomial(z)) ** 2)


Z, X = np.array([1 + 2j, 3.0, -1j]), np.array([1.0, 2.0, 3.0])


def test_gradients():
    z_bar, x_bar = grad(energy, (0, 1))(Z, X)
    np.testing.assert_allclose(z_bar, differences(energy, (Z, X), 0)[0], rtol=1e-6)
    np.testing.assert_allclose(x_bar, differences(energy, (Z, X), 1)[0], rtol=1e-6)
    assert x_bar.dtype == float
    np.testing.assert_array_equal(grad(energy, conjugate=True)(Z, X), np.conj(z_bar))
    np.testing.assert_allclose(jvp(energy, (Z, X), (Z, X))[1], np.real(np.sum(z_bar * Z)) + x_bar @ X)
    assert "Recorded as it runs" in grad(energy).source_for(Z, X)


def test_complex_results():
    value, slope = value_and_grad(cubic, holomorphic=True)(1 + 2j)
    assert value == cubic(1 + 2j) and abs(slope - (2 * (1 + 2j) + 3 * (1 + 2j) ** 2)) < 1e-12
    assert abs(vjp(cubic, 1 + 2j)[1](1j)[0] - 1j * slope) < 1e-12
    assert abs(jvp(cubic, (1 + 2j,), (1j,))[1] - 1j * slope) < 1e-12
    with pytest.raises(TypeError, match="complex numbers, which have no gradient"):
        grad(cubic)(1 + 2j)


def test_matrices():
    expected = np.diag(1j * np.exp(1j * X) * X + np.exp(1j * X))
    for kind in (jacrev, jacfwd, jacobian):
        np.testing.assert_allclose(kind(turned)(X), expected, atol=1e-12)
    columns = [(grad(distance)(X + e) - grad(distance)(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(hessian(distance)(X), columns, rtol=1e-6, atol=1e-6)


def test_recorded_callees():
    """A text is for real numbers or for complex ones: what turns complex in a callee that is recorded, it cannot foresee."""
    np.testing.assert_allclose(grad(of_complex_numbers)(Z), differences(of_complex_numbers, (Z,), 0)[0], rtol=1e-6)
    np.testing.assert_allclose(jvp(of_complex_numbers, (Z,), (Z,))[1],
                               np.sum(np.real(grad(of_complex_numbers)(Z) * Z)), rtol=1e-9)  # fmt: skip
    for derivative in (grad(of_a_recorded_callee), jacfwd(of_a_recorded_callee), hessian(of_a_recorded_callee)):
        with pytest.raises((TypeError, S2SGradError)):
            derivative(X)


def test_check_grads():
    """Of complex numbers both parts are shifted, each by itself."""
    check_grads(energy, (Z, X), order=2)
    check_grads(energy, (np.arange(1.0, 21.0) * (1 - 0.3j), np.ones(20)), argnums=0, modes=("fwd", "rev", "vjp"))
    tripled = custom_gradient(lambda x: (x * x, lambda g: 3 * x * g))
    with pytest.raises(AssertionError, match=r"argument `z`, element \[0\] \(imaginary part\): gradient 6, differences 4"):
        check_grads(lambda z: np.sum(tripled(np.abs(z))), (Z[:2],), modes="rev")
