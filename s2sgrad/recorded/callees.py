"""Functions that recorded code calls, and what recording them has cost: some are worth a text of their own.

    for node in tree: y = mlp(W, y)     the first calls are recorded like their caller; then `mlp` is compiled, and each
                                        further call is one entry, whose adjoint is the compiled pullback

A compilation is paid for by the entries that were recorded in its place: whatever a program does, it costs at most about as
much again as its recording has cost.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from s2sgrad.recorded.runs import OPEN

PRICE = 30_000
"""What a compilation costs, in entries of numbers: some 40 ms for a text of a few lines, and its pair."""
LEAST = 8
"""What a compiled call costs: a function with no more entries is always recorded."""
OF_ARRAY = 8
"""What an array costs that is recorded, besides its entry."""

RECORD = object()
"""What `COMPILED` gives for a call that is to be recorded."""
COMPILED: list[Callable[..., Any]] = []
"""How a callee is called by its text: a function of it, of `f`, its copy and the arguments gives the value, or `RECORD`;
filled by `api.compiled_callees`."""


class Callee:
    """What is known of the functions of one code.  `saved`: what compiled calls would have saved; `known`: the kinds of
    arguments whose text was paid for; `apart`: whether there may be one."""

    __slots__ = ("apart", "known", "saved")

    def __init__(self) -> None:
        self.saved = 0
        self.known: set[Any] = set()
        self.apart: bool | None = None

    def called(self, f: Any, copy: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> Any:
        """`f(*args, **keywords)`: as one entry, or by the copy whose calls are followed."""
        if not OPEN.runs:
            return copy(*args, **keywords)
        run = OPEN.runs[-1]
        entries = run.entries
        if (self.known or self.saved >= PRICE) and type(entries) is list and self.apart is not False:
            value = COMPILED[0](self, f, copy, args, keywords)
            if value is not RECORD:
                return value
        before = len(entries) + OF_ARRAY * run.arrays
        value = copy(*args, **keywords)
        cost = len(entries) + OF_ARRAY * run.arrays - before
        if cost > LEAST:
            self.saved += cost - LEAST
        return value

    def pays(self, kinds: Any) -> bool:
        """Whether a text for arguments of these kinds is paid for; it is then."""
        if kinds in self.known:
            return True
        if self.saved < PRICE:
            return False
        self.saved -= PRICE
        self.known.add(kinds)
        return True


_CALLEES: dict[int, tuple[Any, Callee]] = {}


def callee_of(f: Any) -> Callee:
    """What is known of a function, and of all others of its code."""
    code = f.__code__
    found = _CALLEES.get(id(code))
    if found is not None and found[0]() is code:
        return found[1]
    _CALLEES[id(code)] = weakref.ref(code), Callee()
    weakref.finalize(code, _CALLEES.pop, id(code), None).atexit = False
    return _CALLEES[id(code)][1]
