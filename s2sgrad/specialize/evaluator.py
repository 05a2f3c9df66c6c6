"""The evaluation of parts: what the families of values ask for, whatever family the answer comes from.

    o.w[k](x)      ->      evaluate(o.w[k]), then apply(that, [x], {}, node)

This is the only way from a family to those that are built on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.specialize.binding_time import Lookahead
from s2sgrad.specialize.names import Names
from s2sgrad.specialize.static_values import Known
from s2sgrad.specialize.statics import Statics
from s2sgrad.specialize.writer import Writer


class Evaluator:
    """Evaluates parts of expressions, for all families; `open` says by whom, once all of these are made."""

    operand: Callable[[gast.AST], Any]  # a static value, or an atom for the value
    atom: Callable[[gast.AST], gast.AST]  # an atom for data
    data: Callable[[Any, gast.AST], gast.AST]  # a value that was evaluated, as data
    in_order: Callable[[list[gast.AST], Callable[[gast.AST], Any]], list[Any]]  # operands, from left to right
    flat: Callable[[gast.AST], gast.AST]  # a single operation
    value: Callable[..., Any]  # a static value, or a single operation
    assign: Callable[[gast.Assign], None]
    statement: Callable[[gast.AST], None]
    block: Callable[[list[gast.AST]], list[gast.AST]]
    apply: Callable[[Any, list[Any], dict[str, Any], gast.AST], Any]  # the value of a call of a static value

    def __init__(self, unit: Unit, names: Names, statics: Statics, writer: Writer, lookahead: Lookahead) -> None:
        self.unit, self.names, self.statics = unit, names, statics
        self.writer, self.lookahead = writer, lookahead

    def open(self, expressions: Any, statements: Any, calls: Any) -> None:
        """Let these evaluate parts: they are built on all families."""
        self.operand, self.atom, self.data = expressions.operand, expressions.atom, expressions.data
        self.in_order, self.flat, self.value = expressions.in_order, expressions.flat, expressions.value
        self.assign, self.statement, self.block = statements.assignments.assign, statements.statement, statements.block
        self.apply = calls.apply

    def evaluate(self, node: gast.AST) -> Any:
        """A static value, which includes callables from outside; or an atom for data."""
        return self.as_callable(self.operand(node))

    def as_callable(self, value: Any) -> Any:
        """A value, with a name or path of a callable from outside as a known callable."""
        target = self.unit.resolve(value) if isinstance(value, (gast.Name, gast.Attribute)) else MISSING
        return Known(target, value) if callable(target) else value

    def callee(self, node: gast.AST) -> Any:
        """The callee of a call: a static value, or any other expression."""
        return self.evaluate(node) if self.lookahead.may_be_known(node) else Known(self.unit.resolve(node), node)


class Family:
    """A family of static values, or of statements: what all of them are made with."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.lookahead, self.names = evaluator, evaluator.lookahead, evaluator.names
        self.unit, self.statics, self.writer = evaluator.unit, evaluator.statics, evaluator.writer
