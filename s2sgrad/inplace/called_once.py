"""Inlining of functions that one place calls, or that stand beside a root: their variables are the caller's, and no record
is handed over.

    def wave(t, w):                         def f(x, w):
        a = np.sin(t * w)                       a = np.sin(x * w)
        return a * a                 ->         return a * a + w
    def f(x, w):
        return wave(x, w) + w

What a pair would return, keep and take apart again is then plain variables.  The arguments are numbers and arrays, and one
of them carries a derivative.  The text is assignments, loops and branches, with one `return`; it binds each variable before
it reads it.  Any other function keeps its pair, and so do all under `debug`, where each has its own checks.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def wave(t, w):
...     a = np.sin(t * w)
...     return a * a
... def f(x, w):
...     return wave(x, w) + w
... '''), (0, 1))
>>> bool(np.allclose(df(1.0, 2.0), (-1.5136, 0.2432), atol=1e-4)), "wave_bwd" in df.source
(True, False)
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterable
from typing import Any

import gast

from s2sgrad.analysis import effects, reached_codes
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.flow.graph import binds
from s2sgrad.inplace import mentions, near_roots
from s2sgrad.inplace.inline_writers import Splicer
from s2sgrad.inplace.known_arguments import CONSTANTS
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nested, nodes
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.rules import table
from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import read

_PLAIN = (gast.Assign, gast.AugAssign, gast.For, gast.If, gast.Pass)
_IN_TEXT = (*_PLAIN, gast.AnnAssign, gast.Return, gast.Expr)
_SCOPES = (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp,
           gast.Yield, gast.YieldFrom, gast.NamedExpr, gast.Starred, gast.Await)  # fmt: skip
_SHORT, _FEW = 12, 12  # statements and calls of what is written out more than once


class CalledOnce:
    """Inlines into one function, which is differentiated in `wrt`; `entry` is where the program begins."""

    def __init__(self, splicer: Splicer, wrt: set[str], entry: types.FunctionType) -> None:
        self.splicer, self.unit, self.kinds, self.wrt, self.entry = splicer, splicer.unit, splicer.kinds, wrt, entry

    def run(self, tree: gast.FunctionDef) -> bool:
        """Write out the calls of functions that nothing else calls; whether there were any."""
        if self.unit.primal.is_generated:
            return False
        found = {id(s): self.callee(s) for s in effects.walk(tree.body)}
        here = Counter(target for target in found.values() if target is not None)
        if not here:
            return False
        counts, varied = mentions.of(self.entry), _varied(tree, self.kinds, self.wrt)
        calls = [s for s in effects.walk(tree.body) if found[id(s)] is not None and effects.reads(s) & varied]
        short = [s for s in calls if self.is_short(s)]
        once = {id(s) for s in short if here[found[id(s)]] == counts[found[id(s)]] == 1}
        once |= self.beside_roots(tree, [s for s in short if id(s) not in once])
        for body in nested(tree.body) if once else ():
            body[:] = [new for s in body for new in (self.written_out(s, found[id(s)]) if id(s) in once else [s])]
        return bool(once)

    def beside_roots(self, tree: gast.FunctionDef, calls: list[gast.Assign]) -> set[int]:
        """The calls of short functions that a root stands on one side of (`near_roots`)."""
        forms = {}
        for statement in calls:
            with self.unit.calling(statement.value):
                unit, body = self.splicer.pairs.normal_form(self.callee(statement))
            if sum(1 for _ in effects.walk(body.body)) <= _SHORT:
                forms[id(statement)] = near_roots.Roots(unit, body, {})
        if not forms:
            return set()
        named = {
            n: (forms[id(s)], [a.id for a in _given_to(s.value) if isinstance(a, gast.Name)])
            for s in calls if id(s) in forms for n in binds(s)
        }  # fmt: skip
        between = near_roots.between(near_roots.Roots(self.unit, tree, self.kinds), named)
        found = {id(s) for s in calls if id(s) in forms and between.intersection(binds(s))}
        return found if len(found) <= _FEW else set()

    def written_out(self, statement: gast.Assign, target: types.FunctionType) -> list[gast.AST]:
        """The statements of a function, the last of which binds what the call would have been bound to."""
        out: list[Any] = self.splicer.written_out(statement, target)
        result = bound_name(out[-2]) if len(out) > 1 else None
        if result is not None and getattr(out[-1].value, "id", None) == result and self.unit.is_ours(result):
            out[-2].targets = out[-1].targets
            del out[-1]
        return out

    def callee(self, statement: gast.AST) -> Any:
        """The user's function of the same module that a statement binds the result of; None for any other statement."""
        call: Any = statement.value if isinstance(statement, gast.Assign) else None
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name):
            return None
        target = self.unit.resolve(call.func)
        if target is MISSING or not is_plain(target) or not all(map(self.is_numeric, _given_to(call))):
            return None
        same = target.__globals__ is self.unit.primal.function.__globals__ and target.__closure__ is None
        return target if same and _fits(target, call) else None

    def is_numeric(self, argument: gast.AST) -> bool:
        """Whether an argument is a number or an array."""
        if isinstance(argument, gast.Name):
            return isinstance(self.kinds.get(argument.id), (Number, Array))
        return isinstance(argument, gast.Constant) and type(argument.value) in (int, float)

    def is_short(self, statement: gast.Assign) -> bool:
        """Whether the function that a statement calls consists of what can stand in the place of the call."""
        target = self.callee(statement)
        call = statement.value
        named = {k.arg: self.kind(k.value) for k in call.keywords}
        if not may_carry(self.splicer.pairs.kind(target, [self.kind(a) for a in call.args], named)):
            return False
        if not _is_plain_text(target) or reached_codes.refers_to_itself(target):
            return False
        with self.unit.calling(statement.value):
            unit, body = self.splicer.pairs.normal_form(target)
        inside = [*effects.walk(body.body[:-1])]
        plain = all(isinstance(s, _PLAIN) for s in inside) and all(_is_known_call(unit, s) for s in inside)
        return plain and _binds_before_reads(unit, body)

    def kind(self, argument: gast.AST) -> Kind:
        """The kind of an argument."""
        if isinstance(argument, gast.Name):
            return self.kinds[argument.id]
        return Number(type(argument.value))


