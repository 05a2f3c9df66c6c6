"""What a library function returns is unpacked, where only items of it are read.

    t1 = np.linalg.slogdet(S)              t1 = np.linalg.slogdet(S)
    t2 = t1[1]                      ->     t3, t4 = t1
                                           t2 = t4

Each item has an adjoint of its own then, and no container of adjoints is made for the sake of one.

>>> import numpy as np
>>> from s2sgrad import grad
>>> df = grad(lambda S: np.linalg.slogdet(S)[1])
>>> df(np.diag([2.0, 4.0])).tolist(), "add_at" in df.source
([[0.5, 0.0], [0.0, 0.25]], False)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, name, nested
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Unpack such results; whether there were any."""
    results = {t: s for s in effects.walk(tree.body) if (t := _result(unit, s, inference)) is not None}
    if not results:
        return False
    taken: dict[str, list[gast.Assign]] = {}
    for statement in effects.walk(tree.body):
        place = _place(statement)
        if place is not None and place[0] in results and place[1] < _length(inference, place[0]):
            taken.setdefault(place[0], []).append(statement)
    reads, writes = read_counts(tree.body), write_counts(tree.body)
    found = {t: s for t, s in results.items() if writes[t] == 1 and reads[t] == len(taken.get(t, ())) > 0}
    items = {t: [unit.temp() for _ in range(_length(inference, t))] for t in found}
    for t, statements in taken.items():
        for statement in statements if t in found else ():
            statement.value = name(items[t][statement.value.slice.value])
    for body in nested(tree.body):
        body[:] = [made for s in body for made in (s, *_unpacked(s, items))]
    return bool(found)


def _result(unit: Unit, statement: gast.AST, inference: Inference) -> str | None:
    """The temporary that a statement binds to the tuple that a library function with a derivative returns."""
    bound = bound_name(statement)
    call: Any = statement.value if bound in unit.temps else None
    target = unit.resolve(call.func) if isinstance(call, gast.Call) else MISSING
    if bound is None or target is MISSING or catalogue.of(target).rule is None:
        return None
    return bound if _length(inference, bound) else None


def _length(inference: Inference, t: str) -> int:
    """The number of items of a tuple; 0 where it is not known, or not a tuple."""
    kind = inference.env.get(t)
    return len(kind.items or ()) if isinstance(kind, Container) and kind.type is tuple else 0


def _place(statement: gast.AST) -> tuple[str, int] | None:
    """The name and the place of the item that a statement reads, `x = t[1]`."""
    value: Any = statement.value if bound_name(statement) is not None else None
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return None
    k = value.slice.value if isinstance(value.slice, gast.Constant) else None
    return (value.value.id, k) if type(k) is int and k >= 0 else None


def _unpacked(statement: gast.AST, items: dict[str, list[str]]) -> list[gast.AST]:
    """The statement that unpacks what one binds."""
    t = bound_name(statement)
    if t not in items:
        return []
    targets = gast.Tuple([name(item, store=True) for item in items[t]], gast.Store())
    return at(statement, assign(targets, name(t)))
