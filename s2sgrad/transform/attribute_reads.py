"""Attributes that may be set before the reverse sweep runs are read once, into names: records keep these.

    if c > 0:                              if c > 0:
        y = y * k ** law.n        ->           n = law.n
                                               y = y * k ** n

`vjp` gives the adjoint away, and nobody knows what happens before it is called.  The reverse sweep of a gradient follows
the forward sweep at once, and reads attributes again.

>>> import numpy as np
>>> from s2sgrad import vjp
>>> class Law:
...     n = 2.0
>>> def f(k):
...     y = k * k
...     if k > 0.0:
...         y = y * k ** Law.n
...     return y
>>> y, pullback = vjp(f, 1.0)
>>> Law.n = 5.0
>>> pullback(1.0)[0]
4.0
"""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Number
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, name, nested, nodes_of
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import libraries

_ATTRIBUTES = frozenset({gast.Attribute})
_NUMERIC = (float, np.floating, np.ndarray)
_PERHAPS = (gast.IfExp, gast.BoolOp, gast.Compare, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp,
            gast.GeneratorExp)  # fmt: skip
_EVALUATED = {gast.Assign: "value", gast.AugAssign: "value", gast.Expr: "value", gast.Return: "value", gast.If: "test",
              gast.For: "iter"}  # fmt: skip


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> None:
    """Name the attributes that a statement reads, before it."""
    _Reads(unit, inference).run(tree)


class _Reads:
    """The attributes that one function reads."""

    def __init__(self, unit: Unit, inference: Inference) -> None:
        self.unit, self.inference = unit, inference

    def run(self, tree: gast.FunctionDef) -> None:
        """Visit each block."""
        for block in nested(tree.body):
            block[:] = [s for statement in block for s in (*at(statement, *self.before(statement)), statement)]

    def before(self, statement: gast.AST) -> list[gast.AST]:
        """What names the attributes that a statement surely reads."""
        made: list[gast.AST] = []
        field = _EVALUATED.get(type(statement))
        if field is None or (read := getattr(statement, field)) is None or not self.asks(read):
            return made
        bound = bound_name(statement)
        if isinstance(statement, gast.If) or (isinstance(read, gast.Attribute) and bound is None):
            setattr(statement, field, self.bound(read, made))
        elif not isinstance(read, (*_PERHAPS, gast.Attribute)):
            self.visit(read, made)
        if bound is not None and self.asks(read):
            self.unit.derivative.as_read.add(bound)
        return made

    def asks(self, node: gast.AST) -> bool:
        """Whether an expression reads an attribute that may be set."""
        return any(map(self.may_be_set, nodes_of(node, _ATTRIBUTES)))

    def visit(self, node: gast.AST, made: list[gast.AST]) -> None:
        """Name the attributes in an expression, all of which is evaluated."""
        for key, part in node.__dict__.items():
            if isinstance(part, list):
                part[:] = [self.named(item, made, by_place=isinstance(node, gast.Call)) for item in part]
            elif isinstance(part, gast.AST) and not (key == "func" and isinstance(node, gast.Call)):
                node.__dict__[key] = self.named(part, made, by_place=isinstance(node, gast.keyword))

    def named(self, node: Any, made: list[gast.AST], by_place: bool = False) -> Any:
        """The name of an attribute; anything else with the attributes in it named.  What an argument says about the call,
        an axis, is read as it is."""
        if isinstance(node, gast.Attribute) and self.may_be_set(node):
            value = self.unit.resolve(node) if by_place else MISSING
            return self.bound(node, made) if value is MISSING or isinstance(value, _NUMERIC) else node
        if isinstance(node, gast.AST) and not isinstance(node, (*_PERHAPS, gast.Name, gast.Constant)):
            self.visit(node, made)
        return node

    def may_be_set(self, node: gast.Attribute) -> bool:
        """Whether an attribute is data of an object that others may set: not that of an array or an installed module."""
        if isinstance(self.inference.kind(node.value), (Array, Number)) or not isinstance(node.ctx, gast.Load):
            return False
        owner, value = self.unit.resolve(node.value), self.unit.resolve(node)
        if isinstance(owner, types.ModuleType) and libraries.is_installed(owner):
            return False
        return value is MISSING or not (callable(value) or isinstance(value, types.ModuleType))

    def bound(self, node: gast.AST, made: list[gast.AST]) -> gast.Name:
        """A new name that holds a value from here on."""
        local = self.unit.temp()
        self.inference.env[local] = self.inference.kind(node) or UNKNOWN
        self.unit.derivative.as_read.add(local)
        made.append(assign(local, node))
        return name(local)
