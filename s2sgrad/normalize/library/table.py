"""The table of library callables that are desugared, by object, and how a call is looked up in it.

@desugars(itertools.pairwise)
def _pairwise(call): ..            ->      calls of `pairwise`, by whatever name, become what this returns
@desugars_method(dict, "get")
def _get(call): ..                 ->      `d.get(k)`, unless `d` may be an object with a method `get` of its own
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from s2sgrad import standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.quote import at, empty_arguments, expression, name, nodes, placed
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.memory.interference import CHANGES_BETWEEN, Interference, free
from s2sgrad.normalize import iterables
from s2sgrad.normalize._calls import may_have_method
from s2sgrad.normalize.absorption import Absorption
from s2sgrad.normalize.endings import Endings


class Scope:
    """Facts about the function around a call."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.names = unit, Interference(unit, tree)
        self.nodes = list(nodes(tree))  # kept alive, for the facts are keyed by `id`
        self.absorption = Absorption(unit, tree, self.names)
        self.consumed = iterables.consumed(unit, self.nodes)
        self.consumed |= {id(whole) for n in self.nodes if (whole := self.absorption.taken(n)) is not None}
        self.looped = set(map(id, _looped(unit, self.nodes)))
        self.endings = Endings(unit, tree)

    def changes(self, parts: list[gast.AST]) -> bool:
        """Whether anything in the function may change what these expressions read."""
        return self.names.may_change(parts)


@dataclass
class LibraryCall:
    """A call of a callable in the table: of `target`, or of a method of `owner`.

    `words` are the keyword arguments; `at_once`: the result is consumed immediately and then dropped.
    """

    scope: Scope
    node: gast.Call
    target: Any
    words: dict[str | None, gast.AST] = field(init=False)

    def __post_init__(self) -> None:
        self.words = {k.arg: k.value for k in self.node.keywords}
        self.unit, self.args = self.scope.unit, self.node.args
        self.at_once = id(self.node) in self.scope.consumed

    @property
    def owner(self) -> gast.AST:
        """The object whose method is called."""
        return self.node.func.value

    @property
    def is_spread(self) -> bool:
        """Whether the call passes an unknown number of arguments, by `*` or `**`."""
        return None in self.words or any(isinstance(a, gast.Starred) for a in self.args)

    def written(self, text: str, **holes: Any) -> Any:
        """The expression `text`, with the place of the call; names get none, for they compute nothing."""
        tree = expression(text, **holes)
        at(self.node, *(n for n in nodes(tree) if not isinstance(n, gast.Name) and not hasattr(n, "lineno")))
        return tree

    def calling(self, function: Any, args: list[gast.AST], words: Mapping[Any, gast.AST] | None = None) -> gast.AST:
        """A call of one of our own functions, with the place of this one."""
        keywords = [gast.keyword(k, v) for k, v in (words or {}).items()]
        return at(self.node, gast.Call(name(self.unit.helper(function.__name__, function)), args, keywords))[0]

    def looped(self, made: gast.AST) -> gast.AST | None:
        """What a loop runs over for the result; a list where all is consumed without one; None elsewhere."""
        if id(self.node) in self.scope.looped:
            return made
        return self.written("[v for v in made]", v=self.unit.local("item"), made=made) if self.at_once else None

    def resolve(self, node: gast.AST) -> Any:
        """The callee of an expression; MISSING if it is no call."""
        return self.unit.called(node)

    def require_free(self, function: gast.AST, items: gast.AST) -> None:
        """Refuse a function that is called between items whose computation may change what it reads."""
        calls = [n for n in nodes(items) if isinstance(n, gast.Call)] if isinstance(items, gast.GeneratorExp) else []
        if not all(behaviour.is_pure_call(self.unit, n) for n in calls) and self.scope.changes(free(function)):
            self.unit.refuse(self.node, CHANGES_BETWEEN)

    def listed(self, node: gast.AST) -> gast.AST:
        """An argument; a generator, or another one-pass iterable without a length, as a list."""
        return listed(self.unit, node)


Desugaring = Callable[[LibraryCall], gast.AST | None]


class _Entry(NamedTuple):
    written: Desugaring
    spread: bool  # it handles calls with `*` and `**`
    takes: int | None = None  # it handles only calls with so many arguments, without keywords
    cls: type | None = None  # the class whose method it is, if any


_FUNCTIONS: dict[Any, _Entry] = {}
_INSTANCES: dict[type, _Entry] = {}
_METHODS: dict[str, _Entry] = {}


