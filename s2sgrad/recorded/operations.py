"""A recorded call of a primitive, and its pullback by the rule that the compiler inlines.

y = np.multiply(x, w)     ->     entry (pull, prepared, (x, w), {}, y, ..); the sweep: x_bar += rule(y_bar, y, x, w)[0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.errors import Unsupported
from s2sgrad.recorded.patterns import (
    Kept,
    Prepared,
    Primitive,
    as_scalar,
    carries,
    kept_array,
    kept_number,
    kept_plain,
    known,
)
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.runs import Run
from s2sgrad.recorded.values import PLAIN, bottom, is_handle
from s2sgrad.runtime.structure import filled, leaves, rebuilt

_UNREAD = (TypeError, AttributeError, IndexError, ValueError)
"""What a pullback raises that is given a list where it takes an array."""

# --- in the sweep ------------------------------------------------------------------------------------------------------


def pull(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a recorded call: give each followed operand its cotangent."""
    arrived, mask = taken(sweep, entry[4])
    if arrived is not None:
        _spread(sweep, entry, arrived, mask)


def pull_fresh(sweep: Any, place: int, entry: tuple) -> None:
    """The same, of a call whose result is one array in memory of its own."""
    result = entry[4]
    root = result.root
    if sweep.marks is not None:
        return pull(sweep, place, entry)
    arrived = sweep.whole.pop(root, None)
    if arrived is None:
        if root not in sweep.bars:
            return None
        arrived = sweep.forms.turned(result, sweep.view(result))
        del sweep.bars[root]
    return _spread(sweep, entry, arrived, None)


def _spread(sweep: Any, entry: tuple, arrived: Any, mask: Any) -> None:
    """Give the operands of a call their parts of the cotangent of its result."""
    _, call, operands, keywords, result, where = entry
    if call.refusal is not None:
        call.refuse(where)
    rule = call.rule
    if rule.given is not None and type(arrived) is np.ndarray:
        arrived = arrived.copy()  # others may hold it, and the user's function may write it
    form = sweep.forms.value
    if sweep.nested:
        values, y = [form(o) for o in operands], form(result)
    else:
        values = [o.value if type(o) is Kept else o if type(o) in PLAIN else form(o) for o in operands]
        y = result.value if type(result) is Kept else form(result)
    named = {name: form(o) for name, o in keywords.items()} if keywords else keywords
    if call.keyword_pullbacks:
        _spread_to_keywords(sweep, entry, (arrived, y, values, named))
    if not call.wanted:
        return
    pullback = sweep.forms.formula(call.pullback) if sweep.nested else call.pullback
    try:
        parts = pullback(arrived, y, *values, **named)
    except _UNREAD as error:
        parts = _of_arrays(sweep, pullback, (arrived, y, values, named), call, where, error)
    if sweep.marks is not None:
        given = arrived, y, values, named
        parts = sweep.marks.limited(sweep, call, parts, given)
        for k in call.wanted:
            part = parts if call.single else parts[k]
            if part is not None:
                share(sweep, operands[k], part, rule.tag, sweep.marks.branch(call, k, given, mask))
        return
    for k in call.wanted:
        part = parts if call.single else parts[k]
        operand = operands[k]
        if type(operand) is Kept and part is not None:
            sweep.add(operand, part, call.elementwise)
        else:
            share(sweep, operand, part, rule.tag, None)


def _spread_to_keywords(sweep: Any, entry: tuple, given: tuple) -> None:
    """Give the keywords of a call their parts of the cotangent of its result."""
    _, call, _, keywords, _, where = entry
    arrived, y, values, named = given
    for name, pullback in call.keyword_pullbacks.items():
        pullback = sweep.forms.formula(pullback)
        try:
            part = pullback(arrived, y, *values, **named)
        except _UNREAD as error:
            part = _of_arrays(sweep, pullback, given, call, where, error)
        share(sweep, keywords[name], part, call.rule.tag, None)


