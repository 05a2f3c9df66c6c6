"""Scopes: the names that each scope in a function binds, and alpha renaming that makes inner variables unique.

    s = [len(x) for x in xs]; return lambda xs: s     ->      return lambda xs_: s

>>> import gast
>>> from s2sgrad.ir.names import Namer
>>> tree = gast.parse("def f(x): return [x for x in x] + [y for y in len(x)] + (lambda len: len)(2)").body[0]
>>> renamed_apart(tree, Namer(names(tree)).fresh)
{'x_': 'x', 'len_': 'len'}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import gast

from s2sgrad.ir import notes
from s2sgrad.ir.quote import children, nodes, nodes_of

COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_BINDING = frozenset({gast.Name, gast.FunctionDef})


def parameters(tree: gast.FunctionDef) -> list[gast.Name]:
    """All parameters of a function in the order of its signature, including `*args` and `**kwargs`."""
    a = tree.args
    extra = [*([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else [])]
    return [*a.posonlyargs, *a.args, *extra]


def renamed_apart(tree: gast.FunctionDef, fresh: Callable[[str], str]) -> dict[str, str]:
    """Rename the variables of all nested scopes so that they are unique in the function; maps the new names to the old ones.
    A renamed parameter keeps its name in `keyword`.
    """
    found = [n for n in nodes(tree) if isinstance(n, (*COMPREHENSIONS, *FUNCTIONS)) and n is not tree]
    if not found:
        return {}
    everywhere: Counter[str] = Counter(names(tree))
    out: dict[str, str] = {}
    for scope in found:
        for parameter in parameters(scope) if isinstance(scope, FUNCTIONS) else ():
            if notes.KEYWORD.of(parameter) is None:
                notes.KEYWORD.put(parameter, parameter.id)
    for scope in reversed(found):  # innermost first
        mine = variables(scope)
        here = Counter(n for part in _inside(scope) for n in names(part))
        renamed = {n: fresh(n) for n in sorted(mine) if everywhere[n] > here[n]}
        for old, new in renamed.items():
            everywhere[old] -= here[old]
            everywhere[new] += here[old]
        rename(renamed, *_inside(scope))
        out |= {new: old for old, new in renamed.items()}
    return out


def rename(renamed: dict[str, str], *parts: gast.AST) -> None:
    """Rename names in some trees, also those of nested functions and in `nonlocal`."""
    for node in nodes(*parts) if renamed else ():
        if isinstance(node, gast.Name):
            node.id = renamed.get(node.id, node.id)
        elif isinstance(node, gast.FunctionDef):
            node.name = renamed.get(node.name, node.name)
        elif isinstance(node, gast.Nonlocal):
            node.names = [renamed.get(n, n) for n in node.names]
        else:
            for field, value in _strings(node):
                setattr(node, field, renamed.get(value, value))


def _strings(node: gast.AST) -> Iterator[tuple[str, str]]:
    """The string fields of a node that bind a name."""
    if isinstance(node, (gast.MatchAs, gast.MatchStar)):
        fields = ["name"]
    elif isinstance(node, gast.MatchMapping):
        fields = ["rest"]
    elif isinstance(node, gast.alias):
        fields = ["asname"]
    else:
        return
    yield from ((f, value) for f in fields if isinstance(value := getattr(node, f), str))


def names(root: gast.AST) -> Iterator[str]:
    """All names that occur in a tree, with repetitions, those of nested functions and in `nonlocal` included."""
    for node in nodes(root):
        if isinstance(node, gast.Name):
            yield node.id
        elif isinstance(node, gast.FunctionDef):
            yield node.name
        elif isinstance(node, gast.Nonlocal):
            yield from node.names
        else:
            yield from (value for _, value in _strings(node))


def named(tree: gast.FunctionDef) -> dict[str, gast.AST]:
    """The variables that one statement of a function alone binds, to a name or an attribute, and that.

    >>> tree = gast.parse("def f(x, g): h = np.sum; g = np.dot; k = np.add; k = len; return h(x)").body[0]
    >>> [*named(tree)]
    ['h']
    """
    out = {}
    for node in own_nodes(tree.body):
        target = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, gast.Name) and isinstance(node.value, (gast.Name, gast.Attribute)):
            out[target.id] = node.value
    counts = all_bindings(tree) if out else Counter[str]()
    counts.update(n for node in (nodes(tree) if out else ()) for n in _bound_by_text(node))
    return {n: value for n, value in out.items() if counts[n] == 1}


def _bound_by_text(node: gast.AST) -> list[str]:
    """The names that a statement or a pattern binds without a node for them, or that it may bind in another scope."""
    if isinstance(node, gast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (gast.Global, gast.Nonlocal)):
        return list(node.names)
    return [node.name] if isinstance(node, gast.ClassDef) else [value for _, value in _strings(node)]


def own_nodes(body: list[gast.AST]) -> Iterator[gast.AST]:
    """The nodes of the statements of a function, except those of nested functions."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            waiting += children(node)


