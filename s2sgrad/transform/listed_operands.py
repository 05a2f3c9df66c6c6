"""Operands that are lists of numbers where a library takes arrays: a formula that computes with one gets an array of it.

    y = linalg.polar([[a, b], [c, d]])      ->      y_bar is pulled back by a formula of `np.array([[a, b], [c, d]])`

A formula that only hands the operand to functions of NumPy and SciPy reads the list as it is: these take it for an array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import source
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container, Kind, Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import clone, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.rules import table


def as_arrays(unit: Unit, inference: Inference, operation: Operation, pullback: Callable[..., Any]) -> list[gast.AST]:
    """The operands as a pullback gets them, or the tangent of a rule."""
    rule = operation.rule
    computed = [k for k in range(len(operation.operands)) if stands_for_array(inference, operation, k)]
    if rule is None or not computed or table.takes_lists(rule):
        return operation.operands
    read = _computes_with(pullback)
    names = rule.differentiable
    return [
        call(unit, "array", np.array, clone(o)) if k in computed and names[k] in read else o
        for k, o in enumerate(operation.operands)
    ]


@functools.lru_cache(maxsize=1024)
def _computes_with(pullback: Callable[..., Any]) -> frozenset[str]:
    """The parameters of a formula that it reads elsewhere than in the arguments of a library's functions."""
    tree = source.read(pullback).fresh_tree()
    handed = set()
    for node in nodes(*tree.body):
        if isinstance(node, gast.Call) and libraries.package_of(_found(pullback, node.func)) in libraries.ARRAYS:
            handed |= {id(a) for a in [*node.args, *(k.value for k in node.keywords)]}
    return frozenset(n.id for n in nodes(*tree.body) if isinstance(n, gast.Name) and id(n) not in handed)


def _found(pullback: Any, node: gast.AST) -> Any:
    """The object that an expression names, where a formula stands; None where it names none."""
    if isinstance(node, gast.Attribute):
        return getattr(_found(pullback, node.value), node.attr, None)
    found = source.look_up(pullback, node.id) if isinstance(node, gast.Name) else None
    return None if found is None else found.value


def stands_for_array(inference: Inference, operation: Operation, k: int) -> bool:
    """Whether an operand is a list of numbers, or of rows of them, that a library's function takes for one array."""
    if not _takes_arrays(operation, k):
        return False
    kind = inference.kind(operation.operands[k])
    if is_of_numbers(kind):
        return True
    if not isinstance(kind, Container) or kind.type not in (list, tuple) or is_pair(operation, k, kind):
        return False
    rows = kind.items or ()
    lengths = {len(row.items or ()) for row in rows if isinstance(row, Container)}
    return all(map(is_of_numbers, rows)) and len(lengths) == 1


def is_pair(operation: Operation, k: int, kind: Container) -> bool:
    """Whether an operand is a tuple of what a library's function takes for arrays, and not for the rows of one."""
    return kind.type is tuple and operation.rule is not None and table.is_paired(operation.rule, k)


def _takes_arrays(operation: Operation, k: int) -> bool:
    """Whether a library's function takes lists for arrays at this place."""
    rule = operation.rule
    if rule is None or rule.given is not None or rule.variadic or table.is_structured(rule, k):
        return False
    owner = getattr(operation.target, "__self__", None)  # of `np.maximum.outer`
    of_arrays = isinstance(owner, np.ufunc) or libraries.package_of(operation.target) in libraries.ARRAYS
    return of_arrays and not catalogue.of(operation.target).several


def is_of_numbers(kind: Kind | None) -> bool:
    """Whether this is a list or tuple of numbers."""
    if not isinstance(kind, Container) or kind.type not in (list, tuple):
        return False
    return all(isinstance(item, Number) for item in kind.items or (kind.item,))
