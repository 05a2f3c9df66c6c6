"""Static values, lengths and numbers that the text tells, without evaluation: no statement is written.

rows[n - 1], where rows = [f, g] and n = len(rows)      ->      the value of `g`
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir.unit import Unit
from s2sgrad.specialize.names import Names
from s2sgrad.specialize.static_values import Display, Object, Value

_ARITHMETIC = {gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.FloorDiv: operator.floordiv,
               gast.Mod: operator.mod}  # fmt: skip


class Statics:
    """Finds static values, lengths and numbers without evaluation."""

    def __init__(self, unit: Unit, names: Names) -> None:
        self.unit, self.names = unit, names
        self.lengths: dict[str, int] = {}  # lengths of literal lists and tuples
        self.numbers: dict[str, int] = {}  # values of variables that are bound once to a known number

    def held(self, node: gast.AST) -> Any:
        """The function value or object that a name or a path refers to, without writing any statement."""
        if isinstance(node, gast.Name):
            return self.names.values.get(node.id)
        if isinstance(node, gast.Attribute):
            owner = self.held(node.value)
            return self.names.values.get(owner.attributes.get(node.attr, "")) if isinstance(owner, Object) else None
        if isinstance(node, gast.Subscript):
            owner = self.held(node.value)
            if not isinstance(owner, Display):
                return None
            item = self.section_of(owner, node.slice) or owner.items.get(self.place(node.slice, owner))
            return item if isinstance(item, Value) else None
        return None

    def section_of(self, owner: Display, index: gast.AST) -> Display | None:
        """`xs[a:b]` of a static list or tuple, if the bounds are known."""
        if not isinstance(index, gast.Slice) or owner.mapping:
            return None
        bounds = [None if e is None else self.number(e) for e in (index.lower, index.upper, index.step)]
        if any(n is None and e is not None for n, e in zip(bounds, (index.lower, index.upper, index.step), strict=True)):
            return None
        section = list(owner.items.values())[slice(*bounds)]
        return Display(dict(enumerate(section)), block=owner.block, literal=owner.literal)

    def place(self, index: gast.AST, display: Display) -> Any:
        """The key or position in a display that an index denotes, if it is known; else None."""
        key = self.number(index)
        if key is None:
            return getattr(index, "value", None) if isinstance(index, gast.Constant) else None
        return key + len(display.items) if key < 0 and not display.mapping else key

    def number(self, node: gast.AST) -> int | None:
        """The integer value of an expression of constants and lengths, if it is known; else None."""
        if isinstance(node, gast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, gast.Name):
            return self.numbers.get(node.id)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.number(node.operand)
            return None if inner is None else -inner
        if isinstance(node, gast.BinOp) and type(node.op) in _ARITHMETIC:
            left, right = self.number(node.left), self.number(node.right)
            if left is None or right is None or (right == 0 and not isinstance(node.op, (gast.Add, gast.Sub, gast.Mult))):
                return None
            computed: int = _ARITHMETIC[type(node.op)](left, right)
            return computed
        asked = node.args if self.unit.called(node) is len else []
        display = self.held(asked[0]) if asked else None
        return len(display.items) if isinstance(display, Display) else None

    def note_length(self, target: gast.AST, value: gast.AST) -> None:
        """Record the length of a literal list or tuple, and known numbers."""
        walked = isinstance(value, gast.Call) and self.unit.resolve(value.func) is runtime.sequence
        value = value.args[0] if walked else value
        if not isinstance(target, gast.Name) or self.names.counts[target.id] > 1:
            return
        if target.id not in self.names.given and (number := self.number(value)) is not None:
            self.numbers[target.id] = number
        if isinstance(value, gast.Name) and value.id in self.lengths:
            self.lengths[target.id] = self.lengths[value.id]
        elif isinstance(value, gast.Tuple) or (walked and isinstance(value, gast.List)):  # a list with a name may grow
            if not any(isinstance(e, gast.Starred) for e in value.elts):
                self.lengths[target.id] = len(value.elts)

    def asks_truth(self, node: gast.AST) -> bool:
        """Whether a test may be one of an object whose class defines its truth."""
        while isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            node = node.operand
        if isinstance(node, gast.BoolOp):
            return any(map(self.asks_truth, node.values))
        return isinstance(node, (gast.Name, gast.Attribute, gast.Subscript)) and isinstance(self.held(node), Object)
