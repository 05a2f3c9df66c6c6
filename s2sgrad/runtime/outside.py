"""What a differentiated function writes outside of itself: globals, and attributes of the caller's objects.

    layer.h = h      ->      set_attribute(layer, "h", h)      while passes look at it; in the text it is an assignment again
"""

from __future__ import annotations

from typing import Any

from s2sgrad.runtime.checks import Refusal


class Global:
    """A global that a differentiated function writes: read and written where the function does it."""

    def __init__(self, space: dict[str, Any], name: str) -> None:
        self.space, self.name = space, name

    def read(self) -> Any:
        if self.name not in self.space:
            raise NameError(f"name {self.name!r} is not defined")
        return self.space[self.name]

    def write(self, value: Any) -> None:
        self.space[self.name] = value


def set_attribute(owner: Any, attribute: str, value: Any) -> None:
    """`owner.attribute = value`, of an object of the caller's."""
    setattr(owner, attribute, value)


def distinct(line: int, *objects: Any) -> None:
    """Check that the caller's objects, of which attributes are written, are not one; TypeError where two are.

    >>> distinct(7, [], [])
    """
    if len(set(map(id, objects))) < len(objects):
        name = type(objects[0]).__name__
        raise Refusal(line, f"two of the objects that are given, and of which attributes are written, are the same {name}: "
                            "pass a copy of one")  # fmt: skip
