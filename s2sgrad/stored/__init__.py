"""Texts in a folder: what one process compiled, the next one reads.

    S2SGRAD_CACHE=texts python fit.py      ->      the second run imports no compiler

`marks` tells objects by their content, `ways` says how a text's objects are found again, `packed` is a text as plain data,
`folder` reads and writes files.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported at the first compilation, to keep `import s2sgrad` fast
    from s2sgrad.driver.recipe import Compiled


class Folder:
    """Where texts are kept; empty for nowhere."""

    path = os.environ.get("S2SGRAD_CACHE", "")


def use_cache(folder: str | os.PathLike[str] | None) -> None:
    """Keep compiled gradients in this folder, and read from it what an earlier process kept; `None` stops that.

    The environment variable `S2SGRAD_CACHE` does the same for a whole process.
    """
    Folder.path = "" if folder is None else os.path.abspath(os.path.expanduser(os.fspath(folder)))


def kept(function: types.FunctionType, kinds: Any, asked: tuple, compile_: Callable[[], Compiled]) -> Compiled:
    """The text of a function for these kinds: from the folder, or else compiled."""
    if not Folder.path:
        return compile_()
    from s2sgrad.stored import folder

    return folder.through(Folder.path, function, kinds, asked, compile_)
