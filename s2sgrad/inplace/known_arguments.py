"""What follows from the constants that an inlined function is given: indices, and the branches that are taken.

    def edges(u, n, wall):                                  edges(y, 1, "closed"), inlined:
        if wall == "closed": u[n] = -u[n - 1]       ->          y[1] = -y[0]
        else: u[n] = 0.0

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def edges(u, n, wall):
...     if wall == "closed": u[n] = -u[n - 1]
...     else: u[n] = 0.0
... def f(x):
...     y = x * x
...     edges(y, 1, "closed")
...     return y @ x
... '''))
>>> "closed" in df.source, df(np.array([1.0, 2.0]))
(False, array([-1., -1.]))
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from s2sgrad.flow.counts import write_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name, truth, whole_number
from s2sgrad.ir.quote import Transformer, constant, mentioned, substitute

CONSTANTS = (int, float, bool, str, type(None))
_SUMS = {gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul}
_TESTS = {gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt,
          gast.GtE: operator.ge, gast.Is: operator.is_, gast.IsNot: operator.is_not}  # fmt: skip
_LARGEST = 2**31  # of an integer that is written out


def specialized(body: Block, known: dict[str, Any], temps: set[str]) -> Block:
    """A copy of the statements of a function for the `known` values of parameters that nothing binds: without the branches
    that are not taken, and without the temporaries that stand for constants."""
    if not known:
        return body
    return _Specialization(write_counts(body), temps).block(body, {p: constant(value) for p, value in known.items()})


class _Specialization:
    """Walks over the statements of one function."""

    def __init__(self, writes: Any, temps: set[str]) -> None:
        self.writes, self.temps = writes, temps
        self.fold = _Fold()

    def block(self, body: Block, known: dict[str, gast.AST]) -> Block:
        """The statements of a block; `known` grows by what they bind."""
        out: Block = []
        for statement in body:
            if isinstance(statement, gast.If):
                test = self.fold.visit(substitute(statement.test, known))
                taken = truth(test, _decided)
                if taken is not None:
                    out += self.block(statement.body if taken else statement.orelse, known)
                    continue
                statement.test = test
                statement.body, statement.orelse = self.block(statement.body, known), self.block(statement.orelse, known)
                statement.body = statement.body or [gast.Pass()]
            elif isinstance(statement, (gast.For, gast.While)):
                for field in ("target", "iter", "test"):
                    if hasattr(statement, field):
                        setattr(statement, field, self.fold.visit(substitute(getattr(statement, field), known)))
                statement.body, statement.orelse = self.block(statement.body, known), self.block(statement.orelse, known)
            else:
                if not known.keys().isdisjoint(mentioned(statement)):
                    statement = self.fold.visit(substitute(statement, known))
                bound = bound_name(statement)
                value = _value(statement.value) if bound in self.temps and self.writes[bound] == 1 else None
                if bound is not None and value is not None:
                    known[bound] = value
                    continue
            out.append(statement)
        return out


class _Fold(Transformer):
    """Replaces sums of whole numbers, and comparisons of constants, by their values."""

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        run, left, right = _SUMS.get(type(node.op)), whole_number(node.left), whole_number(node.right)
        if run is None or left is None or right is None or not abs(run(left, right)) < _LARGEST:
            return node
        return constant(run(left, right))

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        self.generic_visit(node)
        decided = _decided(node)
        return node if decided is None else constant(decided)


def _decided(test: gast.AST) -> bool | None:
    """The truth of a constant, or of a comparison of two; None for any other expression."""
    if isinstance(test, gast.Constant):
        return bool(test.value)
    if not isinstance(test, gast.Compare) or len(test.ops) != 1:
        return None
    left, right, run = test.left, test.comparators[0], _TESTS.get(type(test.ops[0]))
    if run is None or not isinstance(left, gast.Constant) or not isinstance(right, gast.Constant):
        return None
    if run in (operator.is_, operator.is_not):
        nothing = left.value is None, right.value is None
        return bool(run(*nothing)) if any(nothing) else None
    numbers = all(isinstance(n.value, (int, float)) for n in (left, right))
    alike = numbers or run in (operator.eq, operator.ne)
    return bool(run(left.value, right.value)) if alike else None


def _value(node: gast.AST) -> gast.AST | None:
    """A constant, or the truth of a test that is decided; None for any other expression."""
    if isinstance(node, gast.Constant):
        return node if isinstance(node.value, CONSTANTS) else None
    decided = truth(node, _decided) if isinstance(node, (gast.BoolOp, gast.UnaryOp, gast.Compare)) else None
    return None if decided is None or _is_choice(node) else constant(decided)


def _is_choice(node: gast.AST) -> bool:
    """Whether this is `a or b`, whose value is one of its operands and need not be a truth value."""
    return isinstance(node, gast.BoolOp) and not all(isinstance(v, gast.Compare) or _is_truth(v) for v in node.values)


def _is_truth(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, bool)
