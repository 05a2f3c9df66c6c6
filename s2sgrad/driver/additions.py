"""Sums in which a term is what an adjoint returns that can add it to a buffer itself.

x_bar += e + walk_bwd(saved, seed)      ->      walk_bwd(saved, seed, x_bar)
                                                x_bar += e
t1, t2 = walk_bwd(saved, seed)          ->      _, t2 = walk_bwd(saved, seed, x_bar)
x_bar += t1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.driver.emitted import Emitted
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import at, loaded, mentioned, name, nested
from s2sgrad.ir.unit import Unit

Buffers = dict[int, dict[int, str]]  # of adjoints by `id`: the places of the cotangents that have one, and their names
ALONE = -1  # the place of an only cotangent
_EXITS = (gast.Return, gast.Break, gast.Continue, gast.Raise)
_OPAQUE = (gast.With, gast.Try)


@dataclass(eq=False)
class Result:
    """A term of a sum: what the `call` of an adjoint returns at a place, for which it has the parameter `buffer`; `made`:
    the statement that gives it a name, if it has one."""

    term: gast.AST
    call: gast.Call
    callee: Emitted
    place: int
    buffer: str
    made: gast.Assign | None = None


@dataclass(eq=False)
class Growth:
    """A statement of a block that adds terms to an array, or to a section of it, some of which are results of adjoints."""

    body: Block
    statement: gast.AST
    target: gast.AST
    terms: list[tuple[int, gast.AST]]
    results: list[Result]

    def done_by_callees(self, unit: Unit) -> None:
        """Let the adjoints add their results themselves."""
        calls = []
        for result in self.results:
            _give(result, loaded(self.target))
            if result.made is None:
                calls += _with_origin(self.statement, gast.Expr(result.call))
            else:
                self._drop(unit, result)
        results = [result.term for result in self.results]
        rest = [(sign, e) for sign, e in self.terms if not any(e is term for term in results)]
        self._replace(self.statement, [*calls, *augmented(self.statement, self.target, rest)])

    def _drop(self, unit: Unit, result: Result) -> None:
        """Give a result that is not read no name."""
        assert result.made is not None
        targets = result.made.targets[0].elts
        targets[result.place] = name("_" if "_" in unit.locals else unit.local("_"), store=True)
        if all(isinstance(t, gast.Name) and t.id == targets[result.place].id for t in targets):
            self._replace(result.made, _with_origin(result.made, gast.Expr(result.call)))

    def _replace(self, statement: gast.AST, others: list[gast.AST]) -> None:
        k = next(k for k, s in enumerate(self.body) if s is statement)
        self.body[k : k + 1] = others


def _give(result: Result, buffer: gast.AST) -> None:
    """Pass a buffer, by position where those before it are passed."""
    call, known = result.call, result.callee.tree.args.args
    call.keywords.append(gast.keyword(result.buffer, buffer))
    by_name = {k.arg: k for k in call.keywords}
    for parameter in known[len(call.args) :]:
        keyword = by_name.get(parameter.id)
        if keyword is None:
            return
        call.args.append(keyword.value)
        call.keywords.remove(keyword)


def growths(emitted: Emitted, bars: set[str], buffers: Buffers, own: set[str]) -> Iterator[Growth]:
    """The statements that add results of adjoints to one of these arrays; `own`: those that are bound from the start."""
    if not is_plain(emitted):
        return
    found = _Results(emitted, buffers, own)
    for body in nested(emitted.tree.body):
        for k, statement in enumerate(body):
            target = _grown(statement, bars)
            if target is not None:
                terms = terms_of(emitted.unit, statement.value)
                results = [r for sign, e in terms if sign > 0 and (r := found.of(body[:k], target, e)) is not None]
                if results:
                    yield Growth(body, statement, target, terms, results)


class _Results:
    """What terms of sums in one function are results of."""

    def __init__(self, emitted: Emitted, buffers: Buffers, own: set[str]) -> None:
        self.unit, self.buffers, self.own = emitted.unit, buffers, own
        body = emitted.tree.body
        self.reads, self.bound, self.lifetimes = read_counts(body), binding_counts(body), Facts(emitted.tree).lifetimes

    def of(self, before: Block, target: gast.AST, term: gast.AST) -> Result | None:
        """The result that a term is, where the adjoint may add it to the target itself; `before`: the statements before."""
        if isinstance(term, gast.Call):
            return self._returned(term, term, ALONE)
        plain = isinstance(term, gast.Name) and isinstance(target, gast.Name)
        if not plain or self.reads[term.id] != 1 or self.bound[term.id] != 1:
            return None
        for statement in reversed(before):
            if term.id in binds(statement):
                there = target.id in self.own or self.lifetimes.is_assigned(target.id, statement)
                return self._unpacked(statement, term) if there else None
            if _may_leave(statement) or (target.id in mentioned(statement) and added_to(statement) != target.id):
                return None
        return None

    def _unpacked(self, made: gast.AST, term: gast.Name) -> Result | None:
        unpacks = isinstance(made, gast.Assign) and isinstance(made.targets[0], gast.Tuple)
        if not unpacks or not isinstance(made.value, gast.Call):
            return None
        places = [k for k, t in enumerate(made.targets[0].elts) if isinstance(t, gast.Name) and t.id == term.id]
        result = self._returned(term, made.value, places[0]) if places else None
        if result is not None:
            result.made = made
        return result

    def _returned(self, term: gast.AST, call: gast.Call, place: int) -> Result | None:
        callee = self.unit.helpers.get(call.func.id) if isinstance(call.func, gast.Name) else None
        buffer = self.buffers.get(id(callee), {}).get(place)
        return Result(term, call, callee, place, buffer) if buffer is not None and callee is not None else None


def is_plain(emitted: Emitted) -> bool:
    """Whether a function has no statements whose blocks are not walked."""
    return not any(isinstance(s, _OPAQUE) for s in effects.walk(emitted.tree.body))


def zeros(emitted: Emitted) -> set[str]:
    """The names of a function that only zeros like an array are bound to, and of which nothing is a view: buffers of its
    own."""
    makers: dict[str, set[int]] = {}
    shared: set[str] = set()
    for statement in effects.walk(emitted.tree.body):
        if isinstance(statement, gast.AugAssign) or effects.accumulates(emitted.unit, statement) is not None:
            continue
        value = getattr(statement, "value", None)
        for n in binds(statement):
            made = emitted.unit.called(value) if bound_name(statement) == n else None
            makers.setdefault(n, set()).add(id(made))
        if isinstance(statement, gast.Assign) and not isinstance(value, (gast.BinOp, gast.UnaryOp)):
            shared |= mentioned(value)
    return {n for n, made in makers.items() if made == {id(np.zeros_like)}} - shared


def _grown(statement: gast.AST, bars: set[str]) -> gast.AST | None:
    """The array, or the section of one, that a statement adds to: of `x_bar += e`, `x_bar[i:] += e`, `x_bar = e`."""
    if bound_name(statement) in bars:
        return statement.targets[0]
    if not isinstance(statement, gast.AugAssign) or not isinstance(statement.op, gast.Add):
        return None
    target = statement.target
    if isinstance(target, gast.Subscript) and all(isinstance(p, gast.Slice) for p in parts_of(target.slice)):
        inside, target = mentioned(target.slice, statement.value), target.value
    else:
        inside = mentioned(statement.value)
    is_bar = isinstance(target, gast.Name) and target.id in bars and target.id not in inside
    return statement.target if is_bar else None


def added_to(statement: gast.AST) -> str | None:
    """`x_bar` of `x_bar += e` and `x_bar[i] -= e`."""
    adds = isinstance(statement, gast.AugAssign) and isinstance(statement.op, (gast.Add, gast.Sub))
    return effects.base(statement.target) if adds else None


def _may_leave(statement: gast.AST) -> bool:
    return any(isinstance(s, _EXITS) for s in effects.walk([statement]))


def terms_of(unit: Unit, value: gast.AST) -> list[tuple[int, gast.AST]]:
    """The terms of a sum, with their signs: those of `e` for a copy `own(e)` too."""
    if isinstance(value, gast.Call) and unit.called(value) is runtime.own:
        value = value.args[0]
    return _terms(value, 1)


def _terms(value: gast.AST, sign: int) -> list[tuple[int, gast.AST]]:
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, (gast.Add, gast.Sub)):
        return [(sign, value)]
    return _terms(value.left, sign) + _terms(value.right, sign if isinstance(value.op, gast.Add) else -sign)


def augmented(origin: gast.AST, target: gast.AST, terms: list[tuple[int, gast.AST]]) -> list[gast.AST]:
    """`x_bar += e`, or `x_bar -= e` where all terms are subtracted; nothing where there are none."""
    if not terms:
        return []
    subtracts = all(sign < 0 for sign, _ in terms)
    (_, value), *others = sorted(terms, key=lambda term: -term[0])
    for sign, e in others:
        value = gast.BinOp(value, gast.Add() if subtracts or sign > 0 else gast.Sub(), e)
    return _with_origin(origin, gast.AugAssign(target, gast.Sub() if subtracts else gast.Add(), value))


def _with_origin(origin: gast.AST, made: gast.AST) -> list[gast.AST]:
    if hasattr(origin, "origin"):
        made.origin = origin.origin
    return at(origin, made)
