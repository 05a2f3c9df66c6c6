"""The loops of a gradient, run as plain Python, beside its text."""

import inspect
import warnings

import numpy as np
from differences import leaves

from s2sgrad.compiled.lowered import flat_arguments, lower, plain_function, rebuilt
from s2sgrad.driver.program import Program
from s2sgrad.source import look_up

CLOSE = {"rtol": 1e-11, "atol": 1e-13}  # sums are in another order


def both(df, args, **keywords):
    """What the loops of a derivative return, and what its text returns; Unfit where it has no loops.

    Loops may raise where the text does not: then the text runs, and this is None for them.
    """
    text = df.generated_for(args, keywords)
    bound = inspect.signature(text).bind(*args, **keywords)
    bound.apply_defaults()
    lowered = lower(Program(), text, dict(bound.arguments))
    given = [*flat_arguments(bound.arguments.values()), *(look_up(*place).value for place in lowered.outside)]
    before = [g.copy() if isinstance(g, np.ndarray) else g for g in given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ours = rebuilt(iter(plain_function(lowered)(*given)), lowered.result)
        except (ArithmeticError, ValueError, IndexError, UnboundLocalError):
            ours = None
    for old, new in zip(before, given, strict=True):
        np.testing.assert_array_equal(old, new)
    return ours, text(*args, **keywords)


def assert_same(ours, theirs):
    """The two results have the same structure, types and numbers."""
    ours, theirs = [*leaves(ours)], [*leaves(theirs)]
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if b is None:
            assert a is None
            continue
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=CLOSE["rtol"], atol=1e-12 * (1.0 + np.max(np.abs(b), initial=0.0)))
