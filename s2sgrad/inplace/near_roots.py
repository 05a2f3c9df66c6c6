"""Calls between a root and what it is taken of, or between a root and its power: they are to be written out.

    def sq(v): return v * v
    np.sqrt(sq(a) + sq(b))               ->      np.sqrt(a * a + b * b)          the slope of the root may be infinite

    def length(v): return np.sqrt(v @ v)
    length(a) ** 2 + length(b) ** 2      ->      the powers are taken of `a @ a` and of `b @ b`

Only a function that has both can tell which slope wins, or that a power of a root is one (`analysis.singular`,
`transform.compounds`).

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def sq(v):
...     return v * v
... def f(x):
...     return np.sqrt(sq(x[0]) + sq(x[1]))
... '''))
>>> df(np.zeros(2)), "sq_bwd" in df.source
(array([0., 0.]), False)
"""

from __future__ import annotations

from collections.abc import Iterable

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import operations
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.singular import exponent, passes_on
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.rules import singular

_ROOTS = singular.MODULI | {np.cbrt, np.std}
_SQUARES = singular.PRODUCTS_OF_VECTORS | {np.multiply, np.einsum}


class Roots:
    """What one function takes roots and powers of; `flow` leads from a name to those that are sums, or multiples, of it."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        self.parameters = [p.id for p in parameters(tree)]
        self.result = getattr(getattr(tree.body[-1], "value", None), "id", "")
        self.flow: dict[str, set[str]] = {}
        self.under: set[str] = set()  # a root is taken of these
        self.roots: set[str] = set()  # these are roots
        self.raised: set[str] = set()  # a power is taken of these
        self.multiplied: list[tuple[str, str]] = []
        found = operations(unit, tree, kinds)
        for statement in effects.walk(tree.body):
            section = effects.stored(statement)
            if section is not None:
                self._passes({n.id for n in effects.loads(statement.value)}, [effects.base(section)])
            elif id(statement) in found:
                self._note(found[id(statement)], binds(statement))

    def _passes(self, read: Iterable[str], targets: Iterable[str]) -> None:
        for source in read:
            self.flow.setdefault(source, set()).update(targets)

    def _note(self, operation: Operation, targets: list[str]) -> None:
        """Note what an operation makes of its operands."""
        names = [getattr(o, "id", None) for o in operation.operands]
        if operation.form == "grow":
            self._passes([n for n in names[1:] if n], [names[0] or ""])
        elif operation.form in ("atom", "item", "display"):
            self._passes({n.id for n in effects.loads(operation.node)}, targets)
        elif operation.form == "rule":
            self._note_rule(operation, names, targets)
            self._passes([n for k, n in enumerate(names) if n and passes_on(operation, k)], targets)

    def _note_rule(self, operation: Operation, names: list[str | None], targets: list[str]) -> None:
        """Note a root, or a power."""
        target, power, first = operation.target, exponent(operation), names[0] if names else None
        root = singular.is_root(target, power)
        if root or is_one_of(target, _ROOTS | singular.NORMS):
            self.roots.update(targets)
        if first is not None and root:
            self.under.add(first)
        elif first is not None and is_one_of(target, singular.POWERS | {np.square}):
            self.raised.add(first)
        given = [n for n in names if n is not None]
        if len(given) == 2 and is_one_of(target, _SQUARES):
            self.multiplied.append((given[0], given[1]))

    def reach(self, names: Iterable[str]) -> set[str]:
        """What is made of some names by sums and multiples."""
        waiting, known = [*names], set()
        while waiting:
            name = waiting.pop()
            if name not in known:
                known.add(name)
                waiting += self.flow.get(name, ())
        return known

    def gives_root(self) -> bool:
        """Whether the result is a root, or a multiple of one."""
        return self.result in self.reach(self.roots)

    def takes_root_of_argument(self) -> bool:
        """Whether a root is taken of an argument, perhaps of a sum of several."""
        return not self.under.isdisjoint(self.reach(self.parameters))

    def raises_argument(self) -> bool:
        """Whether a power is taken of an argument, perhaps of a sum of several."""
        given = self.reach(self.parameters)
        return bool(self.raised & given) or any(a in given and b in given for a, b in self.multiplied)


def between(caller: Roots, calls: dict[str, tuple[Roots, list[str]]]) -> set[str]:
    """Of the names that are bound to calls of some functions with these arguments: those where a root is on one side, and
    what it is taken of, or its power, on the other."""
    found = {n for n, (f, _) in calls.items() if f.takes_root_of_argument() or caller.under & caller.reach([n])}
    made = {n: caller.reach([n]) for n, (f, _) in calls.items() if f.gives_root()}
    roots = caller.reach({*made, *caller.roots})
    found |= {n for n, (f, given) in calls.items() if f.raises_argument() and roots.intersection(given)}
    powers = caller.raised.union(*({a, b} for a, b in caller.multiplied if a in roots and b in roots))
    return found | {n for n, reached in made.items() if powers & reached or found & reached}
