"""Sums of sparse arrays along an axis: those of a sparse matrix are `np.matrix`, whose `*` is no product of elements.

s = A.sum(axis=1); y = s * x     ->     no_matrix(s, "s", 7); y = s * x     raises for a matrix; `np.asarray(s)` does not
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import constant, name
from s2sgrad.legality.context import Context
from s2sgrad.rules import table


def sums(context: Context) -> set[str]:
    """The names that are bound to such a sum."""
    if context.unit.primal.is_generated:  # the checks are in the primal text
        return set()
    found = ((bound_name(s), context.paths.operations.get(id(s))) for s in effects.walk(context.tree.body))
    return {n for n, operation in found if n is not None and operation is not None and _may_be_matrix(operation)}


def _may_be_matrix(operation: Operation) -> bool:
    axis = operation.keywords.get("axis")
    whole = axis is None or (isinstance(axis, gast.Constant) and axis.value is None)
    return operation.rule is not None and table.gives_matrices(operation.rule) and not whole


def check(context: Context, statement: gast.AST, operation: Operation | None, found: set[str]) -> list[gast.AST]:
    """The checks of the sums that a statement reads, but where it makes arrays of them."""
    made = operation is not None and operation.target in (np.asarray, np.array)
    read = found.intersection(n.id for n in effects.loads(effects.header(statement))) if found and not made else ()
    called = name(context.unit.helper("no_matrix", runtime.no_matrix)) if read else None
    line = constant(getattr(statement, "lineno", 0))
    return [
        gast.Expr(gast.Call(called, [name(n), constant(context.unit.shown(n, None)), line], []))
        for n in sorted(read)
    ]  # fmt: skip
