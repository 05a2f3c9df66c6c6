"""What is noted of a function while it is compiled, by what it is about; a `Unit` has one record of each sort.

def f(x): y = g(x); return y * y        ->      inlining: the call `g(x)`; derivative: the name `y_bar`
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import gast

from s2sgrad.ir.lookups import note_attribute
from s2sgrad.ir.quote import Place
from s2sgrad.ir.underlying import underlying
from s2sgrad.source import Binding, Primal

MISSING: Any = type("MISSING", (), {"__repr__": lambda self: "MISSING"})()


@dataclass(frozen=True)
class Derived:
    """A gradient that was created during compilation: `make(of)`."""

    gradient: Any
    of: Any
    make: Callable[[Any], Any]


class Record:
    """A record of a unit, a dataclass."""

    def copied(self) -> Any:
        """A copy, to be changed beside it."""
        held = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return type(self)(**{n: v.copy() if isinstance(v, (set, dict, list)) else v for n, v in held.items()})


@dataclass
class FreeNames(Record):
    """What free names refer to, and attributes of modules: each is looked up once."""

    bindings: dict[str, Binding] = field(default_factory=dict)
    attributes: dict[tuple[types.ModuleType, str], tuple[Any]] = field(default_factory=dict)

    def of_module(self, module: types.ModuleType, attribute: str) -> Any:
        """What an attribute of a module stands for."""
        known = self.attributes.get((module, attribute))
        if known is None:
            value = getattr(module, attribute, MISSING)
            note_attribute(module, attribute, value)
            known = self.attributes[module, attribute] = (underlying(value),)
        return known[0]


@dataclass
class SyntaxFacts(Record):
    """What the user wrote: the places of compound statements and of `x[i] op= e`.  Constant tuples, lists and dicts that
    are bound once, and the sizes that slices have where they lie within their axes (`sliced`)."""

    compound: set[Place] = field(default_factory=set)
    updates: set[Place] = field(default_factory=set)
    displays: dict[str, gast.AST] = field(default_factory=dict)
    sliced: set[Any] = field(default_factory=set)


@dataclass
class ArgumentFacts(Record):
    """What is known of parameters: the attributes of objects (`opened`), and which may have methods of their own
    (`opaque`). Their kinds are there as far as tests of types and calls with `*` ask.  Then which are given generators
    (`drawn_from`), and which names are copies of them (`own_copies`)."""

    opened: dict[str, Any] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    kinds: dict[str, Any] = field(default_factory=dict)
    drawn_from: set[str] = field(default_factory=set)
    own_copies: set[str] = field(default_factory=set)


@dataclass
class OwnDefinitions(Record):
    """What the text defines and makes: nested generator functions, and the names of objects, and of the object of a method,
    with their classes (`receivers`).  Places where an object or a method turned out to be an iterator (`drawn_at`)."""

    generators: set[str] = field(default_factory=set)
    receivers: dict[str, type] = field(default_factory=dict)
    drawn_at: frozenset[Any] = frozenset()


@dataclass
class OutsideObjects(Record):
    """What lives outside: the caller's objects whose attributes are loaded, with their classes (`given_objects`), the
    classes of those whose attributes are written (`separate`).  Free names of objects whose attributes are read where they
    stand (`unopened`).  Global containers in which differentiated values are only stored (`loses_to`).  Calls of functions
    that only the run knows (`unseen`), and container classes with simpler ones in their place (`stand_ins`)."""

    given_objects: list[tuple[gast.AST, type]] = field(default_factory=list)
    separate: set[type] = field(default_factory=set)
    unopened: set[str] = field(default_factory=set)
    loses_to: set[str] = field(default_factory=set)
    unseen: list[gast.AST] = field(default_factory=list)
    stand_ins: set[tuple[type, type]] = field(default_factory=set)


class WrittenOut(NamedTuple):
    """A function `node` that was written out at the place of a `call` in a `statement`; `standing`: the names there for its
    parameters."""

    node: gast.AST
    call: gast.AST
    statement: gast.AST | None
    standing: dict[str, str]


@dataclass
class WrittenOutCalls(Record):
    """Calls that are written out: the units of the functions, the calls with name, source and line of the function
    (`calls`), the files of library functions by the number of the call.  By that number the calls around, innermost
    first (`callers`), and what it is whose statements have that number (`bodies`)."""

    units: list[Any] = field(default_factory=list)
    calls: list[tuple[gast.AST, str, Primal, int]] = field(default_factory=list)
    libraries: dict[Any, str] = field(default_factory=dict)
    callers: dict[Any, tuple[gast.AST, ...]] = field(default_factory=dict)
    bodies: dict[int, WrittenOut] = field(default_factory=dict)


@dataclass
class MadeFunctions(Record):
    """Functions beside the text: free names whose values another function's text holds (`captured`); nested functions made
    global (`lifted`), one of which refers to a cell of this function (`bound`); and gradients that were created
    (`derived`)."""

    captured: set[str] = field(default_factory=set)
    lifted: list[types.FunctionType] = field(default_factory=list)
    bound: bool = False
    derived: list[Derived] = field(default_factory=list)


@dataclass
class ShadowedNames(Record):
    """Names with shadows, these shadows, and whether there are any in the function."""

    names: set[str] = field(default_factory=set)
    shadows: set[str] = field(default_factory=set)
    present: bool = False


@dataclass
class DerivativeNames(Record):
    """What the derivative adds: the names of adjoints (`bars`) and of the cotangent of a result (`seeds`).
    Of adjoints, those that are parts of the cotangent of a tuple (`parts`).
    Differentiated values and their derivatives, all of them floats (`floating`), or complex numbers among them
    (`complex`).  What is recorded, with its variable (for a call: itself).  By stack the variable that it keeps, whether
    it keeps numbers, and of which sort (`stack_bases`).  By stack of tuples the stacks that it stands for (`tapes`).  The
    numbers that are not 0, for something was divided by them.  By temporary that holds what a call gives for an argument,
    that argument and its parameter (`meant`).  By temporary that holds the cotangent of another, that one (`cotangents`).
    Names for temporaries that two functions share (`said`).  By name of what a branch computes again the name that it has
    before (`again`).  And the names of attributes that may be set before the reverse sweep runs (`as_read`)."""

    bars: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    seeds: set[str] = field(default_factory=set)
    floating: set[str] = field(default_factory=set)
    complex: bool = False
    records: dict[str, str] = field(default_factory=dict)
    stack_bases: dict[str, tuple[str, bool, Any]] = field(default_factory=dict)
    tapes: dict[str, list[str]] = field(default_factory=dict)
    nonzero: frozenset[str] = frozenset()
    meant: dict[str, tuple[str, str]] = field(default_factory=dict)
    cotangents: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    as_read: set[str] = field(default_factory=set)

    def rename_stacks(self, renamed: dict[str, str]) -> None:
        """Know stacks by their new names too."""
        for old, new in renamed.items():
            if old in self.stack_bases:
                self.stack_bases.setdefault(new, self.stack_bases[old])
            if old in self.tapes:
                self.tapes.setdefault(new, self.tapes[old])
