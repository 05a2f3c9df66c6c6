"""What each statement reads, writes and does.  Folding, dead-code removal and recomputation all ask here.

    y[i] = f(x)   reads y, i, f, x; writes y; has whatever effects f has

>>> import gast
>>> statement = gast.parse("y[i] = y[i] + x * z").body[0]
>>> sorted(reads(statement)), sorted(writes(statement))
(['i', 'x', 'y', 'z'], ['y'])
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Container, Iterator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import protocols, reached
from s2sgrad.analysis.kinds import OPAQUE, UNKNOWN, Array, Kind
from s2sgrad.analysis.libraries import CONTEXT_MANAGER as CONTEXT_MANAGER
from s2sgrad.analysis.libraries import is_library as is_library
from s2sgrad.analysis.trust import Trust, trust_of_owner
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.forms import arguments_of, bound_name
from s2sgrad.ir.quote import COMPOUND, HEADER, NAMES, PARTS, nodes, nodes_of
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, methods, spellings
from s2sgrad.primitives.catalogue import may_write
from s2sgrad.runtime import shadows
from s2sgrad.source import brings_gradient as brings_gradient
from s2sgrad.source import read

FLAT_ATTRIBUTES = spellings.FLAT_ATTRIBUTES
_DATA = Array(None, None)  # what stands for numbers, arrays and plain containers of them
_SCOPES = frozenset({gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda})
_READING = _SCOPES | NAMES


def loads(node: gast.AST, hidden: frozenset[str] = frozenset()) -> list[gast.Name]:
    """The names read in an expression or simple statement, `hidden` ones and those of a comprehension's own left out."""
    if type(node) in _SCOPES:
        hidden |= {n.id for n in nodes(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    out: list[gast.Name] = []
    for part in nodes_of(node, _READING, _SCOPES):
        if type(part) is gast.Name:
            if type(part.ctx) is gast.Load and part.id not in hidden:
                out.append(part)
        elif part is not node:
            out += loads(part, hidden)
    return out


def reads(statement: gast.AST) -> set[str]:
    """The names that a simple statement, or the header of a compound one, reads."""
    names: set[str] = {base(statement.target)} if isinstance(statement, gast.AugAssign) else set()
    waiting, parts_of = [header(statement)], PARTS
    while waiting:  # a walk of its own, for every graph asks of every statement
        part = waiting.pop()
        kind = type(part)
        if kind is gast.Name:
            if type(part.ctx) is gast.Load:
                names.add(part.id)
        elif kind in _SCOPES:
            names.update(n.id for n in loads(part))
        else:
            for field in parts_of[kind] or ():
                value = getattr(part, field, None)
                if type(value) is list:
                    waiting += value
                elif value is not None:
                    waiting.append(value)
    return names


def writes(statement: gast.AST) -> set[str]:
    """The names that a simple statement, or the header of a compound one, binds or changes in place."""
    if isinstance(statement, gast.Assign):
        stored = {base(t) for t in statement.targets if isinstance(t, gast.Subscript)}
        return set(targets(statement)) | stored | changed_by_call(statement.value)
    if isinstance(statement, gast.AugAssign):
        return {base(statement.target)}
    if isinstance(statement, gast.For):
        return {statement.target.id}
    if isinstance(statement, gast.Expr):
        return changed_by_call(statement.value)
    return set()


def targets(statement: gast.Assign) -> list[str]:
    """The names that an assignment binds, in order, those of nested tuples included; a store binds none."""
    (target,) = statement.targets
    if isinstance(target, gast.Name):
        return [target.id]
    if isinstance(target, gast.Subscript):
        return []
    return [n for part in target.elts for n in targets(gast.Assign([part], statement.value, None))]


def changed_by_call(value: gast.AST) -> set[str]:
    """Local stacks that `s.append(x)` and `s.pop()` change."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        if may_write(value.func.attr) and isinstance(value.func.value, gast.Name):
            return {value.func.value.id}
    elif isinstance(value, gast.Call) and getattr(value.func, "changes_first", False):
        return {value.args[0].id} if value.args and isinstance(value.args[0], gast.Name) else set()
    return set()


def accumulates(unit: Unit, statement: gast.AST) -> str | None:
    """The variable of `x = add_at(x, i, e)` and `x = restored(x, old)`, which update x in place like `x[i] += e`."""
    if bound_name(statement) is None or unit.called(statement.value) not in _UPDATES:
        return None
    owner = statement.value.args[0]
    return owner.id if isinstance(owner, gast.Name) else None


_UPDATES = (runtime.add_at, runtime.restored, runtime.put_back, shadows.add_into, shadows.refilled)
DEEP = (shadows.add_into, shadows.refilled)
"""Of these, what writes the arrays that a container holds."""


def base(target: gast.AST) -> str:
    """The variable behind a target: `x` of `x`, of `x[i]`, of `x.T[i]` and of `np.flip(x)[i]`."""
    return owner(target).id


def owner(target: gast.AST) -> gast.Name:
    """The mention of the variable behind a target."""
    while not isinstance(target, gast.Name):
        if isinstance(target, gast.Call):
            target = target.args[0] if getattr(target, "of_first", False) else target.func
        else:
            target = target.value
    return target


def permutes(statement: gast.AST) -> bool:
    """Whether a statement is `a, b = b, a` or another permutation of names."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Tuple):
        return False
    if not isinstance(statement.value, gast.Tuple):
        return False
    parts = [*statement.targets[0].elts, *statement.value.elts]
    return all(isinstance(p, gast.Name) for p in parts) and (
        sorted(p.id for p in statement.targets[0].elts) == sorted(p.id for p in statement.value.elts)
    )


def header(statement: gast.AST) -> gast.AST:
    """What a statement evaluates itself: of a compound one the test, or what it runs over."""
    field = HEADER.get(type(statement))
    return statement if field is None else getattr(statement, field)


def is_whole(index: gast.AST) -> bool:
    """Whether an index is `:` or `...`, which stand for all of an array."""
    if isinstance(index, gast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, gast.Constant) and index.value is Ellipsis


def stored(statement: gast.AST) -> gast.Subscript | None:
    """The section that a store `x[i] = v` writes; None for any other statement."""
    if isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Subscript):
        return statement.targets[0]
    return None


def written(body: list[gast.AST]) -> set[str]:
    """All names that the statements, nested ones included, bind or change."""
    names: set[str] = set()
    for statement in walk(body):
        names |= writes(statement)
    return names


def walk(body: list[gast.AST]) -> Iterator[gast.AST]:
    """All statements of a block, nested ones after the one that holds them."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, COMPOUND):
            waiting += reversed(statement.body + statement.orelse)


# --- purity ----------------------------------------------------------------------------------------------------------


def is_one_of(target: Any, group: Container[Any]) -> bool:
    """Whether an object, which need not be hashable, is in a set."""
    try:
        return target in group
    except (TypeError, ValueError):
        return False


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
    return all(is_pure_call(unit, c) or (changed_by_call(c) and changed_by_call(c) <= bound) for c in calls)


def is_pure_call(unit: Unit, call: gast.Call) -> bool:
    """Whether a call, its arguments aside, has no effects and depends on them alone."""
    target = unit.resolve(call.func)
    if target is MISSING:
        if isinstance(call.func, gast.Attribute):
            data = methods.only_compute(call.func.attr) and trust_of_owner(unit, call.func.value, unit.kinds) <= Trust.DATA
            return data and not protocols.call_acts(unit, target, call)
        return False
    emitted = getattr(target, "primal", None)
    if isinstance(emitted, types.FunctionType) and hasattr(target, "same_signature"):
        # a pair of ours: `fwd` runs the user's function, `bwd` only computes
        return not target.same_signature or is_pure_user(emitted, _given(unit, call))
    if isinstance(target, types.FunctionType) and not is_library(target) and not catalogue.of(target).pure:
        return target.__module__ != runtime.__name__ and is_pure_user(target, _given(unit, call))
    return catalogue.of(target).pure and not protocols.call_acts(unit, target, call)


def is_pure_user(function: types.FunctionType, given: Kind = _DATA) -> bool:
    """Whether a user function may be left out: it computes, and neither prints, raises, loops for ever nor changes
    anything, called with values of which no more is known than `given`."""
    if given == _DATA and reached.objects(function):
        given = OPAQUE
    return _scanned(function, given) if _RUNNING else _scanned_once(function, given)


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


def _given(unit: Unit, call: gast.Call) -> Kind:
    """What is known of all arguments of a call: that they are data; that they may be iterators; or nothing."""
    given = arguments_of(call)
    if any(protocols.may_act(unit, part) for part in given):
        return OPAQUE
    return UNKNOWN if any(protocols.may_be_iterator(unit, part) for part in given) else _DATA


@functools.lru_cache(maxsize=1024)
def _scanned_once(function: types.FunctionType, given: Kind) -> bool:
    return _scanned(function, given)


def forget() -> None:
    """Look at user functions anew: what their names stand for may have changed."""
    _scanned_once.cache_clear()
    reached.objects.cache_clear()


def _scanned(function: types.FunctionType, given: Kind) -> bool:
    _RUNNING.append(function)
    try:
        unit, tree = Unit.of(read(function))
        unit.kinds = dict.fromkeys(unit.locals, given)
        return not any(_does(unit, n) for n in nodes(tree)) and all(
            _pure_inside(unit, n) for n in nodes(tree) if isinstance(n, gast.Call)
        )
    except S2SGradError:
        return False
    finally:
        _RUNNING.pop()


def _does(unit: Unit, node: gast.AST) -> bool:
    return isinstance(node, _EFFECTS) or _stores(node) or acts(unit, node) or uses_up(unit, node)


def _stores(node: gast.AST) -> bool:
    return isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, gast.Store)


def _pure_inside(unit: Unit, call: gast.Call) -> bool:
    target = unit.resolve(call.func)
    return any(target is running for running in _RUNNING) or is_pure_call(unit, call)


_RUNNING: list[types.FunctionType] = []  # a recursion is pure if everything else in it is
_EFFECTS = (gast.Raise, gast.Assert, gast.While, gast.Global, gast.Nonlocal, gast.Yield, gast.YieldFrom, gast.Await,
            gast.With, gast.Try, gast.Delete, gast.AugAssign, gast.Import, gast.ImportFrom, gast.Lambda)  # fmt: skip
