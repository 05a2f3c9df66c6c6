"""Autograd's functions, with the order of its arguments; `import autograd.numpy as np` becomes `import numpy as np`.

>>> grad(lambda x: x ** 3)(2.0)
12.0
>>> make_vjp(lambda x: x * x)(3.0)[0](1.0), make_jvp(lambda x: x * x)(3.0)(1.0)
(6.0, (9.0, 6.0))
>>> multigrad_dict(lambda x, y: x * y)(2.0, y=3.0)
{'x': 3.0, 'y': 2.0}

`grad` of a function that returns an array is the gradient of its sum, where autograd raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import api, pullbacks
from s2sgrad.api import matrices
from s2sgrad.api.binding import transforms
from s2sgrad.compat.autograd import followed
from s2sgrad.compat.autograd.builtins import dict, isinstance, list, tuple
from s2sgrad.ir.signatures import signature
from s2sgrad.runtime.checkpoints import checkpoint

Argnum = int | tuple[int, ...] | list[int]


def grad(fun: Callable[..., Any], argnum: Argnum = 0) -> Any:
    """The gradient in one argument, or in several."""
    return api.grad(fun, argnum)


def value_and_grad(fun: Callable[..., Any], argnum: Argnum = 0) -> Any:
    """The value and the gradient."""
    return api.value_and_grad(fun, argnum)


def elementwise_grad(fun: Callable[..., Any], argnum: Argnum = 0) -> Any:
    """The derivative of an elementwise function, at each element."""
    return matrices.elementwise_grad(fun, argnum)


deriv = elementwise_grad


def grad_and_aux(fun: Callable[..., Any], argnum: Argnum = 0) -> Any:
    """The gradient of the first result of a function that returns a pair, and the second result."""
    return api.grad(fun, argnum, has_aux=True)


def holomorphic_grad(fun: Callable[..., Any], argnum: Argnum = 0) -> Any:
    """The derivative of a holomorphic function."""
    return api.grad(fun, argnum, holomorphic=True)


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    """The gradient in the argument with this name."""
    return api.grad(fun, argname)


@transforms
def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """The gradients in all arguments of a call, by name."""
    takes = signature(fun)

    def gradients(*args: Any, **keywords: Any) -> dict[str, Any]:
        given = takes.bind(*args, **keywords).arguments
        names = tuple(given)
        return dict(zip(names, api.grad(fun, names)(**given), strict=True))

    return gradients


def jacobian(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """The Jacobian, of shape `value.shape + argument.shape`."""
    return matrices.jacobian(fun, argnum)


def hessian(fun: Callable[..., Any], argnum: int = 0) -> Any:
    """The Hessian, of shape `argument.shape + argument.shape`."""
    return matrices.hessian(fun, argnum)


@transforms
def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments and, last, a tensor: the product of the Hessian with the tensor."""
    product = pullbacks.hvp(fun)

    def hessian_vector_product(*args: Any, **keywords: Any) -> Any:
        *primals, vector = args
        return product(primals, [vector if k == argnum else None for k in range(len(primals))], **keywords)

    return hessian_vector_product


hessian_vector_product = hessian_tensor_product


@transforms
def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments and, last, a tensor: the product of the tensor with the Jacobian."""
    gradient = api.grad(fun, argnum)

    def vector_jacobian_product(*args: Any, **keywords: Any) -> Any:
        *primals, vector = args
        return gradient(*primals, seed=vector, **keywords)

    return vector_jacobian_product


vector_jacobian_product = tensor_jacobian_product


@transforms
def make_vjp(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., tuple[Callable[[Any], Any], Any]]:
    """A function of the arguments that returns the pullback and the value."""

    def vjp_maker(*args: Any, **keywords: Any) -> tuple[Callable[[Any], Any], Any]:
        value, pullback = api.vjp(fun, *args, **keywords)
        return lambda g: pullback(g)[argnum], value

    return vjp_maker


@transforms
def make_jvp(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Callable[[Any], tuple[Any, Any]]]:
    """A function of the arguments that returns a function of a tangent: the value, and its tangent."""
    along = api.jvp(fun)

    def jvp_maker(*args: Any, **keywords: Any) -> Callable[[Any], tuple[Any, Any]]:
        return lambda v: along(args, [v if k == argnum else None for k in range(len(args))], **keywords)

    return jvp_maker


@transforms
def make_hvp(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., tuple[Callable[[Any], Any], Any]]:
    """A function of the arguments that returns the product with the Hessian, as a function, and the gradient."""
    gradient = api.grad(fun, argnum)
    product = pullbacks.hvp(fun)

    def hvp_maker(*args: Any, **keywords: Any) -> tuple[Callable[[Any], Any], Any]:
        def hvp(v: Any) -> Any:
            return product(args, [v if k == argnum else None for k in range(len(args))], **keywords)

        return hvp, gradient(*args, **keywords)

    return hvp_maker


def _half_of_squares(x: Any) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


@transforms
def make_ggnvp(
    f: Callable[..., Any], g: Callable[[Any], Any] = _half_of_squares, f_argnum: int = 0
) -> Callable[..., Callable[[Any], Any]]:
    """A function of the arguments that returns the product with the generalized Gauss-Newton matrix of `g(f(..))`, as a
    function: `J^T H J v`, with the Jacobian of `f` and the Hessian of `g`."""

    def ggnvp_maker(*args: Any, **keywords: Any) -> Callable[[Any], Any]:
        pull, inner = make_vjp(f, f_argnum)(*args, **keywords)
        curve = make_hvp(g)(inner)[0]
        push = make_jvp(f, f_argnum)(*args, **keywords)
        return lambda v: pull(curve(push(v)[1]))

    return ggnvp_maker


@transforms
def jacobian_vector_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """A function of the arguments and, last, a vector: the product of the Jacobian with the vector."""
    make = make_jvp(fun, argnum)

    def product(*args: Any, **keywords: Any) -> Any:
        return make(*args[:-1], **keywords)(args[-1])[1]

    return product


_made: Any
for _made in (grad, value_and_grad, elementwise_grad, grad_and_aux, grad_named, jacobian, hessian, make_vjp, make_jvp,
              make_hvp, make_ggnvp, hessian_tensor_product, tensor_jacobian_product, jacobian_vector_product):  # fmt: skip
    _made.read_as = getattr(followed, _made.__name__)

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "jacobian_vector_product",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "tuple",
    "value_and_grad",
    "vector_jacobian_product",
]