def _of_arrays(sweep: Any, pullback: Any, given: tuple, call: Prepared, where: Any, error: Exception) -> Any:
    """What a pullback gives that takes arrays, and no lists of numbers or rows, which the call was given."""
    arrived, y, values, named = given
    if not any(isinstance(v, (list, tuple)) for v in (*values, *named.values())):
        raise error
    made = sweep.forms.formula(_array_of)
    values = [made(v) if _is_listed(v) else v for v in values]
    named = {name: made(v) if _is_listed(v) else v for name, v in named.items()}
    try:
        return pullback(arrived, y, *values, **named)
    except _UNREAD:
        what = f"the derivative rule of `{call.name}` cannot read this list: pass `np.array(..)` of it"
        raise Unsupported(what, None if where is None else where.place()) from error


def _array_of(v: Any) -> Any:
    return np.array(v)


def _is_listed(v: Any) -> bool:
    """Whether a value is a list with floats in it."""
    return isinstance(v, (list, tuple)) and any(isinstance(bottom(leaf), (float, np.ndarray)) for leaf in leaves(v))


def pull_number(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a call with one number: an entry (pull, prepared, place of the operand, its value, result)."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is not None:
        nodes[place] = None
        _, call, node, x, y = entry
        pullback = sweep.forms.formula(call.pullback) if sweep.nested else call.pullback
        bar = pullback(g, y, x)
        if bar is not None:
            old = nodes[node]
            nodes[node] = bar if old is None else old + bar


def pull_numbers(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a call with numbers alone: an entry (pull, prepared, places of the operands, their values, result)."""
    nodes = sweep.nodes
    g = nodes[place]
    if g is None:
        return
    nodes[place] = None
    _, call, places, values, y = entry
    pullback = sweep.forms.formula(call.pullback) if sweep.nested else call.pullback
    parts = pullback(g, y, *values)
    if call.single:
        parts = (parts,)
    for k in call.wanted:
        bar = parts[k]
        if bar is not None:
            old = nodes[places[k]]
            nodes[places[k]] = bar if old is None else old + bar


def taken(sweep: Any, result: Any) -> tuple[Any, Any]:
    """(the cotangent of a result with its structure, where it counts); None where none has arrived."""
    if type(result) is Kept:
        bar: tuple[Any, Any] = sweep.take(result)
        return bar
    parts = leaves(result)
    bars = [sweep.take(r)[0] if type(r) is Kept and r.followed else None for r in parts]
    if all(bar is None for bar in bars):
        return None, None
    whole = (
        sweep.forms.zeros(r.value if type(r) is Kept else r) if bar is None else bar
        for bar, r in zip(bars, parts, strict=True)
    )
    return filled(result, whole), None


def share(sweep: Any, operand: Any, bar: Any, tag: str, mask: Any) -> None:
    """Give the handles in an operand their parts of its cotangent."""
    if bar is None:
        return
    if type(operand) is Kept:
        if operand.followed:
            bar = bar if mask is None else sweep.marks.masked(bar, mask, operand.value)
            sweep.give(operand, sweep.forms.fitted(bar, operand.value, tag == "elementwise"), mask)
    elif isinstance(operand, (list, tuple, dict)) and carries(operand):
        if tag == "elementwise" and not isinstance(operand, dict):  # a list that NumPy made an array of
            bar = sweep.forms.fitted(bar, np.asarray(bottom_of(operand)), True)
        for key in operand if isinstance(operand, dict) else range(len(operand)):
            part = bar.get(key) if isinstance(bar, dict) else bar[key]  # a dict may lack what is a zero
            share(sweep, operand[key], part, "", mask[key] if isinstance(mask, (list, tuple, dict)) else None)


def bottom_of(operand: Any) -> Any:
    """A recorded operand with plain values."""
    if type(operand) is Kept:
        return bottom(operand.value)
    if is_handle(operand):
        return bottom(operand)
    return rebuilt(operand, bottom_of) if isinstance(operand, (list, tuple, dict)) else operand


__all__ = ["Kept", "Prepared", "Primitive", "Run", "as_scalar", "carries", "kept_array", "kept_number", "kept_plain",
           "known", "pull", "pull_number", "pull_numbers", "user_place"]  # fmt: skip
