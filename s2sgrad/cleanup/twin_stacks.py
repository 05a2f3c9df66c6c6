"""Two stacks that are pushed to together and popped from together become one stack of pairs, wherever and how often that is.

    x_stack.append(x[1:].copy())                         tape.append((x[1:].copy(), x_dot[1:].copy()))
    x_stack_dot.append(x_dot[1:].copy())
    ...                                          ->      ...
    x[1:] = x_stack.pop()                                x_old, x_old_dot = tape.pop()
    x_dot[1:] = x_stack_dot.pop()                        x[1:] = x_old
                                                         x_dot[1:] = x_old_dot

A variable and its tangent have such stacks.  Each operation on one has its twin in the same block, and between the two the
block goes on without another one.  `joint_records` joins more stacks, where one block pushes and one other pops.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(grad(defined('''
... def f(x, n):
...     x = x * 1.0
...     for i in range(n):
...         x[1:] = x[:-1] * x[1:]
...         x[:2] = x[1:] * x[:2]
...     return np.sum(x)
... ''')))
>>> df(np.array([0.5, 1.5, 1.0]), 1).tolist()
[9.25, 7.5, 4.75]
>>> print(*[line.strip() for line in df.source.splitlines() if "tape" in line or "_old" in line], sep=chr(10))
tape = []
tape.append((x[1:].copy(), x_dot[1:].copy()))
tape.append((x[:2].copy(), x_dot[:2].copy()))
x_old, x_old_dot = tape.pop()
x[:2] = x_old
x_dot[:2] = x_old_dot
x_old, x_old_dot = tape.pop()
x[1:] = x_old
x_dot[1:] = x_old_dot
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.forms import alone, appended_to, bound_name
from s2sgrad.ir.quote import PARTS, assign, at, expression, mentioned, name, nested, nodes, statements, stored
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.stacks import form_of, local_stacks, operated, operations


@dataclass
class _Operation:
    """An operation on a stack, in a statement of a block: "begin", "push", or "pop"; `call`: what is in the statement."""

    form: str
    block: Block
    statement: Any
    call: gast.Call | None = None

    @property
    def is_bound(self) -> bool:
        """Whether all that a statement does is to bind what it pops."""
        return isinstance(self.statement, gast.Assign) and self.statement.value is self.call and self._binds_names

    @property
    def _binds_names(self) -> bool:
        target = self.statement.targets[0]
        return isinstance(target, gast.Name) or (
            isinstance(target, gast.Tuple) and all(isinstance(t, gast.Name) for t in target.elts)
        )


@dataclass
class _Stack:
    """A stack, with its operations in textual order."""

    name: str
    operations: list[_Operation] = field(default_factory=list)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with one stack for each two that are alike."""
    while (twins := _twins(unit, tree)) is not None:
        _join(unit, tree, *twins)
    return tree


def _twins(unit: Unit, tree: gast.FunctionDef) -> tuple[_Stack, _Stack] | None:
    """Two stacks that can be joined, and are shorter then."""
    stacks = [s for s in _found(unit, tree) if len(s.operations) > 2]
    for first, second in itertools.combinations(stacks, 2):
        if len(first.operations) == len(second.operations) and _saved(first, second) > 0 and _are_twins(first, second):
            return first, second
    return None


def _found(unit: Unit, tree: gast.FunctionDef) -> list[_Stack]:
    """The stacks of which all operations are statements of a block."""
    local = local_stacks(unit, tree)
    found = {n: _Stack(n) for n in sorted(local)}
    odd: set[str] = set()
    for block in nested(tree.body) if len(local) > 1 else ():
        for statement in block:
            header = effects.header(statement)
            here = [(call, stack) for call, stack in operations(unit, header) if stack in local]
            if bound_name(statement) in local:
                found[bound_name(statement) or ""].operations.append(_Operation("begin", block, statement))
            for call, stack in here:
                form = form_of(statement, call)
                if form is None or sum(s == stack for _, s in here) > 1:
                    odd.add(stack)
                else:
                    found[stack].operations.append(_Operation(form, block, statement, call))
    return [s for n, s in found.items() if n not in odd]


