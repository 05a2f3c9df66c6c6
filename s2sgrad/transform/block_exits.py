"""The ends of the paths through a block: where a trip's records are made, in front of every `break`.

if done: break          if done: t_stack.append(t); break
x = x * t       ->      else: x = x * t; t_stack.append(t)
"""

from __future__ import annotations

import gast

from s2sgrad.flow.graph import Block
from s2sgrad.ir.quote import clone


def breaks(body: Block) -> bool:
    """Whether a path through the block leaves its loop."""
    for statement in body:
        if isinstance(statement, gast.Break):
            return True
        if isinstance(statement, gast.If) and (breaks(statement.body) or breaks(statement.orelse)):
            return True
    return False


def at_tail(body: Block, ends: Block) -> Block:
    """The block with `ends` at the end of every path through it, in front of a `break`."""
    if not ends:
        return body
    if body and isinstance(body[-1], gast.Break):
        return [*body[:-1], *ends, body[-1]]
    if body and isinstance(body[-1], gast.If) and breaks([body[-1]]):
        last = body[-1]
        last.body = at_tail(last.body, [clone(s) for s in ends])
        last.orelse = at_tail(last.orelse, [clone(s) for s in ends])
        return body
    return [*body, *ends]
