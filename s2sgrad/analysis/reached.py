"""Objects that a user function can reach besides its arguments, through its free names and defaults.  `memory.behaviour`
asks before it analyzes a function, because this determines what the values in it may be.

    feed = Feed()                     read_next may run methods of `feed`, and may return it
    def read_next(): return feed      ->
"""

from __future__ import annotations

import functools
import types
from typing import Any

import gast

from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.analysis.outside import container_changed
from s2sgrad.analysis.plain_classes import is_plain_class, makes_objects
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime import outside
from s2sgrad.source import look_up, read

_CHANGING = (outside.set_item, outside.delete_items)


@functools.lru_cache(maxsize=1024)
def objects(function: types.FunctionType) -> bool:
    """Whether a user function, or one that it calls, can reach objects of user classes or iterators, or creates some."""
    waiting, seen = [function], set()
    while waiting:
        found = waiting.pop()
        if isinstance(found, types.FunctionType):
            if found in seen or is_library(found) or is_ours(found):
                continue
            seen.add(found)
            try:
                unit, tree = Unit.of(read(found))
            except S2SGradError:
                return True
            free = (n for n in nodes(tree) if isinstance(n, gast.Name) and n.id not in unit.locals)
            waiting += [*map(unit.resolve, free), *(found.__defaults__ or ()), *(found.__kwdefaults__ or {}).values()]
        elif isinstance(found, type):
            if makes_objects(found):
                return True
        elif not callable(found) and found is not MISSING and (trust_of_object(found) or Trust.DATA) > Trust.DRAWING:
            return True
    return False


forgotten_after(objects.cache_clear)


def changes_container(unit: Unit, node: gast.AST) -> bool:
    """Whether a part of a text changes a list or dict from outside."""
    return unit.called(node) in _CHANGING or container_changed(unit.resolve, node) is not None


@functools.lru_cache(maxsize=64)
def reaches_change(function: types.FunctionType) -> bool:
    """Whether a function, or one that it mentions, changes a list or dict from outside, or has no source to tell.

    The answer is forgotten after a compilation: by the next one, names may stand for other values.
    """
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen or is_ours(found):
            continue
        seen.add(id(found))
        if not isinstance(found, types.FunctionType):
            waiting += _behind(found)
        elif not is_library(found):
            try:
                unit, tree = Unit.of(read(found))
            except S2SGradError:
                return True
            for node in nodes(tree.args, *tree.body):
                if changes_container(unit, node):
                    return True
                target = unit.resolve(node) if isinstance(node, (gast.Name, gast.Attribute)) else MISSING
                waiting += [] if target is MISSING else [target]
    return False


forgotten_after(reaches_change.cache_clear)


def _behind(found: Any) -> list[Any]:
    """The functions and classes that may run where a value is used, and the values that hold them."""
    if isinstance(found, (list, tuple)):
        return [*found]
    if isinstance(found, dict):
        return [*found.values()]
    if isinstance(found, functools.partial):
        return [found.func, *found.args, *found.keywords.values()]
    if isinstance(found, (types.MethodType, staticmethod, classmethod)):
        return [found.__func__]
    if isinstance(found, property):
        return [found.fget, found.fset]
    if isinstance(found, type):
        return [v for cls in found.__mro__ if makes_objects(cls) for v in vars(cls).values()]
    return [type(found)] if makes_objects(type(found)) else []


def named(node: gast.AST, home: types.FunctionType) -> Any:
    """What a free name of a function, or an attribute of a module or a class there, stands for; None if unknown."""
    if isinstance(node, gast.Attribute):
        owner = named(node.value, home)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) or is_plain_class(owner) else None
    binding = look_up(home, node.id) if isinstance(node, gast.Name) else None
    return None if binding is None else binding.value
