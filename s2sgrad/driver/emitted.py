"""The functions that a program writes: their trees, names and parameters, before they become text.

def helper(x): ...      ->      Emitted("helper_fwd"), Emitted("helper_bwd")
"""

from __future__ import annotations

import keyword
import types
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.analysis.trust import is_writable
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver.options import Options
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, clone, empty_arguments, mentioned, name, nodes
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Origin, Unit
from s2sgrad.memory import behaviour, repeats
from s2sgrad.memory.aliases import Aliases
from s2sgrad.memory.sources import bound_sources, has_memory
from s2sgrad.memory.writes import in_place
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.runtime import structure
from s2sgrad.runtime.traits import PLAIN, Traits
from s2sgrad.transform.calls import Pair

LATER: Any = None
"""What a stage sets before any other one reads it."""


@dataclass(eq=False)
class Emitted:
    """A function that we write: its tree, and the user's function over whose globals and cells it runs."""

    name: str
    primal: types.FunctionType
    unit: Unit = LATER
    tree: gast.FunctionDef = LATER
    defaults: dict[str, Any] = field(default_factory=dict)
    dots: dict[str, str] = field(default_factory=dict)  # the keywords for tangents, by parameter
    traits: Traits = PLAIN
    header: str | None = None
    scalar: bool = True  # the result is a real number,
    numpy: bool = False  # it is perhaps a NumPy number, whose division by zero gives inf
    buffers: tuple[str, ...] = ()  # of an adjoint: the parameters for arrays that it adds to, None by default
    backend: Backend = NUMPY  # the backend that rewrote it

    def is_repeatable(self) -> bool:
        """Whether the function may run a second time from the start: it has no side effects."""
        statements = [*effects.walk(self.tree.body)]
        bound = {n for s in statements for n in binds(s)}
        computing = [s for s in statements if notes.STATES.of(s) is None]  # recording states only builds new lists
        if not all(behaviour.is_local(self.unit, effects.header(s), bound) for s in computing):
            return False
        return not self._leaves(statements)

    def repeats(self) -> bool:
        """Whether a second run with the same arguments does the same, and leaves nothing behind; an adjoint does.  What it
        calls of the same program is asked for itself."""
        if not self.traits.same_signature:
            return True
        statements = [*effects.walk(self.tree.body)]
        return repeats.obstacle(self.unit, statements, judged=(Emitted,)) is None and not self._leaves(statements)

    def _leaves(self, statements: Block) -> bool:
        """Whether these statements store into what lives outside, or read what changes by itself."""
        own = self.unit.locals | {n for s in statements for n in binds(s)}
        for statement in statements:
            if isinstance(statement, gast.Global):
                return True
            for n in nodes(effects.header(statement)):
                if isinstance(n, (gast.Subscript, gast.Attribute)) and isinstance(n.ctx, gast.Store):
                    if isinstance(n, gast.Attribute) or effects.base(n) not in own:
                        return True
                if isinstance(n, (gast.Name, gast.Attribute)) and not _stays(self.unit.resolve(n)):
                    return True
        return False


def reached(functions: list[Emitted], entries: list[Emitted]) -> list[Emitted]:
    """The functions reachable from the entries by calls; the others are not written."""
    out, todo = set(map(id, entries)), [*entries]
    while todo:
        emitted = todo.pop()
        called = (emitted.unit.resolve(name(n)) for n in sorted(mentioned(emitted.tree)))
        for function in [f for f in called if isinstance(f, Emitted) and id(f) not in out]:
            out.add(id(function))
            todo.append(function)
    return [f for f in functions if id(f) in out]


_PLAIN = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc, np.ndarray, np.generic, np.dtype,
          str, bytes, int, float, complex, tuple, list, dict, range, Emitted)  # fmt: skip


def _stays(value: Any) -> bool:
    """Whether an object from outside keeps its state when the text runs: it is no iterator, and does no file access."""
    if value is MISSING or value is None or value is Ellipsis:
        return True
    if catalogue.of(value).files:
        return False
    return isinstance(value, _PLAIN) or libraries.library(libraries.package_of(value)).constant


