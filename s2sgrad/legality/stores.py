"""Stores into numbers, and into what may be whole numbers; and those whose value overlaps the elements that they write,
where NumPy copies item by item.

np.float64(x).fill(3.0)      ->      Unsupported: a number has no items that could be written ...
A[0, 1] = x; A is sparse     ->      NoRule: an item of `A`, a sparse array, is written here ...
b = np.zeros(3, T); b[0] = x ->      keeps_floats(b, "b", 7); b[0] = x; raises where `T` is int
v[[3, 1]] = v[2:]            ->      Unsupported on NumPy 1.26: this store may read what it has written ...
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Foreign, Number, Opaque, Unknown
from s2sgrad.ir.quote import constant, name
from s2sgrad.legality.context import Context
from s2sgrad.memory.sources import is_basic, sources
from s2sgrad.primitives import sharing


def check(context: Context, statement: gast.AST) -> None:
    """Raise Unsupported where a number is written, or a store by index arrays may read what it has written."""
    section = effects.stored(statement)
    if section is None:
        return
    if isinstance(context.kinds.get(effects.base(section)), Number):
        context.unit.refuse(statement, "a number has no items that could be written, and `fill` leaves a NumPy number as it "
                                       "is: bind a name to the new number, as in `a = 3.0`")  # fmt: skip
    if isinstance(context.kinds.get(effects.base(section)), Foreign) and _carries(context, statement, section):
        context.unit.no_rule(statement, f"an item of `{effects.base(section)}`, a sparse array, is written here, which has "
                                        "no derivative rule: gather rows, columns and values, and make it of "
                                        "`(values, (rows, columns))`")  # fmt: skip
    if sharing.STORES_ITEM_BY_ITEM:
        _check_overlap(context, statement, section)


def checked(context: Context, statement: gast.AST) -> list[gast.AST]:
    """The check before a store into an array of unknown type: whole numbers would cut off what is stored."""
    section = effects.stored(statement)
    if section is None or context.unit.primal.is_generated:
        return []
    base = effects.base(section)
    kind = context.kinds.get(base)
    loose = kind is None or isinstance(kind, Unknown) or (isinstance(kind, Array) and kind.dtype is None)
    if not loose or base not in context.paths.active or not context.passes_on(statement.value):
        return []
    given = [name(base), constant(context.unit.shown(base)), constant(getattr(statement, "lineno", 0))]
    return [gast.Expr(gast.Call(name(context.unit.helper("keeps_floats", runtime.keeps_floats)), given, []))]


def _carries(context: Context, statement: gast.AST, section: gast.Subscript) -> bool:
    """Whether what is written carries a derivative, or its new value does."""
    return bool({effects.base(section), *(n.id for n in effects.loads(statement.value))} & context.paths.active)


def _check_overlap(context: Context, statement: gast.AST, section: gast.Subscript) -> None:
    """Raise Unsupported where the value of a store by index arrays may share memory with what it writes."""
    if getattr(context.kind(section.slice), "dtype", None) == "bool":
        return
    base = effects.base(section)
    read = sources(context.unit, statement.value, context.kinds) & context.paths.memory.with_memory_of(base)
    may_be_array = not isinstance(context.kinds.get(base), (Opaque, Container))
    if may_be_array and read and not is_basic(section.slice, context.kinds):
        context.unit.refuse(statement, f"this store may read what it has written, for NumPy {np.__version__} goes item by "
                                       "item: copy the value first, as in `y[i] = y[1:].copy()`")  # fmt: skip
