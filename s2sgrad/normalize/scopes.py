"""Comprehensions, lambdas and nested functions have scopes of their own: their variables get names of their own.

    k = 2.0; s = [k * x for k in range(3)]; return s[0] + k      ->      [k_ * x for k_ in range(3)]

After this pass a name stands for one variable, whatever scope it is in, or for what it stands for outside.

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(x, y):
...     def g(x):
...         nonlocal y
...         y = x * y
...         return lambda y: x * y
...     s = [y * x for x in range(3)]
...     return g(x)(s[0])
... ''', "scopes"))
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

from s2sgrad.normalize.check import yields
from s2sgrad.quote import nodes
from s2sgrad.unit import Unit, parameters

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which no name stands for two variables; a renamed parameter keeps its name in `keyword`."""
    unit.displays = _displays(tree)
    found = [n for n in nodes(tree) if isinstance(n, (*_COMPREHENSIONS, *_FUNCTIONS)) and n is not tree]
    if not found:
        return tree
    for comprehension in (n for n in found if isinstance(n, gast.SetComp)):
        unit.refuse(comprehension, "a set comprehension cannot be differentiated: a set has no order; use a list")
    everywhere = Counter(_names(tree))
    for scope in found:
        for parameter in parameters(scope) if isinstance(scope, _FUNCTIONS) else ():
            parameter.keyword = parameter.id
            parameter.annotation = None
    for scope in reversed(found):  # the innermost first
        own = _own(scope)
        here = Counter(n for part in _inside(scope) for n in _names(part))
        renamed = {n: unit.names.fresh(n) for n in sorted(own) if everywhere[n] > here[n]}
        unit.words |= {new: ("{}", old) for old, new in renamed.items()}
        for old, new in renamed.items():
            everywhere[old] -= here[old]
            everywhere[new] += here[old]
        for part in _inside(scope):
            rename(part, renamed)
        unit.locals |= (own - set(renamed)) | set(renamed.values())
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


def rename(part: gast.AST, renamed: dict[str, str]) -> None:
    """Change names, those of nested functions and in `nonlocal` included."""
    for node in nodes(part):
        if isinstance(node, gast.Name):
            node.id = renamed.get(node.id, node.id)
        elif isinstance(node, gast.FunctionDef):
            node.name = renamed.get(node.name, node.name)
        elif isinstance(node, gast.Nonlocal):
            node.names = [renamed.get(n, n) for n in node.names]


def _names(root: gast.AST) -> Iterator[str]:
    for node in nodes(root):
        if isinstance(node, gast.Name):
            yield node.id
        elif isinstance(node, gast.FunctionDef):
            yield node.name
        elif isinstance(node, gast.Nonlocal):
            yield from node.names


def bound(body: list[gast.AST]) -> set[str]:
    """The names that the statements of a scope bind, those of scopes within left out."""
    out: set[str] = set()
    foreign: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name):
            out |= set() if isinstance(node.ctx, gast.Load) else {node.id}
            continue
        if isinstance(node, (gast.Nonlocal, gast.Global)):
            foreign |= set(node.names)
            continue
        if isinstance(node, gast.FunctionDef):
            out.add(node.name)
            waiting += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
            continue
        if isinstance(node, gast.Lambda):
            waiting += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
            continue
        if isinstance(node, _COMPREHENSIONS):
            waiting += [n for n in nodes(node) if isinstance(n, gast.NamedExpr)] + [node.generators[0].iter]
            continue
        for value in node.__dict__.values():
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, gast.AST)]
            elif isinstance(value, gast.AST) and not isinstance(value, gast.expr_context):
                waiting.append(value)
    return out - foreign


def _own(scope: gast.AST) -> set[str]:
    """The variables of a scope."""
    if isinstance(scope, gast.FunctionDef):
        return bound(scope.body) | {p.id for p in parameters(scope)}
    if isinstance(scope, gast.Lambda):
        return bound([scope.body]) | {p.id for p in parameters(scope)}
    return {n.id for g in scope.generators for n in nodes(g.target) if isinstance(n, gast.Name)}


def _inside(scope: gast.AST) -> list[gast.AST]:
    """The parts of a scope that see its variables: not defaults and decorators, and not what a first `for` runs over."""
    if isinstance(scope, _FUNCTIONS):
        return [*parameters(scope), *(scope.body if isinstance(scope, gast.FunctionDef) else [scope.body])]
    first, *others = scope.generators
    results = [scope.key, scope.value] if isinstance(scope, gast.DictComp) else [scope.elt]
    return [*results, first.target, *first.ifs, *others]
