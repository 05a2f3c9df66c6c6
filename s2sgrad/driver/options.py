"""The options of a gradient: what it returns, and how it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace

DEFAULT, PREFERRED = "numpy", "scalar_lists"  # backends; by name; `driver.lowering` has the objects
LOOPS = "loops"  # the text of the default one, which `compiled` lowers to loops
THREADS = "threads"  # the same, some of them in several threads


class Recording:
    """Whether what has no text may be recorded as it runs."""

    allowed = True


@dataclass(frozen=True)
class Options:
    """What a gradient returns: with `value` the value too, a tuple (`several`) or list (`listed`), zeros or None if absent.

    `stops` are variables through which no gradient flows, as `gradients` of a function asks for.  `backend` rewrites what it
    can; a text that is differentiated again is made by the default one.  With `has_aux` the function returns a pair, and the
    first of it is differentiated.  `along`: return a tangent, along those of arguments ("tangents"), along many at once,
    with a leading axis ("lanes"), or of a gradient along what is called the seed ("seed").  `mode`: how a gradient of a
    gradient is computed, "fwd" or "rev"; None for forward mode where it can.  `debug`: check each intermediate value.
    `records_all`: loops over `checkpointed` keep records of every trip, as they do in a text that is differentiated again.
    `strict`: refuse what has no text, instead of recording it.
    `complex`: complex numbers may carry derivatives (where they turn up in a text for real ones, it is written anew).
    `holomorphic`: the result may be complex, and the gradient is the derivative.  `conjugate`: return conjugates.
    """

    value: bool = False
    several: bool = False
    unconnected: str = "zero"
    outputs: str | tuple[str, ...] | None = None
    listed: bool = False
    stops: tuple[str, ...] = ()
    backend: str = PREFERRED
    has_aux: bool = False
    along: str = ""
    mode: str | None = None
    debug: bool = False
    records_all: bool = False
    strict: bool = False
    complex: bool = False
    holomorphic: bool = False
    conjugate: bool = False

    @property
    def forward(self) -> bool:
        """Whether a tangent is returned, with the value or alone."""
        return bool(self.along)

    @property
    def lanes(self) -> bool:
        """Whether tangents have a leading axis, for many at once."""
        return self.along == "lanes"

    @property
    def to_be_differentiated(self) -> Options:
        """The options for a text that is differentiated again."""
        return replace(self, backend=DEFAULT, debug=False, records_all=True)

    @property
    def needs_text(self) -> bool:
        """Whether a recording cannot take the text's place: it stops no gradient at variables, and tells no argument without
        a derivative from one whose derivative is 0."""
        return self.strict or self.mode == "fwd" or bool(self.stops) or self.unconnected != "zero"

    @property
    def suffix(self) -> str:
        """The suffix of the generated function's name."""
        if self.along and self.along != "seed":
            return "jvp"
        return "gradients" if self.listed else "value_and_grad" if self.value else "grad"
