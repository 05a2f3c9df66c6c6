"""What a gradient returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What a gradient returns: `value` too, a tuple (`several`), zeros or None for unconnected arguments."""

    value: bool = False
    several: bool = False
    unconnected: str = "zero"
    outputs: str | tuple[str, ...] | None = None
