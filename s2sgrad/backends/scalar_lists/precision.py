"""What is surely a number, or an array, of the precision of Python's own numbers.

    x * np.float32(2.0)      ->      not precise: a list would hold a number of twice the digits in its place
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.elements import element_of
from s2sgrad.analysis.kinds import Array, Container, Instance, Kind, Number, kind_of
from s2sgrad.ir.forms import bound_name, popped
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import libraries

_TYPES = (float, np.float64, int, np.int64, bool, np.bool_)
_DTYPES = ("float64", "int64", "bool")
_NARROW = re.compile(
    r"float(16|32|96|128)|half|single|longdouble|complex|u?int(8|16|32)|^[<>=|]?[fiueghdc][124]?$|byte|short|intc|errstate|seterr"
)


def is_precise(unit: Unit, tree: gast.FunctionDef, kinds: Iterable[Kind]) -> bool:
    """Whether all numbers are of the precision of Python's, as far as they are known, and nobody asks NumPy to raise."""
    for node in nodes(tree):
        word = getattr(node, "attr", None) if isinstance(node, gast.Attribute) else getattr(node, "value", None)
        if isinstance(node, (gast.Attribute, gast.Constant)) and isinstance(word, str) and _NARROW.search(word):
            return False
    return all(map(_is_double, kinds)) and not _takes_truth(unit, tree)


def _is_double(kind: Kind | None) -> bool:
    if isinstance(kind, Array):
        return kind.dtype is not None and np.dtype(kind.dtype).name in _DTYPES
    if isinstance(kind, Number):
        return kind.type is None or kind.type in _TYPES
    if isinstance(kind, Container):
        return all(map(_is_double, kind.items or ())) and (kind.item is None or _is_double(kind.item))
    return all(map(_is_double, kind.items)) if isinstance(kind, Instance) else True


def _takes_truth(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Whether a function that is made for floats may be given a truth value: NumPy computes in half precision then."""
    truths: set[str] = set()
    assigned = [s for s in effects.walk(tree.body) if bound_name(s) is not None]
    before = -1
    while before < len(truths):
        before = len(truths)
        truths |= {s.targets[0].id for s in assigned if _is_truth(s.value, truths)}
    for node in nodes(tree):
        target = unit.called(node)
        if isinstance(target, np.ufunc) and not any(t.startswith("?") for t in target.types):
            if any(_is_truth(argument, truths) for argument in node.args):
                return True
    return False


def _is_truth(node: gast.AST, truths: set[str]) -> bool:
    """Whether an expression may be a truth value."""
    if isinstance(node, gast.Name):
        return node.id in truths
    if isinstance(node, gast.Call):
        return any(_is_truth(argument, truths) for argument in node.args)
    if isinstance(node, gast.BinOp):
        return _is_truth(node.left, truths) and _is_truth(node.right, truths)
    if isinstance(node, gast.IfExp):
        return _is_truth(node.body, truths) or _is_truth(node.orelse, truths)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.Not) or _is_truth(node.operand, truths)
    constant = isinstance(node, gast.Constant) and type(node.value) is bool
    return constant or isinstance(node, (gast.Compare, gast.BoolOp))


class Surely:
    """Looks at expressions of one function; `stacks` are lists from which only numbers are taken."""

    def __init__(self, unit: Unit, stacks: Collection[str]) -> None:
        self.unit, self.kinds, self.stacks = unit, unit.kinds, stacks

    def number(self, node: gast.AST) -> bool:
        """Whether an expression that is not Python's because of us is a number, of full precision."""
        if isinstance(node, gast.Constant):
            return type(node.value) in (int, float)
        if isinstance(node, gast.Name):
            return isinstance(self.kinds.get(node.id), Number)
        if isinstance(node, gast.UnaryOp):
            return self.number(node.operand)
        if isinstance(node, gast.BinOp):
            return self.number(node.left) and self.number(node.right)
        if isinstance(node, gast.IfExp):
            return self.number(node.body) and self.number(node.orelse)
        if isinstance(node, gast.Compare):
            return all(self.number(p) for p in (node.left, *node.comparators))
        if isinstance(node, gast.Call):
            return self._yields(node)
        return element_of(node, self.unit) is not None

    def _yields(self, node: gast.Call) -> bool:
        if (stack := popped(node)) is not None:
            return stack in self.stacks
        target = self.unit.resolve(node.func)
        if target in (builtins.min, builtins.max, builtins.abs, builtins.len, builtins.float, builtins.int):
            return target in (builtins.len, builtins.float, builtins.int) or all(map(self.number, node.args))
        if libraries.is_of_math(target):
            return True
        plain = isinstance(target, np.ufunc) and target.nout == 1 and not node.keywords
        return plain and all(map(self.number, node.args))

    def array(self, node: gast.AST) -> bool:
        """Whether an expression is surely an array of full precision: a number of Python's may stand beside it."""
        kind = kind_of(node, self.kinds)
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            owner = self.kinds.get(node.value.id)
            return isinstance(owner, Array) and owner.dtype == "float64"
        if isinstance(node, gast.BinOp):
            sides = (node.left, node.right)
            return any(map(self.array, sides)) and all(self.array(s) or self.number(s) for s in sides)
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub) and self.array(node.operand)
        return isinstance(kind, Array) and kind.dtype == "float64"

    def float(self, *sides: gast.AST) -> bool:
        kinds = [self.kinds.get(s.id) for s in sides if isinstance(s, gast.Name)]
        typed = any(isinstance(k, Number) and k.type in (float, np.float64) for k in kinds)
        return typed or any(isinstance(s, gast.Constant) and type(s.value) is float for s in sides)

    def whole_power(self, node: gast.AST) -> bool:
        if not isinstance(node, gast.Constant) or type(node.value) not in (int, float):
            return False
        return node.value >= 0 and node.value == int(node.value)
