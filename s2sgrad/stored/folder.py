"""The folder of texts: reads and writes files.

    loss, for these kinds      ->      loss-5c1f..: a digest, and the text

A file is named for all that a compilation reads: the function and what it refers to, the kinds of the arguments, the
options, and the versions.  It is written under another name and moved into place, so that no reader sees half of it.
Whatever goes wrong with a file, the text is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.driver.options import Recording
from s2sgrad.driver.recipe import Compiled, noted
from s2sgrad.rules import table
from s2sgrad.stored.marks import Marks
from s2sgrad.stored.packed import opened, packed

_FORMAT = 1
_DIGEST = hashlib.sha256().digest_size


def through(
    folder: str, function: types.FunctionType, kinds: Any, asked: tuple, compile_: Callable[[], Compiled]
) -> Compiled:
    """What is kept for this function, these kinds and what was `asked`; else what is compiled now, and kept if it can be."""
    file = _file(folder, function, kinds, asked)
    if file is None:
        return compile_()
    compiled = _read(file, function, kinds)
    if compiled is None:
        with noted() as sources:
            compiled = compile_()
        if sources.lookups is not None:
            _write(file, compiled, sources, function, kinds)
    return compiled


def _file(folder: str, function: types.FunctionType, kinds: Any, asked: tuple) -> str | None:
    """The file of a text; None for what cannot be told from others, and where the user changed rules."""
    if table.changes != table.own or table.GIVEN:
        return None
    try:
        marks = Marks(deep=True)
        text = f"{_versions()} {Recording.allowed} {asked!r} {marks.kind(kinds)}"
        key = hashlib.sha256(f"{text} {marks.told(function, True)}".encode(errors="surrogatepass")).hexdigest()
        return os.path.join(folder, f"{function.__code__.co_name.strip('<>')}-{key[:32]}.s2sgrad")
    except Exception:  # an object of the user's that cannot even be looked at
        return None


@functools.cache
def _versions() -> str:
    """What texts depend on besides the user's program; of this package the files, which somebody may be editing."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files, waiting = [], [home]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    files.append((entry.path[len(home) :], stat.st_size, stat.st_mtime_ns))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    others = [getattr(sys.modules.get(name), "__version__", None) for name in ("scipy", "gast", "numba")]
    python = sys.version, sys.implementation.cache_tag, sys.flags.optimize
    digest = hashlib.sha256(repr(sorted(files)).encode()).hexdigest()
    return f"{_FORMAT} {digest} {np.__version__} {others} {python}"


def _read(file: str, function: types.FunctionType, kinds: Any) -> Compiled | None:
    try:
        with open(file, "rb") as stream:
            content = stream.read()
        digest, data = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(data).digest() != digest:
            return None
        return opened(marshal.loads(data), function, kinds)
    except Exception:  # there is none, or it is damaged, or one of the objects that it names is another one now
        return None


def _write(file: str, compiled: Compiled, sources: Any, function: types.FunctionType, kinds: Any) -> None:
    home, name = os.path.split(file)
    partial = os.path.join(home, f".{name}.{os.getpid()}.{threading.get_ident()}")
    try:
        data = marshal.dumps(packed(compiled, sources, function, kinds))
        os.makedirs(home, exist_ok=True)
        with open(partial, "wb") as stream:
            stream.write(hashlib.sha256(data).digest() + data)
        os.replace(partial, file)
    except Exception:  # an object that is nowhere to be found again, a full disk, a folder that is not ours
        with contextlib.suppress(OSError, ValueError):
            os.unlink(partial)
