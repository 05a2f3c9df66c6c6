"""Loops over items: an index of ours that only reads the items of sequences is not written.

    for k in range(len(xs)):                      for x in xs:
        x = xs[k]                                     s_stack.append(s)
        s_stack.append(s)                             s = s * x
        s = s * x                         ->
    for k in reversed(range(len(xs))):            for x in reversed(xs):
        s = s_stack.pop()                             s = s_stack.pop()
        x = xs[k]                                     ...
        ...

A read moves to the head of its trip over statements that neither mention its name nor change the sequence.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(h, xs):
...     for x in xs:
...         h = np.tanh(h * x)
...     return h @ h
... ''', "item_reads", np.ones(2), np.ones((3, 2))))
+         x2 = xs[k2]
-         x2 = xs[k2]
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name, bound_to_constants, popped, receiver
from s2sgrad.ir.quote import NAMES, clone, constant, mentioned, name, nested, nodes_of, stored
from s2sgrad.ir.unit import Unit


def advance(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Move the reads of items to the head of their trips, where the index has no other use."""
    for loop in _loops(unit, tree):
        reads = [s for s in loop.body if _sequence_read(s, loop.target.id) is not None]
        if len(reads) != _uses(loop.body, loop.target.id):
            continue
        for place, read in enumerate(reads):
            before = loop.body[: loop.body.index(read)]
            changed = set().union(*(unit.changed(s) for s in effects.walk(before)))
            if stored(read).isdisjoint(mentioned(*before)) and read.value.value.id not in changed:
                loop.body.remove(read)
                loop.body.insert(place, read)
    return tree


