"""What is given for a source that the target does not depend on."""

from __future__ import annotations

import enum
from typing import Any


class UnconnectedGradients(enum.StrEnum):
    """What stands for the gradient in a source that does not reach the target: None, or zeros of its shape.

    Wherever one is asked for, the strings "none" and "zero" do as well.
    """

    NONE = "none"
    ZERO = "zero"


def checked(asked: Any) -> UnconnectedGradients:
    """The member that is meant; ValueError for anything else."""
    try:
        return UnconnectedGradients(asked)
    except ValueError:
        raise ValueError(
            f"unconnected_gradients must be 'none' or 'zero' (or a member of UnconnectedGradients), not {asked!r}"
        ) from None
