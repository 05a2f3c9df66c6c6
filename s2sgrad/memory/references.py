"""Objects that may have other references than their names: from a container, another name, or a record.

    xs.append(u); p = (v, w); z = y      ->      u, v, w, y

And the lists and dicts that have none, so that a store to an item is visible through one name only.
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
_ASKING = (len, runtime.held, runtime.put_back)  # they read an item or the length of their first argument


def referred(unit: Unit, statements: list[gast.AST]) -> set[str]:
    """The variables (by the user's names) whose objects may be referenced from a container or by another name.

    A record references what it holds as well; that counts only in generated text, where it may have further references.
    """
    out: set[str] = set()
    for statement in statements:
        value: gast.AST = getattr(statement, "value", None)
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
    """The lists and dicts without other references: they are created here and only indexed, assigned to and measured."""
    mentions: Counter[str] = Counter()
    for statement in effects.walk(tree.body):
        x = bound_name(statement)
        if x is None:
            continue
        if isinstance(statement.value, (gast.Dict, gast.List)) or effects.accumulates(unit, statement) == x:
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
    """The names through which an in-place write of a statement is visible; `lonely`: the result of `alone`."""
    shared: frozenset[str] = unit.memory.at_once_with(owner)
    if not replaces_item(unit, statement, unit.kinds):
        return shared
    return frozenset((owner,)) if owner in lonely else unit.memory.holding(shared)
