"""Loops whose outer trips do not depend on each other run in several threads, where there is much to do.

    for i in range(n):                     if n * m > 32768:
        for j in range(m):                     for i in prange(n): ..
            y[i, j] = x[i, j] * 2.0    ->  else:
                                               for i in range(n): ..

Each trip writes elements of its own, so that the numbers are the same, whatever runs first.  Sums over all elements, stores
at places that an array says, and what may raise stay in one thread.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from s2sgrad.compiled.output import Block, Nest, Rows, size_of, written
from s2sgrad.compiled.unread import raising
from s2sgrad.compiled.values import ONE, Leaf

_MUCH = 2**15  # so many elements, times what is written for each, are worth several threads
_WORD = re.compile(r"[A-Za-z_]\w*")


def shared(body: list[Any]) -> list[Any]:
    """The statements, with loops in several threads where their trips are independent."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            out.append(Block(s.head, shared(s.body), shared(s.orelse)))
        elif isinstance(s, (Nest, Rows)) and all(map(is_independent, _nests(s))):
            work = " + ".join(f"({size_of(nest.extents)}) * {len(nest.stores)}" for nest in _nests(s))
            out.append(Block(f"if {work} > {_MUCH}:", [replace(s, parallel=True)], [s]))
        else:
            out.append(s)
    return out


def _nests(loops: Nest | Rows) -> list[Nest]:
    return loops.nests if isinstance(loops, Rows) else [loops]


def is_independent(nest: Nest) -> bool:
    """Whether each trip of the outermost loop writes elements of its own, reads no others that are written, and cannot
    raise."""
    outer = next((k for k, e in enumerate(nest.extents) if e != ONE), None)
    if outer is None or not {w for t in written(nest) for w in _WORD.findall(t)}.isdisjoint(raising()):
        return False
    targets: dict[str, Any] = {}
    for store in nest.stores:
        if not isinstance(store.target, Leaf) or store.op != "=" or store.axes is not None:
            return False
        if store.target.places and outer not in {p.axis for p in store.target.places}:
            return False
        if targets.setdefault(store.target.root, store.target.places) != store.target.places:
            return False
    return True
