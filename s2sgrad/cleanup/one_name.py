"""A value that two names stand for keeps one of them, and a name that two statements bind in turn one statement.

    h_new = h                                   h_bar = h_bar * (1.0 - h * h)
    h = h_stack.pop()                   ->      h = h_stack.pop()
    h_bar = h_bar * (1.0 - h_new * h_new)

    v2_bar = v_bar + x_bar * dt                 v_bar = v_bar + x_bar * dt
    v_bar = v2_bar                      ->      a_bar = v_bar * dt
    a_bar = v2_bar * dt

    x_bar = seed[0]
    x_bar = own(x_bar)                  ->      x_bar = own(seed[0])

An older value is restored after the last statement that reads the one in its place, if no statement in between mentions what
is popped, or the stack.  Both names stand for one object, so that stores into it do not matter.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, n):
...     for _ in range(n):
...         x = np.tanh(x)
...     return x
... ''', "one_name", 0.5, 3))
-         x_new = x
+         x_bar = x_bar * (1.0 - x * x)
-         x_bar = x_bar * (1.0 - x_new * x_new)
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name, popped
from s2sgrad.ir.quote import NAMES, Transformer, mentioned, nested, nodes_of, stored, width
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.memory import behaviour


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without second names, in the reverse sweep."""
    everywhere = Counter(n.id for n in nodes_of(tree, NAMES))
    for block in nested(tree.body):
        for statement in [s for s in block if _is_second_name(s)]:
            place, first, second = block.index(statement), statement.value.id, bound_name(statement) or ""
            last = _last_read(block, place, second, everywhere)
            span, kept, gone = _while_alike(block, place, everywhere), second, first
            if last is not None and _is_restored_below(block, place, last, first):
                span, kept, gone = slice(place, last), first, second
            if span is None:
                continue
            del block[place]
            renamed = sum(n.id == gone for s in block[span] for n in nodes_of(s, NAMES))
            everywhere.update({kept: renamed})
            everywhere.subtract({gone: renamed})
            everywhere.subtract((first, second))
            rename({gone: kept}, *block[span])
            unit.rewritten(*block[span])
        for statement in [s for s in block if sweep_of(s) == "reverse" and bound_name(s) is not None]:
            _write_into_next(unit, block, block.index(statement))
    return tree


_WIDEST = 60  # of a value that is computed in two steps


def _write_into_next(unit: Unit, block: Block, place: int) -> None:
    """Write a value into that which is computed from it under its name, if nothing else reads it and nothing is written in
    between."""
    bound, value = bound_name(block[place]) or "", block[place].value
    taken = mentioned(value)
    for later in block[place + 1 :]:
        name = bound_name(later)
        if name is None or popped(later.value) is not None or not behaviour.is_pure(unit, later.value):
            return
        reads = [n for n in nodes_of(later.value, NAMES) if n.id == bound]
        if name == bound and len(reads) == 1 and later.value is not reads[0]:
            if width(value) + width(later.value) <= _WIDEST and popped(value) is None and behaviour.is_pure(unit, value):
                later.value = _Written(bound, value).visit(later.value)
                unit.rewritten(later)
                del block[place]
            return
        if reads or name == bound or name in taken:
            return


class _Written(Transformer):
    """Writes a value in place of a name."""

    def __init__(self, name: str, value: gast.AST) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: gast.Name) -> gast.AST:
        return self.value if node.id == self.name else node


def _is_second_name(statement: gast.AST) -> bool:
    """Whether a statement of the reverse sweep is `x_new = x`."""
    bound = bound_name(statement) if sweep_of(statement) == "reverse" else None
    return bound is not None and isinstance(statement.value, gast.Name) and statement.value.id != bound


def _last_read(block: Block, place: int, name: str, everywhere: Counter[str]) -> int | None:
    """Where a name is read last that a block binds at a place, and nowhere else; None if it is read outside of it."""
    reading = [k for k in range(place + 1, len(block)) if name in mentioned(block[k])]
    here = Counter(n.id for s in block[place:] for n in nodes_of(s, NAMES))
    if not reading or here[name] != everywhere[name] or any(name in stored(s) for s in block[place + 1 :]):
        return None
    return reading[-1]


def _is_restored_below(block: Block, place: int, last: int, first: str) -> bool:
    """Move what restores a name, if anything does, below the last reader of its value; whether that can be done."""
    rebound = [k for k in range(place + 1, last + 1) if first in stored(block[k])]
    if len(rebound) > 1 or leaves_trip(block[place : last + 1]):
        return False
    if not rebound:
        return True
    (back,) = rebound
    pop, between = block[back], block[back + 1 : last + 1]
    stack = popped(pop.value) if isinstance(pop, gast.Assign) else None
    if stack is None or not mentioned(pop).isdisjoint(mentioned(*between)):
        return False
    block[back : last + 1] = [*between, pop]
    pop.origin = between[-1].origin if hasattr(between[-1], "origin") else getattr(pop, "origin", None)
    return True


def _while_alike(block: Block, place: int, everywhere: Counter[str]) -> slice | None:
    """For `y = x` the statements, without this one, from that which binds `x` to its last reader, if `y` can stand for `x`
    in all of them."""
    first, second = block[place].value.id, bound_name(block[place]) or ""
    binding = [k for k in range(place) if bound_name(block[k]) == first]
    last = _last_read(block, binding[-1], first, everywhere) if binding else None
    if last is None or leaves_trip(block[binding[-1] : last + 1]):
        return None
    start = block[binding[-1]]
    above = block[binding[-1] + 1 : place]
    if sweep_of(start) != "reverse" or second in mentioned(*above) or second in stored(*block[place + 1 : last + 1]):
        return None
    return slice(binding[-1], max(last, place))
