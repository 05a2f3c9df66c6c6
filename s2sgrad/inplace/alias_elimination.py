"""Alias elimination: views and callees are rewritten, and checks inserted, until each written location has one live name.

    v = u; v += 1.0; return np.sum(u * v)      ->      u += 1.0; return np.sum(u * u)

What cannot be rewritten is refused at the statement that writes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.assumed_axes import is_vague
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Numeric, Pullback, operand
from s2sgrad.errors.wording import ANOTHER
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.inplace import (
    alias_conflicts,
    branched_updates,
    checked_numbers,
    item_sums,
    nested_lists,
    result_checks,
    section_copies,
    shadowed_forms,
)
from s2sgrad.inplace.alias_conflicts import Clash, replaces
from s2sgrad.inplace.inline_writers import Splicer
from s2sgrad.inplace.rebind_markers import is_marker
from s2sgrad.inplace.view_elimination import Views
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name, parts_of, popped
from s2sgrad.ir.quote import assign, at, clone, constant, expression, loaded, name, place_of
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.legality import structured_arrays
from s2sgrad.memory.aliases import OUTSIDE
from s2sgrad.memory.sources import HANDED_OUT
from s2sgrad.memory.stacks import local_stacks
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror import groups
from s2sgrad.mirror.groups import kind_at
from s2sgrad.runtime.copies import copied
from s2sgrad.runtime.traits import traits
from s2sgrad.transform.calls import Pairs


class AliasElimination:
    """Rewrites one function, round by round, until each written location has one live name.

    `written` are the parameters through which it writes the caller's memory, and where; it may if it `owns` its arguments.
    """

    def __init__(self, pairs: Pairs, owns: bool) -> None:
        self.pairs, self.owns = pairs, owns
        self.written: dict[str, gast.AST] = {}
        self.separate: set[str] = set()  # elements, not rows, as a run-time check shows
        self.knots: set[str] = set()  # containers without shadows in which two places may share memory
        self.units: list[Unit] = []  # of the inlined callees

    def writers(self, unit: Unit, kinds: dict[str, Kind]) -> Splicer:
        """The inliner for this function."""
        return Splicer(unit, self.pairs, kinds, self.units)

    def run(self, unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
        """Resolve conflicts; whether anything was changed, so that kinds must be inferred again."""
        kinds = inference.env
        self.written = {}
        if not alias_conflicts.writes_in_place(unit, tree, kinds):
            return False
        found = alias_conflicts.run(unit, tree, kinds, frozenset(self.separate))
        resolver = _Resolver(unit, tree, kinds, self.writers(unit, kinds), self.separate, found.knotted - unit.mirror.names)
        known = unit.mirror.names.issuperset
        clashes = [c for c in found.clashes if replaces(unit, c.statement) or not known((c.written, c.seen))]
        if self.resolve(resolver, clashes, inference):
            return True
        self.written = found.arguments
        if not self.owns and sum(resolver.rebinding(s) for s in found.arguments.values()):
            return True
        return section_copies.run(unit, tree, kinds)

    def resolve(self, resolver: _Resolver, found: list[Clash], inference: Inference) -> bool:
        """Resolve conflicts or refuse the first; whether the tree was changed."""
        unit = resolver.unit
        knots, clashes = [c for c in found if c.is_knot], [c for c in found if not c.is_knot]
        if knots and not clashes and self.mirror(resolver, knots):
            return True
        if not clashes:
            tangled = result_checks.tangled(unit, resolver.tree, resolver.kinds)
            if tangled and resolver.splicer.run(resolver.tree, tangled):
                return True
        self.knots = {c.written for c in knots}
        if not clashes:
            return False
        for clash in clashes:
            if is_marker(unit, clash.statement):
                _refuse(unit, clash, resolver.kinds)
        if not any(resolve(clashes) for resolve in self.ways(resolver, clashes, inference)):
            _refuse(unit, next((c for c in clashes if c.seen.startswith(OUTSIDE)), clashes[0]), resolver.kinds)
        return True

    def ways(self, resolver: _Resolver, clashes: list[Clash], inference: Inference) -> list[Callable[[list[Clash]], bool]]:
        """What may resolve conflicts, in the order in which it is tried."""
        kinds = [resolver.kinds.get(n) for c in clashes for n in (c.written, c.seen)]
        vague = any(is_vague(kind) and not groups.has_shadow(kind) for kind in kinds)
        axes = functools.partial(resolver.axes, inference, vague)
        mirror = functools.partial(self.mirror, resolver)
        sums = functools.partial(item_sums.run, resolver.unit, resolver.tree, resolver.kinds, resolver.places)
        ways: list[Callable[[list[Clash]], bool]] = [
            resolver.any, mirror, resolver.put_back, resolver.branched, resolver.elements, resolver.numbers,
            resolver.beside_records, sums,
        ]  # fmt: skip
        return [axes, *ways] if vague else [*ways, axes]

    def mirror(self, resolver: _Resolver, clashes: list[Clash]) -> bool:
        """Give shadows to names whose aliasing is unknown; whether all of them can have one."""
        unit, tree, kinds = resolver.unit, resolver.tree, resolver.kinds
        if any(replaces(unit, c.statement) for c in clashes):
            return False
        shadowed_forms.update_under_own_names(unit, tree)
        found = groups.Groups(unit, tree, kinds, self.separate)
        names = found.around({n for c in clashes for n in (c.written, c.seen)})
        if names is None:
            return False
        if (handed := found.returned_aliases(names)) and resolver.splicer.run(tree, handed):  # its record may be a copy
            return True
        unit.mirror.names |= names
        unit.mirror.present = True
        shadowed_forms.bind_pops(unit, tree, kinds, names)
        for statement in list(effects.walk(tree.body)):  # an array that is updated in place stays where it is
            section = effects.stored(statement)
            if section is not None and effects.base(section) in names and place_of(statement) in unit.syntax.updates:
                resolver.flattened(statement)
                resolver.updating(statement)
        return True


class _Resolver:
    """Rewrites the conflicts of one round."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], splicer: Splicer, separate: set[str],
        knotted: frozenset[str],
    ) -> None:  # fmt: skip
        self.unit, self.tree, self.kinds, self.splicer, self.separate = unit, tree, kinds, splicer, separate
        self.knotted = knotted  # containers without shadows in which two places may share memory

    @functools.cached_property
    def places(self) -> Occurrences:
        """The occurrences of names, valid as long as only this object changes the tree."""
        return Occurrences(self.tree)

    def any(self, clashes: list[Clash]) -> bool:
        """Resolve what can be resolved; whether there was anything.

        All views of a round are eliminated together, because eliminating one does not affect two other names.  Any other
        rewrite may change kinds and ends the round.
        """
        gone: set[str] = set()
        views = Views(self.unit, self.tree, self.kinds, self.places, [n for c in clashes for n in (c.seen, c.written)])
        for clash in clashes:
            if gone & {clash.seen, clash.written}:
                continue
            if clash.seen.startswith(OUTSIDE):  # the result of a function that reads it
                if self.splicer.run(self.tree, frozenset((clash.written,))):
                    return True
                continue
            if self.rebinding(clash.statement) or self.updating(clash.statement):
                for other in clashes:  # one update in place leaves the kinds of the others as they are
                    self.updating(other.statement)
                return True
            if nested_lists.put_back(self.unit, self.tree, self.kinds, clash, clashes, self.knotted):
                return True
            for suspect in (clash.seen, clash.written):
                chosen = isinstance(self.kinds.get(suspect), Numeric)  # it may have a shadow, whatever it is
                if self.unpacking(suspect) or (not chosen and self.element(suspect)):
                    return True
                if views.eliminate(suspect):
                    gone.add(suspect)
                    break
            else:
                called = self.called & {clash.seen, clash.written}
                if called and self.splicer.run(self.tree, called):
                    return True
        return bool(gone)

    @functools.cached_property
    def called(self) -> frozenset[str]:
        """The names bound to results of functions that can be inlined."""
        return self.splicer.bound(self.tree)

    def put_back(self, clashes: list[Clash]) -> bool:
        """Rewrite lists that grow in containers where two places may share memory, checked; whether there were any."""
        put_back = functools.partial(nested_lists.put_back, self.unit, self.tree, self.kinds)
        return any(put_back(clash, clashes, frozenset()) for clash in clashes)

    def rebinding(self, statement: gast.AST) -> bool:
        """Treat `x += e` of unknown kind, or its restore, as a rebinding, as it is for a number; checked at run time."""
        restores = self.unit.called(getattr(statement, "value", None)) is runtime.restored
        x = bound_name(statement) if restores else getattr(getattr(statement, "target", None), "id", None)
        updates = restores or isinstance(statement, gast.AugAssign)
        if not updates or x is None or isinstance(operand(self.kinds.get(x)), (Array, Container)):
            return False
        if not restores and branched_updates.are_possible(self.kinds.get(x)):
            branched_updates.replace(self.unit, self.places, statement)
            return True
        checked = name(x)
        if restores:
            statement.value = checked = statement.value.args[1]
        notes.REBINDS.put(statement, not restores)
        line = constant(getattr(statement, "lineno", 0))
        self.before(statement, "rebinds", runtime.rebinds, [clone(checked), constant(self.unit.shown(x)), line])
        return True

    def branched(self, clashes: list[Clash]) -> bool:
        """Branch on whether updated names are numbers or arrays, so that they may have shadows; whether there are any."""
        return branched_updates.run(self.unit, self.tree, self.kinds, self.places)

    def flattened(self, statement: gast.AST) -> None:
        """Rewrite `d[j][k] += e` to `t = d[j]; t[k] += e`."""
        section = statement.targets[0]
        owner = kind_at(self.kinds, section.value)
        if not isinstance(section.value, gast.Name) and isinstance(owner, Container):
            holder = self.unit.temp()
            self.kinds[holder] = owner
            self.places.replace(statement, [*at(statement, assign(holder, section.value)), statement])
            section.value = name(holder)

    def updating(self, statement: gast.AST) -> bool:
        """Write `d[k] += e` into the array if the item may have another name; checked if it may not be an array."""
        if not alias_conflicts.updates_item(self.unit, statement, self.kinds):
            return False
        section = statement.targets[0]
        holder = self.unit.temp()
        item = at(statement, assign(holder, loaded(section)))
        self.places.replace(statement, [*item, statement])
        held: Any = self.kinds[section.value.id]
        element = held.at(getattr(section.slice, "value", None))
        if isinstance(operand(element), Array):
            statement.targets = at(section, gast.Subscript(name(holder), constant(Ellipsis), gast.Store()))
        elif branched_updates.are_possible(element):
            self.unit.syntax.updates.discard(place_of(statement))
            self.places.replace(statement, branched_updates.of_item(self.unit, statement, holder))
        else:
            line = constant(getattr(statement, "lineno", 0))
            shown = constant(self.unit.shown(holder, section))
            self.before(statement, "rebinds", runtime.rebinds, [name(holder), shown, line])
            self.unit.syntax.updates.discard(place_of(statement))
        return True

    def element(self, suspect: str) -> bool:
        """Treat `t = a[i]` of unknown kind as an element, not a row, and `t = f(x)` as a number; checked at run time."""
        if isinstance(self.kinds.get(suspect), (Array, Container, Number)) or suspect in self.separate:
            return False
        if any(in_place(self.unit, s, self.kinds) == suspect for s in self.places.of(suspect)):  # no element is written
            return False
        definitions = self.places.binding(suspect)
        checks: list[Any] = [self.check_of(d) for d in definitions]
        if not checks or None in checks:
            return False
        self.separate.add(suspect)
        for definition, check in zip(definitions, checks, strict=True):
            line = constant(getattr(definition, "lineno", 0))
            shown = constant(self.unit.shown(suspect, getattr(definition, "value", None)))
            self.before(definition, check.__name__, check, [name(suspect), shown, line], behind=True)
        return True

    def elements(self, clashes: list[Clash]) -> bool:
        """Treat names that may be numbers or arrays as elements; checked at run time."""
        return any(self.element(suspect) for c in clashes for suspect in (c.seen, c.written))

    def check_of(self, definition: gast.AST) -> Callable | None:
        """The run-time check that a statement binds a name to no memory with another name; None if there is none."""
        if _picks_element(definition):
            return runtime.scalar
        value = definition.value if isinstance(definition, gast.Assign) and bound_name(definition) else None
        late = isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id in self.unit.locals
        return runtime.number if late else None

    def numbers(self, clashes: list[Clash]) -> bool:
        """Treat results of unknown functions that these names derive from as numbers; checked at run time."""
        suspects = {n for c in clashes for n in (c.written, c.seen)}
        return checked_numbers.check(self.unit, self.tree, self.kinds, self.places, suspects)

    def axes(self, inference: Inference, first: bool, clashes: list[Clash]) -> bool:
        """Assume that names first bound to arrays of known rank are such arrays everywhere, under a run-time check; whether
        there was any such name.  `first`: nothing else was tried, so that the text is the one whose kinds were inferred.
        """
        assuming = inference.assuming_axes(first)
        env, axes, found = assuming.run(self.tree), assuming.axes, False
        for statement in list(effects.walk(self.tree.body)) if axes.made else ():
            x = bound_name(statement) or ""
            known = axes.made.get(x) if in_place(self.unit, statement, env) is None else None
            if known is not None and axes.unchecked(statement, assuming.kind(statement.value)):
                line, shown = constant(getattr(statement, "lineno", 0)), constant(self.unit.shown(x))
                given = [name(x), constant(known.dtype), constant(known.rank), shown, line]
                self.before(statement, "has_axes", runtime.checks.has_axes, given, behind=True)
                found = True
        return found

    def beside_records(self, clashes: list[Clash]) -> bool:
        """In generated text, where only records may hold `x`: write `x[i] = e` as `x = x.copy(); x[i] = e`.  A record is
        read when its contents are restored to what they were when it was made, and a copy leaves them alone.  Not what has a
        shadow, through which other names see the write.
        """
        if not self.unit.primal.is_generated:
            return False
        seen: dict[int, list[Clash]] = {}
        for clash in clashes:
            seen.setdefault(id(clash.statement), []).append(clash)
        found = False
        for beside in seen.values():
            statement, x = beside[0].statement, beside[0].written
            if x in self.unit.mirror.names or notes.RENEWED.of(statement):
                continue
            if any(c.written != x or not self.is_record(c.seen) for c in beside):
                continue
            notes.RENEWED.put(statement)
            found = True
            self.places.replace(statement, [*at(statement, assign(x, self.renewed(statement, x))), statement])
        return found

    def renewed(self, statement: gast.AST, x: str) -> gast.AST:
        """A copy of what a statement writes; a shallow one of a list or dict in which it stores an item."""
        kind, section = self.kinds.get(x), effects.stored(statement)
        whole = isinstance(getattr(section, "value", None), gast.Name)
        if isinstance(kind, Container) and kind.type in (list, dict) and whole:
            return gast.Call(self.unit.builtin(kind.type), [name(x)], [])
        return call(self.unit, "copied", copied, name(x))

    def is_record(self, suspect: str, met: frozenset[str] = frozenset()) -> bool:
        """Whether a name holds something that generated text keeps for its adjoint: a stack, a pullback, the record of a
        call."""
        kind = self.kinds.get(suspect)
        if suspect in self.stacks or isinstance(kind.element() if isinstance(kind, Container) else kind, Pullback):
            return True
        bound = self.places.binding(suspect) if suspect not in met else []
        return bool(bound) and all(self.keeps_record(s, suspect, met | {suspect}) for s in bound)

    def keeps_record(self, statement: gast.AST, suspect: str, met: frozenset[str]) -> bool:
        """Whether a statement binds a name to such a thing."""
        if not isinstance(statement, gast.Assign):
            return False
        value, target = statement.value, statement.targets[0]
        if isinstance(target, gast.Tuple):  # `y, saved = f_fwd(x)`
            made = self.places.binding(value.id) if isinstance(value, gast.Name) else [statement]
            pairs = all(traits(self.unit.called(getattr(s, "value", None))).makes_record for s in made)
            return pairs and getattr(target.elts[-1], "id", "") == suspect
        kept = value.id if isinstance(value, gast.Name) else popped(value)
        return kept is not None and self.is_record(kept, met)

    @functools.cached_property
    def stacks(self) -> set[str]:
        """The lists that are only pushed to and popped from."""
        return local_stacks(self.unit, self.tree)

    def unpacking(self, suspect: str) -> bool:
        """Rewrite `a, b = u` of an array to `a = u[0]; b = u[1]`, which are views; the length is checked at run time."""
        for statement in self.places.binding(suspect):
            if not isinstance(statement, gast.Assign):
                continue
            target, value = statement.targets[0], statement.value
            array = isinstance(value, gast.Name) and isinstance(self.kinds.get(value.id), Array)
            if array and isinstance(target, gast.Tuple) and value.id not in effects.targets(statement):
                check = self.unit.helper("unpackable", runtime.unpackable)
                made = [gast.Expr(expression("f(u, n)", f=check, u=value.id, n=len(target.elts)))]
                made += [assign(t.id, expression("u[k]", u=value.id, k=m)) for m, t in enumerate(target.elts)]
                self.places.replace(statement, at(statement, *made))
                return True
        return False

    def before(
        self, statement: gast.AST, base: str, check: Callable, arguments: list[gast.AST], behind: bool = False
    ) -> None:
        made = at(statement, gast.Expr(gast.Call(name(self.unit.helper(base, check)), arguments, [])))
        self.places.replace(statement, [statement, *made] if behind else [*made, statement])


