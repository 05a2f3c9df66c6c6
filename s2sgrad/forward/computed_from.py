"""What temporaries are computed from: which tangents are to be stored before the value is.

    t = x[1:] * w; t_dot = x_dot[1:] * w                    x_dot[1:] = x_dot[1:] * w + x[1:] * w_dot
      + x[1:] * w_dot; x[1:] = t; x_dot[1:] = t_dot   ->    x[1:] = x[1:] * w

>>> made = ComputedFrom({"t", "t_dot"})
>>> made.note(gast.parse("t_dot = x_dot[1:] * w + x[1:] * w_dot").body)
>>> made.reads("x", gast.parse("t_dot", mode="eval").body), made.reads("y", gast.parse("t_dot", mode="eval").body)
(True, False)
"""

from __future__ import annotations

from collections.abc import Container, Iterable

import gast

from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import mentioned


class ComputedFrom:
    """The names in the values of the temporaries `temps` of one function."""

    def __init__(self, temps: Container[str]) -> None:
        self.temps = temps
        self.names: dict[str, set[str]] = {}

    def note(self, statements: Iterable[gast.AST]) -> None:
        """Note what statements bind."""
        for statement in statements:
            bound = bound_name(statement)
            if bound is not None and bound in self.temps:
                self.names[bound] = mentioned(statement.value)

    def reads(self, name: str, *values: gast.AST) -> bool:
        """Whether values are computed from what a name stands for."""
        waiting, seen = [*mentioned(*values)], set[str]()
        while waiting:
            read = waiting.pop()
            if read not in seen:
                seen.add(read)
                waiting += self.names.get(read, ())
        return name in seen
