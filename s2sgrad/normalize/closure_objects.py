"""Nested functions that are kept become objects, where this way of compiling is in use.

def back(g): grads[na] += g * b         ->      tape.append(back(na, b))      of the class that `closure_classes` makes
tape.append(back)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.quote import Transformer, assign, at, clone, name, place_of
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.closure_classes import classes_of


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which the definition of such a function makes an object."""
    found = {} if unit.closures is None else classes_of(unit.primal.function, unit.closures)
    if found:
        maker = _Maker(unit, found)
        tree.body = [maker.visit(s) for s in tree.body]
    return tree


class _Maker(Transformer):
    def __init__(self, unit: Unit, found: dict[Any, Any]) -> None:
        self.unit, self.found = unit, found

    def made(self, node: gast.AST) -> gast.AST | None:
        made = self.found.get(place_of(node))
        if made is None:
            return None
        if self.unit.closures:
            self.unit.local_codes |= {made.cls.__call__.__code__}
        called = name(self.unit.helper(made.cls.__name__, made.cls))
        return at(node, gast.Call(called, [clone(g) for g in made.given], []))[0]

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return self.made(node) or self.generic_visit(node)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        made = self.made(node)
        if made is None:
            return self.generic_visit(node)
        for decorator in reversed(node.decorator_list):
            made = at(node, gast.Call(decorator, [made], []))[0]
        return at(node, assign(node.name, made))[0]
