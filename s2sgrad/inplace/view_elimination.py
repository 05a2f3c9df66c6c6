"""View elimination: a view whose memory is written while it is live is replaced by its definition at each use.

    v = u[1:-1]            u[1:-1] = u[1:-1] * 2.0
    v *= 2.0        ->     return np.sum(u[1:-1] * w)
    return np.sum(v * w)

A view that is bound to different places on different paths keeps the place in a variable: `r = u[k]` becomes `r_at = k`, and
`r` reads `u[r_at]`.  The viewed variable must not be rebound while the view is live.  The view must not be asked which
object it is: each use makes another one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.asked_objects import may_ask
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, kind_of
from s2sgrad.analysis.number_types import is_complex
from s2sgrad.flow.available import Available
from s2sgrad.flow.graph import Graph, Point, binds
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.ir import complex_parts, notes
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import assign, at, clone, constant, mentioned, name, place_of, substitute
from s2sgrad.ir.signatures import by_position
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.aliases import Aliases, has_shadows
from s2sgrad.memory.sources import is_basic
from s2sgrad.mirror.groups import kind_at
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import VIEWS, Gives


@dataclass
class View:
    """`name = value` at each of `definitions`, all equal except for their `places`, the atoms of the index.

    `contiguous`: it is a view only if the array is contiguous.  `holders`: variables that store the places, None where these
    do not vary.  `is_item`: a list or dict in another one, which stays there until something is stored into that.
    """

    name: str
    base: str
    definitions: list[gast.Assign]
    contiguous: bool
    places: list[list[gast.AST]]
    holders: list[str | None]
    is_item: bool = False

    @property
    def is_same(self) -> bool:
        """Whether each use is the same object: another name, or an item."""
        return self.is_item or isinstance(self.definitions[0].value, gast.Name)


class Views:
    """The views of one function, valid as long as nothing else is rewritten."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], places: Occurrences, suspects: Iterable[str]
    ) -> None:
        self.unit, self.tree, self.kinds, self.places, self.suspects = unit, tree, kinds, places, suspects
        self.touched: set[str] = set()  # names whose occurrences have changed since `_available` was computed
        self._available: Available | None = None

    def eliminate(self, wanted: str) -> bool:
        """Eliminate a view; False if the name is none, or what it views is not steady."""
        view = self._view(wanted)
        if view is None or not self._is_steady(view, view.base) or (view.contiguous and self._has_gaps(view.base)):
            return False
        if view.is_item and (self._changed(wanted) or has_shadows(self.unit)):  # its items may share memory
            return False
        if not view.is_same and self._asks:
            return False
        for k, place in enumerate(view.places[0]):
            alike = all(_same(p[k], place) for p in view.places)
            if not alike or not all(self._is_steady(view, n) for n in self._variables(place)):
                holder = view.holders[k] = self.unit.local(f"{wanted}_at")
                self.kinds[holder] = Number(int)
        whole = view.definitions[0].value
        self.touched |= {wanted, view.base}.union(*map(self._variables, view.places[0]))
        holders = {id(p): h for p, h in zip(view.places[0], view.holders, strict=True) if h is not None}
        _Writer(self.unit, self.kinds, view, _with_holders(whole, holders)).run(self.places)
        return True

    @functools.cached_property
    def _asks(self) -> bool:
        """Whether the function, or one that it may call, asks which object a value is."""
        return may_ask([self.unit.primal.function])

    def _has_gaps(self, array: str, met: frozenset[str] = frozenset()) -> bool:
        """Whether an array is a view of another with permuted axes, or with steps, and so is not contiguous."""
        if array in met:
            return False
        values = [getattr(s, "value", None) for s in self.places.binding(array)]
        if any(isinstance(v, gast.Attribute) or _of_call(self.unit, v)[0] is not None or _skips(v) for v in values):
            return True
        viewed = (v.value if isinstance(v, gast.Subscript) else v for v in values)
        return any(isinstance(v, gast.Name) and self._has_gaps(v.id, met | {array}) for v in viewed)

    def _variables(self, place: gast.AST) -> set[str]:
        return mentioned(place) & self.unit.locals

    def _is_steady(self, view: View, operand: str) -> bool:
        """Whether an operand is never rebound between a definition of the view and a use of it."""
        key, uses = (view.name, operand), self.places.reading(view.name)
        available = self._available if view.name not in self.touched else None
        if available is None or not all(available.knows(key, use) for use in uses):
            views = [self._view(n) for n in dict.fromkeys([view.name, *self.suspects])]
            available = self._available = self._steady_parts([v for v in views if v is not None])
            self.touched = set()
        return all(available.before(key, use) for use in uses)

    def _steady_parts(self, views: list[View]) -> Available:
        """The availability of the operands of views, by the names of view and operand.

        `u += e` writes the memory of an array, but rebinds the name of a number.
        """
        computed: dict[tuple[str, str], list[gast.Assign]] = {}
        made_of: dict[str, list[tuple[str, str]]] = {}  # by operand
        items = [(view.name, view.base) for view in views if view.is_item]
        for view in views:
            for operand in {view.base}.union(*map(self._variables, view.places[0])):
                key = view.name, operand
                computed[key] = view.definitions
                made_of.setdefault(operand, []).append(key)

        def spoiled(point: Point) -> list[tuple[str, str]]:
            statement: gast.AST = point.statement
            bound: Sequence[str] = point.binds
            if isinstance(statement, gast.AugAssign):
                bound = [n for n in bound if not isinstance(self.kinds.get(n), (Array, Container))]
            out = [key for n in bound for key in made_of.get(n, ())]
            changed = self._refilled(statement) if items and point.role == "whole" else ()
            return out + [key for key in items if any(key[1] in self._shared.get(n, key) for n in changed)]

        return Available(Graph(self.tree), computed, spoiled)

    @functools.cached_property
    def _shared(self) -> dict[str, frozenset[str]]:
        """The aliases of each variable at any point; there is no entry for variables introduced later."""
        shared = Aliases(self.unit, self.tree, self.kinds, keep=False).ever()
        return {n: shared.get(n, frozenset({n})) for n in self.kinds}

    def _refilled(self, statement: gast.AST) -> set[str]:
        """The containers whose items, at any depth, a statement replaces, adds or removes."""
        section = effects.stored(statement)
        if section is not None:
            return set() if isinstance(kind_at(self.kinds, section.value), Array) else {effects.base(section)}
        changed = effects.changed_by_call(getattr(statement, "value", None))
        rebound = {n for n in binds(statement) if isinstance(statement, gast.Assign) or not self._is_container(n)}
        return changed | (effects.writes(statement) - rebound)

    def _is_container(self, name: str) -> bool:
        return isinstance(self.kinds.get(name), Container)

    def _view(self, wanted: str) -> View | None:
        """The name as a view, if every binding binds it to one; None otherwise."""
        definitions = []
        for statement in self.places.binding(wanted):
            if isinstance(statement, gast.AugAssign) and isinstance(self.kinds.get(wanted), (Array, Container)):
                continue
            if bound_name(statement) is None:  # also for what may be a number, which `+=` rebinds
                return None
            definitions.append(statement)
        if any(p.id == wanted for p in parameters(self.tree)):
            return None
        item = isinstance(self.kinds.get(wanted), (Array, Container))
        forms = [_form(self.unit, d.value, self.kinds, item) for d in definitions]
        found = [f for f in forms if f is not None]
        if not found or len(found) < len(forms) or len({(base, str(form)) for base, form, _ in found}) > 1:
            return None
        if not item and any(_may_be_element(d.value) for d in definitions):  # a number, which later stores leave as it is
            return None
        base, _, contiguous = found[0]
        if base == wanted:
            return None
        places = [_places(d.value, base) for d in definitions]
        is_item = isinstance(self.kinds.get(base), Container) and not isinstance(definitions[0].value, gast.Name)
        return View(wanted, base, definitions, contiguous, places, [None] * len(places[0]), is_item)

    def _changed(self, wanted: str) -> bool:
        """Whether a list is resized, or a call changes it."""
        for statement in self.places.reading(wanted):
            if isinstance(statement, (gast.Assign, gast.Expr)) and wanted in effects.changed_by_call(statement.value):
                return True
            if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Call):
                first = statement.value.args[0] if statement.value.args else None
                called = self.unit.resolve(statement.value.func)
                if getattr(first, "id", None) == wanted and called in (runtime.put_back, runtime.add_at, runtime.restored):
                    return True
        return False


