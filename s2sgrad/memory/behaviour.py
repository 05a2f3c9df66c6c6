"""Side effects: what running a piece of code does besides computing a value: nothing, something local, or anything.

    np.sin(u), helper(u)                                  nothing: it may be left out, or run again
    z[0] = 1.0; assert n > 0; np.copyto(z, u)             local: it is not left out, but running it again does the same
    print(u), next(it), rng.normal(), f(u) of unknown f   anything

`of_function` summarizes a user's function from its source and its callees; whether a call may be left out or repeated is
read off that.  Two related questions are answered elsewhere.  `mod_ref` says *which* memory a call may change and what it
returns.  `analysis.reached` says, before any source is read, which objects a function can reach, whose methods it may run.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import protocols, reached
from s2sgrad.analysis.effects import changed_by_call, is_library
from s2sgrad.analysis.kinds import OPAQUE, UNKNOWN, Array, Kind
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.trust import Trust, trust_of_owner
from s2sgrad.errors import S2SGradError
from s2sgrad.ir import scoping
from s2sgrad.ir.checkpoints import under_checkpoint
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue, libraries, methods
from s2sgrad.rules import table
from s2sgrad.runtime import outside
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.runtime.traits import Traits
from s2sgrad.source import brings_gradient, read

_DATA = Array(None, None)  # numbers, arrays and built-in containers of them
_ALWAYS = (runtime.set_attribute, outside.set_item, outside.delete_items)  # they change what lives outside
_LATE = (runtime.vjp, runtime.jvp, runtime.call)
_WITHIN = (gast.Raise, gast.Assert, gast.While, gast.Nonlocal, gast.Await, gast.With, gast.Try, gast.Delete, gast.AugAssign,
           gast.Import, gast.ImportFrom, gast.Lambda)  # fmt: skip
_OUTSIDE = (gast.Global, gast.Yield, gast.YieldFrom)


class Effect(enum.IntEnum):
    """What code does besides computing a value."""

    NOTHING = 0
    WITHIN = 1  # it may raise, fail to terminate, or change its own memory or its arguments
    ANYTHING = 2


@dataclass(frozen=True)
class Behaviour:
    """The effect of a call, and the user's functions it runs that have effects."""

    effect: Effect
    runs: frozenset[types.FunctionType] = frozenset()

    @property
    def is_repeatable(self) -> bool:
        """Whether a second run with the same arguments does the same, and changes only these and new objects."""
        return self.effect < Effect.ANYTHING and not any(mod_ref.of(f).outside for f in self.runs)


_NOTHING, _STAYS, _ANYTHING = map(Behaviour, Effect)


def _union(all_: Iterable[Behaviour]) -> Behaviour:
    """The union of several effects."""
    out = _NOTHING
    for one in all_:
        if one.effect is Effect.ANYTHING:
            return _ANYTHING
        if one.effect is Effect.WITHIN:
            out = Behaviour(Effect.WITHIN, out.runs | one.runs)
    return out


# --- expressions and statements ----------------------------------------------------------------------------------------


def is_pure(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression may be left out or repeated: it has no side effects and depends only on its operands."""
    return not any(True for _ in impurities(unit, node))


def impurities(unit: Unit, node: gast.AST) -> Iterator[gast.AST]:
    """The parts of an expression that have side effects themselves, or that raise because a name is undefined."""
    for part in nodes(node):
        if isinstance(part, gast.Call):
            if not is_pure_call(unit, part):
                yield part
        elif isinstance(part, gast.Lambda) or acts(unit, part):
            yield part


def acts(unit: Unit, node: gast.AST) -> bool:
    """Whether a node other than a call has a side effect of its own: it binds a name, reads an undefined one, runs a method
    that is unknown, or advances an iterator.
    """
    if isinstance(node, (gast.Name, gast.Constant)):
        return is_missing(unit, node)
    return isinstance(node, gast.NamedExpr) or is_missing(unit, node) or protocols.acts(unit, node)


def uses_up(unit: Unit, statement: gast.AST) -> bool:
    """Whether this is `a, b = it` where `it` may be an iterator."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Tuple):
        return False
    value = statement.value
    return isinstance(value, gast.Name) and (protocols.may_be_iterator(unit, value) or protocols.may_act(unit, value, False))


def is_missing(unit: Unit, node: gast.AST) -> bool:
    """Whether a name, or an attribute of a module, is undefined now, so that reading it raises."""
    if isinstance(node, gast.Name):
        return isinstance(node.ctx, gast.Load) and node.id not in unit.locals and unit.resolve(node) is MISSING
    if isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Load):
        owner = unit.resolve(node.value)
        return isinstance(owner, types.ModuleType) and unit.resolve(node) is MISSING
    return False


