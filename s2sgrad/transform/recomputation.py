"""Recomputation instead of records: cheap values are computed again just before their last reader.

    t = x * x; y = np.sin(t)      ->      t = x * x; x_bar = y_bar * np.cos(t) ..        (t is not recorded)

The last reader is the first that the reverse sweep visits.  No operand of the value may have been overwritten in between.
"""

from __future__ import annotations

import types
from collections import Counter
from dataclasses import dataclass, field

import gast
import numpy as np

from s2sgrad.analysis import effects, with_regions
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.kinds import UNKNOWN, Array, Kind, Number, Unknown
from s2sgrad.flow.counts import write_counts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import COMPOUND, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import sources
from s2sgrad.primitives import catalogue, spellings
from s2sgrad.primitives.catalogue import methods_named
from s2sgrad.regions.disjointness import Indices

_CHEAP = (gast.Subscript, gast.Attribute, gast.UnaryOp, gast.Tuple, gast.List, gast.Dict, gast.JoinedStr)


@dataclass
class Recomputed:
    """The plan of one block: the assignments to recompute before the adjoint of which statement, by position."""

    at: dict[int, list[gast.Assign]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


class Recomputation:
    """The plans of all blocks of one function: `plans`, by the identity of the block."""

    def __init__(
        self, unit: Unit, lifetimes: Lifetimes, kinds: dict[str, Kind], memory: Memory, operations: Operations
    ) -> None:
        self.unit, self.lifetimes, self.kinds, self.memory, self.operations = unit, lifetimes, kinds, memory, operations
        root = lifetimes.blocks[lifetimes.root]
        self.indices = Indices(unit, root, kinds)
        self.loops = {id(s.body): s for s in effects.walk(root) if isinstance(s, gast.For)}
        self.constants = _constants(unit, root, kinds)
        self.plans = {block: self._planned(body) for block, body in lifetimes.blocks.items()}

    def _planned(self, body: Block) -> Recomputed:
        """Visit a block backwards: recomputing an assignment adds reads of its operands, which may be candidates too."""
        plan, readers = Recomputed(), _Readers(body, self.memory, self.operations)
        places = {k: effects.reads(section.slice) for k, s in enumerate(body) if (section := effects.stored(s)) is not None}
        written = write_counts(body)
        for k in range(len(body) - 1, -1, -1):
            statement = body[k]
            targets = binds(statement) if notes.PARTS.of(statement) is not None else [bound_name(statement) or ""]
            if any(written[t] != 1 or not self._is_candidate(statement, t, id(body)) for t in targets):
                continue
            reader = max(k, *(readers.last.get(t, k) for t in targets))
            across = any(with_regions.end(s) for s in body[k:reader])
            where = any(t in places.get(reader, ()) for t in targets)
            if across or not self._is_unchanged(statement, body, k, reader, readers, where):
                continue
            if where:  # what the index is made of is needed before the restore as well
                places[reader] = places[reader] | effects.reads(statement)
            plan.at.setdefault(reader, []).insert(0, statement)
            plan.names.update(targets)
            readers.note(effects.reads(statement), reader)
        return plan

    def _is_candidate(self, statement: gast.Assign, target: str, block: int) -> bool:
        """Whether a cheap value is at home in this block, and would otherwise be recorded."""
        repeated, temporary = block in self.lifetimes.repeated, target in self.unit.temps
        stored = target in self.memory.written
        if target in self.unit.mirror.names or target in self.unit.derivative.as_read:
            return False
        if target not in self.lifetimes.locals_of.get(block, ()) or not (repeated or temporary or stored):
            return False
        if not self.is_cheap(statement):
            return False
        buffer = stored and not sources(self.unit, statement.value, self.kinds)  # else its stores would be lost
        return not buffer and (repeated or temporary or bool(sources(self.unit, statement.value, self.kinds)))

    def _is_unchanged(
        self, statement: gast.Assign, body: Block, k: int, reader: int, readers: _Readers, where: bool
    ) -> bool:  # fmt: skip
        """Whether the operands of a value are unchanged where its last reader needs it; `where`: to know where to store."""
        operands = effects.reads(statement)
        if operands & self.memory.lost:
            return False
        end = reader + (where or isinstance(body[reader], COMPOUND))
        between = set().union(*readers.changed[k + 1 : end])
        if not operands & between or self.asks_shape(statement.value, body[k + 1 : end]):
            return True
        return self.lies_apart(statement, body, k, end, between)

    def asks_shape(self, value: gast.AST, between: Block) -> bool:
        """Whether a value depends only on the shape of an array, which no store changes."""
        owner = value.value if isinstance(value, gast.Attribute) and value.attr in spellings.FLAT_ATTRIBUTES else None
        if isinstance(value, gast.Call) and catalogue.of(self.unit.resolve(value.func)).asks_shape and len(value.args) == 1:
            owner = value.args[0]
        if not isinstance(owner, gast.Name) or not isinstance(self.kinds.get(owner.id), Array):
            return False
        return not any(owner.id in binds(s) for s in effects.walk(between))

    def lies_apart(self, statement: gast.Assign, body: Block, k: int, end: int, changed: set[str]) -> bool:
        """Whether the value is a section of an array of which only disjoint sections are written up to `end`."""
        value = statement.value
        if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
            return False
        base = value.value.id
        if effects.reads(statement) & changed != {base} or not isinstance(self.kinds.get(base), Array):
            return False
        loops = self.loops_around(body)
        for part in effects.walk(body[k + 1 : end]):
            if isinstance(part, gast.For) and any(part.target.id == loop.target.id for loop in loops):
                return False  # in there the variable means another number
            if base in self.memory.changed(part):
                section = effects.stored(part)
                if section is None or not isinstance(section.value, gast.Name):
                    return False
                one, other = parts_of(value.slice), parts_of(section.slice)
                if section.value.id != base or not self.indices.apart(one, other, loops):
                    return False
        return True

    def loops_around(self, body: Block) -> list[gast.For]:
        """The loops around a block."""
        out, block = [], id(body)
        while block in self.lifetimes.parent:
            loop = self.loops.get(block)
            out += [] if loop is None else [loop]
            block = self.lifetimes.parent[block]
        return out

    def is_cheap(self, statement: gast.Assign) -> bool:
        """Whether recomputing the assignment costs no more than recording its value."""
        node = statement.value
        if isinstance(node, (gast.Name, gast.Constant)):
            return True
        if not behaviour.is_pure(self.unit, node):
            return False
        if isinstance(node, gast.BinOp):
            few = isinstance(node.right, gast.Constant) and node.right.value in (2, -1, 2.0)
            return few if isinstance(node.op, gast.Pow) else not isinstance(node.op, gast.MatMult)
        if isinstance(node, (gast.Compare, gast.BoolOp)):
            return not self.uses_up(node) and not any(isinstance(n, gast.Call) for n in nodes(node))
        if isinstance(node, gast.Call):
            target = self.unit.resolve(node.func)
            if target is MISSING and isinstance(node.func, gast.Attribute):
                return any(method.cheap for method in methods_named(node.func.attr))
            return catalogue.of(target).pure and (catalogue.of(target).cheap or bound_name(statement) in self.constants)
        return isinstance(node, _CHEAP)

    def uses_up(self, test: gast.AST) -> bool:
        """Whether a test, `x in it`, may advance an iterator."""
        if not isinstance(test, gast.Compare) or not any(isinstance(op, (gast.In, gast.NotIn)) for op in test.ops):
            return False
        owner = test.comparators[-1]
        return isinstance(owner, gast.Name) and isinstance(self.kinds.get(owner.id, UNKNOWN), Unknown)


def _constants(unit: Unit, root: Block, kinds: dict[str, Kind]) -> set[str]:
    """The names of numbers that are computed from constants of the text and of modules alone: `np.sqrt(2 * np.pi)`."""
    found: set[str] = set()
    statements = list(effects.walk(root))
    times = Counter(name for s in statements for name in binds(s))
    for statement in statements:
        name = bound_name(statement)
        if name is None or times[name] != 1 or not isinstance(kinds.get(name), Number):
            continue
        read = effects.reads(statement)
        outside = [unit.resolve(n) for n in effects.loads(statement.value) if n.id not in unit.locals]
        plain = all(isinstance(value, (types.ModuleType, np.ufunc)) for value in outside)
        if read & unit.locals <= found and plain and behaviour.is_pure(unit, statement.value):
            found.add(name)
    return found


class _Readers:
    """For one block: the position of the last reader of each name, and what each statement changes.  A derivative may read
    other names than its statement does (`compounds`)."""

    def __init__(self, body: Block, memory: Memory, operations: Operations) -> None:
        self.last: dict[str, int] = {}
        self.changed: list[set[str]] = []
        for k, statement in enumerate(body):
            parts = list(effects.walk([statement]))
            self.changed.append(set().union(*map(memory.changed, parts)))
            for part in parts:
                self.note(effects.reads(part), k)
                operation = operations.get(id(part))
                self.note({n.id for o in (operation.given if operation else ()) for n in effects.loads(o)}, k)

    def note(self, names: set[str], place: int) -> None:
        """Note that these names are read at a position as well."""
        for name in names:
            self.last[name] = max(self.last.get(name, 0), place)
