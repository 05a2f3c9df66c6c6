"""Rules of the user for complex numbers: right in both modes, or refused; a text for real ones never takes a complex one."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from test_complex_functions import differences

from s2sgrad import (
    S2SGradError,
    custom_gradient,
    defjvp,
    defvjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    primitive,
    vjp,
)
from s2sgrad.runtime.checks import Refusal
from s2sgrad.testing import check_grads

Z, X = np.array([0.3 - 0.5j, -0.8 + 0.2j, 0.6 + 0.9j]), np.array([0.7, -0.4, 1.1])


@custom_gradient
def square(w):
    return w * w, lambda g: 2.0 * w * g


@custom_gradient
def modulus(w):
    return np.abs(w), lambda g: g * np.conj(w) / np.abs(w)


@custom_gradient
def turned(r):
    return np.exp(1j * r), lambda g: np.real(g * 1j * np.exp(1j * r))


@custom_gradient
def scaled(r, k):
    return r * k, lambda g: (np.real(g * k), None)


@primitive
def rotated(w):
    return w * 1j


defvjp(rotated, lambda g, y, w: g * 1j)
defjvp(rotated, lambda t, y, w: t * 1j)


@primitive
def rotated_by_its_pullback(w):
    return w * 1j


defvjp(rotated_by_its_pullback, lambda g, y, w: g * 1j)


@primitive
def spectrum(r):
    return np.fft.fft(r)


defvjp(spectrum, lambda g, y, r: np.fft.fft(g))  # of a real argument the real part is taken
defjvp(spectrum, lambda t, y, r: np.fft.fft(t))


@primitive
def times(a, b):
    return a * b


defvjp(times, lambda g, y, a, b: g * b, lambda g, y, a, b: g * a)

FOLLOWED = {
    "complex gradient of its own": (lambda z: np.sum(np.abs(square(z)) ** 2), Z),
    "real result": (lambda z: np.sum(modulus(z) ** 3), Z),
    "complex made of real before": (lambda x: np.sum(np.abs(square(x * 1j + 1.0))), X),
    "primitive": (lambda z: np.sum(np.abs(rotated(z) + 1.0) ** 2), Z),
    "primitive of real numbers": (lambda x: np.sum(np.abs(rotated(x) + 1.0)), X),
    "primitive by its pullback": (lambda z: np.sum(np.abs(rotated_by_its_pullback(z) + 1.0) ** 2), Z),
    "transform": (lambda x: np.sum(np.abs(spectrum(x)) ** 2 * np.arange(3)), X),
    "real and complex": (lambda x: np.sum(np.abs(times(x, np.exp(1j * x)) + 1.0)), X),
    "a complex constant": (lambda x: np.sum(np.abs(times(x, Z) + 1.0)), X),
}
REFUSED = {
    "complex of a real argument": (lambda x: np.sum(turned(x).real * x), X),
    "complex by a constant": (lambda x: np.sum(np.abs(scaled(x, 1j) + 1.0)), X),
    "complex by a constant array": (lambda x: np.sum(np.abs(scaled(x, Z) + 1.0)), X),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_both_modes(case):
    f, x = FOLLOWED[case]
    (wanted,) = differences(f, (x,), 0)
    found = grad(f)(x.copy())
    assert np.iscomplexobj(found) == np.iscomplexobj(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    u = x * (1.0 + 0.5j) if np.iscomplexobj(x) else x * 0.5
    assert jvp(f, (x,), (u,))[1] == pytest.approx(np.sum(wanted * u).real, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("case", ["primitive", "primitive of real numbers", "transform", "real and complex"])
def test_second_order(case):
    f, x = FOLLOWED[case]
    df = grad(f)

    def g(x):
        return np.sum(np.real(df(x) * np.array([1.0, -2.0, 0.5])))

    np.testing.assert_allclose(grad(g)(x), differences(g, (copy.deepcopy(x),), 0, 1e-5)[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", REFUSED)
def test_what_only_a_run_finds_complex_is_refused(case):
    f, x = REFUSED[case]
    assert np.isfinite(f(x))  # called without a derivative it is computed

    def by_argument(x, act):
        return np.sum(np.abs(act(x, 1j) + 1.0))

    for way in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,)), lambda: grad(by_argument)(x, scaled)):
        with pytest.raises((S2SGradError, Refusal), match="gives complex numbers"):
            way()


def spun(z, k):
    return z * z * (1 + 2j) * k


def test_checks_of_complex_arguments_shift_both_parts():
    check_grads(lambda z, k: np.sum(np.abs(z) ** 2) * k, (Z, 2.0), order=2)
    check_grads(spun, (Z, 2.0))
    check_grads(lambda z: spun(z, 2), (Z.astype(np.complex64),))
    check_grads(spun, (0.5 - 1j, 2.0), argnums=0, modes=("rev", "fwd", "vjp"))
    check_grads(FOLLOWED["primitive"][0], (Z,), order=2)
    wrong = primitive(lambda w: w * 1j)
    wrong.defvjp(lambda g, y, w: -g * 1j)
    conjugate = primitive(lambda w: w * 1j)
    conjugate.defvjp(lambda g, y, w: np.conj(g) * -1j)
    for f in (wrong, conjugate):
        with pytest.raises(AssertionError, match="differences"):
            check_grads(lambda z: np.sum(f(z).real), (Z,), modes="rev")
        with pytest.raises(AssertionError, match="differences"):
            check_grads(f, (Z,), modes="rev")


@primitive
def impedance(w):
    return 1.0 + 2j * w


defvjp(impedance, lambda g, y, w: np.real(2j * g))


@pytest.mark.records
@pytest.mark.parametrize("second", [
    lambda f: hessian(f)(0.7), lambda f: grad(grad(f))(0.7), lambda f: jvp(grad(f), (0.7,), (1.0,))[1],
    lambda f: hvp(f, (0.7,), (1.0,)), lambda f: jacfwd(grad(f))(0.7), lambda f: jacrev(grad(f))(0.7),
])  # fmt: skip
def test_second_derivatives_of_numbers_that_turn_complex(second):
    """The modulus is sqrt(1 + 4 w ** 2)."""
    np.testing.assert_allclose(second(lambda w: np.abs(impedance(w))), 4.0 / (1.0 + 4.0 * 0.7**2) ** 1.5, rtol=1e-12)
    np.testing.assert_allclose(second(lambda w: np.abs(impedance(w)) ** 2), 8.0, rtol=1e-12)


@pytest.mark.records
def test_the_message_says_how_numbers_that_turn_complex_are_followed():
    for f, begun in ((lambda w: abs((-w) ** 1.5), lambda w: abs((-(w + 0j)) ** 1.5)),
                     (lambda w: np.abs(impedance(w)), lambda w: np.abs(impedance(w + 0j)))):  # fmt: skip
        for derivative in (lambda f: vjp(f, 0.7)[1](1.0)[0], lambda f: jacrev(f)(0.7)):
            with pytest.raises((S2SGradError, Refusal), match=r"begin with `x \+ 0j` for `x`"):
                derivative(f)
            np.testing.assert_allclose(derivative(begun), grad(f)(0.7), rtol=1e-12)
