"""What a statement reads and writes: the names that it mentions, binds and changes in place.

    y[i] = f(x)   reads y, i, f, x; writes y; for side effects of f see `memory.behaviour`

>>> import gast
>>> statement = gast.parse("y[i] = y[i] + x * z").body[0]
>>> sorted(reads(statement)), sorted(writes(statement))
(['i', 'x', 'y', 'z'], ['y'])
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.libraries import CONTEXT_MANAGER as CONTEXT_MANAGER
from s2sgrad.analysis.libraries import is_library as is_library
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import HEADER, IS_COMPOUND, NAMES, children, nodes_of
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import spellings
from s2sgrad.primitives.catalogue import may_write
from s2sgrad.runtime import shadows

FLAT_ATTRIBUTES = spellings.FLAT_ATTRIBUTES
_SCOPES = frozenset({gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda})
_NAMES_AND_SCOPES = _SCOPES | NAMES


def loads(node: gast.AST, hidden: frozenset[str] = frozenset()) -> list[gast.Name]:
    """The names that an expression or simple statement reads, except `hidden` ones and those local to a comprehension."""
    parts = [node]
    if type(node) in _SCOPES:
        hidden |= {n.id for n in nodes_of(node, NAMES) if not isinstance(n.ctx, gast.Load)}
        parts = children(node)[::-1]
    out: list[gast.Name] = []
    for part in parts:
        for found in nodes_of(part, _NAMES_AND_SCOPES, _SCOPES):
            if type(found) is not gast.Name:
                out += loads(found, hidden)
            elif type(found.ctx) is gast.Load and found.id not in hidden:
                out.append(found)
    return out


def reads(statement: gast.AST) -> set[str]:
    """The names that a simple statement, or the header of a compound one, reads."""
    names = {n.id for n in loads(header(statement))}
    return names | {base(statement.target)} if isinstance(statement, gast.AugAssign) else names


def writes(statement: gast.AST) -> set[str]:
    """The names that a simple statement, or the header of a compound one, binds or changes in place."""
    if type(statement) is gast.Assign:
        (target,) = statement.targets
        bound = {base(target)} if type(target) is gast.Subscript else set(targets(statement))
        return bound | changed_by_call(statement.value) if type(statement.value) is gast.Call else bound
    if isinstance(statement, gast.AugAssign):
        return {base(statement.target)}
    if isinstance(statement, gast.For):
        return {statement.target.id}
    if isinstance(statement, gast.Expr):
        return changed_by_call(statement.value)
    return set()


def targets(statement: gast.Assign) -> list[str]:
    """The names that an assignment binds, in order, nested tuples included; a store binds none."""
    (target,) = statement.targets
    if type(target) is gast.Name:
        return [target.id]
    out, waiting = [], [target]
    while waiting:
        part = waiting.pop()
        if type(part) is gast.Name:
            out.append(part.id)
        elif not isinstance(part, (gast.Subscript, gast.Attribute)):
            waiting += reversed(part.elts)
    return out


def changed_by_call(value: gast.AST) -> set[str]:
    """The list that `s.append(x)` or `s.pop()` changes, where it is a variable."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        if may_write(value.func.attr) and isinstance(value.func.value, gast.Name):
            return {value.func.value.id}
    elif isinstance(value, gast.Call) and notes.CHANGES_FIRST.of(value.func):
        return {value.args[0].id} if value.args and isinstance(value.args[0], gast.Name) else set()
    return set()


def accumulates(unit: Unit, statement: gast.AST) -> str | None:
    """The variable of `x = add_at(x, i, e)` or `x = restored(x, old)`, which update x in place like `x[i] += e`.  It may be
    `put_back(x["a"], k, old)`, which is left of such a statement where nothing reads what it binds."""
    left = isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call)
    if not (left or bound_name(statement) is not None) or unit.called(statement.value) not in _UPDATES:
        return None
    updated = statement.value.args[0]
    return owner(updated).id if left else updated.id if isinstance(updated, gast.Name) else None


_UPDATES = (runtime.add_at, runtime.restored, runtime.put_back, shadows.add_into, shadows.refilled)
DEEP = (shadows.add_into, shadows.refilled)
"""Those that write the arrays in a container."""


def base(target: gast.AST) -> str:
    """The variable at the root of a target: `x` of `x`, of `x[i]`, of `x.T[i]` and of `np.flip(x)[i]`."""
    name: str = owner(target).id
    return name


def owner(target: gast.AST) -> gast.Name:
    """The occurrence of the variable at the root of a target."""
    while type(target) is not gast.Name:
        target = operand(target)
    return target


def operand(view: gast.AST) -> gast.AST:
    """What a section, an attribute or the view that a call gives is taken of."""
    if type(view) is gast.Call:
        return view.args[0] if notes.OF_FIRST.of(view) else view.func
    return view.value


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
    """What a statement evaluates itself: for a compound one its test or iterable."""
    field = HEADER.get(type(statement))
    return statement if field is None else getattr(statement, field)


def is_whole(index: gast.AST) -> bool:
    """Whether an index is `:` or `...`, which select all of an array."""
    if isinstance(index, gast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, gast.Constant) and index.value is Ellipsis


def stored(statement: gast.AST) -> gast.Subscript | None:
    """The target of a store `x[i] = v`; None for any other statement."""
    target = statement.targets[0] if type(statement) is gast.Assign else None
    return target if type(target) is gast.Subscript else None


def written(body: list[gast.AST]) -> set[str]:
    """All names that the statements, nested ones included, bind or change in place."""
    names: set[str] = set()
    for statement in walk(body):
        names |= writes(statement)
    return names


def walk(body: list[gast.AST]) -> Iterator[gast.AST]:
    """All statements of a block; nested ones follow the statement that contains them."""
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield statement
        if type(statement) in IS_COMPOUND:
            waiting += reversed(statement.body + statement.orelse)


def is_one_of(target: Any, group: Container[Any]) -> bool:
    """Whether an object, hashable or not, is in a set."""
    try:
        return target in group
    except (TypeError, ValueError):
        return False
