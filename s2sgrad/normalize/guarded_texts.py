"""The text of a function for a call in `try`: each of its pieces is tried, and after a failure nothing more of it runs.

    def drain(self, v):                                    if v > self.level:
        if v > self.level: raise ValueError("empty")           which = 1
        self.level -= v                              ->    if which == 0:
        return self.level * v                                  self.level -= v
                                                               return self.level * v

`unit.guard` says what the caller's `try` catches; the caller begins with `which = 0`, and inlines the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.ir.exits import returns
from s2sgrad.ir.quote import at, name, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import context_managers, try_except
from s2sgrad.normalize.exception_kinds import Kinds
from s2sgrad.normalize.trials import moved_out


@dataclass(frozen=True)
class Guard:
    """What a `try` catches: classes and tuples of classes, one per handler; `told`: a handler uses the exception."""

    kinds: tuple[Any, ...]
    told: bool


class _Whole(try_except.Attempt):
    """The attempt of a whole function; its exceptions go to the `try` around the call."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, statement: gast.Try) -> None:
        super().__init__(unit, tree, statement, None)
        self.kinds = Kinds(unit, [_shown(unit, kind) for kind in unit.guard.kinds])
        self.told = unit.guard.told


def _shown(unit: Unit, kind: Any) -> gast.AST:
    if isinstance(kind, tuple):
        return gast.Tuple([_shown(unit, k) for k in kind], gast.Load())
    plain = name(kind.__name__)
    return plain if unit.resolve(plain) is kind else name(unit.helper(kind.__name__, kind))


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree for a call in `try`; any other as it is."""
    if unit.guard is None:
        return tree
    body = rewritten(tree.body, lambda statement: context_managers.suppressed(unit, statement))
    tree.abandoned = _always_leaves(body) and returns(body)
    leaving = at(body[0], gast.ExceptHandler(None, None, at(body[0], gast.Return(None))))
    tree.body = at(body[0], gast.Try(body, leaving, [], []))
    moved_out(unit, tree)
    attempt = _Whole(unit, tree, tree.body[0])
    attempt.require_followed()
    tree.which = attempt.which
    tree.body = attempt.body(tree.body[0].body, []) or at(body[0], gast.Pass())
    return tree


def _always_leaves(body: list[gast.AST]) -> bool:
    """Whether the end of a block is not reached, unless by a failure."""
    last = body[-1] if body else None
    if isinstance(last, gast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    if isinstance(last, gast.With):
        return _always_leaves(last.body)
    if isinstance(last, gast.Try):
        ends = [last.orelse or last.body, *(h.body for h in last.handlers)]
        return all(map(_always_leaves, ends)) or _always_leaves(last.finalbody)
    endless = isinstance(last, gast.While) and isinstance(last.test, gast.Constant) and last.test.value
    return isinstance(last, (gast.Return, gast.Raise)) or (bool(endless) and not any(
        isinstance(n, gast.Break) for n in last.body))
