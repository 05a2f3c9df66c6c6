"""Adjoints of operations that build, unpack and resize containers and stacks.

a, b = t        ->  t_bar = (a_bar, b_bar)              s.append(x)   ->  x_bar = s_bar.pop()
                                                        x = s.pop()   ->  s_bar.append(x_bar)

A list with no other uses than `append` and `pop` is a stack, like those in a record: its adjoint exists from the start.  A
list with other reads grows and shrinks: its adjoint is created where it is read, and the reverse sweep restores the list
itself.
"""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from s2sgrad.analysis.complex_kinds import taken
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number, kind_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, constant, expression, name, statements
from s2sgrad.ir.reach import call
from s2sgrad.transform import stores
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.cotangents import Cotangent


def unpacked(adjoints: Adjoints, statement: gast.Assign, targets: list[str], cotangent: Cotangent) -> None:
    """`a, b = t`: the adjoint of a tuple is a tuple of adjoints; that of a vector is made of them,
    and that of anything else is filled item by item."""
    value = statement.value
    assert isinstance(value, gast.Name)
    if notes.PARTS.of(statement) is not None:
        adjoints.contribute(value, cotangent)
        return
    kind = kind_of(value, adjoints.kinds)
    record = bool(adjoints.stacks & set(targets))  # our records are tuples
    type_ = tuple if record else kind.type if isinstance(kind, Container) else None
    if type_ in (tuple, list):
        display = gast.Tuple if type_ is tuple else gast.List
        adjoints.contribute(value, replace(cotangent, value=display(cotangent.value.elts, gast.Load())))
        return
    parts = cotangent.value.elts
    if _is_vector(adjoints, value.id) and not any(isinstance(part, gast.Constant) for part in parts):
        whole = call(adjoints.unit, "array", np.array, gast.List(parts, gast.Load()))
        adjoints.contribute(value, Cotangent(whole, kind, True, own=True, idle=cotangent.idle))
        return
    for k, (target, part) in enumerate(zip(targets, parts, strict=True)):
        if not isinstance(part, gast.Constant):
            item = Cotangent(part, adjoints.kinds.get(target), True, constant(k), idle=cotangent.idle)
            adjoints.contribute(value, item)


def _is_vector(adjoints: Adjoints, x: str) -> bool:
    """Whether a variable is a vector of floats."""
    kind = kind_of(name(x), adjoints.kinds)
    return isinstance(kind, Array) and kind.rank == 1 and kind.dtype == "float64"


def stack(adjoints: Adjoints, operation: Operation, targets: list[str], cotangent: Cotangent | None) -> None:
    """`s.append(x)` pulls back to `x_bar = s_bar.pop()`, `x = s.pop()` to `s_bar.append(x_bar)`."""
    stack = operation.operands[0].id
    if stack not in adjoints.stacks:
        return
    bar = adjoints.bar(stack)
    if operation.form == "push":
        popped = expression("s.pop()", s=bar)
        value = operation.operands[1]
        if isinstance(value, gast.Name) and value.id in adjoints.active:
            holder = adjoints.unit.temp()
            adjoints.kinds[holder] = taken(adjoints.unit, adjoints.kinds.get(value.id, UNKNOWN)) or UNKNOWN
            adjoints.out.append(assign(holder, popped))
            adjoints.contribute(value, Cotangent(name(holder), adjoints.kinds.get(value.id), True, None, False))
        else:
            adjoints.out.append(gast.Expr(popped))
        return
    if cotangent is not None and not cotangent.full:
        cotangent = adjoints.settling.spread(cotangent, targets[0])
    assert cotangent is not None
    value = stores.apart(adjoints, cotangent)
    adjoints.out += statements("s.append(g)", s=bar, g=value)


def start_shrunk(adjoints: Adjoints, operation: Operation, cotangent: Cotangent | None) -> None:
    """Give a list that shrank an adjoint, of its present length, before the list is restored."""
    owner = operation.operands[0].id
    given = adjoints.pending.pop(owner, None)
    if given:  # of operands that were evaluated with the list at its new length
        adjoints.write(owner, [adjoints.settling.settled(g, owner) for g in given])
    if operation.form == "shrink" and cotangent is not None and owner not in adjoints.present:
        adjoints.start(owner)


def restored(operation: Operation, targets: list[str]) -> list[gast.AST]:
    """Undo a change of length."""
    owner = operation.operands[0].id
    if operation.form in ("grow", "push"):
        back = statements("s.pop()", s=owner)
    else:
        back = statements("s.append(v)", s=owner, v=targets[0])
    for statement in back:
        notes.RESTORES.put(statement)
    return back


def resized(adjoints: Adjoints, operation: Operation, targets: list[str], cotangent: Cotangent | None) -> None:
    """The adjoint of a resize: of a list that grew it loses its last item, of one that shrank it gains one."""
    owner = operation.operands[0].id
    bar = adjoints.bar(owner)
    if operation.form == "grow":
        if owner not in adjoints.present:
            return
        adjoints.make_own(owner)
        value = operation.operands[1]
        popped = expression("s.pop()", s=bar)
        if not (isinstance(value, gast.Name) and value.id in adjoints.active):
            adjoints.out.append(gast.Expr(popped))
            return
        kind = adjoints.kinds.get(value.id, UNKNOWN)
        holder = adjoints.unit.temp()
        adjoints.kinds[holder] = taken(adjoints.unit, kind) or UNKNOWN
        adjoints.out.append(assign(holder, popped))
        numeric = isinstance(kind, (Number, Array))
        idle = adjoints.present[owner].idle
        adjoints.contribute(value, Cotangent(name(holder), kind, True, None, numeric, idle=idle))
        return
    if owner not in adjoints.present:
        return
    adjoints.make_own(owner)
    if cotangent is None:
        given: gast.AST = adjoints.zero(targets[0])
    else:
        full = cotangent if cotangent.full else adjoints.settling.spread(cotangent, targets[0])
        given = stores.apart(adjoints, full)
    adjoints.out += statements("s.append(g)", s=bar, g=given)
