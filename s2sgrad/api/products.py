"""Products with matrices of derivatives, without forming these: `hvp` and `linearize`.

hvp(f, (x,), (v,))      ->      H @ v               y, along = linearize(f, x); along(v)      ->      J @ v
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad import runtime
from s2sgrad.api.binding import Binds
from s2sgrad.api.fitting import fitting
from s2sgrad.api.forward import Jvp
from s2sgrad.api.gradient import differentiated
from s2sgrad.driver.options import Options
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.errors.raised import entry, head
from s2sgrad.pullbacks import function_given, pulled_back, takes
from s2sgrad.runtime.asking import its


class Hvp(Binds):
    """The product of a Hessian with a vector: the result of `hvp(f)`."""

    def __init__(self, function: Callable[..., Any], has_aux: bool = False, debug: bool = False) -> None:
        self.primal = self.given = function
        self.has_aux, self.debug = bool(has_aux), bool(debug)
        self._made: dict[tuple[int, ...], Jvp] = {}
        self._latest: Jvp | None = None
        self.__name__ = self.__qualname__ = f"{its(function, '__name__', type(function).__name__)}_hvp"

    @entry
    def __call__(self, /, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any) -> Any:
        """The tangent of the gradient, in the arguments with tangents, along these."""
        primals, tangents = fitting(primals, tangents, self.primal)
        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        if active not in self._made:
            options = Options(several=len(active) > 1, has_aux=self.has_aux).to_be_differentiated
            gradient = differentiated(self.primal, active if len(active) > 1 else active[0], options, None)
            self._made[active] = Jvp(gradient, has_aux=self.has_aux, value=False, debug=self.debug)
        self._latest = self._made[active]
        return self._latest.along(active).along(primals, tuple(tangents[k] for k in active), keywords)

    def of(self, function: Callable[..., Any]) -> Hvp:
        """The same of another function."""
        return Hvp(function, self.has_aux, self.debug)

    @property
    def source(self) -> str:
        """The text of the generated function for the latest primals."""
        return "" if self._latest is None else self._latest.source

    def __repr__(self) -> str:
        return f"<product with the Hessian of {its(self.primal, '__qualname__', self.primal)}>"


def hvp(function: Any, primals: Sequence[Any] | None, tangents: Sequence[Any] | None, has_aux: bool, debug: bool) -> Any:
    """The public `hvp`."""
    derivative = Hvp(function_given(function, "hvp"), has_aux, debug)
    if primals is None and tangents is None:
        return derivative
    if primals is None or tangents is None:
        raise TypeError("hvp takes primals and tangents, or neither: hvp(f, (x,), (v,))")
    return derivative(primals, tangents)


def linearize(function: Any, primals: tuple, keywords: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
    """The public `linearize`."""
    if "debug" in keywords and not takes(function_given(function, "linearize"), "debug"):
        raise TypeError("linearize does not look at what it computes: `jvp(f, primals, tangents, debug=True)` does")
    value, pullback = pulled_back(function_given(function, "linearize"), primals, keywords, again=True)
    shapes = tuple(runtime.own(x) for x in primals)
    name = its(function, "__name__", "f")
    try:
        _, transpose = runtime.vjp(pullback, runtime.zeros(value))
    except S2SGradError as error:
        raise Unsupported(f"the pullback of `{name}` cannot be differentiated, which `linearize` does ({error.message}): "
                          f"call `jvp` of `{name}` for each of the tangents", head(function)) from None  # fmt: skip

    def along(*tangents: Any) -> Any:
        primals_, dots = fitting(shapes, tangents, function)
        dots = tuple(runtime.zeros(x) if t is None else t for x, t in zip(primals_, dots, strict=True))
        return runtime.like(value, transpose(dots)[0])

    along.__name__ = along.__qualname__ = f"{name}_along"
    return value, entry(along)
