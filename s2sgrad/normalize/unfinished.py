"""The names of a `try` that may be read after it failed, when they must have their latest values.

    try: a = f(x); b = g(a)            ->      `a` is bound before `g` is tried, where the handler, or what follows, reads it
    except ValueError: b = a
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import nodes, stored

_LEAVES = (gast.Return, gast.Raise)


class Unfinished:
    """What can be seen of a `try` that raised halfway; `is_inner`: it is inside another `try`."""

    def __init__(self, tree: gast.FunctionDef, statement: gast.Try, is_inner: bool) -> None:
        self.tree, self.statement, self.is_inner = tree, statement, is_inner
        self.declared = {n for s in nodes(tree) if isinstance(s, (gast.Global, gast.Nonlocal)) for n in s.names}
        loops = (n for n in nodes(tree) if isinstance(n, (gast.For, gast.While)))
        self.in_loop = any(part is statement for loop in loops for part in nodes(*loop.body))

    def is_seen(self, early: gast.Assign, later: list[gast.AST]) -> bool:
        """Whether a binding may be read after a later statement has raised."""
        (local,) = stored(*early.targets)
        if not later or local in self.declared:
            return True
        sure = self._behind(early, later)
        names = (n for n in nodes(self.tree) if isinstance(n, gast.Name) and n.id == local and id(n) not in sure)
        read = (n for n in names if isinstance(n.ctx, gast.Load) or self._is_updated(n))
        return not all(self._handlers_leave() and self._comes_after(n) for n in read)

    def _behind(self, early: gast.Assign, later: list[gast.AST]) -> set[int]:
        """The nodes that run only if nothing has raised since `early`."""
        place = next((k for k, s in enumerate(self.statement.body) if s is early), None)
        if place is None and self.in_loop:
            return set()
        follows = [*(later if place is None else self.statement.body[place + 1 :]), *self.statement.orelse]
        return {id(n) for n in nodes(*follows)}

    def _handlers_leave(self) -> bool:
        """Whether the statements after `try` run only if nothing was raised in it."""
        leave = all(h.body and isinstance(h.body[-1], _LEAVES) for h in self.statement.handlers)
        return leave and not self.is_inner and not self.in_loop

    def _is_updated(self, target: gast.Name) -> bool:
        return any(isinstance(n, gast.AugAssign) and n.target is target for n in nodes(self.tree))

    def _comes_after(self, node: gast.Name) -> bool:
        """Whether a read is in a statement of the function itself that comes after the `try`."""
        after = {id(n) for n in nodes(*self.statement.handlers, *self.statement.finalbody)}
        inner = (n for n in nodes(self.tree) if isinstance(n, (gast.FunctionDef, gast.Lambda)) and n is not self.tree)
        closed = {id(part) for part in nodes(*inner)}
        place = getattr(node, "lineno", 0) > getattr(self.statement, "lineno", 0)
        return place and id(node) not in after and id(node) not in closed
