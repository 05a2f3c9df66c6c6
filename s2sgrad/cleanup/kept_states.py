"""The states that a loop over `checkpointed` keeps.

Of a state is kept what is read where it is given back: `deadcode` asks, and leaves the rest out.

    keep(states, k, u, total)   ...   first, u, total = latest(states, k)      ->      the same with `u` alone

To the passes these are functions that change their first argument; in the text they are methods.

    keep(states, k, u)      ->      states.keep(k, u)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit

_BEFORE = 2  # arguments in front of the state: who keeps it, and the trip


@dataclass
class KeptState:
    """The statements that keep one state and give it back, the places in it that are read, and whether anything is that is
    given back, as far as is known."""

    statements: list[gast.AST] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    wanted: bool = False

    def kept(self, statement: gast.AST) -> list[gast.AST]:
        """What a statement that keeps the state reads of it."""
        given = statement.value.args[_BEFORE:]
        return [given[place] for place in sorted(self.read)] if given else []

    def pruned(self, statement: gast.AST) -> None:
        """Leave out of a statement what is not read."""
        if isinstance(statement, gast.Expr):
            statement.value.args[_BEFORE:] = self.kept(statement)
        else:
            first, *rest = statement.targets[0].elts
            statement.targets[0].elts = [first, *(rest[place] for place in sorted(self.read))]


def found(statements: Iterable[gast.AST]) -> dict[int, KeptState]:
    """By statement: the state that it keeps, or gives back."""
    states: dict[str, KeptState] = {}
    out: dict[int, KeptState] = {}
    for statement in statements:
        which = getattr(statement, "states", None)
        if which is not None:
            out[id(statement)] = states.setdefault(which, KeptState())
            out[id(statement)].statements.append(statement)
    return out


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with methods where states are kept and given back."""
    for statement in effects.walk(tree.body):
        if getattr(statement, "states", None) is not None:
            call = statement.value
            method = unit.resolve(call.func).__name__
            call.func, call.args = gast.Attribute(call.args[0], method, gast.Load()), call.args[1:]
    return tree


def given_back(statement: gast.AST) -> list[str]:
    """The variables to which a statement gives back a state."""
    return binds(statement)[1:]
