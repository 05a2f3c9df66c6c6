"""Mod/ref summaries: what a function that is called, not differentiated, may change: its arguments, or state outside.

    def keep(v): CACHE.append(v)      changes global state         def helper(y): y[0] = 0.0      changes its argument
    def first(ys): z = list(ys); z[0][0] = 1.0      changes the contents of its argument

Everything that is not known to be local counts: a wrong "it changes nothing" would give a wrong gradient.  A summary also
says what is returned: new memory, or memory of the arguments (`returns_new`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Known, Number, Numeric, Text, kind_of
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.trust import Trust, is_writable, trust_of_owner
from s2sgrad.errors import Place, S2SGradError
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.signatures import Parameters, by_keyword, by_position, defaults_of
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.library_calls import may_receive
from s2sgrad.memory.places import ANYTHING, CONTAINERS, NOTHING, NUMBERS, TOLD, Places, Summary, Told, told_of
from s2sgrad.memory.points_to import Points
from s2sgrad.primitives import spellings
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.traits import traits
from s2sgrad.source import read

__all__ = ["ANY", "Writes", "of", "returns_new", "returns_outside", "writes_out"]

ANY = "*"
_Key = tuple[types.FunctionType, tuple[tuple[str, Told], ...]]
_ROUNDS = 20


@dataclass(frozen=True)
class Writes:
    """The parameters that a function may change (`ANY`: all), and whether it may change anything else that outlives the
    call."""

    arguments: frozenset[str]
    outside: bool


def of(function: Any, trusts: Mapping[str, Told] | None = None) -> Writes:
    """What a call of a user's function may change, callees included, for arguments of this trust; by default for numbers,
    arrays and built-in containers of them.
    """
    return _writes(summary_of(its(function, "__func__", function), trusts or {}))


def _writes(summary: Summary) -> Writes:
    names = {ANY if place.kind == "any" else place.key for place in summary.written if place.kind != "outside"}
    return Writes(frozenset(names), any(place.kind in ("outside", "any") for place in summary.written))


def of_call(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> Writes:
    """What a call of a user's function may change, for arguments of the kinds that the caller knows."""
    return of(function, _trusts(unit, function, call, kinds))


def summary_of_call(unit: Unit, function: types.FunctionType, call: gast.Call, kinds: Mapping[str, Kind]) -> Summary:
    """The summary of a call of a user's function, for arguments of the kinds that the caller knows."""
    return summary_of(function, _trusts(unit, function, call, kinds))


