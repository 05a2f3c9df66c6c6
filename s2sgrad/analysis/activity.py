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
from s2sgrad.ir.forms import number
from s2sgrad.ir.quote import at, name
from s2sgrad.ir.unit import MISSING, Unit, parameters

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
    tree: gast.FunctionDef,
    found: Operations,
    kinds: dict[str, Kind],
    wrt: set[str],
    result: str,
    shared: Mapping[str, Collection[str]],
) -> tuple[set[str], set[str]]:
    """(active, varied): the variables that carry a derivative, and those that depend on `wrt` at all.  A write to one of the
    `shared` names may be read through the others.
    """
    forward: dict[str, set[str]] = {x: set(others) & shared.keys() for x, others in shared.items()}
    items = _items(tree, {result, *shared})
    for statement in effects.walk(tree.body):
        apart = _of_items(statement, items)
        for source, target in _edges(statement, found) if apart is None else apart:
            if may_carry(kinds.get(target)):
                forward.setdefault(source, set()).add(target)
    backward: dict[str, set[str]] = {}
    for source, targets in forward.items():
        for target in targets:
            backward.setdefault(target, set()).add(source)
    varied = _reached(forward, {w for w in wrt if may_carry(kinds.get(w))})
    useful = _reached(backward, {result})
    both = varied & useful
    whole = {t for t, names in items.items() if both.intersection(names)}
    return (both | whole) - _all(items), varied - _all(items)


def _all(items: Mapping[str, tuple[str, ...]]) -> set[str]:
    return {part for parts in items.values() for part in parts}


def _items(tree: gast.FunctionDef, others: set[str]) -> dict[str, tuple[str, ...]]:
    """Names for the items of variables, but `others`, that only ever hold tuples which are written out, all of one length:
    what nobody reads of such a tuple needs no derivative.

    q = (a, b); r = q; c, _ = r      ->      a influences c, b does not
    """
    bound: dict[str, list[gast.AST | None]] = {n: [None] for n in others.union(p.id for p in parameters(tree))}
    for statement in effects.walk(tree.body):
        alone = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
        value = statement.value if alone else None
        for target in effects.writes(statement):
            bound.setdefault(target, []).append(value)
    lengths: dict[str, int] = {}
    for _ in range(3):  # a copy of a copy
        for target, values in bound.items():
            known = {_length(value, lengths) for value in values}
            if len(known) == 1 and (length := known.pop()):
                lengths[target] = length
    return {t: tuple(f"{t} {k}" for k in range(n)) for t, n in lengths.items()}


def _length(value: gast.AST | None, lengths: Mapping[str, int]) -> int:
    """That of a tuple which is written out, or of a variable that only ever holds such; 0 for anything else."""
    if isinstance(value, gast.Name):
        return lengths.get(value.id, 0)
    if isinstance(value, gast.Tuple) and all(isinstance(e, (gast.Name, gast.Constant)) for e in value.elts):
        return len(value.elts)
    return 0


def _of_items(statement: gast.AST, items: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]] | None:
    """The edges of a statement that makes such a tuple, or reads one item or each; None for any other."""
    if not isinstance(statement, gast.Assign):
        return None
    (target,), value = statement.targets, statement.value
    if isinstance(target, gast.Name) and target.id in items:
        given = items[value.id] if isinstance(value, gast.Name) else [getattr(e, "id", None) for e in value.elts]
        parts = items[target.id]
        pairs = [(source, part) for source, part in zip(given, parts, strict=True) if source is not None]
        return [*pairs, *((part, target.id) for part in parts)]
    return _of_reads(target, value, items)


def _of_reads(target: gast.AST, value: gast.AST, items: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]] | None:
    """The edges of `c = q[0]` and of `c, d = q`; None for anything else."""
    owner = value.value if isinstance(value, gast.Subscript) else value
    parts = items.get(owner.id) if isinstance(owner, gast.Name) else None
    if parts is None:
        return None
    if owner is not value:
        place = number(value.slice)
        if isinstance(target, gast.Name) and isinstance(place, int) and -len(parts) <= place < len(parts):
            return [(parts[place], target.id)]
        return None
    targets = target.elts if isinstance(target, gast.Tuple) else []
    each = len(targets) == len(parts) and all(isinstance(t, gast.Name) for t in targets)
    return [(part, t.id) for part, t in zip(parts, targets, strict=True)] if each else None


def _edges(statement: gast.AST, found: Operations) -> list[tuple[str, str]]:
    """Pairs (source, target): the derivative of target with respect to source may be nonzero."""
    section = effects.stored(statement)
    if section is not None:
        return [(n.id, effects.base(section)) for n in effects.loads(statement.value)]
    operation = found.get(id(statement))
    if operation is None:
        return []
    if operation.form in ("push", "grow"):
        owner, value = operation.operands
        return [(value.id, owner.id)] if isinstance(value, gast.Name) else []
    if isinstance(statement, gast.Expr):
        return []
    targets = effects.writes(statement) - ({operation.operands[0].id} if operation.form in ("pop", "shrink") else set())
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
