"""Stack operations: the pushes and pops of a statement, and which lists are used as stacks only.

    x_stack.append(x); x = x_stack.pop()      ->      two operations on `x_stack`, which must be its only uses

The operations on one stack stay or go together, because they must remain balanced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.flow.graph import binds, evaluation
from s2sgrad.ir.forms import alone, appended_to, popped
from s2sgrad.ir.quote import PARTS, calls_in, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.sources import sources
from s2sgrad.primitives.catalogue import on_stack
from s2sgrad.runtime.traits import traits

_MAY_NOT_RUN = (gast.IfExp, gast.BoolOp, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def fresh_stacks(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], lasting: bool = False) -> set[str]:
    """The lists that start empty and are only pushed to and popped from, where nothing else references what is pushed.

    `lasting`: the reverse sweep is still to come, and may read what a temporary stood for.  The stacks in a record of ours
    qualify, except for those that hold references.
    """
    stacks = _begun(tree, recorded_stacks(unit, tree))
    made = set() if lasting or not stacks else made_once(unit, tree, kinds)
    return _only_operated(unit, tree, stacks, lambda call: all(sources(unit, a, kinds) <= made for a in call.args))


def local_stacks(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The lists that start empty and are only pushed to and popped from."""
    return _only_operated(unit, tree, _begun(tree, set()), lambda call: True)


def recorded_stacks(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The stacks among the parts of the record that an adjoint unpacks; the forward function states their positions."""
    places, given = traits(unit.primal.function).slots.stacks, parameters(tree)
    for s in tree.body if places else ():
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple) and getattr(s.value, "id", "") == given[0].id:
            return {part.id for k, part in enumerate(s.targets[0].elts) if k in places}
    return set()


def _begun(tree: gast.FunctionDef, recorded: set[str]) -> set[str]:
    """The lists that are empty at each binding, and the `recorded` ones that are bound once."""
    begun = Counter[str](recorded)
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.List) and not statement.value.elts:
            begun.update(binds(statement))
    bound = binding_counts(tree.body) + Counter(p.id for p in parameters(tree)) if begun else {}
    return {stack for stack, times in begun.items() if bound[stack] == times}


def _only_operated(unit: Unit, tree: gast.FunctionDef, stacks: set[str], plain: Callable[[gast.Call], bool]) -> set[str]:
    """The stacks of which all uses are pushes and pops that satisfy `plain`."""
    mentions, operated_on = Counter[str](), Counter[str]()
    for statement in effects.walk(tree.body) if stacks else ():
        if stacks.isdisjoint(evaluation(statement, unit.kept).reads):
            continue
        header = effects.header(statement)
        here = [n.id for n in effects.loads(header) if n.id in stacks]
        if here:
            mentions.update(here)
            operated_on.update(name for call, name in operations(unit, header) if plain(call))
    return {stack for stack in stacks if mentions[stack] == operated_on[stack]}


def operations(unit: Unit, node: gast.AST) -> Iterator[tuple[gast.Call, str]]:
    """The pushes and pops in an expression or a simple statement, each with its stack."""
    for call in calls_in(node):
        name = operated(unit, call)
        if name is not None:
            yield call, name


def operated(unit: Unit, node: gast.AST) -> str | None:
    """The stack of `s.append(x)`, `push(s, x)` and `s.pop()`."""
    if not isinstance(node, gast.Call):
        return None
    if isinstance(node.func, gast.Attribute):
        owner = node.func.value if on_stack(node.func.attr) else None
    else:
        owner = node.args[0] if unit.resolve(node.func) is runtime.push else None
    return owner.id if isinstance(owner, gast.Name) else None


def form_of(statement: gast.AST, call: gast.Call) -> str | None:
    """What an operation does to its stack each time that a simple statement runs: "push" or "pop"."""
    if alone(statement) is call and appended_to(call) is not None:
        return "push"
    plain = isinstance(statement, (gast.Assign, gast.AugAssign)) and popped(call) is not None and not call.args
    if not plain or not any(n is call for n in nodes(statement.value)):
        return None
    waiting = [statement.value]
    while waiting:
        node = waiting.pop()
        if node is call:
            return "pop"
        if not isinstance(node, _MAY_NOT_RUN):
            for part in PARTS[type(node)] or ():
                value = getattr(node, part, None)
                waiting += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, gast.AST)]
    return None


def made_once(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> set[str]:
    """Temporaries whose only definition allocates, and that are read once."""
    reads = read_counts(tree.body)
    made = (s for s in effects.walk(tree.body) if isinstance(s, gast.Assign) and not sources(unit, s.value, kinds))
    return {b for s in made for b in binds(s) if b in unit.temps and reads[b] == 1}