def _skips(value: gast.AST) -> bool:
    """Whether this is a section that leaves gaps: `u[::-1]`, `m[:, 1]`, and not `u[1:]`, `m[k]` or `m[k, 1:]`."""
    parts = parts_of(value.slice) if isinstance(value, gast.Subscript) else []
    slices = [k for k, part in enumerate(parts) if isinstance(part, gast.Slice)]
    return any(k < len(parts) - 1 or parts[k].step is not None for k in slices)


def _may_be_element(value: gast.AST) -> bool:
    """Whether a section may be one element, and so a number, for some number of axes: `u[k]`; not `u[k:]`, `u[k, None]`."""
    if not isinstance(value, gast.Subscript):
        return False
    return all(isinstance(p, gast.Name) or type(getattr(p, "value", None)) is int for p in parts_of(value.slice))


def _same(a: gast.AST, b: gast.AST) -> bool:
    plain = (gast.Name, gast.Constant)
    return isinstance(a, plain) and isinstance(b, plain) and type(a) is type(b) and (
        a.id == b.id if isinstance(a, gast.Name) else repr(a.value) == repr(b.value)
    )  # fmt: skip


def _with_holders(node: gast.AST, places: dict[int, str]) -> Any:
    """A copy in which the nodes in `places` are replaced by variables."""
    return clone(node, lambda part: name(places[id(part)]) if id(part) in places else None)


