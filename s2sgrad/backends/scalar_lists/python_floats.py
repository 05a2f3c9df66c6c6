"""Which names surely hold floats of Python's, once some elements are those of lists: what a list may keep as it is.

    s = x_list[i] * 2.0; t = np.sqrt(s)      ->      `s` does, `t` is one of NumPy's
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Number
from s2sgrad.ir.forms import popped
from s2sgrad.ir.quote import name
from s2sgrad.ir.unit import Unit, parameters


class PythonFloats:
    """The names and stacks of a function that hold floats of Python's; `given` are nodes that surely yield one."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, given: set[int]) -> None:
        self.unit, self.nodes = unit, given
        bindings: dict[str, list[gast.AST]] = {}
        for statement in effects.walk(tree.body):
            for bound, value in _bindings(statement):
                bindings.setdefault(bound, []).append(value)
        self.given = {p.id for p in parameters(tree)}
        self.seeds = {p.id for p in tree.args.kwonlyargs[-1:] if p.id in unit.locals}
        self.sure = bindings.keys() - self.given
        while True:
            wrong = {n for n in self.sure if not all(map(self.is_float, bindings[n]))}
            if not wrong:
                break
            self.sure -= wrong

    def is_float(self, node: gast.AST) -> bool:
        """Whether an expression surely yields a float of Python's."""
        if id(node) in self.nodes:
            return True
        if isinstance(node, gast.Constant):
            return type(node.value) is float
        if isinstance(node, gast.Name):
            return self._is_bound_to_floats(node.id)
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub) and self.is_float(node.operand)
        if isinstance(node, gast.IfExp):
            return self.is_float(node.body) and self.is_float(node.orelse)
        if isinstance(node, gast.BinOp):
            sides = node.left, node.right
            if isinstance(node.op, gast.Pow):
                return self.is_float(node.left) and isinstance(node.right, gast.Constant)
            return any(map(self.is_float, sides)) and all(self.is_float(s) or self._is_plain(s) for s in sides)
        if (stack := popped(node)) is not None:
            return stack in self.sure
        target = self.unit.called(node)
        return target is float or (target in (min, max, abs) and all(map(self.is_float, node.args)))

    def _is_bound_to_floats(self, name: str) -> bool:
        kind = self.unit.kinds.get(name)
        seed = name in self.seeds and isinstance(kind, Number)
        return seed or name in self.sure or (name in self.given and getattr(kind, "type", None) is float)

    def _is_plain(self, node: gast.AST) -> bool:
        """Whether an expression is a whole number or a truth value of Python's."""
        if isinstance(node, gast.Constant):
            return type(node.value) is int
        if isinstance(node, gast.Name):
            kind = self.unit.kinds.get(node.id)
            return isinstance(kind, Number) and kind.type is int
        if isinstance(node, gast.BinOp):
            return self._is_plain(node.left) and self._is_plain(node.right)
        if isinstance(node, gast.Compare):
            return all(self.is_float(p) or self._is_plain(p) for p in (node.left, *node.comparators))
        return isinstance(node, gast.UnaryOp) and self._is_plain(node.operand)


def _bindings(statement: gast.AST) -> Iterator[tuple[str, gast.AST]]:
    """The names that a statement binds, each with what it is bound to; a stack with what is put on it."""
    if isinstance(statement, gast.Assign):
        yield from _pairs(statement.targets[0], statement.value)
    elif isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
        yield statement.target.id, gast.BinOp(name(statement.target.id), statement.op, statement.value)
    elif isinstance(statement, gast.For):
        yield statement.target.id, statement.iter
    elif isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call) and statement.value.args:
        for grown in effects.changed_by_call(statement.value):
            yield grown, statement.value.args[-1]


def _pairs(target: gast.AST, value: gast.AST) -> Iterator[tuple[str, gast.AST]]:
    if isinstance(target, gast.Name):
        if not (isinstance(value, gast.List) and not value.elts):  # a new stack
            yield target.id, value
    elif isinstance(target, gast.Tuple):
        both = isinstance(value, gast.Tuple) and len(value.elts) == len(target.elts)
        for k, part in enumerate(target.elts):
            yield from _pairs(part, value.elts[k] if both else value)
