"""What a gradient returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What a gradient returns: `value` too, a tuple (`several`) or a list (`listed`), zeros or None for what is unconnected.

    `stops` are variables through which no gradient flows: what `gradients` of a function is asked for.  `lists` lets loops
    over single elements run on lists.
    """

    value: bool = False
    several: bool = False
    unconnected: str = "zero"
    outputs: str | tuple[str, ...] | None = None
    listed: bool = False
    stops: tuple[str, ...] = ()
    lists: bool = True
