"""The facts that the checks share about one function: kinds of values, activity, aliasing.

def f(x, log): y = x * 2; log.append(y); return y      ->      varied {x, y}; `log` is only appended to
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import gast

from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.kinds import Container, Kind, kind_of
from s2sgrad.flow.counts import bound_once, read_counts
from s2sgrad.ir.forms import alone, appended_to, bound_name
from s2sgrad.ir.quote import children
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.sources import sources
from s2sgrad.runtime import outside
from s2sgrad.transform.calls import Pairs
from s2sgrad.transform.paths import Paths


@dataclass
class Context:
    """One function. `paths` has its operations and active variables. `forward`: tangents are wanted. `again`: the reverse
    sweep runs it again from the start. `unseen` are the names through which it may run what only the run knows.
    """

    unit: Unit
    tree: gast.FunctionDef
    kinds: dict[str, Kind]
    pairs: Pairs
    paths: Paths
    forward: bool = False
    again: bool = False
    unseen: set[str] = field(default_factory=set)

    @property
    def varied(self) -> set[str]:
        """The names that depend on a differentiated argument."""
        return self.paths.varied

    @cached_property
    def parameters(self) -> set[str]:
        """The names of the parameters."""
        return {p.id for p in parameters(self.tree)}

    @cached_property
    def once(self) -> dict[str, gast.Assign]:
        """The assignments of names that are bound once."""
        return bound_once(self.tree.body)

    @cached_property
    def read(self) -> set[str]:
        """The names that are read; a copy counts only if the name that it is bound to is read."""
        copies: dict[str, set[str]] = {}
        read: set[str] = set()
        for statement in effects.walk(self.tree.body):
            if (name := bound_name(statement)) is not None and isinstance(statement.value, gast.Name):
                copies.setdefault(name, set()).add(statement.value.id)
            else:
                read |= {n.id for n in effects.loads(effects.header(statement))}
        waiting = [copy for copy in copies if copy in read]
        while waiting:
            copied = copies.get(waiting.pop(), set()) - read
            read |= copied
            waiting += copied
        return read

    @cached_property
    def only_kept_in(self) -> set[str]:
        """The lists and dicts from outside that the function stores into and does not look into: their items are for the
        caller."""
        appended: Counter[str] = Counter()
        for statement in effects.walk(self.tree.body):
            call = alone(statement)
            stored = call is not None and self.unit.called(call) is outside.set_item
            owner = call.args[0] if call is not None and stored else appended_to(call)
            if isinstance(owner, gast.Name) and owner.id not in self.unit.locals:
                appended[owner.id] += 1
        if not appended:
            return set()
        read = read_counts(self.tree.body)
        return {owner for owner, count in appended.items() if read[owner] == count}

    def kind(self, node: gast.AST | None) -> Kind | None:
        """The kind of a name; None for any other expression."""
        return kind_of(node, self.kinds)

    def is_list(self, node: gast.AST | None) -> bool:
        """Whether a name is a list or dict."""
        kind = self.kind(node)
        return isinstance(kind, Container) and kind.type is not tuple

    def is_local(self, node: gast.AST | None) -> bool:
        """Whether an expression is a local variable."""
        return isinstance(node, gast.Name) and node.id in self.unit.locals

    def depends(self, node: gast.AST) -> bool:
        """Whether an expression reads a value that depends on a differentiated argument."""
        return any(n.id in self.varied for n in effects.loads(node))

    def is_mutable(self, node: gast.AST) -> bool:
        """Whether an argument is, or contains, something that a callee could change."""
        return any(n in self.unit.locals for n in sources(self.unit, node, self.kinds))

    def any_mutable(self, nodes: Iterable[gast.AST]) -> bool:
        """Whether one of these arguments is mutable in this sense."""
        return any(map(self.is_mutable, nodes))

    def passes_on(self, node: gast.AST) -> bool:
        """Whether the value of an expression depends differentiably on a differentiated value."""
        if isinstance(node, gast.Name):
            return node.id in self.varied
        if isinstance(node, gast.expr) and activity.classify(self.unit, node, self.kinds).form == "flat":
            return False
        return any(map(self.passes_on, children(node)))
