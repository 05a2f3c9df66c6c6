"""A gradient without its seed, for a seed of 1: all columns of a Hessian need no other.

    def f_grad(x, *, seed=1.0):        def f_grad(x):
        t = seed * 100.0         ->
        return t * x                       return 100.0 * x

>>> import gast
>>> from s2sgrad import emit
>>> from s2sgrad.analysis.kinds import Number
>>> tree = gast.parse("def f_grad(x, *, seed=1.0):\\n    t = seed * 100.0\\n    return t * x").body[0]
>>> unit = Unit(None, None, {"x", "t", "seed"})
>>> unit.kinds = {"x": Number(float), "t": Number(float)}
>>> run(unit, tree, {"seed": 1.0})
{'seed'}
>>> print(emit.function(tree), end="")
def f_grad(x):
    return 100.0 * x
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.floating import is_floating
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import clone, substitute
from s2sgrad.ir.simplify import simplified
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, seeds: dict[str, float]) -> set[str]:
    """Substitute these values for keyword parameters, and propagate constants through names that are bound once.

    Returns the parameters that were removed.
    """
    bindings = binding_counts(tree.body)
    seeds = {p: value for p, value in seeds.items() if not bindings[p]}
    arguments, known, body = tree.args, dict(seeds), []
    for statement in tree.body:
        statement = substitute(statement, known)
        variable = bound_name(statement)
        if variable is not None and bindings[variable] == 1 and is_floating(unit, statement.value):
            simple = simplified(clone(statement.value))
            if not isinstance(simple, (gast.Name, gast.Subscript, gast.Attribute)):  # `1.0 * u` is new memory
                statement.value = simple
            if isinstance(statement.value, gast.Constant) and type(statement.value.value) is float:
                known[variable] = statement.value.value
                continue
        body.append(statement)
    tree.body = body
    left = [(p, d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if p.id not in seeds]
    arguments.kwonlyargs, arguments.kw_defaults = [p for p, _ in left], [d for _, d in left]
    return {*seeds}
