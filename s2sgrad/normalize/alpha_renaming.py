"""Alpha renaming: variables of comprehensions, lambdas and nested functions get names that are unique in the function.

    k = 2.0; s = [k * x for k in range(3)]; return s[0] + k      ->      [k_ * x for k_ in range(3)]

After this pass a name stands for one variable, whatever its scope, or for one object from outside.

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

from collections.abc import Collection

import gast

from s2sgrad.ir.quote import nodes
from s2sgrad.ir.scoping import COMPREHENSIONS, FUNCTIONS, renamed_apart, variables
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.name_uses import NameUses, spread_in


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which every variable has a name of its own; `keyword` keeps the former name of a renamed parameter."""
    unit.syntax.displays = _displays(tree)
    scopes = [n for n in nodes(tree) if isinstance(n, (*COMPREHENSIONS, *FUNCTIONS)) and n is not tree]
    if not scopes:
        return tree
    unit.words |= {new: ("{}", old) for new, old in renamed_apart(tree, unit.names.fresh).items()}
    for scope in scopes:
        for parameter in parameters(scope) if isinstance(scope, FUNCTIONS) else ():
            parameter.annotation = None
        unit.locals |= variables(scope)
    functions = [n for n in scopes if isinstance(n, gast.FunctionDef)]
    unit.locals &= NameUses(tree).bound.keys() | {tree.name}
    unit.locals |= {n.name for n in functions}
    unit.definitions.generators = {n.name for n in functions if yields(n)}
    return tree


def _displays(tree: gast.FunctionDef) -> dict[str, gast.AST]:
    """Tuple, list and dict displays with one name, bound once, and only read by item, iterated over or starred."""
    uses = NameUses(tree)
    shown = {n: values[0] for n, values in uses.assigned.items() if uses.bound[n] == 1 and _is_display(values[0])}
    items: set[int] = set()  # nodes that are only read by item
    for node in nodes(tree) if shown else ():
        read = isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load)
        if read or isinstance(node, (gast.Starred, gast.keyword)):
            items.add(id(node.value))
        elif isinstance(node, (gast.For, gast.comprehension)):
            items.add(id(node.iter))
        elif isinstance(node, gast.Dict):
            items.update(map(id, spread_in(node)))
    known = {n: v for n, v in shown.items() if isinstance(v, gast.Tuple) or uses.only_read_in(n, items)}
    while hidden := {n for n, v in known.items() if isinstance(v, gast.Dict) and not _shows_keys(v, known)}:
        known = {n: v for n, v in known.items() if n not in hidden}
    return known


def _shows_keys(value: gast.Dict, known: Collection[str]) -> bool:
    """Whether `{**a, "k": v}` takes items of known dicts only."""
    return all(getattr(part, "id", None) in known for part in spread_in(value))


def _is_display(value: gast.AST) -> bool:
    if isinstance(value, (gast.Tuple, gast.List)):
        return not any(isinstance(e, gast.Starred) for e in value.elts)
    return isinstance(value, gast.Dict)
