"""A compiled text as functions: over the user's own globals and closure cells; tracebacks and debuggers show it.

    plan.made([loss])      ->      loss_grad, over the globals of `loss`

The functions of a program form one file with a name like `<s2sgrad loss_grad 93e7>`.  Each function runs over the globals
and closure cells of the function that it was made from, and reaches our own (`unbroadcast`, `helper_bwd`) through added
closure cells: nothing is written into the user's module.
"""

from __future__ import annotations

import collections
import hashlib
import linecache
import threading
import types
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2sgrad.errors import warned
from s2sgrad.runtime.traits import Traits, declare, traits
from s2sgrad.source import GENERATED, GENERATED_TEXTS


@dataclass(frozen=True)
class Part:
    """One function of a text: its code, the place of the user's function over whose globals it runs, and its closure.

    A closure cell is the user's own ("own", index), or holds a function of the text ("made", index), a user's function
    ("place", index).  Else it holds another object of the user ("held", a reference to it), or one of our objects
    ("cell", the cell), whose names the traits have in `reaches`.
    """

    code: types.CodeType
    name: str
    place: int
    closure: tuple[tuple[str, Any], ...]
    traits: Traits
    defaults: dict[str, Any]
    doc: str | None
    buffers: int


class Plan:
    """A compiled text, ready to be instantiated over the globals and closure cells of any functions of the same code."""

    def __init__(self, text: str, filename: str, parts: list[Part]) -> None:
        self.text, self.filename, self.parts = text, filename, parts
        for part in parts:
            weakref.finalize(part.code, _forget, filename).atexit = False

    def made(self, primals: Sequence[types.FunctionType]) -> list[types.FunctionType]:
        """The functions of the text over the user's functions, by index."""
        cells = [types.CellType() for _ in self.parts]
        out = []
        for part, mine in zip(self.parts, cells, strict=True):
            primal = primals[part.place]
            closure = []
            for how, what in part.closure:
                if how == "made":
                    closure.append(cells[what])
                elif how == "cell":
                    closure.append(what)
                elif how == "own":
                    closure.append((primal.__closure__ or ())[what])
                else:
                    closure.append(types.CellType(primals[what] if how == "place" else what()))
            function = types.FunctionType(part.code, primal.__globals__, part.name, None, tuple(closure))
            if part.traits.same_signature:
                function.__defaults__ = primal.__defaults__
                function.__kwdefaults__ = {**(primal.__kwdefaults__ or {}), **part.defaults} or None
            else:
                function.__defaults__ = (None,) * part.buffers or None
            function.__dict__["traits"] = part.traits
            if part.traits.same_signature and traits(primal).takes_record:  # as derivatives of a backward function do
                declare(function, takes_record=True, slots=traits(primal).slots)
            function.__doc__ = part.doc
            function.__module__ = primal.__module__
            mine.cell_contents = function
            out.append(function)
        return out


warned.install()
_users: collections.Counter[str] = collections.Counter()  # code objects alive, by the file name of their text
_lock = threading.RLock()  # finalizers may run in any thread


def registered(name: str, text: str, users: int) -> str:
    """A file name under which linecache has this text, until that many code objects are gone."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    lines = text.splitlines(keepends=True)
    for length in range(8, len(digest) + 1, 8):  # longer only on a collision
        filename = f"{GENERATED}{name} {digest[:length]}>"
        if GENERATED_TEXTS.get(filename, (0, None, lines))[2] == lines:
            break
    with _lock:
        _users[filename] += users
    GENERATED_TEXTS[filename] = linecache.cache[filename] = (len(text), None, lines, filename)
    return filename


def shown(filename: str) -> None:
    """Put a text of ours back into linecache, if somebody cleared it."""
    if filename in GENERATED_TEXTS:
        linecache.cache.setdefault(filename, GENERATED_TEXTS[filename])


def _forget(filename: str) -> None:
    """Finalizer of one code object of this file; the last one removes the text."""
    with _lock:
        _users[filename] -= 1
        if _users[filename] <= 0:
            del _users[filename]
            GENERATED_TEXTS.pop(filename, None)
            linecache.cache.pop(filename, None)
