"""The differentiated paths of a function: active variables, and which lists and stacks are on record.

def f(x, n):  k = n + 1; y = x * k; print(y); return y     ->   active in x: x, y; `k = n + 1` is on no path
"""

from __future__ import annotations

import functools

import gast

from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.singular import Singular
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir.checkpoints import slots_of
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliasing import Memory
from s2sgrad.transform import resized_lists


class Paths:
    """Facts about one function and the variables `wrt`: its operations; the variables that are `varied` by these, and the
    `active` ones, which also influence the result.  `watched` are those of `wrt` that are not parameters.
    """

    def __init__(self, unit: Unit, tree: gast.FunctionDef, inference: Inference, wrt: set[str]) -> None:
        self.unit, self.tree, self.kinds, self.wrt = unit, tree, inference.env, wrt
        self.operations = activity.operations(unit, tree, self.kinds)
        self.result = tree.body[-1].value.id
        self.watched = wrt - {p.id for p in parameters(tree)}
        self.active: set[str] = set()
        self.varied: set[str] = set()
        self._find_active()
        pushed = [o.operands[0] for o in self.operations.values() if o.is_stack]
        self.grown = resized_lists.grown(unit, tree, self.operations) - unit.mirror.names
        self.pushed = {owner.id for owner in pushed if isinstance(owner, gast.Name)} - self.grown - unit.mirror.names
        self.active |= self.pushed & self._recorded()
        self.each: set[str] = set()  # lists of which a loop reads each item once (`parts`)

    @property
    def stacks(self) -> set[str]:
        """The active stacks."""
        return self.pushed & self.active

    def _find_active(self) -> None:
        mirrored = {x: self.memory.with_memory_of(x) for x in self.unit.mirror.names}
        found = activity.active(self.tree, self.operations, self.kinds, self.wrt, self.result, mirrored)
        self.active, self.varied = found

    def settle(self) -> None:
        """Find the active variables anew, where operations have become others."""
        self._find_active()
        self.active |= self.pushed & self._recorded()

    @functools.cached_property
    def lifetimes(self) -> Lifetimes:
        """The scopes of variables."""
        facts, loops = Facts(self.tree), (s for s in effects.walk(self.tree.body) if isinstance(s, gast.For))
        kept = frozenset(id(loop) for loop in loops if slots_of(self.unit, loop.iter) is not None)
        return Lifetimes(facts.graph, facts.liveness, kept)

    @functools.cached_property
    def singular(self) -> Singular:
        """Where cotangents and slopes may be infinite although the derivative is not."""
        return Singular(self.tree, self.operations, self.active, self.result)

    @functools.cached_property
    def memory(self) -> Memory:
        """Which names may share memory."""
        return Memory(self.unit, self.tree, self.kinds)

    def _recorded(self) -> set[str]:
        """What is unpacked from a record that carries derivatives: its stacks need a cotangent for each value popped."""
        out: set[str] = set()
        for statement in effects.walk(self.tree.body):
            if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple):
                if isinstance(statement.value, gast.Name) and statement.value.id in self.active:
                    out |= {t for t in binds(statement) if may_carry(self.kinds.get(t))}
        return out
