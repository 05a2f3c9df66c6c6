"""Tuples that are only taken apart are no tuples: each of their items is a variable.

    t1 = m_bar, P_bar            t1_0 = m_bar; t1_1 = P_bar
    m_bar2 = t1[0]         ->    m_bar2 = t1_0
    P_bar2 = t1[1]               P_bar2 = t1_1

Each binding of the name is a display of the same length, each read a constant index or a target of that many names.  The
user's own names stay.  Copy propagation does the rest.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(v, w):
...     def swapped(a, b):
...         return b * 2.0, a
...     for _ in range(3):
...         v, w = swapped(v, w)
...     return np.sum(v * w * w)
... ''', "taken_apart", np.ones(3), np.ones(3), argnums=(0, 1)))
-         result_ = t1, v
+         t5 = t1
+         t6 = v
-         v, w = result_
+         v = t5
+         w = t6
-         result_2 = t1_2, v2
-         result__bar = v_bar, w_bar
-         v_bar = result__bar[1]
+         t7 = t1_2
+         t8 = v2
+         t9 = v_bar
+         t10 = w_bar
+         v_bar = t10
-         w_bar = result__bar[0] * 2.0
+         w_bar = t9 * 2.0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import Transformer, assign, at, name, nodes_of, rewritten
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Replace such tuples by variables for their items."""
    lengths = _lengths(unit, tree)
    if lengths:
        bound: dict[str, list[list[gast.AST]]] = {}
        for statement in effects.walk(tree.body):
            if (t := bound_name(statement)) in lengths:
                bound.setdefault(t, []).append(statement.value.elts)
        items = {t: [_item(unit, t, [*values]) for values in zip(*bound[t], strict=True)] for t in lengths}
        tree.body = rewritten(tree.body, lambda statement: _apart(unit, statement, items))
    return tree


def _lengths(unit: Unit, tree: gast.FunctionDef) -> dict[str, int]:
    """The names of the tuples that are only taken apart, with the number of their items."""
    statements = [*effects.walk(tree.body)]
    lengths = _displays(unit, statements)
    for parameter in parameters(tree):
        lengths.pop(parameter.id, None)
    if not lengths:
        return lengths
    held = Counter(n.id for n in nodes_of(tree, (gast.Name,)) if n.id in lengths)
    known = Counter(t for statement in statements for t in _known(statement, lengths))
    return {t: length for t, length in lengths.items() if known[t] == held[t]}


def _displays(unit: Unit, statements: list[gast.AST]) -> dict[str, int]:
    """Our own names that are bound to tuples of names and constants, all of one length."""
    found: dict[str, int] = {}
    out = {*unit.mirror.names, *unit.mirror.shadows}
    for statement in statements:
        t = bound_name(statement)
        if t is not None and unit.is_ours(t) and isinstance(statement.value, gast.Tuple):
            items = statement.value.elts
            plain = items and all(isinstance(e, (gast.Name, gast.Constant)) for e in items)
            if not plain or found.setdefault(t, len(items)) != len(items):
                out.add(t)
    return {t: length for t, length in found.items() if t not in out}


def _known(statement: gast.AST, lengths: dict[str, int]) -> Iterator[str]:
    """The tuples that a statement binds, takes apart, or reads an item of, once for each time."""
    bound = bound_name(statement)
    if bound in lengths and isinstance(statement.value, gast.Tuple):
        yield bound
    taken = _taken(statement)
    if taken is not None and lengths.get(taken[0]) == taken[1]:
        yield taken[0]
    for part in nodes_of(effects.header(statement), (gast.Subscript,)):
        if isinstance(part.ctx, gast.Load) and _place(part, lengths) is not None:
            yield part.value.id


def _taken(statement: gast.AST) -> tuple[str, int] | None:
    """The tuple that `a, b = t` takes apart, and the number of its targets."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.Name):
        return None
    target: Any = statement.targets[0]
    if not isinstance(target, gast.Tuple) or any(not isinstance(e, gast.Name) for e in target.elts):
        return None
    return statement.value.id, len(target.elts)


def _place(part: Any, lengths: dict[str, int]) -> int | None:
    """The place of the item that `t[k]` is; None where it is none."""
    length = lengths.get(getattr(part.value, "id", ""))
    k = part.slice.value if isinstance(part.slice, gast.Constant) else None
    return k % length if length is not None and type(k) is int and -length <= k < length else None


def _item(unit: Unit, t: str, bound: list[gast.AST]) -> str:
    """A new variable for an item of a tuple, which is bound to one of these."""
    item = unit.temp()
    kinds = [unit.kinds.get(getattr(value, "id", ""), UNKNOWN) for value in bound]
    unit.kinds[item] = kinds[0] if len(kinds) == 1 else UNKNOWN
    if t in unit.derivative.bars:
        unit.derivative.bars.add(item)
        unit.derivative.parts.add(item)
    return item


def _apart(unit: Unit, statement: gast.AST, items: dict[str, list[str]]) -> list[gast.AST]:
    """A statement with variables for the items of tuples."""
    bound = bound_name(statement) if isinstance(statement, gast.Assign) else None
    if bound in items:
        made = [assign(item, e) for item, e in zip(items[bound], statement.value.elts, strict=True)]
        return at(statement, *made)
    taken = _taken(statement)
    if taken is not None and taken[0] in items:
        parts = zip(statement.targets[0].elts, items[taken[0]], strict=True)
        return at(statement, *(assign(target.id, name(item)) for target, item in parts))
    held = effects.header(statement)
    if not items.keys().isdisjoint(n.id for n in nodes_of(held, (gast.Name,))):
        _Items(items).within(statement)
        unit.rewritten(statement)
    return [statement]


class _Items(Transformer):
    """Reads the variables for items."""

    def __init__(self, items: dict[str, list[str]]) -> None:
        self.items = items
        self.lengths = {t: len(names) for t, names in items.items()}

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        k = _place(node, self.lengths)
        return self.generic_visit(node) if k is None else name(self.items[node.value.id][k])
