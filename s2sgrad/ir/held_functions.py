"""Functions that objects from outside hold in attributes of their own: a path to one is a name for it.

    OPS = SimpleNamespace(act=np.tanh); OPS.act(x)      ->      np.tanh, while `OPS.act` is that

Attributes that code of the user's computes are none, nor are objects that can be called.  Nobody writes such an attribute in
the program: that is refused.  Instances of the user's classes are followed by all that they hold (`argument_objects`).

>>> from types import SimpleNamespace
>>> held_function(SimpleNamespace(act=len), "act") is len, held_function(SimpleNamespace(act=2.0), "act")
(True, None)
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from s2sgrad.primitives import libraries

_NOTHING = object()


def is_followed(owner: Any) -> bool:
    """Whether an object is an instance of a class of the user's, with attributes that may come and go."""
    return hasattr(owner, "__dict__") and not isinstance(owner, tuple) and not libraries.is_installed(type(owner))


def held_function(owner: Any, name: str) -> Any:
    """The function that an object holds under this name; None for anything else."""
    if isinstance(type(owner).__getattribute__, types.FunctionType):
        return None
    of_class = inspect.getattr_static(type(owner), name, _NOTHING)
    field = isinstance(owner, tuple) and name in getattr(owner, "_fields", ())
    if field or isinstance(of_class, types.MemberDescriptorType):
        value = getattr(owner, name, None)
    elif hasattr(type(of_class), "__set__"):  # a property, say: it goes before what the object holds
        return None
    else:
        value = getattr(owner, "__dict__", {}).get(name)
    return value if callable(value) and libraries.is_installed(type(value)) else None
