"""Coalescing: variables derived from one user variable share its name if their live ranges are disjoint.

    x2 = x * x; y = np.sin(x2); x3 = y + 1.0     ->     the user's own text, if nothing needs the old `x`

Stacks that record the same variable are merged: the reverse sweep pops in the opposite order what the forward sweep pushed,
whichever statement did.  Stacks of elements, of whole arrays, of containers and of references stay separate, so that each
has one kind of item.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x):
...     x = x * x
...     y = np.sin(x)
...     x = y + 1.0
...     return x
... ''', "coalesce", 2.0))
-     x2_bar = seed * np.cos(x2)
+     x_bar = seed * np.cos(x2)
-     x_bar = 2.0 * x2_bar * x
+     x_bar = 2.0 * x_bar * x
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Kind, join
from s2sgrad.flow.graph import Graph
from s2sgrad.flow.liveness import Liveness
from s2sgrad.ir.forms import popped
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Assign the final names."""
    _merge_stacks(unit, tree)
    groups: dict[str, list[str]] = {}
    for name in bound_names(tree):
        if name not in unit.temps:
            groups.setdefault(unit.bases.get(name, name), []).append(name)
    shared = {base: names for base, names in groups.items() if len(names) > 1 or names != [base]}
    taken = {p.id for p in parameters(tree)} | mentioned(tree)
    renamed: dict[str, str] = {}
    clashes = interference(tree, {n: base for base, names in shared.items() for n in names}, unit)
    for base, names in shared.items():
        free = [base] if base in names or base not in taken else []
        given = colored(names, [*free, *(n for n in names if n != base)], clashes)
        _join_kinds(unit, given)
        renamed |= {name: color for name, color in given.items() if name != color}
    unit.derivative.rename_stacks(renamed)
    rename(renamed, tree.args, *tree.body)
    unit.names.taken.update(renamed.values())  # a later pass makes new names
    return tree


def colored(names: list[str], colors: list[str], clashes: dict[str, set[str]]) -> dict[str, str]:
    """Greedy colouring: each name gets the first colour that no name it interferes with has."""
    given: dict[str, str] = {}
    for name in names:
        used = {given.get(other) for other in clashes.get(name, ())}
        given[name] = next(c for c in colors if c not in used)
    return given


def _join_kinds(unit: Unit, given: dict[str, str]) -> None:
    """Give each colour the kind of all names that have it: an array and a list under one name are neither."""
    kinds: dict[str, Kind | None] = {}
    for name, color in given.items():
        kind = unit.kinds.get(name, UNKNOWN)
        kinds[color] = join(kinds[color], kind) if color in kinds else kind
    unit.kinds |= {color: kind or UNKNOWN for color, kind in kinds.items()}


def bound_names(tree: gast.FunctionDef) -> list[str]:
    """All local names in the order of their first binding."""
    seen = dict.fromkeys(p.id for p in parameters(tree))
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign):
            seen.update(dict.fromkeys(effects.targets(statement)))
        elif isinstance(statement, gast.For):
            seen[statement.target.id] = None
    return list(seen)


def _merge_stacks(unit: Unit, tree: gast.FunctionDef) -> None:
    first: dict[tuple[str, bool, Any], str] = {}
    renamed: dict[str, str] = {}
    kept = []
    popped: set[str | None] | None = None
    found: set[tuple[str, bool, Any] | None] = set()
    for statement in tree.body:
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.List) and not statement.value.elts:
            stack = getattr(statement.targets[0], "id", "")
            base = unit.derivative.stack_bases.get(stack)
            if base is not None and popped is None:
                popped = _popped(tree)
                found = {unit.derivative.stack_bases.get(s or "") for s in popped}
            base = base if popped is not None and stack in popped else None
            if base is not None and base in first:
                renamed[stack] = first[base]
                continue
            if base is not None:
                first[base] = stack
                if base[1] and (base[0], False, base[2]) in found:
                    first[base] = renamed[stack] = unit.names.fresh(f"{base[0]}_items")
                    statement.targets[0].id = first[base]
                else:
                    unit.bases.setdefault(stack, f"{base[0]}_stack")
        kept.append(statement)
    tree.body = kept
    rename(renamed, tree.args, *tree.body)


def _popped(tree: gast.FunctionDef) -> set[str | None]:
    """The stacks from which records are popped one by one; the stacks of a returned record stay separate."""
    found = set(map(popped, nodes(tree)))
    loops = [n for n in nodes(tree) if isinstance(n, gast.ListComp)]  # they pop what several trips have pushed
    return found - {popped(n) for n in nodes(*loops)}


def interference(tree: gast.FunctionDef, groups: Mapping[str, str], unit: Unit) -> dict[str, set[str]]:
    """By name: those of its group of which one is bound while the other is still read later."""
    live = Liveness(Graph(tree, unit.kept), sorted(groups))
    alike: dict[str, int] = {}
    for name, group in groups.items():
        alike[group] = alike.get(group, 0) | live.names.bit[name]
    clashes: dict[str, set[str]] = {}

    def bind(bound: Iterable[str], later: int) -> None:
        here = live.names.mask(bound)
        for name in bound:
            if name in groups:
                others = (later | here) & alike[groups[name]] & ~live.names.bit[name]
                for other in live.names.decoded(others) if others else ():
                    clashes.setdefault(name, set()).add(other)
                    clashes.setdefault(other, set()).add(name)

    bind([p.id for p in parameters(tree)], live.before_point[0])
    for point, later in zip(live.graph.points, live.after_point, strict=True):
        if not isinstance(point.statement, gast.AugAssign):
            bind(point.binds, later)
    return clashes
