"""Adjoints of operations that build, unpack and resize containers and stacks.

a, b = t        ->  t_bar = (a_bar, b_bar)              s.append(x)   ->  x_bar = s_bar.pop()
                                                        x = s.pop()   ->  s_bar.append(x_bar)

A list with no other uses than `append` and `pop` is a stack, like those in a record: its adjoint exists from the start.  A
list with other reads grows and shrinks: its adjoint is created where it is read, and the reverse sweep restores the list
itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Number, kind_of
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.counts import read_counts
from s2sgrad.flow.graph import binds
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, constant, expression, name, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.stacks import recorded_stacks
from s2sgrad.runtime.copies import copied, copied_as_laid
from s2sgrad.transform import stores
from s2sgrad.transform.adjoint import Adjoints
from s2sgrad.transform.cotangents import Cotangent


def unpacked(adjoints: Adjoints, value: gast.AST, targets: list[str], cotangent: Cotangent) -> None:
    """`a, b = t`: the adjoint of a tuple is a tuple of adjoints; that of anything else is filled item by item."""
    kind = kind_of(value, adjoints.kinds)
    record = bool(adjoints.stacks & set(targets))  # our records are tuples
    if record or (isinstance(kind, Container) and kind.type in (tuple, list)):
        display = gast.Tuple if record or kind.type is tuple else gast.List
        adjoints.contribute(value, replace(cotangent, value=display(cotangent.value.elts, gast.Load())))
        return
    for k, (target, part) in enumerate(zip(targets, cotangent.value.elts, strict=True)):
        if not isinstance(part, gast.Constant):
            item = Cotangent(part, adjoints.kinds.get(target), True, constant(k), idle=cotangent.idle)
            adjoints.contribute(value, item)


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
            adjoints.kinds[holder] = adjoints.kinds.get(value.id, UNKNOWN)
            adjoints.out.append(assign(holder, popped))
            adjoints.contribute(value, Cotangent(name(holder), adjoints.kinds.get(value.id), True, None, False))
        else:
            adjoints.out.append(gast.Expr(popped))
        return
    if cotangent is not None and not cotangent.full:
        cotangent = adjoints.spread(cotangent, targets[0])
    value = stores.apart(adjoints, cotangent)
    adjoints.out += statements("s.append(g)", s=bar, g=value)


# --- lists that are resized and read ---


def grown(unit: Unit, tree: gast.FunctionDef, found: Operations) -> set[str]:
    """The lists with `append` and `pop` and other reads; their operations become `grow` and `shrink`."""
    owners = (o.operands[0] for o in found.values() if o.is_stack)
    changed = {owner.id for owner in owners if isinstance(owner, gast.Name)}
    if not changed:
        return set()
    mentions = read_counts(tree.body)
    as_stacks = _mentioned_as_stacks(unit, tree, found)
    out = {s for s in changed if mentions[s] != as_stacks[s]} | _made_elsewhere(unit, tree, changed)
    for operation in found.values():
        if operation.is_stack and getattr(operation.operands[0], "id", None) in out:
            operation.form = {"push": "grow", "pop": "shrink"}[operation.form]
    return out


def _mentioned_as_stacks(unit: Unit, tree: gast.FunctionDef, found: Operations) -> Counter[str]:
    """How often each list is mentioned by a push or a pop, or passed on in a record of ours.

    The adjoint of a stack that is passed on is bound, not added to: so only the last use of a stack may pass it on.
    """
    out: Counter[str] = Counter()
    last = {id(s): k for k, s in enumerate(tree.body)}
    for statement in effects.walk(tree.body):
        operation = found.get(id(statement))
        if operation is None:
            continue
        if operation.is_stack:
            whole = operation.operands[:1]
        elif not unit.primal.is_generated:
            continue
        elif unit.called(operation.node) is runtime.zeros:
            whole = operation.operands or operation.node.args
        elif id(statement) in last and (operation.form == "display" or unit.called(operation.node) is runtime.own):
            names = [n.id for n in operation.operands or getattr(operation.node, "args", []) if isinstance(n, gast.Name)]
            later = read_counts(tree.body[last[id(statement)] + 1 :])
            out.update(n for n in names if names.count(n) == 1 and not later[n])
            continue
        else:
            whole = []
        out.update(n.id for n in whole if isinstance(n, gast.Name))
    return out


def _made_elsewhere(unit: Unit, tree: gast.FunctionDef, changed: set[str]) -> set[str]:
    """Those of these lists that do not start empty, which others may read; a record may provide stacks of ours."""
    ours = recorded_stacks(unit, tree)
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        bound = changed.intersection(binds(statement))
        if not bound or isinstance(statement, gast.AugAssign):
            out |= bound
            continue
        empty = isinstance(statement.value, gast.List) and not statement.value.elts
        recorded = bound <= ours or _reads_structure(unit, statement.value)
        if not empty and not (unit.primal.is_generated and recorded):
            out |= bound
    return out


def _reads_structure(unit: Unit, node: gast.AST) -> bool:
    return unit.called(node) in (runtime.zeros, runtime.own, copied, copied_as_laid)


def start_shrunk(adjoints: Adjoints, operation: Operation, cotangent: Cotangent | None) -> None:
    """Give a list that shrank an adjoint, of its present length, before the list is restored."""
    owner = operation.operands[0].id
    given = adjoints.pending.pop(owner, None)
    if given:  # of operands that were evaluated with the list at its new length
        adjoints.write(owner, [adjoints.settled(g, owner) for g in given])
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
        adjoints.kinds[holder] = kind
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
        full = cotangent if cotangent.full else adjoints.spread(cotangent, targets[0])
        given = stores.apart(adjoints, full)
    adjoints.out += statements("s.append(g)", s=bar, g=given)
