"""What running a piece of a text does besides giving a value: nothing, what stays within it, or anything.

    np.sin(u), helper(u)                                  nothing: it may be left out, or run again
    z[0] = 1.0; assert n > 0; np.copyto(z, u)             within: it is not left out, and does the same when it is run again
    print(u), next(it), rng.normal(), f(u) of unknown f   anything

`of_function` is the one summary of what a function of the user's does, by its text, its callees' included; whether it may be
left out, run a second time or tried before it is done is read off that.  Two questions besides have answers of their own:
`mod_ref` says *which* memory a call may change, and what it returns; `analysis.reached`, before any text is looked into,
which objects are at hand in it, so that it may run their methods.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import types
from collections.abc import Iterable, Iterator
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
from s2sgrad.ir.checkpoints import under_checkpoint
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue, methods
from s2sgrad.rules import table
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.source import brings_gradient, read

_DATA = Array(None, None)  # what stands for numbers, arrays and plain containers of them
_LATE = (runtime.vjp, runtime.jvp, runtime.call)
_WITHIN = (gast.Raise, gast.Assert, gast.While, gast.Nonlocal, gast.Await, gast.With, gast.Try, gast.Delete, gast.AugAssign,
           gast.Import, gast.ImportFrom, gast.Lambda)  # fmt: skip
_OUTSIDE = (gast.Global, gast.Yield, gast.YieldFrom)


class Effect(enum.IntEnum):
    """What something does besides giving a value."""

    NOTHING = 0
    WITHIN = 1  # it may raise, or never end, or change what is its own, or what it is given
    ANYTHING = 2


@dataclass(frozen=True)
class Behaviour:
    """The effect of a call, and the functions of the user's that it runs which do more than compute."""

    effect: Effect
    runs: frozenset[types.FunctionType] = frozenset()

    @property
    def is_repeatable(self) -> bool:
        """Whether the same arguments give the same each time, and nothing but these and what is new is changed."""
        return self.effect < Effect.ANYTHING and not any(mod_ref.of(f).outside for f in self.runs)


_NOTHING, _STAYS, _ANYTHING = map(Behaviour, Effect)


def _both(all_: Iterable[Behaviour]) -> Behaviour:
    out = _NOTHING
    for one in all_:
        if one.effect is Effect.ANYTHING:
            return _ANYTHING
        if one.effect is Effect.WITHIN:
            out = Behaviour(Effect.WITHIN, out.runs | one.runs)
    return out


# --- expressions and statements ----------------------------------------------------------------------------------------


