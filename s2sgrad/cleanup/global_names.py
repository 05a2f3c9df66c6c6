"""Reads and writes of a global by calls become uses of its name again, with a declaration.

    count_global.write(count_global.read() + 1)      ->      global count; count = count + 1
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import assign, at, mentioned, name, nodes, rewritten
from s2sgrad.ir.unit import Unit, parameters


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the names of globals; one of another module, whose function was inlined, keeps its calls."""
    taken = {p.id for p in parameters(tree)} | mentioned(tree)
    space = unit.primal.function.__globals__
    known = {
        helper: value.name
        for helper, value in unit.helpers.items()
        if isinstance(value, runtime.Global) and helper in taken and value.space is space and value.name not in taken
    }
    if not known:
        return tree
    tree.body = rewritten(tree.body, lambda statement: _written(statement, known))
    for node in list(nodes(tree)):
        for field, value in node.__dict__.items():
            parts = value if isinstance(value, list) else [value]
            parts[:] = [_read(part, known) for part in parts]
            if not isinstance(value, list):
                node.__dict__[field] = parts[0]
    tree.body.insert(0, at(tree.body[0], gast.Global(sorted(known.values())))[0])
    return tree


def _written(statement: gast.AST, known: dict[str, str]) -> list[gast.AST]:
    variable = _called(getattr(statement, "value", None), "write", known) if isinstance(statement, gast.Expr) else None
    return [statement] if variable is None else at(statement, assign(variable, statement.value.args[0]))


def _read(part: object, known: dict[str, str]) -> object:
    variable = _called(part, "read", known)
    return part if variable is None else name(variable)


def _called(node: object, method: str, known: dict[str, str]) -> str | None:
    """The global in `count_global.read()` or `count_global.write(..)`; None for any other node."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != method:
        return None
    return known.get(node.func.value.id) if isinstance(node.func.value, gast.Name) else None
