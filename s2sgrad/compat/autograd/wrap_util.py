"""Autograd's `wrap_util`: an operator on functions of one argument as one on functions of several.

>>> from s2sgrad.compat.autograd.core import make_vjp
>>> @unary_to_nary
... def slope(fun, x):
...     return make_vjp(fun, x)[0](1.0)
>>> slope(lambda x, y: x * y ** 2, 1)(2.0, 3.0)
12.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["unary_to_nary"]


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """The operator of a function and the argument that is meant, by its number, or of several together, as a tuple."""

    @functools.wraps(unary_operator)
    def nary_operator(fun: Callable[..., Any], argnum: Any = 0, *options: Any, **named: Any) -> Any:
        def of_one(*args: Any, **keywords: Any) -> Any:
            called = functools.partial(fun, **keywords)
            before, after = args[:argnum], args[argnum + 1 :]
            return unary_operator(lambda x: called(*before, x, *after), args[argnum], *options, **named)

        def of_several(*args: Any, **keywords: Any) -> Any:
            called = functools.partial(fun, **keywords)

            def unary_f(x: Any) -> Any:
                return called(*[x[argnum.index(k)] if k in argnum else arg for k, arg in enumerate(args)])

            return unary_operator(unary_f, tuple([args[k] for k in argnum]), *options, **named)

        return of_one if isinstance(argnum, int) else of_several

    return nary_operator
