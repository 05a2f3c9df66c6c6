"""What a mask, a store or a selection leaves out: the tangent is exactly 0 there, and stays 0 whatever the slope is.

    r = np.zeros(5)
    r[m] = x[m]
    t = np.log(r)          ->      t_dot = over(r_dot, r)            `r` is 0 outside of `m`, where `r_dot / r` is nan
    y = np.tanh(t)                 y_dot = t_dot * (1.0 - y * y)     and `y` is finite

The counterpart of `transform.zeros`.  By name, the values that may be left: of constants themselves, else typical ones.
The analysis is flow-insensitive.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import arguments_of, number, parts_of
from s2sgrad.ir.quote import arms
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.record import VIEWS

Values = frozenset[float]
_FINITE: Values = frozenset({-2.0, -0.5, 0.0, 0.5, 1.0, 1e3})
_ANY = _FINITE | {math.inf, -math.inf}
_FILLED = {np.zeros: 0.0, np.zeros_like: 0.0, np.ones: 1.0, np.ones_like: 1.0}
_SELECTING = (np.where, np.maximum, np.minimum, np.clip, np.nan_to_num, np.fmax, np.fmin)
_MANY, _MOST = 16, 64  # values of one name, and combinations of those of several


def widest(values: Values) -> Values:
    """Typical values in place of these: recursion would go through new ones at each level."""
    return _FINITE if all(map(math.isfinite, values)) else _ANY


class LeftOut:
    """By name, the values of `active` variables where nothing that is differentiated arrives.  `given`: of parameters."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, inference: Inference, operations: dict[int, Operation],
        active: set[str], given: dict[str, Values],
    ) -> None:  # fmt: skip
        self.unit, self.inference, self.operations, self.active = unit, inference, operations, active
        self.constants: dict[str, Values] = {}
        self.found: dict[str, Values] = dict(given)
        statements = list(effects.walk(tree.body))
        for statement in statements:
            operation = operations.get(id(statement))
            if operation is not None and not any(map(self._varies, operation.given)):
                for target in binds(statement):
                    self.constants[target] = self.constants.get(target, frozenset()) | self._of_constant(operation)
        inside = [s for branch in statements for arm in arms(branch) for s in effects.walk(arm)]
        for statement in inside:
            for name in self.active.intersection(binds(statement)):  # the other way may leave a constant
                self._add(name, self._certain(self.constants.get(name, frozenset())))
        before = None
        while before != (before := dict(self.found)):
            for statement in statements:
                self._visit(statement)

    def of(self, node: gast.AST) -> Values:
        """The values that are left out of an operand."""
        return self.found.get(node.id, frozenset()) if isinstance(node, gast.Name) else frozenset()

    def spoiled(self, operation: Operation, pullback: Callable[..., Any], wanted: Collection[int]) -> set[int]:
        """The operands whose zero tangent would become nan."""
        out: set[int] = set()
        if not any(map(self.of, operation.operands)):
            return out
        for x, y in self._tried(operation):
            try:
                bars = pullback(np.float64(0.0), y, *x, **_words(operation))
            except (ArithmeticError, ValueError, TypeError):
                return {k for k in wanted if self.of(operation.operands[k])}
            bars = bars if isinstance(bars, tuple) else (bars,)
            out |= {k for k, bar in enumerate(bars) if bar is not None and bar != 0.0}
        return {k for k in out.intersection(wanted) if self.of(operation.operands[k])}

    def _varies(self, node: gast.AST) -> bool:
        return isinstance(node, gast.Name) and node.id in self.active

    def _of_constant(self, operation: Operation) -> Values:
        """The values of what carries no derivative."""
        value = number(operation.node)
        if value is not None:
            return frozenset({float(value)})
        made = self.unit.called(operation.node)
        if made is np.full and len(operation.node.args) > 1:
            return self._values(operation.node.args[1])
        filled = [v for f, v in _FILLED.items() if made is f]
        return frozenset(filled) or _ANY

    def _values(self, node: gast.AST) -> Values:
        """The values of an operand that carries no derivative."""
        value = number(node)
        if value is None and isinstance(node, gast.Attribute):
            value = self.unit.resolve(node)
        if isinstance(value, (int, float)):
            return frozenset({float(value)})
        return self.constants.get(node.id, _ANY) if isinstance(node, gast.Name) else _ANY

    def _visit(self, statement: gast.AST) -> None:
        section = effects.stored(statement)
        if section is not None:
            base = effects.base(section)
            if base in self.active and isinstance(self.inference.env.get(base), Array):
                left = self.of(statement.value) if self._varies(statement.value) else self._values(statement.value)
                left |= self.constants.get(base, frozenset())
                self._add(base, left if self._is_masked(section) else self._certain(left))
            return
        operation = self.operations.get(id(statement))
        if operation is not None:
            for target in self.active.intersection(binds(statement)):
                self._add(target, self._of(operation))

    def _certain(self, values: Values) -> Values:
        """The values, without infinite ones that nothing speaks for."""
        return _FINITE if values >= _ANY else values

    def _is_masked(self, section: gast.Subscript) -> bool:
        """Whether a mask says what is stored."""
        kinds = [self.inference.kind(part) for part in parts_of(section.slice) if not isinstance(part, gast.Slice)]
        return any(isinstance(kind, Array) and kind.dtype == "bool" for kind in kinds)

    def _add(self, name: str, values: Values) -> None:
        known = self.found.get(name, frozenset())
        merged = known | values
        if known is _FINITE or len(merged) >= _MANY:  # too many to follow
            merged = widest(merged)
        if merged and known is not _ANY:
            self.found[name] = merged

    def _of(self, operation: Operation) -> Values:
        """The values that are left out of a result."""
        if operation.form in ("atom", "item"):
            return self.of(operation.node if operation.form == "atom" else operation.operands[0])
        if operation.form == "rule":
            return self._of_rule(operation, [o for o in operation.operands if self._varies(o)])
        varying = [o for o in arguments_of(operation.node) if self._varies(o)] if operation.form == "call" else []
        return _ANY if varying and all(map(self.of, varying)) else frozenset()

    def _of_rule(self, operation: Operation, varying: list[gast.AST]) -> Values:
        if is_one_of(operation.target, _SELECTING):
            return frozenset().union(self._selected(operation), *map(self.of, varying))
        tag = None if operation.rule is None else operation.rule.tag
        if tag == "linear" and catalogue.of(operation.target).gives in VIEWS:
            return self.of(operation.operands[0])
        if tag != "elementwise" or not varying or not all(map(self.of, varying)):
            return frozenset()
        values = {float(y) for _, y in self._tried(operation) if not np.iscomplexobj(y)}
        return frozenset(v for v in values if not math.isnan(v)) or _FINITE

    def _selected(self, operation: Operation) -> Values:
        """The constants that a function selects."""
        if operation.target is np.nan_to_num:
            return frozenset({0.0})
        parts = operation.operands[1:] if operation.target is np.where else operation.operands
        return frozenset().union(*(self._values(o) for o in parts if not self._varies(o)))

    def _tried(self, operation: Operation) -> list[tuple[tuple, Any]]:
        """(operands, result) of an operation where values are left out; of others that vary, one that is no trouble."""
        given = []
        for o in operation.operands:
            values = (self.of(o) or {0.5}) if self._varies(o) else self._values(o)
            given.append(sorted(values if self._varies(o) or not values >= _ANY else _FINITE))
        out = []
        with np.errstate(all="ignore"):
            for point in itertools.islice(itertools.product(*given), _MOST):
                x = tuple(map(np.float64, point))
                try:
                    out.append((x, operation.target(*x, **_words(operation))))
                except (ArithmeticError, ValueError, TypeError):
                    continue
        return out


def _words(operation: Operation) -> dict[str, Any]:
    return {k: v.value for k, v in operation.keywords.items() if isinstance(v, gast.Constant)}
