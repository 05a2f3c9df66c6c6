"""Values whose cotangents, or whose own slopes, may be infinite where the function has a finite derivative.

    s = np.sum(x ** 2); r = np.sqrt(s)         `s` is rooted: at 0 its cotangent is infinite, and the slope of `x ** 2` is 0
    e = np.exp(-x); y = 1.0 / (1.0 + e)        `e` is a divisor: where it is infinite, its cotangent is 0

>>> import gast
>>> import numpy as np
>>> from s2sgrad.analysis.activity import operations
>>> from s2sgrad.ir.unit import Unit
>>> tree = gast.parse('''
... def f(x):
...     q = x ** 2
...     s = np.sum(q)
...     r = np.sqrt(s)
...     e = np.exp(r)
...     d = 1.0 + e
...     y = 1.0 / d
...     return y
... ''').body[0]
>>> unit = Unit(None, None, {"x", "q", "s", "r", "e", "d", "y"})
>>> unit.resolve = lambda node: getattr(np, node.attr, None) if isinstance(node, gast.Attribute) else None
>>> found = Singular(tree, operations(unit, tree, {}), {"x", "q", "s", "r", "e", "d", "y"})
>>> sorted(found.rooted), sorted(found.divisors)
(['q', 's'], ['d', 'e'])

The analysis is flow-insensitive.  What a stack, a list or an array keeps reaches what is read of it.  A name is a divisor
only if all that is differentiated of it goes that way.  What a root is taken of may be raised to powers, too, and be
returned: what arrives from there is finite.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations, sources
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import number
from s2sgrad.rules import monomials, singular
from s2sgrad.rules.table import passes_over

_POWERS_OF_ROOTS = frozenset({monomials.monomial, monomials.sum_of_powers})  # whose exponents are 1 or more
_Condition = Callable[[Operation, int], bool]
_Use = tuple[Operation | None, int, str]  # an operation and the operand's place, or a store; the result
RETURNED: _Use = (None, 0, "return")


class Singular:
    """The rooted names and the divisors of one function."""

    def __init__(
        self, tree: gast.FunctionDef, operations: Operations, active: Collection[str], result: str | None = None
    ) -> None:
        self.uses: dict[str, list[_Use | None]] = {}  # None: one that is not followed
        self.made: dict[str, list[Operation]] = {}
        for statement in effects.walk(tree.body):
            self._note(statement, operations, active)
        returned = tree.body[-1].value if tree.body and isinstance(tree.body[-1], gast.Return) else None
        read_at_end = {read.id for read in effects.loads(returned)} if returned is not None else set()
        for read in read_at_end if result is None else {*read_at_end, result}:
            self.uses.setdefault(read, []).append(RETURNED)

    def _note(self, statement: gast.AST, operations: Operations, active: Collection[str]) -> None:
        """Note what a statement reads and makes."""
        section = effects.stored(statement)
        if section is not None:
            for read in effects.loads(statement.value):
                self.uses.setdefault(read.id, []).append((None, 0, effects.base(section)))
            return
        operation = operations.get(id(statement))
        if operation is None or operation.form == "flat":
            return
        if operation.form in ("grow", "push"):  # as a store is
            owner, *values = (getattr(o, "id", "") for o in operation.operands)
            for read in values:
                self.uses.setdefault(read, []).append((None, 0, owner))
            return
        self._note_operation(operation, binds(statement), active)

    def _note_operation(self, operation: Operation, targets: list[str], active: Collection[str]) -> None:
        """Note what an operation reads and makes."""
        for target in targets:
            self.made.setdefault(target, []).append(operation)
        if targets and not any(target in active for target in targets):
            return
        plain = len(targets) == 1 and operation.form in ("rule", "item", "atom", "display", "pop")
        for read in sources(operation):
            places = [k for k, o in enumerate(operation.operands) if getattr(o, "id", None) == read]
            use = (operation, places[0] if places else 0, targets[0]) if plain and len(places) < 2 else None
            self.uses.setdefault(read, []).append(use)
            if plain and len(places) == 2:
                self.uses[read] += [(operation, k, targets[0]) for k in places]
                self.uses[read].remove(None)

    @functools.cached_property
    def read(self) -> set[str]:
        """The names from which something reaches the result, or what is not followed."""
        behind: dict[str, list[str]] = {}
        ends = set()
        for name, uses in self.uses.items():
            for use in uses:
                if use is None or use[0] is None:
                    ends.add(name)
                else:
                    behind.setdefault(use[2], []).append(name)
        return _reached([*ends], behind)

    @functools.cached_property
    def rooted(self) -> frozenset[str]:
        """The names of which a root is taken, perhaps of a sum or a product with them, and whose cotangents are finite but
        for the root."""
        behind: dict[str, list[str]] = {}
        through: dict[str, list[str]] = {}
        roots, others = set(), set()
        for name, uses in self.uses.items():
            for use in uses:
                if use is RETURNED:
                    continue
                if _is(use, lambda operation, place: singular.is_root(operation.target, exponent(operation))):
                    roots.update([name] if use is not None and use[2] in self.read else [])  # or nothing arrives there
                elif use is not None and (_is(use, stays_infinite) or not _is(use, lambda *_: True)):
                    behind.setdefault(use[2], []).append(name)
                    through.setdefault(use[2], []).append(name)
                elif use is not None and _is(use, raises):
                    behind.setdefault(use[2], []).append(name)
                else:
                    others.add(name)
        return frozenset(_reached([*roots], through) - _reached([*others], behind))

    @functools.cached_property
    def divisors(self) -> frozenset[str]:
        """The names that may overflow where the function levels off: something that does not overflow is divided by them."""
        return self._closed(self._divides, grows) & self.overflowing

    def _divides(self, operation: Operation, place: int) -> bool:
        beside = any(operation.target is function and place == known for function, known in monomials.BESIDE.items())
        if beside or singular.levels_off(operation.target):
            return True
        others = {getattr(o, "id", None) for k, o in enumerate(operation.operands) if k != place}
        return singular.divides(operation.target, place, exponent(operation)) and not others & self.overflowing

    def _closed(self, ends: _Condition, through: _Condition) -> frozenset[str]:
        """The names all of whose uses end in one kind of operation, through another."""
        behind: dict[str, list[str]] = {}
        ending, waiting = False, []
        for name, uses in self.uses.items():
            for use in uses:
                if _is(use, ends):
                    ending = True
                elif use is not None and use is not RETURNED and (_is(use, through) or not _is(use, lambda *_: True)):
                    behind.setdefault(use[2], []).append(name)
                else:
                    waiting.append(name)
        lost = _reached([*waiting, *(behind.keys() - self.uses.keys())], behind) if ending else self.uses.keys()
        return frozenset(self.uses.keys() - lost)

    @functools.cached_property
    def overflowing(self) -> frozenset[str]:
        """The names whose values may have overflowed: exponentials, and what is made of them by arithmetic."""
        ahead: dict[str, list[str]] = {}
        waiting: list[str] = []
        for name, made in self.made.items():
            for operation in made:
                if operation.form == "rule" and is_one_of(operation.target, singular.OVERFLOWING):
                    waiting.append(name)
                for read in self._growing_with(operation):
                    ahead.setdefault(read, []).append(name)
        for name, uses in self.uses.items():
            ahead.setdefault(name, []).extend(use[2] for use in uses if use is not None and use[0] is None)
        return frozenset(_reached(waiting, ahead))

    def may_overflow(self, operation: Operation) -> bool:
        """Whether the slope of an operation may be infinite because its value, or an operand, has overflowed."""
        given = {o.id for o in operation.operands if isinstance(o, gast.Name)}
        return is_one_of(operation.target, singular.OVERFLOWING) or not given.isdisjoint(self.overflowing)

    def _growing_with(self, operation: Operation) -> list[str]:
        """The names with which the result of an operation grows as they do."""
        if operation.form != "rule":
            return sources(operation) if operation.form in ("item", "atom", "pop") else []
        return [o.id for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and grows(operation, k)]


def _is(use: _Use | None, condition: _Condition) -> bool:
    """Whether a use is an operation with a rule for which a condition holds."""
    return use is not None and use[0] is not None and use[0].form == "rule" and condition(use[0], use[1])


def _reached(waiting: list[str], edges: dict[str, list[str]]) -> set[str]:
    """What can be reached from these names."""
    known: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            waiting += edges.get(name, ())
    return known


def passes_on(operation: Operation, place: int) -> bool:
    """Whether an operation passes a cotangent on to an operand, as it is or times another operand, or to the chosen one."""
    return operation.rule is not None and (
        is_one_of(operation.target, singular.ADDITIVE)
        or operation.rule.tag in ("linear", "bilinear")
        or (is_one_of(operation.target, singular.PRODUCTS) and (place == 0 or operation.target is np.multiply))
        or passes_over(operation.target, operation.keywords) > 0
    )


def stays_infinite(operation: Operation, place: int) -> bool:
    """Whether the cotangent of an operand is infinite where that of the result is, if what is behind it does not vanish."""
    return passes_on(operation, place) or is_one_of(operation.target, singular.STEEP)


def grows(operation: Operation, place: int) -> bool:
    """Whether the result of an operation overflows where an operand does, or is made of one that does."""
    raised = is_one_of(operation.target, singular.POWERS) and (exponent(operation) or 0.0) >= 1.0
    return passes_on(operation, place) or (place == 0 and (raised or operation.target is np.square))


def raises(operation: Operation, place: int) -> bool:
    """Whether the cotangent of an operand is finite where that of the result is: a power from one up."""
    return grows(operation, place) or (place == 0 and is_one_of(operation.target, _POWERS_OF_ROOTS))


def exponent(operation: Operation) -> float | None:
    """The constant exponent of a power; None for anything else."""
    power = operation.operands[1] if len(operation.operands) == 2 else None
    if isinstance(power, gast.UnaryOp) and isinstance(power.op, gast.USub):
        return None if (size := number(power.operand)) is None else -size
    return number(power)