def _picks_element(statement: gast.AST) -> bool:
    """Whether a statement binds an item whose index has no slices, `None` or `...`."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.Subscript):
        return False
    index = statement.value.slice
    parts = parts_of(index)
    return not any(
        isinstance(p, gast.Slice) or (isinstance(p, gast.Constant) and not isinstance(p.value, int)) for p in parts
    )


def _refuse(unit: Unit, clash: Clash, kinds: Mapping[str, Kind]) -> None:
    structured_arrays.refuse(unit, clash.statement, {clash.written, clash.seen}, kinds)
    if clash.seen.startswith(OUTSIDE):
        outside = clash.seen.removeprefix(OUTSIDE)
        shown = "what a function returned" if outside == HANDED_OUT else f"`{outside}`"
        unit.refuse(clash.statement, f"this writes {shown}, which lives outside of the function and is not "
                                     "differentiated: pass it as an argument, or copy it first")  # fmt: skip
    written, seen = unit.word(clash.written), unit.word(clash.seen)
    written = "an array" if written == ANOTHER else written
    seen = "what had this name before" if seen == written else seen
    way = "bind a new value to a name of its own here" if unit.primal.is_generated else "copy one of them, or use one name"
    unit.refuse(clash.statement, f"this writes {written}, and {seen}, which is read later, may share its memory; which of "
                                 f"them cannot be followed: {way}")  # fmt: skip
