"""Numbers that something was divided by: none of them is 0, or the division had raised.

    s = v + r; gain = v / s; y = np.log(s)      ->      s      (where `v` and `s` are numbers of Python's)

The division has to be a statement of the block that binds the number, which no `break` leaves in between.

>>> from s2sgrad.analysis.kinds import Number
>>> body = gast.parse("s = v + r; gain = v / s; t = v * r").body
>>> sorted(divisors(body, lambda node: Number(float)))
['s']
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.number_types import is_python_number
from s2sgrad.flow.counts import bound_once
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.quote import nested


def divisors(body: list[gast.AST], kind: Callable[[gast.AST], Kind | None]) -> frozenset[str]:
    """The names of such numbers in a function, given the kinds of its expressions."""
    once, found = bound_once(body), set()
    for block in nested(body):
        if leaves(block, (gast.Break, gast.Continue)):  # the only return is the last statement
            continue
        bound = {n for n, s in once.items() if any(s is t for t in block)} if any(map(_divides, block)) else set()
        for statement in filter(_divides, block):
            value = statement.value
            if value.right.id in bound and is_python_number(kind(value.left)) and is_python_number(kind(value.right)):
                found.add(value.right.id)
    return frozenset(found)


def _divides(statement: gast.AST) -> bool:
    """Whether a statement divides something by a name."""
    value = statement.value if isinstance(statement, gast.Assign) else None
    return isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div) and isinstance(value.right, gast.Name)
