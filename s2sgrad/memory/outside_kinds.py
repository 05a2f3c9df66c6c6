"""The kinds of lists and dicts that live outside of a function, by their items; unknown where the program may change one.

    EDGES = [(0, 1), (1, 2)]      ->      a list of pairs of ints, however many        EDGES.append(e)  ->  unknown

>>> import numpy as np
>>> from s2sgrad.ir.unit import Unit
>>> from s2sgrad.source import read
>>> WEIGHTS = [np.ones((2, 2)), np.ones(2)]
>>> def f(x): return WEIGHTS[0] @ x + WEIGHTS[1]
>>> unit, tree = Unit.of(read(f))
>>> OutsideKinds(unit, tree, f)(WEIGHTS).item
Array('float64', None)
>>> def g(x): WEIGHTS.append(x)
>>> unit, tree = Unit.of(read(g))
>>> OutsideKinds(unit, tree, g)(WEIGHTS)
Unknown()
"""

from __future__ import annotations

import functools
import types
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.reached import changes_container, reaches_change
from s2sgrad.analysis.results import kind_of_changing, object_kind
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.writes import changes_unseen


class OutsideKinds:
    """The kind of what a free name of a function stands for.  `entry`: the function of the user's that is being compiled,
    which calls this one or is it."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, entry: types.FunctionType) -> None:
        self.unit, self.tree, self.entry = unit, tree, entry

    def __call__(self, value: Any) -> Kind:
        return kind_of_changing(value) if self.may_change else object_kind(value)

    @functools.cached_property
    def may_change(self) -> bool:
        """Whether the program may change a list or dict from outside while it runs."""
        if any(changes_container(self.unit, node) for node in nodes(*self.tree.body)):
            return True
        return any(changes_unseen(self.unit, s) for s in effects.walk(self.tree.body)) or reaches_change(self.entry)
