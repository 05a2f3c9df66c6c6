"""Products with the inverse of a matrix that is inverted anyway, in place of solutions of systems with it.

    x = np.linalg.solve(A, b)                       A_inverse = np.linalg.inv(A)
    ..                                              x = A_inverse @ b
    y = np.linalg.solve(A.T, x_bar)        ->       ..
    A_bar = np.linalg.inv(A).T - ..                 y = A_inverse.T @ x_bar

The gradient of a determinant is an inverse, and what has a determinant is often solved for as well.  Only what derivatives
are computed from: the value that the user asked for is computed as the user wrote.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(A, b):
...     return b @ np.linalg.solve(A, b) + np.linalg.slogdet(A)[1]
... ''', "shared_inverses", np.eye(3), np.ones(3)))
-     t1 = np.linalg.solve(A, b)
+     t8 = np.linalg.inv(A)
-     t7 = np.linalg.solve(A.T, seed * b)
+     t1 = t8 @ b
+     t7 = t8.T @ (seed * b)
-     A_bar = seed * np.linalg.inv(A).T - np.outer(t7, t1)
+     A_bar = seed * t8.T - np.outer(t7, t1)
"""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array
from s2sgrad.cleanup.shared_values import Numbers
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import Transformer, assign, calls_in, clone, name
from s2sgrad.ir.unit import Unit, is_derived


@dataclass
class _Use:
    """A call that inverts a matrix, or solves a system with it, or with its transpose."""

    statement: gast.Assign | gast.AugAssign
    call: gast.Call
    matrix: int
    transposed: bool = False


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Multiply by inverses that are computed, where systems with the same matrix are solved."""
    inverted = [s for s in tree.body if any(unit.called(c) is np.linalg.inv for c in _calls(s))]
    if not inverted:
        return tree
    uses = _Uses(unit, tree)
    for matrix, inverses in uses.inverses.items():
        solutions = [u for u in uses.solutions if u.matrix == matrix]
        if not solutions:
            continue
        concerned = {id(u.statement) for u in (*inverses, *solutions)}
        place, first = next((k, s) for k, s in enumerate(tree.body) if id(s) in concerned)
        inverse = unit.temp()
        unit.kinds[inverse] = unit.kinds[inverses[0].call.args[0].id]
        made = assign(inverse, clone(inverses[0].call))
        made.origin = first.origin
        replaced: dict[int, gast.AST] = {id(u.call): name(inverse) for u in inverses}
        for u in solutions:
            factor = gast.Attribute(name(inverse), "T", gast.Load()) if u.transposed else name(inverse)
            replaced[id(u.call)] = gast.BinOp(factor, gast.MatMult(), u.call.args[1])
        for statement in tree.body:
            if id(statement) in concerned:
                statement.value = _Replaced(replaced).visit(statement.value)
                unit.rewritten(statement)
        tree.body.insert(place, made)
    return tree


class _Replaced(Transformer):
    """Puts expressions in the place of calls."""

    def __init__(self, replaced: dict[int, gast.AST]) -> None:
        self.replaced = replaced

    def visit_Call(self, node: gast.Call) -> gast.AST:
        new = self.replaced.get(id(node))
        if isinstance(new, gast.BinOp):
            new.right = self.visit(new.right)
        return self.generic_visit(node) if new is None else new


class _Uses:
    """The inverses of each matrix, and the systems, outside of loops and branches."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.numbers, self.shapes = unit, Numbers(unit, tree), Shapes(unit, unit.kinds)
        self.inverses: dict[int, list[_Use]] = {}
        self.solutions: list[_Use] = []
        self.turned: dict[str, gast.Name] = {}
        plain = (s for s in effects.walk(tree.body) if not is_derived(s) or isinstance(s, gast.Return))
        seen = {n for s in plain for n in effects.reads(s)}
        for statement in tree.body:
            self.numbers.of_statement(statement)
            bound, value = bound_name(statement), getattr(statement, "value", None)
            if bound is not None and self._untransposed(value) is not value and self.numbers.changes[bound] == 1:
                self.turned[bound] = self._untransposed(value)
            if is_derived(statement) or (bound is not None and bound not in seen):
                self._note(statement)

    def _note(self, statement: gast.AST) -> None:
        for call in _calls(statement):
            called, given = self.unit.called(call), call.args
            if called not in (np.linalg.inv, np.linalg.solve) or call.keywords or not given:
                continue
            operand = self.turned.get(given[0].id, given[0]) if isinstance(given[0], gast.Name) else given[0]
            plain = self._untransposed(operand)
            matrix = self.numbers.of_name(plain) if self._is_matrix(plain) else None
            turned = operand is not plain or operand is not given[0]
            if matrix is None:
                continue
            if called is np.linalg.inv and len(given) == 1 and not turned:
                self.inverses.setdefault(matrix, []).append(_Use(statement, call, matrix))
            elif called is np.linalg.solve and len(given) == 2 and self.shapes.rank(given[1]) in (1, 2):
                self.solutions.append(_Use(statement, call, matrix, turned))

    def _untransposed(self, node: gast.AST | None) -> gast.AST | None:
        """`A` for `A.T` of a matrix, the expression itself for any other."""
        if isinstance(node, gast.Attribute) and node.attr == "T" and self._is_matrix(node.value):
            return node.value
        return node

    def _is_matrix(self, node: gast.AST) -> bool:
        kind = self.unit.kinds.get(node.id) if isinstance(node, gast.Name) else None
        return isinstance(kind, Array) and kind.rank == 2 and kind.dtype == "float64"


def _calls(statement: gast.AST) -> list[gast.Call]:
    """The calls in the value of an assignment."""
    return [*calls_in(statement.value)] if isinstance(statement, (gast.Assign, gast.AugAssign)) else []
