"""What is recorded is what the reverse sweep makes of it, where it makes one thing of it.

    for t in range(n):                              for t in range(n):
        p_stack.append(h @ W)                           e_stack.append(h @ W - y[t])
    ..                                      ->      ..
    for t in reversed(range(n)):                    for t in reversed(range(n)):
        p = p_stack.pop()                               e = e_stack.pop()
        e = p - y[t]                                    W_bar += np.outer(h, e)
        W_bar += np.outer(h, e)

The result has no more axes than the record, and is computed once, as before.  All else that it is computed from is the same
at both places.  That is what nothing changes from the one loop to the other, and the index of a loop that runs back.  It is
also an item that both loops take alike, and other records of the same block.  What nothing reads any more goes.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(W, y):
...     h, s = np.ones(2), 0.0
...     for t in range(len(y)):
...         h = np.tanh(W @ h)
...         e = W @ h - y[t]
...         s += e @ e
...     return s
... ''', "records_as_read", np.ones((2, 2)), np.ones((3, 2))))
-     t3_stack = []
+     e_stack = []
-         t3_stack.append(W @ h)
+         e_stack.append(W @ h - y[t])
-         e2 = t3_stack.pop() - y[t7]
+         e2 = e_stack.pop()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.cleanup import forward_substitution
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped
from s2sgrad.ir.quote import assign, blocks, clone, name, nested, nodes
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import behaviour
from s2sgrad.memory.stacks import local_stacks

_MOST = 3  # operations that a result takes
_PLAIN = (gast.BinOp, gast.UnaryOp, gast.Name, gast.Constant, gast.Subscript, gast.operator, gast.unaryop, gast.expr_context)


@dataclass(eq=False)
class _Place:
    """A statement, its block, and the loops around it; `top`: the place of the outermost statement in the function."""

    statement: gast.AST
    block: Block
    loops: tuple[gast.AST, ...]
    top: int

    @property
    def before(self) -> Block:
        """The statements before it in its block."""
        return self.block[: next(k for k, s in enumerate(self.block) if s is self.statement)]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with results on the record, in place of what alone they are computed from."""
    taken = _taken_out(unit, tree)
    replaced = False
    while _Records(unit, tree).replace_one():
        replaced = True
    _put_back(tree, taken)
    return forward_substitution.run(unit, tree) if replaced else tree


