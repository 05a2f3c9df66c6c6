"""A list inside a list or dict that grows or shrinks: it is copied out, changed as a variable of its own, and stored back.

    t = groups[k]; t.append(x)      ->      t = list(groups[k]); t.append(x); groups[k] = t

This is valid if the inner list occurs once in the container, which a run-time check ensures, and has no other live name.
"""

from __future__ import annotations

from collections.abc import Collection

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind, Number, kind_of
from s2sgrad.flow.graph import binds
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.inplace.alias_conflicts import Clash, updates_item
from s2sgrad.inplace.rebind_markers import is_marker
from s2sgrad.inplace.view_elimination import Views
from s2sgrad.ir import notes
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import assign, at, clone, constant, name, nested
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.stacks import made_once


def put_back(
    unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], clash: Clash, clashes: list[Clash], knotted: Collection[str]
) -> bool:
    """Rewrite a clash of this form; whether it was one.  The items of containers in `knotted` are left alone."""
    inner = clash.written
    taken = _taken_out(unit, tree, kinds, clash)
    if taken is None or taken.value.value.id in knotted:
        return False
    seeing = {c.seen for c in clashes if c.statement is clash.statement and isinstance(kinds.get(c.seen), Container)}
    if seeing - effects.reads(taken.value):
        return False
    both = (id(taken), id(clash.statement))  # these must be in one block
    body = next((b for b in nested(tree.body) if {*map(id, b)}.issuperset(both)), None)
    if body is None:
        return False
    value = taken.value
    first, last = (next(k for k, s in enumerate(body) if s is wanted) for wanted in (taken, clash.statement))
    changed = set().union(*(effects.writes(s) for s in effects.walk(body[first + 1 : last])))
    if changed & effects.reads(value):
        return False
    holder = unit.temp()
    copied = gast.Call(unit.builtin(list), [name(holder)], [])
    back = gast.Assign([gast.Subscript(clone(value.value), clone(value.slice), gast.Store())], name(inner), None)
    notes.IS_INNER.put(back)
    body[last + 1 : last + 1] = at(clash.statement, back)
    body[first : first + 1] = at(taken, _check(unit, value, taken), assign(holder, value), assign(inner, copied))
    return True


def _taken_out(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], clash: Clash) -> gast.Assign | None:
    """The statement `t = groups[k]` that copies the list out, if the list has no other use than the change."""
    inner = clash.written
    call = getattr(clash.statement, "value", None)
    if inner not in unit.temps or not isinstance(call, gast.Call) or inner not in effects.changed_by_call(call):
        return None
    mentions = [s for s in effects.walk(tree.body) if inner in effects.reads(s) or inner in binds(s)]
    if len(mentions) != 2 or mentions[1] is not clash.statement:
        return None
    value = mentions[0].value if isinstance(mentions[0], gast.Assign) else None
    if not isinstance(value, gast.Subscript) or not isinstance(value.slice, (gast.Name, gast.Constant)):
        return None
    outer = kind_of(value.value, kinds)
    local = isinstance(outer, Container) and outer.type is not tuple and value.value.id in unit.locals
    return mentions[0] if local else None


def merge_names(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """Merge two names of a resized list that a plain assignment introduced; whether there were any."""
    resized = {n for s in effects.walk(tree.body) for n in effects.writes(s) - set(binds(s)) if n in unit.locals}
    said = {s.value.args[0].id for s in effects.walk(tree.body) if is_marker(unit, s)}  # rebound instead, each separately
    suspects = []
    for statement in effects.walk(tree.body):
        target, value = (statement.targets[0], statement.value) if isinstance(statement, gast.Assign) else (None, None)
        if not isinstance(target, gast.Name) or not isinstance(value, gast.Name):
            continue
        held = [kinds.get(n) for n in (target.id, value.id)]
        if (
            all(isinstance(kind, Container) and kind.type is list for kind in held)
            and resized & {target.id, value.id}
            and not said & {target.id, value.id}
        ):
            suspects.append(target.id)
    if not suspects:
        return False
    views = Views(unit, tree, kinds, Occurrences(tree), suspects)
    return sum(views.eliminate(suspect) for suspect in suspects) > 0


def check_updates(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
    """Check before `d[k] += e`, which changes an array that `d` may hold twice, unless all its items are new memory."""
    checked = [s for s in effects.walk(tree.body) if updates_item(unit, s, kinds)]
    if unit.primal.is_generated or not checked:
        return
    made = made_once(unit, tree, kinds)
    mixed = {s.targets[0].value.id for s in checked if not _owns_items(tree, kinds, s.targets[0].value.id, made)}
    for body in nested(tree.body):
        for k in reversed(range(len(body))):
            if any(body[k] is s for s in checked) and body[k].targets[0].value.id in mixed:
                check = _check(unit, body[k].targets[0], body[k])
                if k == 0 or not _same(body[k - 1], check):
                    body.insert(k, at(body[k], check)[0])


def _check(unit: Unit, section: gast.Subscript, statement: gast.AST) -> gast.Expr:
    line = constant(getattr(statement, "lineno", 0))
    checked = gast.Call(name(unit.helper("once", runtime.once)), [clone(section.value), clone(section.slice), line], [])
    return gast.Expr(checked)


def _same(statement: gast.AST, check: gast.Expr) -> bool:
    """Whether a statement is the same check."""
    call = alone(statement)
    if not isinstance(call, gast.Call) or getattr(call.func, "id", "") != check.value.func.id:
        return False
    return all(map(same, call.args, check.value.args))


def _owns_items(tree: gast.FunctionDef, kinds: dict[str, Kind], owner: str, made: set[str]) -> bool:
    """Whether no array in a list or dict has other references."""
    if any(p.id == owner for p in parameters(tree)):
        return False
    stored: list[gast.AST] = []
    for statement in effects.walk(tree.body):
        if owner in binds(statement):
            value = getattr(statement, "value", None)
            if not isinstance(value, (gast.List, gast.Dict)):
                return False
            stored += value.elts if isinstance(value, gast.List) else value.values
        elif owner in effects.writes(statement):
            section = effects.stored(statement)
            stored += [statement.value] if section is not None else statement.value.args
    names = [s.id for s in stored if isinstance(s, gast.Name)]
    return all(n in made or isinstance(kinds.get(n), Number) for n in names)
