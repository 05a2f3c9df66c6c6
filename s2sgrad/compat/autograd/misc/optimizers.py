"""Autograd's optimizers: `sgd`, `rmsprop`, `adam`, of a gradient `grad(x, i)` of nested parameters.

>>> round(float(adam(lambda x, i: 2.0 * (x - 3.0), 0.0, num_iters=300, step_size=0.1)), 3)
3.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.compat.autograd.misc.flatten import flatten

Gradient = Callable[[Any, int], Any]
Callback = Callable[[Any, int, Any], Any] | None


def unflatten_optimizer(optimize: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """An optimizer of nested parameters from one of vectors."""

    @functools.wraps(optimize)
    def unflattened(grad: Gradient, x0: Any, callback: Callback = None, *args: Any, **keywords: Any) -> Any:
        vector, unflatten = flatten(x0)
        seen = callback and (lambda x, i, g: callback(unflatten(x), i, unflatten(g)))
        return unflatten(optimize(lambda x, i: flatten(grad(unflatten(x), i))[0], vector, seen, *args, **keywords))

    return unflattened


def _steps(grad: Gradient, init_params: Any, callback: Callback, num_iters: int, step: Callable[..., np.ndarray]) -> Any:
    """Subtract `step(i, g)` from the parameters, `num_iters` times."""
    x, unflatten = flatten(init_params)
    for i in range(num_iters):
        g = flatten(grad(unflatten(x), i))[0]
        if callback is not None:
            callback(unflatten(x), i, unflatten(g))
        x = x - step(i, g)
    return unflatten(x)


def sgd(
    grad: Gradient, init_params: Any, callback: Callback = None, num_iters: int = 200, step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:  # fmt: skip
    """Gradient descent with momentum."""
    velocity: Any = 0.0

    def step(i: int, g: np.ndarray) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return -step_size * velocity

    return _steps(grad, init_params, callback, num_iters, step)


def rmsprop(
    grad: Gradient, init_params: Any, callback: Callback = None, num_iters: int = 100, step_size: float = 0.1,
    gamma: float = 0.9, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """RMSprop: steps by the running mean of squares (Tieleman and Hinton, 2012)."""
    mean: Any = 1.0

    def step(i: int, g: np.ndarray) -> Any:
        nonlocal mean
        mean = gamma * mean + (1.0 - gamma) * g**2
        return step_size * g / (np.sqrt(mean) + eps)

    return _steps(grad, init_params, callback, num_iters, step)


def adam(
    grad: Gradient, init_params: Any, callback: Callback = None, num_iters: int = 100, step_size: float = 0.001,
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Adam (Kingma and Ba, 2014, algorithm 1)."""
    first: Any = 0.0
    second: Any = 0.0

    def step(i: int, g: np.ndarray) -> Any:
        nonlocal first, second
        first = (1.0 - b1) * g + b1 * first
        second = (1.0 - b2) * g**2 + b2 * second
        return step_size * (first / (1.0 - b1 ** (i + 1))) / (np.sqrt(second / (1.0 - b2 ** (i + 1))) + eps)

    return _steps(grad, init_params, callback, num_iters, step)
