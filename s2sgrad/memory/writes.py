"""What one statement writes in place, and which objects it passes to calls that may change them.

u[1:] = v, u += v      write u          s.add(1), LOG.append(x)      change s and LOG, and are not undone
"""

from __future__ import annotations

import types

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, Text, Unknown, operand
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.trust import Trust, is_writable, trust_of_owner
from s2sgrad.ir import notes
from s2sgrad.ir.quote import calls_in
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour, mod_ref
from s2sgrad.memory.sources import has_memory
from s2sgrad.primitives import catalogue, methods
from s2sgrad.primitives.catalogue import may_write, on_stack
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.traits import traits


def in_place(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> str | None:
    """The variable whose memory a statement writes, except for a push to or a pop from a stack."""
    if isinstance(statement, (gast.Assign, gast.Expr)):
        section = effects.stored(statement)
        return effects.base(section) if section is not None else effects.accumulates(unit, statement)
    if isinstance(statement, gast.AugAssign):
        if notes.REBINDS.of(statement):  # a run-time check ensures it
            return None
        base = effects.base(statement.target)
        name = isinstance(statement.target, gast.Name)
        kind = kinds.get(base)
        bound_anew = not has_memory(kind) or (isinstance(kind, Container) and kind.type is tuple)
        return None if name and bound_anew else base
    return None


def replaces_item(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether an in-place write replaces an item of a list or dict, and changes no array: `d[k] = x`."""
    section = effects.stored(statement)
    if section is None and unit.called(getattr(statement, "value", None)) is runtime.put_back:
        return isinstance(kinds.get(effects.accumulates(unit, statement) or ""), Container)
    owner = getattr(section, "value", None)
    return isinstance(owner, gast.Name) and isinstance(kinds.get(owner.id), Container)


def writes_through(unit: Unit, statement: gast.AST, kinds: dict[str, Kind], base: str) -> bool:
    """Whether a statement writes into an item of a list or dict: `rows[0][:] = e`, but not `rows[0] = e`."""
    return isinstance(kinds.get(base), Container) and not replaces_item(unit, statement, kinds)


def handed_over(unit: Unit, statement: gast.AST, kinds: dict[str, Kind]) -> set[str]:
    """The objects that calls in a statement may change in ways that the reverse sweep does not undo: `s` of `s.add(1)`, a
    global list, an unknown object whose method is called."""
    if not isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
        return set()
    out = {n for call in calls_in(statement.value) for n in _changed(unit, call, kinds)}
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):  # a set, or unknown
        out |= {statement.target.id} if isinstance(operand(kinds.get(statement.target.id, UNKNOWN)), Unknown) else set()
    return {n for n in out if n in unit.locals or is_writable(unit.resolve(name_(n)))}


def _changed(unit: Unit, call: gast.Call, kinds: dict[str, Kind]) -> set[str]:
    """What a call may change: the object whose method it is, or its arguments."""
    target = unit.resolve(call.func)
    if target is MISSING and isinstance(call.func, gast.Attribute):
        root, method = _root_or_none(call.func.value), call.func.attr
        if root is None:
            return set()
        kind, trust = kinds.get(root, UNKNOWN), trust_of_owner(unit, call.func.value, kinds)
        only_reads = trust <= Trust.DATA and methods.only_compute(method)
        undone = isinstance(kind, Container) and root in unit.locals and (on_stack(method) or not may_write(method))
        return set() if only_reads or undone or isinstance(kind, (Array, Number, Text)) else {root}
    if target is MISSING or behaviour.is_pure(unit, call):
        return set()
    if not catalogue.of(target).writes and effects.is_library(target):
        return set()
    arguments = [a.id for a in call.args if isinstance(a, gast.Name)]
    return {n for n in arguments if n not in unit.locals or isinstance(kinds.get(n, UNKNOWN), Unknown)}


def changes_unseen(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement calls a function that an argument or a local variable is, or one of the user's that changes what
    lives outside of it."""
    return any(_changes_unseen(unit, call.func) for call in calls_in(effects.header(statement)))


def _changes_unseen(unit: Unit, callee: gast.AST) -> bool:
    if isinstance(callee, gast.Name) and callee.id in unit.locals:
        return True
    target = unit.resolve(callee)
    if isinstance(its(target, "primal", None), types.FunctionType):
        # `fwd` runs the user's function, `bwd` only computes
        target = target.primal if traits(target).same_signature else None
    return is_user_function(target) and not is_ours(target) and mod_ref.of(target).outside


def _root_or_none(node: gast.AST) -> str | None:
    """The name at the start of a path of attributes and items; None where it starts with another expression."""
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None
