"""Rules of how the cotangents of a pullback are put in order, where a pullback itself is differentiated.

given = picked(bars, places)      ->      bars_bar = unpicked(given_bar, bars, places)
"""

from __future__ import annotations

from typing import Any

from s2sgrad import runtime
from s2sgrad.rules.table import linear


def picked(bars: tuple, places: tuple) -> Any:
    """Cotangents of what a pullback gave as those of what its `bwd` gave, for the arguments at `places` alone.

    >>> picked((5.0, 6.0, 7.0, 8.0), (0, (1, 3))), picked((5.0, 6.0), (1,))
    ((5.0, (6.0, 8.0)), 6.0)
    """
    given = tuple(tuple(bars[j] for j in k) if isinstance(k, tuple) else bars[k] for k in places)
    return given[0] if len(given) == 1 else given


def unpicked(given: Any, bars: tuple, places: tuple) -> tuple:
    """The transpose of `picked` in `bars`.

    >>> unpicked((5.0, (6.0, 8.0)), (1.0, 1.0, 1.0, 1.0), (0, (1, 3)))
    (5.0, 6.0, 0.0, 8.0)
    """
    out = [runtime.zeros(bar) for bar in bars]
    for place, part in zip(places, (given,) if len(places) == 1 else given, strict=True):
        for k, bar in zip(place, part, strict=True) if isinstance(place, tuple) else ((place, part),):
            out[k] = bar
    return tuple(out)


@linear(picked)
def _(w, y, bars, places):
    return unpicked(w, bars, places), None


@linear(unpicked)
def _(w, y, given, bars, places):
    return picked(w, places), None, None