def desugars(*functions: Any, spread: bool = False, takes: int | None = None) -> Callable[[Desugaring], Desugaring]:
    """Register a desugaring for calls of these objects; `spread`: also for calls with `*` and `**`; `takes`: only for calls
    with so many arguments, without keywords."""

    def note(written: Desugaring) -> Desugaring:
        _FUNCTIONS.update(dict.fromkeys(functions, _Entry(written, spread, takes)))
        return written

    return note


def desugars_instances(cls: type) -> Callable[[Desugaring], Desugaring]:
    """Register a desugaring for calls of the instances of a class."""

    def note(written: Desugaring) -> Desugaring:
        _INSTANCES[cls] = _Entry(written, True)
        return written

    return note


def desugars_method(cls: type | None, method: str) -> Callable[[Desugaring], Desugaring]:
    """Register a desugaring for a method of a class; None: for any class, as for operators."""

    def note(written: Desugaring) -> Desugaring:
        _METHODS[method] = _Entry(written, True, cls=cls)
        return written

    return note


def desugared(scope: Scope, node: gast.Call) -> gast.AST:
    """A call desugared, if the table has it; its arguments are desugared already."""
    unit = scope.unit
    if (unit.primal.function.__module__ or "").startswith(standard.__name__):
        return node  # calls are desugared into these functions
    target = unit.resolve(node.func)
    entry = _method(unit, node.func) if target is MISSING else _function(target)
    call = LibraryCall(scope, node, target)
    if entry is None:
        return node
    fits = entry.spread or not call.is_spread
    if entry.takes is not None:
        fits = fits and len(call.args) == entry.takes and not call.words
    replacement = entry.written(call) if fits else None
    return node if replacement is None else replacement


def of_found(unit: Unit, node: gast.Call) -> gast.AST:
    """A call whose callee, or the number of whose arguments, partial evaluation has found, desugared, if the table has it;
    nothing lazy, for that depends on the function around it."""
    target = unit.resolve(node.func)
    if target is MISSING or is_one_of(target, iterables.LAZY) or _function(target) is None:
        return node
    nothing = gast.FunctionDef("", empty_arguments(), [], [], None, None, [])
    result = desugared(Scope(unit, nothing), node)
    again = isinstance(result, gast.Call) and unit.resolve(result.func) is target
    return node if again else result


def _function(target: Any) -> _Entry | None:
    return _FUNCTIONS.get(target) if is_one_of(target, _FUNCTIONS) else _INSTANCES.get(type(target))


def _method(unit: Unit, node: gast.AST) -> _Entry | None:
    entry = _METHODS.get(node.attr) if isinstance(node, gast.Attribute) else None
    return entry if entry is not None and (entry.cls is None or may_have_method(unit, node, entry.cls)) else None


def _looped(unit: Unit, all_nodes: list[gast.AST]) -> list[gast.AST]:
    """The iterables of loops, and what those among them that are indexed index in turn."""
    out = [n.iter for n in all_nodes if isinstance(n, (gast.For, gast.comprehension))]
    out += [a for n in all_nodes for a in iterables.mapped(unit, n)]
    for node in out:
        if is_one_of(unit.called(node), iterables.INDEXED):
            out += node.args
    return out


# --- lists instead of iterators ---


def listed(unit: Unit, node: gast.AST) -> gast.AST:
    """A one-pass iterable without a length, as a list; any other expression unchanged."""
    generator = node if isinstance(node, gast.GeneratorExp) else rows(unit, node)
    return node if generator is None else at(node, gast.ListComp(generator.elt, generator.generators))[0]


def rows(unit: Unit, node: gast.AST) -> gast.GeneratorExp | None:
    """`zip(..)` and `enumerate(..)` as a generator of tuples; None for any other expression."""
    tool = unit.resolve(node.func) if isinstance(node, gast.Call) and node.args else MISSING
    if tool is not builtins.zip and tool is not builtins.enumerate:
        return None
    if any(isinstance(a, gast.Starred) for a in node.args):
        column = unit.local("column")
        return placed(node, expression("(tuple(c) for c in z)", c=column, tuple=unit.builtin(tuple), z=node))
    items = [unit.local("item") for _ in (node.args if tool is builtins.zip else range(2))]
    stored = gast.Tuple([name(i, store=True) for i in items], gast.Store())
    read = gast.Tuple([name(i) for i in items], gast.Load())
    return placed(node, gast.GeneratorExp(read, [gast.comprehension(stored, node, [], 0)]))