# --- recognition ---


def _form(unit: Unit, value: gast.AST, kinds: dict[str, Kind], item: bool) -> tuple[str, Any, bool] | None:
    """(viewed variable, the operation without its atoms, whether it needs contiguity), or None; `item`: it may be an
    item."""
    if isinstance(value, gast.Name):
        return (value.id, "name", False) if value.id in unit.locals else None
    form: Any
    within = isinstance(value, gast.Subscript) and isinstance(kind_of(value.value, kinds), Container)
    if isinstance(value, gast.Subscript) and (within or is_basic(value.slice, kinds)):
        owner, form, contiguous = value.value, ("item", _skeleton(value.slice)), False
    elif isinstance(value, gast.Attribute) and value.attr == "T":
        owner, form, contiguous = value.value, "T", False
    elif complex_parts.is_part(value) and is_complex(kind_of(value.value, kinds)):
        owner, form, contiguous = value.value, value.attr, False
    else:
        owner, form, contiguous = _of_call(unit, value)
    if not isinstance(owner, gast.Name) or owner.id not in unit.locals:
        return None
    if within:
        whole: Any = kinds[owner.id]
        picks = isinstance(value.slice, (gast.Name, gast.Constant)) and item and whole.type is not tuple
        return (owner.id, form, False) if picks else None
    return (owner.id, form, contiguous) if isinstance(kinds.get(owner.id), Array) else None


def _of_call(unit: Unit, value: gast.AST) -> tuple[gast.AST | None, Any, bool]:
    """The argument that the result of a call is a view of; None for other calls."""
    nothing = None, None, False
    if not isinstance(value, gast.Call) or value.keywords:
        return nothing
    target, arguments = unit.resolve(value.func), value.args
    if target is MISSING and isinstance(value.func, gast.Attribute):
        target, arguments = getattr(np.ndarray, value.func.attr, MISSING), [value.func.value, *value.args]
    gives = catalogue.of(target).gives
    if not arguments or gives not in VIEWS or (gives is Gives.CONTIGUOUS and _orders(target, arguments)):
        return nothing
    notes.OF_FIRST.put(value, arguments[0] in value.args)
    return arguments[0], (target.__name__, [_skeleton(a) for a in arguments[1:]]), gives is Gives.CONTIGUOUS


