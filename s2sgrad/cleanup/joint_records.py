"""One record a trip: the stacks that one block pushes to, and one other pops from, become one stack of tuples.

    for k in range(n):                              for k in range(n):
        x_stack.append(x)                               tape.append((x, y))
        y_stack.append(y)                               x, y = ...
        x, y = ...                         ->       for k in reversed(range(n)):
    for k in reversed(range(n)):                        x, y = tape.pop()
        y = y_stack.pop()                               ...
        x = x_stack.pop()
        ...

A push with which both branches of an `if` begin (`if done: x_stack.append(x); break`) stands before it.
A push moves to where all of them can be made: no statement in between binds what it pushes, or writes what it copies.  A pop
moves over statements that do not mention its name.  `normalize.separate_records` is the inverse.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, n):
...     for _ in range(n):
...         y = np.sin(x)
...         x = x * y
...     return x
... ''', "joint_records", 2.0, 3))
-     x_stack = []
+     tape = []
-     y_stack = []
-         x_stack.append(x)
+         tape.append((x, y))
-         y_stack.append(y)
-         y = y_stack.pop()
+         x, y = tape.pop()
-         x = x_stack.pop()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped
from s2sgrad.ir.quote import NAMES, assign, at, expression, mentioned, nested, nodes_of, statements, stored
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.stacks import local_stacks, operations


@dataclass
class _Moves:
    """An operation at `place` of a block, and the places `first` to `last` that it can move to; what it pushes or binds."""

    place: int
    what: gast.AST
    first: int = 0
    last: int = 0

    def spread(self, length: int, free: Callable[[int], bool]) -> _Moves:
        """The same operation, with the places in a block of this length from which only `free` ones separate it."""
        self.first, self.last = self.place, self.place + 1
        while self.first > 0 and free(self.first - 1):
            self.first -= 1
        while self.last < length and free(self.last):
            self.last += 1
        return self


@dataclass
class _Stack:
    """The operations on one stack: the blocks and the places of its pushes and of its pops."""

    name: str
    pushing: list[Block] = field(default_factory=list)
    popping: list[Block] = field(default_factory=list)
    pushes: list[_Moves] = field(default_factory=list)
    pops: list[_Moves] = field(default_factory=list)

    def is_plain(self, operations: int) -> bool:
        """Whether these are all its operations, and one block pushes what one other pops."""
        alike = {*map(id, self.pushing)}, {*map(id, self.popping)}
        paired = 2 * len(self.pushes) == 2 * len(self.pops) == operations > 0 and alike[0] != alike[1]
        if not paired or any(len(blocks) != 1 for blocks in alike) or leaves(self.popping[0]):
            return False
        return not leaves(self.pushing[0][: max(push.place for push in self.pushes)])


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with one stack for all that a pair of blocks records and restores."""
    local = local_stacks(unit, tree)
    for block in nested(tree.body):
        block[:] = [part for statement in block for part in [*_in_both(statement, local), statement]]
    while any(_joined(unit, tree, stacks) for stacks in _found(unit, tree)):
        pass
    return tree


def _pushed(statement: gast.AST) -> tuple[str, str] | None:
    """The list and the name for `xs.append(x)`; None for any other statement."""
    onto: Any = appended_to(alone(statement))
    names = isinstance(onto, gast.Name) and isinstance(statement.value.args[0], gast.Name)
    return (onto.id, statement.value.args[0].id) if names else None


def _in_both(statement: gast.AST, local: set[str]) -> Block:
    """The pushes of names that both branches of an `if` begin with, taken out of them to stand before it."""
    out: Block = []
    while isinstance(statement, gast.If) and statement.body and statement.orelse:
        pushes = [_pushed(arm[0]) for arm in (statement.body, statement.orelse)]
        if (
            pushes[0] is None
            or pushes[0] != pushes[1]
            or pushes[0][0] not in local
            or pushes[0][1] in stored(statement.test)
        ):
            break
        out.append(statement.body.pop(0))
        del statement.orelse[0]
    return out


def _found(unit: Unit, tree: gast.FunctionDef) -> list[list[_Stack]]:
    """The stacks of which one block pushes what one other pops, by these blocks."""
    begun = Counter(map(bound_name, effects.walk(tree.body)))
    local = local_stacks(unit, tree)
    found = {n: _Stack(n) for n in map(bound_name, tree.body) if n in local and begun[n] == 1}
    if len(found) < 2:
        return []
    for block in nested(tree.body):
        for place, statement in enumerate(block):
            pushed_to = getattr(appended_to(alone(statement)), "id", None)
            taken_from = popped(statement.value) if bound_name(statement) is not None else None
            if pushed_to in found:
                found[pushed_to].pushing.append(block)
                found[pushed_to].pushes.append(_Moves(place, statement.value.args[0]))
            elif taken_from in found:
                found[taken_from].popping.append(block)
                found[taken_from].pops.append(_Moves(place, statement.targets[0]))
    times = Counter(stack for s in effects.walk(tree.body) for _, stack in operations(unit, effects.header(s)))
    pairs: dict[tuple[int, int], list[_Stack]] = {}
    for stack in found.values():
        if stack.is_plain(times[stack.name]):
            pairs.setdefault((id(stack.pushing[0]), id(stack.popping[0])), []).append(stack)
    return [*pairs.values()]


