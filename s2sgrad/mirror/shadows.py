"""The shadow of a value: the same expression on the shadows of its operands, or zeros for new memory.

    v = y[1:]            v_bar = y_bar[1:]
    u = x * 2.0          u_bar = np.zeros_like(u)
    w = np.diagonal(m)   w_bar = shadow_of(w, m, m_bar)

All shadows are zero in the forward sweep and have the memory layout of their primal.  An operation that copies when applied
to a shadow has copied the value too, and gives the zeros that a copy starts with.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Numeric, kind_of, operand
from s2sgrad.analysis.primitive_calls import Operation, classify
from s2sgrad.ir.forms import bound_name, parts_of, popped
from s2sgrad.ir.quote import assign, calls_in, clone, constant, name, substitute
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory.sources import bound_sources, is_basic
from s2sgrad.memory.writes import in_place
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import VIEWS, Gives
from s2sgrad.runtime import item_slots
from s2sgrad.runtime import shadows as runtime
from s2sgrad.runtime.traits import traits


class Made(Enum):
    """What a name is bound to."""

    VIEW = "memory that another name has"
    PERHAPS = "such memory, or a copy"
    NEW = "new memory"


@dataclass
class Shadow:
    """How to build the shadow of a bound name: its statements, what the name is bound to, and what it may be a part of."""

    made: Made
    statements: list[gast.AST]
    sources: list[str]
    found: bool = False  # located by its address at run time
    slots: bool = False  # whether numbers have new slots in it, besides those in the list that they come from


class Shadows:
    """The shadows of one function: `bar` maps a name to that of its shadow."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], names: set[str], bar: Callable[[str], str],
        by_value: bool = False,
    ) -> None:  # fmt: skip
        self.unit, self.kinds, self.names, self.bar = unit, kinds, names, bar
        self.by_value = by_value  # whether the shadow of a number is one, as for tangents, which no name accumulates
        bound = [(b, s) for s in effects.walk(tree.body) if names and (b := bound_name(s)) in names]
        self.lie_alike = any(  # whether memory layout matters
            self.of(x, s.value).made is Made.PERHAPS for x, s in bound if in_place(unit, s, kinds) is None
        ) or any(map(self._stores_by_call, effects.walk(tree.body) if names else ()))

    def _stores_by_call(self, statement: gast.AST) -> bool:
        """Whether a store goes through a possible view: `x.reshape(-1)[i] = e`."""
        section = effects.stored(statement)
        if section is None or isinstance(section.value, gast.Name) or effects.base(section) not in self.names:
            return False
        return bool(calls_in(section.value))

    def _applied(self, x: str, value: gast.AST, root: gast.Name, made: Made, sources: list[str]) -> Shadow:
        """The shadow for `x = value`, an operation on `root`: the same on its shadow."""
        shell = is_shell(self.unit, value)
        shadow = self._item_shadows(root.id) if shell else name(self.bar(root.id))
        mirrored = clone(value, lambda part: shadow if part is root else None)
        return Shadow(made, [assign(self.bar(x), mirrored)], sources, slots=shell and self._has_slots(x))

    def of_parameter(self, p: str, inner: bool) -> gast.AST:
        """The statement that builds the shadow of a parameter; `inner`: for a call from generated text."""
        if self._is_container(name(p)):
            made = runtime.shadow if inner else runtime.shadow_of_argument
            return assign(self.bar(p), call(self.unit, made.__name__, made, name(p)))
        return assign(self.bar(p), self.zeros(name(p), not self.lie_alike))

    def bars(self, sources: list[str]) -> gast.AST:
        """The shadow of one name, or a tuple of those of several."""
        return one_or_all(list(map(self.bar, sources)))

    def zeros(self, x: gast.Name, dense: bool) -> gast.AST:
        """Zeros like an array of any memory layout; `dense`: the default layout will do."""
        if isinstance(self.kinds.get(x.id), Numeric) and not self.by_value:
            return call(self.unit, "cell", runtime.cell, x)
        if dense:
            return call(self.unit, "zeros_like", np.zeros_like, x)
        return call(self.unit, "shadow", runtime.shadow, x)

    def of(self, x: str, value: gast.AST) -> Shadow:
        """The shadow for `x = value`."""
        operation = classify(self.unit, value, self.kinds)
        if operation.form == "display":
            return Shadow(Made.NEW, [assign(self.bar(x), self._display(operation))], sorted(effects.reads(value)))
        if isinstance(value, gast.Attribute) and self._is_container(value.value):  # of a named tuple
            value = operation.node
        sources = sorted(bound_sources(self.unit, [x], value, self.kinds))
        if isinstance(value, gast.BinOp) and self._is_container(name(x)):
            held = {n: self._item_shadows(n) for n in effects.reads(value) if isinstance(self.kinds.get(n), Container)}
            return Shadow(Made.VIEW, [assign(self.bar(x), substitute(value, held))], sources, slots=self._has_slots(x))
        root, sure = self._root(value)
        if not sources:
            return Shadow(Made.NEW, [assign(self.bar(x), self.zeros(name(x), self._is_dense(x, value)))], sources)
        scalar = isinstance(self.kinds.get(x), Numeric) and not self.by_value
        if root is not None and scalar and self._is_container(root):
            return Shadow(Made.VIEW, self._slot(x, root, value), sources)
        if root is not None and not (scalar and self._may_be_element(value)):
            return self._applied(x, value, root, Made.VIEW if sure else Made.PERHAPS, sources)
        found = call(self.unit, "shadow_of", runtime.shadow_of, name(x), one_or_all(sources), self.bars(sources))
        made = assign(self.bar(x), found)
        if not without_rule(operation):
            return Shadow(Made.PERHAPS, [made], sources, True)
        line = constant(getattr(value, "lineno", 0))
        check = call(self.unit, "require_view", runtime.require_view, name(x), one_or_all(sources), line)
        return Shadow(Made.VIEW, [gast.Expr(check), made], sources, True)

    def item(self, x: str, place: gast.AST, target: str) -> gast.AST:
        """The shadow of an item of `x` to which `target` is bound."""
        if isinstance(self.kinds.get(target), Numeric) and not self.by_value:
            return call(self.unit, "cell_at", item_slots.cell_at, name(self.bar(x)), place)
        return gast.Subscript(name(self.bar(x)), place, gast.Load())

    def _slot(self, x: str, root: gast.Name, value: gast.AST) -> list[gast.AST]:
        """The statements for `x = root[k]` or `x = root.pop()` that may bind a number."""
        if popped(value) is None:
            return [assign(self.bar(x), self.item(root.id, clone(value.slice), x))]
        off = clone(value, lambda part: name(self.bar(root.id)) if part is root else None)
        return [assign(self.bar(x), self.item(root.id, constant(-1), x)), gast.Expr(off)]

    def of_item(self, node: gast.AST) -> gast.AST:
        """The item of a shadow container for an item of the primal: its shadow, 0 for a number or perhaps None, None if it
        has neither."""
        if isinstance(node, gast.Name) and node.id in self.names:
            return name(self.bar(node.id))
        value, kind = node.value if isinstance(node, gast.Constant) else None, kind_of(node, self.kinds)
        never = kind is None and getattr(node, "id", "") in self.unit.locals  # it raises before
        number = never or isinstance(operand(kind), Number) or (isinstance(value, (int, float)) and value is not True)
        return constant(0.0 if number else None)

    def _display(self, operation: Operation) -> gast.AST:
        """The shadow of a list, tuple or dict display."""
        items = list(map(self.of_item, operation.operands))
        if isinstance(operation.node, gast.Dict):
            return gast.Dict([clone(k) for k in operation.node.keys], items)
        return gast.List(items, gast.Load())

    def _is_dense(self, x: str, value: gast.AST) -> bool:
        """Whether a new array is dense, as are those that libraries allocate."""
        if not isinstance(self.kinds.get(x), Array):
            return False
        target = self.unit.called(value)
        if target is runtime.laid_like:  # like an argument with gaps
            return False
        method = target is MISSING and isinstance(getattr(value, "func", None), gast.Attribute)
        return not isinstance(value, gast.Call) or method or catalogue.of(target).pure

    def _root(self, value: gast.AST) -> tuple[gast.Name | None, bool]:
        """The name that an expression is applied to, and whether the result is known to be a view of it."""
        if isinstance(value, gast.Name):
            return value, True
        if isinstance(value, gast.Subscript):
            view = self._is_container(value.value) or (self._is_array(value.value) and is_basic(value.slice, self.kinds))
            return (value.value, True) if view else (None, False)
        if isinstance(value, gast.Attribute):
            return (value.value, True) if value.attr == "T" and self._is_array(value.value) else (None, False)
        if not isinstance(value, gast.Call):
            return None, False
        if popped(value) is not None:
            return value.func.value, True
        if self.unit.called(value) is item_slots.cell_at:  # a slot of the shadow has one of its own
            return value.args[0], True
        if is_shell(self.unit, value):
            return (value.args[0] if value.args else value.func.value), True
        target, owner = self.unit.resolve(value.func), value.args[0] if value.args else None
        if target is MISSING and isinstance(value.func, gast.Attribute):
            target, owner = getattr(np.ndarray, value.func.attr, MISSING), value.func.value
        gives = catalogue.of(target).gives
        return (owner, gives is Gives.VIEW) if gives in VIEWS and self._is_array(owner) else (None, False)

    def _may_be_element(self, value: gast.AST) -> bool:
        """Whether this is `a[..]` that may give a number, a copy of an element: unless an axis is known to be left."""
        if not isinstance(value, gast.Subscript):
            return False
        parts, rank = parts_of(value.slice), getattr(kind_of(value.value, self.kinds), "rank", None)
        tuples = any(isinstance(kind_of(part, self.kinds), Container) for part in parts)
        return rank is None or tuples or not (any(isinstance(part, gast.Slice) for part in parts) or len(parts) < rank)

    def _item_shadows(self, x: str) -> gast.AST:
        """The shadow of a list, for a new container of its items; zeros where they carry no derivative."""
        return name(self.bar(x)) if x in self.names else call(self.unit, "shadow", runtime.shadow, name(x))

    def _has_slots(self, x: str) -> bool:
        """Whether a list or dict may contain numbers directly."""
        kind = self.kinds.get(x)
        return isinstance(kind, Container) and any(isinstance(k, (Number, Numeric)) for k in kind.items or (kind.item,))

    def _is_array(self, node: gast.AST | None) -> bool:
        if not isinstance(node, gast.Name) or node.id not in self.names:
            return False
        return isinstance(self.kinds.get(node.id), (Array, Numeric))

    def _is_container(self, node: gast.AST | None) -> bool:
        return isinstance(node, gast.Name) and node.id in self.names and isinstance(self.kinds.get(node.id), Container)


