"""Operators, indices and lengths of objects that are references: calls of the special methods that their classes have.

    vs = [Vec(v) for v in x]; s = vs[0] + vs[1]      ->      the text of `Vec.__add__` for the two references

Which variables may be objects is what the text says that is written so far (`analysis.one_object`); what is not of these
classes when it runs is a TypeError.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Span:
...     def __init__(self, a): self.a = a
...     def __mul__(self, other): return self.a * other.a
... def f(x):
...     spans = [Span(v) for v in x]
...     return spans[0] * spans[1]
... ''', "flatten").partition("spans.append(t5)")[2])
<BLANKLINE>
    t6 = spans[0]
    t7 = spans[1]
    which = operand_number(t6, (Span,), '__mul__', 7)
    self_ = t6
    t9 = place(self_, 'a')
    t10 = span_a[t9]
    t11 = place(t7, 'a')
    t12 = span_a[t11]
    t8 = t10 * t12
    result = t8
    no_object(result, 7)
    return result
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import standard
from s2sgrad.analysis.one_object import OneObject
from s2sgrad.analysis.reached_classes import OPERATORS_FOLLOWED
from s2sgrad.ir.quote import assign, at, clone, constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import references
from s2sgrad.specialize.object_operators import COMPARISONS, OPERATORS, UNARY, bound_to
from s2sgrad.specialize.static_values import Object, Record, Value

_TRUTH = ("__bool__", "__len__")
_FOLDS: dict[Any, Any] = {
    sum: (standard.added, "__add__", "__radd__"),
    min: (standard.least, "__lt__", "__gt__"),
    max: (standard.greatest, "__gt__", "__lt__"),
}
_ASKED = ((len, "__len__"), (abs, "__abs__"))


class ReferenceOperators:
    """Calls special methods of references; `dunders` are the classes that have each of them."""

    unit: Unit
    flattener: Any
    followed: list[type]
    dunders: dict[str, list[type]]
    of_exactly: dict[str, tuple[type, ...]]

    def open_operators(self, operators: bool) -> None:
        """Find the special methods that followed classes have."""
        self.dunders = {}
        self.assumed: list[tuple[int, gast.AST]] = []  # the tests that hold, by the depth of the block that made them
        for cls in self.followed if operators else ():
            for word in OPERATORS_FOLLOWED:
                if isinstance(self.looked_up(cls, word), types.FunctionType):
                    self.dunders.setdefault(word, []).append(cls)

    def flow(self, whole: gast.FunctionDef | None = None) -> OneObject:
        """What variables may be and hold, by all that is written so far, or by the whole text."""
        body = [*self.heads] if whole is None else whole.body
        for depth, block in enumerate((*self.flattener.outer, self.flattener.out) if whole is None else ()):
            body += [*block, *(gast.Assert(test, None) for d, test in self.assumed if d == depth)]
        return OneObject(self.unit, [*self.told(), *body], held_after=self.held_after)

    def operand_of(self, value: Any, word: str, flow: OneObject) -> Record | None:
        """The object that an operand may be which has this special method."""
        if word not in self.dunders or not isinstance(value, gast.Name):
            return None
        exact = self.of_exactly.get(value.id)
        found = tuple(c for c in self.dunders[word] if c in (exact or flow.classes(value.id)))
        return Record(found, value, exact is None, word) if found else None

    def asked(self, record: Record, given: list[Any], node: gast.AST) -> Any:
        """What the special method returns, which is not NotImplemented."""
        start = len(self.flattener.out)
        value = self.apply(self.of_record(record, record.operator, node), given, {}, node)
        if any(self.unit.resolve(v) is NotImplemented for v in bound_to(value, self.flattener.out[start:])):
            self.unit.refuse(node, f"`{record.operator}` of `{record.cls.__name__}` may return NotImplemented, which cannot "
                                   "be followed here: call a method")  # fmt: skip
        return value

    def reference_operator(self, node: gast.BinOp, left: Any, right: Any) -> Any:
        """A binary operator of which an operand may be a reference; None where none is."""
        word = OPERATORS[type(node.op)]
        if f"__{word}__" not in self.dunders and f"__r{word}__" not in self.dunders:
            return None
        flow = self.flow()
        first, second = self.operand_of(left, f"__{word}__", flow), self.operand_of(right, f"__r{word}__", flow)
        if first is not None:
            if second is not None and any(issubclass(s, f) and s is not f for s in second.classes for f in first.classes):
                self.unit.refuse(node, "an operator of objects of a class and of its subclass cannot be followed here: call "
                                       "a method")  # fmt: skip
            return self.asked(first, [right], node)
        if second is None:
            return None
        if isinstance(left, gast.Constant):
            return self.asked(second, [left], node)
        same = tuple(c for c in second.classes if c in self.dunders.get(f"__{word}__", ()))
        return self.by_the_left(Record(same, left, operator=f"__{word}__"), left, second, node)

    def by_the_left(self, first: Record, left: gast.AST, second: Record, node: gast.AST) -> gast.AST:
        """An operator whose left operand is a number, or, in another trip, an object as well."""
        holder, line = self.unit.local("value"), constant(getattr(node, "lineno", 0))
        self.counts[holder] += 2
        self.require_whole(left, second.cls, second.operator, node)

        def reflected() -> None:
            check = name(self.unit.helper("no_operand", references.no_operand))
            self.flattener.out += at(node, gast.Expr(gast.Call(check, [clone(left), line], [])))
            self.keep(holder, self.asked(second, [left], node), node)

        if not first.classes:
            reflected()
            return name(holder)
        asked = name(self.unit.helper("is_instance", references.is_instance))
        classes = gast.Tuple([self.class_name(c) for c in first.classes], gast.Load())
        test = self.flattener.hold(at(node, gast.Call(asked, [clone(left), classes], []))[0])
        operand = second.node
        self.flattener.fork(test, lambda: self.keep(holder, self.asked(first, [operand], node), node), reflected)
        return at(node, name(holder))[0]

    def keep(self, holder: str, value: Any, node: gast.AST) -> None:
        """Bind a variable to the result of an operator."""
        if not isinstance(value, gast.AST):
            self.unit.refuse(node, "an operator of an object returns a function, which cannot be followed: call a method")
        self.flattener.out += at(node, assign(holder, value))

    @contextlib.contextmanager
    def under(self, test: gast.AST, holds: bool) -> Iterator[None]:
        """Where a test holds, or does not."""
        self.assumed.append((len(self.flattener.outer), test if holds else gast.UnaryOp(gast.Not(), test)))
        yield
        self.assumed.pop()

    def reference_unary(self, node: gast.UnaryOp, operand: Any) -> Any:
        """`-v` of what may be a reference; None where it is none."""
        word = UNARY.get(type(node.op), "__invert__")
        record = self.operand_of(operand, word, self.flow()) if word in self.dunders else None
        return None if record is None else self.asked(record, [], node)

    def may_operate(self, node: gast.AST) -> bool:
        """Whether an expression may be an operator, a comparison or an index that a class defines."""
        if isinstance(node, gast.Compare):
            words = {w for op in node.ops for w in COMPARISONS.get(type(op), ())}
            words |= {"__eq__"} if "__ne__" in words else set()
            words |= {"__contains__"} if isinstance(node.ops[0], (gast.In, gast.NotIn)) else set()
        elif isinstance(node, gast.BinOp):
            words = {f"__{kind}{OPERATORS[type(node.op)]}__" for kind in ("", "r")}
        elif isinstance(node, gast.UnaryOp):
            words = {UNARY.get(type(node.op), "")}
        else:
            words = {"__getitem__"} if isinstance(node, gast.Subscript) else {self.asked_for(node)}
        return not words.isdisjoint(self.dunders)

    def reference_comparison(self, node: gast.Compare, left: Any, *others: Any) -> Any:
        """A comparison of what may be references; None where there is none with a method for it."""
        words = COMPARISONS.get(type(node.ops[0]), ())
        turned = isinstance(node.ops[0], gast.NotEq) and "__ne__" not in self.dunders
        words = ("__eq__", "__eq__") if turned else words
        if len(others) != 1 or not any(w in self.dunders for w in words):
            return None
        flow = self.flow()
        record, other = self.operand_of(left, words[0], flow), others[0]
        if record is None:
            record, other = self.operand_of(other, words[1], flow), left
            if record is not None:
                self.require_whole(left, record.cls, words[1], node)
        if record is None:
            return None
        value = self.asked(record, [other], node)
        return self.flattener.hold(at(node, gast.UnaryOp(gast.Not(), value))[0]) if turned else value

    def asks_truth(self, node: gast.AST) -> bool:
        """Whether a test may be one of an object whose class defines its truth."""
        while isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            node = node.operand
        if isinstance(node, gast.BoolOp):
            return any(map(self.asks_truth, node.values))
        by_class = isinstance(self.held(node), Object) or not self.dunders.keys().isdisjoint(_TRUTH)
        return by_class and isinstance(node, (gast.Name, gast.Attribute, gast.Subscript))

    def with_truth(self, node: gast.AST) -> gast.AST:
        """A test, of which an object is replaced by the truth that its class gives it."""
        if not self.asks_truth(node) or isinstance(node, gast.BoolOp):
            return node
        if isinstance(node, gast.UnaryOp):
            node.operand = self.with_truth(node.operand)
            return node
        value = self.flattener.operand(node)
        word, owner = next(((w, o) for w in _TRUTH if (o := self.object_with(value, w)) is not None), ("", None))
        if owner is None and isinstance(value, gast.Name) and any(b[value.id] for b in self.flattener.rebound):
            word = next((w for w in _TRUTH if w in self.dunders), "")  # what a later trip may find
            owner = Record(tuple(self.dunders[word]), value, True, word) if word else None
        if owner is None:
            return value if isinstance(value, gast.AST) else node
        holder = self.unit.local("holds")
        self.counts[holder] += 2

        def keep(known: Any) -> None:
            self.keep(holder, gast.Call(self.unit.builtin(bool), [known], []), node)

        def asked() -> None:
            keep(self.apply(self.special(owner, word, node), [], {}, node))

        if isinstance(owner, Object) or not owner.is_checked:
            asked()
        else:  # None, or a list, in another trip
            helper = name(self.unit.helper("is_instance", references.is_instance))
            classes = gast.Tuple([self.class_name(c) for c in owner.classes], gast.Load())
            test = self.flattener.hold(at(node, gast.Call(helper, [clone(value), classes], []))[0])
            self.flattener.fork(test, asked, lambda: keep(clone(value)))
        return at(node, name(holder))[0]

    def contained(self, node: gast.Compare) -> Any:
        """`e in o` or `e not in o` of an object with a method for it; None for anything else."""
        (container,), left = node.comparators, node.left
        if "__contains__" not in self.dunders and not isinstance(self.held(container), Object):
            return None
        node.left, *node.comparators = self.flattener.in_order([left, container], self.flattener.operand)
        owner = self.object_with(node.comparators[0], "__contains__")
        if owner is None:
            return None
        self.require_inherited([owner], "__contains__", node)
        found = self.apply(self.special(owner, "__contains__", node), [self.as_callable(node.left)], {}, node)
        truth = gast.Call(self.unit.builtin(bool), [found], [])
        return gast.UnaryOp(gast.Not(), found) if isinstance(node.ops[0], gast.NotIn) else truth

    def reference_item(self, node: gast.Subscript, owner: Any) -> Any:
        """`v[i]` of a reference; None where it is none, or may be a container."""
        record = self.whole(owner, "__getitem__")
        return None if record is None else self.asked(record, [self.evaluate(self.key(node.slice))], node)

    def reference_asked(self, node: gast.Call) -> Any:
        """`len(v)`, `abs(v)` of a reference, `sum(vs, v)` of a list of them; None for any other call."""
        if self.folds(node):
            return self.folded(node)
        word = self.asked_for(node)
        if word not in self.dunders:
            return None
        node.args = [self.flattener.atom(node.args[0])]
        record = self.whole(node.args[0], word)
        return None if record is None else self.asked(record, [], node)

    def folds(self, node: gast.AST) -> bool:
        """Whether a call may add or compare the objects in a list."""
        function, *words = _FOLDS.get(self.unit.called(node), (None,))
        if self.dunders.keys().isdisjoint(words) or isinstance(node.args[0] if node.args else None, gast.Starred):
            return False
        return function is standard.added or (len(node.args) == 1 and not node.keywords)

    def folded(self, node: gast.Call) -> gast.AST | None:
        """`sum(vs, start)`, `min(vs)`, `max(vs)` of objects with the operators for it; None where there are none."""
        function, *words = _FOLDS[self.unit.called(node)]
        node.args[0] = items = self.flattener.atom(node.args[0])
        having = {c for word in words for c in self.dunders.get(word, ())}
        if not isinstance(items, gast.Name) or having.isdisjoint(self.flow().classes_inside(items.id)):
            return None
        given = [self.evaluate(a) for a in node.args]
        return self.apply(self.read(function), given, {k.arg: self.evaluate(k.value) for k in node.keywords}, node)

    def asked_for(self, node: gast.AST) -> str:
        """The special method that a call of `len` or `abs` asks for; empty for anything else."""
        called = self.unit.called(node)
        words = [word for function, word in _ASKED if called is function]
        return words[0] if words and len(node.args) == 1 else ""

    def whole(self, owner: Any, word: str) -> Record | None:
        """The object with this method that a variable may be which holds none itself."""
        if word not in self.dunders or not isinstance(owner, gast.Name):
            return None
        flow = self.flow()
        return None if flow.classes_inside(owner.id) else self.operand_of(owner, word, flow)

    def put_reference_item(self, target: gast.Subscript, statement: gast.Assign) -> bool:
        """`v[i] = e`, of a reference; whether it was one."""
        if "__setitem__" not in self.dunders:
            return False
        target.value = self.flattener.atom(target.value)
        record = self.whole(target.value, "__setitem__")
        if record is not None:
            self.asked(record, [self.evaluate(self.key(target.slice)), self.evaluate(statement.value)], statement)
        return record is not None

    def update_reference(self, statement: gast.AugAssign) -> bool:
        """`v += e`, `p.v += e`, `vs[i] += e`, of a reference; whether it was one."""
        target, word = statement.target, OPERATORS[type(statement.op)]
        if not self.dunders.keys() & {f"__i{word}__", f"__{word}__", "__setitem__"}:
            return False
        if not isinstance(target, gast.Name):
            owner = self.flattener.operand(target.value)
            if isinstance(owner, Value):
                return False
            target.value = owner
        if isinstance(target, gast.Subscript):
            target.slice = self.flattener.index(target.slice)
        inside = isinstance(target, gast.Subscript) and self.whole(target.value, "__setitem__") is not None
        read = clone(target)
        read.ctx = gast.Load()
        value = self.flattener.operand(read)
        flow = self.flow()
        record = self.operand_of(value, f"__i{word}__", flow)
        is_data = record is None and self.operand_of(value, f"__{word}__", flow) is None
        if is_data and not inside:
            return False
        new: Any = gast.BinOp(value, statement.op, statement.value)
        if is_data:
            new = self.updated_in_place(statement, value)
        elif record is not None:
            new = self.asked(record, [self.evaluate(statement.value)], statement)
            if isinstance(new, (Object, Value)):
                return False
        self.flattener.statement(at(statement, gast.Assign([target], at(statement, new)[0], None))[0])
        return True
