"""What a function that is only called, not differentiated, may change: its arguments, or state outside of it.

    def keep(v): CACHE.append(v)      changes what it reaches      def helper(y): y[0] = 0.0      changes its argument
    def first(ys): z = list(ys); z[0][0] = 1.0      changes what is inside of its argument

Everything that is not plainly local counts: a wrong "it changes nothing" would be a wrong gradient.  What is returned is
told as well: new memory, or memory of the arguments (`returns_new`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind, Known, kind_of
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.trust import Trust, is_writable, trust_of_owner
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.signatures import Parameters
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.places import ANYTHING, NOTHING, Summary, Told
from s2sgrad.memory.points_to import Points
from s2sgrad.source import read

__all__ = ["ANY", "Writes", "forget", "of", "returns_new", "returns_outside", "writes_out"]

ANY = "*"
_Key = tuple[types.FunctionType, tuple[tuple[str, Told], ...]]
_ROUNDS = 20


@dataclass(frozen=True)
class Writes:
    """The parameters that a function may change (`ANY`: all), and whether it may change anything else that outlives it."""

    arguments: frozenset[str]
    outside: bool


def of(function: Any, trusts: Mapping[str, Told] | None = None) -> Writes:
    """What calling a user function may change, its own callees included, for arguments of this trust: without, for numbers,
    arrays and plain containers of them."""
    return _writes(summary_of(getattr(function, "__func__", function), trusts or {}))


def _writes(summary: Summary) -> Writes:
    names = {ANY if place.kind == "any" else place.key for place in summary.written if place.kind != "outside"}
    return Writes(frozenset(names), any(place.kind in ("outside", "any") for place in summary.written))


def of_call(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> Writes:
    """What a call of a user function may change, for arguments of the kinds that the caller knows."""
    return of(function, _trusts(unit, function, call, kinds))


def summary_of_call(unit: Unit, function: types.FunctionType, call: gast.Call, kinds: Mapping[str, Kind]) -> Summary:
    """What a call of a user function may do, for arguments of the kinds that the caller knows."""
    return summary_of(function, _trusts(unit, function, call, kinds))


def of_expression(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> Writes:
    """Which variables an expression may change that calls what is no function of the user's, and whether anything else."""
    names = sorted({n.id for n in nodes(node) if isinstance(n, gast.Name) and n.id in unit.locals})
    given = [gast.Name(n, gast.Param(), None, None) for n in names]
    tree = gast.FunctionDef("_", gast.arguments(given, [], None, [], [], None, []), [gast.Expr(node)], [], None, None, [])
    summary = Points(unit, tree, {n.id: _told(unit, n, kinds) for n in given}, summary_of).run()
    return _writes(summary)


def of_body(unit: Unit, body: list[gast.AST], names: Iterable[str]) -> Writes:
    """Which of these variables, holding numbers, arrays and plain containers, statements may change, and whether anything
    else."""
    given = [gast.Name(n, gast.Param(), None, None) for n in sorted(names)]
    tree = gast.FunctionDef("_", gast.arguments(given, [], None, [], [], None, []), body, [], None, None, [])
    return _writes(Points(unit, tree, dict.fromkeys((n.id for n in given), Trust.DATA), summary_of).run())


