"""Unsupported uses of containers: pops from sets and deques, stores into sections of lists, keys with derivatives.

s = {x}; y = s.pop()      ->      Unsupported: `s` is a set or a deque, of which items cannot be taken ...
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.flow.graph import binds
from s2sgrad.legality.context import Context

_COLLECTIONS = (set, frozenset, deque, Counter)


def check(context: Context, statement: gast.AST, collections: set[str]) -> None:
    """Raise Unsupported at such a use; `collections` are the names of sets and deques seen so far."""
    _lists(context, statement)
    _collections(context, statement, collections)
    _keys(context, statement)


def check_stacks(context: Context) -> None:
    """Raise Unsupported where a list used as a stack is created in a loop."""
    lifetimes = context.paths.lifetimes
    for stack in context.paths.stacks:
        if lifetimes.home.get(stack) != lifetimes.root:
            context.unit.refuse(context.tree, f"the list `{stack}` cannot be differentiated: create it outside the loop")


def _lists(context: Context, statement: gast.AST) -> None:
    """In-place updates of lists by more than one item."""
    if isinstance(statement, gast.AugAssign) and context.is_list(statement.target):
        context.unit.refuse(statement, "an update of a list in place cannot be followed here: use `append` or `extend`")
    section = effects.stored(statement)
    if section is not None and context.is_list(section.value) and _is_section(section.slice):
        context.unit.refuse(statement, "a store into a section of a list, or a sort of a list in place, cannot be "
                                       "followed: build a new list, or use an array")  # fmt: skip


def _is_section(index: gast.AST) -> bool:
    return isinstance(index, gast.Slice) or (isinstance(index, gast.Constant) and index.value is Ellipsis)


def _collections(context: Context, statement: gast.AST, collections: set[str]) -> None:
    """Collections other than lists and dicts whose methods have the same names."""
    value = getattr(statement, "value", None)
    made = context.unit.called(value)
    if made is defaultdict:
        context.unit.refuse(value, "a `defaultdict` stores a key where it is read, which is not differentiated: use a "
                                   "dict, and `get` or `setdefault`")  # fmt: skip
    if any(made is kind for kind in _COLLECTIONS) or isinstance(value, gast.Set):
        collections |= set(binds(statement)) if isinstance(statement, gast.Assign) else set()
    operation = context.paths.operations.get(id(statement))
    if operation is not None and (operation.is_stack or operation.is_resizing):
        owner = operation.operands[0]
        if isinstance(owner, gast.Name) and owner.id in collections:
            context.unit.refuse(operation.node, f"`{owner.id}` is a set or a deque, of which items cannot be taken or "
                                                "added like those of a list: use a list")  # fmt: skip


def _keys(context: Context, statement: gast.AST) -> None:
    """Keys of a dict must be constant: a number read back from a key has no derivative."""
    if context.unit.primal.is_generated:
        return
    section = effects.stored(statement)
    keys: list[gast.AST] = []
    if section is not None and not isinstance(context.kind(section.value), Array):
        keys = [section.slice]
    elif isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Dict):
        keys = statement.value.keys
    for key in keys:
        numbers = [n.id for n in effects.loads(key) if isinstance(context.kind(n), (Number, Array))]
        if context.varied.intersection(numbers):
            context.unit.refuse(key, "a key that depends on a differentiated value is not differentiated: use a constant, "
                                     "or `stop_gradient(..)`")  # fmt: skip
