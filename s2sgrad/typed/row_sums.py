"""`np.add.at` of a row adds at places of the whole array.

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
<BLANKLINE>
    out = np.zeros((2, 3))
    np.add.at(out, (1, i), v)
    # reverse sweep
    # return np.sum(out * out)
    out_bar = 2.0 * seed * out
    # np.add.at(out[1], i, v)
    v_bar = fit(out_bar[1, i], v)
    return v_bar.copy()
<BLANKLINE>
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
    """Write what is added to rows as added to the array; whether there was any."""
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
    copy, statement, after = body[k - 1 : k + 2]
    t = bound_name(statement)
    if t not in unit.temps or unit.called(statement.value) is not runtime.add_at or bound_name(copy) != t:
        return False
    view = _copied(unit, copy)
    return view in unit.temps and reads[t] == 2 and reads[view] <= 2 and _is_store_of(after, view, t)


def _copied(unit: Unit, statement: gast.AST) -> str:
    """The name of the array that `np.copy` copies; an empty text where a statement does anything else."""
    call: Any = statement.value
    return getattr(call.args[0], "id", "") if unit.called(call) is np.copy and len(call.args) == 1 else ""


def _is_store_of(statement: gast.AST, view: str, t: str) -> bool:
    """Whether a statement is `view[...] = t`."""
    stored = effects.stored(statement) if isinstance(statement, gast.Assign) else None
    if stored is None or not effects.is_whole(stored.slice) or getattr(statement.value, "id", "") != t:
        return False
    return getattr(stored.value, "id", None) == view


def _section(body: Block, place: int, inference: Inference) -> tuple[int, str, gast.AST] | None:
    """Where the view is bound, the array of which it is a row, and the places in that; None for other views."""
    view = body[place - 1].value.args[0].id
    first = next((k for k in range(place - 1) if bound_name(body[k]) == view), None)
    value: Any = body[first].value if first is not None else None
    if first is None or not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return None
    x, within = value.value.id, body[place].value.args[1]
    bound = {n for s in effects.walk(body[first:place]) for n in binds(s)}
    if x in bound or not bound.isdisjoint(effects.reads(value.slice)) or not _is_places(inference.kind(within)):
        return None
    kind = inference.kind(value.value)
    if not isinstance(kind, Array) or (kind.rank or 0) < 2 or not _is_number(inference, value.slice):
        return None
    return first, x, gast.Tuple([clone(value.slice), clone(within)], gast.Load())


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
