"""A function with its tangent: what `jvp(f, ..)` calls, and the callees of it.

def f(x): y = x * x; return y      ->      def f_jvp(x, *, x_dot): y = x * x; y_dot = ..; return y, y_dot
"""

from __future__ import annotations

import types

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.type_text import described
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver.compilation import Compilation, Purpose
from s2sgrad.driver.emitted import Emitted, mark, marked, stem_of
from s2sgrad.driver.options import Options
from s2sgrad.flow.graph import Block
from s2sgrad.forward import default_seeds, lane_products
from s2sgrad.forward.lanes import Lanes
from s2sgrad.forward.left_out import Values
from s2sgrad.forward.sweep import Forward
from s2sgrad.forward.tangents import Tangents
from s2sgrad.inplace import output_arguments, own_arguments
from s2sgrad.ir import seeds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, constant, name
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import parameters
from s2sgrad.memory.sources import has_memory
from s2sgrad.runtime.traits import declare, traits
from s2sgrad.source import GENERATED
from s2sgrad.transform import results


class Tangent(Purpose):
    """A function with its tangent; the tangents of `variables` are keyword parameters."""

    differentiates = True
    forward = True

    def __init__(
        self, function: types.FunctionType, kinds: dict[str, Kind], variables: tuple[str, ...], emitted: Emitted,
        lanes: bool = False, left: dict[str, Values] | None = None,
    ) -> None:  # fmt: skip
        self.left = left or {}
        self.function, self.kinds, self.variables, self.emitted, self.lanes = function, kinds, variables, emitted, lanes
        emitted.dots = seeds.tangent_words(function, variables)
        self.words = emitted.dots.values()
        self.split: results.Split | None = None
        self.value = True

    def wrt(self, c: Compilation) -> set[str]:
        """The variables."""
        return set(self.variables)

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """The function with a tangent beside each variable."""
        unit = c.unit
        dots = {p.id: self.emitted.dots[p.id] for p in parameters(c.tree) if p.id in self.variables}
        walk = Forward(unit, c.tree, c.inference, c.callees, c.paths, dots, self.left)
        for p in dots:
            walk.tangents.dot(p)
        mark(c.tree.body, "forward")
        body, tangent = self.completed(c, walk, *walk.run())
        if self.lanes:
            lie_alike, lent = walk.mirrored.shadows.lie_alike, not self.owns_arguments
            lanes = Lanes(walk.tangents, [*dots.values()], walk.written, lie_alike, lent)
            body, tangent = lanes.run(body, tangent)
        value = c.tree.body[-1].value
        parts = [*([name(value.id)] * self.value), tangent, *([name(self.split.aux)] if self.split is not None else [])]
        last = c.tree.body[-1]
        last.value = gast.Tuple(parts, gast.Load()) if len(parts) > 1 else tangent
        arguments = c.tree.args
        arguments.kwonlyargs = [*arguments.kwonlyargs, *(gast.Name(d, gast.Param(), None, None) for d in dots.values())]
        arguments.kw_defaults = [*arguments.kw_defaults, *(None for _ in dots)]
        unit.kinds = c.kinds
        return gast.FunctionDef(c.tree.name, arguments, [*body, last], [], None, None, [])

    def completed(self, c: Compilation, walk: Forward, body: Block, tangent: gast.AST) -> tuple[Block, gast.AST]:
        """The body and the tangent that is returned, as they are written."""
        return body, tangent

    def cut(self, c: Compilation) -> list[Compilation]:
        """The one function."""
        if self.lanes:
            lane_products.run(c.unit, c.tree)
        return [c.part(self.emitted, c.tree)]

    def finish(self, c: Compilation) -> None:
        """Give the function its name and docstring."""
        stem = stem_of(self.function)
        what = f"Value of `{stem}`, and its tangent" if self.value else f"Tangent of `{stem}`"
        what += f" along that of {', '.join(self.variables)}{', all columns at once' * self.lanes}."
        c.tree.body.insert(0, gast.Expr(constant(what)))
        c.tree.name = self.emitted.name


