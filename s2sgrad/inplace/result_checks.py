"""Run-time checks where two places in a container without shadows may share memory and an item is written.

    d = parts(x); d["head"][0] = 1.0; ..      ->      d = parts(x); separate(d, 7); d["head"][0] = 1.0; ..
    rows = [a, a]; rows[0][1] = x             ->      rows = [a, a]; separate(rows, 8); rows[0][1] = x

The result of a user's function is checked once, after the call, unless the function visibly puts one array into it twice:
then the call is inlined, and the list has a shadow.  A local container is checked before each store.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.flow.graph import binds
from s2sgrad.inplace.alias_conflicts import updates_item
from s2sgrad.ir.quote import at, constant, name, nested
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.aliases import Aliases
from s2sgrad.memory.sources import has_memory
from s2sgrad.memory.writes import in_place
from s2sgrad.runtime import separate
from s2sgrad.runtime.checkpoints import behind_checkpoint


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], knots: set[str]) -> None:
    """Insert the checks; `knots` are the containers to check before each store."""
    for body in nested(tree.body) if knots else ():
        for k in reversed(range(len(body))):
            base = in_place(unit, body[k], kinds)
            if base in knots and effects.stored(body[k]) is not None:
                body[k:k] = at(body[k], _check(unit, base, body[k]))
    checked = of_calls(unit, tree, kinds)
    for body in nested(tree.body) if checked else ():
        for k in reversed(range(len(body))):
            for n in sorted(checked.intersection(binds(body[k]))) if _calls(unit, body[k]) else ():
                body[k + 1 : k + 1] = at(body[k], _check(unit, n, body[k]))


def of_calls(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """The containers returned by user functions of which items are written."""
    if unit.primal.is_generated:  # the checks are in the primal text
        return set()
    bound = {n for s in effects.walk(tree.body) if _calls(unit, s) for n in binds(s) if _holds_several(kinds.get(n))}
    bound -= unit.mirror.names
    written = _written_items(unit, tree, kinds) if bound else set()
    shared = Aliases(unit, tree, kinds, keep=False).ever() if written else {}
    return bound & (written | set().union(*(shared.get(n, set()) for n in written)))


def tangled(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> frozenset[str]:
    """Those of them that a function visibly builds with one array and views of it."""
    checked = of_calls(unit, tree, kinds)
    calls = [s for s in effects.walk(tree.body) if checked and _calls(unit, s) and not checked.isdisjoint(binds(s))]
    plain = (s for s in calls if behind_checkpoint(unit.called(s.value)) is None)
    found = (s for s in plain if mod_ref.tangles(unit, unit.called(s.value), s.value, kinds))
    return frozenset(n for s in found for n in binds(s) if n in checked)


def _check(unit: Unit, owner: str, statement: gast.AST) -> gast.Expr:
    line = constant(getattr(statement, "lineno", 0))
    return gast.Expr(gast.Call(name(unit.helper("separate", separate)), [name(owner), line], []))


def _calls(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement binds the result of a user's function."""
    value = statement.value if isinstance(statement, gast.Assign) else None
    return isinstance(value, gast.Call) and is_user_function(unit.called(value))


def _holds_several(kind: Kind | None) -> bool:
    """Whether a value is a container in which two places may have memory."""
    if not isinstance(kind, Container):
        return False
    if kind.items is None:
        return has_memory(kind.element())
    return sum(has_memory(item) for item in kind.items) > 1 or any(map(_holds_several, kind.items))


def _written_items(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """The containers of which an item is written in place, or that contain a list that is changed."""
    written: set[str] = set()
    for statement in effects.walk(tree.body):
        base = in_place(unit, statement, kinds)
        section = effects.stored(statement)
        if base is not None and section is not None:
            item = not isinstance(section.value, gast.Name) or updates_item(unit, statement, kinds)
            written |= {base} if item else set()
    return {n for n in written if isinstance(kinds.get(n), Container)}
