"""The ends of the paths through a block: where a trip's records are made, in front of every `break`.

if done: break          if done: t_stack.append(t); break
x = x * t       ->      else: x = x * t; t_stack.append(t)
"""

from __future__ import annotations

import gast

from s2sgrad.flow.graph import Block
from s2sgrad.ir.quote import LOOPS, blocks, clone


def breaks(body: Block) -> bool:
    """Whether a path through the block leaves its loop."""
    own = (s for s in body if not isinstance(s, LOOPS))
    return any(isinstance(s, gast.Break) or any(map(breaks, blocks(s))) for s in own)


def at_tail(body: Block, ends: Block) -> Block:
    """The block with `ends` at the end of every path through it, in front of a `break`."""
    if not ends:
        return body
    if body and isinstance(body[-1], gast.Break):
        return [*body[:-1], *ends, body[-1]]
    if breaks(body[-1:]):
        for arm in blocks(body[-1]):
            arm[:] = at_tail(arm, [clone(s) for s in ends])
        return body
    return [*body, *ends]
