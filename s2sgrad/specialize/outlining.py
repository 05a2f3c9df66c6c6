"""Outlining: the body of a function that was written out at several places, and came out the same, is one function again.

    k1 = p * y; k1 = np.sin(k1)                    def rhs(y, p): ..; return k1
    z = y + k1                              ->     k1 = rhs(y, p); z = y + k1; k2 = rhs(z, p)
    k2 = p * z; k2 = np.sin(k2)

So a nested function or a method is called where the user calls it, as one at module level is.  What it captures, and the
attributes that it reads, are arguments.  It stays written out where calls would be no shorter.

>>> import numpy as np
>>> from s2sgrad import grad
>>> def f(x, w):
...     def g(t):
...         a = t * w
...         b = np.sin(a)
...         return a + b * b
...     return g(x) * g(2.0) * g(3.0)
>>> text = grad(f).source_for(1.0, 3.0).splitlines()
>>> for line in text:
...     if line.startswith(("def", "    g_value", "    return g")):
...         print(line)
def g(t, w):
def g_fwd(t, w):
def g_bwd(saved, seed):
def f_grad(x, w, *, seed=1.0):
    g_value, g_saved = g_fwd(x, w)
    return g_bwd(g_saved, seed * g(3.0, w) * g(2.0, w))
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.facts import Facts
from s2sgrad.ir import notes, scoping
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import (
    assign,
    at,
    blocks,
    clone,
    constant,
    empty_arguments,
    mentioned,
    name,
    nested,
    nodes,
    statements_in,
)
from s2sgrad.ir.scoping import FUNCTIONS
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.ir.unit_records import WrittenOut
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.writes import changes_unseen, handed_over, in_place
from s2sgrad.specialize import lambda_lifting, nesting

_PLAIN = (gast.Assign, gast.AugAssign, gast.For, gast.While, gast.If, gast.Break, gast.Continue, gast.Pass)
_HELD = (gast.Tuple, gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)


@dataclass
class _Body:
    """One copy of a function's statements: `own` are the names that it binds, `inputs` those that it reads from outside, and
    `outputs` those that are read behind it."""

    block: list[gast.AST]
    statements: list[gast.AST]
    inputs: list[str]
    outputs: list[str]
    own: set[str]
    written: WrittenOut


@dataclass
class _Match:
    """What the names of one copy are in another: its `own` names, and the atoms for its inputs."""

    first: _Body
    other: _Body
    own: dict[str, str] = field(default_factory=dict)
    atoms: dict[str, gast.AST] = field(default_factory=dict)


def repeated(unit: Unit) -> dict[int, list[int]]:
    """The numbers of the calls of functions that are worth a call, where there are several."""
    copies: dict[int, list[int]] = {}
    if not (unit.definitions.drawn_at or unit.arguments.drawn_from):
        for number, written in unit.inlining.bodies.items():
            copies.setdefault(id(written.node), []).append(number)
    longest = {id(written.node): _length(written.node) for written in unit.inlining.bodies.values()}
    return {node: numbers for node, numbers in copies.items() if _is_worth(len(numbers), longest[node])}


def _is_worth(calls: int, statements: int) -> bool:
    """Whether calls are shorter than what they call is, written out: a call takes about as much as two statements."""
    return statements > 2 and (calls - 1) * (statements - 2) > 1


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Any]) -> None:
    """Call the functions whose copies are equal; inner ones first, so that they are calls in those around."""
    for numbers in repeated(unit).values():
        _Outlining(unit, tree, kinds).outline(numbers)


def _length(node: gast.AST) -> int:
    """The number of statements of a function, but for a docstring."""
    own = statements_in(node.body) if isinstance(node, gast.FunctionDef) else ()
    return sum(not (isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)) for s in own)


class _Outlining:
    """Outlines one function at a time."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Any]) -> None:
        self.unit, self.tree, self.kinds = unit, tree, kinds
        self.given = {p.id for p in parameters(tree)}
        opaque = {*unit.arguments.opened, *unit.arguments.opaque, *unit.definitions.receivers}
        self.closed = opaque | mentioned(*(owner for owner, _ in unit.outside.given_objects))

    def outline(self, numbers: list[int]) -> None:
        """Replace the copies that equal the one that most others equal."""
        bodies = [body for number in numbers if (body := self.body(number)) is not None]
        best: list[_Match] = []
        for k, first in enumerate(bodies):
            found = [m for other in bodies if (m := matched(first, other)) is not None]
            best = found if len(found) > len(best) else best
            if len(best) >= len(bodies) - k:
                break
        if len(best) < 2 or not self.may_be_called(best):
            return
        written = self.function(best[0].first)
        if written is None:
            return
        for match in best:
            self.call(match, *written)

    def body(self, number: int) -> _Body | None:
        """A copy as it stands in the tree; None where it cannot be a function."""
        block, statements = self.found(number)
        if not all(isinstance(s, _PLAIN) for s in effects.walk(statements)) or not self.is_followed(statements):
            return None
        own = scoping.bound(statements)
        inside = {id(n) for n in nodes(*statements)}
        read = {n.id for n in nodes(self.tree) if isinstance(n, gast.Name) and id(n) not in inside}
        holder = gast.FunctionDef("", empty_arguments(), [*statements], [], None, None, [])
        exposed = Facts(holder).liveness.at_start & self.unit.locals
        exposed -= own - read - self.given  # on no path that the function takes
        outputs = [n for n in _in_order(statements) if n in own and n in read]
        written = self.unit.inlining.bodies[number]
        inputs = sorted((n for n in _in_order(statements) if n in exposed), key=functools.partial(self.place, written))
        if not outputs or exposed & {*self.closed, *outputs} or not exposed <= self.bound_before(block, statements):
            return None
        if any(isinstance(v, _HELD) for n in exposed for v in self.values(n)):
            return None
        return _Body(block, statements, inputs, outputs, own, written)

    def place(self, written: WrittenOut, local: str) -> int:
        """Where an input comes among those of a function: parameters, what it captures."""
        standing = [*written.standing]
        return next((standing.index(n) for n in (local, self.unit.bases.get(local)) if n in standing), len(standing))

    def found(self, number: int) -> tuple[list[gast.AST], list[gast.AST]]:
        """The block of a copy, and its statements if they follow each other there."""
        block = next((b for b in nested(self.tree.body) if any(number in notes.BODY_OF.of(s) for s in b)), [])
        places = [k for k, s in enumerate(block) if number in notes.BODY_OF.of(s)]
        if not places or places != [*range(places[0], places[-1] + 1)]:
            return block, []
        return block, _without_copies(block[places[0] : places[-1] + 1])

    def is_followed(self, statements: list[gast.AST]) -> bool:
        """Whether statements define no functions, call none that are data, and change nothing that lives outside."""
        for node in nodes(*statements):
            if isinstance(node, (*FUNCTIONS, gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr, gast.Starred)):
                return False
            if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in self.unit.locals:
                return False
        return not any(changes_unseen(self.unit, s) for s in effects.walk(statements))

    def values(self, local: str) -> list[gast.AST]:
        """What a name is bound to in the function."""
        return [s.value for s in effects.walk(self.tree.body) if bound_name(s) == local]

    def bound_before(self, block: list[gast.AST], statements: list[gast.AST]) -> set[str]:
        """The names that are bound wherever a copy is reached, or that it reads in any case."""
        out = set(self.given)
        for statement in statements:
            if isinstance(statement, gast.Assign):
                out |= effects.reads(statement)
        around, place = block, next(k for k, s in enumerate(block) if s is statements[0])
        while True:
            out |= {n for s in around[:place] if isinstance(s, gast.Assign) for n in scoping.bound([s])}
            if around is self.tree.body:
                return out
            outer = ((b, k, s) for b in nested(self.tree.body) for k, s in enumerate(b))
            inner, (around, place, statement) = around, next(o for o in outer if any(b is around for b in blocks(o[-1])))
            if isinstance(statement, gast.For) and inner is statement.body:
                out |= mentioned(statement.target)

    def may_be_called(self, matches: list[_Match]) -> bool:
        """Whether a call does what the copies do: nothing that is passed is written, and no result that may be, or may be a
        part of, what was passed."""
        first = matches[0].first
        holder = gast.FunctionDef("", clone(self.tree.args), [*first.statements], [], None, None, [])
        holder.args.args = [gast.Name(n, gast.Param(), None, None) for n in first.inputs]
        memory = Memory(self.unit, holder, self.kinds)
        given, outputs = set(first.inputs), first.outputs
        changed = (n for statement in effects.walk(first.statements) for n in self.changed(statement))
        if any(memory.with_memory_of(n) & given for n in changed):
            return False
        if any(memory.with_memory_of(n) & {*outputs[:k]} for k, n in enumerate(outputs)):
            return False
        return not any(memory.with_memory_of(n) & given for n in outputs) or not self.changes_results(matches)

    def changes_results(self, matches: list[_Match]) -> bool:
        """Whether something outside of the copies may write what they give."""
        around, results = Memory(self.unit, self.tree, self.kinds), {m.own[n] for m in matches for n in m.first.outputs}
        inside = {id(s) for m in matches for s in effects.walk(m.other.statements)}
        outside = (s for s in effects.walk(self.tree.body) if id(s) not in inside)
        return any(around.with_memory_of(n) & results for s in outside for n in self.changed(s))

    def changed(self, statement: gast.AST) -> set[str]:
        """The names whose memory a statement may change."""
        written = in_place(self.unit, statement, self.kinds)
        return {*([] if written is None else [written]), *handed_over(self.unit, statement, self.kinds)}

    def function(self, body: _Body) -> tuple[Any, list[str]] | None:
        """The function of a copy, and the further names to pass to it; None where an update cannot be written as such."""
        outputs = [name(n) for n in body.outputs]
        result = gast.Tuple(outputs, gast.Load()) if len(outputs) > 1 else outputs[0]
        statements = [clone(s) for s in body.statements]
        statements += at(statements[-1], gast.Return(result))
        nesting.nest(statements, {n for n in body.own if self.unit.is_ours(n)} | {*body.outputs})
        if nesting.write_updates(self.unit, statements) is not None:
            return None
        renamed = self.names(body, statements)
        scoping.rename(renamed, *statements)
        mine = {renamed.get(n, n): renamed.get(n, n) for n in body.inputs}
        base = body.written.node.name
        return lambda_lifting.function(self.unit, base, statements, mine, len(mine), set(), last=True)

    def names(self, body: _Body, statements: list[gast.AST]) -> dict[str, str]:
        """The user's names for those of a copy, as far as they are free."""
        standing = body.written.standing
        meant = {n: standing.get(n) or standing.get(self.unit.bases.get(n, ""), "") for n in body.inputs}
        meant |= {n: self.unit.shown(n) for n in _in_order(statements) if n in body.own and n not in meant}
        used = mentioned(*statements)
        taken, renamed = used - meant.keys(), {}
        for old, new in meant.items():
            fits = new.isidentifier() and new not in taken
            renamed[old] = new if fits else old if old not in taken else self.unit.names.fresh(old)
            taken.add(renamed[old])
        return renamed

    def directly(self, body: _Body, output: str) -> str:
        """The variable that a copy computes: where the next statement alone reads it, to bind another, that one."""
        after = next(k for k, s in enumerate(body.block) if s is body.statements[-1]) + 1
        reads = sum(isinstance(n, gast.Name) and n.id == output and isinstance(n.ctx, gast.Load) for n in nodes(self.tree))
        for statement in body.block[after : after + 1]:
            renamed = bound_name(statement)
            if reads == 1 and renamed and getattr(statement.value, "id", None) == output:
                del body.block[after]
                return renamed
        return output

    def named(self, target: Any) -> str:
        """The name of a function in the text: the user's, where that is free."""
        base, unit = target.__name__, self.unit
        if base in unit.locals - mentioned(self.tree) and unit.primal.lookup(base) is None and base not in unit.helpers:
            unit.locals.discard(base)
            unit.helpers[base] = target
        return unit.helper(base, target)

    def call(self, match: _Match, target: Any, passed: list[str]) -> None:
        """Put a call in the place of a copy."""
        body, first = match.other, match.first
        arguments = [clone(match.atoms[n]) for n in first.inputs] + [name(n) for n in passed]
        value = gast.Call(name(self.named(target)), arguments, [])
        around = body.written.statement
        call = around if isinstance(around, (gast.Assign, gast.AugAssign, gast.Return, gast.Expr)) else body.written.call
        outputs = [match.own[n] for n in first.outputs]
        anew = {n: self.unit.temp() for n in outputs if self.unit.is_ours(n)}
        scoping.rename(anew, self.tree)
        outputs = [anew.get(n, n) for n in outputs]
        if len(outputs) == 1:
            outputs = [self.directly(body, *outputs)]
        if len(outputs) == 1:
            written = [assign(outputs[0], value)]
        else:
            whole = self.unit.temp()
            written = [assign(whole, value)]
            written += [assign(n, gast.Subscript(name(whole), constant(k), gast.Load())) for k, n in enumerate(outputs)]
        for part in nodes(*written):
            at(call, part)
        around = [n for n in notes.BODY_OF.of(body.statements[0]) if all(n in notes.BODY_OF.of(s) for s in body.statements)]
        for statement in written:
            notes.BODY_OF.put(statement, tuple(n for n in around if self.unit.inlining.bodies.get(n) is not body.written))
        start = next(k for k, s in enumerate(body.block) if s is body.statements[0])
        body.block[start : start + len(body.statements)] = written
        self.pass_on(body.block, start, arguments)

    def pass_on(self, block: list[gast.AST], start: int, arguments: list[gast.AST]) -> None:
        """Pass what the statements before a call only give other names."""
        while start > 0 and isinstance(getattr(block[start - 1], "value", None), (gast.Name, gast.Constant)):
            copied = bound_name(block[start - 1])
            reads = sum(
                n.id == copied and isinstance(n.ctx, gast.Load) for n in nodes(self.tree) if isinstance(n, gast.Name)
            )
            passed = [k for k, a in enumerate(arguments) if isinstance(a, gast.Name) and a.id == copied]
            if copied is None or copied in self.given or len(passed) != reads:
                return
            for k in passed:
                arguments[k] = at(arguments[k], clone(block[start - 1].value))[0]
            start -= 1
            del block[start]


