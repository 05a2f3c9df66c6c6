"""The state of one function during compilation: side tables of its tree, and what its free names are bound to."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import gast
import numpy as np

from s2sgrad import errors, runtime
from s2sgrad.errors import NoRule, S2SGradError, Unsupported, raised, wording
from s2sgrad.ir import deep_expressions, imported, notes, refusals, scoping
from s2sgrad.ir.held_functions import held_function, is_followed
from s2sgrad.ir.kept_facts import KeptFacts
from s2sgrad.ir.lookups import note_attribute, note_import, note_name
from s2sgrad.ir.names import Namer
from s2sgrad.ir.quote import COMPOUND, nodes, place_of
from s2sgrad.ir.scoping import parameters as parameters  # re-exported
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit_records import (
    MISSING,
    ArgumentFacts,
    DerivativeNames,
    FreeNames,
    MadeFunctions,
    OutsideObjects,
    OwnDefinitions,
    ShadowedNames,
    SyntaxFacts,
    WrittenOutCalls,
)  # fmt: skip
from s2sgrad.rules import table
from s2sgrad.runtime import checkpoints
from s2sgrad.runtime.traits import traits
from s2sgrad.source import Primal

_CHANGING = (runtime.push, runtime.poison, checkpoints.keep, checkpoints.latest)  # they change their first argument
_CAPTURES = (gast.MatchAs, gast.MatchStar, gast.MatchMapping)


@dataclass(frozen=True)
class Origin:
    """The origin of a generated statement: all that a node carries besides its position.

    `primal` is the source that line and column refer to, if that is not the source of the function itself.
    """

    sweep: str | None
    line: int
    column: int
    comment: str | None
    primal: Primal | None = None


def sweep_of(statement: gast.AST) -> str | None:
    """The sweep of a statement in a derivative: "forward", "reverse", or "tangent" in forward mode; None without origin."""
    origin = getattr(statement, "origin", None)
    return None if origin is None else origin.sweep


def is_run_again(statement: gast.AST) -> bool:
    """Whether a statement of the reverse sweep recomputes a part of the forward sweep, whose side effects are already
    done."""
    origin = getattr(statement, "origin", None)
    return origin is not None and origin.sweep is None


def is_derived(statement: gast.AST) -> bool:
    """Whether a statement computes a derivative, in the reverse sweep or for a tangent."""
    return sweep_of(statement) in ("reverse", "tangent")


@dataclass(eq=False)
class Unit:
    """A function on its way through the passes.

    - Names: `locals` are all that the tree binds. `temps` stand for values of subexpressions and `own_names` for anything
      else that the compiler names. `bases` maps a name to the user's that it derives from. `words` describe generated names
      to the user. `helpers` are what other names stand for.
    - Facts: `kinds` of names. `memory` says which may alias. `kept` are facts about statements, for passes that report which
      ones they change.
    - The others are records of what is noted about one thing each (`unit_records`).  What free names refer to is noted in
      `lookups` as well: a cached gradient is valid while that holds.
    """

    primal: Primal
    names: Namer
    locals: set[str] = field(default_factory=set)
    temps: set[str] = field(default_factory=set)
    own_names: set[str] = field(default_factory=set)
    bases: dict[str, str] = field(default_factory=dict)
    words: wording.Sentences = field(default_factory=dict)
    helpers: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, Any] = field(default_factory=dict)
    memory: Any = None
    kept: KeptFacts | None = None
    free: FreeNames = field(default_factory=FreeNames)
    syntax: SyntaxFacts = field(default_factory=SyntaxFacts)
    arguments: ArgumentFacts = field(default_factory=ArgumentFacts)
    definitions: OwnDefinitions = field(default_factory=OwnDefinitions)
    outside: OutsideObjects = field(default_factory=OutsideObjects)
    inlining: WrittenOutCalls = field(default_factory=WrittenOutCalls)
    made: MadeFunctions = field(default_factory=MadeFunctions)
    mirror: ShadowedNames = field(default_factory=ShadowedNames)
    derivative: DerivativeNames = field(default_factory=DerivativeNames)

    @classmethod
    def of(cls, primal: Primal) -> tuple[Unit, gast.FunctionDef]:
        """The unit of a function and its tree, before any pass; deep expressions are split."""
        tree = primal.fresh_tree()
        tree.decorator_list = []  # already applied
        names = Namer({n for part in (tree.args, *tree.body) for n in scoping.names(part)})
        renamed = scoping.renamed_apart(tree, names.fresh)
        parts = deep_expressions.cut_all(tree, names.fresh)
        compound = {place_of(n) for n in nodes(tree) if isinstance(n, COMPOUND)}
        outer = {n for node in nodes(tree) if isinstance(node, gast.Global) for n in node.names}
        bound = _bound(tree) - outer
        found = imported.bindings(tree, primal.function)
        bound |= {imported.bound_name(s, alias) for s in imported.statements(tree.body) for alias in s.names} - found.keys()
        bound |= primal.unbound
        names.taken |= {*outer, *bound, *found}
        unit = cls(primal, names, bound, own_names=set(parts), syntax=SyntaxFacts(compound))
        unit.words.update({new: ("{}", old) for new, old in renamed.items()})
        for bound_, binding in found.items():
            note_import(binding.name if binding.home is sys.modules else bound_, binding)
        unit.free.bindings.update(found)
        unit.own_names |= _of_no_user(primal, bound)
        _read_helpers(unit, tree)
        for owner, attribute, value in imported.looked_up(tree, primal.function):
            note_attribute(owner, attribute, value)
        unit.helpers.update({bound_: binding.value for bound_, binding in found.items()})
        refusals.written(unit, tree)
        return unit, tree

    def temp(self) -> str:
        """A new temporary for the value of a subexpression."""
        fresh = self.names.numbered("t")
        self.temps.add(fresh)
        self.locals.add(fresh)
        return fresh

    def local(self, base: str) -> str:
        """A new local name derived from `base`."""
        fresh = self.names.fresh(base)
        self.locals.add(fresh)
        self.own_names.add(fresh)
        return fresh

    def attribute(self, base: str, attribute: str) -> str:
        """A new local name for an attribute of an object."""
        own = attribute.rpartition("__")[2] or attribute  # `_Row__items` is `__items` in a method of `Row`
        fresh = self.local(f"{base}_{own}".lstrip("_"))
        self.words[fresh] = f"the attribute `{own}`", None
        return fresh

    def is_ours(self, name: str) -> bool:
        """Whether a name was introduced by the compiler, so that passes may remove it."""
        return name in self.temps or name in self.own_names or self.bases.get(name) in self.own_names

    def reached(self, base: str, value: Any) -> gast.Name:
        """A reference to a helper; one that changes its first argument is marked (see `effects.changed_by_call`)."""
        node = gast.Name(self.helper(base, value), gast.Load(), None, None)
        if any(value is changing for changing in _CHANGING):
            notes.CHANGES_FIRST.put(node)
        return node

    def helper(self, base: str, value: Any) -> str:
        """The free name by which the text refers to `value`, a helper."""
        if (known := next((n for n, bound in self.helpers.items() if bound is value), None)) is not None:
            return known
        fresh = self.names.fresh(base)
        self.helpers[fresh] = value
        return fresh

    def builtin(self, function: Any) -> gast.Name:
        """A reference to one of Python's builtins, also where the user has rebound its name."""
        plain = gast.Name(function.__name__, gast.Load(), None, None)
        if self.resolve(plain) is not function:
            plain.id = self.helper(function.__name__, function)
        return plain

    def source_place(self, node: gast.AST) -> Any:
        """The identity of an expression in the user's text, whichever call that is written out for."""
        code = getattr(node, "primal", self.primal).function.__code__
        return code, *(getattr(node, p, 0) for p in ("lineno", "col_offset", "end_lineno", "end_col_offset"))

    def draws(self, node: gast.AST) -> bool:
        """Whether an expression turned out to be an object, or the call of a method, that a loop draws its items from."""
        return bool(self.definitions.drawn_at) and self.source_place(node) in self.definitions.drawn_at

    def resolve(self, node: gast.AST) -> Any:
        """The object that a free name, or a dotted path through modules and objects, refers to; MISSING if unknown."""
        if type(node) is gast.Attribute:
            owner = self.resolve(node.value)
            if owner is MISSING:
                return MISSING
            if type(owner) is types.ModuleType:
                return self.free.of_module(owner, node.attr)
            if isinstance(owner, (types.ModuleType, type, np.ufunc)) or table.owns(owner):
                value = getattr(owner, node.attr, MISSING)
            elif is_followed(owner) or (value := held_function(owner, node.attr)) is None:
                return MISSING
            note_attribute(owner, node.attr, value)
            return underlying(value)
        if type(node) is not gast.Name or node.id in self.locals:
            return MISSING
        if node.id in self.helpers:
            return self.helpers[node.id]
        binding = self.free.bindings.get(node.id)
        if binding is None:
            binding = self.primal.lookup(node.id)
            note_name(self.primal.function, node.id, binding)
            if binding is None:
                return MISSING
            self.free.bindings[node.id] = binding
            self.names.taken.add(node.id)  # the text may use it: no new local may shadow it
        return underlying(binding.value)

    def called(self, node: gast.AST | None) -> Any:
        """The object that an expression calls; MISSING if it is no call, or the callee is unknown."""
        return self.resolve(node.func) if isinstance(node, gast.Call) else MISSING

    @functools.cached_property
    def is_of_library(self) -> bool:
        """Whether the source is in a file of a library, or of this package."""
        return raised.is_hidden(self.primal.file)

    def rewritten(self, *statements: gast.AST) -> None:
        """Note that some statements, or the headers of some, say something else now."""
        if self.kept is not None:
            self.kept.changed(*statements)

    def changed(self, statement: gast.AST) -> set[str]:
        """The names that a statement binds, or whose contents it may change."""
        changed: set[str] = self.memory.changed(statement)
        return changed

    def refuse(self, node: gast.AST, message: str, inside: Iterable[errors.Place] = ()) -> NoReturn:
        """Raise Unsupported at the position of `node`; `inside`: the places in what it calls that are the cause."""
        error = refusals.refusal(self, Unsupported, node, message)
        error.origins[:0] = inside
        raise error

    def no_rule(self, node: gast.AST, message: str) -> NoReturn:
        """Raise NoRule at the position of `node`."""
        raise refusals.refusal(self, NoRule, node, message)

    @contextlib.contextmanager
    def calling(self, node: gast.AST) -> Iterator[None]:
        """Report refusals inside a library that `node` calls at `node`: the user cannot change the library."""
        try:
            yield
        except S2SGradError as error:
            raise refusals.through(self, error, node) from None

    def said(self, message: str, node: gast.AST) -> str:
        """A message in the user's terms; for inlined library code, it says that the call leads there."""
        text, below = self.worded(message), raised.wording(self.primal.function.__code__)
        library = self.inlining.libraries.get(getattr(node, "written_out", 0))
        text = text if library is None else raised.in_library(text, library)
        return text if below is None or not below.of else f"in the gradient of `{below.of}`: {text}"

    def worded(self, message: str) -> str:
        """A message in which names of ours are described."""
        known = self.known
        return wording.in_words(message, lambda name: name in self.locals and name not in known, self.word)

    @property
    def known(self) -> frozenset[str]:
        """The names that occur in the user's source."""
        if (below := raised.wording(self.primal.function.__code__)) is not None:
            return below.known
        return wording.names_in(self.primal.text(self.primal.tree)).union(*(unit.known for unit in self.inlining.units))

    def word(self, name: str, known: frozenset[str] | None = None) -> str:
        """What a name of the text stands for, in the user's terms."""
        below = raised.wording(self.primal.function.__code__)
        words = self.words if below is None else {**{n: (w, None) for n, w in below.words.items()}, **self.words}
        return wording.meaning(name, self.known if known is None else known, words, self.bases) or wording.ANOTHER

    def shown(self, name: str, value: gast.AST | None = None) -> str:
        """The user's term for a variable: its name, or the expression that it is bound to; empty if there is none."""
        word = self.word(name)
        if not wording.is_quoted(word) and isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            owner = self.shown(value.value.id)
            return owner and f"{owner}[..]"
        return word.strip("`") if wording.is_quoted(word) else ""

    def explained(self, names: set[str]) -> wording.Wording:
        """The descriptions of these names of the function's derivative."""
        below, known = raised.wording(self.primal.function.__code__), self.known
        own = self.primal.function.__qualname__.rsplit("<locals>.")[-1] if below is None or not below.of else below.of
        return wording.Wording(own, known, {name: self.word(name, known) for name in names if name not in known})

    def place(self, node: gast.AST) -> errors.Place:
        """The source position of the first part of `node` that has one; for generated text, that of the user's statement."""
        part, primal = refusals.first_placed(self.primal, node)
        place = primal.place(part)
        return raised.behind(primal.function.__code__, place.line) or place


