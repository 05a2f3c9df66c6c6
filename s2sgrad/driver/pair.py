"""A callee on the differentiated path: one function that records, and one that is its adjoint.

def helper(x): return x * x      ->      def helper_fwd(x): y = x * x; return y, (x,)
                                         def helper_bwd(saved, seed): (x,) = saved; return seed * x + x * seed

An adjoint that reads nothing but the arguments takes them itself (`Pair.needs`), and the call keeps its form.  So does the
call of a function under `checkpoint`, whose adjoint begins with the forward sweep.
"""

from __future__ import annotations

import types

import gast

from s2sgrad.analysis import effects, reached_codes
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.cleanup import temporaries
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.differentiated import Differentiated, follows_own_rules
from s2sgrad.driver.emitted import Paired, free_data, in_order, mark, marked, own_data, writes_arrays
from s2sgrad.flow.facts import Facts
from s2sgrad.inplace import own_arguments
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import assign, constant, empty_arguments, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Origin, Unit, parameters
from s2sgrad.memory.aliases import Aliases
from s2sgrad.memory.sources import has_memory
from s2sgrad.memory.stacks import recorded_stacks
from s2sgrad.runtime import checks, shadows
from s2sgrad.runtime.traits import Slots, declare
from s2sgrad.source import branches
from s2sgrad.transform import escape_copies, results
from s2sgrad.transform.unbound import nothing_like


