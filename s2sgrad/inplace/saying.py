"""Statements that only say that a list is bound anew where the user changes it; they are left out in the end.

    resizes(xs); xs_2 = [v] + xs      said by `normalize.containers` of      xs.insert(0, v)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.unit import Unit


def is_said(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement is one of these."""
    call = statement.value if isinstance(statement, gast.Expr) else None
    return isinstance(call, gast.Call) and unit.resolve(call.func) is runtime.resizes
