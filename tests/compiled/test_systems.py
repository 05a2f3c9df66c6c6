"""Systems, determinants and products: LAPACK and BLAS from machine code."""

from __future__ import annotations

import numpy as np
import pytest
from as_loops import assert_same, both

from s2sgrad import compile, grad


@pytest.fixture
def numba(tmp_path, monkeypatch):
    monkeypatch.setenv("S2SGRAD_CACHE", str(tmp_path))
    return pytest.importorskip("numba")


def systems(a, v, m):
    s = np.sum(np.linalg.solve(a, v) ** 2) + np.sum(np.linalg.solve(a, m) * m)
    s = s + np.linalg.det(a) * np.sum(np.linalg.inv(a) ** 2)
    c = np.linalg.cholesky(a @ a.T + 3.0 * np.eye(len(v)))
    return s + np.sum(c * c * c) + np.log(np.linalg.det(a @ a.T))


def drawn(n, dtype, columns=2):
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n)) + 3.0 * np.eye(n)
    return a.astype(dtype), rng.normal(size=n).astype(dtype), rng.normal(size=(n, columns)).astype(dtype)


def test_systems_as_plain_loops():
    df = grad(systems, (0, 1, 2), lists=False)
    ours, theirs = both(df, drawn(4, np.float64))
    assert_same(ours, theirs)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_systems_in_machine_code(numba, dtype):
    df, text = grad(systems, (0, 1, 2), compile=True), grad(systems, (0, 1, 2))
    for n in (3, 5, 20):
        a, v, m = drawn(n, dtype)
        for args in ((a, v, m), (a.T, v[::-1], np.asfortranarray(m))):
            for ours, theirs in zip(df(*args), text(*args), strict=True):
                assert ours.dtype == theirs.dtype
                near = 1e-11 if dtype is np.float64 else 2e-3
                np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=near * np.max(np.abs(theirs)))
    assert "stays NumPy" not in df.explain_compile()


def determinant(a):
    return np.linalg.det(a)


def factor(a):
    return np.linalg.cholesky(a)


def solution(a, b):
    return np.linalg.solve(a, b)


def test_what_has_no_solution_raises_what_numpy_raises(numba):
    singular, regular = np.ones((3, 3)), np.diag([1.0, 2.0, 3.0])
    det, slope, cholesky, solve = compile(determinant), grad(determinant, compile=True), compile(factor), compile(solution)
    permuted = regular[[1, 0, 2]]
    for a in (regular, singular, permuted, -permuted, np.zeros((3, 3))):
        np.testing.assert_allclose(det(a), np.linalg.det(a), rtol=1e-14)
        np.testing.assert_allclose(slope(a), grad(determinant)(a), rtol=1e-12, atol=1e-14)
    with np.errstate(invalid="ignore"):
        assert np.isnan(det(np.full((3, 3), np.nan)))
    np.testing.assert_array_equal(cholesky(regular), np.linalg.cholesky(regular))
    np.testing.assert_array_equal(cholesky(np.triu(singular) + regular), np.linalg.cholesky(np.triu(singular) + regular))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        cholesky(-regular)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        solve(singular, regular)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        det(np.ones((3, 2)))
    assert solve(np.empty((0, 0)), np.empty((0, 2))).shape == (0, 2) and det(np.empty((0, 0))) == 1.0


def products(a, b, v, u):
    return a @ b, a @ v, u @ a, b.T @ a.T, b.T @ v, v @ b


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products(numba, dtype):
    loops = compile(products)
    for m, k, n in ((3, 5, 7), (30, 50, 70), (2, 0, 3), (0, 2, 3), (2, 3, 0), (300, 2, 4)):
        rng = np.random.default_rng(m)
        args = [rng.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n), (k,), (m,))]
        for given in (args, [np.asfortranarray(args[0]), args[1][:, ::-1], args[2][::-1], args[3]]):
            for ours, theirs in zip(loops(*given), products(*given), strict=True):
                assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
                np.testing.assert_allclose(ours, theirs, rtol=1e-4 if dtype is np.float32 else 1e-11, atol=1e-5)
    with pytest.raises(ValueError, match=r"matmul|mismatch|dot"):
        loops(np.ones((2, 3), dtype), np.ones((2, 3), dtype), np.ones(3, dtype), np.ones(2, dtype))


def names_of_ours(x, m):
    place, dot_ = x * 2.0, m * 0.5
    for i in range(1, len(x)):
        place[i] = place[i - 1] * dot_[i, i - 1]
    return np.sum(place[1:] * (dot_ @ x)[1:]) + np.sum(m @ place)


def test_names_of_the_user_beside_those_of_machine_code(numba):
    x, m = np.linspace(0.5, 1.5, 4), np.linspace(0.1, 0.9, 16).reshape(4, 4)
    assert_same(grad(names_of_ours, (0, 1), compile=True)(x, m), grad(names_of_ours, (0, 1))(x, m))
