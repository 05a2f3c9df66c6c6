"""Every example of every rule along several tangents at once: the same as one after the other."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from s2sgrad.api.fitting import tangent_of
from s2sgrad.api.forward import Jvp
from s2sgrad.forward.lane_forms import NoLanes
from s2sgrad.runtime.lanes import stacked

from .test_laws import leaves, random_like
from .test_second import calling
from .test_tangents import CASES

LANES = 3


@pytest.mark.sampled(one_in=144, turn=1)
@pytest.mark.parametrize("e", CASES)
def test_tangents_at_once(e):
    f, args = calling(e, True)
    rng, places = np.random.default_rng(5), tuple(range(len(args)))
    dots = [tuple(tangent_of(a, random_like(a, rng)) for a in args) for _ in range(LANES)]
    at_once = Jvp(f, lanes=True).along(places)
    try:
        _, tangent = at_once.along(tuple(copy.deepcopy(args)), tuple(stacked([list(d) for d in dots])), {})
    except NoLanes:
        pytest.skip("one after the other")
    outs = [Jvp(f).along(places).along(tuple(copy.deepcopy(args)), d, {})[1] for d in dots]
    for a, b in zip(leaves(tangent), leaves(stacked(outs)), strict=True):
        assert np.shape(a) == np.shape(b)
        assert (a is None and b is None) or np.allclose(a, b, rtol=1e-10, atol=1e-10, equal_nan=True)