def _trusts(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> dict[str, Told]:
    """What a caller knows of the arguments of a call, by the parameters."""
    inner = getattr(function, "__func__", function)
    parameters_ = Parameters.of(inner.__code__)
    given = [_told(unit, a, kinds) for a in call.args]
    named = {k.arg: _told(unit, k.value, kinds) for k in call.keywords}
    if inner is not function:
        given.insert(0, Trust.ANY)
    rest = max((Trust.DATA, *(t for t in (*given, *named.values()) if isinstance(t, Trust))))
    if any(isinstance(a, gast.Starred) for a in call.args) or None in named:
        return dict.fromkeys(parameters_.names, rest)
    told = dict(zip(parameters_.positional, given, strict=False)) | named
    told |= {p: rest for p in (parameters_.variadic, parameters_.keyworded) if p is not None}
    return {p: t for p, t in told.items() if p in parameters_.names}


def returns_outside(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether what a call returns may be, or hold, memory that lives outside: of a global, a default, a bound object."""
    if isinstance(function, functools.partial):
        if any(map(is_writable, (*function.args, *function.keywords.values()))):
            return True
        return returns_outside(unit, function.func, gast.Call(function.func, [], []), kinds)
    if isinstance(function, types.MethodType) and not effects.is_library(function.__func__):
        return is_writable(function.__self__) or returns_outside(unit, function.__func__, call, kinds)
    if not isinstance(function, types.FunctionType) or effects.is_library(function):
        return False
    if is_ours(function) or not getattr(function, "same_signature", True):
        return False  # the backward function of a pair of ours returns memory of its own
    summary = summary_of_call(unit, function, call, kinds)
    given = zip(reversed(Parameters.of(function.__code__).positional), reversed(function.__defaults__ or ()), strict=False)
    kept = {p for p, v in (*given, *(function.__kwdefaults__ or {}).items()) if is_writable(v)}
    held = summary.returns | summary.holds
    return any(place.kind in ("outside", "any") or place.key in kept for place in held)


def given_back(
    unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]
) -> tuple[list[gast.AST], list[gast.AST]] | None:
    """The arguments whose memory the result of a user's function may share, and those of which it may share the memory of
    items alone; None where that is not known."""
    given = _arguments(function, call)
    if given is None:
        return None
    summary = summary_of_call(unit, function, call, kinds)
    places = summary.returns | summary.holds
    if any(place.kind == "any" for place in places):
        return None
    whole, inside = ({place.key for place in places if place.kind == kind} for kind in ("own", "in"))
    return [given[p] for p in given if p in whole], [given[p] for p in given if p in inside - whole]


def _arguments(function: Any, call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call by the parameters of a user's function; None where the text does not say which is which."""
    plain = isinstance(function, types.FunctionType) and not effects.is_library(function) and not is_ours(function)
    if not plain or any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    known = Parameters.of(function.__code__)
    if known.variadic is not None or known.keyworded is not None or len(call.args) > len(known.positional):
        return None
    return dict(zip(known.positional, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}


def tangles(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether a user's function is seen to put one array, or views of it, into two places of what it returns."""
    return summary_of(getattr(function, "__func__", function), _trusts(unit, function, call, kinds)).tangles


def _told(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> Told:
    kind = kind_of(node, kinds)
    found = kind.value if isinstance(kind, Known) else unit.resolve(node)
    return found if isinstance(found, types.ModuleType) else trust_of_owner(unit, node, kinds)


def returns_new(function: types.FunctionType, held: bool = False) -> bool:
    """Whether the arrays that a user function returns, given numbers and arrays, are new memory, to which nothing else
    refers; `held`: in a container, which is new as well."""
    if effects.is_library(function) or is_ours(function):
        return False  # of these it is known without their text
    names = dict.fromkeys(function.__code__.co_varnames[:function.__code__.co_argcount], Trust.ARRAY)
    summary = summary_of(function, names)
    if held:
        return not summary.returns and not summary.holds and summary.makes <= {"new", "none", "shell"}
    return not summary.returns and summary.makes <= {"new", "none"}


def summary_of(function: types.FunctionType, trusts: Mapping[str, Told]) -> Summary:
    """What a call of a user's function may do, for arguments of this trust (`DATA` where nothing is said)."""
    return _known.solved(_key(function, trusts))


def forget() -> None:
    """Look at user functions anew: what their names stand for may have changed."""
    _known.__init__()


def _key(function: types.FunctionType, trusts: Mapping[str, Told]) -> _Key:
    return function, tuple((p, trusts[p]) for p in sorted(trusts) if trusts[p] != Trust.DATA)


class _Summaries:
    """The summaries of functions that call each other: computed again until none of them grows."""

    def __init__(self) -> None:
        self.table: dict[_Key, Summary] = {}
        self.final: set[_Key] = set()
        self.done: set[_Key] = set()
        self.running: list[_Key] = []
        self.recursive = False
        self.texts: dict[types.FunctionType, Any] = {}

    def solved(self, key: _Key) -> Summary:
        if key in self.final:
            return self.table[key]
        if self.running:
            return self.of(key)
        for _ in range(_ROUNDS):
            before = dict(self.table)
            self.done, self.recursive = set(), False
            self.of(key)
            if not self.recursive or self.table == before:
                self.final |= self.done
                return self.table[key]
        self.table[key] = ANYTHING
        self.final.add(key)
        return ANYTHING

    def of(self, key: _Key) -> Summary:
        """The summary as far as it is known in this round."""
        if key in self.done or key in self.final:
            return self.table[key]
        if key in self.running:
            self.recursive = True
            return self.table.get(key, NOTHING)
        self.running.append(key)
        try:
            self.table[key] = self.computed(*key)
        finally:
            self.running.pop()
        self.done.add(key)
        return self.table[key]

    def computed(self, function: types.FunctionType, trusts: tuple[tuple[str, Told], ...]) -> Summary:
        if function not in self.texts:
            try:
                self.texts[function] = Unit.of(read(function))
            except S2SGradError:
                self.texts[function] = None
        if self.texts[function] is None:
            return ANYTHING
        unit, tree = self.texts[function]
        known = dict(trusts)
        given = {p.id: known.get(p.id, Trust.DATA) for p in parameters(tree)}
        return Points(unit, tree, given, lambda callee, callee_trusts: self.solved(_key(callee, callee_trusts))).run()


_known = _Summaries()


def writes_out(node: Any, target: Any) -> bool:
    """Whether a call passes `out=`, by keyword or by position."""
    if isinstance(target, types.FunctionType) and not effects.is_library(target):
        return False  # what a user calls `out` is looked at where it is called
    count = getattr(target, "nin", None)
    return any(k.arg == "out" for k in node.keywords) or (isinstance(count, int) and len(node.args) > count)
