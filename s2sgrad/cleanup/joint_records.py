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
moves over statements that do not mention its name.  One that is stored into a section, or read within an expression, gets a
name.  What is restored as a whole is bound instead, where no other name has its memory:

    v[...] = v_stack.pop()          ->      v, y = tape.pop()
    y = y_stack.pop()

`normalize.separate_records` is the inverse.

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
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.analysis.shape_reads import shape_reads
from s2sgrad.cleanup.twin_stacks import base_of, write_name
from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.forms import alone, appended_to, bound_name, parts_of, receiver
from s2sgrad.ir.quote import NAMES, assign, at, expression, mentioned, name, nested, nodes_of, statements, stored
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import sources
from s2sgrad.memory.stacks import form_of, local_stacks, operations


@dataclass
class _Moves:
    """An operation at `place` of a block, and the places `first` to `last` that it can move to; what it pushes or binds.

    `kept`: the call, where the statement stays and reads a new name for it.
    """

    place: int
    what: gast.AST
    kept: gast.Call | None = None
    first: int = 0
    last: int = 0

    def spread(self, length: int, up: Callable[[int], bool], down: Callable[[int], bool]) -> _Moves:
        """The same operation, with the places in a block of this length from which only free ones separate it."""
        self.first, self.last = self.place, self.place + (self.kept is None)
        while self.first > 0 and up(self.first - 1):
            self.first -= 1
        while self.kept is None and self.last < length and down(self.last):
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

    @property
    def saves(self) -> int:
        """The statements that go if it is joined: its push, and a pop that does nothing else."""
        return 1 + all(pop.kept is None for pop in self.pops)

    def is_plain(self, operations: int) -> bool:
        """Whether these are all its operations, and one block pushes what one other pops."""
        alike = {*map(id, self.pushing)}, {*map(id, self.popping)}
        paired = 2 * len(self.pushes) == 2 * len(self.pops) == operations > 0 and alike[0] != alike[1]
        if not paired or len({pop.place for pop in self.pops}) < len(self.pops):  # in what order does one statement pop?
            return False
        if any(len(blocks) != 1 for blocks in alike) or leaves(self.popping[0]):
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
            header = effects.header(statement)
            for call, own in operations(unit, header) if not found.keys().isdisjoint(mentioned(header)) else ():
                if own in found:
                    _note(found[own], block, place, call)
    times = Counter(stack for s in effects.walk(tree.body) for _, stack in operations(unit, effects.header(s)))
    pairs: dict[tuple[int, int], list[_Stack]] = {}
    for stack in found.values():
        if stack.is_plain(times[stack.name]):
            pairs.setdefault((id(stack.pushing[0]), id(stack.popping[0])), []).append(stack)
    return [stacks for stacks in pairs.values() if len(stacks) > 1]


def _note(stack: _Stack, block: Block, place: int, call: gast.Call) -> None:
    """Note a push or a pop of a statement that always makes it; one into several names is of a tape."""
    statement: Any = block[place]
    form = form_of(statement, call)
    if form == "push":
        stack.pushing.append(block)
        stack.pushes.append(_Moves(place, call.args[0]))
    elif form == "pop" and not (statement.value is call and _unpacks(statement)):
        bound = statement.value is call and bound_name(statement) is not None
        stack.popping.append(block)
        stack.pops.append(_Moves(place, statement.targets[0]) if bound else _Moves(place, call, call))


def _unpacks(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple)


def _joined(unit: Unit, tree: gast.FunctionDef, stacks: list[_Stack]) -> bool:
    """Join stacks that can be; whether there were any."""
    pushing, popping = stacks[0].pushing[0], stacks[0].popping[0]
    if not all(isinstance(push.what, gast.Name) for s in stacks for push in s.pushes):
        unit.memory = Memory(unit, tree, unit.kinds)  # with what the passes since have named
        _bind_wholes(unit, tree, stacks)
    _spread(unit, stacks, pushing, popping)
    at_once = [_fitting(stacks, place, lambda s: s.pushes) for place in range(len(pushing) + 1)]
    here = max(range(len(at_once)), key=lambda place: (_saved(at_once[place]), place))
    back = [_named_apart(_fitting(at_once[here], place, lambda s: s.pops)) for place in range(len(popping) + 1)]
    early = -1 if any(pop.kept is None for s in at_once[here] for pop in s.pops) else 1
    there = max(range(len(back)), key=lambda place: (_saved(back[place]), early * place))
    if len(back[there]) < 2 or _saved(back[there]) <= 0:
        return False
    _join(unit, tree, back[there], here, there)
    return True


