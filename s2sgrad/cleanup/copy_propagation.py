"""Copy propagation, for copies that the compiler introduced.

    x_new = x; y_bar = g * x_new    ->    x_new = x; y_bar = g * x

A use is replaced if neither of the two names has been bound or changed since the copy.  The user's own copies stay.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(v):
...     return v
... ''', "copy_propagation", np.ones(3)))
-     seed2 = seed_like(result, seed)
+     seed2 = seed_like(v, seed)
-     return v_bar.copy()
+     return seed2.copy()
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.copies import Copies, copied
from s2sgrad.flow.graph import Graph, binds
from s2sgrad.ir.unit import Unit, parameters, sweep_of


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Replace reads of copies by reads of their sources; the copies themselves are left to dead-code elimination."""
    bound: dict[str, bool] = {}  # whether only the reverse sweep binds a name: what it restores is no copy of the user's
    for statement in effects.walk(tree.body):
        for target in binds(statement):
            bound[target] = bound.get(target, True) and sweep_of(statement) == "reverse"
    own = {p.id for p in parameters(tree)}
    read_through(unit, tree, lambda n: unit.is_ours(n) or (bound.get(n, False) and n not in own))
    return tree


def read_through(unit: Unit, tree: gast.FunctionDef, wanted: Callable[[str], bool]) -> None:
    """Propagate the copies whose names are `wanted`."""
    statements = list(effects.walk(tree.body))
    if any(target and wanted(target) for target, _ in map(copied, statements)):
        copies = Copies(Graph(tree, unit.kept), lambda target, source: wanted(target) and source in unit.locals)
        for statement in statements:
            if read := copies.read_by(statement):
                _replace(effects.header(statement), read)
                unit.rewritten(statement)


def _replace(node: gast.AST, copies: dict[str, str]) -> None:
    target = getattr(node, "target", None) or effects.stored(node)
    written = None if target is None else effects.owner(target)  # a store stays a store into the name that it writes
    for name in effects.loads(node):
        if name.id in copies and name is not written:
            name.id = copies[name.id]
