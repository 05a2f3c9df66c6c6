"""Rules of libraries that need not be there: they are read once the user has imported what they are about.

later("scipy.linalg", "s2sgrad.rules.scipy.linalg")
"""

from __future__ import annotations

import importlib
import sys
import threading

_LATER: dict[str, str] = {}  # module of rules -> what it is about
_reading: set[int] = set()  # the threads that read some now
_imported = 0  # how many modules there were when they were last looked for
_begun = False  # whether the rules of NumPy are all there: others build on them


def later(module: str, rules: str) -> None:
    """Have the module named `rules` fill the table once something has imported `module`."""
    global _imported
    _LATER[rules], _imported = module, 0


def begin() -> None:
    """Let rules be read from now on."""
    global _begun
    _begun = True


def is_reading() -> bool:
    """Whether this thread reads rules of a library."""
    return threading.get_ident() in _reading


def read() -> bool:
    """Read the rules of what has been imported since; whether there were any."""
    global _imported
    if not _begun or not _LATER or len(sys.modules) == _imported:
        return False
    here = threading.get_ident()
    if here in _reading:
        return False  # the rules that are being read look others up
    _imported = len(sys.modules)
    arrived = [rules for rules, module in list(_LATER.items()) if module in sys.modules]
    _reading.add(here)
    try:
        for rules in arrived:
            importlib.import_module(rules)  # where another thread imports it, this waits
    finally:
        _reading.discard(here)
    for rules in arrived:
        _LATER.pop(rules, None)
    return bool(arrived)
