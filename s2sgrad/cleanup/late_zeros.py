"""A section of an adjoint is set to 0 behind what reads it, and not at all where something is added to it next.

    t = u_bar[0].copy()                     u_bar[1] += u_bar[0]
    u_bar[0] = 0.0                  ->      u_bar[0] = 0.0
    u_bar[1] += t

    g_bar[k:] = 0.0                 ->      g_bar[k:] = y_bar * s
    g_bar[k:] += y_bar * s

    t = u_bar[...].copy()           ->      u_bar[...] = g_bwd(u_bar)
    u_bar[...] = 0.0
    u_bar += g_bwd(t)

    t = u_bar[1:].copy()            ->      g_bar += u_bar[1:] * c
    u_bar[1:] = 0.0
    g_bar += t * c
    u_bar[1:] += t

No statement that the zeros move over touches these elements, nor does the one that reads.  They mention no array of that
memory, but for sections that differ along an axis by their constants (`0` and `1`, `-1` and `:-1`).

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(u, c):
...     u[1:-1] *= u[1:-1]
...     u[0] = u[1]
...     return u @ u
... ''', "late_zeros", np.ones(5), 0.1))
-     t5 = u__bar[0]
+     u__bar[1] += u__bar[0]
-     u__bar[1] += t5
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name, minus, parts_of, receiver, whole_number
from s2sgrad.ir.quote import NAMES, at, clone, mentioned, nested, nodes, nodes_of
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import is_fresh

_SIMPLE = (gast.Assign, gast.AugAssign)
Counts = tuple[Counter[str], Counter[str]]  # how often names are read, and bound


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Move zeros of adjoints, or leave them out."""
    adjoints = {n for n in unit.derivative.bars if isinstance(unit.kinds.get(n), Array)} | _lists(unit, tree)
    if any(_zeroed(adjoints, s) is not None for s in effects.walk(tree.body)):
        unit.memory = Memory(unit, tree, unit.kinds)  # with what the passes since have named
        reads, writes = read_counts(tree.body), write_counts(tree.body)
        for block in nested(tree.body):
            for statement in [s for s in block if _zeroed(adjoints, s) is not None]:
                place = next(k for k, s in enumerate(block) if s is statement)
                taken = block[place - 1] if place else None
                bound = bound_name(taken) if taken is not None else None
                if bound in unit.temps and reads[bound] == 1 == writes[bound]:
                    _read_before(unit, block, place)
        for block in nested(tree.body):
            _assign_all_first(unit, block, [s for s in block if _zeroed(adjoints, s) is not None], (reads, writes))
    return tree


