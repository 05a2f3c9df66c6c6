"""What is asked for: the derivative of a function, with what is bound to it, in which of its arguments, and how.

grad(partial(f, 1.0), argnums="y")      ->      f, of which the first argument is bound, in `y`
"""

from __future__ import annotations

import functools
import types
from typing import Any

from s2sgrad.api.argnums import Argnums, parameter_named
from s2sgrad.api.arguments import require_floats
from s2sgrad.api.binding import kind_of_binding, receiver_of
from s2sgrad.driver import cache
from s2sgrad.driver.options import Options
from s2sgrad.errors.raised import behind_partial
from s2sgrad.ir import seeds
from s2sgrad.ir.signatures import require_fit, require_parameters
from s2sgrad.runtime.checks import holds_complex_inside


class Request:
    """A derivative of `function` with the arguments `lead` and `keywords` bound to it, `bound` of these by attribute access;
    `inner`: the gradient whose generated function is differentiated, if it is one."""

    def __init__(self, given: Any, argnums: Argnums, options: Options, bound: tuple, inner: Any) -> None:
        self.inner = inner
        self.function, lead, self.keywords = _taken_apart(given) if inner is None else _behind_gradient(given)
        if options.outputs is not None:
            require_parameters(self.function, options.outputs)
        self.lead, self.bound = lead + bound, bound
        self.binds = kind_of_binding(given)
        self.word = seeds.Word(self.function.__name__, cache.of(self.function.__code__).parameters)
        self.argnums, self.options = argnums, options

    @property
    def shown_name(self) -> str:
        """The name of what is differentiated."""
        return self.function.__name__ if self.inner is None else self.inner.__name__

    def wrt(self) -> tuple[str, ...]:
        """The names of the differentiated parameters; elements of `*args` as `args[k]`."""
        asked = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        return tuple(map(self.parameter, asked))

    def parameter(self, number: int | str) -> str:
        """The name of the parameter that is meant."""
        bound = len(self.lead)
        if not bound and not self.options.forward:
            bound = 1 if self.binds == "class" else receiver_of(self.function)
        return parameter_named(self.function, number, bound, self.keywords)

    def arguments(self, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
        """The arguments by parameter, defaults included."""
        arguments = cache.of(self.function.__code__).parameters.bound(self.function, args, keywords)
        if arguments is not None:
            return arguments
        require_fit(self.function, args, keywords)
        raise TypeError(f"{self.function.__name__}(): the arguments do not fit its parameters")

    def require_floats(self, wrt: tuple[str, ...], arguments: dict[str, Any]) -> None:
        """Raise TypeError if a differentiated argument has no floats."""
        for parameter in wrt:
            derivative = "tangent" if self.options.forward else "gradient"
            require_floats(parameter, arguments, self.function.__name__, derivative)
            if self.options.holomorphic and not holds_complex_inside(arguments.get(parameter.partition("[")[0])):
                raise TypeError(
                    f"holomorphic=True is for complex arguments, but `{parameter}` is real: pass a complex number"
                )

    def family(self, function: types.FunctionType, options: Options | None = None) -> cache.Family:
        """The cache for functions of this code and this kind of request, or one with other options."""
        asked = self.argnums, options or self.options, self.binds, len(self.lead), *self.keywords
        code = cache.of(function.__code__)
        family = code.families.get(asked)
        return code.family(asked, self.wrt()) if family is None else family


def _taken_apart(function: Any) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
    """The underlying function, and the arguments that are bound to it."""
    from s2sgrad.api import higher, library

    higher.require_constant(function, "grad")
    return library.plain(function)


def _behind_gradient(function: Any) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
    """The function of a gradient, perhaps a partial one, and the arguments that are bound to it."""
    lead: tuple = ()
    keywords: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        lead, keywords = function.args + lead, {**function.keywords, **keywords}
        function = function.func
    request = behind_partial(function)._request
    return request.function, request.lead + lead, {**request.keywords, **keywords}