def _without_copies(statements: list[gast.AST]) -> list[gast.AST]:
    """The statements of a copy, but for those before it that name what is passed, once for all."""
    bound = scoping.bindings(statements)
    for k, statement in enumerate(statements):
        is_copy = isinstance(getattr(statement, "value", None), (gast.Name, gast.Constant))
        if not is_copy or bound[bound_name(statement) or ""] != 1:
            return statements[k:]
    return []


def _in_order(statements: list[gast.AST]) -> list[str]:
    """The names in statements, in the order of the text."""
    return list(dict.fromkeys(n.id for n in nodes(*statements) if isinstance(n, gast.Name)))


def matched(first: _Body, other: _Body) -> _Match | None:
    """What the names of one copy are in another; None where more than names and given numbers differs."""
    match = _Match(first, other)
    if len(first.statements) != len(other.statements):
        return None
    for mine, its in zip(first.statements, other.statements, strict=True):
        if not _same(mine, its, match):
            return None
    outputs = [match.own.get(n) for n in first.outputs]
    if {*outputs} != {*other.outputs} or len({*match.own.values()}) != len(match.own):
        return None
    return match if match.atoms.keys() >= {*first.inputs} else None


def _same(mine: Any, its: Any, match: _Match) -> bool:
    """Whether two trees are equal but for names and what is passed; notes them."""
    if isinstance(mine, list):
        return isinstance(its, list) and len(mine) == len(its) and all(
            _same(a, b, match) for a, b in zip(mine, its, strict=True)
        )  # fmt: skip
    if isinstance(mine, gast.Name) and mine.id in match.first.own and mine.id not in match.first.inputs:
        return isinstance(its, gast.Name) and its.id in match.other.own and match.own.setdefault(mine.id, its.id) == its.id
    if isinstance(mine, gast.Name) and mine.id in match.first.inputs:
        return mine.id not in match.first.own and _is_atom(its, match) and _agree(match.atoms.setdefault(mine.id, its), its)
    if type(mine) is not type(its):
        return False
    if not isinstance(mine, gast.AST):
        return bool(mine == its)
    return all(_same(getattr(mine, f, None), getattr(its, f, None), match) for f in mine._fields if f != "type_comment")


def _is_atom(node: gast.AST, match: _Match) -> bool:
    """Whether a node is what may be passed: a number, or a name from outside of a copy."""
    if isinstance(node, gast.Constant):
        return type(node.value) in (int, float)
    return isinstance(node, gast.Name) and node.id in match.other.inputs and node.id not in match.other.own


def _agree(first: gast.AST, other: gast.AST) -> bool:
    """Whether two atoms are the same."""
    if isinstance(first, gast.Name):
        return isinstance(other, gast.Name) and first.id == other.id
    return isinstance(other, gast.Constant) and type(first.value) is type(other.value) and first.value == other.value
