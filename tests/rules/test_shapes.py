"""A base pullback that is not elementwise gives cotangents of exactly its arguments' shapes: the compiler relies on it."""

import numpy as np
import pytest

from s2sgrad.rules.table import lookup

from .examples import EXAMPLES
from .test_laws import called, differentiable, random_like, run

OTHERS = [e for e in EXAMPLES if lookup(e.primitive).tag != "elementwise" and not lookup(e.primitive).variadic]


@pytest.mark.parametrize("e", OTHERS, ids=str)
def test_base_pullbacks_give_full_shapes(e):
    rule = lookup(e.primitive)
    y = run(e)
    bars = called(rule, rule.pullback, e, random_like(y, np.random.default_rng(1)), y)
    for place, name, value in differentiable(rule, e):
        bar = bars[place] if name is None else None
        if bar is not None and isinstance(value, (np.ndarray, float)):
            assert np.shape(bar) == np.shape(value)
