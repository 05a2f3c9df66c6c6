"""What a gradient returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

DEFAULT, PREFERRED = "numpy", "scalar_lists"  # backends; `driver.lowering` knows what stands behind their names


@dataclass(frozen=True)
class Options:
    """What a gradient returns: `value` too, a tuple (`several`) or a list (`listed`), zeros or None for what is unconnected.

    `stops` are variables through which no gradient flows: what `gradients` of a function is asked for.  `backend` rewrites
    what it can; what is differentiated again is the text of the default.  With `has_aux` the function returns a pair, of
    which the first is differentiated.  `forward`: it returns the value and its tangent; `lanes`: tangents have
    one more axis, the first, along which many stand beside each other.  `debug`: it looks at each value that it makes.
    `records_all`: loops over `checkpointed` keep records of every trip, as in a text that is differentiated again.
    """

    value: bool = False
    several: bool = False
    unconnected: str = "zero"
    outputs: str | tuple[str, ...] | None = None
    listed: bool = False
    stops: tuple[str, ...] = ()
    backend: str = PREFERRED
    has_aux: bool = False
    forward: bool = False
    lanes: bool = False
    debug: bool = False
    records_all: bool = False

    @property
    def to_be_differentiated(self) -> Options:
        """The same for a text that is differentiated again."""
        return replace(self, backend=DEFAULT, debug=False, records_all=True)

    @property
    def suffix(self) -> str:
        """How the name of the generated function ends."""
        if self.forward:
            return "jvp"
        return "gradients" if self.listed else "value_and_grad" if self.value else "grad"
