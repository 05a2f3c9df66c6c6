"""The lists of records: what a statement puts on one or takes off.

    x_stack.append(x); x = x_stack.pop()      ->      both are operations on `x_stack`, and nothing else may be

A list that only such operations mention is a stack.  All of them stay, or none does: what is on top is a matter of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import calls_in
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.primitives.catalogue import on_stack


def local_stacks(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The lists, empty where they are made, that are only appended to and popped."""
    bound = Counter(b for s in effects.walk(tree.body) for b in binds(s))
    bound.update(p.id for p in parameters(tree))
    assigned = [s for s in effects.walk(tree.body) if isinstance(s, gast.Assign)]
    made = Counter(bound_name(s) for s in assigned if isinstance(s.value, gast.List) and not s.value.elts)
    found = {name for name in made if made[name] == bound[name]}
    for statement in effects.walk(tree.body) if found else ():
        header = effects.header(statement)
        mentions = Counter(n.id for n in effects.loads(header) if n.id in found)
        if mentions:
            operated = Counter(name for _, name in operations(unit, header))
            found -= {name for name in mentions if mentions[name] != operated[name]}
    return found


def operations(unit: Unit, node: gast.AST) -> Iterator[tuple[gast.Call, str]]:
    """The calls in an expression or a simple statement that put something on a list or take it off, and their lists."""
    for call in calls_in(node):
        name = operated(unit, call)
        if name is not None:
            yield call, name


def operated(unit: Unit, node: gast.AST) -> str | None:
    """The list of `s.append(x)`, `push(s, x)`, `s.pop()` and `pop(s)`."""
    if not isinstance(node, gast.Call):
        return None
    if isinstance(node.func, gast.Attribute):
        owner = node.func.value if on_stack(node.func.attr) else None
    else:
        ours = isinstance(node.func, gast.Name) and unit.resolve(node.func) in (runtime.push, runtime.pop)
        owner = node.args[0] if ours else None
    return owner.id if isinstance(owner, gast.Name) else None