def of_expression(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> Writes:
    """What an expression may change whose callee is not a user's function: its variables, and whether anything else."""
    names = {n.id for n in nodes(node) if isinstance(n, gast.Name) and n.id in unit.locals}
    return _writes(points_of(unit, [gast.Expr(node)], names, kinds).run())


def points_of(unit: Unit, body: list[gast.AST], given: Iterable[str], kinds: Mapping[str, Kind]) -> Points:
    """The analysis of statements of the caller, as the body of a function of names that are `given`, of these kinds."""
    passed = [gast.Name(n, gast.Param(), None, None) for n in sorted(given)]
    tree = gast.FunctionDef("_", gast.arguments(passed, [], None, [], [], None, []), body, [], None, None, [])
    return Points(unit, tree, {n.id: _told_of(unit, n, kinds) for n in passed}, summary_of)


def _trusts(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> dict[str, Told]:
    """The trust of the arguments of a call, by parameter."""
    inner = its(function, "__func__", function)
    parameters_ = Parameters.of(inner.__code__)
    passed = [_told_of(unit, a, kinds) for a in call.args]
    named = {k.arg: _told_of(unit, k.value, kinds) for k in call.keywords}
    if inner is not function:
        passed.insert(0, Trust.ANY)
    rest = max((Trust.DATA, *(t for t in (*passed, *named.values()) if isinstance(t, Trust))))
    if any(isinstance(a, gast.Starred) for a in call.args) or None in named:
        return dict.fromkeys(parameters_.names, rest)
    told = dict(zip(parameters_.positional, passed, strict=False)) | named
    told |= {p: rest for p in (parameters_.variadic, parameters_.keyworded) if p is not None}
    told = {p: found for p, v in defaults_of(inner).items() if (found := told_of(v)) is not None} | told
    return {p: t for p, t in told.items() if p in parameters_.names}


def returns_outside(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether the result of a call may be, or hold, memory of a global, a default or a bound object."""
    if isinstance(function, functools.partial):
        if any(map(is_writable, (*function.args, *function.keywords.values()))):
            return True
        return returns_outside(unit, function.func, gast.Call(function.func, [], []), kinds)
    if isinstance(function, types.MethodType) and not effects.is_library(function.__func__):
        return is_writable(function.__self__) or returns_outside(unit, function.__func__, call, kinds)
    if not isinstance(function, types.FunctionType) or effects.is_library(function):
        return False
    if is_ours(function) or not traits(function).same_signature:
        return False  # the backward function of a pair of ours returns memory of its own
    summary = summary_of_call(unit, function, call, kinds)
    kept = {p for p, v in defaults_of(function).items() if is_writable(v)}
    held = summary.returns | summary.holds
    return any(place.kind in ("outside", "any") or place.key in kept for place in held)


class Returned(NamedTuple):
    """The arguments that a result may alias, and those of which it may alias only the contents; the same of each part of a
    tuple, if that is known."""

    whole: list[gast.AST]
    inside: list[gast.AST]
    parts: tuple[Returned, ...] = ()


def returned_arguments(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> Returned | None:
    """The arguments that the result of a user's function may alias; None where that is unknown."""
    passed = arguments(function, call)
    if passed is None:
        return None
    summary = summary_of_call(unit, function, call, kinds)
    places = summary.returns | summary.holds
    if any(place.kind == "any" for place in places):
        return None
    return _among(passed, {*places})._replace(parts=tuple(_among(passed, {*be, *hold}) for be, hold in summary.parts))


def _among(passed: dict[str, gast.AST], places: Places) -> Returned:
    whole, inside = ({place.key for place in places if place.kind == kind} for kind in ("own", "in"))
    return Returned([passed[p] for p in passed if p in whole], [passed[p] for p in passed if p in inside - whole])


def arguments(function: Any, call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call by parameter of a user's function; None where they cannot be matched statically."""
    plain = isinstance(function, types.FunctionType) and not effects.is_library(function) and not is_ours(function)
    if not plain or any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    known = Parameters.of(function.__code__)
    if known.variadic is not None or known.keyworded is not None or len(call.args) > len(known.positional):
        return None
    return dict(zip(known.positional, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}


def written_by(unit: Unit, call: gast.Call) -> list[gast.AST]:
    """The arguments that a call may change, where it is one of a user's function; all where they cannot be matched."""
    function = unit.called(call)
    if not isinstance(function, types.FunctionType) or effects.is_library(function) or is_ours(function):
        return []
    names, given = of(function).arguments, arguments(function, call)
    if names and (given is None or ANY in names):
        return [*call.args, *(k.value for k in call.keywords)]
    return [value for parameter, value in (given or {}).items() if parameter in names]


def tangles(unit: Unit, function: Any, call: gast.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether a user's function visibly puts one array, or views of it, into two places of its result."""
    return summary_of(its(function, "__func__", function), _trusts(unit, function, call, kinds)).tangles


def _told_of(unit: Unit, node: gast.AST, kinds: Mapping[str, Kind]) -> Told:
    """The module or function that an argument is, the type of container, `NUMBERS`, or its trust."""
    kind = kind_of(node, kinds)
    nothing = isinstance(kind, Known) and kind.value is None
    if nothing or isinstance(node, gast.Constant) or isinstance(kind, (Array, Number, Numeric, Text)):
        return NUMBERS
    if isinstance(kind, Container) and kind.type in CONTAINERS and trust_of_owner(unit, node, kinds) is Trust.DATA:
        return kind.type
    found = kind.value if isinstance(kind, Known) else unit.resolve(node)
    return found if isinstance(found, TOLD) else trust_of_owner(unit, node, kinds)


def returns_new(function: types.FunctionType, held: bool = False) -> bool:
    """Whether a user's function, given numbers and arrays, returns arrays that are new and have no other references; `held`:
    in a container, which is new as well."""
    if effects.is_library(function) or is_ours(function):
        return False  # their results are described elsewhere
    names = dict.fromkeys(function.__code__.co_varnames[: function.__code__.co_argcount], Trust.ARRAY)
    summary = summary_of(function, names)
    if held:
        return not summary.returns and not summary.holds and summary.makes <= {"new", "none", "shell"}
    return not summary.returns and summary.makes <= {"new", "none"}


def places_of_writes(function: Any, seen: set[types.FunctionType] | None = None) -> list[Place]:
    """Where a user's function whose summary was asked for writes, or calls what writes: the innermost places first; `seen`
    are functions whose places are known."""
    seen = set() if seen is None else seen
    if not isinstance(function, types.FunctionType) or function in seen or _known.texts.get(function) is None:
        return []
    seen.add(function)
    unit, _ = _known.texts[function]
    out: list[Place] = []
    for statement in _known.writing.get(function, ()):
        for call in (n for n in nodes(statement) if isinstance(n, gast.Call)):
            out += places_of_writes(unit.resolve(call.func), seen)
        out.append(unit.primal.place(statement))
    return out


def summary_of(function: types.FunctionType, trusts: Mapping[str, Told]) -> Summary:
    """The summary of a user's function, for arguments of this trust (`DATA` by default)."""
    return _known.solved(_key(function, trusts))


def _key(function: types.FunctionType, trusts: Mapping[str, Told]) -> _Key:
    return function, tuple((p, trusts[p]) for p in sorted(trusts) if trusts[p] != Trust.DATA)


class _Summaries:
    """Summaries of mutually recursive functions, by iteration to a fixed point."""

    def __init__(self) -> None:
        self.table: dict[_Key, Summary] = {}
        self.final: set[_Key] = set()
        self.done: set[_Key] = set()
        self.running: list[_Key] = []
        self.recursive = False
        self.texts: dict[types.FunctionType, Any] = {}
        self.writing: dict[types.FunctionType, list[gast.AST]] = {}  # by function: the statements that write

    def solved(self, key: _Key) -> Summary:
        """The summary of a function; `ANYTHING` if the iteration does not converge."""
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
        """Analyze a function once, with what is known of its callees; `ANYTHING` without source."""
        if function not in self.texts:
            try:
                self.texts[function] = Unit.of(read(function))
            except S2SGradError:
                self.texts[function] = None
        if self.texts[function] is None:
            return ANYTHING
        unit, tree = self.texts[function]
        known = dict(trusts)
        passed = {p.id: known.get(p.id, Trust.DATA) for p in parameters(tree)}
        points = Points(unit, tree, passed, lambda callee, callee_trusts: self.solved(_key(callee, callee_trusts)))
        summary = points.run()
        self.writing.setdefault(function, points.writing)
        return summary


_known = _Summaries()
forgotten_after(lambda: _Summaries.__init__(_known))


def overwriting(node: Any, target: Any) -> str | None:
    """The option that allows a library function to write into its arguments, or may do so in `**options`; None if there is
    none.

    >>> import numpy as np
    >>> text = "median(x, overwrite_input=True), median(x, 0, None, True), median(x, overwrite_input=False), median(x, **k)"
    >>> [overwriting(call, np.median) for call in gast.parse(text).body[0].value.elts]
    ['overwrite_input', 'overwrite_input', None, 'overwrite_input']
    """
    if is_ours(target) or (isinstance(target, types.FunctionType) and not effects.is_library(target)):
        return None
    names = by_position(target)
    given: list[tuple[str, gast.AST]] = [*zip(names, node.args, strict=False)]
    given += [(k.arg, k.value) for k in node.keywords if k.arg]
    for name, value in given:
        if spellings.overwrites(name) and not (isinstance(value, gast.Constant) and spellings.is_off(name, value.value)):
            return name
    unnamed = [*names] if any(isinstance(a, gast.Starred) for a in node.args) else []
    unnamed += sorted(by_keyword(target) or ()) if any(k.arg is None for k in node.keywords) else []
    return next((name for name in unnamed if spellings.overwrites(name)), None)


def writes_out(node: Any, target: Any) -> bool:
    """Whether a call passes `out=`, by keyword or by position, or may do so by `*` or `**`.

    >>> from scipy import special
    >>> text = "zeta(s, q, y), zeta(s, q), zeta(s, q, out=y), zeta(*s), zeta(s, **k)"
    >>> [writes_out(call, special.zeta) for call in gast.parse(text).body[0].value.elts]
    [True, False, True, True, True]
    """
    if isinstance(target, types.FunctionType) and not effects.is_library(target):
        return False  # an argument of a user's function called `out` is no output
    if any(k.arg == "out" or (k.arg is None and may_receive(target)) for k in node.keywords):
        return True
    count = getattr(target, "nin", None)
    if not isinstance(count, int):
        names = () if is_ours(target) else by_position(target)
        if "out" not in names:
            return False
        count = names.index("out")
    return len(node.args) > count or any(isinstance(a, gast.Starred) for a in node.args)
