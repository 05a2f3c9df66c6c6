"""Variables of comprehensions have a scope of their own: they get names of their own.

    k = 2.0; s = [k * x for k in range(3)]; return s[0] + k      ->      [k_ * x for k_ in range(3)]

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(x):
...     k = 2.0
...     s = [k * x for k in range(3)]
...     return s[0] + k
... ''', "scopes"))
def f(x):
    k = 2.0
    s = [k_ * x for k_ in range(3)]
    return s[0] + k
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.quote import nodes
from s2sgrad.unit import Unit

COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which no name stands for a variable of a comprehension and for something else."""
    found = [n for n in nodes(tree) if isinstance(n, COMPREHENSIONS)]
    if not found:
        return tree
    everywhere = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
    for comprehension in reversed(found):  # the innermost first
        own = {n.id for g in comprehension.generators for n in nodes(g.target) if isinstance(n, gast.Name)}
        scoped = [n for part in _inside(comprehension) for n in nodes(part) if isinstance(n, gast.Name)]
        here = Counter(n.id for n in scoped)
        renamed = {n: unit.names.fresh(n) for n in own if everywhere[n] > here[n]}
        for node in scoped:
            if node.id in renamed:
                everywhere[node.id] -= 1
                node.id = renamed[node.id]
                everywhere[node.id] += 1
        unit.locals |= set(renamed.values()) | own - set(renamed)
    bound = {n.id for n in nodes(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    unit.locals &= bound
    return tree


def _inside(comprehension: gast.AST) -> list[gast.AST]:
    """The parts of a comprehension that see its variables: all but what its first `for` runs over."""
    first, *others = comprehension.generators
    results = [comprehension.key, comprehension.value] if isinstance(comprehension, gast.DictComp) else [comprehension.elt]
    return [*results, first.target, *first.ifs, *others]
