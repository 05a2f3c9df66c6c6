"""The dependencies of a compilation: every name that is looked up outside of the function.

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
    """Lookups of names in functions (None: unbound), of attributes in modules and classes, of entries in class bodies
    (`member_of`), imported modules, and the keys of dicts that a text assumes.
    """

    def __init__(self) -> None:
        self.names: dict[tuple[int, str], tuple[Any, str, Binding | None]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.members: dict[tuple[int, str], tuple[type, str, Any]] = {}
        self.modules: dict[str, Any] = {}
        self.keys: dict[int, tuple[dict, tuple]] = {}

    def add(self, others: Lookups) -> None:
        """Add the lookups of another attempt."""
        for mine, theirs in zip(vars(self).values(), vars(others).values(), strict=True):
            mine.update(theirs)


_now = threading.local()


@contextlib.contextmanager
def noted() -> Iterator[Lookups]:
    """Collect all lookups of this thread."""
    before = getattr(_now, "lookups", None)
    _now.lookups = Lookups()
    try:
        yield _now.lookups
    finally:
        _now.lookups = before


def note_name(function: Any, name: str, binding: Binding | None) -> None:
    """Note the lookup of a free name of a function."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.names.setdefault((id(function), name), (function, name, binding))


def note_import(name: str, binding: Binding) -> None:
    """Note an import inside a function: of a module, or of a name from one."""
    lookups = getattr(_now, "lookups", None)
    if lookups is None:
        return
    if binding.home is sys.modules:
        lookups.modules[name] = binding.value
    elif binding.home.get("__name__") in sys.modules:
        note_attribute(sys.modules[binding.home["__name__"]], binding.name, binding.value)


def note_member(cls: type, name: str) -> None:
    """Note the lookup of a name in the bodies of a class and its bases."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.members.setdefault((id(cls), name), (cls, name, member_of(cls, name)))


def member_of(cls: type, name: str) -> Any:
    """The entry under a name in the body of the first class of the MRO that has it; None if there is none."""
    return next((vars(k)[name] for k in cls.__mro__ if name in vars(k)), None)


def note_attribute(owner: Any, name: str, value: Any) -> None:
    """Note the lookup of an attribute of a module or a class."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.attributes.setdefault((id(owner), name), (owner, name, value))


def note_keys(d: dict) -> None:
    """Note that a text assumes the keys of a dict from outside."""
    lookups = getattr(_now, "lookups", None)
    if lookups is not None:
        lookups.keys[id(d)] = d, tuple(d)
