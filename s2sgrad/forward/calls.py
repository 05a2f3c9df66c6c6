"""Tangents of calls without a rule: a function that returns value and tangent, if the callee is known now.

y = helper(x)    ->    y, y_dot = helper_jvp(x, x_dot=x_dot)
y = f(x)         ->    y, y_dot = jvp(f, (x,), (x_dot,))            f is known only at run time
"""

from __future__ import annotations

from typing import Any, Protocol

import gast

from s2sgrad import runtime
from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.primitive_calls import Operation, is_known_late
from s2sgrad.analysis.symbolic_shapes import without_symbols
from s2sgrad.forward.left_out import Values
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir.quote import clone, constant, name
from s2sgrad.ir.reach import call
from s2sgrad.transform.calls import LATE, Pairs, by_position


class WithTangent(Protocol):
    """A function that returns value and tangent; `dots` are its keywords for tangents, by parameter."""

    name: str
    dots: dict[str, str]


class Callees(Pairs, Protocol):
    """The source of such functions for callees."""

    def tangent(self, target: Any, kinds: dict[str, Any], active: set[str], left: dict[str, Values]) -> WithTangent:
        """A function for the value and tangent of a user's function, for arguments of these kinds; `left`: of which
        something is left out (`LeftOut`)."""


def callee_tangent(tangents: Tangents, callees: Callees, operation: Operation) -> gast.AST:
    """A call that returns the value and the tangent of a call of a function without a rule."""
    unit, node, target = tangents.unit, operation.node, operation.target
    if is_known_late(target) or target in LATE:
        return _at_run_time(tangents, operation)
    arguments = callees.arguments(unit, target, node)
    kinds: dict[str, Any] = {}
    given: dict[str, gast.AST] = {}
    left: dict[str, Values] = {}
    for parameter, argument in arguments.items():
        several = isinstance(argument, list)
        parts = argument if several else [argument]
        kinds[parameter] = [_kind(tangents, a) for a in parts] if several else _kind(tangents, argument)
        if any(map(tangents.is_present, parts)):
            dots = [tangents.part(a) for a in parts]
            given[parameter] = gast.Tuple(dots, gast.Load()) if several else dots[0]
            if not several and tangents.left_out is not None and (values := tangents.left_out.of(argument)):
                left[parameter] = values
    with unit.calling(node):
        made = callees.tangent(target, kinds, set(given), left)
    function = name(unit.helper(made.name, made))
    dots_ = [gast.keyword(made.dots[p], dot) for p, dot in given.items()]
    return gast.Call(function, [*map(clone, node.args)], [*map(clone, node.keywords), *dots_])


def _kind(tangents: Tangents, node: gast.AST) -> Kind:
    return without_symbols(tangents.inference.kind(node)) or UNKNOWN


def _at_run_time(tangents: Tangents, operation: Operation) -> gast.AST:
    """`jvp(f, (x, n), (x_dot, None))`: the only entry at run time."""
    unit, node = tangents.unit, operation.node
    given, keywords = by_position(unit, node, tangents.is_present)
    checked = isinstance(node.func, gast.Call)  # `reads_only(f, ..)`, which `jvp` checks as well
    function = node.func.args[0] if checked else node.func
    if tangents.is_present(function):  # the callee is a pullback, which carries values too
        function, given = name(unit.helper("call", runtime.call)), [function, *given]
    dots = [tangents.part(a) if tangents.is_present(a) else constant(None) for a in given]
    primals = gast.Tuple([*map(clone, given)], gast.Load())
    called = call(unit, "jvp", runtime.jvp, clone(function), primals, gast.Tuple(dots, gast.Load()))
    called.keywords = [*map(clone, keywords)]
    return called