def is_local(unit: Unit, node: gast.AST, bound: set[str]) -> bool:
    """Whether an expression or a simple statement changes nothing but lists that are `bound` here."""
    calls = [part for part in nodes(node) if isinstance(part, gast.Call)]
    tried = {id(part) for call in calls if unit.called(call) is runtime.raised for part in nodes(*call.args)}
    done = [call for call in calls if id(call) not in tried and unit.called(call) is not runtime.raised]
    return all(is_pure_call(unit, c) or (changed_by_call(c) and changed_by_call(c) <= bound) for c in done)


def is_pure_call(unit: Unit, call: gast.Call) -> bool:
    """Whether a call, its arguments aside, has no side effects and depends only on them."""
    return of_call(unit, call).effect is Effect.NOTHING


# --- calls -------------------------------------------------------------------------------------------------------------


def of_call(unit: Unit, call: gast.Call) -> Behaviour:
    """What a call does, its arguments aside."""
    target = unit.resolve(call.func)
    if target is MISSING:
        return _of_unknown(unit, call)
    emitted = its(target, "primal", None)
    if isinstance(emitted, types.FunctionType) and isinstance(its(target, "traits", None), Traits):
        # a generated pair: the forward function runs the user's, the backward function is pure
        return of_function(emitted, _argument_kind(unit, call)) if target.traits.same_signature else _NOTHING
    if mod_ref.overwriting(call, target) is not None:
        return _STAYS
    if catalogue.of(target).pure:
        return _ANYTHING if protocols.call_acts(unit, target, call) else _NOTHING
    if any(target is late for late in _LATE):
        found = unit.resolve(call.args[0]) if call.args else MISSING
        return _ANYTHING if found is MISSING else _at_least(of_callable(found))
    return of_callable(target, _argument_kind(unit, call))


def _of_unknown(unit: Unit, call: gast.Call) -> Behaviour:
    """What a method does, the argument of `checkpoint`, or a function defined in the same text."""
    callee = under_checkpoint(unit, call.func) or call.func
    if isinstance(callee, gast.Lambda):
        return _STAYS  # its body is examined as well
    if callee is not call.func:
        found = unit.resolve(callee)
        return _ANYTHING if found is MISSING else _at_least(of_callable(found, _argument_kind(unit, call)))
    if not isinstance(call.func, gast.Attribute):
        found = unit.resolve(scoping.named(unit.primal.tree).get(getattr(call.func, "id", ""), call.func))
        known = found is not MISSING and callable(found) and libraries.is_fixed(found)
        return of_callable(found, _argument_kind(unit, call)) if known else _ANYTHING
    data = trust_of_owner(unit, call.func.value, unit.kinds) <= Trust.DATA
    if data and methods.only_compute(call.func.attr) and not protocols.call_acts(unit, MISSING, call):
        return _NOTHING
    return _STAYS if data and _changes_own(unit, call.func) else _ANYTHING


def _at_least(found: Behaviour) -> Behaviour:
    """The same, with at least a local effect."""
    return _STAYS if found.effect is Effect.NOTHING else found


def _changes_own(unit: Unit, method: gast.Attribute) -> bool:
    """Whether this is a method that only changes data that the function owns: `ys.append`."""
    known = catalogue.methods_named(method.attr)
    root = method.value
    while isinstance(root, (gast.Subscript, gast.Attribute)):
        root = root.value
    plain = bool(known) and all(m.computes or m.writes == (0,) for m in known)
    return plain and isinstance(root, gast.Name) and root.id in unit.locals


def _argument_kind(unit: Unit, call: gast.Call) -> Kind:
    """What is known of all arguments of a call: `_DATA`, `UNKNOWN` if one may be an iterator, or `OPAQUE`."""
    given = arguments_of(call)
    if any(protocols.may_act(unit, part) for part in given):
        return OPAQUE
    return UNKNOWN if any(protocols.may_be_iterator(unit, part) for part in given) else _DATA


