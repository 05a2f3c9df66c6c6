"""Makes a function from generated text, with the globals and closure cells of a user's function.

    made("def g(t, *, x): return t * x * k", "g", f, {}, {"k"})   ->   g, whose `k` is what it is to f

The text is registered where tracebacks and `read` look, for the lifetime of the function.  Errors name the user's
statements that it came from.
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
from s2sgrad.errors.wording import Wording
from s2sgrad.source.files import GENERATED_TEXTS

_numbers = itertools.count()  # file names are unique: each text is dropped with its function


def made(
    text: str, name: str, home: Callable[..., Any], helpers: dict[str, Any], reached: set[str],
    tree: gast.FunctionDef | None = None, place: Callable[[Any], Place] | None = None, words: Wording | None = None,
) -> types.FunctionType:  # fmt: skip
    """The function `name` that `text` defines.  Its free names are `helpers`, its own name, and otherwise those of `home`,
    whose closure cells it shares for the names in `reached`.

    `tree` is the tree that was written, and `place` gives the places of its nodes; `words`: what its names mean.
    """
    own = dict(zip(home.__code__.co_freevars, home.__closure__ or (), strict=True))
    own = {n: cell for n, cell in own.items() if n in reached}
    cells = {**own, **{n: types.CellType(value) for n, value in helpers.items()}}
    cells[name] = types.CellType()
    whole = f"def outer({', '.join(sorted(set(cells) - {name}))}):\n{_indented(text)}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    file = f"{MADE}{home.__code__.co_filename}:{home.__code__.co_firstlineno} {name} {digest} {next(_numbers)}>"
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    outer = _code(compile(whole, file, "exec", dont_inherit=True), "outer")
    code = _code(outer, name).replace(co_qualname=f"{home.__qualname__}.<locals>.{name}")
    if tree is not None and place is not None:
        (around,) = ast.parse(whole).body
        assert isinstance(around, ast.FunctionDef)
        (written,) = around.body
        assert isinstance(written, ast.FunctionDef)
        raised.register(code, dict(_places(written, tree, place)), {}, words)
    function = types.FunctionType(code, home.__globals__, name, None, tuple(cells[n] for n in code.co_freevars))
    cells[name].cell_contents = function
    function.__module__ = home.__module__
    weakref.finalize(function, _forget, file).atexit = False
    return function


def _places(written: ast.FunctionDef, tree: gast.FunctionDef, place: Callable[[Any], Place]) -> Iterator[tuple[int, Place]]:
    """By line of the text: the user's place that the statement came from."""
    for shown, statement in statements(written, tree):
        if any(hasattr(part, "lineno") for part in gast.walk(statement)):
            yield shown.lineno, place(statement)


def statements(written: ast.AST, tree: gast.AST) -> Iterator[tuple[Any, Any]]:
    """The statements of a text, each with the statement of the tree that it was written from, outer ones first."""
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        for shown, statement in zip(getattr(written, field, []), getattr(tree, field, []), strict=False):
            if field not in ("handlers", "cases"):
                yield shown, statement
            yield from statements(shown, statement)


def defined(text: str, name: str, file: str, space: dict[str, Any]) -> types.FunctionType:
    """The function `name` that `text` defines, with `space` as globals; the text stays registered.

    >>> defined("def twice(x):\\n    return two * x\\n", "twice", "<twice>", {"two": 2})(4)
    8
    """
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    function: types.FunctionType = space.pop(name)  # it may shadow a name that the text reads: `abs`
    return function


def _forget(file: str) -> None:
    for texts in (linecache.cache, GENERATED_TEXTS):
        texts.pop(file, None)


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def _code(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
