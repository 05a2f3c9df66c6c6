"""The rows of a Jacobian by loops: each is a run of the gradient for a cotangent of the value.

    jacrev(f, compile=True)(x)      ->      the rows df(x, seed=e), for each unit `e` of the value

The function runs again for each row, so it must be one that may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad.api.gradient import Gradient, differentiated
from s2sgrad.api.loops import runs_as_loops
from s2sgrad.driver.options import LOOPS, Options


class RowsByLoops:
    """The loops of the gradient of a function, by the arguments that it is asked for in."""

    def __init__(self, function: Callable[..., Any], has_aux: bool) -> None:
        self.function, self.has_aux = function, has_aux
        self._gradients: dict[tuple[int, ...], Gradient] = {}
        self.latest: Gradient | None = None

    def run(
        self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]
    ) -> tuple[Any, Callable[[Any], dict[int, Any]]] | None:
        """The value, and the cotangents of the arguments by that of the value; None where it has no loops, or they raise."""
        df = self._gradients.get(places)
        try:
            if df is None:
                options = Options(several=True, value=True, has_aux=self.has_aux, backend=LOOPS)
                df = self._gradients[places] = differentiated(self.function, places, options, None)
            value, _ = df(*args, **keywords)
        except Exception:  # the pullback is tried, and says what is wrong
            return None
        if df._latest is None or not runs_as_loops(df._latest):
            return None
        self.latest = df

        def bars(unit: Any) -> dict[int, Any]:
            _, found = df(*args, **keywords, **{df._request.word.name: unit})
            return dict(zip(places, found, strict=True))

        return value, bars
