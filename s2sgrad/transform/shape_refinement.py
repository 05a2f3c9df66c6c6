"""Shape refinement by stores: a stored value fits the section, so an operand as large as the section is not broadcast.

    t = y[:k] * s; x[:k] = t, s of unknown shape      ->      t has the length of x[:k], and so has its cotangent

The same holds for `x *= s`.  Shapes of temporaries are refined backwards through elementwise operations.

An update stores into the section that it reads.  Only an axis of 1 is stretched by a store, so the section has the other
axes of the sum:

    t = x[:k]; u = t + s; x[:k] = u, s: (n,), n > 1   ->      t has the length n
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Number, Slicing
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.sizes import Dim, fitted_dims
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import nested
from s2sgrad.ir.simplify import same


def narrow(tree: gast.FunctionDef, inference: Inference, found: Operations) -> None:
    """Refine the kinds of temporaries in the environment of `inference` by the stores of a function."""
    Narrowing(tree, inference, found).run(tree)


class Narrowing:
    """Refines the shapes in one function."""

    def __init__(self, tree: gast.FunctionDef, inference: Inference, found: Operations) -> None:
        self.inference, self.found = inference, found
        bound = [(t, s) for s in effects.walk(tree.body) if isinstance(s, gast.Assign) for t in effects.targets(s)]
        self.bound = Counter(target for target, _ in bound)
        self.binders = dict(bound)

    def run(self, tree: gast.FunctionDef) -> None:
        """Refine by each store and each in-place update."""
        for statement in effects.walk(tree.body):
            section = effects.stored(statement)
            if section is not None:
                kind = self.inference.kind(gast.Subscript(section.value, section.slice, gast.Load()))
            elif isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
                kind = self.inference.env.get(statement.target.id)
            else:
                continue
            if isinstance(kind, Array) and kind.dims:
                self.fits(statement.value, kind.dims)
        for block in nested(tree.body):
            for k, statement in enumerate(block):
                section = effects.stored(statement)
                if section is not None:
                    self.updates(section, statement.value, block[:k])

    def updates(self, section: gast.Subscript, value: gast.AST, before: list[gast.AST]) -> None:
        """Refine the old value of a section by the value that is computed from it and stored into it."""
        result = self.inference.kind(value)
        operation = self.operation(value)
        if operation is None or not isinstance(result, Array):
            return
        for operand in operation.operands:
            old = self.inference.kind(operand)
            if isinstance(old, Array) and old.dims is not None and self.reads(operand, section, before):
                dims = fitted_dims(old.dims, result.dims or ())
                self.inference.env[operand.id] = Array(old.dtype, dims)
                self.inference.env[value.id] = Array(result.dtype, dims)

    def reads(self, operand: gast.AST, section: gast.Subscript, before: list[gast.AST]) -> bool:
        """Whether a temporary is bound by one of these statements to a section, which later ones do not change."""
        binder = self.binders[operand.id] if self.is_temporary(operand) else None
        if binder is None or binder not in before or not same(binder.value, section):
            return False
        index = effects.reads(section.slice)
        bound = set().union(*(binds(s) for s in effects.walk(before[before.index(binder) + 1 :])))
        lasting = all(isinstance(self.inference.env.get(n), (Number, Slicing)) for n in index)
        return lasting and not bound & {*index, effects.base(section)}

    def is_temporary(self, node: gast.AST) -> bool:
        """Whether a node is a temporary with one binding."""
        return isinstance(node, gast.Name) and node.id in self.inference.unit.temps and self.bound[node.id] == 1

    def operation(self, value: gast.AST) -> Operation | None:
        """The elementwise operation by which a temporary is computed."""
        operation = self.found.get(id(self.binders[value.id])) if self.is_temporary(value) else None
        rule = None if operation is None or operation.form != "rule" else operation.rule
        return None if rule is None or rule.tag != "elementwise" else operation

    def fits(self, value: gast.AST, dims: tuple[Dim, ...]) -> None:
        """Refine a value that broadcasts to `dims`, and the operands that it is computed from."""
        operation = self.operation(value)
        if operation is None:
            return
        kind = self.inference.env.get(value.id)
        if not isinstance(kind, Array):
            return
        operands = [self.inference.kind(o) for o in operation.operands]
        shapes = [o.dims for o in operands if isinstance(o, Array) and o.dims is not None]
        if kind.dims is None and any(s == dims and None not in s for s in shapes):
            self.inference.env[value.id] = Array(kind.dtype, dims)
        elif kind.dims is not None and len(kind.dims) <= len(dims):
            known = [self._axis(dim, k, shapes, dims) for k, dim in enumerate(reversed(kind.dims), 1)]
            self.inference.env[value.id] = Array(kind.dtype, tuple(reversed(known)))
        for operand in operation.operands:
            self.fits(operand, dims)

    def _axis(self, dim: Dim, k: int, shapes: list[tuple[Dim, ...]], dims: tuple[Dim, ...]) -> Dim:
        """The size of the k-th axis from the end: that of the section, if an operand has it."""
        given = dims[-k]
        if dim is not None or given is None:
            return dim
        return given if any(len(s) >= k and s[-k] == given for s in shapes) else None
