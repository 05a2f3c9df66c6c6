"""What a gradient returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What a gradient returns: `value` too, a tuple (`several`) or a list (`listed`), zeros or None for what is unconnected.

    `stops` are variables through which no gradient flows: what `gradients` of a function is asked for.  `lists` lets loops
    over single elements run on lists.  With `has_aux` the function returns a pair, of which the first is differentiated.
    """

    value: bool = False
    several: bool = False
    unconnected: str = "zero"
    outputs: str | tuple[str, ...] | None = None
    listed: bool = False
    stops: tuple[str, ...] = ()
    lists: bool = True
    has_aux: bool = False

    @property
    def suffix(self) -> str:
        """How the name of the generated function ends."""
        return "gradients" if self.listed else "value_and_grad" if self.value else "grad"
