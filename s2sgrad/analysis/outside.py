"""Which parts of a text change what lives outside of it: lists and dicts, attributes of objects and classes.

    CONFIG["s"] = 3.0; LOG.append(x)      the dict, the list     STATE.calls += 1; Layer.count = 0     the object, the class

>>> import gast
>>> from s2sgrad.ir.quote import nodes
>>> spaces = {"LOG": [[1.0], [2.0]]}
>>> tree = gast.parse("LOG[0].append(x); y = LOG[0]; ys.append(x)")
>>> [found for n in nodes(tree) if (found := container_changed(lambda name: spaces.get(name.id), n)) is not None]
[[[1.0], [2.0]]]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.primitives.catalogue import may_write
from s2sgrad.runtime.structure import stored_in

CHANGEABLE = (list, dict, set, bytearray, deque)
"""Containers that a function may change where they are global."""

Resolve = Callable[[gast.Name], Any]  # what a free name stands for; anything else for a name that is bound


def container_changed(resolve: Resolve, node: gast.AST) -> Any:
    """The list or dict from outside that a part of a text changes, or in which it changes something; None for others."""
    if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
        owner = node.value
    elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and may_write(node.func.attr):
        owner = node.func.value
    else:
        return None
    while isinstance(owner, (gast.Subscript, gast.Attribute)):
        owner = owner.value
    found = resolve(owner) if isinstance(owner, gast.Name) else None
    return found if isinstance(found, CHANGEABLE) else None


def attribute_owner(resolve: Resolve, node: gast.AST) -> Any:
    """The object or class from outside of which a part of a text writes an attribute; None for others."""
    if not isinstance(node, gast.Attribute) or isinstance(node.ctx, gast.Load) or not isinstance(node.value, gast.Name):
        return None
    found = resolve(node.value)
    return found if isinstance(found, type) or stored_in(found) is not None else None
