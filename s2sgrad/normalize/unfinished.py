"""Which names of a `try` may be read when it has failed: what was bound to them before stays.

    try: a = f(x); b = g(a)            ->      `a` is bound before `g` is tried, where the handler, or what follows, reads it
    except ValueError: b = a
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import nodes, stored

_LEAVES = (gast.Return, gast.Raise)


class Unfinished:
    """What may be seen of a `try` that raised half-way; `is_inner`: another `try` is around it."""

    def __init__(self, tree: gast.FunctionDef, statement: gast.Try, is_inner: bool) -> None:
        self.tree, self.statement, self.is_inner = tree, statement, is_inner
        self.declared = {n for s in nodes(tree) if isinstance(s, (gast.Global, gast.Nonlocal)) for n in s.names}
        loops = (n for n in nodes(tree) if isinstance(n, (gast.For, gast.While)))
        self.in_loop = any(part is statement for loop in loops for part in nodes(*loop.body))

    def is_seen(self, early: gast.Assign, later: list[gast.AST]) -> bool:
        """Whether what is bound here may be read after a later statement has raised."""
        (local,) = stored(early)
        if not later or local in self.declared:
            return True
        statement = self.statement
        leave = all(h.body and isinstance(h.body[-1], _LEAVES) for h in statement.handlers) and not self.is_inner
        place = next((k for k, s in enumerate(statement.body) if s is early), None)
        allowed: set[int] = set()
        if place is not None or not self.in_loop:
            follows = [*(later if place is None else statement.body[place + 1 :]), *statement.orelse]
            allowed = {id(n) for n in nodes(*follows)}
        for node in nodes(self.tree):
            if isinstance(node, gast.Name) and node.id == local and id(node) not in allowed:
                read = isinstance(node.ctx, gast.Load) or self._is_updated(node)
                if read and not (leave and not self.in_loop and self._comes_after(node)):
                    return True
        return False

    def _is_updated(self, target: gast.Name) -> bool:
        return any(isinstance(n, gast.AugAssign) and n.target is target for n in nodes(self.tree))

    def _comes_after(self, node: gast.Name) -> bool:
        """Whether a read is in a statement of the function itself that follows `try`, in its block or in one around it."""
        after = {id(n) for n in nodes(*self.statement.handlers, *self.statement.finalbody)}
        inner = (n for n in nodes(self.tree) if isinstance(n, (gast.FunctionDef, gast.Lambda)) and n is not self.tree)
        closed = {id(part) for part in nodes(*inner)}
        place = getattr(node, "lineno", 0) > getattr(self.statement, "lineno", 0)
        return place and id(node) not in after and id(node) not in closed
