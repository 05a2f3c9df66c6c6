"""An argument whose contents nothing reads, and nothing writes, needs no copy of its own.

    A = A.copy(); A_bar = np.zeros_like(A)      ->      A_bar = np.zeros_like(A)

The copy is in the order of C, which a view that a function makes of an adjoint may rely on: then it stays.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(u, n):
...     for _ in range(n):
...         u[1:-1] = 0.5 * (u[2:] + u[:-2])
...     return u
... ''', "unread_copies", np.ones(5), 3))
-     u = u.copy()
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.ir.forms import bound_name, receiver
from s2sgrad.ir.quote import NAMES, nodes, nodes_of
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Remove the copies of arguments that only give their shape."""
    own = {p.id for p in parameters(tree)}
    copies = {bound_name(s): s for s in tree.body if bound_name(s) in own and _copied(s) == bound_name(s)}
    if not copies or any(_is_of_call(target) for s in effects.walk(tree.body) for target in _targets(s)):
        return tree
    for statement in effects.walk(tree.body):
        if copies.get(bound_name(statement)) is not statement:
            shapes = {id(n) for n in shape_reads(unit, effects.header(statement))}
            read = {n.id for n in nodes_of(effects.header(statement), NAMES) if id(n) not in shapes}
            if isinstance(statement, gast.For):
                read.add(statement.target.id)
            copies = {n: s for n, s in copies.items() if n not in read}
    gone = set(map(id, copies.values()))
    tree.body[:] = [s for s in tree.body if id(s) not in gone]
    return tree


def _copied(statement: gast.AST) -> str | None:
    """`x` for `.. = x.copy()`."""
    return getattr(receiver(getattr(statement, "value", None), "copy"), "id", None)


def _targets(statement: gast.AST) -> list[gast.AST]:
    """What a statement stores into."""
    return statement.targets if isinstance(statement, gast.Assign) else [getattr(statement, "target", statement)]


def _is_of_call(target: gast.AST) -> bool:
    """Whether a target is a section of what a call gives."""
    return isinstance(target, gast.Subscript) and any(isinstance(n, gast.Call) for n in nodes(target.value))
