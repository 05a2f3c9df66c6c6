"""The consumer of a generator in its text, at each `yield`.

yield v      ->      item = v; items.append(item)
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.ir import notes
from s2sgrad.ir.quote import at, branch, constant, rewritten


def returning(statement: gast.AST) -> list[gast.AST]:
    """A `yield` followed by a conditional return; the flag is filled in later."""
    if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Yield):
        return [statement]
    leave = branch(constant(False), at(statement, gast.Return(None)))
    notes.LEAVES_EARLY.put(leave)
    return [statement, *at(statement, leave)]


def consumed(body: list[gast.AST], at_yield: Callable[[gast.AST], list[gast.AST]]) -> list[gast.AST]:
    """The statements of a generator, with the consumer's statements instead of each `yield`."""

    def taken(statement: gast.AST) -> list[gast.AST]:
        if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Yield):
            return [statement]
        return at_yield(statement.value.value or at(statement, constant(None))[0])

    return rewritten(body, taken)