def _joined(unit: Unit, tree: gast.FunctionDef, stacks: list[_Stack]) -> bool:
    """Join stacks that can be; whether there were any."""
    pushing, popping = stacks[0].pushing[0], stacks[0].popping[0]
    _spread(stacks, pushing, popping)
    at_once = [_fitting(stacks, place, lambda s: s.pushes) for place in range(len(pushing) + 1)]
    here = max(range(len(at_once)), key=lambda place: (len(at_once[place]), place))
    back = [_named_apart(_fitting(at_once[here], place, lambda s: s.pops)) for place in range(len(popping) + 1)]
    there = max(range(len(back)), key=lambda place: (len(back[place]), -place))
    if len(back[there]) < 2:
        return False
    _join(unit, tree, back[there], here, there)
    return True


def _fitting(stacks: list[_Stack], place: int, moves: Callable[[_Stack], list[_Moves]]) -> list[_Stack]:
    """The stacks of which all these operations can be made at one place."""
    return [s for s in stacks if all(m.first <= place <= m.last for m in moves(s))]


def _spread(stacks: list[_Stack], pushing: Block, popping: Block) -> None:
    """Find the places that each push and each pop can move to."""
    names = {s.name for s in stacks}
    others = [getattr(appended_to(alone(s)), "id", None) in names for s in pushing]
    ways_out = [leaves([s]) for s in pushing]
    bound, held = [stored(s) for s in pushing], [mentioned(s) for s in popping]
    for stack in stacks:
        for push in stack.pushes:
            read, is_name = mentioned(push.what), isinstance(push.what, gast.Name)

            def free(place: int, read: set[str] = read, is_name: bool = is_name) -> bool:
                return others[place] or (is_name and read.isdisjoint(bound[place]) and not ways_out[place])

            push.spread(len(pushing), free)
        for pop in stack.pops:

            def unread(place: int, popped: str = pop.what.id) -> bool:
                return popped not in held[place]

            pop.spread(len(popping), unread)


def _named_apart(stacks: list[_Stack]) -> list[_Stack]:
    """The stacks whose values are bound to different names."""
    out: list[_Stack] = []
    taken: set[str] = set()
    for stack in stacks:
        names = [pop.what.id for pop in stack.pops]
        if len({*names}) == len(names) and taken.isdisjoint(names):
            out.append(stack)
            taken.update(names)
    return out


def _join(unit: Unit, tree: gast.FunctionDef, stacks: list[_Stack], here: int, there: int) -> None:
    """Replace the stacks by one."""
    pushing, popping = stacks[0].pushing[0], stacks[0].popping[0]
    records = [pair for s in stacks for pair in zip(s.pushes, reversed(s.pops), strict=True)]
    records.sort(key=lambda pair: pair[0].place)
    _name_alike(records, pushing, popping, tree)
    tape = unit.names.fresh("tape")
    unit.derivative.tapes[tape] = [next(s.name for s in stacks if push in s.pushes) for push, _ in records]
    pushed = gast.Tuple([push.what for push, _ in records], gast.Load())
    bound = gast.Tuple([pop.what for _, pop in records], gast.Store())
    push = at(pushing[records[-1][0].place], *statements("tape.append(x)", tape=tape, x=pushed))
    pop = at(popping[min(pop.place for _, pop in records)], assign(bound, expression("tape.pop()", tape=tape)))
    _replace(pushing, here, push, {push.place for push, _ in records})
    _replace(popping, there, pop, {pop.place for _, pop in records})
    begun = [k for k, s in enumerate(tree.body) if bound_name(s) in {stack.name for stack in stacks}]
    _replace(tree.body, begun[0], at(tree.body[begun[0]], *statements("tape = []", tape=tape)), {*begun})


def _name_alike(records: list[tuple[_Moves, _Moves]], pushing: Block, popping: Block, tree: gast.FunctionDef) -> None:
    """Give what is popped the name of what was pushed, where each of the two names occurs in its own block only."""
    everywhere = Counter(n.id for n in nodes_of(tree, NAMES))
    there = Counter(n.id for s in pushing for n in nodes_of(s, NAMES))
    here = Counter(n.id for s in popping for n in nodes_of(s, NAMES))
    renamed: dict[str, str] = {}
    for push, pop in records:
        new, old = getattr(push.what, "id", None), pop.what.id
        if new is None or new == old:
            continue
        if new not in renamed.values() and there[new] == everywhere[new] and here[old] == everywhere[old]:
            renamed[old] = new
    rename(renamed, *popping)


def _replace(body: Block, place: int, new: Block, gone: set[int]) -> None:
    """Put statements at a place of a block, and remove others."""
    kept = [[s] if k not in gone else [] for k, s in enumerate(body)]
    body[:] = [s for part in [*kept[:place], new, *kept[place:]] for s in part]