class Callee(Differentiated):
    """The pair of a function in its `active` parameters.

    `kept_apart`: the adjoint may run after free names were rebound; `idle` is the level of the cotangent (`zeros`).
    """

    owns_arguments = False
    inner = True

    def __init__(
        self, target: types.FunctionType, kinds: dict[str, Kind], active: set[str], idle: int, entry: Paired,
        kept_apart: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.target, self.given, self.active, self.idle = target, kinds, active, idle
        self.entry, self.kept_apart = entry, kept_apart

    def require(self, c: Compilation) -> None:
        """Refuse a function that writes its arguments."""
        results.require_untouched(c.unit, c.primal.tree, c.aliases.written)
        own_arguments.check_copied(c.unit, c.tree)
        self.order = tuple(p.id for p in parameters(c.tree) if p.id in self.active)

    def wrt(self, c: Compilation) -> set[str]:
        """The active parameters."""
        return set(self.active)

    def reverse(self, c: Compilation) -> gast.FunctionDef:
        """Both sweeps, returning the value and the cotangents; `cut` splits them."""
        unit, pair = c.unit, self.entry.pair
        tree = self.sweep(c, "seed", self.idle)
        result, bars = self.swept.result, self.swept.bars
        declare(pair.bwd, own_rules=follows_own_rules(c))
        declare(pair.bwd, flat=results.is_flat(self.swept.kinds.get(result), self.swept.active))
        pair.sizeless |= {p for p in self.order if p in bars and bars[p].name in self.walk.adjoints.held.sizeless}
        pair.doubles |= {p for p in self.order if p in bars and self._is_of_doubles(p)}
        pair.idle |= {p: bars[p].idle if p in bars else None for p in self.order}
        cotangents = [self._cotangent(c, tree, p) for p in self.order]
        value = unit.local("y")
        kept = escape_copies.value(unit, self.walk.records, name(result), self.swept.kinds.get(result))
        forward = [*tree.body, assign(value, kept)]
        mark(forward, "forward")
        returned = gast.Tuple([name(value), gast.Tuple(cotangents, gast.Load())], gast.Load())
        tree.body = [*forward, *self.swept.reverse, *marked([gast.Return(returned)], "reverse")]
        return tree

    def _is_of_doubles(self, parameter: str) -> bool:
        kind = self.swept.kinds.get(parameter)
        return isinstance(kind, Array) and kind.dtype == "float64"

    def _cotangent(self, c: Compilation, tree: gast.FunctionDef, parameter: str) -> gast.AST:
        bar = self.swept.bars.get(parameter)
        zero = self.walk.adjoints.zero(parameter)
        if bar is not None and parameter in self.walk.adjoints.mirrored and isinstance(c.kinds.get(parameter), Container):
            return call(c.unit, "each_once", shadows.each_once, name(bar.name), name(bar.name))
        if bar is not None:
            return name(bar.name)
        if not c.primal.is_generated or isinstance(self.given.get(parameter), (Number, Array)):
            return zero
        record_copy = c.unit.local(f"{parameter}_bar")  # zero like the record, read before its stacks are emptied
        tree.body.insert(0, assign(record_copy, zero))
        return name(record_copy)

    # --- two functions ---

    def cut(self, c: Compilation) -> list[Compilation]:
        """The recording function, if one is needed, and the adjoint."""
        unit, pair = c.unit, self.entry.pair
        declare(pair.bwd, restores=writes_arrays(unit, c.tree.body))
        forward, reverse, value = self.sweeps(c)
        exposed = Facts(gast.FunctionDef("", empty_arguments(), reverse, [], None, None, [])).liveness.at_start
        given = set(self.parameters)
        bound = (effects.written(forward) & unit.locals) | given
        saved = [n for n in in_order(forward, self.parameters) if n in exposed & bound]
        temporaries.agree(unit, c.tree, saved)
        outer = free_data(unit, reverse, exposed - bound) if self.kept_apart else {}
        forward, value = escape_copies.without_copy(unit, forward, value, saved, given)
        plain = self._reads_arguments_alone(c, forward, saved) and not outer
        if plain and not c.callees.options.debug:  # `debug` checks what the forward function computes
            pair.needs = tuple(saved)
            return [self._adjoint(c, reverse, list(saved))]
        copies, record_values = own_data(unit, forward, saved, bound) if self.kept_apart else ([], [*map(name, saved)])
        first = self._recording(c, [*forward, *marked(copies, "forward")], saved, value, [*record_values, *outer.values()])
        record = unit.local("saved")
        records = self.walk.records
        own = {*records.storage.stacks} - records.storage.referring | recorded_stacks(unit, c.tree)
        shared = self._shared(c, first.tree, saved) if pair.bwd.traits.restores else frozenset()
        declare(pair.bwd, slots=Slots(frozenset(k for k, n in enumerate(saved) if n in own), shared))
        if saved or outer:
            unpacked = gast.Tuple([name(n, store=True) for n in (*saved, *outer)], gast.Store())
            reverse[:0] = marked([assign(unpacked, name(record))], "reverse")
        return [first, self._adjoint(c, reverse, [record])]

    def sweeps(self, c: Compilation) -> tuple[list[gast.AST], list[gast.AST], gast.AST]:
        """The forward sweep; the reverse sweep with its `return`; and the value."""
        body = c.tree.body
        middle = next(k for k, s in enumerate(body) if s.origin.sweep == "reverse")
        value, cotangents = body[-1].value.elts
        body[-1].value = cotangents if len(self.order) != 1 else cotangents.elts[0]
        return body[:middle], body[middle:], value

    def _reads_arguments_alone(self, c: Compilation, forward: list[gast.AST], saved: list[str]) -> bool:
        """Whether the adjoint reads nothing but arguments that the caller could pass to it, and the forward sweep checks
        nothing that the function itself does not."""
        unchanged = not set(saved) & effects.written(forward)
        variadic = self.arguments.vararg is not None and self.arguments.vararg.id in saved
        runs = not branches.codes() or not reached_codes.may_run([self.target], branches.codes())
        runs = runs and not any(_checks(c.unit, s) for s in effects.walk(forward))
        return runs and not self.entry.used and unchanged and not variadic and all(n in self.given for n in saved)

    def _recording(
        self, c: Compilation, forward: list[gast.AST], saved: list[str], value: gast.AST, record: list[gast.AST]
    ) -> Compilation:
        """The forward sweep, returning the value and a record. A saved variable that may be unbound at its end is first set
        to None, or to an empty value of its kind where names have shadows."""
        returned = gast.Tuple([value, gast.Tuple(record, gast.Load())], gast.Load())
        forward.append(gast.Return(returned))
        holder = gast.FunctionDef("", self.arguments, forward, [], None, None, [])
        unbound = filter(Facts(holder).lifetimes.may_end_unbound, saved)
        kinds = self.swept.kinds if c.unit.mirror.names else {}
        forward[:0] = marked([assign(n, nothing_like(c.unit, kinds.get(n))) for n in unbound], "forward")
        forward[-1].origin = forward[-2].origin if len(forward) > 1 else Origin("forward", 0, 0, None)
        emitted = self.entry.pair.fwd
        declare(emitted, makes_record=True)
        return c.part(emitted, gast.FunctionDef(emitted.name, self.arguments, forward, [], None, None, []))

    def _shared(self, c: Compilation, tree: gast.FunctionDef, saved: list[str]) -> frozenset[tuple[int, int]]:
        """Pairs of slots of a record that may share memory."""
        aliases, place = Aliases(c.unit, tree, self.swept.kinds), {n: k for k, n in enumerate(saved)}
        among = {n: aliases.memory_of(n, tree.body[-1]) & place.keys() for n in saved if has_memory(self.swept.kinds.get(n))}
        return frozenset((place[n], place[m]) for n, others in among.items() for m in others if m in among and m != n)

    def _adjoint(self, c: Compilation, reverse: list[gast.AST], heads: list[str]) -> Compilation:
        """The adjoint as a function of `heads` (the record, or the arguments that it reads) and the seed."""
        arguments = empty_arguments()
        arguments.args = [gast.Name(n, gast.Param(), None, None) for n in (*heads, self.seed)]
        emitted = self.entry.pair.bwd
        return c.part(emitted, gast.FunctionDef(emitted.name, arguments, reverse, [], None, None, []))

    def finish(self, c: Compilation) -> None:
        """Add the docstring of the recording function or of the adjoint."""
        records = c.emitted is self.entry.pair.fwd
        what = "Value of `{}`, and what its adjoint reads." if records else "Adjoint of `{}` in {}."
        c.tree.body.insert(0, gast.Expr(constant(what.format(self.target.__name__, ", ".join(self.order)))))


def _checks(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement refuses what turns out when the function runs."""
    return getattr(unit.called(alone(statement)), "__module__", None) == checks.__name__