@dataclass
class Paired:
    """The pair of a user function, whether its first version is called anywhere, and the backend that may lower it."""

    pair: Pair
    used: bool
    backend: Backend


def stem_of(function: types.FunctionType) -> str:
    """The name of a function as a prefix of identifiers: `lambda_` for `<lambda>`, `function` for what is no identifier."""
    stem = "lambda_" if function.__name__ == "<lambda>" else function.__name__
    odd = not stem.isascii() and stem != function.__code__.co_name  # Python normalizes non-ASCII identifiers
    return "function" if odd or keyword.iskeyword(stem) or not stem.isidentifier() else stem


def title(stem: str, wrt: tuple[str, ...], options: Options) -> str:
    """The first line of the docstring of a gradient."""
    what = f"Value of `{stem}` and its gradient" if options.value else f"Gradient{'s' * options.listed} of `{stem}`"
    stopped = f"; the flow stops at {', '.join(options.stops)}" if options.stops and options.listed else ""
    return f"{what} in {', '.join(wrt)}{stopped}.  Generated by s2sgrad."


def marked(body: list[gast.AST], sweep: str) -> list[gast.AST]:
    """`body`, marked as statements of this sweep."""
    mark(body, sweep)
    return body


def mark(body: list[gast.AST], sweep: str) -> None:
    """Record in each statement which sweep it belongs to, and the place in the user's text that it comes from."""
    for statement in effects.walk(body):
        line, column = getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0)
        statement.origin = Origin(sweep, line, column, None, getattr(statement, "primal", None))


def writes_arrays(unit: Unit, body: list[gast.AST]) -> bool:
    """Whether the reverse sweep writes arrays of the forward sweep."""
    reverse = [s for s in effects.walk(body) if getattr(s, "origin", None) is not None and s.origin.sweep == "reverse"]
    ours = unit.derivative.bars - unit.mirror.shadows
    return any((b := in_place(unit, s, unit.kinds)) is not None and b not in ours for s in reverse)


def free_data(unit: Unit, reverse: list[gast.AST], names: Set[str]) -> dict[str, gast.AST]:
    """The data under free names and attributes of these that the reverse sweep reads, by the local names that it uses for
    them: they may change before it runs, so a record keeps them."""
    out: dict[str, gast.AST] = {}
    for free in sorted(names - unit.locals - unit.helpers.keys()):
        _keep(unit, name(free), free, out)
    known: dict[str, str] = {}

    def kept(node: Any) -> Any:
        """The local name of an attribute that may change; anything else as it is."""
        if not isinstance(node, gast.Attribute) or _is_fixed(unit.resolve(node.value)):
            return node
        text = emit.expression(node)
        if text not in known:
            local = unit.local(node.attr)
            if _keep(unit, clone(node), local, out):
                known[text] = local
        return name(known[text]) if text in known else node

    for statement in reverse:
        for node in nodes(statement):
            for key, part in node.__dict__.items():
                if isinstance(part, list):
                    part[:] = map(kept, part)
                elif key != "func" or not isinstance(node, gast.Call):
                    node.__dict__[key] = kept(part)
    return out


def own_data(unit: Unit, forward: list[gast.AST], saved: list[str], own: set[str]) -> tuple[list[gast.AST], list[gast.AST]]:
    """(statements, the saved variables as a record keeps them): copied where they may share memory with what free names
    reach, and together, for one list may stand in several, and an array in a list.  `own`: the names that the function
    binds, parameters included.

    s.append(x); t.append(x)     ->     s2, t2, x2 = kept_together(s, t, x)     a sweep that restores `x` does so in all
    """
    outside = _of_outside(unit, forward, own)
    arrays = {n for n in outside if isinstance(unit.kinds.get(n), Array)}
    lists = outside - arrays
    if not lists.isdisjoint(saved):
        arrays = set()
        lists |= _beside(unit, forward, lists.intersection(saved)) | outside
    data = [n for n in saved if n in lists]
    if len(data) < 2:
        return [], [_own_copy(unit, name(n), n in arrays) if n in outside else name(n) for n in saved]
    local = {n: unit.local(n) for n in data}
    together = gast.Call(name(unit.helper("kept_together", structure.kept_together)), [*map(name, data)], [])
    names = gast.Tuple([name(local[n], store=True) for n in data], gast.Store())
    values = [_own_copy(unit, name(n), True) if n in arrays else name(local.get(n, n)) for n in saved]
    return [assign(names, together)], values


