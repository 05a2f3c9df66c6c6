"""May-alias sets over a whole function: whoever writes one of the names changes what the others hold.

    v = u[1:-1]; w = u * 2.0; p = [v]      ->      {u, v, p} may share memory, w shares none

`Memory` joins the aliases of all points of a function (see `aliases`).
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Number, is_numeric
from s2sgrad.analysis.outside import CHANGEABLE
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.stacks import fresh_stacks, local_stacks
from s2sgrad.memory.writes import changes_unseen, handed_over, in_place


class Memory:
    """Aliasing in one function: `shared[x]` are the names that may share memory with `x`, `x` included, where there are
    others. `written` the names whose memory some statement writes. `lost` the objects that calls change and the reverse
    sweep does not restore (sets, globals, objects of user classes). `always`: ask where no statement writes, too, but
    callees may."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], always: bool = False) -> None:
        self.unit, self.kinds = unit, kinds
        statements = list(effects.walk(tree.body))
        bases = {b for s in statements if (b := in_place(unit, s, kinds)) is not None}
        self.shared: dict[str, frozenset[str]] = {}
        self.at_once: dict[str, frozenset[str]] = {}
        self.bases = frozenset(bases)
        self.written: frozenset[str] = frozenset(bases)
        self.lost: frozenset[str] = frozenset()
        self.stacks: set[str] = set()
        self._holding: dict[frozenset[str], frozenset[str]] = {}
        self.exposed = _exposed(unit, statements)
        handed = self.exposed.union(*(handed_over(unit, s, kinds) for s in statements))
        grown = any(effects.changed_by_call(getattr(s, "value", None)) for s in statements)
        if not bases and not handed and not grown and not always:
            return
        self._relate(tree)
        self.written |= {n for b in bases for n in self.shared.get(b, ())}
        self.lost = frozenset(n for h in handed for n in self.with_memory_of(h))

    def _relate(self, tree: gast.FunctionDef) -> None:
        """Compute the names that may alias at one point, and the closure over swaps of buffers."""
        self.stacks = local_stacks(self.unit, tree)
        stacks = fresh_stacks(self.unit, tree, self.kinds, lasting=True)
        ever = Aliases(self.unit, tree, self.kinds, (), stacks, keep=False).ever()
        said = {names: frozenset(n.removeprefix(OUTSIDE) for n in names if not n.startswith(ARGUMENT))
                for names in set(ever.values())}  # fmt: skip
        for name, names in ever.items():
            if len(said[names]) > 1 and not name.startswith(ARGUMENT):
                self.at_once[name.removeprefix(OUTSIDE)] = said[names]
        self.shared, rounds = dict(self.at_once), _swapped(tree)
        for name in {*self.at_once, *rounds} if rounds else ():
            at_once = set().union(*map(self.at_once_with, rounds.get(name, {name})))
            self.shared[name] = frozenset().union(*(rounds.get(n, {n}) for n in at_once))

    def changed(self, statement: gast.AST) -> set[str]:
        """The names that a statement binds, or whose contents it may change."""
        out = effects.writes(statement)
        base = in_place(self.unit, statement, self.kinds)
        out |= set() if base is None else self.at_once_with(base)
        if self.shared:
            for grown in effects.changed_by_call(getattr(statement, "value", None)):  # for all aliases of a list
                if grown not in self.stacks:  # only pushes and pops read these
                    out |= {n for n in self.at_once_with(grown) if not isinstance(self.kinds.get(n), (Array, Number))}
        if self.lost:
            out |= {n for h in handed_over(self.unit, statement, self.kinds) for n in self.with_memory_of(h)}
            out |= self.exposed if self.exposed and changes_unseen(self.unit, statement) else set()
        return out

    def holding(self, names: frozenset[str]) -> frozenset[str]:
        """Those of some names that may be a list or dict: replacing an item changes no array."""
        if names not in self._holding:  # many statements write one memory
            self._holding[names] = frozenset(n for n in names if not is_numeric(self.kinds.get(n)))
        return self._holding[names]

    def with_memory_of(self, name: str) -> frozenset[str]:
        """The names that may hold the memory of `name` at some time, itself included."""
        return self.shared.get(name) or frozenset((name,))

    def at_once_with(self, name: str) -> frozenset[str]:
        """The names that may alias `name` at one point, itself included; buffers that are only swapped never do."""
        return self.at_once.get(name) or frozenset((name,))


def _exposed(unit: Unit, statements: list[gast.AST]) -> frozenset[str]:
    """The names of global containers, where a function is called that may change them."""
    if not any(changes_unseen(unit, s) for s in statements):
        return frozenset()
    names = {n for s in statements for n in effects.reads(s)} - unit.locals
    return frozenset(n for n in names if isinstance(unit.resolve(name_(n)), CHANGEABLE))


def _swapped(tree: gast.FunctionDef) -> dict[str, set[str]]:
    """By name: the names among which swaps rotate its memory."""
    out: dict[str, set[str]] = {}
    for statement in effects.walk(tree.body):
        if effects.permutes(statement):
            group = set().union(*(out.get(n, {n}) for n in effects.targets(statement)))
            out |= dict.fromkeys(group, group)
    return out
