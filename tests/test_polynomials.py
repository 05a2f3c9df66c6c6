"""Polynomials that are objects: what they compute is differentiated, in their coefficients and in the point."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from s2sgrad import grad, jvp, vjp
from s2sgrad.errors import NoRule, S2SGradError
from s2sgrad.testing import check_grads

C, D, T = np.array([1.3, -0.7, 0.4, 0.9]), np.array([0.6, 1.1, 0.3]), 0.37


def polynomial(c, d, t):
    p, q = np.polynomial.Polynomial(c), np.polynomial.Polynomial(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


def chebyshev(c, d, t):
    p, q = np.polynomial.Chebyshev(c), np.polynomial.Chebyshev(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


def legendre(c, d, t):
    p, q = np.polynomial.Legendre(c), np.polynomial.Legendre(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


def laguerre(c, d, t):
    p, q = np.polynomial.Laguerre(c), np.polynomial.Laguerre(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


def hermite(c, d, t):
    p, q = np.polynomial.Hermite(c), np.polynomial.Hermite(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


def hermite_e(c, d, t):
    p, q = np.polynomial.HermiteE(c), np.polynomial.HermiteE(d)
    return (p * q - p // q + 2.0 * p.deriv())(t) + q.integ(2)(t) + np.sum((p % q).coef) - (-(q**2))(t) + (p / 2.0)(t)


@pytest.mark.dear
@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [polynomial, chebyshev, legendre, laguerre, hermite, hermite_e], ids=lambda f: f.__name__)
def test_series_in_every_basis(f):
    check_grads(f, (C, D, T), order=1)


def poly1d(c, d, t):
    p, q = np.poly1d(c), np.poly1d(d)
    r = (p / q)[1]
    return (p * q - p + 3.0 * q)(t) + (q**3).deriv()(t) + r.integ()(t) + np.sum(p.coeffs) + np.polyval(np.polymul(p, q), t)


def of_roots(c, d, t):
    return np.poly1d(c, True)(t) + np.polynomial.Chebyshev.fromroots(d)(t)


def fitted(c, d, t):
    x = np.sin(1.3 * np.arange(4.0))
    p = np.polynomial.Legendre.fit(x, c, 2)
    q = p.deriv()
    return p(t) * np.sum(p.coef) + q(0.3) * p.integ()(t) + np.polynomial.Polynomial(d, domain=[0.0, t + 1.0])(0.4)


def in_a_loop(c, d, t):
    p = np.polynomial.Polynomial([1.0])
    for k in range(3):
        p = p * np.polynomial.Polynomial([d[k], 1.0])
    return p(t) + c[0]


def in_a_branch(c, d, t):
    p = np.polynomial.Polynomial(c)
    if d[0] > 0.0:
        p = p.deriv()
    return p(t)


def of_a_list(c, d, t):
    p = np.polynomial.Polynomial([c[0], t, 2.0])
    return -np.polynomial.Chebyshev([d[0], d[1]])(t) + (p - d)(t)


@pytest.mark.parametrize("f", [poly1d, of_roots, fitted, in_a_loop, in_a_branch, of_a_list])
def test_polynomials(f):
    check_grads(f, (C, D, T), order=1)


def test_coefficients_are_a_copy():
    def f(c, t):
        p = np.polynomial.Polynomial(c)
        c = c * 1.0
        c[0] = 5.0 * t
        return p(t) * c[0]

    def g(c, t):
        b = c * 2.0
        p = np.polynomial.Polynomial(b)
        b[1] = 7.0
        return p(t) + b[0]

    check_grads(f, (C, T), order=1)
    check_grads(g, (C, T), order=1)


def test_coefficients_of_a_number_are_an_array():
    assert vjp(lambda s: np.polynomial.Polynomial(s).coef, 2.0)[0].shape == (1,)


def asked_in_order(c, t):
    seen = []

    def noted(x):
        seen.append(x)
        return x * len(seen)

    return np.polynomial.Polynomial(noted(c))(noted(t)) + len(seen)


def test_what_has_effects_keeps_its_order():
    with contextlib.suppress(S2SGradError):
        check_grads(asked_in_order, (C, T), order=1)


def handed_on(c, t):
    p = np.polynomial.Polynomial(c)
    return ask(p, t)


def ask(p, t):
    return p(t)


def of_several_kinds(c, t):
    p = np.polynomial.Polynomial(c)
    if t > 0.0:
        p = np.polynomial.Chebyshev(c)
    return p(t)


def composed(c, t):
    p = np.polynomial.Polynomial(c)
    return p(p)(t)


@pytest.mark.parametrize("f", [handed_on, of_several_kinds, composed])
def test_what_is_not_known_is_refused_or_right(f):
    with contextlib.suppress(S2SGradError):
        check_grads(f, (C, T), order=1)


def test_floor_division_of_objects_is_not_flat():
    """It was: the gradient of the quotient of two polynomials was 0 in their coefficients."""

    def f(c, d, t):
        p = np.polynomial.Polynomial(c, domain=[0.0, 2.0])
        return (p // np.polynomial.Polynomial(d, domain=[0.0, 2.0]))(t)

    with pytest.raises(NoRule):
        grad(f, (0, 1, 2))(C, D, T)
    with pytest.raises(NoRule):
        jvp(f, (C, D, T), (C, D, 1.0))