def _given_to(call: gast.Call) -> list[gast.AST]:
    """The arguments of a call, by position and by name."""
    return [*call.args, *(k.value for k in call.keywords)]


def _fits(target: types.FunctionType, call: gast.Call) -> bool:
    """Whether the arguments fit the parameters, and what is not given has a constant for its default."""
    parameters, named = signature(target).parameters, {k.arg for k in call.keywords}
    first, rest = [*parameters][: len(call.args)], [*parameters.values()][len(call.args) :]
    if len(call.args) > len(parameters) or named & {*first} or not named <= parameters.keys():
        return False
    return all(p.name in named or type(p.default) in CONSTANTS for p in rest)


def _is_plain_text(target: types.FunctionType) -> bool:
    """Whether the text of a function is assignments, loops and branches, with one return, of positional parameters."""
    if has(target, "__wrapped__") or behind_checkpoint(target) is not None or table.lookup(target) is not None:
        return False
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in signature(target).parameters.values()):
        return False
    primal = read(target)
    if primal.is_generated:
        return False
    text = [*effects.walk(primal.tree.body)]
    if sum(isinstance(s, gast.Return) for s in text) != 1 or not isinstance(primal.tree.body[-1], gast.Return):
        return False
    return all(isinstance(s, _IN_TEXT) for s in text) and not any(isinstance(n, _SCOPES) for s in text for n in nodes(s))


def _is_known_call(unit: Unit, statement: gast.AST) -> bool:
    """Whether what a statement calls, if anything, is a method or known by name: no value of the function's own."""
    calls = [n for n in nodes(effects.header(statement)) if isinstance(n, gast.Call)]
    return all(not isinstance(n.func, gast.Name) or unit.resolve(n.func) is not MISSING for n in calls)


def _binds_before_reads(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Whether each variable is bound wherever it is read: in a loop, another would have the value of an earlier trip."""
    sound = True

    def block(body: Iterable[gast.AST], bound: set[str]) -> set[str]:
        nonlocal sound
        for statement in body:
            sound &= effects.reads(statement) & unit.locals <= bound
            if isinstance(statement, gast.If):
                bound = block(statement.body, {*bound}) & block(statement.orelse, {*bound})
            elif isinstance(statement, gast.For):
                block(statement.body, bound | {*binds(statement)})
            else:
                bound |= {*binds(statement)}
        return bound

    block(tree.body, {p.id for p in parameters(tree)})
    return sound


def _varied(tree: gast.FunctionDef, kinds: dict[str, Kind], wrt: set[str]) -> set[str]:
    """The variables that may depend on `wrt`, by what each statement reads and writes."""
    found = {*wrt}
    edges = [(effects.reads(s), effects.writes(s)) for s in effects.walk(tree.body)]
    before = -1
    while before != len(found):
        before = len(found)
        for read_, written in edges:
            if read_ & found:
                found |= {n for n in written if may_carry(kinds.get(n))}
    return found
