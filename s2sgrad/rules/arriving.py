"""When rules are read: those of NumPy once the table is asked, those of other libraries once the user has imported them.

later("scipy.linalg", "s2sgrad.rules.scipy.linalg")
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
from typing import Any

_LATER: dict[str, str] = {}  # module of rules -> what it is about
_reading: set[int] = set()  # the threads that read some now
_imported = 0  # how many modules there were when they were last looked for
_begun = False  # whether the rules of NumPy are all there
_TOPICS, _OF_NUMPY = "s2sgrad.rules.", "s2sgrad.rules.of_numpy"
_LIBRARIES = {"numpy", "scipy", __name__.partition(".")[0]} | (sys.stdlib_module_names - {"__main__"})


def later(module: str, rules: str) -> None:
    """Have the module named `rules` fill the table once something has imported `module`."""
    global _imported
    _LATER[rules], _imported = module, 0


def is_reading() -> bool:
    """Whether this thread reads rules of a library."""
    return threading.get_ident() in _reading


def concerns(primitive: Any) -> bool:
    """Whether rules may be about a callable: about any, but for the functions of the user's modules."""
    if not isinstance(primitive, types.FunctionType) or not isinstance(primitive.__module__, str):
        return True
    return primitive.__module__.partition(".")[0] in _LIBRARIES


def begin() -> None:
    """Read the rules of NumPy, on which all others build; not where this thread reads some already."""
    global _begun
    here = threading.get_ident()
    if _begun or here in _reading:
        return
    _reading.add(here)
    try:
        try:
            importlib.import_module(_OF_NUMPY)  # where another thread imports it, this waits
        except Exception:  # each of two threads waited for a topic of the other, and one was given half of it
            _wait()
            importlib.import_module(_OF_NUMPY)
        _begun = True
    finally:
        _reading.discard(here)


def _unfinished() -> set[str]:
    """The topics that some thread imports now."""
    found = [(name, module) for name, module in list(sys.modules.items()) if name.startswith(_TOPICS)]
    return {name for name, module in found if getattr(module.__spec__, "_initializing", False)}


def _wait() -> None:
    """Wait until other threads have imported their topics."""
    waited: set[str] = set()
    while left := _unfinished() - waited:
        for name in left:
            importlib.import_module(name)
        waited |= left


def _is_first() -> bool:
    """Whether this thread imports a topic by itself, as a saved module does: that finds what it builds on in the table."""
    _wait()
    return bool(_unfinished())


def read_for(primitive: Any) -> bool:
    """Read the rules that may be about a callable; whether there were any that had not been read."""
    return concerns(primitive) and read()


def read() -> bool:
    """Read the rules of what has been imported since; whether there were any."""
    global _imported
    if not _begun:
        if threading.get_ident() in _reading or (not _reading and _is_first()):
            return False
        begin()
    if not _LATER or len(sys.modules) == _imported:
        return False
    here = threading.get_ident()
    if here in _reading:
        return False  # the rules that are being read look others up
    _reading.add(here)
    try:
        _imported = len(sys.modules)
        arrived = [rules for rules, module in list(_LATER.items()) if module in sys.modules]
        for rules in arrived:
            importlib.import_module(rules)  # where another thread imports it, this waits
    finally:
        _reading.discard(here)
    for rules in arrived:
        _LATER.pop(rules, None)
    return bool(arrived)
