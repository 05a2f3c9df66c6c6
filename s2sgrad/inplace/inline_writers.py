"""Inlining of functions that write their arguments: the stores become the caller's.

    def scale(a, c): a *= c            def f(x):                    def f(x):
                                           y = x * x          ->        y = x * x
                                           scale(y, 3.0)                y *= 3.0
                                           return np.sum(y)             return np.sum(y)

The aliasing of the arguments is then known: an array passed twice, overlapping sections, a view. Functions with branches
that are refused are inlined as well where they would otherwise run as they stand, without the refusal (`source.branches`).
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import source
from s2sgrad.analysis import effects, reached_codes
from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.flow.graph import binds
from s2sgrad.inplace import known_arguments, writers_with_pairs
from s2sgrad.inplace.rebind_markers import is_marker
from s2sgrad.inplace.repeated_writers import RepeatedWriters
from s2sgrad.inplace.writers_with_pairs import Form
from s2sgrad.ir import notes
from s2sgrad.ir.quote import Place, assign, at, clone, constant, name, nested, nodes, place_of
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import mod_ref
from s2sgrad.memory.sources import has_memory
from s2sgrad.rules import table
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import branches
from s2sgrad.transform.calls import Pairs

_LONGEST = 20_000  # statements


class Splicer:
    """Inlines callees into one function; `units` are those of all inlined callees, numbered for source positions."""

    def __init__(self, unit: Unit, pairs: Pairs, kinds: dict[str, Kind], units: list[Unit]) -> None:
        self.unit, self.pairs, self.kinds, self.units = unit, pairs, kinds, units

    def run(self, tree: gast.FunctionDef, also: frozenset[str] = frozenset()) -> bool:
        """Inline the calls that write their arguments, and those that bind a name in `also`; whether there were any."""
        targets = {id(s): target for s in effects.walk(tree.body) if (target := self.callee(s, also)) is not None}
        kept = self.kept(tree, targets, also)
        for body in nested(tree.body) if targets else ():
            out: list[gast.AST] = []
            for statement in body:
                target = targets.get(id(statement))
                if target is None:
                    out.append(statement)
                elif id(statement) in kept:
                    out += self.called(statement, target, kept[id(statement)], apart=True)
                else:
                    out += self.written_out(statement, target)
            body[:] = out
        found = bool(targets)
        if found and sum(1 for _ in effects.walk(tree.body)) > _LONGEST:
            self.unit.refuse(
                tree, "the functions that it calls and that write their arguments are too many to be written out"
            )
        return found

    def bound(self, tree: gast.FunctionDef) -> frozenset[str]:
        """The names that are bound to results of functions of the user's."""
        calls = (s for s in effects.walk(tree.body) if isinstance(s, gast.Assign) and self.of_user(s) is not None)
        return frozenset(n for s in calls for n in binds(s))

    def of_user(self, statement: gast.AST) -> Any:
        """The user's function that a statement calls; None for any other statement."""
        if not isinstance(statement, (gast.Assign, gast.Expr)) or not isinstance(statement.value, gast.Call):
            return None
        target = self.unit.resolve(statement.value.func)
        if target is MISSING or not is_user_function(target) or table.lookup(target) is not None:
            return None
        return None if is_ours(target) else target

    def callee(self, statement: gast.AST, also: frozenset[str]) -> Any:
        """The user's function that a statement calls and that must be inlined; None for any other statement."""
        target = self.of_user(statement)
        if target is None:
            return None
        call = statement.value
        bound = also & set(binds(statement)) if isinstance(statement, gast.Assign) else None
        if bound and not writers_with_pairs.calls_itself(target):
            return target  # a recursion would be written out without end
        if source.read(target).is_generated:  # generated functions write no argument
            return None
        if self.may_raise_refusal(target):
            return target
        writes = mod_ref.of_call(self.unit, target, call, self.kinds).arguments
        if not writes:
            return None
        arguments = self.pairs.arguments(self.unit, target, call)
        for parameter, given in arguments.items():
            if mod_ref.ANY in writes or parameter in writes:
                for node in given if isinstance(given, list) else [given]:
                    if isinstance(node, gast.Name) and has_memory(self.kinds.get(node.id)):
                        self.require_whole(call, target)
                        return target
        return None

    def may_raise_refusal(self, target: Any) -> bool:
        """Whether a callee must not run as it stands, because it may run a branch that is refused, and can be inlined."""
        may_run = reached_codes.may_run([target], branches.inlined())
        return may_run and behind_checkpoint(target) is None and not reached_codes.refers_to_itself(target)

    def require_whole(self, call: gast.Call, target: Any) -> None:
        """Refuse a function under `checkpoint`, which runs again with the same arguments."""
        if behind_checkpoint(target) is not None:
            self.unit.refuse(call, f"`{target.__name__}` may write its argument, and under `checkpoint` it is run again "
                                   "with it: let it return a new array")  # fmt: skip

    def written_out(self, statement: gast.AST, target: Any) -> list[gast.AST]:
        """The statements of the callee in place of a call of it."""
        call = statement.value
        if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            self.unit.refuse(call, f"`{target.__name__}` writes its arguments, and `*` or `**` hides which: write them out")
        given = self.pairs.arguments(self.unit, target, call)
        if writers_with_pairs.calls_itself(target):
            summary = mod_ref.summary_of_call(self.unit, target, call, self.kinds)
            forms = writers_with_pairs.copy_forms(self.unit, target, given, summary, self.kinds, statement)
            if isinstance(forms, str):
                writers_with_pairs.refuse(self.unit, statement, target, forms)
            return self.called(statement, target, forms, writers_with_pairs.returned(target, summary, forms))
        with self.unit.calling(call):
            callee, body = self.pairs.normal_form(target)
        self.units.append(callee)
        self.unit.outside.stand_ins |= set().union(*(u.outside.stand_ins for u in (callee, *callee.inlining.units)))
        self.unit.inlining.calls.append((call, target.__name__, callee.primal, callee.primal.tree.lineno))
        given_names = {p.id for p in parameters(body)}
        for part in effects.walk(body.body):
            if is_marker(callee, part) and part.value.args[0].id in given_names:
                self.unit.refuse(call, f"`{target.__name__}` makes a list that it is given longer or shorter, which cannot "
                                       "be followed here: return the new list")  # fmt: skip
        known = self.known(body, target, given)
        body.body[:] = known_arguments.specialized(body.body, dict(known), callee.temps)
        renamed = {n: new for n, new in self.names(callee, body).items() if n not in known}
        heads = self.bind(body, target, given, renamed)
        rename(renamed, body.args, *body.body)
        moved = self.placed(callee, body, call)
        out = [*at(statement, *heads), *body.body[:-1]]
        self.unit.syntax.compound |= {moved[p] for p in callee.syntax.compound & moved.keys()}
        self.unit.syntax.updates |= {moved[p] for p in callee.syntax.updates & moved.keys()}
        if isinstance(statement, gast.Assign):
            out.append(at(statement, gast.Assign(statement.targets, body.body[-1].value, None))[0])
        return out

    def kept(self, tree: gast.FunctionDef, targets: dict[int, Any], also: frozenset[str]) -> dict[int, dict[str, Form]]:
        """By statement: how the written arguments are copied, for the calls of functions that keep a pair."""
        calls = []
        for statement in effects.walk(tree.body) if targets else ():
            target = targets.get(id(statement))
            if target is None or also & set(binds(statement)) or self.may_raise_refusal(target):
                continue
            call = statement.value
            if not any(isinstance(a, gast.Starred) for a in call.args) and all(k.arg is not None for k in call.keywords):
                calls.append((statement, target, self.pairs.arguments(self.unit, target, call)))
        return RepeatedWriters(self.unit, self.kinds, self.pairs.entry).among(calls, tree)

    def called(
        self, statement: gast.AST, target: Any, forms: dict[str, Form], same: str | None = None, apart: bool = False
    ) -> list[gast.AST]:
        """The statements that call a function which returns the final values of the arguments that it writes."""
        given = self.pairs.arguments(self.unit, target, statement.value)
        gives, function = writers_with_pairs.gives_value(target), self.pairs.written_by(target, forms)
        return writers_with_pairs.call(self.unit, statement, function, gives, given, forms, same, apart, self.kinds)

    def placed(self, callee: Unit, body: gast.FunctionDef, call: gast.Call) -> dict[Place, Place]:
        """Mark the nodes of an inlined callee with the number of the call; maps their old source positions to the new."""
        number, moved, of_library = len(self.units), {}, callee.is_of_library
        for node in nodes(body):
            if hasattr(node, "lineno"):
                before = place_of(node)
                inner = getattr(node, "written_out", 0)
                if of_library:  # a user cannot change its lines
                    notes.READ_AT.put(node, notes.READ_AT.of(node) or (callee.primal, node.lineno, node.col_offset))
                    at(call, node)
                else:
                    node.primal = getattr(node, "primal", callee.primal)
                node.written_out = (number, before if of_library else inner)  # so that positions stay distinct
                self.unit.inlining.callers[node.written_out] = *callee.inlining.callers.get(inner, ()), call
                if of_library or inner in callee.inlining.libraries:
                    self.unit.inlining.libraries[node.written_out] = callee.inlining.libraries.get(inner, callee.primal.file)
                moved[before] = place_of(node)
        return moved

    def names(self, callee: Unit, body: gast.FunctionDef) -> dict[str, str]:
        """New names for the callee's variables, and names for what it refers to in the caller."""
        renamed: dict[str, str] = {}
        for node in nodes(body):
            if not isinstance(node, gast.Name) or node.id in renamed:
                continue
            if node.id in callee.locals:
                renamed[node.id] = self.variable(callee, node.id)
            elif node.id in callee.helpers:
                renamed[node.id] = self.unit.helper(node.id, callee.helpers[node.id])
            else:
                renamed[node.id] = self.reached(callee, node)
        return renamed

    def variable(self, callee: Unit, old: str) -> str:
        """A new variable of the caller for one of the callee."""
        if old in callee.temps:
            return self.unit.temp()
        base = callee.bases.get(old, old)
        fresh = self.unit.names.fresh(base)
        self.unit.locals.add(fresh)
        self.unit.bases[fresh] = base
        if old in callee.own_names:
            self.unit.own_names.add(fresh)
        return fresh

    def reached(self, callee: Unit, node: gast.Name) -> str:
        """The caller's name for the object that a free name of the callee refers to."""
        value = callee.resolve(node)
        if value is MISSING or self.unit.resolve(node) is value:
            return str(node.id)
        callee.made.captured.add(node.id)
        return self.unit.helper(node.id, value)

    def known(self, body: gast.FunctionDef, target: Any, given: dict[str, Any]) -> dict[str, Any]:
        """The constants that parameters stand for, which are never rebound."""
        bound = {n for s in effects.walk(body.body) for n in binds(s)}
        values = {p.name: p.default for p in signature(target).parameters.values() if p.default is not p.empty}
        values |= {p: g.value if isinstance(g, gast.Constant) else g for p, g in given.items()}
        return {p: v for p, v in values.items() if p not in bound and type(v) in known_arguments.CONSTANTS}

    def bind(self, body: gast.FunctionDef, target: Any, given: dict[str, Any], renamed: dict[str, str]) -> list[gast.AST]:
        """Assign the arguments to the parameters; a parameter that is never rebound is replaced by its argument."""
        rebound = {n for s in effects.walk(body.body) if not isinstance(s, gast.AugAssign) for n in binds(s)}
        updated = {n for s in effects.walk(body.body) if isinstance(s, gast.AugAssign) for n in binds(s)}
        out = []
        for parameter in signature(target).parameters.values():
            p = parameter.name
            if p not in renamed:  # never read
                continue
            value: gast.AST
            if p in given:
                value = gast.Tuple(list(given[p]), gast.Load()) if isinstance(given[p], list) else given[p]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                value = gast.Tuple([], gast.Load())
            elif type(parameter.default) in known_arguments.CONSTANTS:  # a member of an enumeration is no plain number
                value = constant(parameter.default)
            else:
                value = name(self.unit.helper(p, parameter.default))
            local = isinstance(value, gast.Name) and p not in rebound and value.id in self.unit.locals
            if local and (p not in updated or isinstance(self.kinds.get(value.id), Array)):
                renamed[p] = value.id
            else:
                out.append(assign(renamed[p], clone(value)))
        return out
