"""One gradient and everything that it calls: the functions that are written together and read together.

def loss(w): return helper(w) * 2.0     ->     helper_fwd, helper_bwd, loss_grad

`pipeline` has the stages that each of them goes through; here is what they ask of the functions that are called.
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind, any_float, join, widened
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.primitive_calls import is_user_function, of_foreign_call
from s2sgrad.analysis.symbolic_shapes import renumbered, without_symbols
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver import compilation
from s2sgrad.driver.compilation import Compilation, Observer, Purpose
from s2sgrad.driver.emitted import Emitted, Paired, bound_kinds, stem_of, with_defaults
from s2sgrad.driver.entry import Entry
from s2sgrad.driver.forward import TangentCallee, TangentEntry
from s2sgrad.driver.options import Options
from s2sgrad.driver.pair import Callee
from s2sgrad.driver.pipeline import KNOWN, PIPELINE, READ
from s2sgrad.driver.recomputed import Recomputed
from s2sgrad.errors import S2SGradError
from s2sgrad.inplace import recursive_writers
from s2sgrad.ir import names
from s2sgrad.ir.quote import mentioned
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import Primal, read
from s2sgrad.transform.calls import Pair

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
        self._tangents: dict[Any, Emitted] = {}
        self._primals: dict[int, Primal] = {}  # by the identity of their functions
        self._kinds: dict[Any, Kind | None] = {}
        self._kept: list[Any] = []
        self._written: dict[Any, types.FunctionType] = {}
        self.generated: list[tuple[Any, Kinds, Any]] = []  # the gradients called inside, for which kinds, compiled
        self._gradients: dict[Any, Any] = {}
        self._running: list[int] = []  # functions whose kinds are being found
        self.written: tuple[str, ...] = ()
        self.kept_apart = False  # whether the reverse sweep may run when free names stand for something else
        self.lanes = False  # whether tangents carry lanes
        self.debug = False  # whether the text looks at each value that it makes
        self.records_all = False  # whether loops over `checkpointed` keep records of every trip
        self._compiling: list[tuple[Any, Paired | None]] = []  # functions whose pairs, or tangents, are being written

    def gradient(
        self, function: types.FunctionType, kinds: dict[str, Kind], wrt: tuple[str, ...], options: Options
    ) -> Emitted:
        """Compile `name_grad` or `name_value_and_grad` for parameters of these kinds."""
        primal = self._read(function)
        self._reserve(primal)
        emitted = Emitted(self.names.fresh(f"{stem_of(function)}_{options.suffix}"), function)
        self.lanes, self.debug, self.records_all = options.lanes, options.debug, options.records_all
        entry = (TangentEntry if options.forward else Entry)(function, kinds, wrt, options, emitted)
        self._write(Compilation(primal, self, entry.kinds, entry))
        self.written = entry.written
        return emitted

    def known(self, primal: Primal, kinds: dict[str, Kind], purpose: Purpose | None = None) -> Compilation:
        """A function in normal form, one name a memory, with its kinds and what it writes."""
        (c,) = compilation.run(KNOWN, Compilation(primal, self, kinds, purpose or Purpose()))
        return c

    def _write(self, c: Compilation) -> None:
        """Take a function through all stages, and keep what is written of it."""
        for part in compilation.run(PIPELINE, c):
            c.purpose.finish(part)
            part.emitted.unit, part.emitted.tree = part.unit, part.tree
            self.functions.append(part.emitted)

    def _read(self, function: types.FunctionType) -> Primal:
        """A function with its tree, which nobody changes: every normal form begins with a copy."""
        primal = self._primals.get(id(function))
        if primal is None:
            primal = self._primals[id(function)] = read(function)
            self._kept.append(function)
        return primal

    def _reserve(self, primal: Primal) -> None:
        """Keep the names that a function mentions for what it means by them."""
        self.names.taken |= mentioned(primal.tree)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of the functions that are called."""
        return [paired.pair for paired in self._pairs.values()]

    # --- what the stages ask (compilation.Callees) ---

    def note(self, unit: Unit) -> None:
        """The text is specialised on what the names of this function stand for, and of those written out in it."""
        self.units += [unit, *unit.inlined]

    def choose_backend(self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> None:
        """The backend for a function and what is called from there: the one here, if it takes it."""
        if not self.backend.takes(unit, tree, kinds.values()):
            self.backend = NUMPY
        for _, entry in self._compiling[-1:]:
            if entry is not None:
                entry.backend = self.backend

    def normal_form(self, target: types.FunctionType) -> tuple[Unit, gast.FunctionDef]:
        """The unit and the normal form of a function."""
        (c,) = compilation.run(READ, Compilation(self._read(target), self, None))
        return c.unit, c.tree

    def written_by(self, target: types.FunctionType, forms: dict[str, type]) -> types.FunctionType:
        """What returns, behind its value, what a function that calls itself leaves in these arguments."""
        key = (id(target), tuple(forms.items()))
        if key not in self._written:
            function, tree = recursive_writers.written(target, forms)
            primal = self._read(target)
            self._primals[id(function)] = Primal(function, tree, primal.file, primal.lines)
            self._written[key] = function
        return self._written[key]

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
        except (S2SGradError, TypeError):
            return UNKNOWN
        if id(target) in self._running:
            bound = {p: widened(k) for p, k in bound.items()}
        key = (id(target), tuple(bound.items()))
        if key not in self._kinds:
            if len(self._running) > _DEEPEST:
                return UNKNOWN
            self._kinds[key] = None
            self._kept.append(target)
            self._running.append(id(target))
            try:
                self._kinds[key] = self._result_kind(target, bound, key)
            except (S2SGradError, TypeError):
                self._kinds[key] = UNKNOWN
            finally:
                self._running.pop()
        return self._kinds[key]

    def _result_kind(self, target: Any, bound: dict[str, Kind], key: tuple) -> Kind | None:
        """That of a function being looked at: a recursion starts from "no value yet" and grows to a fixed point."""
        for _ in range(_ROUNDS):
            before = self._kinds[key]
            c = self.known(self._read(target), bound)
            self._kinds[key] = join(before, c.kinds.get(c.tree.body[-1].value.id))
            if self._kinds[key] == before:
                return before
        return UNKNOWN

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
        if any(running is target for running, _ in self._compiling):
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
        backend = self.backend
        entry = self._pairs[key] = Paired(Pair(fwd, bwd, order, None), split, backend)
        self._kept.append(target)
        self._compiling.append((target, entry))
        try:
            callee = Callee if behind_checkpoint(target) is None else Recomputed
            purpose = callee(target, given, active, idle, entry, self.kept_apart)
            self._write(Compilation(self._read(target), self, with_defaults(target, given), purpose))
        finally:
            self._compiling.pop()
            self.backend = backend
        return entry.pair

    def tangent(self, target: Any, kinds: dict[str, Any], active: set[str]) -> Emitted:
        """The value and the tangent of a user function for arguments of these kinds (a list of kinds for `*args`)."""
        given = {p: Container(tuple, tuple(k)) if isinstance(k, list) else k for p, k in kinds.items()}
        target = self.plain(target, given)
        given = renumbered({p: any_float(k) for p, k in given.items()})
        if any(running is target for running, _ in self._compiling):
            given = {p: widened(k) for p, k in given.items()}
        key = (id(target), tuple(given.items()), frozenset(active))
        if key in self._tangents:
            return self._tangents[key]
        self._reserve(self._read(target))
        emitted = self._tangents[key] = Emitted(self.names.fresh(f"{stem_of(target)}_jvp"), target)
        order = tuple(p for p in signature(target).parameters if p in active)
        self._kept.append(target)
        self._compiling.append((target, None))
        try:
            purpose = TangentCallee(target, given, order, emitted, self.lanes)
            self._write(Compilation(self._read(target), self, with_defaults(target, given), purpose))
        finally:
            self._compiling.pop()
        return emitted
