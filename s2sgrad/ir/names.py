"""Generated names: `x_bar`, `x_stack`, `t1`.  Deterministic; a clash gets a trailing underscore or a number.

>>> names = Namer({"x", "x_bar", "t1"})
>>> names.fresh("x_bar"), names.fresh("x_bar"), names.numbered("t"), names.numbered("t")
('x_bar_', 'x_bar_2', 't2', 't3')
>>> names.fresh((lambda: 0).__name__)
'lambda_'
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable


class Namer:
    """Hands out names that are unique within one function."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._counters: dict[str, int] = {}

    def copied(self) -> Namer:
        """One that hands out the same names from here on."""
        copy = Namer(self.taken)
        copy._counters = dict(self._counters)
        return copy

    def fresh(self, base: str) -> str:
        """`base` itself if it is free, otherwise `base_`, `base_2`, ...; as an identifier."""
        if not base.isidentifier():
            base = "".join(c if c.isalnum() else "_" for c in base).lstrip("_") or "f"
        candidate, k = base, 1
        while candidate in self.taken or keyword.iskeyword(candidate):
            candidate, k = (f"{base}_" if k == 1 else f"{base}_{k}"), k + 1
        self.taken.add(candidate)
        return candidate

    def numbered(self, base: str, start: int = 1) -> str:
        """The next free one of `base1`, `base2`, ..."""
        k = self._counters.get(base, start)
        while f"{base}{k}" in self.taken:
            k += 1
        self._counters[base] = k + 1
        self.taken.add(f"{base}{k}")
        return f"{base}{k}"
