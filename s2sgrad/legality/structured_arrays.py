"""Structured arrays, whose fields are views of them: refused where one of them carries a derivative.

Z = np.zeros(3, [("U", float)]); Z["U"] = x      ->      Unsupported: `Z` is a structured array, which is not ...
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind, Structured
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit
from s2sgrad.legality.context import Context


def check(context: Context, statement: gast.AST, operation: Operation | None) -> None:
    """Raise Unsupported where a derivative is stored into a structured array, or would be through a field of it."""
    section = effects.stored(statement)
    if section is not None:
        written = {effects.base(section)} if context.passes_on(statement.value) else set()
        refuse(context.unit, statement, written, context.kinds)
    elif operation is not None and not context.paths.active.isdisjoint(binds(statement)):
        named = {n.id for n in effects.loads(operation.node)} if operation.form == "item" else set()
        refuse(context.unit, statement, named | {*binds(statement)}, context.kinds)


def refuse(unit: Unit, statement: gast.AST, names: set[str], kinds: Mapping[str, Kind]) -> None:
    """Raise Unsupported if one of these names is a structured array."""
    for name in sorted(n for n in names if isinstance(kinds.get(n), Structured)):
        unit.refuse(statement, f"{unit.word(name)} is a structured array, which is not differentiated yet: use an array for "
                               "each of its fields")  # fmt: skip
