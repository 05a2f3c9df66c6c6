"""From text to functions: compiles the text itself, over the user's own globals; tracebacks and debuggers show it.

The functions of a program form one file with a name like `<s2sgrad loss_grad 93e7>`.  Each function runs over the globals
and closure cells of the function that it was made from, and reaches our own (`unbroadcast`, `helper_bwd`) through added
closure cells: nothing is written into the user's module.
"""

from __future__ import annotations

import ast
import collections
import hashlib
import linecache
import threading
import types
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.driver.emitted import Emitted
from s2sgrad.driver.guards import Guards
from s2sgrad.driver.program import Program
from s2sgrad.driver.text import text_of
from s2sgrad.errors import Place, raised, warned
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.ir.unit import is_derived
from s2sgrad.mirror import shadows
from s2sgrad.runtime.traits import Traits, declare, traits
from s2sgrad.source import GENERATED, GENERATED_TEXTS, Primal
from s2sgrad.source.making import statements


@dataclass(frozen=True)
class Part:
    """One function of a text: its code, the place of the user's function over whose globals it runs, and its closure.

    A closure cell is the user's own ("own", index), or holds a function of the text ("made", index), a user's function
    ("place", index), another object of the user ("held", a reference to it), or one of our objects ("cell", the cell),
    whose names the traits have in `reaches`.
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

    def __init__(self, program: Program, name: str, guards: Guards) -> None:
        self.text = text_of(program)
        filename = _registered(name, self.text, len(program.functions))
        module = ast.parse(self.text, filename)
        written = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
        order = {id(emitted): k for k, emitted in enumerate(program.functions)}
        self.parts = [_part(e, written[e.name], filename, order, guards) for e in program.functions]
        spans: dict[int, Spans] = {}
        for part, emitted in zip(self.parts, program.functions, strict=True):
            named = emitted.unit.explained(mentioned(emitted.tree) & emitted.unit.locals)
            raised.register(part.code, *_places(emitted, written[emitted.name], spans), named)
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
                    closure.append(primal.__closure__[what])
                else:
                    closure.append(types.CellType(primals[what] if how == "place" else what()))
            function = types.FunctionType(part.code, primal.__globals__, part.name, None, tuple(closure))
            if part.traits.same_signature:
                function.__defaults__ = primal.__defaults__
                function.__kwdefaults__ = {**(primal.__kwdefaults__ or {}), **part.defaults} or None
            else:
                function.__defaults__ = (None,) * part.buffers or None
            function.traits = part.traits
            if part.traits.same_signature and traits(primal).takes_record:  # as derivatives of a backward function do
                declare(function, takes_record=True, slots=primal.traits.slots)
            function.__doc__ = part.doc
            function.__module__ = primal.__module__
            mine.cell_contents = function
            out.append(function)
        return out


warned.install()
_users: collections.Counter[str] = collections.Counter()  # code objects alive, by the file name of their text
_lock = threading.RLock()  # finalizers may run in any thread


def _registered(name: str, text: str, users: int) -> str:
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


def _part(emitted: Emitted, node: ast.FunctionDef, filename: str, order: dict[int, int], guards: Guards) -> Part:
    primal, helpers = emitted.primal, emitted.unit.helpers
    free = sorted({*helpers, *primal.__code__.co_freevars})
    outer = ast.parse("def outer(): pass").body[0]
    outer.args.args = [ast.arg(name) for name in free if name != emitted.name]
    outer.body = []
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    outer.body = [node]  # after the locations were filled in: it has its own
    code = compile(module, filename, "exec", dont_inherit=True)
    outer_code = _code_of(code, outer)
    inner = _code_of(outer_code, node)
    inner = inner.replace(co_qualname=emitted.name)
    own = {name: k for k, name in enumerate(primal.__code__.co_freevars)}

    def cell(name: str) -> tuple[str, Any]:
        if name not in helpers:
            return "own", own[name]
        value = helpers[name]
        if isinstance(value, Emitted):
            return "made", order[id(value)]
        if guards.known(value) is not None:
            return "place", guards.known(value)
        back = guards.helper(value)
        return ("cell", types.CellType(value)) if back is None else ("held", back)

    closure = tuple(cell(name) for name in inner.co_freevars)
    defaults = emitted.defaults if emitted.traits.same_signature else {}
    doc = ast.get_docstring(node)
    place = guards.place(primal)
    reaches = tuple(n for n, (how, _) in zip(inner.co_freevars, closure, strict=True) if how == "cell")
    said = emitted.traits._replace(reaches=reaches, shadowed=shadows.are_in(emitted.unit))
    return Part(inner, emitted.name, place, closure, said, defaults, doc, len(emitted.buffers))


def _places(emitted: Emitted, node: ast.FunctionDef, spans: dict[int, Spans]) -> tuple[dict[int, Place], frozenset[int]]:
    """By the lines of the text: the place of the user's statement that each comes from; and the lines of derivatives.

    What the reverse sweep begins with may compute the result: it then comes from the statement whose adjoint follows.
    """
    out: dict[int, Place] = {}
    derived: set[int] = set()
    ahead: list[int] = []
    swept = False  # whether an adjoint has come
    for shown, statement in statements(node, emitted.tree):
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.line:
            primal = origin.primal or emitted.unit.primal
            if id(primal) not in spans:
                spans[id(primal)] = _spans(primal)
            whole = spans[id(primal)].get((origin.line, origin.column))
            if whole is not None:
                place, code = primal.place(whole), primal.function.__code__
                out[shown.lineno] = raised.behind(code, place.line) or place
                if origin.sweep == "reverse" and not swept:
                    out.update(dict.fromkeys(ahead, out[shown.lineno]))
                    swept = True
                if is_derived(statement) or raised.is_derived(code, place.line):
                    derived.add(shown.lineno)
        elif origin is not None and origin.sweep == "reverse" and not swept and _computes_an_argument(shown):
            ahead.append(shown.lineno)
    return out, frozenset(derived)


def _computes_an_argument(statement: ast.AST) -> bool:
    """Whether the call that a statement binds is given more than names, as `seed_like(x * y, seed)` is."""
    value = getattr(statement, "value", None)
    return not isinstance(value, ast.Call) or not all(isinstance(a, (ast.Name, ast.Constant)) for a in value.args)


Spans = dict[tuple[int, int], gast.AST]


def _spans(primal: Primal) -> Spans:
    """By line and column: the largest node that begins there."""
    out: Spans = {}
    for part in nodes(primal.tree):  # parents first
        if hasattr(part, "lineno"):
            out.setdefault((part.lineno, part.col_offset), part)
    return out


def _code_of(code: types.CodeType, node: ast.FunctionDef) -> types.CodeType:
    """The code of a function that is defined directly in `code`."""
    inside = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return next(c for c in inside if (c.co_name, c.co_firstlineno) == (node.name, node.lineno))
