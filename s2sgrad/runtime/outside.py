"""What a differentiated function writes outside of itself: globals, and attributes of the caller's objects.

layer.h = h      ->      set_attribute(layer, "h", h)      for the passes only; emitted as an assignment again
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal

_UNCHANGING = (int, float, complex, str, bytes, tuple, np.generic)


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


def set_item(owner: Any, key: Any, value: Any) -> None:
    """`owner[key] = value`, of a list or dict that lives outside."""
    owner[key] = value


def delete_items(owner: Any, section: slice) -> None:
    """`del owner[a:b]`, of a list that lives outside."""
    del owner[section]


def container(value: Any, line: int) -> Any:
    """A list or dict that another one from outside holds; TypeError for anything else that is written by item.

    >>> container([1.0], 7)
    [1.0]
    """
    if not isinstance(value, (list, dict)) or isinstance(type(value).__setitem__, types.FunctionType):
        raise Refusal(line, f"this writes the {type(value).__name__} that a global holds, which is not differentiated: pass "
                            "it as an argument, or copy it first")  # fmt: skip
    return value


def kept_outside(value: Any, line: int) -> Any:
    """What a list or dict from outside is to hold: no memory of the function's; TypeError for anything else.

    >>> kept_outside(2.0, 7)
    2.0
    """
    if value is not None and not isinstance(value, _UNCHANGING):
        raise Refusal(line, f"a {type(value).__name__} is kept in what lives outside of the function, which is not "
                            "differentiated: keep a number, or return it")  # fmt: skip
    return value


def distinct(line: int, *objects: Any) -> None:
    """Check that the caller's objects whose attributes are written are pairwise different; TypeError where two are the same.

    >>> distinct(7, [], [])
    """
    if len(set(map(id, objects))) < len(objects):
        name = type(objects[0]).__name__
        raise Refusal(line, f"two of the objects that are given, and of which attributes are written, are the same {name}: "
                            "pass a copy of one")  # fmt: skip


def unshared(value: Any, line: int) -> Any:
    """An item that `op=` replaces; TypeError where it would be written in place instead.

    >>> unshared(2.0, 7)
    2.0
    """
    if not isinstance(value, _UNCHANGING):
        raise Refusal(line, f"`op=` writes in place the {type(value).__name__} that an item of a global holds, which is not "
                            "differentiated: bind the item anew")  # fmt: skip
    return value
