"""The function that a global object stands for in differentiation.

checkpoint(f), with a rule for f      ->      f
"""

from __future__ import annotations

import types
from typing import Any

from s2sgrad import source
from s2sgrad.rules import table
from s2sgrad.runtime.checkpoints import behind_checkpoint


def underlying(value: Any) -> Any:
    """The function that `differentiable` wraps, or the one under `checkpoint` if it has a rule, so that nothing is rerun.
    Or the one with source behind a matrix of derivatives, or that a function is `read_as`.  Any other object itself.
    """
    if type(value) is types.ModuleType:
        return value
    if getattr(type(value), "followed", None) is not None and value.followed is not None:
        return value.followed
    if type(value) is types.FunctionType and "read_as" in value.__dict__:
        return value.__dict__["read_as"]
    plain = behind_checkpoint(value)
    if plain is not None and (source.brings_gradient(plain) or table.given(plain) is not None):
        return plain
    return source.underlying(value)
