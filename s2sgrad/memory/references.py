"""Which objects something else may refer to besides their names: an item of a list, another name, a record.

    xs.append(u); p = (v, w); z = y      ->      u, v, w, y

And which lists and dicts nothing else refers to, so that an item that is stored there is seen through one name.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.ir.forms import appended_to, bound_name
from s2sgrad.ir.quote import nodes_of
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.writes import replaces_item

_MENTIONING = frozenset({gast.Name, gast.Subscript, gast.Call})
_ASKING = (len, runtime.held, runtime.put_back)  # of their first argument for an item, or how many there are


def referred(unit: Unit, statements: list[gast.AST]) -> set[str]:
    """The variables (by the user's names) whose objects something else may refer to: an item of a list, another name.

    A record refers to what it holds as well, which matters where there are several: in what we wrote ourselves.
    """
    out: set[str] = set()
    for statement in statements:
        value = getattr(statement, "value", None)
        if (owner := appended_to(value)) is not None:
            record = isinstance(owner, gast.Name) and owner.id in unit.own_names
            if unit.primal.is_generated or not record:
                out |= {a.id for a in value.args if isinstance(a, gast.Name)}
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            out |= effects.reads(value)
        elif isinstance(value, gast.Name) and isinstance(statement, gast.Assign):
            out.add(value.id)
    return {unit.bases.get(n, n) for n in out}


def alone(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The lists and dicts that nothing else refers to: they are made here, asked for items, and given some."""
    mentions: Counter[str] = Counter()
    for statement in effects.walk(tree.body):
        x = bound_name(statement)
        new = x is not None and isinstance(statement.value, (gast.Dict, gast.List))
        if new or (x is not None and effects.accumulates(unit, statement) == x):
            mentions[x] -= 1
    for node in nodes_of(tree, _MENTIONING) if mentions else ():
        part = node if isinstance(node, gast.Name) else node.value if isinstance(node, gast.Subscript) else _first(node)
        if isinstance(part, gast.Name) and part.id in mentions:
            if part is node:
                mentions[part.id] += 1
            elif isinstance(node, gast.Subscript) or any(unit.called(node) is asking for asking in _ASKING):
                mentions[part.id] -= 1
    return {x for x, others in mentions.items() if not others}


def _first(call: gast.Call) -> gast.AST | None:
    return call.args[0] if call.args else None


def seeing(unit: Unit, owner: str, statement: gast.AST, lonely: set[str]) -> frozenset[str]:
    """The names through which it is seen that a statement writes in place; `lonely`: what is `alone`."""
    shared = unit.memory.at_once_with(owner)
    if not replaces_item(unit, statement, unit.kinds):
        return shared
    return frozenset((owner,)) if owner in lonely else unit.memory.holding(shared)
