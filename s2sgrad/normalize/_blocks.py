"""The blocks of a statement as the user wrote it, `with` and `try` included; later passes see If, For and While alone.

    while c: a = 1        ->   [a = 1], []          def g(): ...   ->   none: it is a function of its own
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

_OWN = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


def blocks(statement: gast.AST) -> Iterator[list[gast.AST]]:
    """The lists of statements in a statement, those of nested functions and of `match` left out."""
    if isinstance(statement, (*_OWN, gast.Match)):
        return
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if isinstance(inner, list):
            yield inner
    for handler in getattr(statement, "handlers", None) or ():
        yield handler.body
