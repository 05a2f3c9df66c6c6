"""What one statement writes in place, and what it hands to calls that may change it.

    u[1:] = v, u += v      write u          s.add(1), LOG.append(x)      change s and LOG, which nobody takes back
"""

from __future__ import annotations

from collections import deque

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, Text, Unknown
from s2sgrad.analysis.trust import Trust, is_writable, trust_of_owner
from s2sgrad.ir.quote import calls_in
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.memory.sources import has_memory
from s2sgrad.primitives import catalogue, methods
from s2sgrad.primitives.catalogue import may_write, on_stack

CHANGEABLE = (list, dict, set, bytearray, deque)
"""Containers that a function which is not known may change where they are global."""


def in_place(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> str | None:
    """The variable whose memory a statement writes, other than a list that it pushes on or pops from."""
    if isinstance(statement, gast.Assign):
        section = effects.stored(statement)
        return effects.base(section) if section is not None else effects.accumulates(unit, statement)
    if isinstance(statement, gast.AugAssign):
        if getattr(statement, "rebinds", False):  # checked when it runs
            return None
        base = effects.base(statement.target)
        name = isinstance(statement.target, gast.Name)
        kind = kinds.get(base)
        bound_anew = not has_memory(kind) or (isinstance(kind, Container) and kind.type is tuple)
        return None if name and bound_anew else base
    return None


def replaces_item(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a statement that writes in place says what a list or dict holds, and changes no array: `d[k] = x`."""
    section = effects.stored(statement)
    if section is None and unit.called(getattr(statement, "value", None)) is runtime.put_back:
        return isinstance(kinds.get(effects.accumulates(unit, statement)), Container)
    owner = getattr(section, "value", None)
    return isinstance(owner, gast.Name) and isinstance(kinds.get(owner.id), Container)


def writes_through(unit: Unit, statement: gast.AST, kinds: dict[str, Kind], base: str) -> bool:
    """Whether a statement asks what a list or dict holds, to write that: `rows[0][:] = e`, and not `rows[0] = e`."""
    return isinstance(kinds.get(base), Container) and not replaces_item(unit, statement, kinds)


def handed_over(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> set[str]:
    """The objects that a statement's calls may change, other than by what the reverse sweep takes back: `s` of `s.add(1)`,
    a global list, an object of which nothing is known whose method is called."""
    if not isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
        return set()
    out = {n for call in calls_in(statement.value) for n in _changed(unit, call, kinds)}
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):  # of a set, or of another object
        out |= {statement.target.id} if isinstance(kinds.get(statement.target.id, UNKNOWN), Unknown) else set()
    return {n for n in out if n in unit.locals or is_writable(unit.resolve(name_(n)))}


def _changed(unit: Unit, call: gast.Call, kinds: dict[str, Kind]) -> set[str]:
    """What a call may change: the object of which a method is called, or what a function is given."""
    target = unit.resolve(call.func)
    if target is MISSING and isinstance(call.func, gast.Attribute):
        root, method = _root_or_none(call.func.value), call.func.attr
        kind, trust = kinds.get(root, UNKNOWN), trust_of_owner(unit, call.func.value, kinds)
        only_reads = trust <= Trust.DATA and methods.only_compute(method)
        taken_back = isinstance(kind, Container) and root in unit.locals and (on_stack(method) or not may_write(method))
        return set() if root is None or only_reads or taken_back or isinstance(kind, (Array, Number, Text)) else {root}
    if target is MISSING or behaviour.is_pure(unit, call):
        return set()
    if not catalogue.of(target).writes and effects.is_library(target):
        return set()
    given = [a.id for a in call.args if isinstance(a, gast.Name)]
    return {n for n in given if n not in unit.locals or isinstance(kinds.get(n, UNKNOWN), Unknown)}


def calls_unknown(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement calls a function that an argument or a local variable is."""
    called = (call.func for call in calls_in(effects.header(statement)))
    return any(isinstance(f, gast.Name) and f.id in unit.locals for f in called)


def _root_or_none(node: gast.AST) -> str | None:
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None
