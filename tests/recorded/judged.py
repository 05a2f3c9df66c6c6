"""The judge of recorded functions: the value is that of the plain run, bit by bit, the derivatives those of differences."""

from __future__ import annotations

import numpy as np
from differences import STEP, assert_value, central_difference, copied, directional, inner, leaves, random_directions

import s2sgrad.api.recording  # noqa: F401  so that gradients inside are followed
from s2sgrad.recorded.careful import holds_nan
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.sweep import Sweep
from s2sgrad.runtime.structure import ONES

TOLERANCES = {"rtol": 1e-5, "atol": 1e-6}


def gradient_of(f, argnums):
    """The gradient in several arguments, recorded at each call; None where an argument has no floats."""
    return lambda *args: tuple(Recorded(f, args, {}, argnums).pullback())


def assert_gradient(f, args, argnums, exactly=True, types=True):
    """Value and gradient; `exactly`: the value bit by bit; `types`: and its types."""
    before = f(*copied(args))
    recorded = Recorded(f, copied(args), {}, argnums)
    if exactly:
        assert_value(recorded.value, before)
        if types:
            assert_types(recorded.value, before)
    bars, slopes = list(leaves(recorded.pullback())), list(leaves(central_difference(f, args, argnums)))
    if not all(np.allclose(a, b, **TOLERANCES) for a, b in zip(bars, slopes, strict=True)):
        finer = leaves(central_difference(f, args, argnums, STEP / 10.0))
        slopes = [(100.0 * b - a) / 99.0 for a, b in zip(slopes, finer, strict=True)]  # without the error of second order
    for a, b in zip(bars, slopes, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, **TOLERANCES)
    assert_one_sweep(recorded.record)
    return recorded


def assert_one_sweep(record):
    """Sweeps that know where cotangents count find what the plain one does, unless that meets a nan."""
    plain = record._swept(Sweep(len(record.entries)), ONES)
    if not holds_nan(plain):
        for made in (record._careful, record._singular):
            for a, b in zip(record._swept(made(), ONES), plain, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=made.__name__)


def assert_types(again, value):
    """Numbers keep the type that the plain run gives them."""
    for a, b in zip(leaves(again), leaves(value), strict=True):
        assert type(a) is type(b), f"{type(a)} is not {type(b)}"
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


def assert_tangent(f, args, argnums):
    """The tangent along a random direction, against the gradient's."""
    directions = random_directions(np.random.default_rng(0), args, argnums)
    recorded = Recorded(f, copied(args), {}, argnums)
    tangent = recorded.tangent(list(directions))
    slope = sum(inner(bar, u) for bar, u in zip(recorded.pullback(), directions, strict=True))
    np.testing.assert_allclose(sum(float(np.sum(t)) for t in leaves(tangent)), slope, rtol=1e-9, atol=1e-9)


def assert_second(f, args, argnums):
    """The record of a record: u^T H v by differences of the gradient, and by its gradient."""
    df = gradient_of(f, argnums)
    rng = np.random.default_rng(1)
    along, weights = random_directions(rng, args, argnums), random_directions(rng, args, argnums)
    recorded = Recorded(df, copied(args), {}, argnums)
    bars = recorded.pullback(tuple(weights))
    coarse, fine = (directional(df, args, argnums, along, weights, step) for step in (1e-5, 1e-6))
    found = sum(inner(bar, u) for bar, u in zip(bars, along, strict=True))
    scale = 1.0 + abs(fine)
    assert min(abs(found - coarse), abs(found - fine)) <= 1e-4 * scale, f"{found} is neither {coarse} nor {fine}"
