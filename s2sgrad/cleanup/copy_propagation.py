"""Read through copies that we made.

    x_new = x; y_bar = g * x_new    ->    x_new = x; y_bar = g * x

A copy may be read through while neither of its two names has been bound or changed since.  The user's own copies stay.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit

_LOOPS = (gast.For, gast.While)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with reads of copies replaced by reads of what was copied; the copies themselves are left for deadcode."""
    read_through(unit, tree, unit.is_ours)
    return tree


def read_through(unit: Unit, tree: gast.FunctionDef, wanted: Callable[[str], bool]) -> None:
    """Read through the copies whose names are wanted."""
    _block(unit, tree.body, {}, wanted)


def _block(unit: Unit, body: list[gast.AST], copies: dict[str, str], wanted: Callable[[str], bool]) -> None:
    for statement in body:
        if isinstance(statement, gast.If):
            _replace(statement.test, copies)
            arms = [dict(copies), dict(copies)]
            _block(unit, statement.body, arms[0], wanted)
            _block(unit, statement.orelse, arms[1], wanted)
            kept = {a: b for a, b in arms[0].items() if arms[1].get(a) == b}
            copies.clear()
            copies.update(kept)
        elif isinstance(statement, _LOOPS):
            if isinstance(statement, gast.For):
                _replace(statement.iter, copies)
            _kill(copies, effects.written([statement]))
            if isinstance(statement, gast.While):
                _replace(statement.test, copies)
            _block(unit, statement.body, dict(copies), wanted)
        else:
            _replace(statement, copies)
            _kill(copies, effects.writes(statement))
            if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
                (target,) = statement.targets
                source = statement.value.id
                local = source in unit.locals
                if isinstance(target, gast.Name) and wanted(target.id) and target.id != source and local:
                    copies[target.id] = source


def _replace(node: gast.AST, copies: dict[str, str]) -> None:
    if copies:
        written = {id(n) for n in nodes(getattr(node, "target", None) or effects.stored(node) or gast.Pass())}
        for name in effects.loads(node):
            if name.id in copies and id(name) not in written:  # a store stays a store into the name that it writes
                name.id = copies[name.id]


def _kill(copies: dict[str, str], written: set[str]) -> None:
    for a in [a for a, b in copies.items() if a in written or b in written]:
        del copies[a]
