"""Operators and comparisons of objects made in the function: calls of the special methods, in Python's order.

    v + w      ->      v.__add__(w); where that returns NotImplemented, w.__radd__(v)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Span:
...     def __init__(self, a): self.a = a
...     def __mul__(self, k): return Span(self.a * k)
...     def __sub__(self, x): return self.a - x
... def f(x):
...     return Span(x) * 2.0 - x
... ''', "flatten"))
def f(x):
    result_a = x
    t1 = None
    t3 = result_a * 2.0
    t2_a = t3
    t4 = None
    t5 = t2_a - x
    result = t5
    return result
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.plain_classes import member
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, at, constant, expression, name
from s2sgrad.specialize.class_members import looked_up, object_with
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Object

OPERATORS = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.MatMult: "matmul", gast.Pow: "pow",
    gast.FloorDiv: "floordiv", gast.Mod: "mod", gast.BitAnd: "and", gast.BitOr: "or", gast.BitXor: "xor",
    gast.LShift: "lshift", gast.RShift: "rshift",
}  # fmt: skip
COMPARISONS = {
    gast.Lt: ("__lt__", "__gt__"), gast.Gt: ("__gt__", "__lt__"), gast.LtE: ("__le__", "__ge__"),
    gast.GtE: ("__ge__", "__le__"), gast.Eq: ("__eq__", "__eq__"), gast.NotEq: ("__ne__", "__ne__"),
}  # fmt: skip
_TRUTH = ("__bool__", "__len__")
UNARY = {gast.USub: "__neg__", gast.UAdd: "__pos__"}


class Operators(Family):
    """Calls the special methods of operators, of truth and of `in`."""

    def __init__(self, evaluator: Evaluator, objects: Objects) -> None:
        super().__init__(evaluator)
        self.objects = objects

    def unary(self, node: gast.UnaryOp, owner: Object) -> Any:
        """A unary operator on an object."""
        return self.evaluator.apply(self.objects.method(owner, UNARY.get(type(node.op), "__invert__"), node), [], {}, node)

    def operator(self, node: gast.BinOp, left: Any, right: Any) -> Any:
        """A binary operator with an object as an operand."""
        word = OPERATORS[type(node.op)]
        tries = [(left, right, f"__{word}__"), (right, left, f"__r{word}__")]
        if isinstance(left, Object) and isinstance(right, Object):
            if left.cls is right.cls:
                tries.pop()
            elif issubclass(right.cls, left.cls) and getattr(right.cls, tries[1][2], None) is not getattr(
                left.cls, tries[1][2], None
            ):
                tries.reverse()  # the reflected method of a subclass comes first
        elif isinstance(right, Object):
            self.require_whole(left, right.cls, tries[1][2], node)
        return self.first_answer(tries, node, "this operator of an object cannot be followed: call a method")

    def first_answer(self, tries: list[tuple[Any, Any, str]], node: gast.AST, otherwise: str | None) -> Any:
        """The result of the first of these methods that does not return NotImplemented."""
        for owner, other, method in tries:
            if not isinstance(owner, Object) or not isinstance(looked_up(owner.cls, method), types.FunctionType):
                continue
            start = len(self.writer.out)
            value = self.evaluator.apply(self.objects.method(owner, method, node), [other], {}, node)
            declined = [self.unit.resolve(v) is NotImplemented for v in bound_to(value, self.writer.out[start:])]
            if not any(declined):
                return value
            if not all(declined):
                self.unit.refuse(node, f"whether `{method}` of `{owner.cls.__name__}` returns NotImplemented cannot be "
                                       "followed here: test for it before")  # fmt: skip
        if otherwise is None:
            return None
        self.unit.refuse(node, otherwise)

    def require_whole(self, left: gast.AST, cls: type, method: str, node: gast.AST) -> None:
        """Check that the data on the left of an object is no array: NumPy would call the method for each element; nor a
        number of NumPy's, which would take a sequence apart."""
        if isinstance(left, gast.Constant) or hasattr(cls, "__array_ufunc__") or hasattr(cls, "__array_priority__"):
            return
        asked = self.unit.helper("asked_whole", runtime.asked_whole)
        line = constant(getattr(node, "lineno", 0))
        is_sequence = all(member(cls, word) for word in ("__len__", "__getitem__"))
        text = "f(x, m, line, is_sequence=True)" if is_sequence else "f(x, m, line)"
        check = expression(text, f=asked, x=left, m=constant(f"{cls.__name__}.{method}"), line=line)
        self.writer.out += at(node, gast.Expr(check))

    def with_truth(self, node: gast.AST) -> gast.AST:
        """A test, of which an object is replaced by the truth that its class gives it."""
        if not self.statics.asks_truth(node) or isinstance(node, gast.BoolOp):
            return node
        if isinstance(node, gast.UnaryOp):
            node.operand = self.with_truth(node.operand)
            return node
        owner = self.evaluator.operand(node)
        word = next((w for w in _TRUTH if object_with(owner, w) is not None), "")
        if not word:
            return node
        known = self.evaluator.apply(self.objects.method(owner, word, node), [], {}, node)
        if not isinstance(known, gast.AST):
            self.unit.refuse(node, "an operator of an object returns a function, which cannot be followed: call a method")
        holder = self.unit.local("holds")
        self.names.counts[holder] += 2
        self.writer.out += at(node, assign(holder, gast.Call(self.unit.builtin(bool), [known], [])))
        return at(node, name(holder))[0]

    def contained(self, node: gast.Compare) -> Any:
        """`e in o` or `e not in o` of an object with a method for it; None for anything else."""
        (container,), left = node.comparators, node.left
        if not isinstance(self.statics.held(container), Object):
            return None
        node.left, *node.comparators = self.evaluator.in_order([left, container], self.evaluator.operand)
        owner = object_with(node.comparators[0], "__contains__")
        if owner is None:
            return None
        self.require_own(node)
        method = self.objects.method(owner, "__contains__", node)
        found = self.evaluator.apply(method, [self.evaluator.as_callable(node.left)], {}, node)
        truth = gast.Call(self.unit.builtin(bool), [found], [])
        return gast.UnaryOp(gast.Not(), found) if isinstance(node.ops[0], gast.NotIn) else truth

    def require_own(self, node: gast.AST) -> None:
        """Refuse what was written out as the method of a list or dict: an object has one of its own."""
        if (word := notes.METHOD.of(node)) is not None:
            self.unit.refuse(node, f"`{word}` is asked here of what may be a list or dict, or an object with a method "
                                   "of this name, which cannot be followed: give the method another name")  # fmt: skip

    def comparison(self, node: gast.Compare, left: Any, right: Any, *others: Any) -> Any:
        """A comparison of objects; None if they have no method for it."""
        if others or type(node.ops[0]) not in COMPARISONS:
            return None
        method, reflected = COMPARISONS[type(node.ops[0])]
        tries = [(left, right, method), (right, left, reflected)]
        if isinstance(right, Object) and not isinstance(left, Object):
            self.require_whole(left, right.cls, reflected, node)
        elif isinstance(left, Object) and isinstance(right, Object) and left.cls is not right.cls:
            if issubclass(right.cls, left.cls):
                tries.reverse()
        return self.first_answer(tries, node, None)


def bound_to(value: Any, body: list[gast.AST]) -> list[gast.AST]:
    """The values that the statements bind a variable to; else the value itself."""
    if not isinstance(value, gast.AST):
        return []
    return [
        s.value
        for s in effects.walk(body)
        if isinstance(s, gast.Assign) and isinstance(value, gast.Name) and value.id in effects.targets(s)
    ] or [value]
