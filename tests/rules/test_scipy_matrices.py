"""scipy.linalg in programs: what is free to turn, what has to be symmetric, equal eigenvalues, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from s2sgrad import NoRule, grad, jvp
from s2sgrad.errors import Refused
from s2sgrad.rules.table import lookup
from s2sgrad.runtime import Refusal
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(3)
A, B, TALL = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=(5, 3))
W = RNG.normal(size=(3, 3))


def of_hermitian(x, y):
    w, v = linalg.eigh(x + 1j * y)
    return np.sum(np.cos(w) * np.abs(v[0]) ** 2 * w)


def of_two_hermitian(x, y):
    w, v = linalg.eigh(x + 1j * y, x @ x.T + 4.0 * np.eye(3))
    return np.sum(np.sin(w) * np.abs(v[0]) ** 2)


def of_some_vectors(x):
    v = linalg.eigh(x + x.T, subset_by_index=[0, 1])[1]
    return np.sum(W * (v @ v.T))


def of_a_null_space(x):
    z = linalg.null_space(x[:1])
    return np.sum(W * (z @ z.T))


def of_a_range(x):
    q = linalg.orth(x[:, :2])
    return np.sum(W * (q @ q.T))


def riccati(x):
    q, r = x @ x.T + np.eye(3), x.T @ x + np.eye(3)
    return np.sum(W * linalg.solve_continuous_are(x, B, q, r)) + np.sum(W * linalg.solve_discrete_are(x, B, q, r))


def by_factors(x):
    factor = linalg.lu_factor(x)
    low, up = linalg.lu(x, permute_l=True)
    return np.sum(W * linalg.lu_solve(factor, B)) + np.sum(np.log(np.abs(np.diag(factor[0])))) + np.sum(W * (low @ up))


def by_turns(x):
    q, r = linalg.qr(x, mode="economic")
    u, p = linalg.polar(x)
    return np.sum(np.abs(q) * np.abs(r[0])) + np.sum(W * u) + np.sum(W * p)


PROGRAMS = [(of_hermitian, 2), (of_two_hermitian, 2), (of_some_vectors, 1), (of_a_null_space, 1), (of_a_range, 1),
            (riccati, 1), (by_factors, 1), (by_turns, 1)]  # fmt: skip


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(("f", "count"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs(f, count):
    modes = ("rev",) if f is of_a_null_space else ("fwd", "rev")  # two vectors, which are free to turn
    check_grads(f, (A, B - B.T)[:count], modes=modes, rtol=1e-4, atol=1e-6)


def test_equal_eigenvalues():
    """As those of NumPy: shared by the values, dropped where the vectors alone are used, nan where both mix."""
    equal = np.diag([1.0, 1.0, 2.0])
    assert np.allclose(grad(lambda x: np.sum(linalg.eigvalsh(x) ** 3))(2.0 * np.eye(2)), 12.0 * np.eye(2))

    def space(x):
        v = linalg.eigh(x)[1]
        return np.sum(v[:, :2] @ v[:, :2].T)

    def mixed(x):
        w, v = linalg.eigh(x)
        return np.sum((v * np.exp(w)) @ v.T * W)

    assert np.allclose(grad(space)(equal), [[0, 0, 0], [0, 0, 0], [-2, -2, 0]])
    assert np.isclose(jvp(space, (equal,), (np.ones((3, 3)),))[1], -4.0)
    assert np.isnan(grad(mixed)(equal)[1, 0])


@pytest.mark.parametrize("of", [lambda a: linalg.eig_banded(a, True), lambda a: linalg.eigh_tridiagonal(a[0], a[1, :2])])
def test_equal_eigenvalues_of_bands(of):
    """As those of full matrices, in both modes."""
    band, change = np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), np.array([[0.3, -0.2, 0.6], [0.5, 0.4, 0.0]])

    def cubes(a):
        w, _ = of(a)
        return np.sum(w**3)

    def mixed(a):
        w, v = of(a)
        return np.sum((v * np.exp(w)) @ np.linalg.inv(v) * W)

    exact = (cubes(band + 1e-5 * change) - cubes(band - 1e-5 * change)) / 2e-5
    assert np.isclose(jvp(cubes, (band,), (change,))[1], exact) and np.isclose(np.sum(grad(cubes)(band) * change), exact)
    assert np.isnan(jvp(mixed, (band,), (change,))[1]) and np.isnan(np.sum(grad(mixed)(band)))


def test_what_turns_a_basis_is_refused():
    for f in (lambda x: linalg.null_space(x[:1])[0, 0], lambda x: linalg.null_space(x, rcond=0.9)[0, 0]):
        with pytest.raises(Refused):
            grad(f)(A)
        with pytest.raises(Refused):
            jvp(f, (A,), (B,))


@pytest.mark.parametrize("f", [lambda x: linalg.pinv(x, rtol=0.7), lambda x: linalg.pinvh(x @ x.T, 2.0),
                               lambda x: linalg.lstsq(x, B, cond=0.7)[0], lambda x: np.linalg.pinv(x, 0.4),
                               lambda x: np.linalg.lstsq(x, B, rcond=0.4)[0]])  # fmt: skip
def test_a_cutoff_of_what_is_not_0_is_refused(f):
    at = np.diag([1.0, 0.3, 2.0])
    with pytest.raises(Refused):
        grad(lambda x: np.sum(f(x)))(at)
    with pytest.raises(Refused):
        jvp(lambda x: np.sum(f(x)), (at,), (at,))


@pytest.mark.parametrize(
    ("f", "named"),
    [
        (lambda x: linalg.eigh(x, x, type=2)[0][0], "type 1"),
        (lambda x: linalg.qr(x, mode="raw")[1][0, 0], "economic"),
        (lambda x: linalg.eigvals_banded(x, select="i", select_range=(0, 1))[0], "subset_by_index"),
        (lambda x: linalg.cossin(x, 1, 1)[0][0, 0], "cossin"),
    ],
)
def test_refused(f, named):
    with pytest.raises(NoRule, match=named):
        grad(f)(A)


@pytest.mark.parametrize(
    ("f", "args", "keywords"),
    [
        (linalg.qr, (TALL,), {}),
        (linalg.rq, (TALL.T,), {}),
        (linalg.schur, (np.array([[0.0, 1.0], [-1.0, 0.0]]),), {}),
        (linalg.polar, (TALL.T,), {}),
        (linalg.logm, (np.diag([-1.0, 2.0]),), {}),
        (linalg.solve_circulant, (np.eye(3) + 1.0, TALL[:3, 0]), {}),
    ],
)
def test_refused_when_it_runs(f, args, keywords):
    y = f(*args, **keywords)
    with pytest.raises(Refusal):
        lookup(f).pullback(y, y, *args, **keywords)


@pytest.mark.records
def test_a_recorded_call_is_checked_as_well():
    f = lambda m, s: np.sum(W * linalg.solve_sylvester(m, m, s))  # noqa: E731
    for dots in ((None, 1.0), (A, None)):
        with pytest.raises(Refused):
            jvp(f, (A @ A.T, 0.6), dots)


BY_NAME = {"lu": linalg.lu_factor, "cho": linalg.cho_factor}


@pytest.mark.parametrize(("name", "solve"), [("lu", linalg.lu_solve), ("cho", linalg.cho_solve)])
def test_a_factorization_of_unknown_kind_is_used_twice(name, solve):
    """The cotangents of its parts are added, and not joined as tuples are."""

    def f(a):
        c = BY_NAME[name](a @ a.T)
        return np.sum(solve(c, B) * solve(c, B * B))

    check_grads(f, (A,), order=1, rtol=1e-4, atol=1e-5)
