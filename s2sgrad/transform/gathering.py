"""The adjoint of a container whose items have adjoints of their own (`parts`): a display of these.

W_bar = ..; b_bar = ..      ->      p_bar = {"W": W_bar, "b": b_bar}
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Container, Instance, Kind, Known, Number, Text
from s2sgrad.analysis.number_types import is_short
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import clone, constant, name
from s2sgrad.ir.reach import call
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.cotangents import Bar, Cotangent
from s2sgrad.transform.parts import item_of, known_keys, read


def gathered(adjoints: Adjoints, statement: gast.Assign) -> Cotangent | None:
    """The adjoint of a container whose items a statement unpacks, from those of the items; None if it is zero."""
    owner, unpacked = statement.value, notes.PARTS.of(statement)
    kind, bars = adjoints.kinds[owner.id], dict(adjoints.present)
    targets = {key: t.id for key, t in zip(unpacked.keys, statement.targets[0].elts, strict=True)}
    given = {key: g for key, t in targets.items() if t in adjoints.active and (g := adjoints.take(t)) is not None}
    if not given:
        return None
    exact = unpacked.returned and is_plain(kind)
    told = unpacked.whole and (unpacked.returned or not isinstance(kind, Container) or kind.type is not dict)
    values: dict[Any, gast.AST] = {}
    for key in known_keys(kind):
        g, item = given.get(key), item_of(kind, key)
        at_key = read(clone(owner), kind, key)
        if g is None:
            values[key] = _zero(adjoints, at_key, item) if told else constant(None)
        else:
            full = g if g.full else adjoints.settling.spread(g, targets[key])
            fits = not exact or is_gradient(adjoints, targets[key], bars.get(targets[key]), item)
            values[key] = full.value if fits else call(adjoints.unit, "like", runtime.like, at_key, full.value)
    idle = max(g.idle for g in given.values())
    value = _display_of(kind, values, told)
    if unpacked.whole and not told and len(value.keys) < len(values):
        value = call(adjoints.unit, "add", runtime.add, adjoints.zero(owner.id), value)
    return Cotangent(value, kind, True, None, False, own=exact, idle=idle)


def stored(adjoints: Adjoints, statement: gast.Assign, g: Cotangent) -> gast.Assign:
    """Store the gradient in an item of a list, of which a loop reads each item once."""
    item = statement.value
    kind, x = adjoints.kinds.get(statement.targets[0].id), item.value.id
    found = adjoints.inference.kind(g.value)
    exact = isinstance(found, Array) and isinstance(kind, Array) and found.dtype == kind.dtype == "float64"
    exact = g.own and (exact or isinstance(kind, Container))
    value = g.value if exact else call(adjoints.unit, "like", runtime.like, clone(item), g.value)
    return gast.Assign([gast.Subscript(name(adjoints.bar(x)), clone(item.slice), gast.Store())], value, None)


def is_plain(kind: Kind) -> bool:
    """Whether the gradient in a container is a display: no named tuple, and no dataclass."""
    if isinstance(kind, Instance):
        return not hasattr(kind.cls, "__dataclass_fields__")
    return isinstance(kind, Container) and (kind.type is dict or kind.keys is None)


def is_gradient(adjoints: Adjoints, variable: str, bar: Bar | None, kind: Kind) -> bool:
    """Whether the adjoint of a variable of this kind is its gradient as it is: of its type, in memory of its own."""
    if isinstance(kind, Number):
        short = any(map(is_short, adjoints.kinds.values()))
        return kind.type is float and adjoints.bar(variable) not in adjoints.held.sizeless and not short
    return bar is not None and bar.own and bar.exact and isinstance(kind, (Array, Container, Instance))


def _zero(adjoints: Adjoints, value: gast.AST, kind: Kind) -> gast.AST:
    """The gradient in an item that is not read."""
    if isinstance(kind, (Text, Known)):
        return constant(None)
    if isinstance(kind, Number) and kind.type in (float, int, bool):
        return constant(0.0)
    if isinstance(kind, Array) and kind.dtype == "float64":
        return call(adjoints.unit, "zeros_like", np.zeros_like, value)
    if isinstance(kind, (Array, Number)):
        return call(adjoints.unit, "zeros", runtime.zeros, value)
    return call(adjoints.unit, "like", runtime.like, value, constant(None))  # which may be a dataclass


def _display_of(kind: Kind, values: dict[Any, gast.AST], whole: bool) -> gast.AST:
    """A container of these values; of one that is not `whole`, what is 0 is left out."""
    if isinstance(kind, Container) and kind.type is not dict:
        return (gast.Tuple if kind.type is tuple else gast.List)([*values.values()], gast.Load())
    kept = {k: v for k, v in values.items() if whole or not is_none(v)}
    return gast.Dict([*map(constant, kept)], [*kept.values()])
