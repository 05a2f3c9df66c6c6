"""Every name that the compiler looks up in the user's world while it writes a text: what the text was specialised on.

def f(x): return helper(x) * k      ->      (f, "helper"), (f, "k"), and whatever `helper` looks up
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from s2sgrad.source import Binding


class Lookups:
    """The names looked up in functions (None: unbound), the attributes looked up in modules and classes, what stands in the
    bodies of classes (`member_of`), and the modules imported."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, str], tuple[Any, str, Binding | None]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.members: dict[tuple[int, str], tuple[type, str, Any]] = {}
        self.modules: dict[str, Any] = {}


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


def note_import(name: str, binding: Binding) -> None:
    """An import inside a function was looked up: of a module, or of a name from one."""
    lookups = getattr(_now, "lookups", None)
    if lookups is None:
        return
    if binding.home is sys.modules:
        lookups.modules[name] = binding.value
    elif binding.home.get("__name__") in sys.modules:
        note_attribute(sys.modules[binding.home["__name__"]], binding.name, binding.value)


def note_member(cls: type, name: str) -> None:
    """What stands in the body of a class, or of one of its bases, was looked up."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.members.setdefault((id(cls), name), (cls, name, member_of(cls, name)))


def member_of(cls: type, name: str) -> Any:
    """What stands under a name in the body of a class or of its nearest base that has it; None where none has."""
    return next((vars(k)[name] for k in cls.__mro__ if name in vars(k)), None)


def note_attribute(owner: Any, name: str, value: Any) -> None:
    """An attribute of a module or a class was looked up."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.attributes.setdefault((id(owner), name), (owner, name, value))
