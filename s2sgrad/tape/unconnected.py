"""The results for sources that the target does not depend on."""

from __future__ import annotations

from typing import Any, Final, Literal

Unconnected = Literal["none", "zero"]


class UnconnectedGradients:
    """The gradient for a source that the target does not depend on: None, or zeros with its shape.

    The members are the strings "none" and "zero", which options accept too.
    """

    NONE: Final = "none"
    ZERO: Final = "zero"


def checked(asked: Any) -> Unconnected:
    """What is asked, if it is a member; ValueError for anything else."""
    for member in (UnconnectedGradients.NONE, UnconnectedGradients.ZERO):
        if isinstance(asked, str) and asked == member:
            return member
    raise ValueError(f"unconnected_gradients must be 'none' or 'zero' (or a member of UnconnectedGradients), not {asked!r}")
