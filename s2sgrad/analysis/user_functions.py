"""Which callables are user functions with Python source.

>>> from s2sgrad.standard import ordered
>>> is_plain(ordered), is_plain(len), is_generator(ordered)
(True, False, False)
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from s2sgrad.analysis import effects
from s2sgrad.analysis.libraries import is_ours


def is_plain(target: Any) -> bool:
    """Whether a callable is a user's Python function, whose source is read."""
    return isinstance(target, types.FunctionType) and not effects.is_library(target) and not is_ours(target)


def is_generator(target: Any) -> bool:
    """Whether a callable is a user's generator function."""
    return is_plain(target) and bool(target.__code__.co_flags & inspect.CO_GENERATOR)
