"""`defaultdict` becomes an object that holds a dict, whose reads store the default first.

    d = defaultdict(list)       ->      d = DefaultDict(list, {})

`specialize` evaluates the methods of such an object like those of a class of the user's.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import defaultdict
...     d = defaultdict(float, b=xs[1])
...     d["a"] += xs[0]
...     return d["b"]
... ''', "default_dicts"))
def f(xs):
    d = DefaultDict(float, dict(b=xs[1]))
    d['a'] += xs[0]
    return d['b']
"""

from __future__ import annotations

from collections import defaultdict

import gast

from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import Transformer, at, calls_in, name
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize._calls import note_receivers
from s2sgrad.standard.containers import DefaultDict


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with such objects for all that it makes."""
    if any(unit.called(call) is defaultdict for call in calls_in(tree)):
        tree = _Written(unit).visit(tree)
        note_receivers(unit, tree)
    return tree


class _Written(Transformer):
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        return written(self.unit, node) or node


def written(unit: Unit, node: gast.AST) -> gast.AST | None:
    """What stands for a new `defaultdict`; None for anything else."""
    if unit.called(node) is not defaultdict or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    unit.outside.stand_ins.add((defaultdict, dict))
    given = gast.Call(unit.builtin(dict), node.args[1:], node.keywords)
    held = given if node.args[1:] or node.keywords else gast.Dict([], [])
    if not node.args or is_none(node.args[0]):
        return at(node, held)[0]
    return at(node, gast.Call(name(unit.helper("DefaultDict", DefaultDict)), [node.args[0], held], []))[0]
