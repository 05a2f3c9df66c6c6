"""Values that both sweeps compute, under the name of the forward sweep.

    p = n * (1.0 / a + 1.0 / b)                     t = 1.0 / a
    ..                                              p = n * (t + 1.0 / b)
    t = 1.0 / a                            ->       ..
    a_bar = -(p_bar * n * t / a)                    a_bar = -(p_bar * n * t / a)

Only outside of loops and branches, and where the value takes more than one operation in the reverse sweep.  Two
expressions have the same value if they are equal once names stand for what they are bound to, and nothing changes what they
read.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(n, a):
...     p = n * (1.0 / (a + n))
...     return p * p
... ''', "shared_values", 2.0, 3.0, argnums=(0, 1)))
-     t2_2 = 1.0 / t1_2
-     t3 = -(p_bar * n * t2_2 / t1_2)
+     t3 = -(p_bar * n * t2 / t1_2)
-     n_bar = p_bar * t2_2 + t3
+     n_bar = p_bar * t2 + t3
"""

from __future__ import annotations

from collections import Counter

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.cleanup import deadcode
from s2sgrad.flow.counts import read_counts
from s2sgrad.ir.forms import bound_name, target_name
from s2sgrad.ir.quote import NAMES, calls_in, nodes, nodes_of
from s2sgrad.ir.unit import Unit, parameters, sweep_of
from s2sgrad.memory import behaviour
from s2sgrad.memory.sources import sources

_VALUES = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call, gast.Subscript)
_SIZES = (len, np.size, np.shape)


_Pairs = list[tuple[gast.Assign, str]]  # statements, and the earlier name of what each computes


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Read values of the forward sweep where the reverse sweep computes them again."""
    twice, again = _found(unit, tree)
    if not again:
        return tree
    repeats = _Repeats(unit, tree, [s for s, _ in (*twice, *again)])
    shared = [(s, earlier) for s, earlier in reversed(again) if repeats.is_worth_it(s) and repeats.replaced(s, earlier)]
    named = {earlier for _, earlier in shared}
    gone = {id(s) for s, _ in shared}
    gone |= {id(s) for s, earlier in reversed(twice) if earlier in named and repeats.replaced(s, earlier)}
    if not gone:
        return tree
    tree.body = [s for s in tree.body if id(s) not in gone]
    return deadcode.run(unit, tree)


def _found(unit: Unit, tree: gast.FunctionDef) -> tuple[_Pairs, _Pairs]:
    """What the forward sweep computes twice, and what the reverse sweep computes again."""
    numbers = Numbers(unit, tree)
    first: dict[int, str] = {}
    twice: _Pairs = []
    again: _Pairs = []
    for statement in tree.body:
        bound, number = bound_name(statement), numbers.of_statement(statement)
        if bound is None or number is None:
            continue
        if sweep_of(statement) == "forward":
            if first.setdefault(number, bound) != bound and bound in unit.temps:
                twice.append((statement, first[number]))
        elif sweep_of(statement) == "reverse" and bound in unit.temps and number in first:
            again.append((statement, first[number]))
    return twice, again


class _Repeats:
    """The statements of the reverse sweep that compute values of the forward sweep."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, again: list[gast.Assign]) -> None:
        self.unit, self.tree = unit, tree
        self.values = {target_name(s): s.value for s in again}
        self.readers: dict[str, list[gast.AST]] = {name: [] for name in self.values}
        for statement in effects.walk(tree.body):
            for name in effects.reads(statement) & self.values.keys():
                self.readers[name].append(statement)
        self.times = read_counts(tree.body)

    def replaced(self, statement: gast.Assign, earlier: str) -> bool:
        """Read the earlier name; whether nothing reads the name of the statement any more."""
        bound = target_name(statement)
        if any(self._hands_on(s, bound) for s in self.readers[bound]):
            return False
        for reader in self.readers[bound]:
            for node in nodes_of(effects.header(reader), NAMES):
                node.id = earlier if node.id == bound else node.id
            self.unit.rewritten(reader)
        self.times.subtract(n.id for n in effects.loads(statement.value))
        return True

    def is_worth_it(self, statement: gast.Assign) -> bool:
        """Whether computing a value again costs more than a name for it; so it is where nothing reads it any more."""
        bound = target_name(statement)
        if not self.times[bound]:
            return True
        calls = [*calls_in(self.values[bound])]
        if any(effects.is_one_of(self.unit.called(c), _SIZES) for c in calls):
            return False  # `len(x)` is clearer than a name for it
        kind = self.unit.kinds.get(bound)
        if isinstance(kind, Number) and kind.type is int:
            return False  # so is `i + 1`
        array = isinstance(kind, Array)
        return self.times[bound] > 1 or (array and bool(calls)) or self._work(self.values[bound]) > 1

    def _work(self, value: gast.AST) -> int:
        """The operations of a value, and of those that are computed for it alone."""
        alone = (n.id for n in effects.loads(value) if n.id in self.values and self.times[n.id] == 1)
        own = sum(isinstance(n, (gast.BinOp, gast.UnaryOp, gast.Call)) for n in nodes(value))
        return own + sum(self._work(self.values[name]) for name in alone)

    def _hands_on(self, statement: gast.AST, bound: str) -> bool:
        """Whether what a statement binds or returns may be an array itself, so that its other reads would see a change."""
        if not isinstance(self.unit.kinds.get(bound), Array):
            return False
        if not isinstance(statement, (gast.Assign, gast.AugAssign)):
            return True
        return bound in sources(self.unit, statement.value, self.unit.kinds)


