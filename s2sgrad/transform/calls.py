"""Calls of functions without a rule: a pair where the callee is known now, `vjp` where it is looked up when it is called.

y = helper(x)    ->    y = helper(x)                    ...  x_bar = helper_bwd(x, y_bar)    (reads its arguments only)
                       y, helper_saved = helper_fwd(x)  ...  x_bar = helper_bwd(helper_saved, y_bar)
y = f(x)         ->    y, f_pullback = vjp(f, x)        ...  x_bar = f_pullback(y_bar)[0]
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from s2sgrad import pullbacks, runtime, source
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.symbolic_shapes import without_symbols
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.rules.table import VALUES

LATE = (runtime.jvp, runtime.vjp, pullbacks.jvp, pullbacks.vjp, pullbacks.vjp_of_closure)  # looked into where they run


@dataclass
class Pair:
    """The derivative of a known callee.  `bwd` gives the cotangents of `active`, in this order (one: bare).

    With `needs` None the pair is `fwd(*args) -> (y, saved)`, `bwd(saved, y_bar)`; else it is `bwd(*needs, y_bar)`, the
    call itself unchanged.  `idle` is the level (see `zeros`) of the cotangents; None of those that are 0.
    """

    fwd: Any
    bwd: Any
    active: tuple[str, ...]
    needs: tuple[str, ...] | None
    idle: dict[str, int | None] = field(default_factory=dict)


class Pairs(Protocol):
    """Where pairs of user functions come from."""

    def has_source(self, target: Any) -> bool: ...

    def kind(self, target: Any, kinds: list[Kind], keywords: dict[str, Kind]) -> Kind | None: ...

    def arguments(self, unit: Unit, target: Any, call: gast.Call) -> dict[str, Any]: ...

    def pair(self, target: Any, kinds: dict[str, Any], active: set[str], *, idle: int = 0) -> Pair: ...

    def normal_form(self, target: Any) -> tuple[Unit, gast.FunctionDef]: ...


@dataclass
class Call:
    """How one call is differentiated: what replaces it, the name that carries its record, and its adjoint."""

    saved: str | None
    forward: Callable[[gast.Assign], list[gast.AST]]
    backward: Callable[[gast.AST], tuple[list[gast.AST], list[tuple[gast.Name, gast.AST, int]]]]


def call_adjoint(
    unit: Unit, pairs: Pairs, inference: Inference, operation: Operation, active: set[str], written: frozenset[str],
    idle: int,
) -> Call:
    """The plan for a call on the differentiated path; `idle` is the level of the result's cotangent."""
    late = operation.target is MISSING or isinstance(operation.target, functools.partial)
    late = late or operation.target in LATE
    if late or source.brings_gradient(operation.target):
        return _dynamic(unit, inference, operation, active, written)
    arguments = pairs.arguments(unit, operation.target, operation.node)
    kinds: dict[str, Any] = {}
    wanted: list[tuple[str, int | None, gast.Name]] = []
    for parameter, given in arguments.items():
        several = isinstance(given, list)
        kinds[parameter] = [_kind(inference, g) for g in given] if several else _kind(inference, given)
        for k, node in enumerate(given if several else [given]):
            if isinstance(node, gast.Name) and node.id in active:
                wanted.append((parameter, k if several else None, node))
    with unit.calling(operation.node):
        pair = pairs.pair(operation.target, kinds, {p for p, _, _ in wanted}, idle=idle)
    needs = pair.needs
    if needs is not None and not all(isinstance(arguments.get(n), gast.AST) for n in needs):
        raise AssertionError("a pair may only need arguments that the call passes")
    base = getattr(pair.bwd, "name", "helper_bwd")
    saved = None
    if needs is None:
        saved = unit.local(f"{base.partition('_bwd')[0]}_saved")
        inference.env[saved] = UNKNOWN

    def forward(statement: gast.Assign) -> list[gast.AST]:
        if needs is not None:
            return [statement]
        fwd = name(unit.helper(pair.fwd.name, pair.fwd))
        value = gast.Call(
            fwd,
            [_kept(a, inference, written) for a in statement.value.args],
            [gast.keyword(k.arg, _kept(k.value, inference, written)) for k in statement.value.keywords],
        )
        target = gast.Tuple([statement.targets[0], name(saved, store=True)], gast.Store())
        return at(statement, gast.Assign([target], value, None), *_apart(unit, statement.targets[0], inference, written))

    def backward(y_bar: gast.AST) -> tuple[list[gast.AST], list[tuple[gast.Name, gast.AST, int]]]:
        record = [name(saved)] if needs is None else [clone(arguments[n]) for n in needs]
        value: gast.AST = gast.Call(name(unit.helper(base, pair.bwd)), [*record, y_bar], [])
        before, parts = _parts(unit, inference, value, {p: kinds.get(p, UNKNOWN) for p in pair.active})
        out = []
        for parameter, k, node in wanted:
            part, level = parts[parameter], pair.idle.get(parameter, 0)
            if level is None and isinstance(kinds[parameter], (Number, Array)):
                continue
            if k is not None:
                part = gast.Subscript(clone(part), constant(k), gast.Load())
            out.append((node, part, VALUES if level is None else level))
        return before, out

    return Call(saved, forward, backward)


