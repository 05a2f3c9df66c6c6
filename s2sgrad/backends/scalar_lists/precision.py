"""What is surely a number, or an array, of the precision of Python's own numbers.

x * np.float32(2.0)      ->      not precise: a list would hold a number of twice the digits in its place
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Instance, Kind, Number
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit

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


def is_whole_power(node: gast.AST) -> bool:
    """Whether an exponent is a whole number from zero on."""
    if not isinstance(node, gast.Constant) or type(node.value) not in (int, float):
        return False
    return bool(node.value >= 0 and node.value == int(node.value))
