"""The requested function: what `grad(f)` calls.

def f(x): ...      ->      def f_grad(x, *, seed=1.0): ...; return x_bar
"""

from __future__ import annotations

import types

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Instance, Kind, Number
from s2sgrad.analysis.number_types import is_complex, is_real, is_short
from s2sgrad.analysis.type_text import described
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.differentiated import Differentiated, follows_own_rules
from s2sgrad.driver.emitted import Emitted, mark, marked, stem_of, title
from s2sgrad.driver.options import Options
from s2sgrad.inplace import output_arguments, own_arguments
from s2sgrad.ir import seeds
from s2sgrad.ir.quote import assign, constant, expression, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import watching
from s2sgrad.runtime.traits import declare, traits
from s2sgrad.transform import results, stopping
from s2sgrad.transform.cotangents import Bar


class Entry(Differentiated):
    """The gradient of a function in the variables `wrt`, by the options; `written` are the arguments that it writes."""

    def __init__(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options, emitted: Emitted
    ) -> None:
        super().__init__()
        self.function, self.variables, self.options, self.emitted = function, wrt, options, emitted
        self.stops = options.stops
        self.split = results.Split() if options.has_aux else None
        self.written: tuple[str, ...] = ()
        defaults_of = {p.name: p.default for p in signature(function).parameters.values() if p.default is not p.empty}
        defaults = dict(zip(defaults_of, kinds_of(defaults_of.values()), strict=True))
        self.kinds = {p: {**defaults, **kinds}.get(p, UNKNOWN) for p in signature(function).parameters}

    def end(self, c: Compilation) -> None:
        """Return only the first of the returned pair (`has_aux`), or the output arguments."""
        if self.split is not None:
            self.split.run(c.unit, c.tree)
        elif self.options.outputs is not None:
            output_arguments.run(c.unit, c.tree, self.options.outputs)

    def require(self, c: Compilation) -> None:
        """Refuse results without derivative and variables that cannot be followed; copy the arguments that are written."""
        written = c.aliases.written
        results.require(c.unit, c.tree, c.kinds, self.split, written, self.options.outputs)
        self.written = tuple(dict.fromkeys((*written, *traits(c.unit.primal.function).copies)))
        declare(self.emitted, copies=self.written)
        stopping.require_followed(c.unit, c.tree, c.kinds, self.variables, self.stops)
        own_arguments.run(c.unit, c.tree, c.kinds, written)

    def wrt(self, c: Compilation) -> set[str]:
        """The variables; for an element of `*args`, the whole tuple."""
        return {p.partition("[")[0] for p in self.variables}

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """Both sweeps, returning the gradients and what the options ask for besides."""
        unit, options = c.unit, self.options
        tree = self.sweep(c, seeds.word((), takes_any=c.tree.args.kwarg is not None))
        result, active = self.swept.result, self.swept.active
        scalar = isinstance(self.kind(result), Number)
        may_be_complex = _may_be_complex(unit, self.kind(result), options)
        default = None if active and (not scalar or may_be_complex) else 1.0
        self.emitted.defaults, self.emitted.scalar = {self.seed: default}, scalar and not may_be_complex
        plain = not options.value and self.split is None and options.unconnected == "zero"
        declare(self.emitted, own_rules=follows_own_rules(c), gradient_in=self.variables if plain else ())
        ahead: list[gast.AST] = []
        if default is None:
            seed = runtime.holomorphic_seed if options.holomorphic else runtime.seed_like
            like = call(unit, seed.__name__, seed, name(result), name(self.seed))
            ahead = marked([assign(self.seed, like)], "reverse")
            if options.conjugate and may_be_complex:
                ahead += marked(
                    [assign(self.seed, call(unit, "conjugated", runtime.conjugated, name(self.seed)))], "reverse"
                )
        parts = [self.gradient(c, p, p in self.variables[:k]) for k, p in enumerate(self.variables)]
        if options.conjugate:
            parts = [_conjugate(unit, self.kind(p), part) for p, part in zip(self.variables, parts, strict=True)]
        display = gast.List if options.listed else gast.Tuple
        returned: gast.AST = display(parts, gast.Load()) if options.several else parts[0]
        tree.body += results.checks(unit, result, self.kind(result), active)
        if options.debug:
            tree.body.append(gast.Expr(call(unit, "watch_result", watching.watch_result, name(result))))
        ends, returned = results.beside(unit, self.walk.records, self.swept, options.value, self.split, returned)
        tree.body += ends
        mark(tree.body, "forward")
        tree.body += [*ahead, *self.swept.reverse, *marked([gast.Return(returned)], "reverse")]
        return tree

    def gradient(self, c: Compilation, variable: str, again: bool = False) -> gast.AST:
        """The gradient in one variable: with its shape and dtype, in memory of its own, also if it is returned twice."""
        kind = self.kind(variable)
        base, _, place = variable.partition("[")
        bar = self.swept.bars.get(base)
        if bar is None and self.options.unconnected == "none":
            return constant(None)
        if place:
            return self._element(c, base, int(place[:-1]), bar)
        if bar is None and c.unit.derivative.complex and not is_real(kind):
            return call(c.unit, "zeros", runtime.zeros, name(variable))
        if bar is None:
            return self.walk.adjoints.zero(variable)
        if variable in self.walk.statements.perhaps:  # the variable may be unbound
            return name(bar.name)
        own_kind = self.kinds.get(variable, kind if variable in self.walk.paths.watched else None)
        plain = bar.name not in self.walk.adjoints.held.sizeless and not any(map(is_short, c.kinds.values()))
        if isinstance(own_kind, Number) and own_kind.type is float and plain:
            return name(bar.name)
        return self._handed(c, variable, bar, bar.exact and plain, again)

    def _handed(self, c: Compilation, variable: str, bar: Bar, is_exact: bool, again: bool) -> gast.AST:
        """An adjoint with the shape and dtype of its variable, in memory of its own."""
        kind = self.kind(variable)
        if bar.own and not again and bar.exact and isinstance(kind, (Array, Container, Instance)):
            return name(bar.name)
        if is_exact and isinstance(kind, Array) and kind.rank:
            return expression("x.copy()", x=name(bar.name))
        return call(c.unit, "like", runtime.like, name(variable), name(bar.name))

    def _element(self, c: Compilation, sequence: str, k: int, bar: Bar | None) -> gast.AST:
        """The gradient in an item of a variable."""
        item = gast.Subscript(name(sequence), constant(k), gast.Load())
        if bar is None:
            return call(c.unit, "zeros", runtime.zeros, item)
        return call(c.unit, "like", runtime.like, item, gast.Subscript(name(bar.name), constant(k), gast.Load()))

    def cut(self, c: Compilation) -> list[Compilation]:
        """The one function."""
        return [c.part(self.emitted, c.tree)]

    def finish(self, c: Compilation) -> None:
        """Give the function its name, docstring and default seed."""
        c.tree.args.kw_defaults[-1] = constant(self.emitted.defaults[self.seed])
        c.tree.body.insert(0, gast.Expr(constant(title(stem_of(self.function), self.variables, self.options))))
        c.tree.name = self.emitted.name
        kind = self.kind(self.swept.result)
        self.emitted.numpy = isinstance(kind, Number) and kind.type is not float
        self.emitted.header = described(self.kinds)
        self.emitted.header += _convention([p for p in self.variables if is_complex(self.kinds.get(p))], self.options)


def _may_be_complex(unit: Unit, result: Kind, options: Options) -> bool:
    """Whether a cotangent of the result is complex, and no gradient without one."""
    is_complex_one = unit.derivative.complex and not is_real(result)
    return is_complex_one and not (options.holomorphic and isinstance(result, Number))


def _conjugate(unit: Unit, kind: Kind, gradient: gast.AST) -> gast.AST:
    """The conjugate of the gradient in an argument of this kind."""
    if not unit.derivative.complex or is_real(kind):
        return gradient
    if isinstance(kind, Array) or type(kind) is Number:
        return call(unit, "conj", np.conj, gradient)
    return call(unit, "conjugated", runtime.conjugated, gradient)


def _convention(variables: list[str], options: Options) -> str:
    """What the gradients in complex arguments are, as a further line of the header.

    >>> _convention(["z"], Options())
    '\\nz_bar = dL/dRe - i dL/dIm: descend along np.conj(z_bar)'
    """
    if not variables:
        return ""
    bar = f"{variables[0]}_bar"
    if options.conjugate:
        return f"\n{bar} = dL/dRe - i dL/dIm, of which the conjugate is returned: descend along it"
    return f"\n{bar} = dL/dRe - i dL/dIm: descend along np.conj({bar})"
