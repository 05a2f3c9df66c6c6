"""Exits from a block by `break`, `continue` and `return`: whether they may or must happen, and replacements for them.

>>> import gast
>>> from s2sgrad.ir.quote import statements
>>> body = statements('''
... while x < 9.0:
...     if x < y:
...         break
...     x = x * y
... ''')[0].body
>>> leaves(body, gast.Return), leaves(body), always_leaves(body)
(False, True, False)
>>> leaves(with_exits(body, gast.Break, lambda _: statements("done = True")))
False
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from s2sgrad.ir.quote import COMPOUND, at, nested

EXITS = (gast.Return, gast.Break, gast.Continue)


def own_statements(body: list[gast.AST]) -> Iterator[gast.AST]:
    """The statements of a block and of `if`s in it; of loops in it, only those of the `else`."""
    waiting = [*reversed(body)]
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, COMPOUND):
            waiting += reversed([*(statement.body if isinstance(statement, gast.If) else ()), *statement.orelse])


def leaves(body: list[gast.AST], kinds: type | tuple[type, ...] = EXITS) -> bool:
    """Whether some path through the block exits it early; exits from inner loops do not count."""
    return any(isinstance(statement, kinds) for statement in own_statements(body))


def returns(body: list[gast.AST]) -> bool:
    """Whether a block contains a `return`, inner loops included."""
    return any(isinstance(statement, gast.Return) for block in nested(body) for statement in block)


def leaves_trip(body: list[gast.AST]) -> bool:
    """Whether the body of a loop may exit the loop, or start its next trip, before its end."""
    return leaves(body) or returns(body)


def always_leaves(body: list[gast.AST]) -> bool:
    """Whether every path through the block exits it early."""
    waiting = [body]  # blocks that all have to: the arms of a chain of `elif`s may be more than calls may nest
    while waiting:
        block = waiting.pop()
        if any(map(_is_exit, block)):
            continue
        branches = [statement for statement in block if isinstance(statement, gast.If)]
        if any(always_leaves(b.body) and always_leaves(b.orelse) for b in branches[:-1]):
            continue
        if not branches:
            return False
        waiting += [branches[-1].orelse, branches[-1].body]
    return True


def _is_exit(statement: gast.AST) -> bool:
    """Whether what follows a statement other than an `if` is never run."""
    if isinstance(statement, gast.While):  # `while True`
        endless = isinstance(statement.test, gast.Constant) and statement.test.value and not statement.orelse
        return bool(endless) and not leaves(statement.body, gast.Break)
    return isinstance(statement, (*EXITS, gast.Raise))


def with_exits(body: list[gast.AST], kind: type, instead: Callable[[gast.AST], list[gast.AST]]) -> list[gast.AST]:
    """A block with its exits of a kind replaced."""
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, gast.If):
            arms = [with_exits(arm, kind, instead) for arm in (statement.body, statement.orelse)]
            out += at(statement, gast.If(statement.test, *arms))
        else:
            out += instead(statement) if isinstance(statement, kind) else [statement]
    return out
