"""Objects that a user function can reach besides its arguments, through its free names and defaults.  `memory.behaviour`
asks before it analyzes a function, because this determines what the values in it may be.

    feed = Feed()                     read_next may run methods of `feed`, and may return it
    def read_next(): return feed      ->
"""

from __future__ import annotations

import functools
import types

import gast

from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.analysis.plain_classes import makes_objects
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.source import read


@functools.lru_cache(maxsize=1024)
def objects(function: types.FunctionType) -> bool:
    """Whether a user function, or one that it calls, can reach objects of user classes or iterators, or creates some."""
    waiting, seen = [function], set()
    while waiting:
        found = waiting.pop()
        if isinstance(found, types.FunctionType):
            if found in seen or is_library(found) or is_ours(found):
                continue
            seen.add(found)
            try:
                unit, tree = Unit.of(read(found))
            except S2SGradError:
                return True
            free = (n for n in nodes(tree) if isinstance(n, gast.Name) and n.id not in unit.locals)
            waiting += [*map(unit.resolve, free), *(found.__defaults__ or ()), *(found.__kwdefaults__ or {}).values()]
        elif isinstance(found, type):
            if makes_objects(found):
                return True
        elif not callable(found) and found is not MISSING and (trust_of_object(found) or Trust.DATA) > Trust.DRAWING:
            return True
    return False
