"""Uniform cotangents stay numbers: an array of one number is not made where arithmetic would broadcast the number.

    y_bar = np.full_like(y, seed / n)                 y_bar = seed / n
    x_bar += y_bar[:, np.newaxis] * (2 * x)   ->      x_bar += y_bar * (2 * x)

Each read must meet an array that has the shape of the result without it, so that no shape changes.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, w):
...     y = np.sum(x * x, axis=1)
...     return np.mean(y + w)
... ''', "uniform", np.ones((3, 2)), np.ones(3)))
-     y_bar = np.full_like(y, seed / len(x))
-     t3 = y_bar[:, np.newaxis]
+     y_bar = seed / len(x)
+     t3 = y_bar
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.sizes import Dim, surely_not_one
from s2sgrad.analysis.symbolic_shapes import is_exact
from s2sgrad.flow.counts import write_counts
from s2sgrad.ir.forms import bound_name, number, parts_of, whole_number
from s2sgrad.ir.quote import NAMES, Transformer, nodes, nodes_of
from s2sgrad.ir.unit import Unit, parameters, sweep_of

_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Make numbers of arrays of one number in the reverse sweep."""
    for statement in [s for s in effects.walk(tree.body) if sweep_of(s) == "reverse"]:
        for made in [n for n in nodes_of(effects.header(statement), {gast.Call}) if _filled(unit, n) is not None]:
            uniform = _Uniform(unit, tree, made)
            if uniform.serves(statement):
                uniform.rewrite(statement)
    return tree


def _filled(unit: Unit, call: gast.AST) -> gast.AST | None:
    """The number with which `np.full_like(x, number)` fills a new array of doubles; None for any other expression."""
    if not isinstance(call, gast.Call) or unit.called(call) is not np.full_like or len(call.args) != 2 or call.keywords:
        return None
    like, filled = call.args
    kind = unit.kinds.get(like.id) if isinstance(like, gast.Name) else None
    if not isinstance(kind, Array) or kind.dtype != "float64":
        return None
    return filled if Shapes(unit, unit.kinds).is_number(filled) else None


def _is_exact(unit: Unit, dims: tuple[Dim, ...] | None) -> bool:
    """Whether an array of these sizes has them: another one would raise, or be broadcast, where a number would not."""
    return dims is not None and None not in dims and all(is_exact(unit, d) for d in dims)


