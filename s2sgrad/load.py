"""From text to functions: compiled from the text itself, shown by tracebacks and debuggers, over the user's own globals.

The text of all functions of a program is one file under a name like `<s2sgrad loss_grad 93e7>`.  Each function runs over
the globals and closure cells of the function that it was made from, and reaches ours (`unbroadcast`, `helper_bwd`) through
closure cells of its own: nothing is written into the user's module.
"""

from __future__ import annotations

import ast
import collections
import hashlib
import linecache
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.program import Emitted, Program
from s2sgrad.rules import table
from s2sgrad.rules.table import Rule
from s2sgrad.source import GENERATED


def text_of(program: Program) -> str:
    """The text of all functions of a program, the entry last, under the imports that it needs beside the user's function."""
    modules, imports, values, aliases = set(), {}, set(), set()
    for emitted in program.functions:
        used = _mentioned(emitted)
        for name, value in emitted.unit.helpers.items():
            if name not in used:
                continue
            if isinstance(value, Emitted):
                aliases |= {f"{name} = {value.name}\n"} - {f"{name} = {name}\n"}
                continue
            module, attribute, path = whereabouts(value)
            if attribute:
                imports.setdefault(module, set()).add(attribute if attribute == name else f"{attribute} as {name}")
            elif path:
                modules.add(f"import {module}\n")
                values.add(f"{name} = {module}.{path}\n")
            elif module:
                modules.add(f"import {module}\n" if module == name else f"import {module} as {name}\n")
    lines = [f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(imports.items())]
    head = ["".join([*sorted(modules), *lines, *(["\n"] if values else []), *sorted(values)])]
    *parts, last = [emit.function(e.tree, e.header) for e in program.functions]
    return "\n\n".join(part for part in [*head, *parts, "".join(sorted(aliases)), last] if part)


def whereabouts(value: Any) -> tuple[str, str, str]:
    """Where pasted text finds one of our helpers: in which module, as which attribute, or else by which path from there.

    >>> from s2sgrad.rules.scans import cumsum
    >>> from s2sgrad.runtime import unbroadcast
    >>> whereabouts(unbroadcast), whereabouts(cumsum.pullback)
    (('s2sgrad.runtime', 'unbroadcast', ''), ('s2sgrad.rules.scans', '', 'cumsum.pullback'))
    """
    if isinstance(value, types.ModuleType):
        return value.__name__, "", ""
    name = getattr(value, "__name__", "_")
    module = getattr(value, "__module__", None) or "numpy"  # ufuncs of some versions of NumPy do not say
    space = {k: v for k, v in vars(sys.modules[module]).items() if k != "_"} if module in sys.modules else {}
    if space.get(name) is value:
        return module, name, ""
    for known, rule in space.items():  # the module has the rule, and the rule has its pullbacks
        if isinstance(rule, Rule):
            if rule.pullback is value:
                return module, "", f"{known}.pullback"
            for k, (_, pullback) in enumerate(rule.refinements):
                if pullback is value:
                    return module, "", f"{known}.refinements[{k}][1]"
    for rule in set(table.rules().values()):  # a rule called `_`: by what it differentiates
        if rule.pullback is value:
            home, attribute, _ = whereabouts(rule.primitive)
            return (table.__name__, "", f"lookup({home}.{attribute}).pullback") if attribute else ("", "", "")
    return "", "", ""


def load(program: Program, entry: Emitted) -> tuple[types.FunctionType, str]:
    """Compile a program; the entry function and the text."""
    functions, text = load_all(program, entry)
    return functions[id(entry)], text


def load_all(program: Program, entry: Emitted) -> tuple[dict[int, types.FunctionType], str]:
    """Compile a program, named for its entry; its functions by the identity of what was emitted, and the text."""
    text = text_of(program)
    filename = _registered(entry.name, text)
    module = ast.parse(text, filename)
    nodes = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    cells: dict[int, types.CellType] = {id(e): types.CellType() for e in program.functions}
    functions = {}
    for emitted in program.functions:
        function = _function(emitted, nodes[emitted.name], filename, cells)
        _users[filename] += 1
        weakref.finalize(function, _forget, filename).atexit = False
        cells[id(emitted)].cell_contents = function
        functions[id(emitted)] = function
    return functions, text


_users: collections.Counter[str] = collections.Counter()  # living functions by the file name of their text
_lock = threading.RLock()  # finalizers run wherever the collector does


def _registered(name: str, text: str) -> str:
    """A file name under which linecache has this text."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    lines = text.splitlines(keepends=True)
    for length in range(8, len(digest) + 1, 8):  # the first is enough but for a collision
        filename = f"{GENERATED}{name} {digest[:length]}>"
        if linecache.cache.get(filename, (0, None, lines))[2] == lines:
            break
    linecache.cache[filename] = (len(text), None, lines, filename)
    return filename


def _forget(filename: str) -> None:
    """One function of this file is gone; the last one takes the text with it."""
    with _lock:
        _users[filename] -= 1
        if _users[filename] <= 0:
            del _users[filename]
            linecache.cache.pop(filename, None)


def _mentioned(emitted: Emitted) -> set[str]:
    return {n.id for n in gast.walk(emitted.tree) if isinstance(n, gast.Name)}


def _function(
    emitted: Emitted, node: ast.FunctionDef, filename: str, cells: dict[int, types.CellType]
) -> types.FunctionType:
    primal, helpers = emitted.primal, emitted.unit.helpers
    free = sorted({*helpers, *primal.__code__.co_freevars})
    outer = ast.parse("def outer(): pass").body[0]
    outer.args.args = [ast.arg(name) for name in free if name != emitted.name]
    outer.body = [node]
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    code = compile(module, filename, "exec", dont_inherit=True)
    outer_code = _code_of(code, outer)
    inner = _code_of(outer_code, node)
    inner = inner.replace(co_qualname=emitted.name)
    own = dict(zip(primal.__code__.co_freevars, primal.__closure__ or (), strict=True))
    closure = tuple(_cell(name, helpers, own, cells) for name in inner.co_freevars)
    function = types.FunctionType(inner, primal.__globals__, emitted.name, None, closure)
    if emitted.same_signature:
        function.__defaults__ = primal.__defaults__
        function.__kwdefaults__ = {**(primal.__kwdefaults__ or {}), **emitted.defaults} or None
    function.__doc__ = ast.get_docstring(node)
    function.__module__ = primal.__module__
    if emitted.restores:
        function.restores = True
    return function


def _code_of(code: types.CodeType, node: ast.FunctionDef) -> types.CodeType:
    """The code of a function that stands directly in `code`."""
    inside = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return next(c for c in inside if (c.co_name, c.co_firstlineno) == (node.name, node.lineno))


def _cell(
    name: str, helpers: dict[str, Any], own: dict[str, types.CellType], cells: dict[int, types.CellType]
) -> types.CellType:
    if name not in helpers:
        return own[name]
    value: Callable[..., Any] | Emitted = helpers[name]
    return cells[id(value)] if isinstance(value, Emitted) else types.CellType(value)
