"""Conditional expressions and short-circuit operators become `if`: `a if c else b`, `and`, `or`.

    y = x if c else 0.0      ->      if c: y = x                      y = a or b      ->      y = a
                                     else: y = 0.0                                            if y: pass
                                                                                              else: y = b

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, c):
...     y = x if c else 0.0
...     return y * (x or 1.0)
... ''', "flatten"))
def f(x, c):
    t1 = c
    if t1:
        y = x
    else:
        y = 0.0
    t2 = x
    t3 = t2
    if t3:
        pass
    else:
        t2 = 1.0
    result = y * t2
    return result
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad import runtime
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, at, branch, clone, constant, name, nodes
from s2sgrad.ir.unit import MISSING
from s2sgrad.normalize import containers
from s2sgrad.normalize._calls import holds_loops, pops, walruses
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.constant_branches import decided
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.object_operators import Operators

_BOOLEAN = (gast.Compare, gast.JoinedStr)
_WHOLE = (gast.Lambda, gast.SetComp, gast.GeneratorExp, gast.Set)


class Conditions(Family):
    """Evaluates conditions, one operand after the other."""

    def __init__(self, evaluator: Evaluator, operators: Operators, bindings: Bindings) -> None:
        super().__init__(evaluator)
        self.operators, self.bindings = operators, bindings

    def condition(self, node: gast.AST) -> gast.AST:
        """An atom for the truth of a test."""
        if isinstance(node, gast.Constant):
            return node
        if (truth := self.truth(node)) is not None:
            return truth
        node = self.operators.with_truth(node)
        if isinstance(node, gast.BoolOp) and self.statics.asks_truth(node):
            return self.truth_of_each(node)
        if isinstance(node, gast.BoolOp):  # drop operands that are neutral: true for `and`, false for `or`
            neutral = isinstance(node.op, gast.And)
            node.values = [v for v in node.values if decided(self.unit, v, self.statics.held) is not neutral]
            node = node.values[0] if len(node.values) == 1 else node
        self.require_own_methods(node)
        holder = self.unit.temp()
        whole = isinstance(node, (gast.BoolOp, gast.Name)) and not (walruses(node) or pops(node) or self.grows(node))
        value = self.bindings.in_whole(node) if whole else self.evaluator.flat(node)
        if isinstance(value, gast.Constant):
            return value
        self.writer.out.append(assign(holder, value))
        return name(holder)

    def truth_of_each(self, node: gast.BoolOp) -> gast.AST:
        """The truth of `and` or `or` of what may be objects, one after the other."""
        holder, is_and = self.unit.temp(), isinstance(node.op, gast.And)

        def ask(values: list[gast.AST]) -> None:
            self.writer.out += at(node, assign(holder, self.condition(values[0])))
            if values[1:]:
                rest = lambda: ask(values[1:])  # noqa: E731
                self.fork(name(holder), *((rest, None) if is_and else (None, rest)))

        ask(node.values)
        return at(node, name(holder))[0]

    def require_own_methods(self, node: gast.AST) -> None:
        """Check that an expanded method of a dict (`library.dicts`) is not overridden by its owner."""
        for part in nodes(node):
            owner = None if (method := notes.METHOD.of(part)) is None else part.comparators[0]
            if isinstance(owner, gast.Attribute) and self.unit.resolve(owner) is MISSING:
                owner = self.evaluator.atom(clone(owner))
            if isinstance(owner, gast.Name) and owner.id in self.unit.locals and owner.id not in self.names.values:
                self.writer.out += at(node, *containers.own_method(self.unit, owner.id, method, node))

    def grows(self, node: gast.AST) -> bool:
        """Whether an expression expands to statements before it."""
        return holds_loops(node) or self.lookahead.inside(node)

    def truth(self, node: gast.AST) -> gast.Constant | None:
        """The truth of a test of functions and objects; None if it depends on data."""
        value = decided(self.unit, node, self.statics.held)
        return None if value is None else constant(value)

    def chosen(self, node: gast.IfExp | gast.BoolOp) -> str:
        """The name for the value of a conditional expression."""
        if isinstance(node, gast.BoolOp):
            self.boolean(node, holder := self.unit.temp())
        else:
            holder = self.unit.local("f") if self.lookahead.may_be_known(node) else self.unit.temp()
            self.conditional(node, holder)
        return holder

    def conditional(self, node: gast.IfExp, target: str) -> None:
        test = self.condition(node.test)
        if isinstance(test, gast.Constant):
            self.evaluator.assign(assign(target, node.body if test.value else node.orelse))
            return
        self.bindings.chosen.add(target)
        if self.lookahead.may_be_known(node) or target in self.names.acting:
            self.names.mixed.add(target)
            self.names.counts[target] += 2
        arms: list[Callable[[], None]] = [
            lambda: self.evaluator.assign(assign(target, node.body)),
            lambda: self.evaluator.assign(assign(target, node.orelse)),
        ]
        self.fork(test, *arms)

    def fork(self, test: gast.AST, then: Callable[[], None] | None, other: Callable[[], None] | None) -> None:
        """An `if` whose arms are filled by two functions."""
        arms = []
        for fill in (then, other):
            with self.writer.writing() as arm:
                if fill is not None:
                    fill()
            arms.append(arm)
        self.writer.out.append(branch(test, *arms))

    def boolean(self, node: gast.BoolOp, target: str) -> None:
        """`and`, `or` as values: the operand that decides."""
        self.bindings.chosen.add(target)
        first, *rest = node.values
        self.evaluator.assign(assign(target, first))
        if rest:
            test = self.condition(name(target))
            then = lambda: self.boolean(gast.BoolOp(node.op, rest), target)  # noqa: E731
            both = (then, None) if isinstance(node.op, gast.And) else (None, then)
            self.fork(test, *both)

    def is_whole(self, node: gast.AST) -> bool:
        """Whether an expression is not split: truth values, strings, and forms that later passes keep."""
        if isinstance(node, _WHOLE) or (isinstance(node, gast.Call) and self.unit.resolve(node.func) is runtime.raised):
            return True
        if isinstance(node, _BOOLEAN) or (isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)):
            return not (walruses(node) or pops(node) or self.grows(node))
        return isinstance(node, gast.BoolOp) and all(self.is_whole(v) for v in node.values)
