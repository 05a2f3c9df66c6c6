"""The gradient of a gradient, as a tangent of a gradient along the cotangent that it is asked for.

def f_grad(x): x_bar = ..; return x_bar      ->      def f_grad_grad(x, *, seed_=1.0): ..; return x_bar_dot
"""

from __future__ import annotations

import types

import gast

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.emitted import Emitted, marked
from s2sgrad.driver.forward import TangentEntry
from s2sgrad.driver.options import Options
from s2sgrad.flow.graph import Block
from s2sgrad.forward.sweep import Forward
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir import seeds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, constant, name
from s2sgrad.ir.reach import call
from s2sgrad.memory.sources import has_memory
from s2sgrad.runtime.traits import declare, traits


class AlongSeed(TangentEntry):
    """The tangent of a gradient along a cotangent: ones, or what the caller passes as the seed."""

    def __init__(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options, emitted: Emitted
    ) -> None:
        super().__init__(function, kinds, wrt, options, emitted)
        self.several, self.gradients = options.several, traits(function).gradient_in

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """The function with tangents, and the seed in place of the parameters for these."""
        declare(self.emitted, gradient_in=self.gradients, own_rules=traits(self.function).own_rules)
        unit, given, defaults = c.unit, [*c.tree.args.kwonlyargs], [*c.tree.args.kw_defaults]
        seed = unit.local(seeds.word((), takes_any=c.tree.args.kwarg is not None))
        unit.derivative.floating.add(seed)
        first = c.kinds.get(self.variables[0])
        self.emitted.scalar = isinstance(first, Number) and not self.several
        self.emitted.numpy = self.emitted.scalar and first.type is not float
        self.emitted.defaults = {seed: 1.0 if self.emitted.scalar else None}
        if self.emitted.scalar:
            self.emitted.dots = {self.variables[0]: seed}
        tree = super().reverse(c)
        tree.args.kwonlyargs = [*given, gast.Name(seed, gast.Param(), None, None)]
        tree.args.kw_defaults = [*defaults, constant(self.emitted.defaults[seed])]
        if not self.emitted.scalar:
            primals = self._together([self._like(c, p) for p in self.variables], gast.Load())
            dots = self._together([name(d, store=True) for d in self.emitted.dots.values()], gast.Store())
            like = call(unit, "seed_like", runtime.seed_like, primals, name(seed))
            tree.body[:0] = marked([gast.Assign([dots], like, None)], "forward")
        return tree

    def completed(self, c: Compilation, walk: Forward, body: Block, tangent: gast.AST) -> tuple[Block, gast.AST]:
        """The same, with zeros like the arguments in the place of what depends on nothing."""
        *_, made, last = [None, *c.tree.body]
        result = last.value.id
        shown = bound_name(made) == result and isinstance(made.value, gast.Tuple)
        parts = made.value.elts if shown else [last.value]
        copied = not isinstance(tangent, gast.Name) and walk.tangents.is_present(last.value)
        if copied or len(parts) != len(self.gradients):
            return body, tangent
        ahead: Block = []
        returned = [self._part(walk.tangents, *pair, ahead) for pair in zip(parts, self.gradients, strict=True)]
        return [*marked(ahead, "forward"), *body], gast.Tuple(returned, gast.Load()) if shown else returned[0]

    def _part(self, tangents: Tangents, gradient: gast.AST, parameter: str, ahead: Block) -> gast.AST:
        """The tangent of one gradient; zeros are made before the argument may be bound anew."""
        if tangents.is_present(gradient):
            return name(tangents.dot(gradient.id))
        zeros = tangents.zero(parameter)
        if not has_memory(tangents.kinds.get(parameter)):
            return zeros
        bound = tangents.unit.local(f"{parameter}_bar_dot")
        tangents.kinds[bound] = tangents.kinds.get(parameter)
        ahead.append(assign(bound, zeros))
        return name(bound)

    def _like(self, c: Compilation, variable: str) -> gast.AST:
        """What has the structure of the gradient in a variable."""
        plain = isinstance(c.kinds.get(variable), (Array, Number))
        return name(variable) if plain else call(c.unit, "zeros", runtime.zeros, name(variable))

    def _together(self, parts: list[gast.AST], context: gast.expr_context) -> gast.AST:
        """The one part, or a tuple of them."""
        return gast.Tuple(parts, context) if self.several else parts[0]

    def finish(self, c: Compilation) -> None:
        """Say what the tangent is along."""
        super().finish(c)
        text = c.tree.body[0].value
        text.value = text.value.replace(".  Generated", f", which is `{next(iter(self.emitted.defaults))}`.  Generated")