def _saved(first: _Stack, second: _Stack) -> int:
    """How many statements fewer there are of joined stacks."""
    pairs = zip(first.operations, second.operations, strict=True)
    return sum(a.is_bound + b.is_bound - 1 if a.form == "pop" else 1 for a, b in pairs)


def _are_twins(first: _Stack, second: _Stack) -> bool:
    """Whether each operation on one stack has its twin."""
    return all(_is_twin(a, b, {first.name, second.name}) for a, b in zip(first.operations, second.operations, strict=True))


def _is_twin(a: _Operation, b: _Operation, stacks: set[str]) -> bool:
    """Whether two operations can be made at once."""
    if a.form != b.form or a.block is not b.block:
        return False
    here, there = sorted(next(k for k, s in enumerate(a.block) if s is o.statement) for o in (a, b))
    between = a.block[here + 1 : there]
    if leaves(between) or stacks & mentioned(*between):
        return False
    if a.form == "push":
        early = a if a.block[here] is a.statement else b
        pushed = early.call.args[0] if early.call is not None else None
        others = all(appended_to(alone(s)) is not None for s in between)
        return others or (isinstance(pushed, gast.Name) and pushed.id not in stored(*between))
    return a.form == "begin" or not (a.is_bound and b.is_bound) or _named_apart(a, b, a.block[here:there])


def _named_apart(a: _Operation, b: _Operation, before: Block) -> bool:
    """Whether what two pops bind has different names, of which none has another meaning in between."""
    later = a if before and before[0] is b.statement else b
    own = [stored(o.statement.targets[0]) for o in (a, b)]
    return own[0].isdisjoint(own[1]) and stored(later.statement.targets[0]).isdisjoint(mentioned(*before))


def _join(unit: Unit, tree: gast.FunctionDef, first: _Stack, second: _Stack) -> None:
    """Replace two stacks by one."""
    tapes = unit.derivative.tapes
    tape = next((s.name for s in (first, second) if s.name in tapes), None) or unit.names.fresh("tape")
    tapes[tape] = [n for s in (first, second) for n in tapes.get(s.name, [s.name])]
    unit.locals.add(tape)
    called = {s.name: _base(unit, s) for s in (first, second)}
    shared: dict[str, str] = {}
    unnamed = [s for s in (first, second) if any(_is_inline(o) for o in s.operations)]
    inline = {s.name: _own_name(tree, s) or unit.local(called[s.name]) for s in unnamed}
    for a, b in zip(first.operations, second.operations, strict=True):
        here, there = sorted((a, b), key=lambda o: next(k for k, s in enumerate(a.block) if s is o.statement))
        if a.form == "begin":
            _replace(a.block, here.statement, at(here.statement, *statements("tape = []", tape=tape)))
            _replace(a.block, there.statement, [])
        elif a.form == "push":
            values = [v for o, s in ((a, first), (b, second)) for v in _pushed(unit, o, s)]
            pushed = statements("tape.append(x)", tape=tape, x=gast.Tuple(values, gast.Load()))
            _replace(a.block, there.statement, at(there.statement, *pushed))
            _replace(a.block, here.statement, [])
        else:
            targets = []
            for operation, stack in ((a, first), (b, second)):
                _name(unit, tree, operation, called[stack.name], shared)
                targets += _bound(unit, operation, inline.get(stack.name, ""))
            taken = assign(gast.Tuple(targets, gast.Store()), expression("tape.pop()", tape=tape))
            _pop(here, there, at(here.statement, taken))


def _pop(here: _Operation, there: _Operation, taken: Block) -> None:
    """Put a pop in the place of two."""
    _replace(here.block, here.statement, [*taken, *([] if here.is_bound else [here.statement])])
    if there.is_bound and there.statement is not here.statement:
        _replace(here.block, there.statement, [])


