"""The adjoints of what takes containers and stacks apart, and puts them together.

a, b = t        ->  t_bar = (a_bar, b_bar)              s.append(x)   ->  x_bar = s_bar.pop()
                                                        x = s.pop()   ->  s_bar.append(x_bar)
"""

from __future__ import annotations

from dataclasses import replace

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Container
from s2sgrad.analysis.operations import Operation
from s2sgrad.quote import assign, constant, expression, name, statements
from s2sgrad.transform import stores
from s2sgrad.transform.adjoint import Adjoints
from s2sgrad.transform.cotangents import Cotangent


def unpacked(adjoints: Adjoints, value: gast.AST, targets: list[str], cotangent: Cotangent) -> None:
    """`a, b = t`: the adjoint of a tuple is a tuple of adjoints, that of anything else is filled item by item."""
    kind = adjoints.kinds.get(value.id) if isinstance(value, gast.Name) else None
    record = bool(adjoints.stacks & set(targets))  # a record of ours is a tuple
    if record or (isinstance(kind, Container) and kind.type in (tuple, list)):
        display = gast.Tuple if record or kind.type is tuple else gast.List
        adjoints.contribute(value, replace(cotangent, value=display(cotangent.value.elts, gast.Load())))
        return
    for k, (target, part) in enumerate(zip(targets, cotangent.value.elts, strict=True)):
        if not isinstance(part, gast.Constant):
            item = Cotangent(part, adjoints.kinds.get(target), True, constant(k))
            adjoints.contribute(value, item)


def stack(adjoints: Adjoints, operation: Operation, targets: list[str], cotangent: Cotangent | None) -> None:
    """`s.append(x)` pulls back to `x_bar = s_bar.pop()`, `x = s.pop()` to `s_bar.append(x_bar)`."""
    stack = operation.operands[0].id
    if stack not in adjoints.stacks:
        return
    bar = adjoints.bar(stack)
    if operation.form == "append":
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
    value = stores.detached(adjoints, cotangent.value, cotangent.kind)
    adjoints.out += statements("s.append(g)", s=bar, g=value)
