"""Comparisons of arrays that a loop overwrites are evaluated and recorded in the forward sweep: one byte instead of eight.

    x[:] = np.minimum(x, y)        ->      less = x < y; less_stack.append(less); x[:] = np.minimum(x, y)
                                           ...
                                           less = less_stack.pop(); x_bar, y_bar = shares(.., less, ..)

Otherwise the reverse sweep would have to restore `x`, recompute `y`, and compare again.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import assign, clone, name, nodes
from s2sgrad.ir.unit import Unit

_WORDS = {gast.Lt: "less", gast.LtE: "less", gast.Gt: "greater", gast.GtE: "greater", gast.Eq: "equal", gast.NotEq: "equal"}


class Decisions:
    """The comparisons between operands of one operation at a time."""

    def __init__(self, unit: Unit, inference: Inference) -> None:
        self.unit, self.inference = unit, inference
        self.operands: set[str] = set()
        self.predicates: dict[str, tuple[str, gast.AST]] = {}
        self._spare: dict[str, list[str]] = {}

    def begin(self, operation: Operation | None) -> None:
        """Collect comparisons between the operands of an operation; with None, collect nothing."""
        arrays = [o.id for o in operation.operands if isinstance(o, gast.Name)] if operation is not None else []
        self.operands = set(arrays)
        self.predicates = {}

    def discard(self) -> None:
        """Drop the comparisons of expressions that are not used."""
        for decided, _ in self.predicates.values():
            self._spare.setdefault(self.unit.bases[decided], []).append(decided)
        self.predicates.clear()

    def read_off(self, node: gast.AST) -> gast.AST:
        """An expression of the reverse sweep with its comparisons replaced by names."""
        if not self.operands:
            return node
        for part in nodes(node):
            for key, value in part.__dict__.items():
                if isinstance(value, list):
                    value[:] = [self._named(v) for v in value]
                elif isinstance(value, gast.Compare):
                    part.__dict__[key] = self._named(value)
        return self._named(node)

    def _named(self, node: gast.AST) -> gast.AST:
        if not isinstance(node, gast.Compare) or len(node.ops) > 1 or type(node.ops[0]) not in _WORDS:
            return node
        sides = (node.left, *node.comparators)
        if not all(isinstance(s, gast.Constant) or (isinstance(s, gast.Name) and s.id in self.operands) for s in sides):
            return node
        kind = self.inference.kind(node)
        if not isinstance(kind, Array):
            return node
        text = gast.dump(node)
        if text not in self.predicates:
            word = _WORDS[type(node.ops[0])]
            spare = self._spare.get(word)
            decided = spare.pop() if spare else self.unit.local(word)
            self.unit.bases[decided] = word
            self.inference.env[decided] = kind
            self.predicates[text] = decided, clone(node)
        return name(self.predicates[text][0])

    def made(self) -> list[gast.Assign]:
        """The assignments of the comparisons, which the forward sweep evaluates before the operation."""
        return [assign(decided, compared) for decided, compared in self.predicates.values()]
