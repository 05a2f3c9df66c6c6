"""Every rule where it is recorded: the gradient and the gradient of that, against differences.

f(x0, x1)     ->     f of the floats in x0 and x1, as arguments of their own
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rules.test_laws import ROUNDS_DOWN, is_real, leaves, mapped
from rules.test_routes import NOT_TAPED
from rules.test_second import calling, shown

from recorded.judged import assert_gradient, assert_second
from s2sgrad.runtime.checks import Refusal

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences


def of_floats(f: Callable[..., Any], args: list[Any]) -> tuple[Callable[..., Any], tuple]:
    """The sum of the results of a function, as a function of the floats in its arguments; and these."""

    def total(*floats: Any) -> Any:
        ready = iter(floats)
        y = f(*[mapped(lambda v: next(ready) if is_real(v) else v, value) for value in copy.deepcopy(args)])
        return sum(np.sum(part) for part in leaves(y) if part is not None)

    return total, tuple(v for v in leaves(args) if is_real(v))


@pytest.mark.sampled(one_in=27)
@pytest.mark.parametrize("e", [c for c in shown() if c.values[0].primitive not in {*NOT_TAPED, *ROUNDS_DOWN}])
def test_recorded_twice(e):
    f, floats = of_floats(*calling(e))
    numbers = tuple(range(len(floats)))
    try:
        assert_gradient(f, floats, numbers, types=False)
        assert_second(f, floats, numbers)
    except Refusal:
        pass
