"""Makes every memory that is written known by one living name: views and callees written out, checks put in.

    v = u; v += 1.0; return np.sum(u * v)      ->      u += 1.0; return np.sum(u * u)

What cannot be brought to this form is refused at the statement that writes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Pullback
from s2sgrad.errors.wording import ANOTHER
from s2sgrad.flow.graph import binding_counts
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.inplace import alias_conflicts, checked_numbers, nested_lists, result_checks
from s2sgrad.inplace.alias_conflicts import Clash
from s2sgrad.inplace.inline_writers import Splicer
from s2sgrad.inplace.rebind_markers import is_said
from s2sgrad.inplace.view_elimination import Views
from s2sgrad.ir.forms import alone, bound_name, parts_of, popped
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, nested, place_of
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliases import OUTSIDE
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import HANDED_OUT, has_memory, sources
from s2sgrad.memory.stacks import local_stacks
from s2sgrad.mirror import groups
from s2sgrad.mirror.groups import kind_at
from s2sgrad.mirror.shadows import are_in
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.calls import Pairs

_ROUNDS = 400  # names that are written out, one after the other


class AliasElimination:
    """Takes one function to the form in which every memory that is written has one living name, a round at a time.

    `written` are the parameters whose own memory it writes, and where; a function that `owns` its arguments may.
    """

    def __init__(self, pairs: Pairs, owns: bool) -> None:
        self.pairs, self.owns = pairs, owns
        self.written: dict[str, gast.AST] = {}
        self.separate: set[str] = set()  # elements that are checked to be no rows when the text runs
        self.rounds = 0
        self.knots: set[str] = set()  # lists and dicts of which two places may share memory, which have no shadows
        self.units: list[Unit] = []  # of the callees that were written out

    def writers(self, unit: Unit, kinds: dict[str, Kind]) -> Splicer:
        """What writes callees out in this function."""
        return Splicer(unit, self.pairs, kinds, self.units)

    def run(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
        """Resolve what clashes; whether anything was changed, so that the kinds are to be found anew."""
        self.rounds += 1
        self.written = {}
        if not alias_conflicts.writes_in_place(unit, tree, kinds):
            return False
        found = alias_conflicts.run(unit, tree, kinds, frozenset(self.separate))
        resolver = _Resolver(unit, tree, kinds, self.writers(unit, kinds), self.separate)
        clashes = [c for c in found.clashes if _replaces(unit, c) or not unit.mirrored.issuperset((c.written, c.seen))]
        if self.resolve(resolver, clashes):
            return True
        self.written = found.arguments
        if not self.owns and sum(resolver.rebinding(s) for s in found.arguments.values()):
            return True
        return _copied(unit, tree, kinds)

    def resolve(self, resolver: _Resolver, found: list[Clash]) -> bool:
        """Resolve clashes or refuse the first; whether the tree was changed."""
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
            if is_said(unit, clash.statement):
                _refuse(unit, clash)
        resolves = (resolver.any, functools.partial(self.mirror, resolver), resolver.numbers, resolver.beside_records)
        if self.rounds >= _ROUNDS or not any(resolve(clashes) for resolve in resolves):
            _refuse(unit, next((c for c in clashes if c.seen.startswith(OUTSIDE)), clashes[0]))
        return True

    def mirror(self, resolver: _Resolver, clashes: list[Clash]) -> bool:
        """Give the names shadows that cannot be told apart; whether all of them can have some."""
        unit, tree, kinds = resolver.unit, resolver.tree, resolver.kinds
        if any(_replaces(unit, c) for c in clashes):
            return False
        found = groups.Groups(unit, tree, kinds, self.separate)
        names = found.around({n for c in clashes for n in (c.written, c.seen)})
        if names is None:
            return False
        if (handed := found.handed_on(names)) and resolver.splicer.run(tree, handed):  # its record may be a copy
            return True
        unit.mirrored |= names
        unit.shadowed = True
        for body in nested(tree.body):  # an item that stands there twice has one shadow
            body[:] = [_kept(unit, kinds, s) for s in body if not _is_check_of(unit, s, names)]
        for statement in list(effects.walk(tree.body)):  # an array that is updated stays where it is
            section = effects.stored(statement)
            if section is not None and effects.base(section) in names and place_of(statement) in unit.updates:
                resolver.flattened(statement)
                resolver.updating(statement)
        return True


def _replaces(unit: Unit, clash: Clash) -> bool:
    """Whether what is written is a new list in the place of one that the user's text changes: no one else sees it."""
    return is_said(unit, clash.statement) or getattr(clash.statement, "inner", False)


def _is_check_of(unit: Unit, statement: gast.AST, names: set[str]) -> bool:
    """Whether a statement checks that what is written stands once in one of these lists."""
    call = alone(statement)
    return unit.called(call) is runtime.once and effects.base(call.args[0]) in names


