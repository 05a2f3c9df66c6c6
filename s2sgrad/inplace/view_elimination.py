"""A named view whose memory is written while it lives is written out wherever it is used: one memory, one name.

    v = u[1:-1]            u[1:-1] = u[1:-1] * 2.0
    v *= 2.0        ->     return np.sum(u[1:-1] * w)
    return np.sum(v * w)

A view bound to different places on different paths keeps the place in a variable: `r = u[k]` becomes `r_at = k`, and
`r` reads `u[r_at]`.  The variable that is viewed must not be bound anew while the view lives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes, place_of, substitute
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.sources import is_basic
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import VIEWS, Gives


@dataclass
class View:
    """`name = value` at each of `definitions`, all alike but for their `places`, the atoms of the index.

    `contiguous`: a view only of a contiguous array.  `holders`: variables that keep the places, None where one will do.
    `is_item`: a list or dict in another one, which stays there while nothing is stored into that.
    """

    name: str
    base: str
    definitions: list[gast.Assign]
    contiguous: bool
    places: list[list[gast.AST]]
    holders: list[str | None]
    is_item: bool = False


def eliminate(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], wanted: str) -> bool:
    """Write out the view `wanted`; False where it is none, or what it views cannot be followed."""
    view = _view(unit, tree, kinds, wanted)
    if view is None or not _steady(tree, view, {view.base}, kinds):
        return False
    if view.is_item and _changed(unit, tree, wanted):
        return False
    for k, place in enumerate(view.places[0]):
        used = {n.id for n in nodes(place) if isinstance(n, gast.Name)} & unit.locals
        alike = all(_same(p[k], place) for p in view.places)
        if not alike or not _steady(tree, view, used, kinds):
            view.holders[k] = unit.local(f"{wanted}_at")
            kinds[view.holders[k]] = Number(int)
    whole = view.definitions[0].value
    places = {id(p): h for p, h in zip(view.places[0], view.holders, strict=True) if h is not None}
    _Writer(unit, kinds, view, _with_holders(whole, places)).run(tree)
    return True


def _same(a: gast.AST, b: gast.AST) -> bool:
    plain = (gast.Name, gast.Constant)
    return isinstance(a, plain) and isinstance(b, plain) and type(a) is type(b) and (
        a.id == b.id if isinstance(a, gast.Name) else repr(a.value) == repr(b.value)
    )  # fmt: skip


def _with_holders(node: Any, places: dict[int, str]) -> Any:
    """A copy in which the nodes of `places` are names of variables."""
    if isinstance(node, list):
        return [_with_holders(item, places) for item in node]
    if not isinstance(node, gast.AST):
        return node
    if id(node) in places:
        return name(places[id(node)])
    copy = type(node).__new__(type(node))
    copy.__dict__.update({k: _with_holders(v, places) for k, v in node.__dict__.items()})
    return copy


# --- what is a view ---


def _view(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], wanted: str) -> View | None:
    if any(p.id == wanted for p in parameters(tree)):
        return None
    definitions = []
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.AugAssign) and effects.base(statement.target) == wanted:
            continue
        if wanted in binds(statement):
            if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
                return None
            definitions.append(statement)
    item = isinstance(kinds.get(wanted), (Array, Container))
    found = [_form(unit, d.value, kinds, item) for d in definitions]
    if not found or any(f is None for f in found) or len({(base, str(form)) for base, form, _ in found}) > 1:
        return None
    base, _, contiguous = found[0]
    if base == wanted:
        return None
    places = [_places(d.value, base) for d in definitions]
    is_item = isinstance(kinds.get(base), Container) and not isinstance(definitions[0].value, gast.Name)
    return View(wanted, base, definitions, contiguous, places, [None] * len(places[0]), is_item)


def _changed(unit: Unit, tree: gast.FunctionDef, wanted: str) -> bool:
    """Whether a list grows or shrinks, or a call changes it."""
    for statement in effects.walk(tree.body):
        if isinstance(statement, (gast.Assign, gast.Expr)) and wanted in effects.changed_by_call(statement.value):
            return True
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Call):
            first = statement.value.args[0] if statement.value.args else None
            called = unit.resolve(statement.value.func)
            if getattr(first, "id", None) == wanted and called in (runtime.put_back, runtime.add_at, runtime.restored):
                return True
    return False


def _form(unit: Unit, value: gast.AST, kinds: dict[str, Kind], item: bool) -> tuple[str, Any, bool] | None:
    """(viewed variable, what is done to it without the atoms, whether it must be contiguous); `item`: it may be one."""
    if isinstance(value, gast.Name):
        return (value.id, "name", False) if value.id in unit.locals else None
    owner: gast.AST | None = None
    form: Any = None
    contiguous = False
    within = isinstance(value, gast.Subscript) and isinstance(kinds.get(getattr(value.value, "id", "")), Container)
    if isinstance(value, gast.Subscript) and (within or is_basic(value.slice, kinds)):
        owner, form = value.value, ("item", _skeleton(value.slice))
    elif isinstance(value, gast.Attribute) and value.attr == "T":
        owner, form = value.value, "T"
    elif isinstance(value, gast.Call) and not value.keywords:
        target = unit.resolve(value.func)
        arguments = value.args
        if target is MISSING and isinstance(value.func, gast.Attribute):
            target, arguments = getattr(np.ndarray, value.func.attr, MISSING), [value.func.value, *value.args]
        if any(isinstance(getattr(a, "value", None), str) for a in arguments[1:]):
            return None  # the order of the elements
        gives = catalogue.of(target).gives
        if arguments and gives in VIEWS:
            owner, form = arguments[0], (target.__name__, [_skeleton(a) for a in arguments[1:]])
            value.of_first = owner in value.args
            contiguous = gives is Gives.CONTIGUOUS
    if not isinstance(owner, gast.Name) or owner.id not in unit.locals:
        return None
    if within:
        picks = isinstance(value.slice, (gast.Name, gast.Constant)) and item and kinds[owner.id].type is not tuple
        return (owner.id, form, False) if picks else None
    return (owner.id, form, contiguous) if isinstance(kinds.get(owner.id), Array) else None


def _skeleton(node: gast.AST | None) -> Any:
    """The shape of an index: names and numbers left out."""
    if node is None or (isinstance(node, gast.Constant) and (node.value is None or node.value is Ellipsis)):
        return repr(node and node.value)
    if isinstance(node, gast.Slice):
        return ("slice", *(p is not None for p in (node.lower, node.upper, node.step)))
    if isinstance(node, gast.Tuple):
        return [_skeleton(e) for e in node.elts]
    return "atom"


def _steady(tree: gast.FunctionDef, view: View, operands: set[str], kinds: dict[str, Kind]) -> bool:
    """Whether none of the operands is bound anew between a definition of the view and a use of it."""
    if not operands:
        return True
    holders = _alike(tree, view.base) if view.is_item else set()
    updated = {n for n in operands if isinstance(kinds.get(n), (Array, Container))}
    steady = _Steady(view.name, operands, {id(d) for d in view.definitions}, holders, updated)
    return steady.block(tree.body, False) is not _BROKEN


def _alike(tree: gast.FunctionDef, local: str) -> set[str]:
    """The names that plain assignments make names of the same list or dict."""
    pairs = [
        (s.targets[0].id, s.value.id)
        for s in effects.walk(tree.body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and isinstance(s.value, gast.Name)
    ]
    out = {local}
    while more := {n for pair in pairs for n in pair if out & set(pair)} - out:
        out |= more
    return out


_BROKEN = object()


class _Steady:
    """Forwards: whether the view may be stale, for what it was made of has been bound anew.

    `u += e` writes the memory of an array, one of the `updated`, and binds the name of a number anew.
    """

    def __init__(self, view: str, operands: set[str], definitions: set[int], holders: set[str], updated: set[str]) -> None:
        self.view, self.operands, self.definitions, self.holders = view, operands, definitions, holders
        self.updated = updated
        self.breaks: list[bool] = []

    def block(self, body: Block, stale: Any) -> Any:
        for statement in body:
            if stale and self.view in effects.reads(statement):
                return _BROKEN
            if isinstance(statement, gast.If):
                arms = [self.block(arm, stale) for arm in (statement.body, statement.orelse)]
                if _BROKEN in arms:
                    return _BROKEN
                stale = any(arms)
            elif isinstance(statement, (gast.For, gast.While)):
                while True:
                    start = stale or (isinstance(statement, gast.For) and statement.target.id in self.operands)
                    end = self.block(statement.body, start)
                    if end is _BROKEN:
                        return _BROKEN
                    if bool(end) == bool(stale) or stale:
                        break
                    stale = True
                if isinstance(statement, gast.While) and stale and self.view in effects.reads(statement):
                    return _BROKEN
            elif id(statement) in self.definitions:
                stale = False
            elif self._rebinds(statement):
                stale = True
            elif self.holders & effects.writes(statement):
                section = effects.stored(statement)
                stale = stale or section is None or isinstance(section.value, gast.Name)
        return stale

    def _rebinds(self, statement: gast.AST) -> bool:
        bound = self.operands & set(binds(statement))
        return bool(bound - self.updated if isinstance(statement, gast.AugAssign) else bound)


def _places(value: gast.AST, base: str) -> list[gast.AST]:
    """The atoms of a view's expression but the variable that is viewed, from left to right."""
    out: list[gast.AST] = []
    owner = getattr(getattr(value, "func", None), "value", None)
    base_is_owner = isinstance(owner, gast.Name) and owner.id == base
    if isinstance(value, gast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        for part in parts:
            out += (
                [p for p in (part.lower, part.upper, part.step) if p is not None] if isinstance(part, gast.Slice) else [part]
            )
    elif isinstance(value, gast.Call):
        out += value.args[0 if base_is_owner else 1 :]
    return out


# --- writing it out ---


class _Writer:
    def __init__(self, unit: Unit, kinds: dict[str, Kind], view: View, value: gast.AST) -> None:
        self.unit, self.kinds, self.view, self.value = unit, kinds, view, value
        self.places = {id(d): p for d, p in zip(view.definitions, view.places, strict=True)}
        self.picks_row = isinstance(value, gast.Subscript) and _of_numbers(value.slice, kinds) and not view.is_item

    def run(self, tree: gast.FunctionDef) -> None:
        waiting = [tree.body]
        while waiting:
            body = waiting.pop()
            body[:] = [new for statement in body for new in self.statement(statement)]
            for statement in body:
                if isinstance(statement, (gast.If, gast.For, gast.While)):
                    waiting += [statement.body, statement.orelse]

    def statement(self, statement: gast.AST) -> list[gast.AST]:
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
        if section is not None and effects.base(section) == view and self.view.is_item:
            return self.item(statement, section)
        if section is not None and isinstance(section.value, gast.Name) and section.value.id == view:
            statement.targets = [self.target(section)]
        elif section is not None and effects.base(section) == view:
            section.value = substitute(section.value, {view: self.value})
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name) and statement.value.id == view:
            if isinstance(statement.targets[0], gast.Name):
                statement.value = clone(self.value)
                return [statement]
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Subscript) and self.picks_row:
            part = statement.value
            if isinstance(part.value, gast.Name) and part.value.id == view and is_basic(part.slice, self.kinds):
                statement.value = at(part, self.section(part.slice))[0]
        if view not in effects.reads(statement):
            return [statement]
        plain = isinstance(self.value, gast.Name)
        holder = self.value.id if plain else self.unit.temp()
        self.kinds[holder] = self.kinds[view]
        for node in effects.loads(statement.test if isinstance(statement, gast.If) else
                                  statement.iter if isinstance(statement, gast.For) else statement):  # fmt: skip
            if node.id == view:
                node.id = holder
        return [statement] if plain else [*at(statement, assign(holder, clone(self.value))), statement]

    def item(self, statement: gast.Assign, section: gast.Subscript) -> list[gast.AST]:
        """`row[j] = e` as `rows[i][j] = e`, where the row is in there once."""
        section.value = substitute(section.value, {self.view.name: self.value})
        if self.view.name in effects.reads(statement):
            statement = substitute(statement, {self.view.name: self.value})
        return [*at(statement, self.once(statement)), statement]

    def once(self, statement: gast.AST) -> gast.Expr:
        """The check that what is written is in its container once."""
        check = name(self.unit.helper("once", runtime.once))
        line = constant(getattr(statement, "lineno", 0))
        return gast.Expr(gast.Call(check, [clone(self.value.value), clone(self.value.slice), line], []))

    def definition(self, statement: gast.Assign) -> list[gast.AST]:
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
        """`v += e` as a store into what is viewed."""
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
            made.insert(0, self.once(statement))
        at(statement, value)
        self.unit.updates.add(place_of(statement))
        return at(statement, *made)

    def target(self, section: gast.Subscript) -> gast.Subscript:
        """The section of a view as a section of what it views."""
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
        first = self.value.slice.elts if isinstance(self.value.slice, gast.Tuple) else [self.value.slice]
        rest = index.elts if isinstance(index, gast.Tuple) else [index]
        return gast.Subscript(clone(self.value.value), gast.Tuple([*clone(first), *rest], gast.Load()), gast.Load())


def _of_numbers(index: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether `x[index]` picks a row of x, so that `x[index][j]` is `x[index, j]`."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(kinds.get(p.id), Number) if isinstance(p, gast.Name) else type(getattr(p, "value", None)) is int
        for p in parts
    )
