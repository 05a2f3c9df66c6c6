"""Peephole rewrites of statements: conditional expressions, `x[i] += e`, negated tests, empty branches, `return e`.

if t: y = a                                if c: pass              if not c: x = 1.0
else: y = b     ->    y = a if t else b    else: x = 1.0    ->

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, y):
...     a = x * y if x > y else x + y
...     return a * a
... ''', "conditionals", 2.0, 1.0))
+     x_bar = a_bar * y if t1_2 else a_bar
-     if t1_2:
-         x_bar = a_bar * y
-     else:
-         x_bar = a_bar
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name, number, opposite
from s2sgrad.ir.quote import NAMES, assign, at, clone, expression, mentioned, nested, nodes_of, place_of, rewritten, width
from s2sgrad.ir.reach import module_alias
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit, is_derived, sweep_of
from s2sgrad.memory import behaviour

_NEGATED = {gast.Eq: gast.NotEq, gast.NotEq: gast.Eq, gast.Is: gast.IsNot, gast.IsNot: gast.Is, gast.In: gast.NotIn,
            gast.NotIn: gast.In}  # fmt: skip


def conditionals(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the conditional expressions `a if c else b` that the user wrote."""
    tree.body = rewritten(tree.body, lambda statement: _conditional(unit, statement))
    return tree


