"""Names that stand for a loop's variable plus a constant wherever they are read, in both sweeps.

>>> import gast
>>> tree = gast.parse('''
... def f(x, n):
...     for k in range(n):
...         i = k + 1
...         x[i] = x[i - 1]
...     for k in reversed(range(n)):
...         i = k + 1
...         x[k] += x[i]
... ''').body[0]
>>> {name: gast.unparse(gast.gast_to_ast(value)) for name, value in counted_names(tree, Graph(tree)).items()}
{'i': 'k + 1'}
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.available import Available
from s2sgrad.flow.graph import Graph, binds
from s2sgrad.ir.forms import bound_name, whole_number
from s2sgrad.ir.scoping import parameters


def counted_names(tree: gast.FunctionDef, graph: Graph) -> dict[str, gast.AST]:
    """By name: the sum that each of its bindings assigns, which has that value at each read."""
    counters, others = set(), {p.id for p in parameters(tree)}
    found: dict[str, list[gast.Assign]] = {}
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.For):
            counters.add(statement.target.id)
        elif bound_name(statement) is not None:
            found.setdefault(statement.targets[0].id, []).append(statement)
        else:
            others.update(binds(statement))
    counters -= others | found.keys()
    sums = {n: made for n, made in found.items() if n not in others and _counter(made, counters) is not None}
    if not sums:
        return {}
    spoiled: dict[str, list[str]] = {}
    for name, made in sums.items():
        spoiled.setdefault(str(_counter(made, counters)), []).append(name)
    known = Available(graph, sums, lambda point: [n for bound in point.binds for n in spoiled.get(bound, ())], at_start=False)
    for statement in effects.walk(tree.body):
        for name in graph.reads(statement) & sums.keys():
            if not known.before(name, statement):
                sums.pop(name)
    return {name: made[0].value for name, made in sums.items()}


def _counter(made: list[gast.Assign], counters: set[str]) -> str | None:
    """The variable to which all these assignments add the same constant; None where they do not."""
    sums = {_sum(statement.value, counters) for statement in made}
    return next(iter(sums))[0] if len(sums) == 1 and None not in sums else None


def _sum(value: gast.AST, counters: set[str]) -> tuple[str, int] | None:
    """(variable, constant) of `variable + constant`, in either order."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, (gast.Add, gast.Sub)):
        return None
    sign = 1 if isinstance(value.op, gast.Add) else -1
    for moving, fixed in ((value.left, value.right), (value.right, value.left))[: 1 + (sign == 1)]:
        number = whole_number(fixed)
        if isinstance(moving, gast.Name) and moving.id in counters and number is not None:
            return moving.id, sign * number
    return None