def _taken_out(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """Bind what is popped within expressions to names of their own: these names."""
    out: set[str] = set()
    stacks = local_stacks(unit, tree) & unit.derivative.stack_bases.keys()
    for block in [*nested(tree.body)] if stacks else ():
        for statement in [s for s in block if isinstance(s, gast.Assign) and isinstance(s.value, gast.BinOp)]:
            for node in [n for n in nodes(statement.value) if isinstance(n, gast.BinOp)]:
                for side in ("left", "right"):
                    if popped(getattr(node, side)) in stacks:
                        out.add(bound := unit.temp())
                        block.insert(block.index(statement), assign(bound, getattr(node, side)))
                        setattr(node, side, name(bound))
                        unit.rewritten(statement)
    return out


def _put_back(tree: gast.FunctionDef, taken: set[str]) -> None:
    """Write what is popped where it is read, for these names."""
    for block in nested(tree.body) if taken else ():
        popping = {bound_name(s): s for s in block if bound_name(s) in taken}
        for statement in block if popping else ():
            for node in nodes(statement):
                for side in ("left", "right") if isinstance(node, gast.BinOp) else ():
                    pop = popping.get(getattr(getattr(node, side), "id", None))
                    if pop is not None:
                        setattr(node, side, pop.value)
        block[:] = [s for s in block if bound_name(s) not in taken]


def _places(tree: gast.FunctionDef) -> Iterator[_Place]:
    """All statements of a function."""
    waiting: list[tuple[Block, tuple[gast.AST, ...], int | None]] = [(tree.body, (), None)]
    while waiting:
        block, loops, top = waiting.pop()
        for k, statement in enumerate(block):
            here = k if top is None else top
            yield _Place(statement, block, loops, here)
            inside = (*loops, statement) if isinstance(statement, (gast.For, gast.While)) else loops
            waiting += [(inner, inside, here) for inner in blocks(statement)]


class _Records:
    """The stacks of one function that one statement pushes to and one other pops from."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.tree, self.shapes = unit, tree, Shapes(unit, unit.kinds)
        stacks, times = local_stacks(unit, tree), read_counts(tree.body)
        self.pushes: dict[str, _Place] = {}
        self.pops: dict[str, _Place] = {}
        self.stack_of: dict[str, str] = {}
        for place in _places(tree) if stacks else ():
            pushed = getattr(appended_to(alone(place.statement)), "id", None)
            taken = popped(place.statement.value) if bound_name(place.statement) is not None else None
            for stack, found in ((pushed, self.pushes), (taken, self.pops)):
                if stack in stacks and times[stack] == 2 and stack in unit.derivative.stack_bases:
                    found[stack] = place
        self.bindings = binding_counts(tree.body)
        for stack in [s for s in self.pushes if s in self.pops]:
            bound = bound_name(self.pops[stack].statement) or ""
            if self.pushes[stack].top < self.pops[stack].top and self.bindings[bound] == 1:
                self.stack_of[bound] = stack

    def replace_one(self) -> bool:
        """Record one result in place of another value; whether there was one."""
        for record, stack in self.stack_of.items():
            pop = self.pops[stack]
            readers = [s for s in effects.walk(self.tree.body) if record in effects.reads(s)]
            if len(readers) == 1 and any(s is readers[0] for s in pop.block) and self._is_result(readers[0], record):
                pushed = self._pushed(readers[0], self.pushes[stack], pop)
                if pushed is not None:
                    self._put(stack, readers[0], pushed)
                    return True
        return False

    def _is_result(self, statement: gast.AST, record: str) -> bool:
        """Whether a statement computes a number or an array, as it is needed and nothing else, from a record."""
        bound = bound_name(statement)
        if bound is None or self.bindings[bound] != 1 or {bound, record} & self.unit.memory.written:
            return False
        own = {bound, *effects.reads(statement)} & (self.unit.derivative.bars | self.unit.derivative.seeds)
        if own or any(p.id in effects.reads(statement) for p in self.tree.args.kwonlyargs):
            return False  # an adjoint
        pushed = self.pushes[self.stack_of[record]].statement.value.args[0]
        result, kept = self.shapes.rank(name(bound)), self.shapes.rank(pushed)
        if result is None or kept is None or result > kept:
            return False
        parts = [*nodes(statement.value)]
        work = sum(isinstance(n, (gast.BinOp, gast.UnaryOp)) for n in parts)
        plain = isinstance(statement.value, gast.BinOp) and all(isinstance(n, _PLAIN) for n in parts)
        product = any(isinstance(n, gast.MatMult) for n in parts)  # it may take more memory
        return plain and not product and work <= _MOST and behaviour.is_pure(self.unit, statement.value)

    def _pushed(self, statement: gast.AST, push: _Place, pop: _Place) -> gast.AST | None:
        """The value of a statement where a record is pushed; None if it is another there."""
        changed = {n for s in effects.walk(self.tree.body[push.top : pop.top + 1]) for n in self.unit.changed(s)}
        stands: dict[str, gast.AST] = {}
        for read in effects.reads(statement):
            there = self._there(read, push, pop, changed)
            if there is None:
                return None
            stands[read] = there
        copy = gast.Expr(clone(statement.value))
        for node in [*nodes(copy)]:
            for field in node._fields:
                part = getattr(node, field, None)
                if isinstance(part, gast.Name) and part.id in stands:
                    setattr(node, field, clone(stands[part.id]))
        for earlier in push.before:
            named = bound_name(earlier)
            if named is not None and self._is_fixed(named, 1) and gast.dump(earlier.value) == gast.dump(copy.value):
                return name(named)
        return copy.value

    def _there(self, read: str, push: _Place, pop: _Place, changed: set[str]) -> gast.AST | None:
        """What stands, where a record is pushed, for a name that is read where it is popped."""
        if read in self.stack_of:
            return self._recorded(self.stack_of[read], push, pop)
        if read not in changed:
            return name(read)
        indices = self._indices(push, pop)
        return name(indices[read]) if read in indices else self._item(read, push, pop, changed - indices.keys())

    def _recorded(self, stack: str, push: _Place, pop: _Place) -> gast.AST | None:
        """What a stack is given in the block of this push; None if it may be something else by then."""
        value = self.pushes[stack].statement.value.args[0]
        if self.pushes[stack].block is not push.block or self.pops[stack].block is not pop.block:
            return None
        if self.pushes[stack].statement is push.statement:
            return value
        fixed = isinstance(value, gast.Name) and self._is_fixed(value.id, 1)
        return value if fixed and any(bound_name(s) == value.id for s in push.before) else None

    def _item(self, read: str, push: _Place, pop: _Place, changed: set[str]) -> gast.AST | None:
        """The name for an item that both blocks take of what does not change."""
        taken = [s for s in pop.block if bound_name(s) == read and isinstance(s.value, gast.Subscript)]
        if len(taken) != 1 or not changed.isdisjoint(effects.reads(taken[0])):
            return None
        item = clone(taken[0].value)
        rename(self._indices(push, pop), item)
        alike = [bound_name(s) or "" for s in push.before if bound_name(s) and gast.dump(s.value) == gast.dump(item)]
        return name(alike[0]) if len(alike) == 1 and self._is_pair(read, alike[0]) else None

    def _indices(self, push: _Place, pop: _Place) -> dict[str, str]:
        """By index of the loops around a pop, which run back over those around a push: the index of the other."""
        found: dict[str, str] = {}
        for first, second in zip(push.loops, pop.loops, strict=True) if len(push.loops) == len(pop.loops) else ():
            plain = isinstance(first, gast.For) and isinstance(second, gast.For) and isinstance(second.iter, gast.Call)
            if plain and self.unit.called(second.iter) is reversed:
                steps = clone(second.iter.args[0])
                rename(found, steps)
                if gast.dump(steps) == gast.dump(first.iter) and self._is_pair(second.target.id, first.target.id):
                    found[second.target.id] = first.target.id
        return found

    def _is_pair(self, second: str, first: str) -> bool:
        """Whether two statements alone bind these names, which may be one."""
        times = 1 + (first == second)
        return self._is_fixed(first, times) and self._is_fixed(second, times)

    def _is_fixed(self, bound: str, times: int) -> bool:
        """Whether a name is bound that often, and nothing writes what it stands for."""
        return self.bindings[bound] == times and bound not in self.unit.memory.written

    def _put(self, stack: str, statement: gast.AST, pushed: gast.AST) -> None:
        """Push a result, and pop it where it was computed."""
        push, pop = self.pushes[stack], self.pops[stack]
        bound, derivative = bound_name(statement) or "", self.unit.derivative
        base = self.unit.bases.get(bound, bound)
        gone = {id(pop.statement)}
        push.statement.value.args[0] = pushed
        statement.value = pop.statement.value
        new = self.unit.local(f"{base}_stack")
        _, numbers, _ = derivative.stack_bases.pop(stack)
        derivative.stack_bases[new] = base, numbers, new
        derivative.records.pop(stack, None)
        derivative.records[new] = base
        self.unit.words[new] = "what is kept of {}", base
        self.unit.kinds[new] = self.unit.kinds.get(stack)
        rename({stack: new}, *self.tree.body)
        pop.block[:] = [s for s in pop.block if id(s) not in gone]
        self.unit.rewritten(push.statement, statement)
        self._drop_unread(new)

    def _drop_unread(self, new: str) -> None:
        """Remove the records, other than the new one, that nothing reads any more."""
        read = {n for s in effects.walk(self.tree.body) for n in effects.reads(s)}
        gone = {stack for record, stack in self.stack_of.items() if record not in read and stack in read}
        for place in [p for stack in gone - {new} for p in (self.pushes[stack], self.pops[stack])]:
            place.block[:] = [s for s in place.block if s is not place.statement]
        self.tree.body[:] = [s for s in self.tree.body if bound_name(s) not in gone]
