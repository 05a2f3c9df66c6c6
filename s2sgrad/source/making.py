"""A function from text of ours, with the globals and the cells of a user's function.

    made("def g(t, *, x): return t * x * k", "g", f, {}, {"k"})   ->   g, whose `k` is what it is to f

The text is registered where tracebacks and `read` look; it goes with the function.
"""

from __future__ import annotations

import hashlib
import itertools
import linecache
import types
import weakref
from typing import Any

from s2sgrad.source.files import GENERATED_TEXTS

_numbers = itertools.count()  # no two files have one name: the text of one goes when its function goes


def made(
    text: str, name: str, home: types.FunctionType, helpers: dict[str, Any], reached: set[str]
) -> types.FunctionType:
    """The function `name` that `text` defines; its free names are `helpers`, and else what they are to `home`, of whose
    cells it holds those in `reached`.

    Itself it reaches under its own name.
    """
    own = dict(zip(home.__code__.co_freevars, home.__closure__ or (), strict=True))
    own = {n: cell for n, cell in own.items() if n in reached}
    cells = {**own, **{n: types.CellType(value) for n, value in helpers.items()}, name: types.CellType()}
    whole = f"def outer({', '.join(sorted(set(cells) - {name}))}):\n{_indented(text)}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    file = f"<{home.__code__.co_filename}:{home.__code__.co_firstlineno} {name} {digest} {next(_numbers)}>"
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    outer = _code(compile(whole, file, "exec", dont_inherit=True), "outer")
    code = _code(outer, name)
    function = types.FunctionType(code, home.__globals__, name, None, tuple(cells[n] for n in code.co_freevars))
    cells[name].cell_contents = function
    function.__module__ = home.__module__
    weakref.finalize(function, _forget, file).atexit = False
    return function


def _forget(file: str) -> None:
    for texts in (linecache.cache, GENERATED_TEXTS):
        texts.pop(file, None)


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def _code(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
