"""Drops imports inside a function: the text reaches what they bind as it reaches its own imports.

    import math; return math.sin(x)       ->      return math.sin(x)
    from config import SCALE              ->      SCALE = config.SCALE      (data is read at every call)

A name must stand for one module, function or class, which is imported when the gradient is compiled.  Nothing may read it
before the import, where Python would raise.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     import numpy.linalg as la
...     from math import pi, sin
...     return sin(pi * x) * la.norm(x)
... ''', "imports"))
def f(x):
    pi = math.pi
    return sin(pi * x) * la.norm(x)
"""

from __future__ import annotations

import gast

from s2sgrad.ir import imported
from s2sgrad.ir.quote import assign, at, blocks, name, nodes
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without imports; raises Unsupported if it is unknown what they bind, or when."""
    imports = list(imported.statements(tree.body))
    if imports:
        bound = {imported.bound_name(s, alias) for s in imports for alias in s.names}
        covered: set[int] = set()
        tree.body = _block(unit, tree.body, covered)
        for node in nodes(tree):
            is_imported = isinstance(node, gast.Name) and node.id in bound and node.id not in unit.locals
            if is_imported and id(node) not in covered:
                unit.refuse(node, f"`{node.id}` may be read before it is imported: import it at the top of the module")
    return tree


def _block(unit: Unit, body: list[gast.AST], covered: set[int]) -> list[gast.AST]:
    """The block without imports; adds to `covered` the reads that come after the import of their name."""
    out = []
    for k, statement in enumerate(body):
        for inner in blocks(statement):
            inner[:] = _block(unit, inner, covered)
        if not isinstance(statement, (gast.Import, gast.ImportFrom)):
            out.append(statement)
            continue
        bound_names = {imported.bound_name(statement, alias) for alias in statement.names} - unit.locals
        covered.update(id(n) for n in nodes(*body[k + 1 :]) if isinstance(n, gast.Name) and n.id in bound_names)
        for alias in statement.names:
            if imported.bound_name(statement, alias) in unit.locals:
                out += at(statement, _data(unit, statement, alias))
    return out


def _data(unit: Unit, statement: imported.Import, alias: gast.alias) -> gast.AST:
    """`from module import value` as an assignment."""
    bound = imported.bound_name(statement, alias)
    binding = imported.binding(statement, alias, unit.primal.function)
    if binding is None:
        unit.refuse(statement, f"`{alias.name}` is not imported when the gradient is compiled: import it at the top of the "
                               "module")  # fmt: skip
    if imported.is_code(binding.value):
        unit.refuse(statement, f"`{bound}` is bound elsewhere in this function as well: import it under a name of its own")
    module = imported.source(statement, unit.primal.function)
    assert module is not None  # it has the value
    base = module.__name__.rpartition(".")[2]
    base_name = base if unit.resolve(name(base)) is module else unit.helper(base, module)
    return assign(bound, gast.Attribute(name(base_name), alias.name, gast.Load()))
