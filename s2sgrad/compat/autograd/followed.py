"""Autograd's functions of functions as they are read inside of a function that is differentiated: calls of ours, of one
argument alone.

    make_jvp(f, 1)(x, y)(v)      ->      jvp(lambda t: f(x, t), (y,), (v,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import api
from s2sgrad.api import matrices


def grad(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return api.grad(fun, argnum)


def value_and_grad(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return api.value_and_grad(fun, argnum)


def elementwise_grad(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return matrices.elementwise_grad(fun, argnum)


def grad_and_aux(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return api.grad(fun, argnum, has_aux=True)


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    return api.grad(fun, argname)


def jacobian(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return matrices.jacobian(fun, argnum)


def hessian(fun: Callable[..., Any], argnum: int = 0) -> Any:
    return matrices.hessian(fun, argnum)


def make_vjp(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def vjp_maker(*args: Any, **keywords: Any) -> Any:
        value, pullback = api.vjp(lambda t: fun(*args[:argnum], t, *args[argnum + 1 :], **keywords), args[argnum])
        return (lambda g: pullback(g)[0]), value

    return vjp_maker


def make_jvp(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def jvp_maker(*args: Any, **keywords: Any) -> Any:
        return lambda v: api.jvp(lambda t: fun(*args[:argnum], t, *args[argnum + 1 :], **keywords), (args[argnum],), (v,))

    return jvp_maker


def make_hvp(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def hvp_maker(*args: Any, **keywords: Any) -> Any:
        gradient = api.grad(lambda t: fun(*args[:argnum], t, *args[argnum + 1 :], **keywords))
        return (lambda v: api.jvp(gradient, (args[argnum],), (v,))[1]), gradient(args[argnum])

    return hvp_maker


def half_of_squares(x: Any) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Callable[..., Any], g: Callable[..., Any] = half_of_squares, f_argnum: int = 0) -> Any:
    def ggnvp_maker(*args: Any, **keywords: Any) -> Any:
        inner, pull = api.vjp(lambda t: f(*args[:f_argnum], t, *args[f_argnum + 1 :], **keywords), args[f_argnum])

        def ggnvp(v: Any) -> Any:
            along = api.jvp(lambda t: f(*args[:f_argnum], t, *args[f_argnum + 1 :], **keywords), (args[f_argnum],), (v,))[1]
            return pull(api.jvp(api.grad(g), (inner,), (along,))[1])[0]

        return ggnvp

    return ggnvp_maker


def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def hessian_vector_product(*args: Any, **keywords: Any) -> Any:
        gradient = api.grad(lambda t: fun(*args[:argnum], t, *args[argnum + 1 : -1], **keywords))
        return api.jvp(gradient, (args[argnum],), (args[-1],))[1]

    return hessian_vector_product


def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def vector_jacobian_product(*args: Any, **keywords: Any) -> Any:
        _, pullback = api.vjp(lambda t: fun(*args[:argnum], t, *args[argnum + 1 : -1], **keywords), args[argnum])
        return pullback(args[-1])[0]

    return vector_jacobian_product


def jacobian_vector_product(fun: Callable[..., Any], argnum: int = 0) -> Any:
    def product(*args: Any, **keywords: Any) -> Any:
        of_one = lambda t: fun(*args[:argnum], t, *args[argnum + 1 : -1], **keywords)  # noqa: E731
        return api.jvp(of_one, (args[argnum],), (args[-1],))[1]

    return product