def _kept(argument: gast.AST, inference: Inference, written: frozenset[str]) -> gast.AST:
    """An argument as the record may keep it: a copy of an array that is written in place."""
    if not isinstance(argument, gast.Name) or argument.id not in written:
        return argument
    if not isinstance(inference.env.get(argument.id), Array):
        return argument
    return expression("x.copy()", x=argument)


def _apart(unit: Unit, target: gast.AST, inference: Inference, written: frozenset[str]) -> list[gast.AST]:
    """`y = y.copy()` where y, which the record may keep, is written in place."""
    if not isinstance(target, gast.Name) or target.id not in written:
        return []
    if isinstance(inference.env.get(target.id), Array):
        return [assign(target.id, expression("x.copy()", x=target.id))]
    return [assign(target.id, expression("own(x)", own=unit.helper("own", runtime.own), x=target.id))]


def _bar_kind(kind: Any) -> Kind:
    """The kind of a cotangent of a value: its shape, and whatever type of number comes out."""
    if isinstance(kind, Number):
        return Number(None)
    return Array(None, kind.dims) if isinstance(kind, Array) else UNKNOWN


def _kind(inference: Inference, node: gast.AST) -> Kind:
    return without_symbols(inference.kind(node)) or UNKNOWN


def _parts(
    unit: Unit, inference: Inference, value: gast.AST, kinds: dict[str, Any]
) -> tuple[list[gast.AST], dict[str, gast.AST]]:
    """The cotangents that a `bwd` returns, by parameter."""
    names = list(kinds)
    if len(names) == 1:
        holder = unit.temp()
        inference.env[holder] = _bar_kind(kinds[names[0]])
        return [gast.Assign([name(holder, store=True)], value, None)], {names[0]: name(holder)}
    holders = [unit.temp() for _ in names]
    for holder, kind in zip(holders, kinds.values(), strict=True):
        inference.env[holder] = _bar_kind(kind)
    target = gast.Tuple([name(h, store=True) for h in holders], gast.Store())
    return [gast.Assign([target], value, None)], {n: name(h) for n, h in zip(names, holders, strict=True)}


def checked_owner(unit: Unit, kinds: dict[str, Kind], operation: Operation) -> list[gast.AST]:
    """`x.dot(y)` is NumPy's method only if x is an array: checked at run time where its kind is not known."""
    node = getattr(operation.node, "func", operation.node)
    owner = node.value if isinstance(node, gast.Attribute) and operation.form == "rule" else None
    if not isinstance(owner, gast.Name) or owner.id not in unit.locals or unit.primal.is_generated:
        return []
    if isinstance(kinds.get(owner.id), (Number, Array, Container)):
        return []
    return [gast.Expr(gast.Call(name(unit.helper("require_array", runtime.require_array)), [name(owner.id)], []))]


def _dynamic(unit: Unit, inference: Inference, operation: Operation, active: set[str], written: frozenset[str]) -> Call:
    """`y, f_pullback = vjp(f, x)`: the one run-time entry."""
    call = operation.node
    base = call.func.id if isinstance(call.func, gast.Name) else getattr(call.func, "attr", "f")
    pullback = unit.local(f"{base}_pullback")
    inference.env[pullback] = UNKNOWN
    for keyword in call.keywords:
        if isinstance(keyword.value, gast.Name) and keyword.value.id in active:
            unit.refuse(call, "a differentiated keyword argument of a function that is only known at run time is not "
                              "supported yet: pass it by position")  # fmt: skip
    given = [call.func, *call.args]
    lead = 1
    if isinstance(call.func, gast.Name) and call.func.id in active:  # a pullback: what it carries is an argument too
        given, lead = [name(unit.helper("call", runtime.call)), *given], 0

    def forward(statement: gast.Assign) -> list[gast.AST]:
        kept = [_kept(a, inference, written) for a in given]
        value = gast.Call(name(unit.helper("vjp", runtime.vjp)), kept, call.keywords)
        target = gast.Tuple([statement.targets[0], name(pullback, store=True)], gast.Store())
        return at(statement, gast.Assign([target], value, None), *_apart(unit, statement.targets[0], inference, written))

    def backward(y_bar: gast.AST) -> tuple[list[gast.AST], list[tuple[gast.Name, gast.AST, int]]]:
        holder = unit.temp()
        inference.env[holder] = UNKNOWN
        value = gast.Call(name(pullback), [y_bar], [])
        out = [
            (node, gast.Subscript(name(holder), constant(k), gast.Load()), 0)
            for k, node in enumerate(given[lead:] if lead else given[1:])
            if isinstance(node, gast.Name) and node.id in active
        ]
        return [gast.Assign([name(holder, store=True)], value, None)], out

    return Call(pullback, forward, backward)
