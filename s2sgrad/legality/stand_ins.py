"""Attributes that a container class has and the simpler class in its place lacks: refused where the owner may be one.

q = kept(OrderedDict(a=x)); q.move_to_end(k)      ->      Unsupported: a dict stands for each OrderedDict ..

>>> from types import SimpleNamespace
>>> from collections import OrderedDict
>>> unit = SimpleNamespace(outside=SimpleNamespace(stand_ins={(OrderedDict, dict)}), inlining=SimpleNamespace(units=()))
>>> unit.resolve, unit.refuse = lambda node: MISSING, lambda node, message: print(message)
>>> check(SimpleNamespace(unit=unit), gast.parse("q.move_to_end(k)").body[0])
a dict stands for each OrderedDict, and this may read `move_to_end` of one: use a dict
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.quote import nodes_of
from s2sgrad.ir.unit import MISSING
from s2sgrad.legality.context import Context


def check(context: Context, statement: gast.AST) -> None:
    """Raise Unsupported where a statement reads such an attribute of what is known to the run alone."""
    unit = context.unit
    pairs = set().union(*(u.outside.stand_ins for u in (unit, *unit.inlining.units)))
    for node in nodes_of(effects.header(statement), {gast.Attribute}) if pairs else ():
        for cls, plain in pairs:
            if hasattr(cls, node.attr) and not hasattr(plain, node.attr) and unit.resolve(node) is MISSING:
                unit.refuse(node, f"a {plain.__name__} stands for each {cls.__name__}, and this may read `{node.attr}` of "
                                  f"one: use a {plain.__name__}")  # fmt: skip
