"""Coalesces a temporary that is only copied into a variable with that variable.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, y):
...     x, z = x * y, np.zeros(3)
...     return x + z
... ''', "temporary_copies"))
def f(x, y):
    x2 = x * y
    z = np.zeros(3)
    result = x2 + z
    return result
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nested, nodes
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without copies of temporaries that nothing else reads."""
    mentions = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
    bound = binding_counts(tree.body)
    for body in nested(tree.body):
        _block(unit, body, mentions, bound)
    return tree


def _block(unit: Unit, body: Block, mentions: Counter[str], bound: Counter[str]) -> None:
    assigned_at: dict[str, int] = {}
    for k, statement in enumerate(list(body)):
        if bound_name(statement) is None:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(value, gast.Name) and value.id in assigned_at and mentions[value.id] == 2:
            between = body[assigned_at[value.id] + 1 : k]
            touched = {n.id for s in between if s is not None for n in nodes(s) if isinstance(n, gast.Name)}
            if target.id not in touched and target.id not in unit.temps:
                body[assigned_at[value.id]].targets = [target]
                body[k] = None
        elif target.id in unit.temps and bound[target.id] == 1:
            assigned_at[target.id] = k
    body[:] = [s for s in body if s is not None]
