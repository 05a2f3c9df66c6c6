"""What an object that a name stands for is to be differentiated as.

    checkpoint(f), with a rule for f      ->      f
"""

from __future__ import annotations

import types
from typing import Any

from s2sgrad import source
from s2sgrad.rules import table
from s2sgrad.runtime.checkpoints import behind_checkpoint


def underlying(value: Any) -> Any:
    """The function that `differentiable` made an operation of, or that `checkpoint` made one of which nothing is run again,
    because it has a rule and is never read; that with source which gives a matrix of derivatives; anything else as it is."""
    if type(value) is types.ModuleType:
        return value
    if getattr(type(value), "followed", None) is not None and value.followed is not None:
        return value.followed
    plain = behind_checkpoint(value)
    if plain is not None and (source.brings_gradient(plain) or table.given(plain) is not None):
        return plain
    return source.underlying(value)
