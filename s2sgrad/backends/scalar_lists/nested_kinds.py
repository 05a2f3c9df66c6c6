"""The kinds of the expressions of a finished text, nested ones and stacks among them, and with lists in the place of arrays.

s = x_list[i] * 2.0; t = np.sqrt(s)      ->      s: Number(float)      t: Number(float64)
"""

from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Kind, Number
from s2sgrad.analysis.results import kind_of_changing
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.one_object import OneObject


class NestedKinds(Inference):
    """Kinds over those that are `known` by the names of variables, and those that are `given` by the identity of nodes."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, known: Mapping[str, Kind], given: Mapping[int, Kind] | None = None
    ) -> None:
        super().__init__(unit, dict(known), lambda *_: UNKNOWN, OneObject, kind_of_changing)
        self.known, self.at_nodes = known, given or {}
        self.env = self.run(tree)

    def meet(self, name: str, kind: Kind | None) -> bool:
        """Join a kind into that of a variable of which none is known; whether it has changed."""
        return name not in self.known and super().meet(name, kind)

    def kind(self, node: gast.AST) -> Kind | None:
        """The kind of an expression."""
        return self.at_nodes[id(node)] if id(node) in self.at_nodes else super().kind(node)

    def is_number(self, node: gast.AST) -> bool:
        """Whether an expression is a number."""
        return isinstance(self.kind(node), Number)

    def is_float(self, node: gast.AST, *types: type) -> bool:
        """Whether an expression is a float of one of these types; of none: of Python's or NumPy's own."""
        kind = self.kind(node)
        return isinstance(kind, Number) and kind.type in (types or (float, np.float64))

    def is_of_array(self, node: gast.AST) -> bool:
        """Whether an expression is an array of doubles, or a part of one."""
        kind = self.kind(node.value if isinstance(node, gast.Subscript) else node)
        return isinstance(kind, Array) and kind.dtype == "float64"


def with_lists(unit: Unit, tree: gast.FunctionDef, given: Mapping[int, Kind]) -> NestedKinds:
    """The kinds when lists are there: `given` are those of the nodes that they yield."""
    known = {p.id: unit.kinds.get(p.id, UNKNOWN) for p in parameters(tree)}
    known |= {p.id: Number(float) for p in tree.args.kwonlyargs[-1:]
              if p.id in unit.locals and isinstance(known[p.id], Number)}  # fmt: skip
    return NestedKinds(unit, tree, known, given)
