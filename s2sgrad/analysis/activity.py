"""Activity analysis: which variables depend on the differentiated arguments and influence the result.

def f(x, n):  k = n + 1; y = x * k; print(y); return y     ->   active in x: x, y, result
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.primitive_calls import Operation, classify
from s2sgrad.ir.quote import at, name
from s2sgrad.ir.unit import MISSING, Unit

Operations = dict[int, Operation]


def operations(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> Operations:
    """The operation of each assignment and call statement, by the identity of the statement."""
    out: Operations = {}
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.AugAssign):
            value = gast.BinOp(name(statement.target.id), statement.op, statement.value)
            at(statement, value)
            out[id(statement)] = classify(unit, value, kinds)
        elif isinstance(statement, gast.Expr) or (isinstance(statement, gast.Assign) and effects.stored(statement) is None):
            out[id(statement)] = classify(unit, statement.value, kinds)
    return out


def active(
    tree: gast.FunctionDef, found: Operations, kinds: dict[str, Kind], wrt: set[str], result: str,
    shared: Mapping[str, Collection[str]],
) -> tuple[set[str], set[str]]:
    """(active, varied): the variables that carry a derivative, and those that depend on `wrt` at all.  A write to one of the
    `shared` names may be read through the others.
    """
    forward: dict[str, set[str]] = {x: set(others) & shared.keys() for x, others in shared.items()}
    for statement in effects.walk(tree.body):
        for source, target in _edges(statement, found):
            if may_carry(kinds.get(target)):
                forward.setdefault(source, set()).add(target)
    backward: dict[str, set[str]] = {}
    for source, targets in forward.items():
        for target in targets:
            backward.setdefault(target, set()).add(source)
    varied = _reached(forward, {w for w in wrt if may_carry(kinds.get(w))})
    useful = _reached(backward, {result})
    return varied & useful, varied


def _edges(statement: gast.AST, found: Operations) -> list[tuple[str, str]]:
    """Pairs (source, target): the derivative of target with respect to source may be nonzero."""
    section = effects.stored(statement)
    if section is not None:
        return [(n.id, effects.base(section)) for n in effects.loads(statement.value)]
    operation = found.get(id(statement))
    if operation is None:
        return []
    if operation.form == "push":
        owner, value = operation.operands
        return [(value.id, owner.id)] if isinstance(value, gast.Name) else []
    if isinstance(statement, gast.Expr):
        return []
    targets = effects.writes(statement) - ({operation.operands[0].id} if operation.form == "pop" else set())
    if operation.target is not MISSING:  # `np.sort(x)` is not a method of a variable
        targets -= effects.changed_by_call(statement.value)
    return [(source, target) for source in sources(operation) for target in targets]


def sources(operation: Operation) -> list[str]:
    """The variables on which the result of an operation may depend differentiably."""
    if operation.form == "flat":
        return []
    if operation.form in ("atom", "opaque") or operation.why:
        return [n.id for n in effects.loads(operation.node)]
    carriers = [n.id for o in operation.given for n in effects.loads(o)]
    if operation.form == "call":  # the callee may carry values itself: a closure, the owner of a method
        carriers += [n.id for n in effects.loads(operation.node.func)]
    return carriers


def _reached(edges: dict[str, set[str]], start: set[str]) -> set[str]:
    """The nodes that can be reached along `edges`."""
    seen, waiting = set(start), list(start)
    while waiting:
        for target in edges.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen
