"""Arrays whose restore was deleted, and arrays that NumPy leaves empty, hold nan: nothing that reads them goes unseen.

The cheapest test of the liveness.  It runs the functions of the corpus and the kernels.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from corpus import CASES
from differences import leaves
from kernels import KERNELS

from s2sgrad import grad
from s2sgrad.cleanup import deadcode
from s2sgrad.driver import cache

EMPTY, EMPTY_LIKE = np.empty, np.empty_like


def filled(array):
    """The array with nan wherever it can hold one."""
    if array.dtype.kind == "f":
        array[...] = np.nan
    return array


@pytest.fixture
def poisoned(monkeypatch):
    """Compile with poison; afterwards, run with NumPy's empty arrays full of nan."""

    def start(function, argnums, args, **options):
        monkeypatch.setattr(cache, "_codes", {})  # else what was compiled without poison is taken
        monkeypatch.setattr(deadcode, "POISON", True)
        gradient = grad(function, argnums, **options)
        gradient.source_for(*args)
        monkeypatch.setattr(deadcode, "POISON", False)
        monkeypatch.setattr(np, "empty", lambda *a, **k: filled(EMPTY(*a, **k)))
        monkeypatch.setattr(np, "empty_like", lambda *a, **k: filled(EMPTY_LIKE(*a, **k)))
        return gradient

    return start


def agree(left, right):
    for a, b in zip(leaves(left), leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.sampled(one_in=200)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_no_gradient_reads_poison(entry, poisoned):
    with contextlib.redirect_stdout(io.StringIO()):
        expected = grad(entry.function, entry.argnums)(*entry.fresh_args())
        gradient = poisoned(entry.function, entry.argnums, entry.fresh_args())
        agree(gradient(*entry.fresh_args()), expected)


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_no_gradient_of_a_kernel_reads_poison(entry, poisoned):
    args = entry.args()
    expected = grad(entry.function, **entry.options)(*entry.args())
    gradient = poisoned(entry.function, entry.options["argnums"], args, outputs=entry.options.get("outputs"))
    agree(gradient(*args), expected)


def test_poison_is_put_in(poisoned):
    def loses_what_it_had(x):
        y = x * x
        y[0] = 3.0
        return np.sum(y[1:])

    assert "poison(y)" not in grad(loses_what_it_had).source_for(np.ones(3))
    assert "poison(y)" in poisoned(loses_what_it_had, 0, (np.ones(3),)).source_for(np.ones(3))
