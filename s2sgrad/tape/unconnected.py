"""The results for sources that the target does not depend on."""

from __future__ import annotations

import enum
from typing import Any


class UnconnectedGradients(enum.StrEnum):
    """The gradient for a source that the target does not depend on: None, or zeros with its shape.

    Options also accept the strings "none" and "zero".
    """

    NONE = "none"
    ZERO = "zero"


def checked(asked: Any) -> UnconnectedGradients:
    """The member for a string or member; ValueError for anything else."""
    try:
        return UnconnectedGradients(asked)
    except ValueError:
        raise ValueError(
            f"unconnected_gradients must be 'none' or 'zero' (or a member of UnconnectedGradients), not {asked!r}"
        ) from None
