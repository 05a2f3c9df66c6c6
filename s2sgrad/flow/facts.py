"""What follows from where control goes, found when it is asked for: one graph of a function, and facts that stand on it.

>>> import gast
>>> tree = gast.parse('''
... def f(x):
...     y = x * x
...     return y
... ''').body[0]
>>> facts = Facts(tree)
>>> sorted(facts.liveness.after(tree.body[0])), facts.lifetimes.is_assigned("y", tree.body[1])
(['y'], True)

They are facts about the tree as it is now: a pass that has changed statements, or bound other names, makes them anew.
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.flow.graph import Graph
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.flow.liveness import Liveness
from s2sgrad.flow.reaching import Reaching


class Facts:
    """Facts about one function, as its tree is now."""

    def __init__(self, tree: gast.FunctionDef) -> None:
        self.tree = tree

    @functools.cached_property
    def graph(self) -> Graph:
        """The points of the function, and the ways between them."""
        return Graph(self.tree)

    @functools.cached_property
    def liveness(self) -> Liveness:
        """Which names may still be read."""
        return Liveness(self.graph)

    @functools.cached_property
    def reaching(self) -> Reaching:
        """Which definitions may have made what is read."""
        return Reaching(self.graph)

    @functools.cached_property
    def lifetimes(self) -> Lifetimes:
        """Where each variable lives, and where it may be unbound or bound already."""
        return Lifetimes(self.graph, self.liveness)