def is_pure(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression may be left out or run again: it has no effects and depends on its operands alone."""
    return not any(True for _ in impurities(unit, node))


def impurities(unit: Unit, node: gast.AST) -> Iterator[gast.AST]:
    """The parts of an expression that have effects themselves, or that may raise because a name stands for nothing."""
    for part in nodes(node):
        if isinstance(part, gast.Call):
            if not is_pure_call(unit, part):
                yield part
        elif isinstance(part, gast.Lambda) or acts(unit, part):
            yield part


def acts(unit: Unit, node: gast.AST) -> bool:
    """Whether a part of an expression that is no call has an effect of its own: it binds a name, reads one that stands
    for nothing, runs a method that is not seen, or uses up an iterator."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return is_missing(unit, node)
    return isinstance(node, gast.NamedExpr) or is_missing(unit, node) or protocols.acts(unit, node)


def uses_up(unit: Unit, statement: gast.AST) -> bool:
    """Whether this is `a, b = it` of what may be an iterator."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Tuple):
        return False
    value = statement.value
    return isinstance(value, gast.Name) and (protocols.may_be_iterator(unit, value) or protocols.may_act(unit, value, False))


def is_missing(unit: Unit, node: gast.AST) -> bool:
    """Whether a name, or an attribute of a module, stands for nothing now, so that reading it is an error."""
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
    """Whether a call, its arguments aside, has no effects and depends on them alone."""
    return of_call(unit, call).effect is Effect.NOTHING


@contextlib.contextmanager
def of_data(unit: Unit, also: str) -> Iterator[None]:
    """Ask of a text of which the variables, and one more, are taken for data."""
    kinds, unit.kinds = unit.kinds, dict.fromkeys((*unit.locals, also), _DATA)
    unit.locals.add(also)
    try:
        yield
    finally:
        unit.kinds = kinds
        unit.locals.discard(also)


# --- calls -------------------------------------------------------------------------------------------------------------


def of_call(unit: Unit, call: gast.Call) -> Behaviour:
    """What a call does, its arguments aside."""
    target = unit.resolve(call.func)
    if target is MISSING:
        return _of_unknown(unit, call)
    emitted = getattr(target, "primal", None)
    if isinstance(emitted, types.FunctionType) and hasattr(target, "same_signature"):
        # a pair of ours: `fwd` runs the user's function, `bwd` only computes
        return of_function(emitted, _given(unit, call)) if target.same_signature else _NOTHING
    if catalogue.of(target).pure:
        return _ANYTHING if protocols.call_acts(unit, target, call) else _NOTHING
    if any(target is late for late in _LATE):
        found = unit.resolve(call.args[0]) if call.args else MISSING
        return _ANYTHING if found is MISSING else _at_least(of_callable(found))
    return of_callable(target, _given(unit, call))


def _of_unknown(unit: Unit, call: gast.Call) -> Behaviour:
    """What a method does, or what stands under `checkpoint`, or a function that the text defines itself."""
    callee = under_checkpoint(unit, call.func) or call.func
    if isinstance(callee, gast.Lambda):
        return _STAYS  # what it says is looked at as well
    if callee is not call.func:
        found = unit.resolve(callee)
        return _ANYTHING if found is MISSING else _at_least(of_callable(found, _given(unit, call)))
    if not isinstance(call.func, gast.Attribute):
        return _ANYTHING
    data = trust_of_owner(unit, call.func.value, unit.kinds) <= Trust.DATA
    if data and methods.only_compute(call.func.attr) and not protocols.call_acts(unit, MISSING, call):
        return _NOTHING
    return _STAYS if data and _changes_own(unit, call.func) else _ANYTHING


def _at_least(found: Behaviour) -> Behaviour:
    return _STAYS if found.effect is Effect.NOTHING else found


def _changes_own(unit: Unit, method: gast.Attribute) -> bool:
    """Whether this is a method that changes data of the function's own, and does nothing else: `ys.append`."""
    known = catalogue.methods_named(method.attr)
    root = method.value
    while isinstance(root, (gast.Subscript, gast.Attribute)):
        root = root.value
    plain = bool(known) and all(m.computes or m.writes == (0,) for m in known)
    return plain and isinstance(root, gast.Name) and root.id in unit.locals


def _given(unit: Unit, call: gast.Call) -> Kind:
    """What is known of all arguments of a call: that they are data; that they may be iterators; or nothing."""
    given = arguments_of(call)
    if any(protocols.may_act(unit, part) for part in given):
        return OPAQUE
    return UNKNOWN if any(protocols.may_be_iterator(unit, part) for part in given) else _DATA


def of_callable(target: Any, given: Kind = _DATA) -> Behaviour:
    """What calling an object that is known does, with values of which no more is known than `given`."""
    record = catalogue.of(target)
    if record.pure:
        return _NOTHING
    if isinstance(target, types.FunctionType) and not is_library(target) and target.__module__ != runtime.__name__:
        return of_function(target, given)
    if brings_gradient(target) or target is checkpoint or (record.writes and not record.effect):
        return _STAYS
    said = table.given(target)
    if said is not None and table.is_flat(target):
        return _at_least(of_function(said.given)) if isinstance(said.given, types.FunctionType) else _ANYTHING
    ours = (getattr(target, "__module__", None) or "").startswith(runtime.__name__) and target is not runtime.set_attribute
    if said is not None or ours or hasattr(target, "compiled_for"):
        return _STAYS
    if isinstance(target, functools.partial):
        return _at_least(of_callable(target.func, given))
    if isinstance(target, type):
        return _of_class(target)
    function = getattr(target, "__func__", target)
    return _at_least(of_function(function, given)) if is_user_function(function) else _ANYTHING


def _of_class(cls: type) -> Behaviour:
    """What making an object of a class does, and what its methods do."""
    if hasattr(cls, "_fields") or issubclass(cls, BaseException):
        return _STAYS
    methods_ = (of_callable(m) for m in vars(cls).values() if is_user_function(m))
    return _at_least(_both(methods_)) if is_plain_class(cls) else _ANYTHING


# --- functions of the user's -------------------------------------------------------------------------------------------


def of_function(function: types.FunctionType, given: Kind = _DATA) -> Behaviour:
    """What a function of the user's does, called with values of which no more is known than `given`."""
    if given == _DATA and reached.objects(function):
        given = OPAQUE
    return _known.of(function, given)


def forget() -> None:
    """Look at user functions anew: what their names stand for may have changed."""
    _known.__init__()
    reached.objects.cache_clear()


class _Summaries:
    """The behaviour of functions that call each other: a recursion does nothing that is not done elsewhere in it."""

    def __init__(self) -> None:
        self.table: dict[tuple[types.FunctionType, Kind], Behaviour] = {}
        self.running: list[types.FunctionType] = []
        self.outermost = 0  # of the functions that run, the one on which what is being found out depends

    def of(self, function: types.FunctionType, given: Kind) -> Behaviour:
        if (function, given) in self.table:
            return self.table[function, given]
        if function in self.running:
            self.outermost = min(self.outermost, self.running.index(function))
            return _NOTHING
        place, before = len(self.running), self.outermost
        self.running.append(function)
        self.outermost = place
        found = _scanned(function, given)
        self.running.pop()
        if self.outermost == place:
            self.table[function, given] = found
        self.outermost = min(before, self.outermost)
        return found


_known = _Summaries()


def _scanned(function: types.FunctionType, given: Kind) -> Behaviour:
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return _ANYTHING
    unit.kinds = dict.fromkeys(unit.locals, given)
    own = {n.name for n in nodes(*tree.body) if isinstance(n, gast.FunctionDef)}
    found = _both(_of_part(unit, part, own) for part in nodes(tree))
    return Behaviour(found.effect, found.runs | {function}) if found.effect is Effect.WITHIN else found


def _of_part(unit: Unit, node: gast.AST, own: set[str]) -> Behaviour:
    """What a part of a text does; `own` are the functions that it defines itself, into which the walk comes as well."""
    if isinstance(node, gast.Call):
        inner = isinstance(node.func, gast.Name) and node.func.id in own
        return _STAYS if inner else of_call(unit, node)
    if isinstance(node, _OUTSIDE) or uses_up(unit, node) or protocols.acts(unit, node):
        return _ANYTHING
    stores = isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, gast.Store)
    return _STAYS if stores or isinstance(node, _WITHIN) or acts(unit, node) else _NOTHING