class Numbers:
    """Numbers of values: equal for expressions that are equal once names stand for what they are bound to."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.changes = Counter(name for s in effects.walk(tree.body) for name in unit.changed(s))
        self.fixed = {p.id for p in parameters(tree) if not self.changes[p.id]} - unit.memory.lost
        self.by_name: dict[str, int] = {}
        self.by_form: dict[object, int] = {}

    def of_statement(self, statement: gast.AST) -> int | None:
        """The number of what a statement binds a name to, which nothing else binds or changes; None for others."""
        bound = bound_name(statement)
        if bound is None or self.changes[bound] != 1 or not isinstance(self.unit.kinds.get(bound), (Number, Array)):
            return None
        if bound in self.unit.memory.lost or bound in self.unit.mirror.names:
            return None
        value = statement.value
        form = self._form(value) if isinstance(value, _VALUES) and behaviour.is_pure(self.unit, value) else None
        if form is None:  # a value that is like no other
            self.by_name[bound] = self.by_form.setdefault(("bound", bound), len(self.by_form))
            return None
        self.by_name[bound] = self.by_form.setdefault(form, len(self.by_form))
        return self.by_name[bound]

    def of_name(self, node: gast.AST) -> int | None:
        """The number of the value of a name, as far as statements have been asked about; None for others."""
        if isinstance(node, gast.Name) and node.id in self.fixed:
            return self.by_form.setdefault(("name", node.id), len(self.by_form))
        return self.by_name.get(node.id) if isinstance(node, gast.Name) else None

    def _form(self, node: object) -> object:
        """An expression with the numbers of its names; None if it reads what may change."""
        if isinstance(node, gast.Name):
            if node.id in self.by_name:
                return "value", self.by_name[node.id]
            return ("name", node.id) if node.id in self.fixed or node.id not in self.unit.locals else None
        if isinstance(node, list):
            parts = [self._form(part) for part in node]
            return None if None in parts else ("list", *parts)
        if not isinstance(node, gast.AST):
            return "literal", type(node), repr(node)
        parts = [self._form(getattr(node, f, None)) for f in node._fields if f not in ("ctx", "kind")]
        return None if None in parts else (type(node), *parts)
