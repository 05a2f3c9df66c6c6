"""What the reverse sweep computes again under another name, though nothing has changed since, is computed once.

    t1 = i - 1                                   t1 = i - 1
    t2 = x[t1]                                   t2 = x[t1]
    a_bar[i] += y_bar[i] * t2            ->      a_bar[i] += y_bar[i] * t2
    t3 = i - 1; t4 = x[t3]
    b_bar[i] += z_bar[i] * t4                    b_bar[i] += z_bar[i] * t2

Numbers and sections of arrays alone: two names of new memory could not become one, for either may be written.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit, is_derived, sweep_of
from s2sgrad.memory.sources import is_basic

_VALUES = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Subscript, gast.Call)
_Found = dict[str, tuple[str, frozenset[str]]]  # by text: the name that holds the value, and what it depends on


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with one name for each value; what bound the others is left for deadcode."""
    counts = Counter(b for s in effects.walk(tree.body) for b in binds(s))
    _Common(unit, {n for n in unit.temps if counts[n] == 1}).block(tree.body, {})
    return tree


class _Common:
    def __init__(self, unit: Unit, once: set[str]) -> None:
        self.unit, self.once = unit, once
        self.renamed: dict[str, str] = {}

    def block(self, body: list[gast.AST], found: _Found) -> None:
        """Rename in a block, before which the values in `found` have names."""
        for statement in body:
            self._rename(effects.header(statement))
            if isinstance(statement, gast.If):
                self.block(statement.body, dict(found))
                self.block(statement.orelse, dict(found))
            elif isinstance(statement, (gast.For, gast.While)):
                self._forget(found, [statement])
                self.block(statement.body, dict(found))
                self.block(statement.orelse, dict(found))
            self._forget(found, [statement])
            if isinstance(statement, gast.Assign):
                self._note(statement, found)

    def _forget(self, found: _Found, statements: list[gast.AST]) -> None:
        changed = set().union(*(self.unit.memory.changed(s) for s in effects.walk(statements)))
        for text in [t for t, (name, needs) in found.items() if name in changed or needs & changed]:
            del found[text]

    def _note(self, statement: gast.Assign, found: _Found) -> None:
        target = statement.targets[0]
        if not isinstance(target, gast.Name) or target.id not in self.once or not is_derived(statement):
            return
        if sweep_of(statement) == "tangent" and isinstance(statement.value, gast.Subscript):  # as its variable is read again
            return
        if not isinstance(statement.value, _VALUES) or not self._may_be_shared(target.id, statement.value):
            return
        text = gast.dump(statement.value)
        if text in found:
            self.renamed[target.id] = found[text][0]
        else:
            found[text] = target.id, frozenset(effects.reads(statement))

    def _may_be_shared(self, name: str, value: gast.AST) -> bool:
        if self.unit.called(value) is len:
            return False  # which says more than a name for it
        if isinstance(self.unit.kinds.get(name), Number):
            return effects.is_pure(self.unit, value)
        owner = value.value if isinstance(value, gast.Subscript) else None
        section = isinstance(owner, gast.Name) and isinstance(self.unit.kinds.get(owner.id), Array)
        return section and is_basic(value.slice, self.unit.kinds)

    def _rename(self, node: gast.AST) -> None:
        if self.renamed:
            for part in nodes(node):
                if isinstance(part, gast.Name) and part.id in self.renamed and isinstance(part.ctx, gast.Load):
                    part.id = self.renamed[part.id]
