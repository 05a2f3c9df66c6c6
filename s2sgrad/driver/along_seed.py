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
from s2sgrad.ir import seeds
from s2sgrad.ir.quote import constant, name
from s2sgrad.ir.reach import call
from s2sgrad.runtime.traits import declare, traits


class AlongSeed(TangentEntry):
    """The tangent of a gradient along a cotangent: ones, or what the caller passes as the seed."""

    def __init__(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options, emitted: Emitted
    ) -> None:
        super().__init__(function, kinds, wrt, options, emitted)
        self.several = options.several

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """The function with tangents, and the seed in place of the parameters for these."""
        declare(self.emitted, gradient_in=() if self.value else self.gradients, own_rules=traits(self.function).own_rules)
        unit, given, defaults = c.unit, [*c.tree.args.kwonlyargs], [*c.tree.args.kw_defaults]
        seed = unit.local(seeds.word((), takes_any=c.tree.args.kwarg is not None))
        unit.derivative.floating.add(seed)
        first = c.kinds.get(self.variables[0])
        self.emitted.scalar = isinstance(first, Number) and not self.several
        self.emitted.numpy = isinstance(first, Number) and self.emitted.scalar and first.type is not float
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
