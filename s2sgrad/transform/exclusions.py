"""Where values are excluded, by branches, masks and indices: a derivative that is 0 there must stay 0 (see `zeros`).

m = x > 0; y[m] = np.sqrt(x[m])      ->      outside of `m`, the adjoint of `y` is 0 whatever the slope is there
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.analysis import picked, selected
from s2sgrad.analysis.distinct import Distinct
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.unit import Unit
from s2sgrad.rules.table import VALUES
from s2sgrad.transform.paths import Paths


class Exclusions:
    """What is excluded in one function, and where the walk is."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, inference: Inference, paths: Paths) -> None:
        self.unit, self.inference, self.paths = unit, inference, paths
        self.arms = 0  # the number of enclosing `if` statements
        self.picked = picked.names(unit, tree, inference.env)  # indices derived from masks
        ours = unit.primal.is_generated or selected.is_of_rules(unit.primal.function)
        # values that are 0 where a mask excludes something; hand-written programs have none
        self.selected_values = selected.names(unit, tree) if ours else frozenset[str]()

    @functools.cached_property
    def _distinct(self) -> Distinct:
        memory = self.paths.memory
        return Distinct(self.unit, self.paths.tree, self.inference, memory.written | memory.lost)

    def selects_once(self, index: gast.AST) -> bool:
        """Whether an index selects no element twice."""
        return self._distinct.selects_once(index)

    def level_of(self, index: gast.AST) -> int:
        """The level of what may be inf or nan outside of a section that a mask selects; 0 for any other section."""
        if self.arms:  # the test acts as the mask
            return VALUES
        parts = parts_of(index)
        kinds = [self.inference.kind(part) for part in parts if not isinstance(part, gast.Slice)]
        masked = any(isinstance(k, Array) and k.dtype == "bool" for k in kinds)
        return VALUES if masked or self.any_picked(parts) else 0

    def any_picked(self, parts: list[gast.AST]) -> bool:
        """Whether some of these indices are derived from masks."""
        return any(getattr(part, "id", None) in self.picked or picked.is_outside(self.unit, part) for part in parts)
