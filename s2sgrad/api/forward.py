"""Tangents of functions: `jvp`.

    jvp(lambda x: x * x, (3.0,), (1.0,))      ->      (9.0, 6.0)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.api import linearized
from s2sgrad.api.arguments import has_floats, require_separate
from s2sgrad.api.gradient import Gradient, GradientOfGradient
from s2sgrad.driver.options import DEFAULT, Options
from s2sgrad.errors.raised import entry
from s2sgrad.runtime.structure import float_type, rebuilt, seed_of_number


class _Along(Gradient):
    """A function with its tangent along those of some of its arguments, the `argnums`."""

    def along(self, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
        """The value and its tangent; `tangents` are those of the argnums, each of the structure of its primal."""
        args, keywords = self._lead + primals, {**self._keywords, **keywords}
        shapes = shapes_of((*args, *keywords.values()))
        quick = None if shapes is None else (tuple(keywords), shapes)
        compiled = self._by_shape.get(quick)
        if compiled is None or not compiled.holds():
            compiled = self._compiled(args, keywords, quick)
            if quick is not None and not compiled.unsure:
                self._by_shape[quick] = compiled
        self._latest = compiled
        if compiled.written:
            require_separate(self._arguments(args, keywords), compiled.written, self._function, compiled.outside())
        dots: dict[str, Any] = {}
        variadic: list[Any] = []
        for parameter, tangent in zip(self._wrt(), tangents, strict=True):
            name, _, place = parameter.partition("[")
            if place:
                given = args[len(args) - len(self._arguments(args, keywords)[name]) :]
                variadic = variadic or list(map(runtime.zeros, given))
                variadic[int(place[:-1])] = tangent
                tangent = tuple(variadic)
            dots[compiled.recipe.facts.dots[name]] = tangent
        return compiled.function(*args, **keywords, **self._seeds(compiled, None), **dots)

    def _seeds(self, compiled: Any, seed: Any) -> dict[str, Any]:
        return {}


class _AlongOfGradient(_Along, GradientOfGradient):
    """That of a gradient: its generated function is differentiated."""

    def _seeds(self, compiled: Any, seed: Any) -> dict[str, Any]:
        return self._inner._seeds(compiled.below, None)


class Jvp:
    """A function that gives the value of another one and its tangent: what `jvp(f)` returns.

    `.source` is the text for the latest primals, `.source_for(*primals)` that for these, all of them with tangents that have
    floats.
    """

    def __init__(
        self, function: Callable[..., Any], outputs: str | tuple[str, ...] | None = None, has_aux: bool = False
    ) -> None:
        self.primal = function
        self._options = Options(several=True, outputs=outputs, has_aux=has_aux, backend=DEFAULT, forward=True)
        self._made: dict[tuple[int, ...], _Along] = {}
        self._latest: _Along | None = None
        self.__name__ = self.__qualname__ = f"{getattr(function, '__name__', type(function).__name__)}_jvp"
        self.__doc__ = f"Value of `{self.__name__[:-4]}` and its tangent.  The generated function is in `.source`."

    def along(self, active: tuple[int, ...]) -> _Along:
        """The function along the tangents of the arguments at these positions."""
        if active not in self._made:
            innermost = self.primal
            while isinstance(innermost, functools.partial):
                innermost = innermost.func
            kind = _AlongOfGradient if isinstance(innermost, Gradient) else _Along
            self._made[active] = kind(self.primal, active, self._options, None)
        self._latest = self._made[active]
        return self._latest

    @entry
    def __call__(self, /, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any) -> Any:
        """`(value, tangent)` at the primals, along the tangents; None for one that is 0."""
        primals, tangents = _sequence(primals, "primals"), _sequence(tangents, "tangents")
        if len(primals) != len(tangents):
            counts = f"{len(primals)} primals, {len(tangents)} tangents"
            raise TypeError(f"{self.__name__} takes a tangent for each primal: {counts}")
        active = tuple(k for k, (x, t) in enumerate(zip(primals, tangents, strict=True)) if not _is_nothing(x, t))
        given = tuple(tangent_of(primals[k], tangents[k], f"tangents[{k}]") for k in active)
        return self.along(active).along(primals, given, keywords)

    @property
    @entry
    def source(self) -> str:
        """The text of the generated function for the latest primals; before any call, for the tangent of the first one."""
        return (self._latest or self.along((0,))).source

    @entry
    def source_for(self, /, *primals: Any, **keywords: Any) -> str:
        """The text of the generated function for primals of these kinds; nothing is called."""
        active = tuple(k for k, x in enumerate(primals) if has_floats(x))
        return self.along(active).source_for(*primals, **keywords)

    def __repr__(self) -> str:
        return f"<value and tangent of {getattr(self.primal, '__qualname__', self.primal)}>"


@entry
def jvp(
    function: Callable[..., Any], primals: Sequence[Any] | None = None, tangents: Sequence[Any] | None = None, *,
    outputs: str | Sequence[str] | None = None, has_aux: bool = False,
) -> Any:  # fmt: skip
    """The value of a function at the primals, and its tangent along the tangents: the derivative in their direction.

    Each tangent has the structure and shape of its primal; one that is None is 0, and so must be that of a primal without
    floats.  The tangent of the value has the structure and shape of the value.  Forward mode: the generated function, in
    `jvp(f).source`, computes each tangent beside its variable, and records nothing.

    With the function alone it returns a function of primals and tangents (and of keywords of the function's), compiled once.
    With `outputs`, names of arguments that the function writes, the value is what these hold at the end.  With `has_aux`, of
    a function that returns a pair, it returns `(value, tangent, aux)`.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number;
    TypeError for an integer primal with a tangent; ValueError for a tangent of another structure or shape.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"jvp needs a function, not {type(function).__name__}")
    if has_aux and outputs is not None:
        raise ValueError("has_aux=True is about what a function returns, outputs= about what it writes: give one of them")
    made = Jvp(function, outputs if outputs is None or isinstance(outputs, str) else tuple(outputs), bool(has_aux))
    if primals is None and tangents is None:
        return made
    if primals is None or tangents is None:
        raise TypeError("jvp takes primals and tangents, or neither: jvp(f, (x,), (x_dot,))")
    return made(primals, tangents)


