"""The adjoint of statements that bind or write names with shadows (see `mirror`): nobody needs to know whose memory it is.

    v = y[1:]    ->    v = y[1:]; v_bar = y_bar[1:]          ...    (the pair that v was before)
    v[0] = e     ->    v[0] = e                              ...    t = v_bar[0]; v_bar[0] = 0.0; e_bar += t
    v = y * z    ->    v = y * z; v_bar = np.zeros_like(v)   ...    t = v_bar; (the pair); y_bar += t * z; z_bar += t * y

Forward stands a shadow beside each binding; a shadow is added to, and never bound anew by that.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.quote import assign, at, constant, expression, name, place_of
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror.shadows import Made, Shadow, Shadows
from s2sgrad.rules.table import SLOPES
from s2sgrad.runtime import shadows as runtime
from s2sgrad.transform import stores
from s2sgrad.transform.cotangents import Bar, Cotangent


class Mirrored:
    """The part of the walk that treats names with shadows; `Reverse` has the rest."""

    unit: Unit
    tree: gast.FunctionDef
    kinds: dict[str, Kind]
    adjoints: Any
    records: Any
    lifetimes: Any
    shadows: Shadows
    found: dict[int, Operation]

    def _begin_mirroring(self, names: set[str]) -> None:
        """Give these names their shadows, which are there from the first binding to the end."""
        adjoints = self.adjoints
        adjoints.mirrored = names
        self.shadows = Shadows(self.unit, self.tree, self.kinds, names, adjoints.bar)
        for x in sorted(names):
            bar = self.records.shadows[x] = adjoints.bar(x)
            self.unit.shadows.add(bar)
            self.lifetimes.home[bar] = self.lifetimes.home[x]
            adjoints.present[x] = Bar(bar, own=True, exact=True, idle=SLOPES)
            adjoints.borrowed.add(bar)

    def _shadows_of_parameters(self) -> Block:
        return [self.shadows.of_parameter(p.id) for p in parameters(self.tree) if p.id in self.adjoints.mirrored]

    def _is_mirrored(self, statement: gast.AST) -> bool:
        """Whether a simple statement binds or writes a name with a shadow."""
        if not self.adjoints.mirrored:
            return False
        section = effects.stored(statement)
        names = binds(statement) if section is None else [effects.base(section)]
        return not self.adjoints.mirrored.isdisjoint(names)

    def _mirror(self, statement: gast.AST, body: Block, again: Block) -> Block:
        """The forward sweep of such a statement; its adjoint is written."""
        self._flush()
        self.position, self.segment = place_of(statement), statement
        start = len(self.adjoints.out)
        records, restores = self.records.around(statement, body)
        if effects.stored(statement) is not None:
            self._bring_back(statement, body, None, None, restores, again)
            self._tag_since(start, statement)
            stores.taken(self.adjoints, statement)
            forward = [statement]
        elif in_place(self.unit, statement, self.kinds) is not None:
            forward = self._update(statement, body, restores, again)
        else:
            forward = self._bind(statement, body, restores, again)
        self.targets = binds(statement)
        self._tag_since(start, statement)
        return records + forward

    # --- `x += e` ---

    def _update(self, statement: gast.AST, body: Block, restores: Block, again: Block) -> Block:
        adjoints, (x,) = self.adjoints, binds(statement)
        operation = self.found[id(statement)]
        others = {o.id for o in operation.operands if isinstance(o, gast.Name)} & adjoints.active - {x}
        if others & self.records.memory.with_memory_of(x):  # what they are given would change what is still to be read
            copied = expression("x.copy()", x=adjoints.bar(x))
            taken = adjoints.named(Cotangent(copied, self.kinds[x], idle=SLOPES))
            adjoints.out.append(self._emptied(x))
        else:
            taken = adjoints.take(x)
        y = self._result(statement, [x], operation if restores else None)
        self._bring_back(statement, body, operation, taken, restores, again)
        forward = self._contribute(statement, body, operation, y, taken)
        self.targets = [x]
        self._flush()
        if x not in adjoints.present:
            adjoints.out.append(self._emptied(x))
            adjoints.present[x] = Bar(adjoints.bar(x), own=True, exact=True, idle=SLOPES)
        return forward

    def _emptied(self, x: str) -> gast.AST:
        section = expression("x[...]", x=self.adjoints.bar(x))
        section.ctx = gast.Store()
        return gast.Assign([section], constant(0.0), None)

    # --- `x = e` ---

    def _bind(self, statement: gast.Assign, body: Block, restores: Block, again: Block) -> Block:
        (x,) = binds(statement)
        shadow = self.shadows.of(x, statement.value)
        operation, ahead = self.found[id(statement)], self._kept_source(x, shadow)
        if shadow.made is Made.VIEW:
            self._bring_back(statement, body, operation, None, restores, again)
            forward = [statement]
        else:
            taken = self._taken(x, bool(restores))
            y = self._result(statement, [x], operation if restores else None)
            self._bring_back(statement, body, operation, taken, restores, again)
            if shadow.made is Made.PERHAPS:
                bars = self.shadows.bars(shadow.sources)
                taken.value, taken.own = call(self.unit, "unshared", runtime.unshared, taken.value, bars), False
                taken = self.adjoints.named(taken)
            forward = self._contribute(statement, body, operation, y, taken)
        return [*at(statement, *ahead), *forward, *at(statement, *shadow.statements)]

    def _taken(self, x: str, anew: bool) -> Cotangent:
        """The shadow of what a statement made; under a name of its own where `x` goes back to what it was."""
        bar, kind = self.adjoints.bar(x), self.kinds[x]
        if anew:
            holder = self.unit.temp()
            self.kinds[holder] = kind
            self.adjoints.out.append(assign(holder, name(bar)))
            bar = holder
        return Cotangent(name(bar), kind, True, None, True, None, True, SLOPES)

    def _kept_source(self, x: str, shadow: Shadow) -> Block:
        """A name for what `x` was, where its new shadow is made of that."""
        if x not in shadow.sources or shadow.made is not Made.PERHAPS:
            return []
        before = self.unit.local(f"{x}_before")
        self.kinds[before] = self.kinds[x]
        for statement in shadow.statements:
            for node in gast.walk(statement.value):
                if isinstance(node, gast.Name) and node.id == x and node is not statement.value.args[0]:
                    node.id = before
        return [assign(before, name(x))]

    def _mirrored_again(self, again: Block) -> Block:
        """Statements that are run again, with those that make the shadows."""
        out: Block = []
        for statement in again:
            out.append(statement)
            for x in binds(statement):
                if x in self.adjoints.mirrored:
                    out += self.shadows.of(x, statement.value).statements
        return out

    def _permuted_shadows(self, statement: gast.Assign) -> Block:
        """The swap of shadows beside a swap of names."""
        pairs = [(t.id, v.id) for t, v in zip(statement.targets[0].elts, statement.value.elts, strict=True)]
        mirrored = [(t, v) for t, v in pairs if t in self.adjoints.mirrored]
        if not mirrored:
            return []
        bar = self.adjoints.bar
        new = gast.Tuple([name(bar(t), store=True) for t, _ in mirrored], gast.Store())
        return at(statement, gast.Assign([new], gast.Tuple([name(bar(v)) for _, v in mirrored], gast.Load()), None))