def old_value(unit: Unit, name: str, of: str = "old") -> str:
    """A new variable for an old value of a variable."""
    old = unit.local(f"{name}_{of}")
    unit.bases[old] = f"{unit.bases.get(name, name)}_{of}"
    unit.words[old] = "what was in {} before", name
    unit.derivative.records[old] = name
    return old


def _bound(tree: gast.FunctionDef) -> set[str]:
    """The names that a function binds, but for those of imports."""
    bound: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, (gast.Load, gast.Del)):
            bound.add(node.id)
        elif isinstance(node, gast.FunctionDef) and node is not tree:
            bound.add(node.name)
        elif isinstance(node, _CAPTURES):
            bound |= {n for n in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(n, str)}
    return bound


def _of_no_user(primal: Primal, bound: set[str]) -> set[str]:
    """In what was taken out of a function, the variables that stand for no variable of the user's."""
    below = raised.wording(primal.function.__code__)
    if below is None or below.of:
        return set()
    return {n for n in bound - {p.id for p in parameters(primal.tree)} if below.words.get(n) == wording.ANOTHER}


def _read_helpers(unit: Unit, tree: gast.FunctionDef) -> None:
    """For generated text: note the helpers it refers to, and calls of those that change their first argument."""
    function = unit.primal.function
    for name in traits(function).reaches:
        place = function.__code__.co_freevars.index(name)
        unit.helpers[name] = (function.__closure__ or ())[place].cell_contents
    for node in nodes(tree) if unit.helpers else ():
        if isinstance(node, gast.Name) and any(unit.helpers.get(node.id) is value for value in _CHANGING):
            notes.CHANGES_FIRST.put(node)
