"""The variable of a loop over a range: its bounds, its least value and its direction.

>>> from s2sgrad.ir.quote import statements
>>> unit = Unit(None, None, {"n", "i"})
>>> unit.helpers |= {"range": range, "reversed": reversed}
>>> (loop,) = statements("for i in reversed(range(1, n)): pass")
>>> least_of(unit, loop), direction_of(unit, loop), limits_of(unit, loop)[1].id
(1, -1, 'n')
"""

from __future__ import annotations

import builtins

import gast

from s2sgrad.ir.forms import whole_number
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checkpoints import checkpointed


def range_of(unit: Unit, node: gast.AST) -> gast.Call | None:
    """The `range(..)` that a loop runs over, forwards or reversed; None for any other iterable."""
    while any(unit.called(node) is around for around in (builtins.reversed, checkpointed)) and node.args:
        node = node.args[0]
    return node if unit.called(node) is builtins.range else None


def step_of(call: gast.Call) -> int | None:
    """The step of a `range(..)` if it is constant, else None."""
    return whole_number(call.args[2]) if len(call.args) > 2 else 1


def least_of(unit: Unit, loop: gast.For) -> int | None:
    """The least value of a loop's variable if it is constant, else None."""
    call = range_of(unit, loop.iter)
    if call is None:
        return None
    step = step_of(call)
    if step == 1:
        return whole_number(call.args[0]) if len(call.args) > 1 else 0
    if step == -1:
        stop = whole_number(call.args[1])
        return None if stop is None else stop + 1
    return None


def limits_of(unit: Unit, loop: gast.For) -> tuple[gast.AST, gast.AST] | None:
    """(start, stop) of a loop with step 1 or -1 over the values between; None for any other loop."""
    call = range_of(unit, loop.iter)
    if call is None or step_of(call) != 1:
        return None
    return (call.args[0], call.args[1]) if len(call.args) > 1 else (gast.Constant(0, None), call.args[0])


def direction_of(unit: Unit, loop: gast.For) -> int | None:
    """1 or -1: the direction of a loop's variable; None where it is unknown."""
    call = range_of(unit, loop.iter)
    step = None if call is None else step_of(call)
    if not step:
        return None
    reversed_ = loop.iter is not call
    return (1 if step > 0 else -1) * (-1 if reversed_ else 1)
