"""The exits of a block: where the records of a trip are pushed, also before each `break`.

if done: break          if done: t_stack.append(t); break
x = x * t       ->      else: x = x * t; t_stack.append(t)
"""

from __future__ import annotations

import gast

from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.quote import blocks, clone


def at_tail(body: Block, ends: Block) -> Block:
    """The block with `ends` at the end of each path through it, before a `break` if there is one."""
    if not ends:
        return body
    if body and isinstance(body[-1], gast.Break):
        return [*body[:-1], *ends, body[-1]]
    if leaves(body[-1:], gast.Break):
        for arm in blocks(body[-1]):
            arm[:] = at_tail(arm, [clone(s) for s in ends])
        return body
    return [*body, *ends]
