"""Names that stand for one expression wherever they are read, in both sweeps: a sum with a loop's variable, or a section.

>>> import gast
>>> tree = gast.parse('''
... def f(x, n):
...     for k in range(n):
...         i = k + 1
...         now = x[i]
...         now[0] = 1.0
...     for k in reversed(range(n)):
...         i = k + 1
...         now = x[i]
...         x[k] += now
... ''').body[0]
>>> {name: gast.unparse(value) for name, value in definitions(tree, Graph(tree)).items()}
{'i': 'k + 1', 'now': 'x[i]'}
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.available import Available
from s2sgrad.flow.graph import Graph, binds
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.ir.scoping import parameters

_SUM = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Add, gast.Sub, gast.USub, gast.expr_context)


def definitions(tree: gast.FunctionDef, graph: Graph) -> dict[str, gast.AST]:
    """By name: the expression that each of its bindings assigns, and that has its value at each read of the name."""
    found: dict[str, list[gast.Assign]] = {}
    others = {p.id for p in parameters(tree)}
    for statement in effects.walk(tree.body):
        if bound_name(statement) is not None:
            found.setdefault(statement.targets[0].id, []).append(statement)
        else:
            others.update([statement.target.id] if isinstance(statement, gast.For) else binds(statement))
    same = {name: made for name, made in found.items() if name not in others and _is_defined_by(name, made)}
    if not same:
        return {}
    readers: dict[str, list[str]] = {}  # by name: the definitions that mention it
    for name, made in same.items():
        for part in mentioned(made[0].value):
            readers.setdefault(part, []).append(name)
    known = Available(
        graph, same, lambda point: [n for bound in point.binds for n in readers.get(bound, ())], at_start=False
    )
    for point in graph.points:
        for name in point.reads & same.keys():
            if not known.before(name, point.statement):
                del same[name]
    return {name: made[0].value for name, made in same.items()}


def _is_defined_by(name: str, made: list[gast.Assign]) -> bool:
    """Whether the same sum, or section of a variable, is assigned each time, without a mention of the name itself."""
    value = made[0].value
    if name in mentioned(value) or any(gast.dump(s.value) != gast.dump(value) for s in made[1:]):
        return False
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        ends = (
            e for p in parts_of(value.slice) for e in ((p.lower, p.upper, p.step) if isinstance(p, gast.Slice) else (p,))
        )
        return all(_is_sum(end) for end in ends if end is not None)
    return isinstance(value, gast.BinOp) and _is_sum(value)


def _is_sum(value: gast.AST) -> bool:
    return all(isinstance(node, _SUM) for node in nodes(value))
