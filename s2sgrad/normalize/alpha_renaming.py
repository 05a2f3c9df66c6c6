"""Comprehensions, lambdas and nested functions have scopes of their own: their variables get names of their own.

    k = 2.0; s = [k * x for k in range(3)]; return s[0] + k      ->      [k_ * x for k_ in range(3)]

After this pass a name stands for one variable, whatever scope it is in, or for what it stands for outside.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, y):
...     def g(x):
...         nonlocal y
...         y = x * y
...         return lambda y: x * y
...     s = [y * x for x in range(3)]
...     return g(x)(s[0])
... ''', "alpha_renaming"))
def f(x, y):
    def g(x_):
        nonlocal y
        y = x_ * y
        return lambda y_: x_ * y_
    s = [y * x_2 for x_2 in range(3)]
    return g(x)(s[0])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad.ir.quote import nodes
from s2sgrad.ir.scoping import COMPREHENSIONS, FUNCTIONS, apart, own
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.normalize.check import yields


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which no name stands for two variables; a renamed parameter keeps its name in `keyword`."""
    unit.displays = _displays(tree)
    found = [n for n in nodes(tree) if isinstance(n, (*COMPREHENSIONS, *FUNCTIONS)) and n is not tree]
    if not found:
        return tree
    for comprehension in (n for n in found if isinstance(n, gast.SetComp)):
        unit.refuse(comprehension, "a set comprehension cannot be differentiated: a set has no order; use a list")
    unit.words |= {new: ("{}", old) for new, old in apart(tree, unit.names.fresh).items()}
    for scope in found:
        for parameter in parameters(scope) if isinstance(scope, FUNCTIONS) else ():
            parameter.annotation = None
        unit.locals |= own(scope)
    bound = {n.id for n in nodes(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    unit.locals &= bound | {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef)}
    unit.locals |= {n.name for n in found if isinstance(n, gast.FunctionDef)}
    unit.generators = {n.name for n in found if isinstance(n, gast.FunctionDef) and yields(n)}
    return tree


def _displays(tree: gast.FunctionDef) -> dict[str, gast.AST]:
    """The displays that have one name, are bound once, and are only read item by item, looped over or starred."""
    bound = Counter(n for n in _stored(tree))
    out: dict[str, gast.AST] = {}
    for node in nodes(tree):
        if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name) and len(node.targets) == 1:
            if _is_display(node.value) and bound[node.targets[0].id] == 1:
                out[node.targets[0].id] = node.value
    if not out:
        return out
    reads: Counter[str] = Counter()
    for node in nodes(tree):
        owners = []
        read = isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load)
        if read or isinstance(node, (gast.Starred, gast.keyword)):
            owners = [node.value]
        elif isinstance(node, (gast.For, gast.comprehension)):
            owners = [node.iter]
        for owner in owners:
            if isinstance(owner, gast.Name):
                reads[owner.id] += 1
    mentions = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
    return {n: value for n, value in out.items() if isinstance(value, gast.Tuple) or mentions[n] == reads[n] + 1}


def _is_display(value: gast.AST) -> bool:
    if isinstance(value, (gast.Tuple, gast.List)):
        return not any(isinstance(e, gast.Starred) for e in value.elts)
    return isinstance(value, gast.Dict) and None not in value.keys


def _stored(tree: gast.FunctionDef) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            yield node.id
        elif isinstance(node, gast.FunctionDef):
            yield node.name
