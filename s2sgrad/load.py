"""From text to functions: compiled from the text itself, shown by tracebacks and debuggers, over the user's own globals.

The text of all functions of a program is one file under a name like `<s2sgrad loss_grad 93e7>`.  Each function runs over
the globals and closure cells of the function that it was made from, and reaches ours (`unbroadcast`, `helper_bwd`) through
closure cells of its own: nothing is written into the user's module.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import types
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import emit, runtime
from s2sgrad.program import Emitted, Program
from s2sgrad.source import GENERATED


def text_of(program: Program) -> str:
    """The text of all functions of a program, the entry last."""
    imports: set[str] = set()
    head = []
    for emitted in program.functions:
        used = _mentioned(emitted)
        for name, value in emitted.unit.helpers.items():
            if name in used and getattr(value, "__module__", None) == runtime.__name__:
                imports.add(value.__name__ if value.__name__ == name else f"{value.__name__} as {name}")
            elif name in used and isinstance(value, types.ModuleType):
                head.append(f"import {value.__name__} as {name}\n" if value.__name__ != name else f"import {name}\n")
    if imports:
        head.append(f"from s2sgrad.runtime import {', '.join(sorted(imports))}\n")
    parts = [emit.function(e.tree, e.header) for e in program.functions]
    lead = ["".join(dict.fromkeys(head))] if head else []
    return "\n\n".join([*lead, *parts])


def load(program: Program, entry: Emitted) -> tuple[types.FunctionType, str]:
    """Compile a program; the entry function and the text."""
    text = text_of(program)
    filename = f"{GENERATED}{entry.name} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    module = ast.parse(text, filename)
    nodes = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    cells: dict[int, types.CellType] = {id(e): types.CellType() for e in program.functions}
    functions = {}
    for emitted in program.functions:
        function = _function(emitted, nodes[emitted.name], filename, cells)
        cells[id(emitted)].cell_contents = function
        functions[id(emitted)] = function
    return functions[id(entry)], text


def _mentioned(emitted: Emitted) -> set[str]:
    return {n.id for n in gast.walk(emitted.tree) if isinstance(n, gast.Name)}


def _function(
    emitted: Emitted, node: ast.FunctionDef, filename: str, cells: dict[int, types.CellType]
) -> types.FunctionType:
    primal, helpers = emitted.primal, emitted.unit.helpers
    free = sorted({*helpers, *primal.__code__.co_freevars})
    outer = ast.parse("def outer(): pass").body[0]
    outer.args.args = [ast.arg(name) for name in free]
    outer.body = [node]
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    code = compile(module, filename, "exec", dont_inherit=True)
    (outer_code,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    inner = next(c for c in outer_code.co_consts if isinstance(c, types.CodeType) and c.co_name == emitted.name)
    inner = inner.replace(co_qualname=emitted.name)
    own = dict(zip(primal.__code__.co_freevars, primal.__closure__ or (), strict=True))
    closure = tuple(_cell(name, helpers, own, cells) for name in inner.co_freevars)
    function = types.FunctionType(inner, primal.__globals__, emitted.name, None, closure)
    if emitted.same_signature:
        function.__defaults__ = primal.__defaults__
        function.__kwdefaults__ = {**(primal.__kwdefaults__ or {}), **emitted.defaults} or None
    function.__doc__ = ast.get_docstring(node)
    function.__module__ = primal.__module__
    return function


def _cell(
    name: str, helpers: dict[str, Any], own: dict[str, types.CellType], cells: dict[int, types.CellType]
) -> types.CellType:
    if name not in helpers:
        return own[name]
    value: Callable[..., Any] | Emitted = helpers[name]
    return cells[id(value)] if isinstance(value, Emitted) else types.CellType(value)
