"""The current text of a file, parsed and compiled once."""

from __future__ import annotations

import ast
import linecache
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from s2sgrad.source.mangling import scoped_children
from s2sgrad.source.refusing import EDITED, Refusal

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


GENERATED_TEXTS: dict[str, Any] = {}
"""The linecache entries of generated texts that are in use."""

_JOINED: dict[str, tuple[list[str], str]] = {}  # by file: linecache's lines, and the text that they make
_KEPT = 64


def text_of(function: types.FunctionType) -> str:
    """The text of the whole file at this moment, newlines as `\\n`; empty if there is none."""
    filename = function.__code__.co_filename
    if filename in GENERATED_TEXTS and filename not in linecache.cache:  # somebody cleared it
        linecache.cache[filename] = GENERATED_TEXTS[filename]
    if not filename.startswith("<"):
        linecache.checkcache(filename)
    # Through the module attribute: doctest and IPython replace getlines.
    lines = linecache.getlines(filename, function.__globals__)
    if not lines and hasattr(linecache, "_getlines_from_code"):  # the interactive interpreter of 3.13 and later
        lines = linecache._getlines_from_code(function.__code__) or []
    known = _JOINED.get(filename)
    if known is None or known[0] is not lines:  # linecache makes a new list where a file has changed
        if len(_JOINED) >= _KEPT:
            _JOINED.clear()
        known = _JOINED[filename] = lines, "".join(lines).replace("\r\n", "\n").replace("\r", "\n")
    return known[1]


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a file, without their ends."""
    return tuple(text.removesuffix("\n").split("\n"))


class Found(NamedTuple):
    """A function's node in a file, and the class whose private names it uses."""

    node: Any
    class_name: str | None


class File:
    """A parsed text: its lines, its functions by the first line and name of their code, its code objects once compiled.  And
    by a function's node the tree that `reading` made of it, which nobody may change."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = lines_of(text)
        self.module = ast.parse(text, name)
        self.compiled: dict[tuple[int, bool], dict[tuple[int, str], list[types.CodeType]]] = {}
        self.trees: dict[ast.AST, Any] = {}

    def functions(self, line: int, name: str) -> list[Found]:
        """The functions whose code has this line and name."""
        # A node in an f-string may have a position outside of its statement (Python 3.11).
        return list(self._functions(line, name, _spans)) or list(self._functions(line, name, lambda node, line: True))

    def _functions(self, line: int, name: str, spans: Callable[[ast.stmt, int], bool]) -> Iterator[Found]:
        todo: list[tuple[ast.AST, str | None]] = [(self.module, None)]
        while todo:
            node, class_name = todo.pop()
            if isinstance(node, ast.stmt) and not spans(node, line):
                continue
            if isinstance(node, _FUNCTIONS) and _first_line(node) == line and getattr(node, "name", "<lambda>") == name:
                yield Found(node, class_name)
            todo.extend(scoped_children(node, class_name))

    def codes(self, flags: int, apart: bool = False) -> dict[tuple[int, str], list[types.CodeType]]:
        """The code objects of the file by first line and name, compiled with the given `__future__` flags.

        `apart`: statement by statement, as a notebook does; the compiler then does not see the `import` above a call of
        `np.sin`.
        """
        if (flags, apart) not in self.compiled:
            codes: dict[tuple[int, str], list[types.CodeType]] = {}
            modules = [ast.Module([s], []) for s in self.module.body] if apart else [self.module]
            todo = [self._compile(module, flags) for module in modules]
            while todo:
                code = todo.pop()
                codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
                todo.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
            self.compiled[flags, apart] = codes
        return self.compiled[flags, apart]

    def _compile(self, module: ast.Module, flags: int) -> types.CodeType:
        code: types.CodeType
        try:
            code = quietly(compile, module, self.name, "exec", flags, True)
        except SyntaxError:  # a notebook's cell may await at its top level
            code = quietly(compile, module, self.name, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        return code


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", ())
    line: int = decorators[0].lineno if decorators else node.lineno
    return line


def _spans(statement: ast.stmt, line: int) -> bool:
    return _first_line(statement) <= line <= (statement.end_lineno or 0)


_warnings_lock = threading.RLock()


def quietly(function: Any, *arguments: Any) -> Any:
    """Parse or compile without warnings, which the import has shown already."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@lru_cache(maxsize=32)
def _parsed(filename: str, text: str) -> File:
    file: File = quietly(File, filename, text)
    return file


def file_of(filename: str, text: str) -> File:
    """The parsed text of a file; raises Refusal if it is not valid Python."""
    try:
        return _parsed(filename, text)
    except (SyntaxError, ValueError):
        raise Refusal(EDITED.format(filename)) from None
