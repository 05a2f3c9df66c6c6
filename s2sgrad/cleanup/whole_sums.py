"""An adjoint whose terms one block computes is one sum, written where the last of them is.

    s_bar = i_bar * dt                              r_bar = e_bar * g
    r_bar = e_bar * g                     ->        s_bar = i_bar * dt - e_bar * dt
    s_bar -= e_bar * dt

The first term moves across no statement that mentions the adjoint, or changes what the term reads.  The terms are added in
the order in which they were.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(s, e, n):
...     for _ in range(n):
...         r = s * e
...         s, e = s - r, e + r
...     return e * e
... ''', "whole_sums", 2.0, 1.0, 3, argnums=(0, 1)))
-         r_bar = e_bar
-         r_bar -= s_bar
+         r_bar = e_bar - s_bar
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects, with_regions
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.cleanup import algebra
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name, number
from s2sgrad.ir.quote import COMPOUND, at, mentioned, nested, width
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import behaviour

_WIDEST = 70  # of a sum; a person would begin another line
_ZEROS = (np.zeros, np.zeros_like, runtime.zeros)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Join the terms of the adjoints in each block."""
    shared = {*unit.mirror.names, *unit.mirror.shadows}
    for body in nested(tree.body):
        held: dict[str, gast.Assign] = {}  # first terms that wait for another
        for statement in list(body):
            summed = _summed(statement)
            first = held.pop(summed, None) if summed is not None else None
            if first is not None and _fits(first, statement):
                made = _joined(first, statement)
                made.value = algebra.collected(unit, made.value)
                unit.rewritten(made)
                body[:] = [made if s is statement else s for s in body if s is not first]
                statement = made
            held = {n: s for n, s in held.items() if _passes(unit, n, s, statement)}
            if (bound := bound_name(statement)) is not None and bound not in shared and _is_term(unit, bound, statement):
                held[bound] = statement
    return tree


def _summed(statement: gast.AST) -> str | None:
    """The name of the adjoint that a statement adds a term to, which does not read it."""
    if not isinstance(statement, gast.AugAssign) or not isinstance(statement.op, (gast.Add, gast.Sub)):
        return None
    target: Any = statement.target
    added = isinstance(target, gast.Name) and target.id not in effects.reads(statement.value)
    return target.id if added else None


def _is_term(unit: Unit, bound: str, statement: gast.Assign) -> bool:
    """Whether a statement binds an adjoint, or a tangent of one, to its first term."""
    kind = unit.kinds.get(bound)
    derived = bound in unit.derivative.bars or unit.primal.is_generated
    if not derived or not (isinstance(kind, Number) or (isinstance(kind, Array) and kind.dtype == "float64" and kind.rank)):
        return False
    if isinstance(statement.value, gast.Name):  # another name for an array, whose memory is at hand, or for what it was
        if not isinstance(kind, Number) or _based(unit, {statement.value.id}) == _based(unit, {bound}):
            return False
    empty = number(statement.value) is not None or effects.is_one_of(unit.called(statement.value), _ZEROS)
    return not empty and behaviour.is_pure(unit, statement.value)


def _passes(unit: Unit, name: str, first: gast.Assign, statement: gast.AST) -> bool:
    """Whether a first term may move across a statement."""
    if isinstance(statement, (*COMPOUND, gast.Return, gast.Break, gast.Continue, gast.Raise)):
        return False
    if name in mentioned(statement) or with_regions.end(statement) is not None:
        return False
    if getattr(getattr(statement, "value", None), "id", "") == bound_name(statement):  # nothing
        return True
    return _based(unit, effects.reads(first.value)).isdisjoint(_based(unit, unit.changed(statement)))


def _based(unit: Unit, names: set[str]) -> set[str]:
    """The variables that names stand for: what takes the place of an operand would be kept apart from it."""
    return {unit.bases.get(n, n) for n in names} | names


def _fits(first: gast.Assign, second: gast.AugAssign) -> bool:
    """Whether the sum of two terms is one line."""
    return width(first.value) + width(second.value) + 3 <= _WIDEST


def _joined(first: gast.Assign, second: gast.AugAssign) -> gast.Assign:
    """The sum of a first term and another, in the place of the other."""
    made: gast.Assign = at(second, gast.Assign(first.targets, gast.BinOp(first.value, second.op, second.value), None))[0]
    if notes.UNCERTAIN.of(first):
        notes.UNCERTAIN.put(made)
    return made
