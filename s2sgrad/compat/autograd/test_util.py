"""Autograd's `check_grads`: `check_grads(f, order=2)(x)`.

>>> check_grads(lambda x: x ** 2, modes=["fwd", "rev"], order=2)(3.0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad import testing


def check_grads(
    f: Callable[..., Any], args: Sequence[Any] | None = None, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> Any:
    """Compare derivatives in all arguments with differences; raise AssertionError where they differ."""
    return testing.check_grads(f, args, order, modes)