def _lists(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The names of lists that hold the elements of an adjoint."""
    taken = ((bound_name(s), receiver(s.value, "tolist")) for s in effects.walk(tree.body) if bound_name(s) is not None)
    return {bound for bound, array in taken if bound is not None and getattr(array, "id", "") in unit.derivative.bars}


def _zeroed(adjoints: set[str], statement: gast.AST) -> gast.Subscript | None:
    """The section of one of these adjoints that a statement sets to 0."""
    section = effects.stored(statement)
    if section is None or not isinstance(section.value, gast.Name) or section.value.id not in adjoints:
        return None
    zero = isinstance(statement.value, gast.Constant) and type(statement.value.value) is float and statement.value.value == 0
    return section if zero else None


def _read_before(unit: Unit, block: Block, place: int) -> None:
    """Move zeros behind the one statement that reads what was there, where it is taken just before them."""
    taken, zeros = block[place - 1], block[place]
    section = effects.stored(zeros)
    copied = receiver(taken.value, "copy")
    if section is None or _text(taken.value if copied is None else copied) != _text(section):
        return
    bound = bound_name(taken) or ""
    for reader in range(place + 1, len(block)):
        statement = block[reader]
        if not isinstance(statement, _SIMPLE) or _touches(unit, statement, section):
            return
        if bound in mentioned(statement):
            if _is_plain(unit, statement, bound):
                _write(statement, bound, clone(taken.value if copied is None else copied))
                unit.rewritten(statement)
                block[place - 1 : reader + 1] = [*block[place + 1 : reader + 1], zeros]
            return


def _is_plain(unit: Unit, statement: Any, bound: str) -> bool:
    """Whether a statement reads a name at once, once, and keeps nothing of what it stands for."""
    return sum(n.id == bound for n in nodes_of(statement.value, NAMES)) == 1 and _keeps_nothing(unit, statement)


def _keeps_nothing(unit: Unit, statement: Any) -> bool:
    """Whether a statement reads all that it reads at once, and keeps nothing of it."""
    if any(isinstance(n, (gast.Lambda, gast.ListComp, gast.IfExp, gast.BoolOp)) for n in nodes(statement.value)):
        return False
    section = effects.stored(statement)
    stores = section is not None and isinstance(unit.kinds.get(getattr(section.value, "id", "")), Array)
    return (
        stores
        or isinstance(statement, gast.AugAssign)
        or (bound_name(statement) is not None and is_fresh(unit, statement.value))
    )


def _write(statement: Any, bound: str, section: gast.Subscript) -> None:
    """Write a section where a statement reads a name."""
    section.ctx = gast.Load()
    for node in nodes(gast.Expr(statement.value)):
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [section if isinstance(v, gast.Name) and v.id == bound else v for v in value]
            elif isinstance(value, gast.Name) and value.id == bound:
                setattr(statement if value is statement.value else node, field, section)


def _assign_all_first(unit: Unit, block: Block, zeros: list[gast.AST], counts: Counts) -> None:
    """Assign what is added next to what these statements set to 0."""
    for statement in zeros:
        place = next(k for k, s in enumerate(block) if s is statement)
        taken = block[place - 1] if place else None
        if taken is not None and _put_back(unit, block, place, counts):
            continue
        assigned = _assign_first(unit, block, place)
        if assigned is not None and taken is not None:
            _read_uncopied(unit, block, taken, assigned, counts)


def _assign_first(unit: Unit, block: Block, place: int) -> gast.AST | None:
    """Assign what the next statement about an array adds to its zeros; the statement that does so."""
    section = effects.stored(block[place])
    if section is None:
        return None
    own, index = section.value.id, mentioned(section.slice)
    for later in range(place + 1, len(block)):
        statement = block[later]
        if not isinstance(statement, _SIMPLE) or not index.isdisjoint(unit.changed(statement)):
            return None
        names = unit.memory.at_once_with(own) | {own}
        if not names.isdisjoint(mentioned(statement)):
            added = isinstance(statement, gast.AugAssign) and isinstance(statement.op, (gast.Add, gast.Sub))
            if added and _is_of(statement.target, section) and names.isdisjoint(mentioned(statement.value)):
                value = statement.value if isinstance(statement.op, gast.Add) else minus(statement.value)
                target = effects.stored(block[place])
                (block[later],) = at(statement, gast.Assign([target], value, None))
                del block[place]
                unit.rewritten(*block[later - 1 : later])
                return block[later - 1]
            return None
    return None


def _put_back(unit: Unit, block: Block, place: int, counts: Counts) -> bool:
    """Leave out zeros where all that was there is added again, with only other sums in between; whether that is so."""
    taken, section = block[place - 1], effects.stored(block[place])
    bound = bound_name(taken)
    if section is None or bound not in unit.temps or _text(receiver(taken.value, "copy")) != _text(section):
        return False
    names = unit.memory.at_once_with(section.value.id) | {section.value.id}
    kept = mentioned(section.slice) | unit.memory.at_once_with(bound) | {bound}  # what must not change
    readers: list[gast.AST] = []  # of the copy
    summed = False  # whether something may have been added to the section
    sound = True  # whether the section was what the copy is, wherever that is read
    for later in range(place + 1, len(block)):
        statement = block[later]
        if not isinstance(statement, _SIMPLE) or not kept.isdisjoint(unit.changed(statement)):
            return False
        added = isinstance(statement, gast.AugAssign) and isinstance(statement.op, (gast.Add, gast.Sub))
        if added and _is_of(statement.target, section) and getattr(statement.value, "id", None) == bound:
            if not isinstance(statement.op, gast.Add):
                return False
            _keep(unit, block, place, later, readers if sound and _reads(readers, bound) == counts[0][bound] - 1 else [])
            return True
        if bound in mentioned(statement):
            readers.append(statement)
            sound = sound and not summed and _keeps_nothing(unit, statement)
        if not names.isdisjoint(mentioned(statement)):
            if not added or not names.isdisjoint(mentioned(statement.value)):
                return False
            summed = True
    return False


def _keep(unit: Unit, block: Block, place: int, last: int, readers: list[gast.AST]) -> None:
    """Remove zeros and what adds to them again; the copy, which these statements read, may be the section itself."""
    taken = block[place - 1]
    del block[last], block[place]
    if readers:
        taken.value = receiver(taken.value, "copy")
        bound = bound_name(taken) or ""
        if len(readers) == 1 == _reads(readers, bound) and _is_plain(unit, readers[0], bound):
            _write(readers[0], bound, taken.value)
            unit.rewritten(readers[0])
            del block[place - 1]
        else:
            unit.rewritten(taken)


def _reads(statements: list[gast.AST], bound: str) -> int:
    """How often these statements read a name."""
    return sum(n.id == bound for s in statements for n in effects.loads(effects.header(s)))


def _is_of(target: gast.AST, section: gast.Subscript) -> bool:
    """Whether a statement adds to this section, or to the array of which the section is all."""
    return _text(target) == _text(section) or (_is_whole(section) and getattr(target, "id", "") == section.value.id)


def _is_whole(section: gast.Subscript) -> bool:
    """Whether this is `u[...]`."""
    return isinstance(section.slice, gast.Constant) and section.slice.value is Ellipsis


def _read_uncopied(unit: Unit, block: Block, taken: gast.AST, assigned: Any, counts: Counts) -> None:
    """Read a section itself where a copy of it, `taken` before, is read by nothing but what is `assigned` to the section."""
    section, bound = effects.stored(assigned), bound_name(taken) or ""
    copied = receiver(taken.value, "copy") if bound in unit.temps else None
    if copied is None or section is None or _text(copied) != _text(section):
        return
    reads, writes = counts
    if reads[bound] == 1 == writes[bound] and bound in mentioned(assigned.value) and _is_plain(unit, assigned, bound):
        _write(assigned, bound, copied.value if _is_whole(copied) else copied)
        block[:] = [s for s in block if s is not taken]
        unit.rewritten(assigned)


def _text(section: gast.AST) -> str:
    plain = isinstance(section, gast.Subscript)
    return str(gast.dump(section.value) + gast.dump(section.slice)) if plain else ""


def _touches(unit: Unit, statement: gast.AST, section: gast.Subscript) -> bool:
    """Whether a statement may read or change elements of a section, or what its index is."""
    own = section.value.id
    if not mentioned(section.slice).isdisjoint(unit.changed(statement)):
        return True
    others = (unit.memory.at_once_with(own) | {own}) & mentioned(statement)
    sections = [n for n in nodes(statement) if isinstance(n, gast.Subscript) and getattr(n.value, "id", None) == own]
    apart = {id(n.value) for n in sections if _are_apart(parts_of(section.slice), parts_of(n.slice))}
    return bool(others - {own}) or any(n.id == own and id(n) not in apart for n in nodes_of(statement, NAMES))


def _are_apart(one: list[gast.AST], other: list[gast.AST]) -> bool:
    """Whether two sections have no element in common, by the constants along an axis."""
    for a, b in zip_longest(one, other):
        if a is None or b is None or not (_is_axis(a) and _is_axis(b)):
            return False
        if _ends_before(a, b) or _ends_before(b, a):
            return True
    return False


def _is_axis(part: gast.AST) -> bool:
    """Whether a part of an index certainly stands for one axis."""
    if isinstance(part, gast.Slice):
        return part.step is None
    return whole_number(part) is not None


def _ends_before(one: gast.AST, other: gast.AST) -> bool:
    """Whether the places of one part lie before those of the other, both counted from the same end."""
    stop, start = _stop(one), _start(other)
    return stop is not None and start is not None and (stop < 0) == (start < 0) and stop <= start


def _start(part: gast.AST) -> int | None:
    """The first place of a part, where it is a constant."""
    return whole_number(part.lower) if isinstance(part, gast.Slice) else whole_number(part)


def _stop(part: gast.AST) -> int | None:
    """The place behind the last of a part, where it is a constant that counts from the same end."""
    if isinstance(part, gast.Slice):
        return whole_number(part.upper)
    place = whole_number(part)
    return None if place is None or place == -1 else place + 1