def _orders(target: Any, arguments: list[gast.AST]) -> bool:
    """Whether a call may say in which order elements are read: another than that of the memory makes a copy."""
    if any(isinstance(a, gast.Starred) or isinstance(getattr(a, "value", None), str) for a in arguments):
        return True
    if target is np.ndarray.reshape:  # takes the order by keyword alone
        return False
    names = by_position(getattr(np, target.__name__, target))
    return "order" in names[: len(arguments)]


def _skeleton(node: gast.AST | None) -> Any:
    """The structure of an index, without names and numbers."""
    if node is None or (isinstance(node, gast.Constant) and (node.value is None or node.value is Ellipsis)):
        return repr(node and node.value)
    if isinstance(node, gast.Slice):
        return ("slice", *(p is not None for p in (node.lower, node.upper, node.step)))
    if isinstance(node, gast.Tuple):
        return [_skeleton(e) for e in node.elts]
    return "atom"


def _places(value: gast.AST, base: str) -> list[gast.AST]:
    """The atoms of a view's expression except the viewed variable, from left to right."""
    out: list[gast.AST] = []
    owner = getattr(getattr(value, "func", None), "value", None)
    base_is_owner = isinstance(owner, gast.Name) and owner.id == base
    if isinstance(value, gast.Subscript):
        parts = parts_of(value.slice)
        for part in parts:
            out += (
                [p for p in (part.lower, part.upper, part.step) if p is not None] if isinstance(part, gast.Slice) else [part]
            )
    elif isinstance(value, gast.Call):
        out += value.args[0 if base_is_owner else 1 :]
    return out


# --- rewriting ---