class _Uniform:
    """What holds the number of one call of `np.full_like` everywhere: the call, and names."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, call: gast.Call) -> None:
        self.unit, self.call, self.shapes = unit, call, _WithFilled(unit, call)
        self.statements = list(effects.walk(tree.body))
        self.writes = write_counts(tree.body)
        self.own = {p.id for p in parameters(tree)}
        self.names: set[str] = set()

    def serves(self, statement: gast.AST) -> bool:
        """Whether a number serves in the statement with the call, and in each that reads what is computed from it alone."""
        if not isinstance(statement, gast.Assign) or not self.is_uniform(statement.value):
            return self.takes(statement)
        made = [statement]
        while all(map(self.add, made)):
            waiting = [
                s for s in self.statements if s is not statement and bound_name(s) not in self.names and self.reads(s)
            ]
            made = [s for s in waiting if isinstance(s, gast.Assign) and self.is_uniform(s.value)]
            if not made:
                return all(map(self.takes, waiting))
        return False

    def reads(self, node: gast.AST) -> bool:
        """Whether a statement, or an expression, reads the call or such a name."""
        return bool(effects.reads(node) & self.names) or any(n is self.call for n in nodes(effects.header(node)))

    def add(self, statement: gast.Assign) -> bool:
        """Note that the name that a statement binds, and no other statement does, holds one number."""
        bound = bound_name(statement)
        if bound is None or self.writes[bound] != 1 or bound in self.own:
            return False
        self.names.add(bound)
        return True

    def takes(self, statement: gast.AST) -> bool:
        """Whether a statement that reads such names is the same with numbers."""
        if not isinstance(statement, (gast.Assign, gast.AugAssign)):
            return False
        (target,) = statement.targets if isinstance(statement, gast.Assign) else (statement.target,)
        if not isinstance(target, (gast.Name, gast.Subscript)) or self.reads(target):
            return False
        added = isinstance(statement, gast.AugAssign) and isinstance(statement.op, _ARITHMETIC)
        if added and self.is_uniform(statement.value):
            return _is_exact(self.unit, self.shapes.dims(target))
        return self.is_covered(statement.value)

    def is_uniform(self, node: gast.AST) -> bool:
        """Whether an expression is such a name, with new axes, or scaled by numbers."""
        if isinstance(node, gast.Name):
            return node.id in self.names
        if node is self.call:
            return True
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub) and self.is_uniform(node.operand)
        if (inner := self.with_axes(node)) is not None:
            return self.is_uniform(inner)
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, _ARITHMETIC):
            return False
        if isinstance(node.op, gast.Div):  # a number would raise where an array warns
            return self.is_uniform(node.left) and (bool(number(node.right)) or self.is_length(node.right))
        sides = node.left, node.right
        return any(map(self.is_uniform, sides)) and all(self.is_uniform(s) or self.is_factor(s) for s in sides)

    def is_factor(self, node: gast.AST) -> bool:
        """Whether an expression is a number, and stays the same with numbers for such names: `y_bar @ x` does not."""
        return self.shapes.is_number(node) and self.is_covered(node)

    def is_length(self, node: gast.AST) -> bool:
        """Whether an expression is the length of an argument's axis, which is not empty."""
        counted, axis = None, None
        if isinstance(node, gast.Call) and self.unit.called(node) is len:
            counted, axis = node.args[0], 0
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            counted, axis = node.value.value, whole_number(node.slice)
        dims = None if counted is None else self.shapes.dims(counted)
        if dims is None or axis is None or not -len(dims) <= axis < len(dims):
            return False
        return surely_not_one(dims[axis]) and dims[axis] != 0

    def with_axes(self, node: gast.AST) -> gast.AST | None:
        """What an expression gives new axes to; None for any other expression."""
        if isinstance(node, gast.Subscript):
            parts = parts_of(node.slice)
            return node.value if all(effects.is_whole(p) or self.shapes.is_newaxis(p) for p in parts) else None
        is_call = isinstance(node, gast.Call) and self.unit.called(node) is np.expand_dims and not node.keywords
        return node.args[0] if is_call else None

    def is_covered(self, node: gast.AST) -> bool:
        """Whether each such name in an expression meets an array that has the shape of the result."""
        if self.is_uniform(node):
            return False
        if not self.reads(node):
            return True
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, _ARITHMETIC):
            return all(map(self.is_covered, gast.iter_child_nodes(node)))  # keywords and comprehensions, too
        left, right = node.left, node.right
        if self.is_uniform(right) and not isinstance(node.op, gast.Div):
            left, right = right, left
        if not self.is_uniform(left):
            spanned = any(
                self.is_covered(one) and self.spans(one, node) and self.is_part(other)
                for one, other in ((left, right), (right, left))
            )
            return spanned or (self.is_covered(left) and self.is_covered(right))
        return self.spans(right, node) and self.is_covered(right)

    def spans(self, side: gast.AST, whole: gast.AST) -> bool:
        """Whether one side of an operation has the shape of its result: by the sizes, or because both are computed item by
        item from one array.  A number beside single precision would give single precision, where an array of doubles does
        not."""
        if any(
            isinstance(k, Array) and k.dtype in ("float32", "float16", None) for k in map(self.kind, nodes_of(whole, NAMES))
        ):
            return False
        dims = self.shapes.dims(side)
        if dims is not None and _is_exact(self.unit, dims):
            return dims == self.shapes.dims(whole)
        like = self.like(side)
        return like is not None and like == self.like(whole)

    def kind(self, node: gast.Name) -> Kind | None:
        return self.unit.kinds.get(node.id)

    def like(self, node: gast.AST) -> str | None:
        """The array from which an expression is computed item by item, with numbers besides; None where there is none."""
        if node is self.call:
            return self.like(self.call.args[0])
        if isinstance(node, gast.UnaryOp):
            return self.like(node.operand)
        if isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
            found = {self.like(s) for s in (node.left, node.right) if not self.shapes.is_number(s)}
            return found.pop() if len(found) == 1 else None
        if not isinstance(node, gast.Name) or self.writes[node.id] > (node.id not in self.own):
            return None
        made = [s for s in self.statements if bound_name(s) == node.id and isinstance(s.value, (gast.BinOp, gast.UnaryOp))]
        return (self.like(made[0].value) if made else None) or node.id

    def is_part(self, node: gast.AST) -> bool:
        """Whether such names stand only in arithmetic, whose result an array around it spans."""
        if self.is_uniform(node) or not self.reads(node):
            return True
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, _ARITHMETIC):
            return self.is_covered(node)
        divides = isinstance(node.op, gast.Div) and (self.reads(node.right) or self.shapes.is_number(node.right))
        return not divides and self.is_part(node.left) and self.is_part(node.right)

    def rewrite(self, statement: gast.AST) -> None:
        """Write the number in the statement with the call, and in each that reads it."""
        for reader in [statement, *(s for s in self.statements if s is not statement and self.reads(s))]:
            reader.value = _Plain(self).visit(reader.value)
            self.unit.rewritten(reader)
        self.unit.kinds.update({n: Number(None, double=True) for n in self.names})


class _WithFilled(Shapes):
    """Shapes where one call of `np.full_like` is known."""

    def __init__(self, unit: Unit, call: gast.Call) -> None:
        super().__init__(unit, unit.kinds)
        self.call = call

    def dims(self, node: gast.AST) -> tuple[Dim, ...] | None:
        return super().dims(node.args[0] if node is self.call else node)


class _Plain(Transformer):
    """Writes the number, and drops new axes of it."""

    def __init__(self, uniform: _Uniform) -> None:
        self.uniform = uniform

    def visit(self, node: gast.AST) -> gast.AST:
        if node is self.uniform.call:
            return node.args[1]
        inner = self.uniform.with_axes(node)
        if inner is not None and self.uniform.is_uniform(inner):
            return self.visit(inner)
        return super().visit(node)
