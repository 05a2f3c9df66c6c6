"""Modules in variables, arguments or locals, are replaced by the modules themselves.

    def f(x, xp=np): return xp.sum(x)     ->      return np.sum(x)        (compiled for the module that is passed)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     m = np.linalg
...     return m.norm(x)
... ''', "module_values"))
def f(x):
    return np.linalg.norm(x)

A variable that is bound more than once is left alone.
"""

from __future__ import annotations

import types

import gast

from s2sgrad.ir.quote import Transformer, clone, mentioned, name
from s2sgrad.ir.reach import module_alias
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without variables that are bound to a module."""
    bound = bindings(tree.body)
    modules = {p: m for p, m in unit.opened.items() if isinstance(m, types.ModuleType)}
    unit.opened = {p: held for p, held in unit.opened.items() if p not in modules}
    aliases = {p: name(module_alias(unit, module)) for p, module in modules.items() if not bound[p]}
    for statement in list(tree.body):
        target = statement.targets[0] if isinstance(statement, gast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, gast.Name) and bound[target.id] == 1 and _is_module(unit, statement.value):
            if isinstance(statement.value, (gast.Name, gast.Attribute)) and not _read_before(tree, statement, target.id):
                aliases[target.id] = statement.value
                tree.body.remove(statement)
    return _Written(aliases).visit(tree) if aliases else tree


def _is_module(unit: Unit, value: gast.AST) -> bool:
    return isinstance(unit.resolve(value), types.ModuleType)


def _read_before(tree: gast.FunctionDef, statement: gast.AST, variable: str) -> bool:
    """Whether the variable might be unbound in Python."""
    before = tree.body[: next(k for k, s in enumerate(tree.body) if s is statement)]
    return variable in mentioned(*before)


class _Written(Transformer):
    def __init__(self, aliases: dict[str, gast.AST]) -> None:
        self.known = aliases

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id in self.known and isinstance(node.ctx, gast.Load):
            return gast.copy_location(clone(self.known[node.id]), node)
        return node