def _pushed(unit: Unit, operation: _Operation, stack: _Stack) -> list[gast.AST]:
    """What is pushed: a tape takes the parts of a tuple."""
    value = operation.call.args[0]  # type: ignore[union-attr]
    return list(value.elts) if stack.name in unit.derivative.tapes and isinstance(value, gast.Tuple) else [value]


def _own_name(tree: gast.FunctionDef, stack: _Stack) -> str | None:
    """The name of what one block pushes and another pops, where the other does not mention it."""
    pushes, pops = ([o for o in stack.operations if o.form == form] for form in ("push", "pop"))
    if len(pushes) != 1 or len(pops) != 1 or pushes[0].call is None or not isinstance(pushes[0].call.args[0], gast.Name):
        return None
    own = pushes[0].call.args[0].id
    inside = {id(s) for s in effects.walk(pushes[0].block)}
    apart = id(pops[0].statement) not in inside and all(s is not pushes[0].statement for s in effects.walk(pops[0].block))
    elsewhere = any(own in mentioned(effects.header(s)) for s in effects.walk(tree.body) if id(s) not in inside)
    return own if apart and not elsewhere else None


def _is_inline(operation: _Operation) -> bool:
    """Whether an operation pops something in an expression."""
    return operation.form == "pop" and not operation.is_bound


def _name(unit: Unit, tree: gast.FunctionDef, operation: _Operation, base: str, shared: dict[str, str]) -> None:
    """Give what is popped its name, where it is bound to a temporary; one that is read at once is `shared`."""
    target = operation.statement.targets[0] if operation.is_bound else None
    if not isinstance(target, gast.Name) or target.id not in unit.temps or write_counts(tree.body)[target.id] > 1:
        return
    place = next(k for k, s in enumerate(operation.block) if s is operation.statement)
    at_once = read_counts(tree.body)[target.id] == 1 and target.id in mentioned(*operation.block[place + 1 : place + 2])
    new = shared[base] if at_once and base in shared else unit.local(base)
    if at_once:
        shared[base] = new
    rename({target.id: new}, *tree.body)


def _bound(unit: Unit, operation: _Operation, taken: str) -> list[gast.AST]:
    """The names that what is popped is bound to; `taken` takes the place of a call in an expression."""
    if operation.is_bound:
        target = operation.statement.targets[0]
        return list(target.elts) if isinstance(target, gast.Tuple) else [target]
    write_name(unit, operation.statement, operation.call, taken)
    return [name(taken, store=True)]


def write_name(unit: Unit, statement: gast.AST, call: gast.AST | None, taken: str) -> None:
    """Write a name in the place of a call in a statement."""
    for node in nodes(statement):
        for part in PARTS[type(node)] or ():
            value = getattr(node, part, None)
            if value is call:
                setattr(node, part, name(taken))
            elif isinstance(value, list):
                value[:] = [name(taken) if v is call else v for v in value]
    unit.rewritten(statement)


def _base(unit: Unit, stack: _Stack) -> str:
    pushed = next((o.call.args[0] for o in stack.operations if o.form == "push" and o.call is not None), None)
    return base_of(unit, pushed)


def base_of(unit: Unit, pushed: gast.AST | None) -> str:
    """What to call what was pushed, where it has no name: `x_old`, and its tangent `x_old_dot`."""
    found = sorted(mentioned(pushed) & unit.locals) if pushed is not None and operated(unit, pushed) is None else []
    while isinstance(pushed, (gast.Call, gast.Attribute, gast.Subscript)):
        pushed = pushed.func if isinstance(pushed, gast.Call) else pushed.value
    base = pushed.id if isinstance(pushed, gast.Name) else next(iter(found), "value")
    base = "value" if base in unit.temps else base
    return f"{base.removesuffix('_dot')}_old_dot" if base.endswith("_dot") else f"{base}_old"


def _replace(block: Block, statement: gast.AST, new: Block) -> None:
    """Put statements in the place of another."""
    place = next(k for k, s in enumerate(block) if s is statement)
    block[place : place + 1] = new
