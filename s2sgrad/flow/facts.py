"""Dataflow facts about one function, computed on request: its control-flow graph and the analyses over it.

>>> import gast
>>> tree = gast.parse('''
... def f(x):
...     y = x * x
...     return y
... ''').body[0]
>>> facts = Facts(tree)
>>> sorted(facts.liveness.after(tree.body[0])), facts.lifetimes.is_assigned("y", tree.body[1])
(['y'], True)

They describe the tree as it was: a pass that has changed statements or bindings asks a new `Facts`.
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.flow.graph import Graph
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.flow.liveness import Liveness
from s2sgrad.flow.reaching import Reaching
from s2sgrad.ir.kept_facts import KeptFacts


class Facts:
    """The facts about one function; each is computed when it is first read."""

    def __init__(self, tree: gast.FunctionDef, kept: KeptFacts | None = None) -> None:
        self.tree, self._kept = tree, kept

    @functools.cached_property
    def graph(self) -> Graph:
        """The control-flow graph."""
        return Graph(self.tree, self._kept)

    @functools.cached_property
    def liveness(self) -> Liveness:
        """Which names may still be read."""
        return Liveness(self.graph)

    @functools.cached_property
    def reaching(self) -> Reaching:
        """Which definitions may reach a read."""
        return Reaching(self.graph)

    @functools.cached_property
    def lifetimes(self) -> Lifetimes:
        """The scope of each variable, and where it may be unbound or already bound."""
        return Lifetimes(self.graph, self.liveness)