def _saved(stacks: list[_Stack]) -> int:
    """How many statements fewer there are with these stacks joined, which take a push and a pop."""
    return sum(s.saves for s in stacks) - 2


def _fitting(stacks: list[_Stack], place: int, moves: Callable[[_Stack], list[_Moves]]) -> list[_Stack]:
    """The stacks of which all these operations can be made at one place."""
    return [s for s in stacks if all(m.first <= place <= m.last for m in moves(s))]


def _bind_wholes(unit: Unit, tree: gast.FunctionDef, stacks: list[_Stack]) -> None:
    """Find the pops that restore a whole array which no other name stands for: the name is bound to what is popped."""
    headers = [effects.header(s) for s in effects.walk(tree.body)]
    shapes = {id(n) for header in headers for n in shape_reads(unit, header)}
    read = {n.id for header in headers for n in effects.loads(header) if id(n) not in shapes}
    for stack in stacks:
        for push, pop in zip(stack.pushes, reversed(stack.pops), strict=True):
            statement = stack.popping[0][pop.place]
            own = _restored(statement) if pop.kept is not None and statement.value is pop.kept else None
            if own is not None and _is_copy(push.what, own) and _is_alone(unit, tree, own, read):
                pop.what, pop.kept = name(own, store=True), None


def _restored(statement: gast.AST) -> str | None:
    """The array of which a statement stores every element: `x[...] = e`, `x[:] = e`."""
    section = effects.stored(statement)
    return section.value.id if section is not None and isinstance(section.value, gast.Name) and _is_all(section) else None


def _is_all(section: gast.Subscript) -> bool:
    part = section.slice
    whole = isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None
    return whole or (isinstance(part, gast.Constant) and part.value is Ellipsis)


def _is_copy(pushed: gast.AST, own: str) -> bool:
    """Whether an expression is `x.copy()` or `x[:].copy()`."""
    owner = receiver(pushed, "copy")
    owner = owner.value if isinstance(owner, gast.Subscript) and _is_all(owner) else owner
    return isinstance(owner, gast.Name) and owner.id == own and not pushed.args


def _is_alone(unit: Unit, tree: gast.FunctionDef, own: str, read: set[str]) -> bool:
    """Whether a name stands for arrays of one type that this function allocates, and no other that is `read` for them."""
    kind = unit.kinds.get(own)
    if not isinstance(kind, Array) or not kind.dtype or not unit.memory.at_once_with(own) & read <= {own}:
        return False
    if own in unit.mirror.names or own in unit.mirror.shadows or own not in unit.locals:
        return False
    if own not in {p.id for p in parameters(tree)}:
        return True
    first = next((s for s in tree.body if own in mentioned(s)), None)
    return first is not None and bound_name(first) == own and not sources(unit, first.value, unit.kinds)


def _spread(unit: Unit, stacks: list[_Stack], pushing: Block, popping: Block) -> None:
    """Find the places that each push and each pop can move to."""
    _spread_pushes(unit, stacks, pushing)
    held = [mentioned(s) for s in popping]
    for pop in [pop for stack in stacks for pop in stack.pops]:
        own = pop.what.id if pop.kept is None else ""

        def unread(place: int, own: str = own) -> bool:
            return own not in held[place]

        pop.spread(len(popping), unread, unread)


def _spread_pushes(unit: Unit, stacks: list[_Stack], pushing: Block) -> None:
    """Find the places that each push can move to: a name is pushed as what it is bound to, a copy as what it holds."""
    names = {s.name for s in stacks}
    others = [getattr(appended_to(alone(s)), "id", None) in names for s in pushing]
    ways_out = [leaves([s]) for s in pushing]
    bound = [stored(s) for s in pushing]
    pushes = [push for stack in stacks for push in stack.pushes]
    copies = any(not isinstance(push.what, gast.Name) for push in pushes)
    changed = [{n for t in effects.walk([s]) for n in unit.changed(t)} if copies else set() for s in pushing]
    for push in pushes:
        read, is_name = mentioned(push.what), isinstance(push.what, gast.Name)
        movable, safe = _is_section(push.what), is_name or _never_raises(unit, push.what)

        def down(place: int, read: set[str] = read, is_name: bool = is_name, movable: bool = movable) -> bool:
            kept = read.isdisjoint(bound[place] if is_name else bound[place] | changed[place])
            return others[place] or (movable and kept and not ways_out[place])

        def up(place: int, safe: bool = safe, down: Callable[[int], bool] = down) -> bool:
            return others[place] or (safe and down(place))

        push.spread(len(pushing), up, down)


