"""Which callables are user functions with Python source.

>>> from s2sgrad.standard import ordered
>>> is_plain(ordered), is_plain(len), is_generator(ordered)
(True, False, False)
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.rules import table


def is_plain(target: Any) -> bool:
    """Whether a callable is a user's Python function, whose source is read."""
    return isinstance(target, types.FunctionType) and not is_library(target) and not is_ours(target)


def is_generator(target: Any) -> bool:
    """Whether a callable is a user's generator function."""
    return is_plain(target) and bool(target.__code__.co_flags & inspect.CO_GENERATOR)


def has_given_rule(value: Any) -> bool:
    """Whether the user gave this very object its derivative: it is called, and never read."""
    return table.given(value) is not None


def may_have_given_rule(cls: type) -> bool:
    """Whether the user gave some instance of a class its derivative."""
    return any(type(rule.primitive) is cls for rule in table.GIVEN.values())
