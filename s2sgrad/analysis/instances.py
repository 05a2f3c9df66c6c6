"""Instances of users' classes: which of them are plain, so that their attributes can be followed.

    class Layer: def __init__(self, w): self.w = w      ->      Layer(2.0) is plain: what it holds is in vars(..)
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

_HOOKS = ("__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__")
_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "s2sgrad"}


@dataclass
class Opened:
    """An argument that is, or holds, plain instances: `cls` is None for a list, a tuple or a dict; `parts` by attribute,
    place or key (None: data)."""

    cls: type | None
    parts: dict[Any, Opened | None]


def is_plain_class(target: Any) -> bool:
    """Whether a callable is a user's class whose instances are plain: no hooks on attributes, no base from a library."""
    if not isinstance(target, type) or _is_of_library(target) or issubclass(target, (tuple, BaseException)):
        return False
    frozen = getattr(getattr(target, "__dataclass_params__", None), "frozen", False)
    hooks = _HOOKS[:-2] if frozen else _HOOKS
    own = all(k.__module__ in ("abc", "typing") or not _is_of_library(k) for k in target.__mro__)
    return own and all(getattr(target, hook, None) is getattr(object, hook, None) for hook in hooks)


def attributes_of(value: Any) -> dict[str, Any] | None:
    """What a plain instance holds; None for anything else."""
    if isinstance(value, (type, types.FunctionType, types.ModuleType)) or not is_plain_class(type(value)):
        return None
    return getattr(value, "__dict__", None)


def _is_of_library(cls: type) -> bool:
    module = (cls.__module__ or "").split(".")[0]
    return cls is not object and module in _LIBRARIES and module != "__main__"