def of_callable(target: Any, given: Kind = _DATA) -> Behaviour:
    """What a call of a known object does, with arguments of this kind."""
    record = catalogue.of(target)
    if record.pure:
        return _NOTHING
    if isinstance(target, types.FunctionType) and _is_read(target):
        return of_function(target, given)
    if brings_gradient(target) or target is checkpoint or (record.writes and not record.effect):
        return _STAYS
    said = table.given(target)
    if said is not None and table.is_flat(target):
        return _at_least(of_function(said.given)) if isinstance(said.given, types.FunctionType) else _ANYTHING
    if said is not None or _only_checks(target) or has(target, "compiled_for"):
        return _STAYS
    if isinstance(target, functools.partial):
        return _at_least(of_callable(target.func, given))
    if isinstance(target, type):
        return _of_class(target)
    function = its(target, "__func__", target)
    return _at_least(of_function(function, given)) if is_user_function(function) else _ANYTHING


def _is_read(function: types.FunctionType) -> bool:
    """Whether the source of a function says what it does: not of a library's, nor of a helper of ours with a record."""
    if is_library(function) or function.__module__ == runtime.__name__:
        return False
    return function in _LATE or not (catalogue.of(function).effect and _only_checks(function))


def _only_checks(target: Any) -> bool:
    """Whether this is of our runtime, and changes nothing that lives outside."""
    ours = (its(target, "__module__", None) or "").startswith(runtime.__name__)
    return ours and not any(target is always for always in _ALWAYS)


def _of_class(cls: type) -> Behaviour:
    """What creating an instance of a class does, and what its methods do."""
    if hasattr(cls, "_fields") or issubclass(cls, BaseException):
        return _STAYS
    methods_ = (of_callable(m) for m in vars(cls).values() if is_user_function(m))
    return _at_least(_union(methods_)) if is_plain_class(cls) else _ANYTHING


# --- functions of the user's -------------------------------------------------------------------------------------------


def of_function(
    function: types.FunctionType, given: Kind = _DATA, passed: Mapping[str, Behaviour] = types.MappingProxyType({})
) -> Behaviour:
    """What a user's function does, called with arguments of this kind; `passed`: what functions among them do, by
    parameter."""
    if given == _DATA and reached.objects(function):
        given = OPAQUE
    return _known.of((function, given, frozenset(passed.items())))


_Call = tuple[types.FunctionType, Kind, frozenset[tuple[str, Behaviour]]]  # a function, its data, and its functions


class _Summaries:
    """The behaviour of mutually recursive functions; the recursive call itself adds no effect."""

    def __init__(self) -> None:
        self.table: dict[_Call, Behaviour] = {}
        self.running: list[types.FunctionType] = []
        self.outermost = 0  # of the running functions, the outermost on which the current result depends

    def of(self, call: _Call) -> Behaviour:
        """The behaviour of a function; one that depends on a function still running is not stored."""
        function = call[0]
        if call in self.table:
            return self.table[call]
        if function in self.running:
            self.outermost = min(self.outermost, self.running.index(function))
            return _NOTHING
        place, before = len(self.running), self.outermost
        self.running.append(function)
        self.outermost = place
        found = _scanned(*call)
        self.running.pop()
        if self.outermost == place:
            self.table[call] = found
        self.outermost = min(before, self.outermost)
        return found


_known = _Summaries()
forgotten_after(lambda: _Summaries.__init__(_known))


def _scanned(function: types.FunctionType, given: Kind, passed: frozenset[tuple[str, Behaviour]]) -> Behaviour:
    """The behaviour of a function by its source; anything without one."""
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return _ANYTHING
    unit.kinds = dict.fromkeys(unit.locals, given)
    own = {n.name: _STAYS for n in nodes(*tree.body) if isinstance(n, gast.FunctionDef)}
    bound = scoping.all_bindings(tree)
    own |= {p: behaviour for p, behaviour in passed if bound[p] == 1}  # as a parameter
    found = _union(_of_part(unit, part, own) for part in nodes(tree))
    return Behaviour(found.effect, found.runs | {function}) if found.effect is Effect.WITHIN else found


def _of_part(unit: Unit, node: gast.AST, own: Mapping[str, Behaviour]) -> Behaviour:
    """What a node does; `own` are nested functions, whose bodies the walk visits too, and functions that are arguments."""
    if isinstance(node, gast.Call):
        inner = own.get(node.func.id) if isinstance(node.func, gast.Name) else None
        return of_call(unit, node) if inner is None else inner
    if isinstance(node, _OUTSIDE) or uses_up(unit, node) or protocols.acts(unit, node):
        return _ANYTHING
    stores = isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, gast.Store)
    return _STAYS if stores or isinstance(node, _WITHIN) or acts(unit, node) else _NOTHING
