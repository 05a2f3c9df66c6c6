"""One gradient and everything that it calls: the functions that are written together and read together.

def loss(w): return helper(w) * 2.0     ->     helper_fwd, helper_bwd, loss_grad
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import array_likes, branch_pruning, effects
from s2sgrad.analysis.inference import Inference, known_sequences
from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Array,
    Container,
    Kind,
    Number,
    any_float,
    is_complex,
    join,
    kinds_of,
    module_of,
    opened,
    widened,
)
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.primitive_calls import is_user_function, of_foreign_call, own_methods
from s2sgrad.analysis.symbolic_shapes import renumbered, without_symbols
from s2sgrad.analysis.type_text import described
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.cleanup import copy_propagation
from s2sgrad.driver.emitted import (
    Emitted,
    Joined,
    Paired,
    bound_kinds,
    free_data,
    gradient_in,
    in_order,
    mark,
    marked,
    own_data,
    stem_of,
    title,
    with_defaults,
    writes_arrays,
)
from s2sgrad.driver.options import Options
from s2sgrad.driver.pipeline import Observer, cleaned, finished, normalized
from s2sgrad.errors import S2SGradError
from s2sgrad.flow.facts import Facts
from s2sgrad.inplace import alias_elimination, output_arguments, rebind_markers
from s2sgrad.ir import names, seeds
from s2sgrad.ir.quote import assign, clone, constant, empty_arguments, name, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Origin, Unit, parameters
from s2sgrad.source import Primal, read
from s2sgrad.transform import escape_copies, results, stopping
from s2sgrad.transform.calls import Pair
from s2sgrad.transform.reverse import Reverse

_ROUNDS = 6
_DEEPEST = 40


class Program:
    """Compiles one gradient.  `functions` are written in the order of their list; `backend` may lower the one that is being
    compiled, and what is called from there."""

    def __init__(self, observer: Observer | None = None, backend: Backend = NUMPY) -> None:
        self.observer, self.backend = observer, backend
        self.functions: list[Emitted] = []
        self.units: list[Unit] = []
        self.names = names.Namer()
        self._pairs: dict[Any, Paired] = {}
        self._primals: dict[int, Primal] = {}  # by the identity of their functions
        self._kinds: dict[Any, Kind | None] = {}
        self._kept: list[Any] = []
        self.generated: list[tuple[Any, Kinds, Any]] = []  # the gradients called inside, for which kinds, compiled
        self._gradients: dict[Any, Any] = {}
        self._running: list[int] = []  # functions whose kinds are being found
        self.written: tuple[str, ...] = ()
        self.kept_apart = False  # whether the reverse sweep may run when free names stand for something else
        self._compiling: list[int] = []  # functions whose pairs are being written

    # --- the entry ---

    def gradient(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options
    ) -> Emitted:
        """Compile `name_grad` or `name_value_and_grad` for parameters of these kinds."""
        primal = self._read(function)
        self._reserve(primal)
        stem = stem_of(function)
        entry = Emitted(self.names.fresh(f"{stem}_{options.suffix}"), function)
        given = {p.name: p.default for p in signature(function).parameters.values() if p.default is not p.empty}
        defaults = dict(zip(given, kinds_of(given.values()), strict=True))
        kinds = {p: {**defaults, **kinds}.get(p, UNKNOWN) for p in signature(function).parameters}
        split = results.Split() if options.has_aux else None
        ending = split.run if split else output_arguments.taking(options.outputs)
        unit, tree, inference, written = self.analysed(primal, kinds, ending=ending, stops=options.stops)
        results.require(unit, tree, inference.env, split, written, options.outputs)
        self.written = tuple(written)
        stopping.require_followed(unit, tree, inference.env, wrt, options.stops)
        alias_elimination.own_arguments(unit, tree, inference.env, written)
        seed = unit.local(seeds.word((), takes_any=tree.args.kwarg is not None))
        self.backend = self._backend_for(unit, tree, inference)
        joined = self._joined(unit, tree, inference, {p.partition("[")[0] for p in wrt}, seed, kinds)
        swept = joined.swept
        result_kind = swept.kinds.get(swept.result, UNKNOWN)
        scalar = isinstance(result_kind, Number)
        ahead: list[gast.AST] = []
        if swept.active and not scalar:
            like = call(unit, "seed_like", runtime.seed_like, name(swept.result), name(seed))
            ahead = marked([assign(seed, like)], "reverse")
        parts = [gradient_in(joined, p, options, p in wrt[:k]) for k, p in enumerate(wrt)]
        display = gast.List if options.listed else gast.Tuple
        returned: gast.AST = display(parts, gast.Load()) if options.several else parts[0]
        joined.tree.body += results.checks(unit, swept.result, result_kind, swept.active)
        ends, returned = results.beside(unit, joined.reverse.records, swept, options.value, split, returned)
        joined.tree.body += ends
        mark(joined.tree.body, "forward")
        joined.tree.body += [*ahead, *swept.reverse, *marked([gast.Return(returned)], "reverse")]
        tree = self._finished(entry, unit, self._cleaned(unit, joined.tree))
        tree.args.kw_defaults[-1] = constant(default := None if swept.active and not scalar else 1.0)
        tree.body.insert(0, gast.Expr(constant(title(stem, wrt, options))))
        tree.name = entry.name
        entry.unit, entry.tree, entry.defaults, entry.scalar = unit, tree, {seed: default}, scalar
        entry.header = described(kinds)
        self.functions.append(entry)
        return entry

    # --- pieces shared by entries and pairs ---

    def _read(self, function: types.FunctionType) -> Primal:
        """A function with its tree, which nobody changes: every normal form begins with a copy."""
        primal = self._primals.get(id(function))
        if primal is None:
            primal = self._primals[id(function)] = read(function)
            self._kept.append(function)
        return primal

    def _reserve(self, primal: Primal) -> None:
        """Keep the names that a function mentions for what it means by them."""
        self.names.taken |= {n.id for n in nodes(primal.tree) if isinstance(n, gast.Name)}

    def analysed(
        self, primal: Primal, kinds: dict[str, Kind], entry: bool = True, ending: output_arguments.Ending | None = None,
        stops: tuple[str, ...] = (),
    ) -> tuple[Unit, gast.FunctionDef, Inference, dict[str, gast.AST]]:
        """A function in normal form, one name a memory; its kinds, and the parameters that it writes."""
        unit, tree = self.normal_form(primal.function, kinds, stops)
        if ending is not None:
            ending(unit, tree)

        def infer() -> Inference:
            inference = Inference(unit, {p.id: kinds.get(p.id, UNKNOWN) for p in parameters(tree)}, self.kind)
            inference.run(tree)
            if branch_pruning.choose(unit, tree, inference) or array_likes.convert(unit, tree, inference):
                return infer()
            lasting = rebind_markers.lasting(unit, tree, known_sequences(unit, tree, inference))
            copy_propagation.read_through(unit, tree, lasting.__contains__)
            return inference

        return unit, tree, *alias_elimination.run(unit, tree, infer, self, entry)

    def normal_form(
        self, target: types.FunctionType, kinds: dict[str, Kind] | None = None, stops: tuple[str, ...] = ()
    ) -> tuple[Unit, gast.FunctionDef]:
        """The unit and the normal form of a function for arguments of these kinds."""
        held = {p: module_of(kind) or opened(kind) for p, kind in (kinds or {}).items()}
        unit, tree = normalized(self._read(target), {p: o for p, o in held.items() if o}, stops, own_methods(kinds or {}))
        self.units += [unit, *unit.inlined]
        return unit, clone(tree)  # a node that stands in two places would be changed in both

    def _joined(
        self,
        unit: Unit,
        tree: gast.FunctionDef,
        inference: Inference,
        wrt: set[str],
        seed: str,
        given: dict[str, Kind] | None = None,
        idle: int = 0,
    ) -> Joined:
        kinds = unit.kinds = inference.env
        given = {p: kinds.get(p, UNKNOWN) for p in wrt} if given is None else given
        for parameter in wrt:
            if is_complex(kinds.get(parameter)):
                unit.refuse(unit.primal.tree, f"`{parameter}` is complex, which cannot be differentiated yet: "
                                                  "pass its real and imaginary parts as two float arguments")  # fmt: skip
        reverse = Reverse(unit, tree, inference, self, wrt, seed, idle)
        result = kinds.get(reverse.result, UNKNOWN)
        kinds[seed] = Number(None) if isinstance(result, Number) else result
        swept = reverse.run()
        unit.kinds = swept.kinds
        escape_copies.attributes(unit, swept.forward, reverse.records, kinds)
        arguments = clone(tree.args)
        arguments.kwonlyargs = [*arguments.kwonlyargs, gast.Name(seed, gast.Param(), None, None)]
        arguments.kw_defaults = [*arguments.kw_defaults, constant(None)]
        joined = gast.FunctionDef(tree.name, arguments, list(swept.forward), [], None, None, [])
        return Joined(unit, joined, swept, reverse, given)

    def _cleaned(self, unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
        if self.observer is not None:
            self.observer("reverse", unit, tree)
        return cleaned(unit, tree, self.observer)

    def _backend_for(self, unit: Unit, tree: gast.FunctionDef, inference: Inference) -> Backend:
        """The backend that may lower a function and what is called from there."""
        return self.backend if self.backend.takes(unit, tree, inference.env.values()) else NUMPY

    def _finished(self, emitted: Emitted, unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
        def lower(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
            if self.backend.lower(unit, tree):
                emitted.backend = self.backend
            return tree

        return finished(unit, tree, lower, self.observer)

    # --- calls (transform.calls.Pairs) ---

    def has_source(self, target: Any) -> bool:
        """Whether a callable that is no plain function can be differentiated from its source all the same."""
        return hasattr(target, "compiled_for")

    def plain(self, target: Any, kinds: dict[str, Kind]) -> Any:
        """The function itself; of a gradient, what it generates for arguments of these kinds."""
        if not hasattr(target, "compiled_for"):
            return target
        key = (id(target), tuple(kinds.items()))
        if key not in self._gradients:
            exact = {p: without_symbols(k) or UNKNOWN for p, k in kinds.items()}
            compiled = target.compiled_for(exact)
            self.generated.append((target, Kinds(tuple(exact.items())), compiled))
            self._gradients[key] = compiled.function
        return self._gradients[key]

    def kind(self, target: Any, kinds: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
        """The kind of a user function's result for arguments of these kinds."""
        if not is_user_function(target) and not self.has_source(target):
            return of_foreign_call(target)
        try:
            bound = bound_kinds(target, kinds, keywords)
            target = self.plain(target, bound)
            if id(target) in self._running:
                bound = {p: widened(k) for p, k in bound.items()}
            key = (id(target), tuple(bound.items()))
            if key in self._kinds:
                return self._kinds[key]
            if len(self._running) > _DEEPEST:
                return UNKNOWN
            self._kinds[key] = None
            self._kept.append(target)
            self._running.append(id(target))
            try:
                for _ in range(_ROUNDS):  # a recursion starts from "no value yet" and grows to a fixed point
                    before = self._kinds[key]
                    _, tree, inference, _ = self.analysed(self._read(target), bound)
                    self._kinds[key] = join(before, inference.env.get(tree.body[-1].value.id))
                    if self._kinds[key] == before:
                        break
                else:
                    self._kinds[key] = UNKNOWN
            finally:
                self._running.pop()
        except (S2SGradError, TypeError):
            return UNKNOWN
        return self._kinds[key]

    def arguments(self, unit: Unit, target: Any, node: gast.Call) -> dict[str, Any]:
        """The call's argument nodes by the callee's parameters (a list for `*args`), in the callee's order."""
        try:
            bound = signature(target).bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except ValueError:
            unit.refuse(node, f"`{target.__name__}` cannot be read and has no derivative rule: use a list, a dict or arrays")
        except TypeError as error:
            unit.refuse(node, f"this call does not fit the signature of `{target.__name__}`: {error}")
        variadic = {p.name for p in signature(target).parameters.values() if p.kind is p.VAR_POSITIONAL}
        keyword = {p.name for p in signature(target).parameters.values() if p.kind is p.VAR_KEYWORD}
        if keyword & set(bound.arguments):
            unit.refuse(node, f"`**` parameters of `{target.__name__}` are not differentiated yet: name the keywords")
        return {p: list(v) if p in variadic else v for p, v in bound.arguments.items()}

    def pair(self, target: Any, kinds: dict[str, Any], active: set[str], split: bool = False, *, idle: int = 0) -> Pair:
        """The pair of a user function for arguments of these kinds (a list of kinds for `*args`).

        With `split` it is always `fwd` and `bwd`, even if `bwd` needs the arguments only.  `idle`: the level of the result's
        cotangent (see `transform.zeros`).
        """
        self.kept_apart |= split
        given = {p: Container(tuple, tuple(k)) if isinstance(k, list) else k for p, k in kinds.items()}
        target = self.plain(target, given)
        given = renumbered({p: any_float(k) for p, k in given.items()})  # one pair for Python's and NumPy's floats
        if id(target) in self._compiling:
            given = {p: widened(k) for p, k in given.items()}
        key = (id(target), tuple(given.items()), frozenset(active), idle)
        entry = self._pairs.get(key)
        if entry is not None and entry.backend in (NUMPY, self.backend):
            entry.used = True
            return entry.pair
        self._reserve(self._read(target))
        stem = stem_of(target)
        fwd = Emitted(self.names.fresh(f"{stem}_fwd"), target)
        bwd = Emitted(self.names.fresh(f"{stem}_bwd"), target, same_signature=False)
        order = tuple(p for p in signature(target).parameters if p in active)
        entry = self._pairs[key] = Paired(Pair(fwd, bwd, order, None), split, self.backend)
        self._kept.append(target)
        self._compiling.append(id(target))
        backend = self.backend
        try:
            self._compile_pair(target, given, active, idle, entry)
        finally:
            self._compiling.pop()
            self.backend = backend
        return entry.pair

    def _compile_pair(
        self, target: types.FunctionType, given: dict[str, Kind], active: set[str], idle: int, entry: Paired
    ) -> None:
        primal = self._read(target)
        unit, tree, inference, written = self.analysed(primal, with_defaults(target, given), entry=False)
        for parameter, statement in written.items():
            unit.refuse(statement, f"this writes the argument `{parameter}` of a function that was not expected to: return "
                                   "a new array from it")  # fmt: skip
        if any(value is runtime.set_attribute for value in unit.helpers.values()):
            unit.refuse(primal.tree, "attributes of the caller's objects are written by a function that is not written out "
                                     "where it is called, which is not differentiated yet: return the values")  # fmt: skip
        order = tuple(p.id for p in parameters(tree) if p.id in active)
        result = tree.body[-1].value.id
        seed = unit.local("seed")
        self.backend = entry.backend = self._backend_for(unit, tree, inference)
        joined = self._joined(unit, tree, inference, set(order), seed, idle=idle)
        swept = joined.swept
        entry.pair.bwd.flat = results.is_flat(swept.kinds.get(result), swept.active)
        entry.pair.idle |= {p: swept.bars[p].idle if p in swept.bars else None for p in order}
        bars = []
        for parameter in order:
            bar = swept.bars.get(parameter)
            zero = joined.reverse.adjoints.zero(parameter)
            if bar is None and primal.is_generated and not isinstance(given.get(parameter), (Number, Array)):
                held = unit.local(f"{parameter}_bar")  # of a record, before its stacks are emptied
                joined.tree.body.insert(0, assign(held, zero))
                zero = name(held)
            bars.append(name(bar.name) if bar is not None else zero)
        value = unit.local("y")
        kept = escape_copies.value(unit, joined.reverse.records, name(result), swept.kinds.get(result))
        forward = [*joined.tree.body, assign(value, kept)]
        mark(forward, "forward")
        returned = gast.Tuple([name(value), gast.Tuple(bars, gast.Load())], gast.Load())
        joined.tree.body = [*forward, *swept.reverse, *marked([gast.Return(returned)], "reverse")]
        whole = self._cleaned(unit, joined.tree)
        entry.pair.bwd.restores = writes_arrays(unit, whole.body)
        cut = next(k for k, s in enumerate(whole.body) if s.origin.sweep == "reverse")
        forward, reverse = whole.body[:cut], whole.body[cut:]
        value_node, bars_node = reverse[-1].value.elts
        reverse[-1].value = bars_node if len(order) != 1 else bars_node.elts[0]
        exposed = Facts(gast.FunctionDef("", empty_arguments(), reverse, [], None, None, [])).liveness.at_start
        bound = (effects.written(forward) & unit.locals) | {p.id for p in parameters(tree)}
        saved = [n for n in in_order(forward, tree) if n in exposed & bound]
        outer = free_data(unit, reverse, exposed - bound) if self.kept_apart else {}
        forward, value_node = escape_copies.without_copy(unit, forward, value_node, saved, {p.id for p in parameters(tree)})
        unchanged = not set(saved) & effects.written(forward)
        variadic = tree.args.vararg is not None and tree.args.vararg.id in saved
        if not entry.used and unchanged and not variadic and not outer and all(n in given for n in saved):
            entry.pair.needs = tuple(saved)
            heads = [name(n) for n in saved]
        else:
            held = own_data(unit, forward, saved, bound) if self.kept_apart else map(name, saved)
            record = gast.Tuple([*held, *outer.values()], gast.Load())
            forward.append(gast.Return(gast.Tuple([value_node, record], gast.Load())))
            holder = gast.FunctionDef("", tree.args, forward, [], None, None, [])
            unbound = Facts(holder).lifetimes.unbound_at_end(id(forward)) & set(saved)
            forward[:0] = marked([assign(n, constant(None)) for n in saved if n in unbound], "forward")
            forward[-1].origin = forward[-2].origin if len(forward) > 1 else Origin("forward", 0, 0, None)
            fwd_tree = gast.FunctionDef(entry.pair.fwd.name, tree.args, forward, [], None, None, [])
            self._emit(entry.pair.fwd, unit, fwd_tree, f"Value of `{target.__name__}`, and what its adjoint reads.")
            heads = [name(unit.local("saved"))]
            if saved or outer:
                unpacked = gast.Tuple([name(n, store=True) for n in (*saved, *outer)], gast.Store())
                reverse[:0] = marked([assign(unpacked, clone(heads[0]))], "reverse")
        arguments = empty_arguments()
        arguments.args = [gast.Name(h.id, gast.Param(), None, None) for h in (*heads, name(seed))]
        bwd_tree = gast.FunctionDef(entry.pair.bwd.name, arguments, reverse, [], None, None, [])
        self._emit(entry.pair.bwd, unit, bwd_tree, f"Adjoint of `{target.__name__}` in {', '.join(order)}.")

    def _emit(self, emitted: Emitted, unit: Unit, tree: gast.FunctionDef, docstring: str) -> None:
        tree = self._finished(emitted, unit, tree)
        tree.body.insert(0, gast.Expr(constant(docstring)))
        emitted.unit, emitted.tree = unit, tree
        self.functions.append(emitted)
