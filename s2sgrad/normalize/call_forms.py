"""Brings calls to the form that has a rule.

    np.einsum(a, [0, 1], b, [1, 2])      ->      np.einsum("ab,bc", a, b)
    max(*xs, y)                          ->      largest([*xs, y])
    max(a, b, c)                         ->      max(max(a, b), c)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(a, b):
...     return np.einsum(a, [0, 1], b, [1, ...], [0, ...])
... ''', "flatten"))
def f(a, b):
    result = np.einsum('ab,b...->a...', a, b)
    return result
"""

from __future__ import annotations

import string
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.ir.quote import at, constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.standard import OF_SEQUENCE


def rewrite(unit: Unit, node: gast.Call) -> None:
    """Bring a call to the form that has a rule, in place."""
    target = unit.resolve(node.func)
    if target is np.einsum and len(node.args) > 1:
        _spell(unit, node)
    elif any(isinstance(a, gast.Starred) for a in node.args) and effects.is_one_of(target, OF_SEQUENCE):
        whole = OF_SEQUENCE[target]  # the number of items is unknown
        alone = len(node.args) == 1
        node.args = [node.args[0].value] if alone else at(node, gast.List(node.args, gast.Load()))
        node.func = at(node, name(unit.helper(whole.__name__, whole)))[0]
    elif len(node.args) > 2 and (target is max or target is min):  # one operation of two operands each
        node.args = [at(node, gast.Call(node.func, node.args[:-1], []))[0], node.args[-1]]


def _spell(unit: Unit, node: gast.Call) -> None:
    """Write the subscripts of `np.einsum` as a string, if its lists of axis numbers are literals."""
    count = len(node.args) // 2
    given = [_labels(unit, argument) for argument in [*node.args[1 : 2 * count : 2], *node.args[2 * count :]]]
    lists = [labels for labels in given if labels is not None]
    if len(lists) < len(given):
        return
    numbers = sorted({label for labels in lists for label in labels if label is not Ellipsis})
    letters = dict(zip(numbers, string.ascii_uppercase + string.ascii_lowercase if len(numbers) > 26 else
                       string.ascii_lowercase, strict=False)) | {Ellipsis: "..."}  # fmt: skip
    terms = ["".join(letters[label] for label in labels) for labels in lists]
    text = ",".join(terms[:count]) + "".join(f"->{term}" for term in terms[count:])
    node.args = [at(node, constant(text))[0], *node.args[: 2 * count : 2]]


def _labels(unit: Unit, node: gast.AST) -> list[Any] | None:
    """The axis numbers of a literal list; None for other expressions."""
    if not isinstance(node, (gast.List, gast.Tuple)):
        return None
    values = [e.value if isinstance(e, gast.Constant) else unit.resolve(e) for e in node.elts]
    return values if all(v is Ellipsis or type(v) is int for v in values) else None
