"""Autograd's `core`: pullbacks and tangents of a function of one argument, of which operators are made (`wrap_util`).

>>> pullback, value = make_vjp(lambda x: x ** 3, 2.0)
>>> value, pullback(1.0)
(8.0, 12.0)
>>> make_jvp(lambda x: x ** 3, 2.0)(1.0)
(8.0, 12.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad import api

__all__ = ["make_jvp", "make_vjp"]


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The pullback and the value."""
    value, pullback = api.vjp(fun, x)
    return lambda g: pullback(g)[0], value


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """A function of a tangent: the value, and its tangent."""
    return lambda v: api.jvp(fun, (x,), (v,))
