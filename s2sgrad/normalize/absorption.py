"""Which iterables lists take all items of, and nobody can tell whether they are drawn before or meanwhile.

    ys = []; ys.extend(e); ys += e; ys[1:] = e      ->      `e`, three times
    ys.extend(islice(ys, 5))                        ->      nothing: it draws what it has appended

>>> from itertools import islice
>>> from s2sgrad.source import read
>>> def f(x):
...     ys = [x[0]]
...     zs = [x[1]]
...     ys.extend(islice(x, 1, None))
...     zs.extend(islice(zs, 5))
...     return ys, zs
>>> unit, tree = Unit.of(read(f))
>>> taken = Absorption(unit, tree, Interference(unit, tree)).taken
>>> [taken(statement.value) is not None for statement in tree.body[2:4]]
[True, False]
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.unit import Unit
from s2sgrad.memory.interference import Interference
from s2sgrad.normalize.additions import Additions
from s2sgrad.primitives.catalogue import is_named


class Absorption:
    """What is appended to the lists of one function, or stored into sections of them."""

    def __init__(self, unit: Unit, function: gast.FunctionDef, names: Interference) -> None:
        self.additions, self.names = Additions(unit, function), names

    def taken(self, node: gast.AST) -> gast.AST | None:
        """The iterable that a list takes all items of in a statement or call; None for other nodes."""
        if isinstance(node, gast.Assign):  # all is drawn before it is stored
            target = node.targets[0]
            is_section = isinstance(target, gast.Subscript) and isinstance(target.slice, gast.Slice)
            return node.value if is_section and self.is_list(target.value) else None
        if isinstance(node, gast.AugAssign):
            owner, value = node.target, node.value if isinstance(node.op, gast.Add) else None
        else:
            method: Any = node.func if isinstance(node, gast.Call) and len(node.args) == 1 else None
            extends = isinstance(method, gast.Attribute) and is_named(method.attr, list.extend)
            owner, value = (method.value, node.args[0]) if extends else (None, None)
        return None if value is None or not self.is_list(owner) or self.names.may_read([value], owner.id) else value

    def is_list(self, owner: gast.AST) -> bool:
        """Whether an expression is a variable that is always a list."""
        return isinstance(owner, gast.Name) and owner.id in self.additions.lists
