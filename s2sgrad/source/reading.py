"""From a function object to its `Primal`, or to the reason why it has none."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any

import gast
from gast.ast3 import Ast3ToGAst

from s2sgrad.errors import NoSource
from s2sgrad.errors.definitions import of_definition
from s2sgrad.source import typed_in
from s2sgrad.source.branches import noted
from s2sgrad.source.files import Found, file_of, lines_of, text_of
from s2sgrad.source.finding import find
from s2sgrad.source.literals import keep_spelling
from s2sgrad.source.mangling import mangle
from s2sgrad.source.primal import Primal
from s2sgrad.source.refusing import EDITED, Refusal, no_function, no_text


def read(function: Any) -> Primal:
    """The function with its tree, which all readers share; for a method, its function.  Raises NoSource where the source is
    not available.

    >>> from math import sin
    >>> read(sin)
    Traceback (most recent call last):
    s2sgrad.errors.NoSource: <built-in function sin> has no Python source: give it a gradient of its own ...
    """
    if isinstance(function, (types.MethodType, staticmethod, classmethod)):
        return read(function.__func__)
    if not isinstance(function, types.FunctionType):
        raise NoSource(no_function(function))
    code = function.__code__
    shown = function.__qualname__
    text = text_of(function) or typed_in.text_of(function)
    if not text:
        raise NoSource(no_text(shown, code.co_filename))
    try:
        file = file_of(code.co_filename, text)
        definition = find(file, code)
        tree = file.trees.get(definition.node) or file.trees.setdefault(definition.node, _converted(definition, file.lines))
    except Refusal as refusal:
        if code.co_filename == "<string>" and str(refusal) == EDITED.format("<string>"):
            raise NoSource(no_text(shown, "<string>")) from None  # made by `exec`: Python 3.13 has the text of `-c` there
        raise NoSource(f"{shown}: {refusal}", of_definition(code, lines_of(text))) from None
    except RecursionError:
        raise NoSource(
            f"{shown}: {code.co_filename} is nested too deeply to be read: split the expression or the function, "
            "or raise sys.setrecursionlimit",
            of_definition(code, lines_of(text)),
        ) from None
    return noted(Primal(function, tree, code.co_filename, file.lines))


class _Converter(Ast3ToGAst):  # type: ignore[misc]  # gast has no types
    """gast's conversion from the leaves up: it never recurses, however deeply a tree nests."""

    def __init__(self) -> None:
        self._done: dict[ast.AST, Any] = {}

    def converted(self, tree: ast.AST) -> Any:
        for node in reversed(list(ast.walk(tree))):
            self._done[node] = super().visit(node)
        return self._done[tree]

    def visit(self, node: ast.AST) -> Any:
        return self._done[node]


def _converted(definition: Found, lines: Sequence[str]) -> gast.FunctionDef:
    """The gast tree of a function that was found; a lambda as a FunctionDef, private names mangled."""
    tree = _Converter().converted(definition.node)
    keep_spelling(tree, lines)
    if isinstance(tree, gast.Lambda):
        location = {name: getattr(tree, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        body = gast.Return(value=tree.body)
        gast.copy_location(body, tree.body)
        tree = gast.FunctionDef(
            name="lambda_",
            args=tree.args,
            body=[body],
            decorator_list=[],
            returns=None,
            type_comment=None,
            type_params=[],
        )
        for name, value in location.items():
            setattr(tree, name, value)
    if definition.class_name is not None:
        mangle(tree, definition.class_name)
    return tree
