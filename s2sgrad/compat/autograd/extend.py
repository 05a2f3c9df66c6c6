"""Autograd's `primitive`, `defvjp` and `defjvp`: a pullback is made by a function of the result and the arguments.

>>> import numpy as np
>>> from s2sgrad.compat.autograd import grad
>>> @primitive
... def logsumexp(x):
...     top = np.max(x)
...     return top + np.log(np.sum(np.exp(x - top)))
>>> defvjp(logsumexp, lambda ans, x: lambda g: g * np.exp(x - ans))
>>> grad(logsumexp)(np.zeros(2))
array([0.5, 0.5])
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad import tape
from s2sgrad.source.making import made
from s2sgrad.tape import nondifferentiable as notrace_primitive
from s2sgrad.tape import primitive

__all__ = ["defjvp", "defvjp", "notrace_primitive", "primitive"]


def defvjp(fun: Callable[..., Any], *vjpmakers: Callable[..., Any] | None, argnums: Sequence[int] | None = None) -> None:
    """Give a pullback for each argument: `vjpmaker(ans, *args)` returns it; None for no derivative."""
    places = range(len(vjpmakers)) if argnums is None else argnums
    for place, maker in zip(places, vjpmakers, strict=True):
        tape.defvjp(fun, None if maker is None else _pulled(fun, maker), argnums=place)


def _pulled(fun: Callable[..., Any], maker: Callable[..., Any]) -> Callable[..., Any]:
    """The pullback in one argument, as a function of the cotangent, the result and the arguments by name."""
    parameters = list(inspect.signature(fun).parameters.values())
    words = {w: w + "_" * sum(p.name.rstrip("_") == w for p in parameters) for w in ("g", "ans", "maker")}
    first = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    later = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    head = ", ".join([words["g"], words["ans"], *first, *(["*", *later] if later else [])])
    passed = ", ".join([words["ans"], *first, *(f"{n}={n}" for n in later)])
    text = f"def pullback({head}):\n    return {words['maker']}({passed})({words['g']})\n"
    home = maker if isinstance(maker, types.FunctionType) else _pulled
    return made(text, "pullback", home, {words["maker"]: maker}, set())


def defjvp(fun: Callable[..., Any], *jvpfuns: Callable[..., Any] | str | None, argnums: Sequence[int] | None = None) -> None:
    """Give a tangent for each argument: `jvpfun(g, ans, *args)`; "same" if the function is linear in the argument."""
    places = range(len(jvpfuns)) if argnums is None else argnums
    for place, tangent in zip(places, jvpfuns, strict=True):
        rule = _mapped(fun, place) if isinstance(tangent, str) else tangent
        tape.defjvp(fun, rule, argnums=place)


def _mapped(fun: Callable[..., Any], place: int) -> Callable[..., Any]:
    def tangent(g: Any, ans: Any, *args: Any) -> Any:
        return fun(*args[:place], g, *args[place + 1 :])

    return tangent
