"""How memoized functions find what they gave in this run: by value, and by what the value was computed from.

remembered(x[0]) + remembered(1.31)      x[0] is 1.31: two results, of which one carries a derivative
"""

from __future__ import annotations

from typing import Any

from s2sgrad.recorded.values import Number, bottom, lost, mapped


def key_of(key: Any) -> Any:
    """What a memoized function finds its results by: equal values that are followed differently are different."""
    return mapped(key, lambda h: _Source(h, _source_of(h)))


class _Source:
    """A number, and what it was computed from."""

    def __init__(self, number: Any, source: Any) -> None:
        self.source = source if type(number) is Number else lost("an array as a key")
        self.run = number.run
        self.value = bottom(number)

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Source and (self.run, self.value, self.source) == (other.run, other.value, other.source)


def _source_of(number: Any) -> Any:
    """The same for numbers that were read from one place, or computed from the same numbers."""
    if not number.run.open or type(number) is not Number:
        return None
    known: dict[Any, Any] = number.run.caches.setdefault("sources", {})
    entry = number.run.entries[number.node]
    if entry is None or len(entry) < 3:
        return number.node
    if len(entry) == 3:
        key = (entry[1].version, *entry[1:]) if not entry[1].written else None
    else:
        pull, a, b, x, y = entry[:5]
        plain_operands = len(entry) == 5 and type(a) in (int, type(None)) and type(b) in (int, type(None))
        key = (pull, known.get(a, a), known.get(b, b), bottom(x), bottom(y)) if plain_operands else None
    if key is None:
        return number.node
    first = known.setdefault(key, number.node)
    known[number.node] = first
    return first