def bindings(body: list[gast.AST]) -> Counter[str]:
    """How often the text of a scope binds each name: that of a nested function at its definition, its `nonlocal` twice."""
    out: Counter[str] = Counter()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name):
            out[node.id] += isinstance(node.ctx, gast.Store)
            continue
        if isinstance(node, gast.FunctionDef):  # its own bindings count where it is inlined
            out[node.name] += 1
            out.update(2 * [n for part in nodes(node) if isinstance(part, gast.Nonlocal) for n in part.names])
            continue
        for value in node.__dict__.values():
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, gast.AST)]
            elif isinstance(value, gast.AST) and not isinstance(value, gast.expr_context):
                waiting.append(value)
    return out


def all_bindings(tree: gast.FunctionDef) -> Counter[str]:
    """How often a function and those nested in it bind each name, parameters and definitions included."""
    out: Counter[str] = Counter()
    for node in nodes_of(tree, _BINDING):
        if type(node) is gast.Name:
            if type(node.ctx) is not gast.Load:
                out[node.id] += 1
        elif node is not tree:
            out[node.name] += 1
    return out


def bound(body: list[gast.AST]) -> set[str]:
    """The names that the statements of a scope bind, except those bound in nested scopes."""
    out: set[str] = set()
    foreign: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name):
            out |= set() if isinstance(node.ctx, gast.Load) else {node.id}
        elif isinstance(node, (gast.Nonlocal, gast.Global)):
            foreign |= set(node.names)
        elif isinstance(node, gast.FunctionDef):
            out.add(node.name)
            waiting += [*node.decorator_list, *_defaults(node)]
        elif isinstance(node, gast.Lambda):
            waiting += _defaults(node)
        elif isinstance(node, COMPREHENSIONS):
            waiting += [n for n in nodes(node) if isinstance(n, gast.NamedExpr)] + [node.generators[0].iter]
        else:
            out |= {value for _, value in _strings(node)}
            waiting += children(node)
    return out - foreign


def _defaults(function: gast.AST) -> list[gast.AST]:
    return [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]


def variables(scope: gast.AST) -> set[str]:
    """The variables of a scope."""
    if isinstance(scope, gast.FunctionDef):
        return bound(scope.body) | {p.id for p in parameters(scope)}
    if isinstance(scope, gast.Lambda):
        return bound([scope.body]) | {p.id for p in parameters(scope)}
    return {n.id for g in scope.generators for n in nodes(g.target) if isinstance(n, gast.Name)}


def _inside(scope: gast.AST) -> list[gast.AST]:
    """The parts of a scope that see its variables: not defaults, decorators, or the iterable of a first `for`."""
    if isinstance(scope, FUNCTIONS):
        return [*parameters(scope), *(scope.body if isinstance(scope, gast.FunctionDef) else [scope.body])]
    first, *others = scope.generators
    results = [scope.key, scope.value] if isinstance(scope, gast.DictComp) else [scope.elt]
    return [*results, first.target, *first.ifs, *others]