def restore(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Loop over the items where the reads of items at the head of each trip are the only uses of the index."""
    own = _own_indices(unit, tree)
    spare = "_" not in {n.id for n in nodes_of(tree, NAMES) if isinstance(n.ctx, gast.Load)}
    for loop in _loops(unit, tree):
        if loop.target.id in own and not _over_items(unit, tree, loop) and spare and not _uses(loop.body, loop.target.id):
            _count(unit, loop)
    _drop_unread(unit, tree)
    return tree


def _drop_unread(unit: Unit, tree: gast.FunctionDef) -> None:
    """Leave out tuples of constants that only the loops read which now show them."""
    read = {n.id for n in nodes_of(tree, NAMES) if isinstance(n.ctx, gast.Load)}
    for body in nested(tree.body):
        body[:] = [s for s in body if not (bound_to_constants(s) and _is_spare(unit, s, read))]


def _is_spare(unit: Unit, statement: gast.AST, read: set[str]) -> bool:
    """Whether a statement binds a name of ours that nothing reads."""
    bound = bound_name(statement)
    return bound is not None and unit.is_ours(bound) and bound not in read


def _loops(unit: Unit, tree: gast.FunctionDef) -> Iterator[gast.For]:
    """The loops whose index is not the user's."""
    for statement in [*effects.walk(tree.body)]:
        if isinstance(statement, gast.For) and isinstance(statement.target, gast.Name) and unit.is_ours(statement.target.id):
            yield statement


def _own_indices(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The indices that are read in their own loops only."""
    everywhere = Counter(n.id for n in nodes_of(tree, NAMES) if isinstance(n.ctx, gast.Load))
    inside: Counter[str] = Counter()
    for loop in _loops(unit, tree):
        if loop.target.id not in stored(*loop.body):  # counted once where loops over one index are nested
            inside[loop.target.id] += _uses(loop.body, loop.target.id)
    return {index for index, count in inside.items() if count == everywhere[index]}


def _uses(body: Block, index: str) -> int:
    """How often statements read a name."""
    return sum(n.id == index and isinstance(n.ctx, gast.Load) for s in body for n in nodes_of(s, NAMES))


def _sequence_read(statement: gast.AST, index: str) -> str | None:
    """`xs` for `x = xs[k]` or `x, y = xs[k]`; None for any other statement."""
    target = statement.targets[0] if isinstance(statement, gast.Assign) and len(statement.targets) == 1 else None
    names = target.elts if isinstance(target, gast.Tuple) else [target]
    value: Any = statement.value if names and all(isinstance(n, gast.Name) for n in names) else None
    plain = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
    return value.value.id if plain and getattr(value.slice, "id", None) == index else None


def _count(unit: Unit, loop: gast.For) -> None:
    """`for _ in range(n)` for a loop that does not read its index."""
    loop.target = name("_", store=True)
    counted = loop.iter.args[0] if unit.called(loop.iter) is builtins.reversed else loop.iter
    sequences = _lengths(unit, counted)
    if len(sequences) == 1 and isinstance(sequences[0], gast.Tuple):
        counted.args[0] = constant(len(sequences[0].elts))


@dataclass
class _Items:
    """What a loop runs over, the targets of its items and of its index, and the statements that bind them."""

    sequences: list[gast.AST]
    items: list[gast.AST]
    index: list[str]
    head: list[gast.Assign]


def _over_items(unit: Unit, tree: gast.FunctionDef, loop: gast.For) -> bool:
    """Rewrite one loop, if the reads at its head cover what it runs over; whether they do."""
    backward = unit.called(loop.iter) is builtins.reversed
    found = _items(unit, tree, loop, loop.iter.args[0] if backward else loop.iter)
    if found is None or (backward and len(found.head) > 1):
        return False
    over, targets = found.sequences, found.items
    loop.iter = over[0] if len(over) == 1 else gast.Call(unit.builtin(zip), over, [])
    loop.target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
    for index in found.index:
        loop.target = gast.Tuple([name(index, store=True), loop.target], gast.Store())
        loop.iter = gast.Call(unit.builtin(enumerate), [loop.iter], [])
    if backward:
        loop.iter = gast.Call(unit.builtin(reversed), [loop.iter], [])
    loop.body[:] = [s for s in loop.body if s not in found.head]
    return True


def _items(unit: Unit, tree: gast.FunctionDef, loop: gast.For, over: gast.AST) -> _Items | None:
    """The items that a loop reads at its head and nowhere else, in the order of what it runs over."""
    index = loop.target.id
    sequences, head = _lengths(unit, over), _head(loop.body, index)
    reads = {xs: s for s in head if (xs := _sequence_read(s, index)) is not None}
    copies: list[Any] = [bound_name(s) for s in head if s not in reads.values()]  # of the index
    given: list[Any] = [_matching(tree, sequence, reads) for sequence in sequences]
    if not given or {*given} != reads.keys() or len(given) != len(reads) or len(copies) > 1:
        return None
    items = [clone(reads[xs].targets[0]) for xs in given]
    times = Counter([*copies, *(n for item in items for n in stored(item))])
    if max(times.values()) > 1 or _uses(loop.body, index) != len(head) or len(head) == len(loop.body):
        return None
    if not all(_is_sequence(unit, tree, xs) for xs in given) or {*given} & stored(*loop.body):
        return None
    return _Items(list(map(_shown, sequences, given)), items, copies, head)


def _shown(sequence: gast.AST, xs: str) -> gast.AST:
    """A tuple of constants as it is written, and any other sequence by its name."""
    return clone(sequence) if isinstance(sequence, gast.Tuple) else name(xs)


def _lengths(unit: Unit, node: gast.AST) -> list[gast.AST]:
    """The sequences of `range(len(xs))` and `range(min(len(xs), len(ys)))`; none for other iterables."""
    length: Any = node.args[0] if unit.called(node) is builtins.range and len(node.args) == 1 else None
    lengths = length.args if unit.called(length) is builtins.min and not length.keywords else [length]
    if not all(unit.called(n) is builtins.len and len(n.args) == 1 for n in lengths):
        return []
    return [n.args[0] for n in lengths]


def _head(body: Block, index: str) -> list[gast.Assign]:
    """The reads of items and of the index that could begin a trip: only what records restore stands before them."""
    found: list[gast.Assign] = []
    passed: set[str] = set()
    for statement in body:
        copied = bound_name(statement) is not None and getattr(statement.value, "id", None) == index
        if copied or _sequence_read(statement, index) is not None:
            if not passed.isdisjoint(mentioned(statement)):
                break
            found.append(statement)
        elif isinstance(statement, gast.Assign) and popped(statement.value) is not None:
            passed |= stored(statement)
        else:
            break
    return found


def _matching(tree: gast.FunctionDef, sequence: gast.AST, reads: dict[str, gast.Assign]) -> str | None:
    """The name whose items are read for `len(sequence)`: its own, or that of a list or a tuple of the same items."""
    if isinstance(sequence, gast.Name) and sequence.id in reads:
        return str(sequence.id)
    for read in reads:
        values = [s.value for s in effects.walk(tree.body) if isinstance(s, gast.Assign) and bound_name(s) == read]
        if isinstance(sequence, gast.Name):
            listed = [receiver(v, "tolist") for v in values]
        else:
            listed = values if isinstance(sequence, gast.Tuple) else []
        if len(listed) == 1 and listed[0] is not None and gast.dump(listed[0]) == gast.dump(sequence):
            return read
    return None


def _is_sequence(unit: Unit, tree: gast.FunctionDef, xs: str) -> bool:
    """Whether a name stands for an array, a list or a tuple wherever it is bound."""
    kind = unit.kinds.get(xs)
    if isinstance(kind, Array):
        return bool(kind.rank)
    if isinstance(kind, Container):
        return kind.type in (list, tuple)
    values = [s.value for s in effects.walk(tree.body) if isinstance(s, gast.Assign) and bound_name(s) == xs]
    return bool(values) and all(
        isinstance(v, gast.Tuple) or receiver(v, "tolist") is not None or unit.called(v) is runtime.sequence for v in values
    )
