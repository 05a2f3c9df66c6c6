"""The cotangent of a result is taken apart where it arrives, and what will be written is copied there.

result = u, v                                   u_bar, v_bar = own(seed_like((u, v), seed))
seed = seed_like(result, seed)
u_bar = seed[0]                         ->
v_bar = seed[1]
u_bar = own(u_bar); v_bar = own(v_bar)

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(u, v):
...     u[0] = v[0] * 2.0
...     v[1] = u[1] * 3.0
...     return u, v
... ''', "seeds", np.ones(3), np.ones(3), argnums=(0, 1)))
+     u_bar, v_bar = own(seed_like((u, v), seed))
-     result = u, v
-     seed = seed_like(result, seed)
-     u_bar = seed[0]
-     v_bar = seed[1]
-     v_bar = own(v_bar)
-     u_bar = own(u_bar)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.flow.counts import read_counts
from s2sgrad.ir.forms import bound_name, target_name
from s2sgrad.ir.quote import assign, at, mentioned, name
from s2sgrad.ir.unit import Unit, parameters

_SEEDS = (runtime.seed_like, runtime.holomorphic_seed)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Join the statements around the check of a seed."""
    place = next((k for k, s in enumerate(tree.body) if _checks(unit, s)), None)
    if place is None:
        return tree
    reads = read_counts(tree.body)
    checked = tree.body[place]
    before: Any = tree.body[place - 1] if place else None
    result = checked.value.args[0]
    shown = before is not None and isinstance(result, gast.Name) and bound_name(before) == result.id
    if shown and isinstance(before.value, gast.Tuple) and reads[result.id] == 1 and before.value.elts:
        parts = _parts(tree, place, reads)
        if parts is not None:
            checked.value.args[0] = before.value
            _take_apart(unit, tree, place, [parts.get(k) for k in range(len(before.value.elts))])
        return tree
    if shown and reads[result.id] == 1:  # nothing but its shape and type
        checked.value.args[0] = before.value
        del tree.body[place - 1]
        place -= 1
    if _read_behind(checked, reads) == 1:
        _copy(unit, tree, place)
    return tree


def _checks(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement is `seed = seed_like(y, seed)`."""
    value: Any = getattr(statement, "value", None)
    return bound_name(statement) is not None and effects.is_one_of(unit.called(value), _SEEDS) and len(value.args) == 2


def _read_behind(checked: Any, reads: dict[str, int]) -> int:
    """How often a seed is read apart from its check, which may read it: `seed = seed_like(y, seed)`."""
    seed: str = target_name(checked)
    return reads[seed] - read_counts([checked])[seed]


def _parts(tree: gast.FunctionDef, place: int, reads: dict[str, int]) -> dict[int, gast.Assign] | None:
    """The statements that bind names to the parts of the cotangent, by place, if nothing else reads it and each name occurs
    nowhere before."""
    seed: str = target_name(tree.body[place])
    found: dict[int, gast.Assign] = {}
    names = {p.id for p in parameters(tree)} | mentioned(*tree.body[: place + 1])
    for statement in tree.body[place + 1 :]:
        part: Any = statement.value if bound_name(statement) is not None else None
        taken = isinstance(part, gast.Subscript) and getattr(part.value, "id", None) == seed
        if taken and isinstance(part.slice, gast.Constant) and type(part.slice.value) is int:
            if bound_name(statement) in names or part.slice.value in found:
                return None
            found[part.slice.value] = statement
        names |= mentioned(statement)
    return found if found and len(found) == _read_behind(tree.body[place], reads) else None


def _take_apart(unit: Unit, tree: gast.FunctionDef, place: int, parts: list[gast.Assign | None]) -> None:
    """Bind the parts where the seed is checked."""
    checked, gone = tree.body[place], [tree.body[place - 1], *filter(None, parts)]
    copies: list[Any] = [_copied(unit, tree, part) for part in parts if part is not None]
    if all(copies):
        checked.value = gast.Call(copies[0].value.func, [checked.value], [])
        gone += copies
    unread = name(unit.names.fresh("_"), store=True)
    targets = [unread if part is None else part.targets[0] for part in parts]
    made = at(checked, assign(gast.Tuple(targets, gast.Store()), checked.value))
    kept = {id(s) for s in gone}
    tree.body[:] = [t for s in tree.body for t in (made if s is checked else [] if id(s) in kept else [s])]


def _copied(unit: Unit, tree: gast.FunctionDef, part: gast.Assign) -> gast.Assign | None:
    """The statement `u_bar = own(u_bar)` that is the first to mention a part."""
    bound = bound_name(part)
    behind = tree.body[next(k for k, s in enumerate(tree.body) if s is part) + 1 :]
    first: Any = next((s for s in behind if bound in mentioned(s)), None)
    owned = bound_name(first) == bound and unit.called(first.value) is runtime.own if first is not None else False
    return first if owned and getattr(first.value.args[0], "id", None) == bound else None


def _copy(unit: Unit, tree: gast.FunctionDef, place: int) -> None:
    """Write `y_bar = own(seed_like(y, seed))` for a copy, or another name, that is all that the seed is for."""
    checked = tree.body[place]
    seed = bound_name(checked)
    names = mentioned(checked.value)
    for k, statement in enumerate(tree.body[place + 1 :], place + 1):
        value: Any = statement.value if bound_name(statement) is not None else None
        copied = value.args[0] if unit.called(value) is runtime.own else value
        if getattr(copied, "id", None) == seed:
            if bound_name(statement) not in names:
                if copied is value:
                    statement.value = checked.value
                else:
                    value.args[0] = checked.value
                tree.body[place : k + 1] = [*at(checked, statement), *tree.body[place + 1 : k]]
            return
        names |= mentioned(statement)
