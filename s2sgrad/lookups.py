"""Every name that the compiler looks up in the user's world while it writes a text: what the text was specialised on.

def f(x): return helper(x) * k      ->      (f, "helper"), (f, "k"), and whatever `helper` looks up
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from s2sgrad.source import Binding


class Lookups:
    """The names looked up in functions (None: unbound), and the attributes looked up in modules and classes."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, str], tuple[Any, str, Binding | None]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}


_now = threading.local()


@contextlib.contextmanager
def noted() -> Iterator[Lookups]:
    """Note all lookups of this thread."""
    before = getattr(_now, "lookups", None)
    _now.lookups = Lookups()
    try:
        yield _now.lookups
    finally:
        _now.lookups = before


def note_name(function: Any, name: str, binding: Binding | None) -> None:
    """A free name of a function was looked up."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.names.setdefault((id(function), name), (function, name, binding))


def note_attribute(owner: Any, name: str, value: Any) -> None:
    """An attribute of a module or a class was looked up."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.attributes.setdefault((id(owner), name), (owner, name, value))