class TangentEntry(Tangent):
    """The requested function; `written` are the arguments that it writes, which are copied."""

    def __init__(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options, emitted: Emitted
    ) -> None:
        defaults_of = {p.name: p.default for p in signature(function).parameters.values() if p.default is not p.empty}
        defaults = dict(zip(defaults_of, kinds_of(defaults_of.values()), strict=True))
        all_kinds = {p: {**defaults, **kinds}.get(p, UNKNOWN) for p in signature(function).parameters}
        super().__init__(function, all_kinds, tuple(dict.fromkeys(p.partition("[")[0] for p in wrt)), emitted, options.lanes)
        self.value = options.value
        self.gradients = traits(function).gradient_in
        self.split, self.outputs = results.Split() if options.has_aux else None, options.outputs
        self.written: tuple[str, ...] = ()
        self.seeds = {p: value for p, value in defaults_of.items() if p not in kinds and type(value) is float}

    def end(self, c: Compilation) -> None:
        """Return only the first of the returned pair (`has_aux`), or the output arguments."""
        if self.split is not None:
            self.split.run(c.unit, c.tree)
        elif self.outputs is not None:
            output_arguments.run(c.unit, c.tree, self.outputs)

    def require(self, c: Compilation) -> None:
        """Refuse results without derivative; copy the arguments that are written."""
        written = c.aliases.written
        results.require(c.unit, c.tree, c.kinds, self.split, written, self.outputs)
        self.written = tuple(dict.fromkeys((*written, *traits(c.unit.primal.function).copies)))
        declare(self.emitted, copies=self.written)
        own_arguments.run(c.unit, c.tree, c.kinds, written)
        if self.lanes and self.function.__code__.co_filename.startswith(GENERATED):
            c.unit.kinds = c.kinds
            gone = default_seeds.run(c.unit, c.tree, self.seeds)
            self.kinds = {p: kind for p, kind in self.kinds.items() if p not in gone}

    def completed(self, c: Compilation, walk: Forward, body: Block, tangent: gast.AST) -> tuple[Block, gast.AST]:
        """The same, with zeros like the arguments in the place of what depends on nothing."""
        made, last = [None, *c.tree.body][-2:]
        result = last.value.id
        shown = bound_name(made) == result and isinstance(made.value, gast.Tuple)
        parts = made.value.elts if shown else [last.value]
        copied = not isinstance(tangent, gast.Name) and walk.tangents.is_present(last.value)
        known = {*self.gradients} <= {p.id for p in parameters(c.tree)}
        if self.value or copied or not known or len(parts) != len(self.gradients):
            return body, tangent
        ahead: Block = []
        returned = [self._part(walk.tangents, *pair, ahead) for pair in zip(parts, self.gradients, strict=True)]
        return [*marked(ahead, "forward"), *body], gast.Tuple(returned, gast.Load()) if shown else returned[0]

    def _part(self, tangents: Tangents, gradient: gast.AST, parameter: str, ahead: Block) -> gast.AST:
        """The tangent of one gradient; zeros like the argument, which may be bound anew later."""
        if tangents.is_present(gradient):
            return name(tangents.dot(gradient.id))
        kind = tangents.kinds.get(parameter)
        if not has_memory(kind):
            return tangents.zero(parameter)
        like = tangents.unit.local(parameter)
        if kind is not None:
            tangents.kinds[like] = kind
        ahead.append(assign(like, name(parameter)))
        return tangents.zero(like)

    def finish(self, c: Compilation) -> None:
        """Add to the docstring, and say which arguments the text is for."""
        super().finish(c)
        c.tree.body[0].value.value += "  Generated by s2sgrad."
        self.emitted.header = described(self.kinds)


class TangentCallee(Tangent):
    """A callee, which may not write its arguments."""

    owns_arguments = False

    def require(self, c: Compilation) -> None:
        """Refuse a function that writes its arguments."""
        results.require_untouched(c.unit, c.primal.tree, c.aliases.written)
        own_arguments.check_copied(c.unit, c.tree)