def _is_section(pushed: gast.AST) -> bool:
    """Whether an expression is an array, an element or a section of one, or a copy of it."""
    owner = receiver(pushed, "copy")
    while isinstance(pushed := pushed if owner is None else owner, gast.Subscript):
        pushed, owner = pushed.value, None
    return isinstance(pushed, gast.Name)


def _never_raises(unit: Unit, pushed: gast.AST) -> bool:
    """Whether taking a section never fails: what is known to be an array, at slices between whole numbers."""
    owner = receiver(pushed, "copy")
    owner = pushed if owner is None else owner
    parts = parts_of(owner.slice) if isinstance(owner, gast.Subscript) else []
    array = unit.kinds.get(getattr(owner.value if parts else owner, "id", ""))
    if not isinstance(array, Array) or len(parts) > (array.rank or 0):
        return not parts and isinstance(array, Array)
    return all(_is_slice(unit, part) for part in parts)


def _is_slice(unit: Unit, part: gast.AST) -> bool:
    if not isinstance(part, gast.Slice):
        return isinstance(part, gast.Constant) and part.value is Ellipsis
    bounds = [b for b in (part.lower, part.upper) if b is not None]
    return part.step is None and all(_is_whole(unit, bound) for bound in bounds)


def _is_whole(unit: Unit, bound: gast.AST) -> bool:
    if isinstance(bound, gast.UnaryOp):
        return isinstance(bound.op, gast.USub) and _is_whole(unit, bound.operand)
    if isinstance(bound, gast.Constant):
        return type(bound.value) is int
    kind = unit.kinds.get(getattr(bound, "id", ""))
    return isinstance(kind, Number) and kind.type is int


def _named_apart(stacks: list[_Stack]) -> list[_Stack]:
    """The stacks whose values are bound to different names."""
    out: list[_Stack] = []
    taken: set[str] = set()
    for stack in stacks:
        names = [pop.what.id for pop in stack.pops if pop.kept is None]
        if len({*names}) == len(names) and taken.isdisjoint(names):
            out.append(stack)
            taken.update(names)
    return out


def _join(unit: Unit, tree: gast.FunctionDef, stacks: list[_Stack], here: int, there: int) -> None:
    """Replace the stacks by one."""
    pushing, popping = stacks[0].pushing[0], stacks[0].popping[0]
    records = [pair for s in stacks for pair in zip(s.pushes, reversed(s.pops), strict=True)]
    records.sort(key=lambda pair: pair[0].place)
    _name_popped(unit, tree, popping, records)
    _name_alike(records, pushing, popping, tree)
    tape = unit.names.fresh("tape")
    unit.derivative.tapes[tape] = [next(s.name for s in stacks if push in s.pushes) for push, _ in records]
    pushed = gast.Tuple([push.what for push, _ in records], gast.Load())
    bound = gast.Tuple([pop.what for _, pop in records], gast.Store())
    push = at(pushing[records[-1][0].place], *statements("tape.append(x)", tape=tape, x=pushed))
    pop = at(popping[min(pop.place for _, pop in records)], assign(bound, expression("tape.pop()", tape=tape)))
    _replace(pushing, here, push, {push.place for push, _ in records})
    _replace(popping, there, pop, {pop.place for _, pop in records if pop.kept is None})
    begun = [k for k, s in enumerate(tree.body) if bound_name(s) in {stack.name for stack in stacks}]
    _replace(tree.body, begun[0], at(tree.body[begun[0]], *statements("tape = []", tape=tape)), {*begun})


def _name_popped(unit: Unit, tree: gast.FunctionDef, popping: Block, records: list[tuple[_Moves, _Moves]]) -> None:
    """Give what is popped a name, where it is stored into a section, or read within an expression."""
    for push, pop in records:
        if pop.kept is not None:
            new = unit.local(base_of(unit, push.what))
            write_name(unit, popping[pop.place], pop.kept, new)
            pop.what = name(new, store=True)
        elif pop.what.id in unit.temps and not isinstance(push.what, gast.Name) and _is_section(push.what):
            rename({pop.what.id: unit.local(base_of(unit, push.what))}, *tree.body)


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
    rename(renamed, *popping, *(pop.what for _, pop in records if pop.kept is not None))


def _replace(body: Block, place: int, new: Block, gone: set[int]) -> None:
    """Put statements at a place of a block, and remove others."""
    kept = [[s] if k not in gone else [] for k, s in enumerate(body)]
    body[:] = [s for part in [*kept[:place], new, *kept[place:]] for s in part]
