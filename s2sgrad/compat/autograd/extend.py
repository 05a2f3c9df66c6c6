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

from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad import tape
from s2sgrad.tape import primitive

__all__ = ["defjvp", "defvjp", "primitive"]


def defvjp(fun: Callable[..., Any], *vjpmakers: Callable[..., Any] | None, argnums: Sequence[int] | None = None) -> None:
    """Give a pullback for each argument: `vjpmaker(ans, *args)` returns it; None where there is none."""
    places = range(len(vjpmakers)) if argnums is None else argnums
    for place, maker in zip(places, vjpmakers, strict=True):
        tape.defvjp(fun, None if maker is None else _pulled(maker), argnums=place)


def _pulled(maker: Callable[..., Any]) -> Callable[..., Any]:
    def pullback(g: Any, ans: Any, *args: Any) -> Any:
        return maker(ans, *args)(g)

    return pullback


def defjvp(fun: Callable[..., Any], *jvpfuns: Callable[..., Any] | str | None, argnums: Sequence[int] | None = None) -> None:
    """Give a tangent for each argument: `jvpfun(g, ans, *args)`; "same" where the function is linear in it."""
    places = range(len(jvpfuns)) if argnums is None else argnums
    for place, tangent in zip(places, jvpfuns, strict=True):
        given = _mapped(fun, place) if tangent == "same" else tangent
        tape.defjvp(fun, given, argnums=place)


def _mapped(fun: Callable[..., Any], place: int) -> Callable[..., Any]:
    def tangent(g: Any, ans: Any, *args: Any) -> Any:
        return fun(*args[:place], g, *args[place + 1 :])

    return tangent