def _of_outside(unit: Unit, forward: list[gast.AST], own: set[str]) -> set[str]:
    """The variables that may share memory with what free names reach."""
    outside: set[str] = set()
    before = None
    while before != len(outside):
        before = len(outside)
        for statement in effects.walk(forward):
            bound = effects.writes(statement) & unit.locals
            value = getattr(statement, "iter" if isinstance(statement, gast.For) else "value", None)
            if bound and value is not None:
                sources = bound_sources(unit, bound, value, unit.kinds)
                if sources & outside or sources - own - unit.helpers.keys():
                    outside |= {n for n in bound if has_memory(unit.kinds.get(n))}
    return outside


def _beside(unit: Unit, forward: list[gast.AST], lists: set[str]) -> set[str]:
    """The arrays that these lists may hold at the end of the forward sweep."""
    tree = gast.FunctionDef("", empty_arguments(), forward, [], None, None, [])
    aliases = Aliases(unit, tree, unit.kinds)
    found = set().union(*(aliases.memory_of(n, forward[-1]) for n in lists))
    return {n for n in found if isinstance(unit.kinds.get(n), Array)}


def _own_copy(unit: Unit, node: gast.AST, is_array: bool) -> gast.AST:
    if is_array:
        return gast.Call(gast.Attribute(node, "copy", gast.Load()), [], [])
    return gast.Call(name(unit.helper("kept", structure.kept)), [node], [])


def _is_fixed(owner: Any) -> bool:
    """Whether an attribute's owner is a module that nobody changes: `np` of `np.pi`."""
    return isinstance(owner, types.ModuleType) and libraries.is_installed(owner)


def _keep(unit: Unit, node: gast.AST, local: str, out: dict[str, gast.AST]) -> bool:
    value = unit.resolve(node)
    if value is MISSING or callable(value) or isinstance(value, types.ModuleType):
        return False
    out[local] = _own_copy(unit, node, isinstance(value, np.ndarray)) if is_writable(value) else node
    return True


def in_order(forward: list[gast.AST], arguments: list[str]) -> list[str]:
    """The given names, and those that the statements write, in the order of their first binding."""
    seen = dict.fromkeys(arguments)
    for statement in effects.walk(forward):
        seen.update(dict.fromkeys(sorted(effects.writes(statement))))
    return list(seen)


def bound_kinds(target: types.FunctionType, kinds: list[Kind], keywords: dict[str, Kind]) -> dict[str, Kind]:
    """The kinds of the parameters of `target` for a call with arguments of these kinds, defaults included."""
    bound = signature(target).bind(*kinds, **keywords)
    arguments = {p: _gathered(v) for p, v in bound.arguments.items()}
    return with_defaults(target, arguments)


def _gathered(kind: Any) -> Kind:
    """The kind of a parameter; of `*args` and `**options`, the kind of the tuple or dict."""
    if isinstance(kind, dict):
        return Container(dict, tuple(kind.values()), tuple(kind))
    return Container(tuple, kind) if isinstance(kind, tuple) else kind


def with_defaults(target: types.FunctionType, kinds: dict[str, Kind], valued: bool = True) -> dict[str, Kind]:
    """The kinds of the parameters, those that are not given from their default values; `valued`: what numbers these are
    is known, too."""
    out = {}
    for parameter in signature(target).parameters.values():
        if parameter.name in kinds:
            out[parameter.name] = kinds[parameter.name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            out[parameter.name] = Container(tuple, ())
        elif isinstance(parameter.default, (float, int)) and not valued:
            out[parameter.name] = Number(type(parameter.default))
        elif isinstance(parameter.default, (float, int, str, type(None))):
            out[parameter.name] = constant_kind(parameter.default)
    return out