def _kept(unit: Unit, kinds: dict[str, Kind], statement: gast.AST) -> gast.AST:
    """`s.pop()` of a list with a shadow as `t = s.pop()`: what is taken off is put back."""
    owner = popped(alone(statement))
    if owner not in unit.mirrored:
        return statement
    taken = unit.temp()
    kinds[taken] = kinds[owner].element()
    unit.mirrored |= {taken} if has_memory(kinds[taken]) else set()
    return at(statement, assign(taken, statement.value))[0]


def _copied(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """`x = u[k]`, bound again and again to sections of what is written while it is dead, is `x = u[k].copy()`."""
    counts = binding_counts(tree.body)
    given = {p.id for p in parameters(tree)}
    kept = given | unit.temps | unit.mirrored
    rebound = {n for n, count in counts.items() if count > 1 and isinstance(kinds.get(n), Array)} - kept
    memory = Memory(unit, tree, kinds) if rebound else None
    found = False
    for body in nested(tree.body) if rebound else ():
        for k in reversed(range(len(body))):
            statement = body[k]
            x = getattr(statement.targets[0], "id", None) if isinstance(statement, gast.Assign) else None
            if x in rebound and x in memory.written - memory.bases:
                if sources(unit, statement.value, kinds) and not isinstance(statement.value, gast.Name):
                    holder = unit.temp()
                    copied = assign(x, expression("x.copy()", x=holder))
                    body[k : k + 1] = at(statement, assign(holder, statement.value), copied)
                    found = True
    return found


class _Resolver:
    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], splicer: Splicer, separate: set[str]
    ) -> None:
        self.unit, self.tree, self.kinds, self.splicer, self.separate = unit, tree, kinds, splicer, separate

    @functools.cached_property
    def places(self) -> Occurrences:
        """Where the names stand, as long as this alone changes the tree."""
        return Occurrences(self.tree)

    def any(self, clashes: list[Clash]) -> bool:
        """Resolve what can be resolved; whether there was anything.

        All views of a round go at once: to write one out changes nothing about two other names.  What else is resolved
        may change the kinds of values, and ends the round.
        """
        gone: set[str] = set()
        views = Views(self.unit, self.tree, self.kinds, self.places, [n for c in clashes for n in (c.seen, c.written)])
        for clash in clashes:
            if gone & {clash.seen, clash.written}:
                continue
            if clash.seen.startswith(OUTSIDE):  # what a function returned, which reads that
                if self.splicer.run(self.tree, frozenset((clash.written,))):
                    return True
                continue
            if self.rebinding(clash.statement) or self.updating(clash.statement):
                return True
            if nested_lists.put_back(self.unit, self.tree, self.kinds, clash):
                return True
            for suspect in (clash.seen, clash.written):
                if self.element(suspect) or self.unpacking(suspect):
                    return True
                if views.eliminate(suspect):
                    gone.add(suspect)
                    break
            else:
                if self.splicer.run(self.tree, frozenset((clash.seen, clash.written))):
                    return True
        return bool(gone)

    def rebinding(self, statement: gast.AST) -> bool:
        """`x += e` of unknown kind, or its restore: right for a number, which it binds anew; checked when it runs."""
        restores = self.unit.called(getattr(statement, "value", None)) is runtime.restored
        x = bound_name(statement) if restores else getattr(getattr(statement, "target", None), "id", None)
        updates = restores or isinstance(statement, gast.AugAssign)
        if not updates or x is None or isinstance(self.kinds.get(x), (Array, Container)):
            return False
        checked = name(x)
        if restores:
            statement.value = checked = statement.value.args[1]
        else:
            statement.rebinds = True
        line = constant(getattr(statement, "lineno", 0))
        self.before(statement, "rebinds", runtime.rebinds, [clone(checked), constant(self.unit.shown(x)), line])
        return True

    def flattened(self, statement: gast.AST) -> None:
        """`d[j][k] += e` as `t = d[j]; t[k] += e`."""
        section = statement.targets[0]
        owner = kind_at(self.kinds, section.value)
        if not isinstance(section.value, gast.Name) and isinstance(owner, Container):
            holder = self.unit.temp()
            self.kinds[holder] = owner
            self.places.replace(statement, [*at(statement, assign(holder, section.value)), statement])
            section.value = name(holder)

    def updating(self, statement: gast.AST) -> bool:
        """`d[k] += e` of an item that may have another name: into the array that it is; checked where it may be none."""
        if not alias_conflicts.updates_item(self.unit, statement, self.kinds):
            return False
        section = statement.targets[0]
        holder = self.unit.temp()
        item = at(statement, assign(holder, gast.Subscript(section.value, section.slice, gast.Load())))
        self.places.replace(statement, [*item, statement])
        element = self.kinds[section.value.id].at(getattr(section.slice, "value", None))
        if isinstance(element, Array):
            statement.targets = at(section, gast.Subscript(name(holder), constant(Ellipsis), gast.Store()))
        else:
            line = constant(getattr(statement, "lineno", 0))
            shown = constant(self.unit.shown(holder, section))
            self.before(statement, "rebinds", runtime.rebinds, [name(holder), shown, line])
            self.unit.updates.discard(place_of(statement))
        return True

    def element(self, suspect: str) -> bool:
        """`t = a[i]` of unknown kind, an element and no row, or `t = f(x)`, a number; checked when it runs."""
        if isinstance(self.kinds.get(suspect), (Array, Container, Number)) or suspect in self.separate:
            return False
        definitions = self.places.binding(suspect)
        checks = [self.check_of(d) for d in definitions]
        if not checks or None in checks:
            return False
        self.separate.add(suspect)
        for definition, check in zip(definitions, checks, strict=True):
            line = constant(getattr(definition, "lineno", 0))
            shown = constant(self.unit.shown(suspect, getattr(definition, "value", None)))
            self.before(definition, check.__name__, check, [name(suspect), shown, line], behind=True)
        return True

    def check_of(self, definition: gast.AST) -> Callable | None:
        """What says, when it runs, that a statement binds a name to no memory that has another one."""
        if _picks_element(definition):
            return runtime.scalar
        value = definition.value if isinstance(definition, gast.Assign) and bound_name(definition) else None
        late = isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id in self.unit.locals
        return runtime.number if late else None

    def numbers(self, clashes: list[Clash]) -> bool:
        """What functions give of which nothing is known, where these names come of it, are numbers: checked when it runs."""
        suspects = {n for c in clashes for n in (c.written, c.seen)}
        return checked_numbers.check(self.unit, self.tree, self.kinds, self.places, suspects)

    def beside_records(self, clashes: list[Clash]) -> bool:
        """`x[i] = e` of a text of ours, where records alone may hold `x`, as `x = x.copy(); x[i] = e`: a record is read when
        what it holds is again what it was when it was kept, and a copy leaves that as it is.  Not where names have shadows,
        which share what is written."""
        if not self.unit.primal.is_generated or are_in(self.unit):
            return False
        seen: dict[int, list[Clash]] = {}
        for clash in clashes:
            seen.setdefault(id(clash.statement), []).append(clash)
        found = False
        for beside in seen.values():
            statement, x = beside[0].statement, beside[0].written
            if any(c.written != x or not self.is_record(c.seen) for c in beside) or getattr(statement, "renewed", False):
                continue
            statement.renewed = found = True
            self.places.replace(statement, [*at(statement, assign(x, self.renewed(statement, x))), statement])
        return found

    def renewed(self, statement: gast.AST, x: str) -> gast.AST:
        """A copy of what a statement writes: of a list or dict in which it puts an item, the list alone."""
        kind, section = self.kinds.get(x), effects.stored(statement)
        whole = isinstance(kind, Container) and kind.type in (list, dict)
        if whole and isinstance(getattr(section, "value", None), gast.Name):
            return gast.Call(self.unit.builtin(kind.type), [name(x)], [])
        return call(self.unit, "copied", copied, name(x))

    def is_record(self, suspect: str, met: frozenset[str] = frozenset()) -> bool:
        """Whether a name stands for what a text of ours keeps for its adjoint: a stack, a pullback, what a call recorded."""
        kind = self.kinds.get(suspect)
        if suspect in self.stacks or isinstance(kind.element() if isinstance(kind, Container) else kind, Pullback):
            return True
        bound = self.places.binding(suspect) if suspect not in met else []
        return bool(bound) and all(self.keeps_record(s, suspect, met | {suspect}) for s in bound)

    def keeps_record(self, statement: gast.AST, suspect: str, met: frozenset[str]) -> bool:
        if not isinstance(statement, gast.Assign):
            return False
        value, target = statement.value, statement.targets[0]
        if isinstance(target, gast.Tuple):  # `y, saved = f_fwd(x)`
            made = self.places.binding(value.id) if isinstance(value, gast.Name) else [statement]
            pairs = all(hasattr(self.unit.called(getattr(s, "value", None)), "primal") for s in made)
            return pairs and getattr(target.elts[-1], "id", "") == suspect
        return isinstance(value, gast.Name) and self.is_record(value.id, met)

    @functools.cached_property
    def stacks(self) -> set[str]:
        """The lists on which things are put, and from which they are taken, and nothing else."""
        return local_stacks(self.unit, self.tree)

    def unpacking(self, suspect: str) -> bool:
        """`a, b = u` of an array: `a = u[0]; b = u[1]`, views that can be followed; the length is checked when it runs."""
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
    if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.Subscript):
        return False
    index = statement.value.slice
    parts = parts_of(index)
    return not any(
        isinstance(p, gast.Slice) or (isinstance(p, gast.Constant) and not isinstance(p.value, int)) for p in parts
    )


def _refuse(unit: Unit, clash: Clash) -> None:
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
