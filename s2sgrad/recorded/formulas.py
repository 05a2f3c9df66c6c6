"""Variants of pullbacks: pruned to the wanted cotangents, or with other globals.

def matmul(g, z, x, y): return g @ y.T, x.T @ g       ->      def matmul(g, z, x, y): return None, x.T @ g
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import types
from typing import Any

import gast

from s2sgrad import source
from s2sgrad.ir.quote import mentioned, nodes, stored
from s2sgrad.source import GENERATED_TEXTS

_NUMBERS = itertools.count()


@functools.lru_cache(maxsize=4096)
def wanted_of(pullback: types.FunctionType, wanted: tuple[int, ...], count: int) -> types.FunctionType:
    """The pullback with None for cotangents that are not wanted; unchanged if its source is not straight-line code."""
    if len(wanted) == count:
        return pullback
    tree = source.read(pullback).fresh_tree()
    *before, last = tree.body
    plain = all(isinstance(s, (gast.Assign, gast.Expr)) for s in before)
    if not plain or not isinstance(last, gast.Return) or not isinstance(last.value, gast.Tuple):
        return pullback
    if len(last.value.elts) != count:
        return pullback
    last.value.elts = [e if k in wanted else gast.Constant(None, None) for k, e in enumerate(last.value.elts)]
    read = mentioned(last)
    body: list[Any] = [last]
    for statement in reversed(before):
        checks = isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call)
        if checks or (isinstance(statement, gast.Assign) and stored(*statement.targets) & read):
            read |= mentioned(statement.value)
            body.insert(0, statement)
    tree.body, tree.decorator_list, tree.name = body, [], pullback.__name__
    for node in nodes(tree):
        for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            node.__dict__.pop(attribute, None)
    module = gast.gast_to_ast(gast.Module([tree], []))
    text = ast.unparse(ast.fix_missing_locations(module))
    file = f"<s2sgrad rule {next(_NUMBERS)}>"  # with a text, so that its calls can be followed
    GENERATED_TEXTS[file] = linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    code = compile(text, file, "exec")
    space: dict[str, Any] = {}
    exec(code, pullback.__globals__, space)
    pruned: types.FunctionType = space[pullback.__name__]
    pruned.__module__ = pullback.__module__
    return pruned


def over(function: types.FunctionType, space: dict[str, Any]) -> types.FunctionType:
    """A copy of the function with other globals."""
    copy = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    return copy
