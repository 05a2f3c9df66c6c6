"""Modules in variables, arguments or locals, are replaced by the modules themselves, and so are functions that are defaults.

    def f(x, xp=np): return xp.sum(x)     ->      return np.sum(x)        (compiled for the module that is passed)
    def f(x, act=np.tanh): return act(x)  ->      return tanh(x)          (compiled for calls that pass none)

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

import contextlib
import types
from typing import Any

import gast
import numpy as np

from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import Transformer, clone, mentioned, name
from s2sgrad.ir.reach import module_alias, numpy_function
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.source import read


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without variables that are bound to a module."""
    bound = bindings(tree.body)
    known = {p: v for p, v in unit.arguments.opened.items() if isinstance(v, types.ModuleType) or callable(v)}
    unit.arguments.opened = {p: held for p, held in unit.arguments.opened.items() if p not in known}
    aliases = {p: _named(unit, p, value) for p, value in known.items() if not bound[p]}
    for statement in list(tree.body):
        target = statement.targets[0] if isinstance(statement, gast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, gast.Name) and bound[target.id] == 1 and _is_module(unit, statement.value):
            if isinstance(statement.value, (gast.Name, gast.Attribute)) and not _read_before(tree, statement, target.id):
                aliases[target.id] = statement.value
                tree.body.remove(statement)
    return _Written(aliases).visit(tree) if aliases else tree


def _named(unit: Unit, parameter: str, value: Any) -> gast.AST:
    """The name for a module or a function; a lambda is written out."""
    if isinstance(value, types.ModuleType):
        return name(module_alias(unit, value))
    value = underlying(value)
    own: str = value.__name__
    if getattr(np, own, None) is value:
        return numpy_function(unit, own)
    if own.isidentifier():
        return name(unit.helper(own, value))
    with contextlib.suppress(S2SGradError):
        tree = read(value).fresh_tree()
        at_home = value.__globals__ is unit.primal.function.__globals__ and value.__closure__ is None
        free = mentioned(*tree.body) - {p.id for p in parameters(tree)}
        if at_home and not value.__defaults__ and not value.__kwdefaults__ and free.isdisjoint(unit.locals):
            return gast.Lambda(tree.args, tree.body[0].value)
    return name(unit.helper(parameter, value))


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