def tangent_for(function: Any, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
    """The value and the tangent of a function that is looked up when it is called; tangents as the text computes them."""
    if function in (runtime.vjp, pullbacks.vjp, pullbacks.vjp_of_closure):
        return linearized.of_vjp(function, primals, tangents, keywords, tangent_for)
    if function is runtime.call:
        return linearized.of_pullback(primals[0], tangents[0], primals[1:], tangents[1:], tangent_for)
    if isinstance(function, runtime.Pullback):
        return linearized.of_pullback(function, None, primals, tangents, tangent_for)
    active = tuple(k for k, t in enumerate(tangents) if t is not None and has_floats(primals[k]))
    if not active:
        value = function(*primals, **keywords)
        return value, runtime.zeros(value)
    return Jvp(function).along(active).along(primals, tuple(tangents[k] for k in active), keywords)


def _sequence(given: Any, what: str) -> tuple:
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"{what} is a tuple, with one for each argument of the function, not {type(given).__name__}")
    return tuple(given)


def _is_nothing(primal: Any, tangent: Any) -> bool:
    """Whether a tangent is None, or a 0 for a primal without floats."""
    return tangent is None or (not has_floats(primal) and isinstance(tangent, (int, float)) and tangent == 0)


def tangent_of(primal: Any, tangent: Any, what: str) -> Any:
    """A tangent as one of the primal, whose structure and shapes it must have: ValueError; TypeError where it is no number.

    >>> tangent_of({"w": np.ones(2), "n": 3}, {"w": [1, 0], "n": None}, "tangents[0]")
    {'w': array([1., 0.]), 'n': 0.0}
    >>> tangent_of(np.ones(2), np.ones(3), "tangents[0]")
    Traceback (most recent call last):
    ValueError: tangents[0] must have the shape of its primal, (2,), not (3,)
    """
    if tangent is None:
        return runtime.zeros(primal)
    if isinstance(primal, (list, tuple, dict)):
        same = isinstance(tangent, dict) == isinstance(primal, dict) and isinstance(tangent, (list, tuple, dict))
        if not same or len(tangent) != len(primal) or (isinstance(primal, dict) and tangent.keys() != primal.keys()):
            raise ValueError(f"{what} must have the structure of its primal, a {type(primal).__name__} of {len(primal)}")
        return rebuilt(primal, lambda x, t: tangent_of(x, t, what), tangent)
    if not isinstance(primal, (float, int, np.ndarray, np.generic)):
        return tangent
    if np.shape(tangent) != np.shape(primal):
        raise ValueError(f"{what} must have the shape of its primal, {np.shape(primal)}, not {np.shape(tangent)}")
    if not isinstance(primal, np.ndarray):
        return seed_of_number(tangent)
    given = tangent if hasattr(tangent, "dtype") else np.asarray(tangent)
    if given.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be made of floats, not {given.dtype}")
    return np.asarray(given, dtype=float_type(primal.dtype))
