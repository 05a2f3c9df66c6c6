"""Stacks, the lists of records among them: what a statement puts on one or takes off, and what they hold.

    x_stack.append(x); x = x_stack.pop()      ->      both are operations on `x_stack`, and nothing else may be

A list that only such operations mention is a stack.  All of them stay, or none does: what is on top is a matter of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import calls_in
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.sources import sources
from s2sgrad.primitives.catalogue import on_stack


def fresh_stacks(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], lasting: bool = False) -> set[str]:
    """Lists that start empty, and on which what nothing else refers to is put, and taken off; nothing else is done to them.

    `lasting`: where a reverse sweep is to follow, which may read what a temporary stood for.  The stacks of a record of ours
    are such lists, but for those that hold references.
    """
    stacks = _begun(tree, recorded_stacks(unit, tree))
    made = set() if lasting or not stacks else made_once(unit, tree, kinds)
    return _only_operated(unit, tree, stacks, lambda call: all(sources(unit, a, kinds) <= made for a in call.args))


def local_stacks(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The lists, empty where they are made, that are only appended to and popped."""
    return _only_operated(unit, tree, _begun(tree, set()), lambda call: True)


def recorded_stacks(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The stacks in the record that the adjoint of a pair is given and takes apart; their places says who made it."""
    places, given = getattr(unit.primal.function, "stacks", ()), parameters(tree)
    for s in tree.body if places else ():
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple) and getattr(s.value, "id", "") == given[0].id:
            return {part.id for k, part in enumerate(s.targets[0].elts) if k in places}
    return set()


def _begun(tree: gast.FunctionDef, recorded: set[str]) -> set[str]:
    """The lists that are empty wherever they are bound, and the `recorded` ones, where they are bound once."""
    bound, begun = Counter(p.id for p in parameters(tree)), Counter[str](recorded)
    for statement in effects.walk(tree.body):
        bound.update(binds(statement))
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.List) and not statement.value.elts:
            begun.update(binds(statement))
    return {stack for stack, times in begun.items() if bound[stack] == times}


def _only_operated(
    unit: Unit, tree: gast.FunctionDef, stacks: set[str], plain: Callable[[gast.Call], bool]
) -> set[str]:
    """The lists on which something is put, and taken off, by `plain` calls, and to which nothing else is done."""
    mentions, operated_on = Counter[str](), Counter[str]()
    for statement in effects.walk(tree.body) if stacks else ():
        header = effects.header(statement)
        here = [n.id for n in effects.loads(header) if n.id in stacks]
        if here:
            mentions.update(here)
            operated_on.update(name for call, name in operations(unit, header) if plain(call))
    return {stack for stack in stacks if mentions[stack] == operated_on[stack]}


def operations(unit: Unit, node: gast.AST) -> Iterator[tuple[gast.Call, str]]:
    """The calls in an expression or a simple statement that put something on a list or take it off, and their lists."""
    for call in calls_in(node):
        name = operated(unit, call)
        if name is not None:
            yield call, name


def operated(unit: Unit, node: gast.AST) -> str | None:
    """The list of `s.append(x)`, `push(s, x)` and `s.pop()`."""
    if not isinstance(node, gast.Call):
        return None
    if isinstance(node.func, gast.Attribute):
        owner = node.func.value if on_stack(node.func.attr) else None
    else:
        owner = node.args[0] if unit.resolve(node.func) is runtime.push else None
    return owner.id if isinstance(owner, gast.Name) else None


def made_once(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """Temporaries that are bound once, to new memory, and read once."""
    reads: Counter[str] = Counter()
    for statement in effects.walk(tree.body):
        reads.update(n.id for n in effects.loads(effects.header(statement)))
    out: set[str] = set()
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and not sources(unit, statement.value, kinds):
            out |= {b for b in binds(statement) if b in unit.temps and reads[b] == 1}
    return out
