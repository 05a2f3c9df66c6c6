"""`np.add.at` of a row or a column adds at places of the whole array.

    t1 = f[0]                                       t4 = 0, i
    t2 = np.copy(t1)                                f = add_at(f, t4, v)
    t2 = add_at(t2, i, v)                 ->
    t1[...] = t2

The row is a view of an array of known rank, the number of the row is an integer, and so are the places in it.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> f = defined('''
... def f(v, i):
...     out = np.zeros((2, 3))
...     np.add.at(out[1], i, v)
...     return np.sum(out * out)
... ''')
>>> print(grad(f).source_for(np.ones(2), np.array([0, 2])).partition("sweep")[2])
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.flow.counts import read_counts
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, clone, name, nested
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Write what is added to rows and columns as added to the array; whether there was any."""
    if not any(unit.called(getattr(s, "value", None)) is runtime.add_at for s in effects.walk(tree.body)):
        return False
    reads, found = read_counts(tree.body), False
    for body in nested(tree.body):
        while (place := next((k for k in range(2, len(body) - 1) if _adds_to_copy(unit, body, k, reads)), None)) is not None:
            section = _section(body, place, inference)
            if section is None:
                reads[body[place].targets[0].id] = 0
                continue
            first, x, index = section
            holder = unit.temp()
            made = body[place]
            call: Any = made.value
            call.args[0], call.args[1] = name(x), name(holder)
            new = at(made, assign(holder, index), assign(x, call))
            body[:] = [*body[:first], *body[first + 1 : place - 1], *new, *body[place + 2 :]]
            found = True
    return found


def _adds_to_copy(unit: Unit, body: Block, k: int, reads: dict[str, int]) -> bool:
    """Whether a statement of a block is `t2 = add_at(t2, i, v)`, between a copy of a view and the store of it there."""
    before, statement, after = body[k - 1 : k + 2]
    t = bound_name(statement)
    if t not in unit.temps or unit.called(statement.value) is not runtime.add_at or bound_name(before) != t:
        return False
    copied: Any = before.value
    view = copied.args[0] if unit.called(copied) is np.copy and len(copied.args) == 1 else None
    stored = effects.stored(after)
    back = isinstance(after, gast.Assign) and stored is not None and effects.is_whole(stored.slice)
    if not back or getattr(view, "id", "") not in unit.temps or getattr(after.value, "id", "") != t or reads[t] != 2:
        return False
    return getattr(stored.value, "id", None) == view.id and reads[view.id] <= 2


def _section(body: Block, place: int, inference: Inference) -> tuple[int, str, gast.AST] | None:
    """Where the view is bound, the array of which it is a row or a column, and the places in that; None for other views."""
    view = body[place - 1].value.args[0].id
    first = next((k for k in range(place - 1) if view in binds(body[k])), None)
    value = body[first].value if first is not None and bound_name(body[first]) == view else None
    if first is None or not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return None
    x, within = value.value.id, body[place].value.args[1]
    if {x, *effects.reads(value.slice)} & {n for s in body[first:place] for part in effects.walk([s]) for n in binds(part)}:
        return None
    kind, rank = inference.kind(value.value), 2
    if not isinstance(kind, Array) or kind.rank is None or kind.rank < rank or not _is_places(inference.kind(within)):
        return None
    if _is_number(inference, value.slice):
        return first, x, gast.Tuple([clone(value.slice), clone(within)], gast.Load())
    return None


def _is_number(inference: Inference, index: gast.AST) -> bool:
    """Whether an index is one integer."""
    kind = inference.kind(index)
    return (
        isinstance(kind, Number)
        and kind.type is not None
        and issubclass(kind.type, (int, np.integer))
        and kind.type is not bool
    )


def _is_places(kind: Kind | None) -> bool:
    """Whether an index is an array of integers."""
    return isinstance(kind, Array) and kind.dtype is not None and np.dtype(kind.dtype).kind in "iu"
