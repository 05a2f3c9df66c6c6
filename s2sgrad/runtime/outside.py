"""What a differentiated function writes outside of itself: globals, and attributes of the caller's objects.

    layer.h = h      ->      set_attribute(layer, "h", h)      for the passes only; emitted as an assignment again
"""

from __future__ import annotations

from typing import Any

from s2sgrad.runtime.checks import Refusal


class Global:
    """A global variable that a differentiated function writes: read and written at the same points as in the function."""

    def __init__(self, space: dict[str, Any], name: str) -> None:
        self.space, self.name = space, name

    def read(self) -> Any:
        """The current value; NameError if the global is unset."""
        if self.name not in self.space:
            raise NameError(f"name {self.name!r} is not defined")
        return self.space[self.name]

    def write(self, value: Any) -> None:
        """Assign the global."""
        self.space[self.name] = value


def set_attribute(owner: Any, attribute: str, value: Any) -> None:
    """`owner.attribute = value`, on an object that the caller passed."""
    setattr(owner, attribute, value)


def distinct(line: int, *objects: Any) -> None:
    """Check that the caller's objects whose attributes are written are pairwise different; TypeError where two are the same.

    >>> distinct(7, [], [])
    """
    if len(set(map(id, objects))) < len(objects):
        name = type(objects[0]).__name__
        raise Refusal(line, f"two of the objects that are given, and of which attributes are written, are the same {name}: "
                            "pass a copy of one")  # fmt: skip
