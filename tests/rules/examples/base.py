"""How the examples are written down, and their arguments.

example(np.sum, normal(2, 3), axis=1)
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from s2sgrad.rules.table import existing


@dataclass(frozen=True)
class Example:
    """A call of `primitive`."""

    primitive: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        name = getattr(self.primitive, "__name__", "?")
        if isinstance(getattr(self.primitive, "__self__", None), np.ufunc):
            name = f"{self.primitive.__self__.__name__}.{name}"
        shapes = ", ".join(_describe(a) for a in self.args)
        written = f"{name}({shapes}{''.join(f', {k}={v}' for k, v in self.keywords.items())})"
        return re.sub(" at 0x[0-9a-f]+", "", written)  # the same in each process


def _describe(a: Any) -> str:
    if isinstance(a, np.ndarray):
        return f"{a.dtype.char}{list(a.shape)}"
    if isinstance(a, (list, tuple)):
        return "[" + ", ".join(map(_describe, a)) + "]"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{k!r}: {_describe(v)}" for k, v in a.items()) + "}"
    if callable(a):
        return getattr(a, "__qualname__", type(a).__name__)
    return type(a).__name__ if type(a).__repr__ is object.__repr__ else repr(a)


_random = np.random.default_rng(20)


def normal(*shape: int) -> np.ndarray:
    """Numbers of both signs, none near 0, no two alike."""
    x = _random.normal(size=shape)
    return x + 0.2 * np.sign(x)


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return _random.uniform(low, high, size=shape)


def regular(*shape: int) -> np.ndarray:
    """A regular matrix, or a stack of them."""
    return 0.3 * normal(*shape) + 2.0 * np.eye(shape[-1])


def positive_definite(*shape: int) -> np.ndarray:
    m = normal(*shape)
    return m @ np.swapaxes(m, -1, -2) + np.eye(shape[-1])


EXAMPLES: list[Example] = []


def younger(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """A function that not all versions of a library have; None where it has none of that name."""
    return next(iter(existing(module, name)), None)


def example(primitive: Callable[..., Any] | None, *args: Any, **keywords: Any) -> None:
    if primitive is not None:
        EXAMPLES.append(Example(primitive, args, keywords))


def example_if_taken(primitive: Callable[..., Any], *args: Any, **keywords: Any) -> None:
    """An example of a call that not all versions of a library take."""
    with contextlib.suppress(TypeError, ValueError, AttributeError):
        primitive(*args, **keywords)
        example(primitive, *args, **keywords)
