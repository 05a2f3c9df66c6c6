"""Rules that are made from a text: one text for a family of functions that differ in names alone.

    made("def sine(g, y, x):\\n    return g * np.cos(x)\\n", "of sines", {"np": np})["sine"]     a pullback with source

The text is found by the readers of sources as that of a module in an archive is: by the loader that its globals name.  It
makes a module below the one that makes it, and is there as soon as that is imported: generated text imports from it.
"""

from __future__ import annotations

import linecache
import sys
import types
from typing import Any


class _Text:
    """The loader of a text that is in no file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def made(text: str, module: str, space: dict[str, Any]) -> dict[str, Any]:
    """The globals that a text leaves, started with `space`: those of a new module of this name."""
    file = f"{__file__} of {module}"
    found = sys.modules[module] = types.ModuleType(module)
    vars(found).update(space, __loader__=_Text(text))
    exec(compile(text, file, "exec", dont_inherit=True), vars(found))
    linecache.lazycache(file, vars(found))
    return vars(found)
