"""Functions from outside as function values: their source in normal form, read once.

def g(t, k=2.0): return t * k      ->      Function(node, unit, defaults={"k": 2.0})
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.libraries import is_given
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import at, clone, constant, name, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import drawing
from s2sgrad.normalize._calls import note_receivers
from s2sgrad.normalize.definitions import DEFINITION, STATEMENTS
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import read
from s2sgrad.specialize.constant_branches import folded
from s2sgrad.specialize.static_values import Function, Generator, Known
from s2sgrad.specialize.yields import returning


class Texts:
    """Reads functions from outside, each once, as function values."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.known: dict[Any, Function] = {}

    def read(self, target: types.FunctionType, owner: type | None = None) -> Function:
        """A function from outside as a function value; a method of the class `owner`."""
        if target in self.known:
            return self.known[target]
        unit, tree = Unit.of(read(target))
        unit.definitions.drawn_at = self.unit.definitions.drawn_at
        note_receivers(unit, tree, owner)
        if tree.name in unit.names.taken and unit.resolve(name(tree.name)) is not target:  # not recursive
            tree.name = unit.names.fresh(tree.name)
        unit.names.taken |= {tree.name}  # no helper may look like a call of the function itself
        for _, run in DEFINITION:
            tree = run(unit, tree)
        self.unit.inlining.units.append(unit)
        function = self.known[target] = Function(tree, unit, of=(target, owner))
        function.run_again = behind_checkpoint(target) is not None
        spec = target.__defaults__ or ()
        plain = [*tree.args.posonlyargs, *tree.args.args]
        for p, value in zip(plain[len(plain) - len(spec) :], spec, strict=True):
            function.defaults[p.id] = self.outside(p.id, value)
        words = target.__kwdefaults__ or {}
        function.defaults |= {p.id: self.outside(p.id, words[p.id]) for p in tree.args.kwonlyargs if p.id in words}
        return function

    def text_of(self, method: types.FunctionType, owner: type | None = None) -> Function | Known:
        """A method as a function value, inlined at calls unless it has its own gradient."""
        return self.outside(method.__name__, method) if is_given(method) else self.read(method, owner)

    def outside(self, base: str, value: Any) -> Any:
        """A value from outside: a constant, a known callable, or data under a name."""
        if isinstance(value, (float, int, str, bool, type(None))):
            return constant(value)
        node = name(self.unit.helper(base, value))
        return Known(value, node) if callable(value) else node

    def prepared(self, function: Function, constants: dict[str, Any], left: str | None = None) -> gast.FunctionDef:
        """The body of a function value with a single exit, for these parameter values; with `left`, a generator returns at a
        `yield` when this flag is set."""
        drawn = {p for p, value in constants.items() if isinstance(value, Generator)}
        if function.tree is not None and left is None and not drawn:
            return function.tree
        node = clone(function.node)
        plain = isinstance(node, gast.FunctionDef)
        body, chosen = folded(function.unit, node.body, constants) if plain else (at(node, gast.Return(node.body)), False)
        tree = gast.FunctionDef(function.name, node.args, body, [], None, None, [])
        at(function.node, tree)
        if left is not None:
            tree.body = rewritten(tree.body, returning)
        around, function.unit.arguments.drawn_from = function.unit.arguments.drawn_from, drawn
        for _, run in ((("drawing", drawing.run),) if drawn else ()) + STATEMENTS:
            tree = run(function.unit, tree)
        function.unit.arguments.drawn_from = around
        if not chosen and left is None and not drawn:
            function.tree = tree
        return tree

    def text_called(self, callee: Any) -> Function | None:
        """The function of the user's that is called; None where a library's is, or an object."""
        if isinstance(callee, Known) and is_plain(callee.target):
            return self.read(callee.target)
        return callee if isinstance(callee, Function) else None
