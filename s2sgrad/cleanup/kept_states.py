"""The saved states of a loop over `checkpointed`.

A state contains only what is read where it is restored; `deadcode` removes the rest.

    keep(states, k, u, total)   ...   first, u, total = latest(states, k)      ->      the same with `u` alone

Passes see functions that change their first argument; the final text calls methods.

    keep(states, k, u)      ->      states.keep(k, u)

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... from s2sgrad import checkpointed
... def f(x, n):
...     for k in checkpointed(range(n), slots=3):
...         x = np.sin(x)
...     return x
... ''', "kept_states", 2.0, 9))
-         keep(states, k, x)
+         states.keep(k, x)
-         first, x = latest(states, k)
+         first, x = states.latest(k)
-             keep(states, j, x)
+             states.keep(j, x)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import binds
from s2sgrad.ir import notes
from s2sgrad.ir.unit import Unit

_BEFORE = 2  # arguments before the state: its owner, and the trip


@dataclass
class KeptState:
    """The statements that save and restore one state, the positions in it that are read, and whether any restored value is
    used, as far as is known.
    """

    statements: list[gast.AST] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    wanted: bool = False

    def kept(self, statement: gast.AST) -> list[gast.AST]:
        """The expressions that a saving statement reads for the parts of the state that are used."""
        given = statement.value.args[_BEFORE:]
        return [given[place] for place in sorted(self.read)] if given else []

    def pruned(self, statement: gast.AST) -> None:
        """Remove the unused parts of the state from a statement."""
        if isinstance(statement, gast.Expr):
            statement.value.args[_BEFORE:] = self.kept(statement)
        else:
            first, *rest = statement.targets[0].elts
            statement.targets[0].elts = [first, *(rest[place] for place in sorted(self.read))]


def found(statements: Iterable[gast.AST]) -> dict[int, KeptState]:
    """By statement: the state that it saves or restores."""
    states: dict[str, KeptState] = {}
    out: dict[int, KeptState] = {}
    for statement in statements:
        which = notes.STATES.of(statement)
        if which is not None:
            out[id(statement)] = states.setdefault(which, KeptState())
            out[id(statement)].statements.append(statement)
    return out


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Replace the functions that save and restore states by methods."""
    for statement in effects.walk(tree.body):
        if notes.STATES.of(statement) is not None:
            call = statement.value
            method = unit.resolve(call.func).__name__
            call.func, call.args = gast.Attribute(call.args[0], method, gast.Load()), call.args[1:]
    return tree


def restored_names(statement: gast.AST) -> list[str]:
    """The variables that a statement restores from a state."""
    return binds(statement)[1:]
