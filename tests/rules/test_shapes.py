"""A base pullback that is not elementwise gives cotangents of exactly its arguments' shapes: the compiler relies on it."""

from typing import Any

import numpy as np
import pytest

from s2sgrad.rules.table import lookup

from .examples import EXAMPLES
from .test_laws import called, differentiable, random_like, run


def fits(bar: Any, value: Any) -> bool:
    """Whether a cotangent has the shapes of its argument, and the entries of a dict."""
    if isinstance(value, dict):
        return bar.keys() == value.keys() and all(fits(bar[k], value[k]) for k in value)
    return not isinstance(value, (np.ndarray, float)) or np.shape(bar) == np.shape(value)


OTHERS = [e for e in EXAMPLES if lookup(e.primitive).tag != "elementwise" and not lookup(e.primitive).variadic]


@pytest.mark.parametrize("e", OTHERS, ids=str)
def test_base_pullbacks_give_full_shapes(e):
    rule = lookup(e.primitive)
    y = run(e)
    bars = called(rule, rule.pullback, e, random_like(y, np.random.default_rng(1)), y)
    for place, name, value in differentiable(rule, e):
        bar = bars[place] if name is None else None
        if bar is not None:
            assert fits(bar, value)
