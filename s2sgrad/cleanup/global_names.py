"""Reads and writes of a global, or of an attribute of a class, by calls become uses of its name again.

count_global.write(count_global.read() + 1)      ->      global count; count = count + 1
lin_count.write(lin_count.read() + 1)            ->      Lin.count = Lin.count + 1

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... COUNT = 0
... def f(x):
...     global COUNT
...     COUNT += 1
...     return x * x
... ''', "global_names", 2.0))
-     COUNT_global.write(COUNT_global.read() + 1)
+     global COUNT
+     COUNT = COUNT + 1
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import at, clone, mentioned, name, nodes, rewritten
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the names of globals; one of another module, whose function was inlined, keeps its calls."""
    known = _known(unit, {p.id for p in parameters(tree)} | mentioned(tree))
    if not known:
        return tree
    tree.body = rewritten(tree.body, lambda statement: _written(statement, known))
    for node in list(nodes(tree)):
        for field, value in node.__dict__.items():
            parts = value if isinstance(value, list) else [value]
            parts[:] = [_read(part, known) for part in parts]
            if not isinstance(value, list):
                node.__dict__[field] = parts[0]
    names = sorted(node.id for node in known.values() if isinstance(node, gast.Name))
    if names:
        tree.body.insert(0, at(tree.body[0], gast.Global(names))[0])
    return tree


def _known(unit: Unit, taken: set[str]) -> dict[str, gast.AST]:
    """What stands for the helpers that a text with these names mentions."""
    known: dict[str, gast.AST] = {}
    space = unit.primal.function.__globals__
    for helper in unit.helpers.keys() & taken:
        value = unit.helpers[helper]
        if isinstance(value, runtime.Global) and value.space is space and value.name not in taken:
            known[helper] = name(value.name)
    return known


def _written(statement: gast.AST, known: dict[str, gast.AST]) -> list[gast.AST]:
    place = _called(getattr(statement, "value", None), "write", known) if isinstance(statement, gast.Expr) else None
    if place is None:
        return [statement]
    target = clone(place)
    target.ctx = gast.Store()
    return at(statement, gast.Assign([target], statement.value.args[0], None))


def _read(part: object, known: dict[str, gast.AST]) -> object:
    place = _called(part, "read", known)
    return part if place is None else clone(place)


def _called(node: object, method: str, known: dict[str, gast.AST]) -> gast.AST | None:
    """What `count_global.read()` or `count_global.write(..)` stands for; None for any other node."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != method:
        return None
    return known.get(node.func.value.id) if isinstance(node.func.value, gast.Name) else None
