"""`gradients` of a function: partial and total derivatives in parameters and local variables, by name.

def f(a):                   gradients(f, xs=("a", "b"))(0.0)                              ->   [3.0, 1.0]
    b = 2.0 * a             gradients(f, xs=("a", "b"), stop_gradients=("a", "b"))(0.0)   ->   [1.0, 1.0]
    return a + b
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad.api import showing
from s2sgrad.api.gradient import Gradient
from s2sgrad.api.request import Request
from s2sgrad.driver import cache
from s2sgrad.driver.options import Options
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.structure import ONES, rebuilt

Variables = int | str | list | tuple | None


class RequestOfVariables(Request):
    """Partial and total derivatives in parameters and local variables."""

    def parameter(self, number: int | str) -> str:
        """The name of the parameter that is meant, or of the local variable."""
        names = cache.of(self.function.__code__).parameters.names
        if not isinstance(number, str) or number in names:
            try:
                return super().parameter(number)
            except TypeError as error:  # the message speaks of `argnums`
                raise ValueError(str(error).replace("argnums=", "position ")) from None
        _require_local(self.function, number)
        return number

    def wrt(self) -> tuple[str, ...]:
        """The names of the variables."""
        for stop in self.options.stops:
            self.parameter(stop)
        return super().wrt()

    def require_floats(self, wrt: tuple[str, ...], arguments: dict[str, Any]) -> None:
        """Nothing is required: integers are constants here."""


class Partials(Gradient):
    """The result of `gradients`: a function of the same arguments that returns a list of gradients."""

    _requested = RequestOfVariables

    def __init__(self, function: Callable[..., Any], xs: tuple, options: Options, seed: Any, bound: tuple = ()) -> None:
        super().__init__(function, xs, options, seed, bound)
        self.__name__ = self.__qualname__ = f"{self._request.shown_name}_gradients"
        self.__doc__ = showing.described(f"Gradients of `{self._request.shown_name}`", self._request.function)

    def __reduce__(self) -> tuple:
        options = self._request.options
        return _made, (self.primal, self._request.argnums, self._seed, options.stops, options.unconnected)


def partials(function: Callable[..., Any], xs: Variables, grad_ys: Any, stops: Variables, unconnected: str) -> Partials:
    """The gradients of a function in parameters (positions or names) and in locals that are assigned once (names)."""
    xs = _all(function) if xs is None else _several(xs, "xs")
    return _made(function, xs, _weights(grad_ys), _several(() if stops is None else stops, "stop_gradients"), unconnected)


def _made(function: Callable[..., Any], xs: tuple, seed: Any, stops: tuple, unconnected: str) -> Partials:
    return Partials(function, xs, Options(several=True, unconnected=unconnected, listed=True, stops=stops), seed)


def _weights(weights: Any) -> Any:
    """Weights, with ones instead of None."""
    if isinstance(weights, (list, tuple, dict)):
        return rebuilt(weights, lambda item: ONES if item is None else _weights(item))
    return weights


def _all(function: Any) -> tuple[str, ...]:
    """All parameters that are not bound."""
    from s2sgrad.api.library import plain

    own, lead, bound = plain(function)
    parameters = cache.of(own.__code__).parameters
    if parameters.variadic or parameters.keyworded:
        raise ValueError(f"which arguments {own.__name__} takes is not known: name those that are meant in `xs`")
    names = tuple(n for n in (*parameters.positional[len(lead) :], *parameters.named) if n not in bound)
    if not names:
        raise ValueError(f"{own.__name__} takes no arguments: name local variables in `xs`")
    return names


def _several(variables: Variables, what: str) -> tuple:
    several = tuple(variables) if isinstance(variables, (list, tuple)) else (variables,)
    for variable in several:
        if not isinstance(variable, (int, str)) or isinstance(variable, bool):
            raise ValueError(f"{what} of a function holds positions and names, not {type(variable).__name__}")
    if what == "xs" and not several:
        raise ValueError("xs is empty: name a parameter or a local variable")
    return several


def _require_local(function: Any, local: str) -> None:
    """Raise ValueError unless a local is assigned exactly once, outside every loop."""
    from s2sgrad.normalize.stop_gradient import assigned_once
    from s2sgrad.source import read

    shown = function.__name__
    try:
        tree = read(function).tree
    except S2SGradError:
        raise ValueError(f"{shown} has no parameter {local!r}, and no source with a local variable of that name") from None
    if not assigned_once(tree, local):
        raise ValueError(
            f"{local!r} is no parameter of {shown}, nor a local variable that is assigned exactly once, by a plain "
            "statement outside of every loop"
        )
