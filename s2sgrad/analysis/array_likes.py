"""Lists and tuples where NumPy takes an array: an array is made of them first, as NumPy does.

    y = x * [1, 2, 3]              ->      t = np.array([1, 2, 3]); y = x * t, x an array
    y = np.maximum(xs, 0.0)        ->      t = np.array(xs); y = np.maximum(t, 0.0), xs a list
"""

from __future__ import annotations

from collections.abc import Iterator

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.quote import assign, at, name
from s2sgrad.reach import call
from s2sgrad.rules import table
from s2sgrad.unit import Unit


def convert(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Write the conversions into the tree; whether there were any."""
    found = False
    for body in _blocks(tree.body):
        for statement in list(body):
            places = list(_taken(unit, inference, statement))
            for owner, field, place in places:
                node = getattr(owner, field) if place is None else getattr(owner, field)[place]
                holder = unit.temp()
                made = at(node, assign(holder, call(unit, "array", np.array, node)))[0]
                body.insert(next(k for k, s in enumerate(body) if s is statement), made)
                held = at(node, name(holder))[0]
                if place is None:
                    setattr(owner, field, held)
                else:
                    getattr(owner, field)[place] = held
            found |= bool(places)
    return found


def _blocks(body: list[gast.AST]) -> Iterator[list[gast.AST]]:
    yield body
    for statement in effects.walk(body):
        if isinstance(statement, (gast.If, gast.For, gast.While)):
            yield statement.body
            yield statement.orelse


def _taken(unit: Unit, inference: Inference, statement: gast.AST) -> Iterator[tuple[gast.AST, str, int | None]]:
    """The operands of a statement that NumPy makes arrays of: the node, its field, and the place in it."""
    if isinstance(statement, gast.AugAssign):
        target = inference.env.get(getattr(statement.target, "id", ""))
        if isinstance(target, Array) and _is_sequence(inference.kind(statement.value)):
            yield statement, "value", None
        return
    value = statement.value if isinstance(statement, (gast.Assign, gast.Expr)) else None
    if isinstance(value, gast.BinOp):
        for field, other in (("left", "right"), ("right", "left")):
            joins = isinstance(value.op, (gast.Add, gast.Mult, gast.Mod))  # which mean something for lists and texts
            if joins and not _decides(inference.kind(getattr(value, other)), value.op):
                continue
            if _is_sequence(inference.kind(getattr(value, field))):
                yield value, field, None
    elif isinstance(value, gast.Call) and isinstance(unit.resolve(value.func), np.ufunc):
        rule = table.lookup(unit.resolve(value.func))
        for k, argument in enumerate(value.args):
            if rule is not None and rule.tag == "elementwise" and _is_sequence(inference.kind(argument)):
                yield value, "args", k


def _is_sequence(kind: Kind | None) -> bool:
    return isinstance(kind, Container) and kind.type in (list, tuple) and kind.keys is None


def _decides(kind: Kind | None, operator: gast.AST) -> bool:
    """Whether an operand's operators are NumPy's; a number of NumPy's leaves it to a list to be multiplied."""
    if isinstance(kind, Number):
        return isinstance(kind.type, type) and issubclass(kind.type, np.generic) and not isinstance(operator, gast.Mult)
    return isinstance(kind, Array)
