"""From the functions of a program to code: compiles the text itself, and notes where each line comes from.

loss_grad, as a tree      ->      its text, a code object, and by line the user's statement
"""

from __future__ import annotations

import ast
import types
from typing import Any

import gast

from s2sgrad.driver.emitted import Emitted
from s2sgrad.driver.guards import Guards
from s2sgrad.driver.plan import Part, Plan, registered
from s2sgrad.driver.program import Program
from s2sgrad.driver.text import text_of
from s2sgrad.errors import Place, raised
from s2sgrad.ir import notes
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.ir.unit import is_derived
from s2sgrad.mirror import shadows
from s2sgrad.source import Primal
from s2sgrad.source.making import statements


def plan_of(program: Program, name: str, guards: Guards) -> Plan:
    """The text of a program, compiled."""
    text = text_of(program)
    filename = registered(name, text, len(program.functions))
    module = ast.parse(text, filename)
    written = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    order = {id(emitted): k for k, emitted in enumerate(program.functions)}
    parts = [_part(e, written[e.name], filename, order, guards) for e in program.functions]
    spans: dict[int, Spans] = {}
    for part, emitted in zip(parts, program.functions, strict=True):
        named = emitted.unit.explained(mentioned(emitted.tree) & emitted.unit.locals)
        raised.register(part.code, *_places(emitted, written[emitted.name], spans), named)
    return Plan(text, filename, parts)


def _part(emitted: Emitted, node: ast.FunctionDef, filename: str, order: dict[int, int], guards: Guards) -> Part:
    primal, helpers = emitted.primal, emitted.unit.helpers
    free = sorted({*helpers, *primal.__code__.co_freevars})
    (outer,) = ast.parse("def outer(): pass").body
    assert isinstance(outer, ast.FunctionDef)
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


def _fits(statement: gast.AST) -> bool:
    """Whether a statement computes a derivative, and nothing of the function that may raise for the shapes of operands."""
    return is_derived(statement) and not notes.UNCERTAIN.of(statement)


def _places(emitted: Emitted, node: ast.FunctionDef, spans: dict[int, Spans]) -> tuple[dict[int, Place], dict[int, bool]]:
    """By the lines of the text: the place of the user's statement that each comes from; and the lines of derivatives.

    What the reverse sweep begins with may compute the result: it then comes from the statement whose adjoint follows.
    """
    out: dict[int, Place] = {}
    derived: dict[int, bool] = {}
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
                    derived[shown.lineno] = _fits(statement)
        elif origin is not None and origin.sweep == "reverse" and not swept and _computes_an_argument(shown):
            ahead.append(shown.lineno)
    return out, derived


def _computes_an_argument(statement: ast.AST) -> bool:
    """Whether the call that a statement binds is given more than names, as `seed_like(x * y, seed)` is."""
    value = getattr(statement, "value", None)
    return not isinstance(value, ast.Call) or not all(isinstance(a, (ast.Name, ast.Constant)) for a in value.args)


Spans = dict[tuple[int, int], gast.AST]


def _spans(primal: Primal) -> Spans:
    """By line and column: the largest node that begins there; at a `case`, its pattern."""
    out: Spans = {}
    for part in nodes(primal.tree):  # parents first
        if hasattr(part, "lineno"):
            out.setdefault((part.lineno, part.col_offset), part)
        elif isinstance(part, gast.match_case):
            line = primal.lines[part.pattern.lineno - 1]
            out.setdefault((part.pattern.lineno, len(line) - len(line.lstrip())), part.pattern)
    return out


def _code_of(code: types.CodeType, node: ast.FunctionDef) -> types.CodeType:
    """The code of a function that is defined directly in `code`."""
    inside = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return next(c for c in inside if (c.co_name, c.co_firstlineno) == (node.name, node.lineno))
