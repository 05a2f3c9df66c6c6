"""Instances of user classes: which are plain, so that their attributes can be tracked.

class Layer: def __init__(self, w): self.w = w      ->      Layer(2.0) is plain: what it holds is in vars(..)
"""

from __future__ import annotations

import collections
import dis
import inspect
import types
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad.ir.quote import nodes
from s2sgrad.primitives import libraries
from s2sgrad.runtime.guests import acts_as_array
from s2sgrad.runtime.homes import is_of_library
from s2sgrad.runtime.structure import stored_in

DEEPEST = 5  # nesting of instances
LONGEST = 64  # longer containers have one kind for all items
CONTAINERS = (list, dict)
_HOOKS = ("__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__")


@dataclass
class Opened:
    """An argument that is, or contains, plain instances: `cls` is None for a list, tuple or dict; `parts` by attribute,
    index or key (None: data).
    """

    cls: type | None
    parts: dict[Any, Opened | None]


HELD_BY_DATA = {n for cls in (np.ndarray, list, dict, set, str, float, int) for n in dir(cls) if n[0] != "_"}
_CALLED = {"__init__", "__new__", "__call__", "__post_init__", "__init_subclass__", "__class_getitem__", "__set_name__",
           "__enter__", "__exit__", "__del__", "__dict__", "__weakref__", "__annotate__"}  # fmt: skip
"""Methods that are analyzed where they are called, or that run when an object is created."""
_STORED = (types.FunctionType, staticmethod, classmethod, types.MemberDescriptorType, types.GetSetDescriptorType,
           types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType,
           types.ClassMethodDescriptorType, type(vars(collections.namedtuple("_Fields", "field"))["field"]))  # fmt: skip
_QUIET = {"__init__", "__call__", "__repr__", "__str__", "__enter__", "__exit__", "__post_init__", "__init_subclass__",
          "__new__", "__getnewargs__", "__replace__", "__copy__", "__deepcopy__"}  # fmt: skip


def member(cls: type, name: str, otherwise: Any = None) -> Any:
    """What an object of a class finds there under a name; bound to nothing."""
    return inspect.getattr_static(cls, name, otherwise)


def hides_methods(cls: type) -> bool:
    """Whether a user's class (a named tuple) has methods whose names collide with those of arrays and containers."""
    fields = getattr(cls, "_fields", ())
    users = [k for k in cls.__mro__ if not is_of_library(k)]
    return any(n in HELD_BY_DATA and n not in fields for k in users for n in vars(k))


def own_protocols(cls: type) -> set[str]:
    """The special methods of a user's class by which operators, indices, loops or functions of Python treat its objects."""
    users = [vars(k) for k in cls.__mro__ if not is_of_library(k) and k is not object]
    written = ((n, f) for held in users for n, f in held.items() if isinstance(f, types.FunctionType))
    return {n for n, f in written if n[:2] == n[-2:] == "__" and n not in _QUIET and f.__code__.co_filename != "<string>"}


def has_protocols(cls: type) -> bool:
    """Whether operating on objects of a class, converting or printing them may run user code."""
    users = [vars(k) for k in cls.__mro__ if not is_of_library(k) and k is not object]
    written = ((n, f) for held in users for n, f in held.items() if hasattr(type(f), "__get__"))
    dunders = [f for n, f in written if n[:2] == n[-2:] == "__" and n not in _CALLED]
    return any(not isinstance(f, types.FunctionType) or _is_written(f) for f in dunders)


def _is_written(function: types.FunctionType) -> bool:
    """Whether a method is written in the user's source, and not added to the class by a library."""
    home = libraries.package(function.__globals__.get("__name__"))
    return function.__code__.co_filename != "<string>" and not libraries.is_installed_package(home)


def runs_nothing(cls: type) -> bool:
    """Whether attributes, items and operators of objects of a class run no user code and consume nothing."""
    if any(hasattr(cls, hook) for hook in ("__next__", "__missing__", "__getattr__")) or has_protocols(cls):
        return False
    users = [vars(k) for k in cls.__mro__ if not is_of_library(k) and k is not object]
    return not any(_is_computed(f) for held in users for f in held.values())


def makes_objects(cls: type) -> bool:
    """Whether this is a user's class whose objects may run user code implicitly."""
    return not is_of_library(cls) and not runs_nothing(cls)


