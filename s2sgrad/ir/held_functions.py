"""Functions stored in attributes of global objects: such an attribute is resolved like a name.

    OPS = SimpleNamespace(act=np.tanh); OPS.act(x)      ->      np.tanh, while `OPS.act` is that

Computed attributes and callable objects do not count.  The program cannot assign such an attribute: that is refused.
Instances of user classes are handled with all their attributes (`argument_objects`).

>>> from types import SimpleNamespace
>>> held_function(SimpleNamespace(act=len), "act") is len, held_function(SimpleNamespace(act=2.0), "act")
(True, None)
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from s2sgrad.primitives import libraries
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.structure import stored_in

_NOTHING = object()


def is_followed(owner: Any) -> bool:
    """Whether an object is an instance of a user's class, whose attributes may be added and removed."""
    return stored_in(owner) is not None and not isinstance(owner, tuple) and not libraries.is_installed(type(owner))


def held_function(owner: Any, name: str) -> Any:
    """The function that an object stores under this name; None for anything else."""
    if isinstance(type(owner).__getattribute__, types.FunctionType):
        return None
    of_class = inspect.getattr_static(type(owner), name, _NOTHING)
    field = isinstance(owner, tuple) and name in getattr(owner, "_fields", ())
    if field or isinstance(of_class, types.MemberDescriptorType):
        value = getattr(owner, name, None)
    elif hasattr(type(of_class), "__set__"):  # a descriptor, such as a property, takes precedence
        return None
    else:
        value = its(owner, "__dict__", {}).get(name)
    return value if callable(value) and libraries.is_installed(type(value)) else None
