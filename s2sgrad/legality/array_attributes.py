"""Attributes that are whole numbers where arrays have them: an object's own may be anything.

n = p.size      ->      n = require_array(p).size       where nobody knows what `p` is, and it carries a derivative
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Foreign, Numeric, Unknown, operand
from s2sgrad.analysis.trust import class_of_owner
from s2sgrad.ir import reach
from s2sgrad.ir.quote import nodes_of
from s2sgrad.legality.context import Context
from s2sgrad.primitives import spellings


def check(context: Context, statement: gast.AST) -> None:
    """Check, where the statement runs, that what it asks for its shape or its size is a number or an array."""
    if context.unit.primal.is_generated:
        return
    for node in nodes_of(effects.header(statement), {gast.Attribute}):
        if node.attr in spellings.FLAT_ATTRIBUTES and context.depends(node.value) and _may_be_object(context, node.value):
            node.value = reach.call(context.unit, "require_array", runtime.require_array, node.value)


def _may_be_object(context: Context, owner: gast.AST) -> bool:
    if isinstance(owner, gast.Name):
        kind = operand(context.kind(owner))
        return kind is None or (isinstance(kind, Unknown) and not isinstance(kind, (Numeric, Foreign)))
    return isinstance(owner, (gast.Subscript, gast.Attribute)) and class_of_owner(context.unit, owner, context.kinds) is None
