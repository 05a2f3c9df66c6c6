"""What is known of single statements, kept for as long as they say what they say.

    y[i] = f(x)   reads y, i, f, x        asked by every graph of a tree that it stands in, found once

>>> statement = gast.parse("y = x").body[0]
>>> kept = KeptFacts()
>>> kept.of(statement)["reads"] = {"x"}
>>> kept.changed(statement)
>>> kept.of(statement)
{}

A pass that changes a statement, or the header of a compound one, says so; behind one that says nothing all is forgotten.
"""

from __future__ import annotations

from typing import Any

import gast


class KeptFacts:
    """By statement, and by whoever found it: a fact that follows from the statement alone, of a compound one its header."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[gast.AST, dict[Any, Any]]] = {}  # a statement that is gone keeps its number

    def of(self, statement: gast.AST) -> dict[Any, Any]:
        """What is known of a statement, to be added to."""
        known = self._of.get(id(statement))
        if known is None:
            known = self._of[id(statement)] = statement, {}
        return known[1]

    def changed(self, *statements: gast.AST) -> None:
        """Note that some statements say something else now."""
        for statement in statements:
            self._of.pop(id(statement), None)

    def forget(self) -> None:
        """Note that any statement may say something else now."""
        self._of.clear()