def unpackings(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite `t, saved = f(x); a, b = t` to `(a, b), saved = f(x)` where nothing else reads t."""
    reads: dict[str, int] = {}
    for name in effects.loads(tree):
        reads[name.id] = reads.get(name.id, 0) + 1
    for body in nested(tree.body):
        for first, second in zip(list(body), body[1:], strict=False):
            if _unpacks(first, second) and reads.get(second.value.id) == 1 and second.value.id in unit.temps:
                first.targets[0].elts[0] = second.targets[0]
                unit.rewritten(first)
                body.remove(second)
    return tree


def directly(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Bind what a call gives to the name that takes it: `t, y = f(..); ..; x = t` as `x, y = f(..)`."""
    reads, writes = read_counts(tree.body), write_counts(tree.body)
    for body in nested(tree.body):
        for place, statement in enumerate(body):
            target = statement.targets[0] if isinstance(statement, gast.Assign) else None
            parts = target.elts if isinstance(target, gast.Tuple) and isinstance(statement.value, gast.Call) else []
            for k, part in enumerate(parts):
                taken = isinstance(part, gast.Name) and part.id in unit.temps and reads[part.id] == writes[part.id] == 1
                later = _taken(body, place, part.id) if taken else None
                if later is not None and later.targets[0].id not in mentioned(target):
                    parts[k] = later.targets[0]
                    body.remove(later)
                    unit.rewritten(statement)
    return tree


def _taken(body: list[gast.AST], place: int, name: str) -> gast.Assign | None:
    """The later statement `x = name` of a block, if no statement before it mentions `x`."""
    between: set[str] = set()
    for statement in body[place + 1 :]:
        bound = bound_name(statement)
        if bound is not None and getattr(statement.value, "id", None) == name:
            return None if bound in between else statement
        if name in mentioned(statement) or leaves_trip([statement]):
            return None
        between |= mentioned(statement)
    return None


def _unpacks(first: gast.AST, second: gast.AST) -> bool:
    if not (isinstance(first, gast.Assign) and isinstance(second, gast.Assign)):
        return False
    outer, inner, value = first.targets[0], second.targets[0], second.value
    if not (isinstance(outer, gast.Tuple) and isinstance(inner, gast.Tuple) and isinstance(value, gast.Name)):
        return False
    return bool(outer.elts) and isinstance(outer.elts[0], gast.Name) and outer.elts[0].id == value.id


def augmented(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the augmented assignments `x[i] += e` that the user wrote."""
    tree.body = rewritten(tree.body, lambda statement: [_update(unit, statement)])
    return tree


def _update(unit: Unit, statement: gast.AST) -> gast.AST:
    section: Any = effects.stored(statement)
    value: Any = statement.value if section is not None else None
    whole = isinstance(value, gast.BinOp) and effects.is_whole(section.slice)
    if whole and same(section.value, value.left):
        if isinstance(section.value, gast.Subscript):  # an array in a list or dict
            section = section.value
            section.ctx = gast.Store()
            unit.rewritten(statement)
        else:  # `x.T[...] += e`
            value.left = clone(section)
            unit.rewritten(statement)
    if not isinstance(value, gast.BinOp) or place_of(statement) not in unit.syntax.updates or not same(section, value.left):
        return statement
    if sweep_of(statement) == "reverse":
        return statement
    return at(statement, gast.AugAssign(section, value.op, value.right))[0]


def branches(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Remove empty branches and assignments of a name or section to itself; write one branch for two that are alike."""
    tree.body = rewritten(tree.body, _branch)
    return tree


def scattered(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Write `np.add.at(x, i, e)` for what is added to an array that surely has axes."""
    tree.body = rewritten(tree.body, lambda statement: [_scattered(unit, statement)])
    return tree


def _scattered(unit: Unit, statement: gast.AST) -> gast.AST:
    if not isinstance(statement, gast.Assign) or unit.called(statement.value) is not runtime.add_at:
        return statement
    x, _, e = statement.value.args
    kind, added = (unit.kinds.get(getattr(n, "id", "")) for n in (x, e))
    surely = isinstance(added, (Array, Number)) or isinstance(e, (gast.BinOp, gast.UnaryOp))
    if not isinstance(kind, Array) or not kind.rank or not surely or getattr(x, "id", "") != bound_name(statement):
        return statement
    call = gast.Call(expression("np.add.at", np=module_alias(unit, np)), statement.value.args, [])
    return at(statement, gast.Expr(call))[0]


def returns(unit: Unit, tree: gast.FunctionDef) -> None:
    """Return what the last statements compute, and not names for it: `x_bar = y_bar * c; return x_bar`.

    So is the value of a function that records, the only one of several gradients, and short ones that fit into one line:
    `return np.sin(a), (x, a)`, and `return -a_bar, b_bar * c`.
    """
    _last(tree)
    last = tree.body[-1]
    values = last.value.elts if isinstance(last, gast.Return) and isinstance(last.value, gast.Tuple) else []
    if len(values) < 2:
        return
    mentions = Counter(n.id for n in nodes_of(tree, NAMES))
    bound: set[str] = set()
    folded = False
    for statement in tree.body[-2::-1]:
        name = bound_name(statement) if isinstance(statement, gast.Assign) else None
        if name is None or sweep_of(statement) != "reverse" or not behaviour.is_pure(unit, statement.value):
            return
        places = [k for k, value in enumerate(values) if getattr(value, "id", None) == name]
        once = places and mentions[name] == 2 and width(statement.value) <= _SHORT
        wide = width(last.value) + width(statement.value) - len(name)
        if once and wide <= _LINE and not bound & mentioned(statement.value) and not isinstance(statement.value, gast.Name):
            values[places[0]] = statement.value
            tree.body.remove(statement)
            last.origin = last.origin if folded else statement.origin
            folded = True
        bound.add(name)


_LINE, _SHORT = 76, 32  # columns that several values take, and each that has no name


def _last(tree: gast.FunctionDef) -> None:
    """Return what the last statement computes where it is all, or comes first."""
    if len(tree.body) < 2:
        return
    before, last = tree.body[-2:]
    name = bound_name(before) if isinstance(before, gast.Assign) and isinstance(last, gast.Return) else None
    if name is None or isinstance(before.value, gast.Name):
        return
    values = getattr(last.value, "elts", [])
    first = getattr(values[0], "id", None) == name if values else False
    if getattr(last.value, "id", None) == name:
        last.value = before.value
    elif first and (len(values) == 1 or _is_of_record(name, before.value, values)):
        values[0] = before.value
    else:
        return
    if hasattr(before, "origin"):
        last.origin = before.origin
    del tree.body[-2]


_WIDEST = 60  # of a value beside a record


def _is_of_record(name: str, value: gast.AST, values: list[gast.AST]) -> bool:
    """Whether a short value and a record, which does not hold it, are what a function returns."""
    record = isinstance(values[1], gast.Tuple) and len(values) == 2 and name not in mentioned(values[1])
    return record and all(isinstance(e, gast.Name) for e in values[1].elts) and width(value) <= _WIDEST


def openings(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Begin sums and lists together: `a_bar = b_bar = 0.0`, and `a_stack, b_stack = [], []`."""
    for body in nested(tree.body):
        out: list[gast.AST] = []
        for statement in body:
            before = _begun(unit, out[-1]) if out else []
            names = [*before, *_begun(unit, statement)]
            if out and _is_number(out[-1]) and _is_number(statement) and same(out[-1].value, statement.value):
                out[-1].targets += statement.targets
            elif before and len(names) > len(before) and sum(len(n.id) + 6 for n in names) <= _LINE:
                value = gast.Tuple([gast.List([], gast.Load()) for _ in names], gast.Load())
                out[-1:] = at(out[-1], assign(gast.Tuple(names, gast.Store()), value))
            else:
                out.append(statement)
        body[:] = out
    return tree


def _is_number(statement: gast.AST) -> bool:
    """Whether a statement of the reverse sweep binds names to a number."""
    plain = isinstance(statement, gast.Assign) and all(isinstance(t, gast.Name) for t in statement.targets)
    return plain and sweep_of(statement) == "reverse" and number(statement.value) is not None


def _begun(unit: Unit, statement: gast.AST) -> list[gast.Name]:
    """The stacks, and other lists of the reverse sweep, that a statement begins."""
    if not isinstance(statement, gast.Assign):
        return []
    target, value = statement.targets[0], statement.value
    several = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple)
    names, values = (target.elts, value.elts) if several else ([target], [value])
    stacks = unit.derivative.stack_bases.keys() | unit.derivative.tapes.keys() | unit.derivative.records.keys()
    ours = is_derived(statement) or all(getattr(n, "id", None) in stacks for n in names)
    return names if ours and all(isinstance(v, gast.List) and not v.elts for v in values) else []


def _conditional(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    if not isinstance(statement, gast.If) or len(statement.body) != 1 or len(statement.orelse) != 1:
        return [statement]
    then, other = statement.body[0], statement.orelse[0]
    both = isinstance(then, gast.Assign) and isinstance(other, gast.Assign)
    if not both or not all(isinstance(s.targets[0], gast.Name) for s in (then, other)):
        return [statement]
    if then.targets[0].id != other.targets[0].id or not place_of(statement) == place_of(then) == place_of(other):
        return [statement]
    if any(effects.accumulates(unit, s) for s in (then, other)):  # they write in place
        return [statement]
    value = gast.IfExp(statement.test, then.value, other.value)
    made = at(statement, gast.Assign(then.targets, value, None))[0]
    if hasattr(then, "origin"):
        made.origin = then.origin
    return [made]


def _branch(statement: gast.AST) -> list[gast.AST]:
    if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
        (target,) = statement.targets
        return [] if isinstance(target, gast.Name) and target.id == statement.value.id else [statement]
    if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Subscript):
        return [] if same(statement.targets[0], statement.value) else [statement]
    if not isinstance(statement, gast.If):
        return [statement]
    if not statement.body and statement.orelse:
        statement.test, statement.body, statement.orelse = negated(statement.test), statement.orelse, []
    if not statement.body and not statement.orelse and isinstance(statement.test, gast.Name):
        return []
    _merge_alike(statement)
    return [statement]


def _merge_alike(statement: gast.If) -> None:
    """Write `if a or b: s` for `if a: s` and `elif b: s`."""
    other = statement.orelse[0] if len(statement.orelse) == 1 else None
    if isinstance(other, gast.If) and statement.body and [*map(gast.dump, statement.body)] == [*map(gast.dump, other.body)]:
        tests = [t for test in (statement.test, other.test) for t in (test.values if _is_or(test) else [test])]
        statement.test, statement.orelse = gast.BoolOp(gast.Or(), tests), other.orelse


def _is_or(test: gast.AST) -> bool:
    """Whether a test is `a or b`."""
    return isinstance(test, gast.BoolOp) and isinstance(test.op, gast.Or)


def negated(test: gast.AST) -> gast.AST:
    """The negation of a test, by the opposite operator of a comparison if there is one."""
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _NEGATED:
        return gast.Compare(test.left, [_NEGATED[type(test.ops[0])]()], test.comparators)
    return opposite(test)
