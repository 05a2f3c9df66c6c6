"""A function from text of ours, with the globals and the cells of a user's function.

    made("def g(t, *, x): return t * x * k", "g", f, {}, {"k"})   ->   g, whose `k` is what it is to f

The text is registered where tracebacks and `read` look; it goes with the function.  Where it came of statements of the
user's, errors name those.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sgrad.errors import MADE, Place, raised
from s2sgrad.source.files import GENERATED_TEXTS

_numbers = itertools.count()  # no two files have one name: the text of one goes when its function goes


def made(
    text: str, name: str, home: types.FunctionType, helpers: dict[str, Any], reached: set[str],
    tree: gast.FunctionDef | None = None, place: Callable[[Any], Place] | None = None,
) -> types.FunctionType:  # fmt: skip
    """The function `name` that `text` defines; its free names are `helpers`, and else what they are to `home`, of whose
    cells it holds those in `reached`.

    Itself it reaches under its own name.  `tree` is what was written, and `place` says where its nodes stand.
    """
    own = dict(zip(home.__code__.co_freevars, home.__closure__ or (), strict=True))
    own = {n: cell for n, cell in own.items() if n in reached}
    cells = {**own, **{n: types.CellType(value) for n, value in helpers.items()}, name: types.CellType()}
    whole = f"def outer({', '.join(sorted(set(cells) - {name}))}):\n{_indented(text)}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    file = f"{MADE}{home.__code__.co_filename}:{home.__code__.co_firstlineno} {name} {digest} {next(_numbers)}>"
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    outer = _code(compile(whole, file, "exec", dont_inherit=True), "outer")
    code = _code(outer, name).replace(co_qualname=f"{home.__qualname__}.<locals>.{name}")
    if tree is not None and place is not None:
        (written,) = ast.parse(whole).body[0].body
        raised.register(code, dict(_places(written, tree, place)), frozenset(), None)
    function = types.FunctionType(code, home.__globals__, name, None, tuple(cells[n] for n in code.co_freevars))
    cells[name].cell_contents = function
    function.__module__ = home.__module__
    weakref.finalize(function, _forget, file).atexit = False
    return function


def _places(written: ast.FunctionDef, tree: gast.FunctionDef, place: Callable[[Any], Place]) -> Iterator[tuple[int, Place]]:
    """The lines at which statements begin that came of the user's, and these."""
    for shown, statement in statements(written, tree):
        if any(hasattr(part, "lineno") for part in gast.walk(statement)):
            yield shown.lineno, place(statement)


def statements(written: ast.AST, tree: gast.AST) -> Iterator[tuple[Any, Any]]:
    """The statements of a text, each with that of the tree from which it was written, those around others first."""
    for field in ("body", "orelse", "finalbody"):
        for shown, statement in zip(getattr(written, field, []), getattr(tree, field, []), strict=False):
            yield shown, statement
            yield from statements(shown, statement)


def defined(text: str, name: str, file: str, space: dict[str, Any]) -> types.FunctionType:
    """The function `name` that `text` defines, with `space` for globals; the text is registered for good.

    >>> defined("def twice(x):\\n    return two * x\\n", "twice", "<twice>", {"two": 2})(4)
    8
    """
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space.pop(name)  # the text may mean something else by it: `abs`


def _forget(file: str) -> None:
    for texts in (linecache.cache, GENERATED_TEXTS):
        texts.pop(file, None)


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def _code(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
