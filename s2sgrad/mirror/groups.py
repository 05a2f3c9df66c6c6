"""Which names need shadows: those that a store may write or be visible through, and what they are views of.

    if c: v = y[1:]
    else: v = z[1:]
    v[0] = a; return np.sum(y * z)      ->      v, y, z

A view whose memory no store writes while it is live is an ordinary value and needs none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import (
    Array,
    Container,
    Kind,
    Known,
    Number,
    Numeric,
    Text,
    kind_of,
    operand,
)
from s2sgrad.analysis.primitive_calls import classify, is_user_function
from s2sgrad.flow.graph import binds
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name, popped
from s2sgrad.ir.quote import COMPOUND
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.aliases import Aliases, is_from_outside
from s2sgrad.memory.sources import bound_sources, has_memory
from s2sgrad.memory.stacks import fresh_stacks
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror.shadows import are_joined, is_shell
from s2sgrad.primitives import catalogue


class Groups:
    """The names of one function, with the statements that bind and change them."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], separate: Collection[str] = frozenset()
    ) -> None:
        self.unit, self.tree, self.kinds = unit, tree, kinds
        self.shared = Aliases(unit, tree, kinds, separate, fresh_stacks(unit, tree, kinds), keep=False).ever()
        self.given = {p.id for p in parameters(tree)}
        self.binding: dict[str, list[gast.AST]] = {}
        self.changing: dict[str, list[gast.AST]] = {}
        self.written: set[str] = set()
        for statement in effects.walk(tree.body):
            for bound in binds(statement):
                self.binding.setdefault(bound, []).append(statement)
            base = in_place(unit, statement, kinds)
            self.written |= set() if base is None else {base}
            for changed in effects.writes(statement) - set(binds(statement)) if not isinstance(statement, COMPOUND) else ():
                self.changing.setdefault(changed, []).append(statement)
            if isinstance(statement, (gast.Assign, gast.Expr)):
                for changed in effects.changed_by_call(statement.value) & set(binds(statement)):
                    self.changing.setdefault(changed, []).append(statement)

    def around(self, names: Iterable[str]) -> set[str] | None:
        """These names and all that need shadows with them; None where one of them cannot have one."""
        waiting, found = list(names), set()
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            more = self._needed(name)
            if more is None:
                return None
            waiting += more
        arrays = (self.kinds[n] for n in found)
        return found if len({k.dtype for k in arrays if isinstance(k, Array)}) <= 1 else None

    def returned_aliases(self, names: set[str]) -> frozenset[str]:
        """Those of some names that are bound to results of user functions that may share memory with arguments."""
        statements = (s for n in names for s in self.binding.get(n, ()) if is_user_function(self.unit.called(s.value)))
        return frozenset(
            n for s in statements if (n := bound_name(s)) and bound_sources(self.unit, [n], s.value, self.kinds)
        )

    def _needed(self, name: str) -> set[str] | None:
        """The names that need shadows if this one has one: what it is made of, and aliases that are written."""
        kind = self.kinds.get(name)
        if name not in self.unit.locals | self.given or not has_shadow(kind):
            return None
        shared = self.shared.get(name, frozenset())
        out = {n for n in shared if n in self.written or isinstance(self.kinds.get(n), Container)}
        for statement in self.changing.get(name, ()) if isinstance(kind, Container) else ():
            if not self._is_supported(statement, name):
                return None
            out |= self._moved(statement)
        for statement in self.binding.get(name, ()):
            changed = in_place(self.unit, statement, self.kinds)
            if changed is not None:  # generated text may bind the result to another name
                if changed != name or not self._is_updated_in_place(kind, statement):
                    return None
            elif effects.permutes(statement):
                out |= set(binds(statement))
            elif not self._is_mirrored(name, statement):
                return None
            else:
                out |= bound_sources(self.unit, [name], statement.value, self.kinds) | self._parts(statement.value)
        if is_from_outside(out):
            return None
        return out

    def _is_updated_in_place(self, kind: Kind | None, statement: gast.AST) -> bool:
        """Whether an update `x += e` is known to write memory that has a shadow; a number is bound anew."""
        if not isinstance(kind, Container):
            return not isinstance(operand(kind), Numeric)
        target = self.unit.called(statement.value)
        return target in effects.DEEP or (target is runtime.put_back and isinstance(kind.element(), (Number, type(None))))

    def _is_mirrored(self, name: str, statement: gast.AST) -> bool:
        """Whether the shadow can be computed like the value that a statement binds."""
        value = statement.value
        if bound_name(statement) is None:
            return _is_unpacked(statement, self.kinds)
        if not isinstance(self.kinds[name], Container):
            return True
        if classify(self.unit, value, self.kinds).form == "display":
            return True
        if isinstance(value, gast.BinOp):
            return are_joined(value, self.kinds)
        one = isinstance(value, (gast.Name, gast.Subscript, gast.Attribute)) or popped(value) is not None
        target = self.unit.called(value)
        called = target is not MISSING and (catalogue.of(target).pure or is_user_function(target))
        return one or called or is_shell(self.unit, value)

    def _parts(self, value: gast.AST) -> set[str]:
        """The containers that a new one contains or takes items from, also of numbers, which have slots in shadows."""
        made = isinstance(value, gast.BinOp) or is_shell(self.unit, value)
        made = made or classify(self.unit, value, self.kinds).form == "display"
        return {n for n in effects.reads(value) if made and isinstance(self.kinds.get(n), Container)}

    def _is_supported(self, statement: gast.AST, owner: str) -> bool:
        """Whether a statement changes a list or dict by a push, a pop or a store of one item."""
        section = effects.stored(statement)
        if section is not None:
            whole = isinstance(section.slice, gast.Slice) or effects.is_whole(section.slice)
            kind = kind_at(self.kinds, section.value)
            return isinstance(kind, Array) or (isinstance(kind, Container) and not whole)
        operation = classify(self.unit, getattr(statement, "value", None), self.kinds)
        return operation.is_stack and getattr(operation.operands[0], "id", None) == owner

    def _moved(self, statement: gast.AST) -> set[str]:
        """The values with memory that a statement puts into a list or dict or takes off it; none if it writes an array."""
        section = effects.stored(statement)
        if section is not None and isinstance(kind_at(self.kinds, section.value), Array):
            return set()
        given = [statement.value] if section is not None else statement.value.args
        moved = {n.id: self.kinds.get(n.id) for part in given for n in effects.loads(part)}
        moved |= {n: self.kinds.get(n) for n in binds(statement)}
        known = {n: kind for n, kind in moved.items() if kind is not None}  # others are never bound: off an empty list
        return {n for n, kind in known.items() if has_memory(kind) or isinstance(kind, Container)}


