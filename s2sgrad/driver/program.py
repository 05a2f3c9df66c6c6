"""One gradient and its callees: the functions that are written as one text.

def loss(w): return helper(w) * 2.0     ->     helper_fwd, helper_bwd, loss_grad

`pipeline` has the stages; this module answers what they ask about callees.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.primitive_calls import is_user_function, of_foreign_call
from s2sgrad.analysis.symbolic_shapes import renumbered, without_symbols
from s2sgrad.analysis.widening import any_float, widened
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver import compilation
from s2sgrad.driver.along_seed import AlongSeed
from s2sgrad.driver.compilation import Compilation, Observer, Purpose
from s2sgrad.driver.emitted import Emitted, Paired, bound_kinds, stem_of, with_defaults
from s2sgrad.driver.entry import Entry
from s2sgrad.driver.forward import TangentCallee, TangentEntry
from s2sgrad.driver.options import Options
from s2sgrad.driver.pair import Callee
from s2sgrad.driver.pipeline import KINDS, KNOWN, PIPELINE, READ
from s2sgrad.driver.recomputed import Recomputed
from s2sgrad.driver.result_kinds import ResultKinds
from s2sgrad.errors import S2SGradError
from s2sgrad.forward.left_out import Values, widest
from s2sgrad.inplace import writers_with_pairs
from s2sgrad.ir import names
from s2sgrad.ir.quote import mentioned
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Unit
from s2sgrad.legality.complex_values import ComplexFound
from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.runtime.traits import Traits
from s2sgrad.source import Primal, read
from s2sgrad.transform.calls import Pair


@dataclass
class _Made:
    """What was read and compiled so far, by what it was asked for."""

    primals: dict[int, Primal] = field(default_factory=dict)  # by the `id` of their functions
    pairs: dict[Any, Paired] = field(default_factory=dict)
    tangents: dict[Any, Emitted] = field(default_factory=dict)
    written: dict[Any, types.FunctionType] = field(default_factory=dict)  # variants that return what they write
    gradients: dict[Any, Any] = field(default_factory=dict)  # functions of gradients that are called, or their refusals
    kept: list[Any] = field(default_factory=list)  # kept alive, for their identities are keys


class Program:
    """Compiles one gradient.  `functions` are written in list order; `backend` may lower the function that is being compiled
    and its callees."""

    def __init__(self, observer: Observer | None = None, backend: Backend = NUMPY, kept_apart: bool = False) -> None:
        self.observer, self.backend = observer, backend
        self.functions: list[Emitted] = []
        self.units: list[Unit] = []
        self.names = names.Namer()
        self.options = Options()
        self.forms: dict[Any, Any] = {}
        self._made = _Made()
        self._results = ResultKinds(self._result_kind)
        self.generated: list[tuple[Any, Kinds, Any]] = []  # gradients that are called: (gradient, kinds, compiled)
        self.written: tuple[str, ...] = ()
        self.kept_apart = kept_apart  # the reverse sweep may run after free names were rebound
        self.keeps_states = False  # there are loops over `checkpointed`, and they keep no records of every trip
        self.hands_buffers = False  # the text is not one to be differentiated again
        self._compiling: list[tuple[Any, Paired | None]] = []  # functions whose pairs or tangents are being compiled

    def gradient(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options
    ) -> Emitted:
        """Compile `name_grad` or `name_value_and_grad` for parameters of these kinds.

        Also `name_jvp`, by the options.
        """
        primal = self._read(function)
        self._reserve(primal)
        emitted = Emitted(self.names.fresh(f"{stem_of(function)}_{options.suffix}"), function)
        self.options = options
        kind = AlongSeed if options.along == "seed" else TangentEntry if options.forward else Entry
        entry = kind(function, kinds, wrt, options, emitted)
        self._write(Compilation(primal, self, entry.kinds, entry))
        self.written = entry.written
        return emitted

    def known(self, primal: Primal, kinds: dict[str, Kind], purpose: Purpose | None = None) -> Compilation:
        """A function after alias elimination, with the kinds of its variables and the arguments that it writes."""
        self._made.primals.setdefault(id(primal.function), primal)
        (c,) = compilation.run(KNOWN, Compilation(primal, self, kinds, purpose or Purpose()))
        return c

    def _write(self, c: Compilation) -> None:
        """Run a function through all stages, and keep the functions that come out."""
        for part in compilation.run(PIPELINE, c):
            c.purpose.finish(part)
            part.emitted.unit, part.emitted.tree = part.unit, part.tree
            self.functions.append(part.emitted)

    def _read(self, function: types.FunctionType) -> Primal:
        """A function with its tree, which is shared: every normal form begins with a copy."""
        primal = self._made.primals.get(id(function))
        if primal is None:
            primal = self._made.primals[id(function)] = read(function)
            self._made.kept.append(function)
        return primal

    def _reserve(self, primal: Primal) -> None:
        """Reserve the names that a function mentions."""
        self.names.taken |= mentioned(primal.tree)

    @property
    def entry(self) -> types.FunctionType:
        """The function that is compiled, which calls all others."""
        return next(iter(self._made.primals.values())).function

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of the callees."""
        return [paired.pair for paired in self._made.pairs.values()]

    @property
    def tangents(self) -> list[Emitted]:
        """The callees with their tangents."""
        return [*self._made.tangents.values()]

    # --- answers to the stages (compilation.Callees) ---

    def note(self, unit: Unit) -> None:
        """Record that the text is specialised on the names of this function, and of those inlined into it."""
        self.units += [unit, *unit.inlining.units]

    def choose_backend(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        """Choose the backend for a function and its callees: the current one, if it takes the function."""
        if unit.derivative.complex or not self.backend.takes(unit, tree, kinds.values()):
            self.backend = NUMPY
        for _, entry in self._compiling[-1:]:
            if entry is not None:
                entry.backend = self.backend

    def normal_form(self, target: types.FunctionType) -> tuple[Unit, gast.FunctionDef]:
        """The unit and the normal form of a callee."""
        (c,) = compilation.run(READ, Compilation(self._read(target), self, None))
        return c.unit, c.tree

    def written_by(self, target: types.FunctionType, forms: dict[str, Any]) -> types.FunctionType:
        """A variant of a function that returns, after its value, the final state of these arguments."""
        key = (id(target), tuple(forms.items()))
        if key not in self._made.written:
            function, tree = writers_with_pairs.written(target, forms)
            primal = self._read(target)
            self._made.primals[id(function)] = Primal(function, tree, primal.file, primal.lines)
            self._made.written[key] = function
        return self._made.written[key]

    def has_source(self, target: Any) -> bool:
        """Whether a callable that is no Python function has source all the same: a gradient."""
        return has(target, "compiled_for")

    def plain(self, target: Any, kinds: dict[str, Kind]) -> Any:
        """The function itself; for a gradient, the function generated for arguments of these kinds."""
        if not has(target, "compiled_for"):
            return target
        key = (id(target), tuple(kinds.items()))
        if key not in self._made.gradients:
            exact = {p: without_symbols(k) or UNKNOWN for p, k in kinds.items()}
            try:
                compiled = target.compiled_for(exact, self.options.complex)
                if compiled.recipe.complex and not self.options.complex:
                    raise ComplexFound
            except S2SGradError as refused:
                self._made.gradients[key] = refused
            else:
                self.generated.append((target, Kinds(tuple(exact.items())), compiled))
                self._made.gradients[key] = compiled.function
        if isinstance(self._made.gradients[key], S2SGradError):
            raise self._made.gradients[key]
        return self._made.gradients[key]

    def kind(self, target: Any, kinds: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
        """The kind of a callee's result for arguments of these kinds."""
        if not is_user_function(target) and not self.has_source(target):
            return of_foreign_call(target)
        try:
            plain = self.plain(target, bound_kinds(target, kinds, keywords))
            bound = bound_kinds(plain, kinds, keywords)  # its own defaults: the seed of a gradient
        except (S2SGradError, TypeError):
            return UNKNOWN
        return self._results.of(plain, bound)

    def _result_kind(self, target: Any, bound: dict[str, Kind], first: bool) -> Kind | None:
        """The kind of a result, by the kinds of callees' results that are known so far; in the `first` round, where no text
        can be settled by these, by the text as it is."""
        try:
            c = self.known(self._read(target), bound)
        except S2SGradError:
            if not first:
                raise
            (c,) = compilation.run(KINDS, Compilation(self._read(target), self, bound))
            if c.kinds.get(c.tree.body[-1].value.id) is None:
                raise
        return without_symbols(c.kinds.get(c.tree.body[-1].value.id))

    def arguments(self, unit: Unit, target: Any, node: gast.Call) -> dict[str, Any]:
        """The argument nodes of a call by the callee's parameters (a list for `*args`), in parameter order."""
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

    def _callee(self, target: Any, kinds: dict[str, Any]) -> tuple[Any, dict[str, Kind]]:
        """The function itself, and the kinds of its arguments for which it is compiled."""
        kinds_by_name = {p: Container(tuple, tuple(k)) if isinstance(k, list) else k for p, k in kinds.items()}
        target = self.plain(target, kinds_by_name)
        kinds_by_name = renumbered({p: any_float(k) for p, k in kinds_by_name.items()})  # one text for any float
        if any(running is target for running, _ in self._compiling):
            kinds_by_name = {p: widened(k) for p, k in kinds_by_name.items()}
        return target, kinds_by_name

    def pair(self, target: Any, kinds: dict[str, Any], active: set[str], split: bool = False, *, idle: int = 0) -> Pair:
        """The pair of a callee for arguments of these kinds (a list of kinds for `*args`).

        With `split` always `fwd` and `bwd`, even if `bwd` reads nothing but the arguments.  `idle`: the level of the
        result's cotangent (see `transform.zeros`).
        """
        self.kept_apart |= split
        target, kinds_by_name = self._callee(target, kinds)
        key = (id(target), tuple(kinds_by_name.items()), frozenset(active), idle)
        entry = self._made.pairs.get(key)
        if entry is not None and entry.backend in (NUMPY, self.backend):
            entry.used = True
            return entry.pair
        self._reserve(self._read(target))
        stem = stem_of(target)
        fwd = Emitted(self.names.fresh(f"{stem}_fwd"), target)
        bwd = Emitted(self.names.fresh(f"{stem}_bwd"), target, traits=Traits(same_signature=False, takes_record=True))
        order = tuple(p for p in signature(target).parameters if p in active)
        backend = self.backend
        entry = self._made.pairs[key] = Paired(Pair(fwd, bwd, order, None), split, backend)
        self._made.kept.append(target)
        valued = bool(self._compiling) or self._read(target).is_generated  # another function of this code has other defaults
        self._compiling.append((target, entry))
        try:
            callee = Callee if behind_checkpoint(target) is None else Recomputed
            purpose = callee(target, kinds_by_name, active, idle, entry, self.kept_apart)
            self._write(Compilation(self._read(target), self, with_defaults(target, kinds_by_name, valued), purpose))
        finally:
            self._compiling.pop()
            self.backend = backend
        return entry.pair

    def tangent(self, target: Any, kinds: dict[str, Any], active: set[str], left: dict[str, Values]) -> Emitted:
        """The function that returns value and tangent of a callee, for arguments of these kinds (a list for `*args`);
        `left`: of which something is left out (`forward.left_out`)."""
        target, kinds_by_name = self._callee(target, kinds)
        if any(target is compiling for compiling, _ in self._compiling):
            left = {p: widest(values) for p, values in left.items()}
        key = (id(target), tuple(kinds_by_name.items()), frozenset(active), tuple(left.items()))
        if key in self._made.tangents:
            return self._made.tangents[key]
        self._reserve(self._read(target))
        emitted = self._made.tangents[key] = Emitted(self.names.fresh(f"{stem_of(target)}_jvp"), target)
        order = tuple(p for p in signature(target).parameters if p in active)
        self._made.kept.append(target)
        self._compiling.append((target, None))
        try:
            purpose = TangentCallee(target, kinds_by_name, order, emitted, self.options.lanes, left)
            self._write(Compilation(self._read(target), self, with_defaults(target, kinds_by_name), purpose))
        finally:
            self._compiling.pop()
        return emitted