class _Writer:
    """Rewrites the uses of one view."""

    def __init__(self, unit: Unit, kinds: dict[str, Kind], view: View, value: gast.AST) -> None:
        self.unit, self.kinds, self.view, self.value = unit, kinds, view, value
        self.places = {id(d): p for d, p in zip(view.definitions, view.places, strict=True)}
        self.picks_row = isinstance(value, gast.Subscript) and _of_numbers(value.slice, kinds) and not view.is_item

    def run(self, places: Occurrences) -> None:
        for statement in places.of(self.view.name):
            places.replace(statement, self.statement(statement))

    def statement(self, statement: gast.AST) -> list[gast.AST]:
        """The statements in place of one that mentions the view."""
        view = self.view.name
        if id(statement) in self.places:
            return self.definition(statement)
        if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name) and statement.target.id == view:
            return self.augmented(statement)
        if view not in effects.reads(statement):
            return [statement]
        if isinstance(statement, gast.While):
            statement.test = substitute(statement.test, {view: self.value})
            return [statement]
        section = effects.stored(statement)
        if section is not None and effects.base(section) == view:
            if self.view.is_item:
                return self.item(statement, section)
            if isinstance(section.value, gast.Name):
                statement.targets = [self.target(section)]
            else:
                section.value = substitute(section.value, {view: self.value})
        if isinstance(statement, gast.Assign):
            statement.value = self.read(statement)
        return [statement] if view not in effects.reads(statement) else self.held(statement)

    def read(self, statement: gast.Assign) -> gast.AST:
        """The value of `x = v` or `x = v[i]` in terms of the viewed variable."""
        value = statement.value
        owner: Any = getattr(statement.value, "value", None)
        if isinstance(value, gast.Name) and value.id == self.view.name and bound_name(statement) is not None:
            return clone(self.value)
        row = self.picks_row and isinstance(value, gast.Subscript) and isinstance(owner, gast.Name)
        if row and owner.id == self.view.name and is_basic(value.slice, self.kinds):
            return at(value, self.section(value.slice))[0]
        return value

    def held(self, statement: gast.AST) -> list[gast.AST]:
        """A statement with other reads of the view, which get a name for the viewed section."""
        plain = isinstance(self.value, gast.Name)
        holder = self.value.id if plain else self.unit.temp()
        self.kinds[holder] = self.kinds.get(self.view.name, UNKNOWN)
        for node in effects.loads(effects.header(statement)):
            if node.id == self.view.name:
                node.id = holder
        return [statement] if plain else [*at(statement, assign(holder, clone(self.value))), statement]

    def item(self, statement: gast.Assign, section: gast.Subscript) -> list[gast.AST]:
        """Rewrite `row[j] = e` to `rows[i][j] = e`, where the row occurs once in the container."""
        section.value = substitute(section.value, {self.view.name: self.value})
        once = at(statement, *self.once(statement))
        if getattr(statement.value, "id", None) == self.view.name:
            return [*once, *self.held(statement)]
        return [*once, substitute(statement, {self.view.name: self.value})]

    def once(self, statement: gast.AST) -> list[gast.Expr]:
        """The check that the written item occurs once in its container; one with shadows may occur twice."""
        if effects.base(self.value) in self.unit.mirror.names:
            return []
        check = name(self.unit.helper("once", runtime.once))
        line = constant(getattr(statement, "lineno", 0))
        return [gast.Expr(gast.Call(check, [clone(self.value.value), clone(self.value.slice), line], []))]

    def definition(self, statement: gast.Assign) -> list[gast.AST]:
        """The statements in place of a definition: places that vary, and the check of contiguity."""
        out = [
            assign(holder, clone(place))
            for holder, place in zip(self.view.holders, self.places[id(statement)], strict=True)
            if holder is not None
        ]
        if self.view.contiguous:
            check = self.unit.helper("contiguous", runtime.contiguous)
            line = constant(getattr(statement, "lineno", 0))
            out.append(gast.Expr(gast.Call(name(check), [name(self.view.base), line], [])))
        return at(statement, *out)

    def augmented(self, statement: gast.AugAssign) -> list[gast.AST]:
        """Rewrite `v += e` to a store into the viewed section."""
        if isinstance(self.value, gast.Name):
            statement.target.id = self.value.id
            statement.value = substitute(statement.value, {self.view.name: self.value})
            return [statement]
        old, new = self.unit.temp(), self.unit.temp()
        statement.value = substitute(statement.value, {self.view.name: old})
        self.kinds[old] = self.kinds[new] = self.kinds[self.view.name]
        value = gast.BinOp(name(old), statement.op, statement.value)
        target = self.target(gast.Subscript(name(self.view.name), constant(Ellipsis), gast.Store()))
        made = [assign(old, clone(self.value)), assign(new, value), gast.Assign([target], name(new), None)]
        if self.view.is_item:
            made = [*self.once(statement), *made]
        at(statement, value)
        self.unit.syntax.updates.add(place_of(statement))
        return at(statement, *made)

    def target(self, section: gast.Subscript) -> gast.Subscript:
        """A section of the view as a section of the viewed variable."""
        whole = effects.is_whole(section.slice) and isinstance(self.kinds.get(self.view.name), Array)
        if whole and isinstance(self.value, gast.Subscript):
            made = clone(self.value)
        else:
            made = self.section(section.slice)
        made.ctx = gast.Store()
        return at(section, made)[0]

    def section(self, index: gast.AST) -> gast.Subscript:
        """A section of what the view stands for."""
        if not self.picks_row or not is_basic(index, self.kinds):  # NumPy moves axes between integers and index arrays
            return gast.Subscript(clone(self.value), index, gast.Load())
        first = parts_of(self.value.slice)
        rest = parts_of(index)
        return gast.Subscript(clone(self.value.value), gast.Tuple([*clone(first), *rest], gast.Load()), gast.Load())


def _of_numbers(index: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether `x[index]` selects a row of x, so that `x[index][j]` is `x[index, j]`."""
    parts = parts_of(index)
    return all(
        isinstance(kinds.get(p.id), Number) if isinstance(p, gast.Name) else type(getattr(p, "value", None)) is int
        for p in parts
    )