def reads_own(cls: type, name: str) -> bool:
    """Whether an attribute of objects of a class may be computed by user code."""
    if runs_nothing(cls):
        return False
    if hasattr(cls, "__getattr__") or isinstance(cls.__getattribute__, types.FunctionType):
        return True
    return _is_computed(inspect.getattr_static(cls, name, None))


def _is_computed(found: Any) -> bool:
    """Whether this is a property or another descriptor that computes the attribute."""
    return hasattr(type(found), "__get__") and not isinstance(found, _STORED)


def reads_and_writes(found: Any) -> bool:
    """Whether a member of a class takes precedence over what its objects hold, and runs code of the user's."""
    return hasattr(type(found), "__set__") and not isinstance(found, _STORED)


def assigning(cls: type) -> frozenset[str]:
    """The methods that assign a new value to an object: those that a Variable lists, and all that a subclass adds."""
    known = getattr(cls, "assigning", None)
    if not isinstance(known, frozenset):
        return frozenset()
    added = {n for k in cls.__mro__[:-1] if not is_of_library(k) for n, f in vars(k).items() if callable(f)}
    return known | added


def draws(value: Any) -> bool:
    """Whether an object is a random generator, and not of a user's subclass."""
    return libraries.package_of(type(value)) in libraries.OF_DRAWING and type(value) in libraries.DRAWING


def is_plain_class(target: Any) -> bool:
    """Whether a callable is a user's class with plain instances: no hooks on attributes, no base class from a library."""
    if not isinstance(target, type) or is_of_library(target) or issubclass(target, (tuple, BaseException)):
        return False
    if acts_as_array(target):
        return False
    frozen = getattr(getattr(target, "__dataclass_params__", None), "frozen", False)
    hooks = _HOOKS[:-2] if frozen else _HOOKS
    if issubclass(target, CONTAINERS):
        return False
    own = all(k.__module__ in ("abc", "typing") or not is_of_library(k) for k in target.__mro__)
    return own and all(member(target, hook) is member(object, hook) for hook in hooks)


def is_container_of_its_own(target: Any) -> bool:
    """Whether a callable is a user's subclass of `list` or `dict`."""
    return isinstance(target, type) and issubclass(target, CONTAINERS) and not libraries.is_installed(target)


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The attributes of a plain instance; None for anything else, such as a list or dict of the caller's."""
    if isinstance(value, (type, types.FunctionType, types.ModuleType, *CONTAINERS)) or not is_plain_class(type(value)):
        return None
    return stored_in(value)


def leads_back(value: Any, above: tuple[Any, ...]) -> bool:
    """Whether a container of the attributes of an object holds one of the objects `above` it.

    Objects that hold lists of each other have no end: were the lists taken apart, their parts would grow exponentially.
    """
    if not above or not isinstance(value, (list, tuple, dict)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return any(leads_back(item, above) or any(item is holder for holder in above) for item in items)


def opened_of(value: Any, above: tuple[Any, ...] = ()) -> Opened | None:
    """The parts of an instance, or of a short container of instances; None for anything else (see `value_kinds.opened`)."""
    held = attributes_of(value) if len(above) < DEEPEST else None
    if held is not None:
        parts: dict[Any, Opened | None] = {name: opened_of(item, (*above, value)) for name, item in held.items()}
        return Opened(type(value), parts) if len(held) <= LONGEST else None
    if type(value) in (list, tuple, dict) and len(value) <= LONGEST and not leads_back(value, above):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        if all(isinstance(k, (str, int)) for k in value) if isinstance(value, dict) else True:
            parts = {place: opened_of(item, above) for place, item in items}
            return Opened(None, parts) if any(part is not None for part in parts.values()) else None
    return None


def written_attributes(cls: type, tree: gast.AST) -> set[str]:
    """The data attributes of a class (and its bases) that a method, or this tree, shadows by attributes of an instance."""
    data = {
        name: value
        for k in reversed(cls.__mro__[:-1])
        for name, value in vars(k).items()
        if not name.startswith("__") and not callable(value) and not hasattr(type(value), "__get__")
    }
    fields = getattr(cls, "__dataclass_fields__", {})
    stored = {n.attr for n in nodes(tree) if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store)}
    written = [m for k in cls.__mro__ for m in vars(k).values() if isinstance(m, types.FunctionType)]
    stored |= {i.argval for m in written for i in dis.get_instructions(m) if i.opname == "STORE_ATTR"}
    return (data.keys() & stored) - fields.keys()
