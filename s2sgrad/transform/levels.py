"""What levels off where an exponential overflows is differentiated in the exponent.

    e = np.exp(-x); d = 1 + e; z = 1 / d      ->      z is differentiated in `-x`, as `-z * (1 - z)`
    e = np.exp(x); z = np.log(1 + e)          ->      z is differentiated in `x`, as `share(e, 1)`

In steps the slope would be that of the quotient times `e`, which is `0 * inf` where `e` has overflowed.  So nothing arrives
at `e`, and the derivatives of such slopes, in which there are such quotients again, are finite too.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def f(x):
...     e = np.exp(-x)
...     return np.reciprocal(e + 1.0)
... '''))
>>> print(df.source_for(0.0).splitlines()[-1])
    return seed * result * (1 - result)
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.singular import Singular, exponent
from s2sgrad.ir.forms import number
from s2sgrad.ir.quote import clone, constant
from s2sgrad.rules import monomials, singular
from s2sgrad.runtime import share
from s2sgrad.transform.compounds import Compounds, in_place_of
from s2sgrad.transform.paths import Paths

_Level = tuple[gast.AST, gast.AST, float]  # an exponent, what is made of the exponential, the number that is added to this


def run(paths: Paths) -> None:
    """Replace the operations that level off."""
    if any(is_one_of(o.target, singular.EXPONENTIALS) for o in paths.operations.values()):
        _Levels(paths).run()


class _Levels:
    """What one function makes of exponentials."""

    def __init__(self, paths: Paths) -> None:
        self.paths, self.operations, self.compounds = paths, paths.operations, Compounds(paths)
        self.overflowing = Singular(paths.tree, paths.operations, paths.active).overflowing

    def run(self) -> None:
        """Replace operations, where one of an exponential levels off."""
        for statement in effects.walk(self.paths.tree.body):
            operation = self.operations.get(id(statement))
            if isinstance(statement, gast.Assign) and operation is not None and operation.form == "rule":
                new = self._replaced(statement, operation)
                if new is not None:
                    self.operations[id(statement)] = new

    def _replaced(self, statement: gast.Assign, operation: Operation) -> Operation | None:
        """The operation in an exponent; None where there is none."""
        target, (first, *others), power = operation.target, operation.operands or [None], exponent(operation)
        if operation.keywords or first is None:
            return None
        if target is share or target is np.log1p or is_one_of(target, singular.LOGARITHMS):
            return self._logarithm(operation, statement)
        if target is np.reciprocal or (is_one_of(target, singular.POWERS) and (power or 0.0) < 0.0):
            raised = constant(-1 if power is None else power)
            return _in_exponent(operation, monomials.power_of_level, self._level(first, statement), [], [raised])
        if target is np.divide and getattr(first, "id", None) not in self.overflowing:
            found = self._level(others[0], statement)
            if found is not None:
                return _in_exponent(operation, monomials.over_level, found, [first])
            return self._over_power(operation, statement)
        return None

    def _over_power(self, operation: Operation, statement: gast.Assign) -> Operation | None:
        """A quotient by a power of such a sum."""
        definition = self._definition(operation.operands[1], statement)
        inner = self.operations.get(id(definition))
        if definition is None or inner is None or not is_one_of(inner.target, singular.POWERS | {np.square}):
            return None
        power = 2 if inner.target is np.square else exponent(inner)
        found = self._level(inner.operands[0], definition, last=statement)
        behind = [constant(power)]
        if found is None or power is None or power < 1:
            return None
        return _in_exponent(operation, monomials.over_power_of_level, found, operation.operands[:1], behind)

    def _logarithm(self, operation: Operation, statement: gast.Assign) -> Operation | None:
        """A logarithm of such a sum, or the share of the exponential in it, which is the slope of the former."""
        target, (first, *others) = operation.target, operation.operands
        if is_one_of(target, singular.LOGARITHMS):
            return _in_exponent(operation, monomials.log_of_exponential, self._level(first, statement, whole=False))
        added = 1.0 if target is np.log1p else number(others[0])
        u = None if added is None else self._exponent(first, statement, statement)
        function = monomials.log_of_exponential if target is np.log1p else monomials.share_of_exponential
        return None if u is None or added is None else _in_exponent(operation, function, (u, first, added))

    def _level(self, node: gast.AST, use: gast.AST, whole: bool = True, last: gast.AST | None = None) -> _Level | None:
        """What an operand is if it is the sum of a number and of a multiple of an exponential; None for any other.  With the
        `whole` operand in it, or the multiple alone."""
        last = use if last is None else last
        definition = self._definition(node, use)
        operation = self.operations.get(id(definition))
        if definition is None or operation is None or operation.target is not np.add:
            return None
        for added, other in (operation.operands, operation.operands[::-1]):
            value = number(added)
            u = None if value is None else self._exponent(other, definition, last)
            kept = u is not None and self.compounds.is_kept(*(node.id, use) if whole else (other.id, definition), last)
            if kept and u is not None and value is not None:
                return u, node if whole else other, value
        return None

    def _exponent(self, node: gast.AST, use: gast.AST, last: gast.AST) -> gast.AST | None:
        """The exponent of an exponential, perhaps of a multiple of one; None for anything else."""
        definition = self._definition(node, use)
        operation = self.operations.get(id(definition))
        if definition is None or operation is None:
            return None
        if is_one_of(operation.target, singular.EXPONENTIALS) and not operation.keywords:
            u = operation.operands[0]
            return u if isinstance(u, gast.Name) and self.compounds.is_kept(u.id, definition, last) else None
        if operation.target is np.multiply:
            for factor, other in (operation.operands, operation.operands[::-1]):
                if number(factor) is not None:
                    return self._exponent(other, definition, last)
        return None

    def _definition(self, node: gast.AST, use: gast.AST) -> gast.AST | None:
        """The statement that computes an operand, perhaps under another name."""
        found = self.compounds.definition(node.id, use) if isinstance(node, gast.Name) else None
        operation = self.operations.get(id(found))
        if found is None or operation is None or operation.form != "atom":
            return found
        return self._definition(operation.node, found)


def _in_exponent(
    operation: Operation, function: Callable, level: _Level | None, before: list[gast.AST] | None = None,
    behind: list[gast.AST] | None = None,
) -> Operation | None:  # fmt: skip
    """The operation as this function of a level, and of further operands; None where there is no level."""
    if level is None:
        return None
    u, e, added = level
    operands = [*(before or []), clone(u), clone(e), constant(added), *(behind or [])]
    return in_place_of(operation, function, operands, {})