def _is_unpacked(statement: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether this is `a, b = t` for a list or tuple."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Tuple):
        return False
    plain = all(isinstance(t, gast.Name) for t in statement.targets[0].elts)
    owner = kind_of(statement.value, kinds)
    return plain and isinstance(owner, Container) and owner.type in (list, tuple)


def kind_at(kinds: dict[str, Kind], node: gast.AST) -> Kind | None:
    """The kind of a variable, or of an item of a container."""
    if isinstance(node, gast.Name):
        return kinds.get(node.id)
    if isinstance(node, gast.Call):  # in a store: a view of an array
        viewed = node.args[0] if notes.OF_FIRST.of(node) else getattr(node.func, "value", None)
        owner = None if viewed is None else kind_at(kinds, viewed)
        return Array(owner.dtype, None) if isinstance(owner, Array) else None
    owner = kind_at(kinds, node.value) if isinstance(node, (gast.Subscript, gast.Attribute)) else None
    if isinstance(owner, Array):
        return Array(owner.dtype, None)
    if not isinstance(owner, Container) or not isinstance(node, gast.Subscript):
        return None
    return owner.at(getattr(node.slice, "value", None))


def has_shadow(kind: Kind | None) -> bool:
    """Whether enough is known about a value to build its shadow, item by item."""
    if isinstance(kind, Numeric):
        return True
    if isinstance(kind, Array):
        return kind.rank != 0 and ((kind.dtype or "").startswith(("float", "int", "bool", "uint")))
    if not isinstance(kind, Container) or kind.type not in (list, tuple, dict):
        return False
    if kind.items is None:
        return has_shadow(kind.item) or isinstance(kind.item, Number)
    return all(has_shadow(item) or isinstance(item, (Number, Known, Text)) for item in kind.items)