def are_in(unit: Unit) -> bool:
    """Whether a function, or a generated one that was inlined into it, has names with shadows."""
    return unit.mirror.present or any(traits(u.primal.function).shadowed for u in (unit, *unit.inlining.units))


def is_shell(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression makes a new list or dict with the items of another: `list(a)`, `a.copy()`, `a[1:]`,
    `dict(d)`."""
    if isinstance(value, gast.Subscript):
        return isinstance(value.slice, gast.Slice)
    if not isinstance(value, gast.Call) or value.keywords:
        return False
    method = isinstance(value.func, gast.Attribute) and value.func.attr == "copy" and not value.args
    return method or (unit.called(value) in (list, dict, copy.copy) and len(value.args) == 1)


def are_joined(value: gast.BinOp, kinds: dict[str, Kind]) -> bool:
    """Whether this is `a + b` of lists, or `a * n` of one: a new list of their items."""
    lists = [value.left, value.right] if isinstance(value.op, gast.Add) else [value.left]
    counted = isinstance(value.op, gast.Add) or isinstance(getattr(value.right, "value", None), int)
    return counted and all(isinstance(kind_of(part, kinds), Container) for part in lists)


def without_rule(operation: Operation) -> bool:
    """Whether an operation has no derivative rule, so that its result can carry a derivative only as a view."""
    if operation.form != "call":
        return operation.form == "opaque" or bool(operation.why)
    if operation.target is MISSING:
        return isinstance(operation.node.func, gast.Attribute)
    return effects.is_library(operation.target)


def one_or_all(names: list[str]) -> gast.AST:
    """A name, or a tuple of several."""
    found = [name(n) for n in names]
    return found[0] if len(found) == 1 else gast.Tuple(found, gast.Load())
