"""What may do something else when it is run a second time: a call under `checkpoint`, a trip of a loop over `checkpointed`.

    u = step(u); t = np.sin(u)                            the same again
    u += rng.normal(size=3); print(u); next(it)           not the same

Values alone are run again, so that what is not known to compute is not run again: unknown callees, and what draws, prints,
uses up an iterator, or changes what outlives the call.  A function that has a derivative is one of its arguments; one that
is a constant may draw random numbers, and is looked into.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects, protocols, with_regions
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.trust import Trust, trust_of_owner
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.checkpoints import under_checkpoint
from s2sgrad.ir.forms import alone, arguments_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue
from s2sgrad.rules import table
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.source import brings_gradient, read

_LATE = (runtime.vjp, runtime.jvp, runtime.call)


def obstacle(unit: Unit, statements: Iterable[gast.AST], shows: bool = False) -> gast.AST | None:
    """The first part of these statements (of compound ones: of their headers) that may do something else when it is run
    again; None where there is none.  Statements that only show something are left out then, if they are let to (`shows`)."""
    for statement in statements:
        made = getattr(statement, "value", None)
        if with_regions.end(statement) is not None or (isinstance(made, gast.Call) and with_regions.is_quiet(unit, made)):
            continue  # what the context holds is looked at
        if effects.uses_up(unit, statement):
            return statement
        section = effects.stored(statement)
        if section is not None and effects.base(section) not in unit.locals:
            return statement
        found = None if shows and only_shows(unit, statement) else _part(unit, effects.header(statement))
        if found is not None:
            return found
    return None


def only_shows(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement does nothing but write something down for the user to read."""
    call = alone(statement)
    if not isinstance(call, gast.Call):
        return False
    owner = unit.resolve(call.func.value) if isinstance(call.func, gast.Attribute) else MISSING
    record = catalogue.of(unit.resolve(call.func) if owner is MISSING else getattr(type(owner), call.func.attr, None))
    return record.logs and all(_part(unit, a) is None for a in arguments_of(call))


def _part(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The part of an expression or a simple statement that may do something else."""
    for part in nodes(node):
        if isinstance(part, gast.Call):
            if not _is_call_repeatable(unit, part):
                return part
        elif not isinstance(part, (gast.Name, gast.Constant)) and protocols.acts(unit, part):
            return part
    return None


def _is_call_repeatable(unit: Unit, call: gast.Call) -> bool:
    """Whether a call does the same each time, its arguments aside."""
    if effects.is_pure_call(unit, call):
        return True
    callee = under_checkpoint(unit, call.func) or call.func
    target = unit.resolve(callee)
    if isinstance(callee, gast.Lambda) or target is checkpoint:
        return True  # what it says is looked at as well
    if target is MISSING:
        return isinstance(call.func, gast.Attribute) and _changes_data(unit, call.func)
    if any(target is late for late in _LATE):
        return bool(call.args) and is_repeatable(unit.resolve(call.args[0]))
    return is_repeatable(target)


def _changes_data(unit: Unit, method: gast.Attribute) -> bool:
    """Whether this is a method that changes data of the function's own, and does nothing else: `ys.append`."""
    known = catalogue.methods_named(method.attr)
    plain = bool(known) and all(m.computes or m.writes == (0,) for m in known)
    data = trust_of_owner(unit, method.value, unit.kinds) <= Trust.DATA
    root = method.value
    while isinstance(root, (gast.Subscript, gast.Attribute)):
        root = root.value
    return plain and data and isinstance(root, gast.Name) and root.id in unit.locals


def is_repeatable(target: Any) -> bool:
    """Whether calling an object that is known does the same each time, for the same arguments, and changes at most these."""
    if isinstance(target, (types.FunctionType, types.MethodType)) and brings_gradient(target):
        return True
    said = table.given(target)
    if said is not None:
        is_read = table.is_flat(target) and isinstance(said.given, types.FunctionType)
        return _is_function_repeatable(said.given) if is_read else not table.is_flat(target)
    record = catalogue.of(target)
    if record.pure or (record.writes and not record.effect):
        return True
    ours = (getattr(target, "__module__", None) or "").startswith(runtime.__name__)
    if ours or hasattr(target, "compiled_for"):
        return target is not runtime.set_attribute
    if isinstance(target, functools.partial):
        return is_repeatable(target.func)
    if isinstance(target, type):
        own = is_plain_class(target) and all(map(is_repeatable, filter(is_user_function, vars(target).values())))
        return own or hasattr(target, "_fields") or issubclass(target, BaseException)
    function = getattr(target, "__func__", target)
    return is_user_function(function) and _is_function_repeatable(function)


def _is_function_repeatable(function: types.FunctionType) -> bool:
    if any(function is running for running in _RUNNING):
        return True  # a recursion is, if everything else in it is
    if mod_ref.of(function).outside:
        return False
    _RUNNING.append(function)
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return False
    else:
        unit.kinds = dict.fromkeys(unit.locals, Array(None, None))
        nested = {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef)} - {tree.name}
        parts = [n for n in nodes(tree) if not isinstance(n, (gast.FunctionDef, gast.Name, gast.Constant))]
        return not any(_does_something_else(unit, part, nested) for part in parts)
    finally:
        _RUNNING.pop()


def _does_something_else(unit: Unit, part: gast.AST, nested: set[str]) -> bool:
    if isinstance(part, gast.Call):
        return not (isinstance(part.func, gast.Name) and part.func.id in nested) and not _is_call_repeatable(unit, part)
    return isinstance(part, (gast.Global, gast.Yield, gast.YieldFrom)) or protocols.acts(unit, part)


_RUNNING: list[types.FunctionType] = []
