"""Where nothing tells a number of Python's from one of NumPy's: what a list has in the place of an array's elements.

    s = x[i] * y[i]; z[i] = s**2      ->      the same number, to the last bit
    s = x[i] * y[i]; s.dtype          ->      `x[i]` and `y[i]` must stay what they are

Python's numbers raise where NumPy's warn (division by zero, powers that are too large): that is for the caller of the text
to take care of.  What is looked for here is what would be different in silence: attributes, complex powers, `~` of a
comparison, sums of comparisons, numbers of lower precision, whole numbers that wrap.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.elements import is_whole
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.backends.scalar_lists.nested_kinds import NestedKinds
from s2sgrad.backends.scalar_lists.precision import is_whole_power
from s2sgrad.ir.forms import appended_to, parts_of, popped
from s2sgrad.ir.quote import COMPOUND, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import libraries

Cause = TypeVar("Cause")


@dataclass(frozen=True)
class Value(Generic[Cause]):
    """What an expression may yield: a "float", "int" or "bool" of Python's because of these `causes`; nothing of theirs."""

    what: str = ""
    causes: frozenset[Cause] = frozenset()


NOTHING: Value[Any] = Value()
_ALIKE = (float, bool, runtime.like, runtime.over, runtime.times, runtime.power_slope, runtime.log_or_zero)  # of any floats


def _is_alike(target: Any, whole: bool) -> bool:
    """Whether a function gives the same for Python's numbers, with `whole` ones among them, as for NumPy's."""
    of_floats = isinstance(target, np.ufunc) and target.nout == 1 and not whole
    return of_floats or target in _ALIKE or libraries.is_of_math(target)


class PythonNumbers(Generic[Cause]):
    """Follows the elements of a function that would be Python's numbers; `spoiled` are those that must not be.

    `element` says of a subscript, or of a call, what it yields if it is one of them, and why; None otherwise.
    """

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, nested: NestedKinds,
        element: Callable[[gast.AST], Value[Cause] | None],
    ) -> None:  # fmt: skip
        self.unit, self.kinds, self.nested, self.element = unit, unit.kinds, nested, element
        self.names: dict[str, Value[Cause]] = {}
        self.spoiled: set[Cause] = set()
        statements = [*effects.walk(tree.body)]
        before = None
        while before != self.names:
            before = dict(self.names)
            for statement in statements:
                self._statement(statement)

    # --- statements ---

    def _statement(self, statement: gast.AST) -> None:
        if isinstance(statement, gast.Assign):
            self._assign(statement.targets[0], statement.value)
        elif isinstance(statement, gast.AugAssign):
            self._augmented(statement)
        elif isinstance(statement, gast.For):
            self._only_into_range(statement.iter)
        elif isinstance(statement, COMPOUND):
            self.value(statement.test)
        elif isinstance(statement, gast.Return):
            self._returned(statement.value)
        elif isinstance(statement, gast.Expr):
            self._expression(statement.value)
        else:
            self._spoil(statement)

    def _assign(self, target: gast.AST, value: gast.AST) -> None:
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
            for t, v in zip(target.elts, value.elts, strict=True):
                self._assign(t, v)
            return
        row = self.element(value) if isinstance(target, gast.Tuple) else None
        if row is not None:  # a, b = x[i]
            for part in target.elts:
                self._bind(part.id, row)
            return
        found = self.value(value, isinstance(target, gast.Name) and isinstance(self.kinds.get(target.id), Number))
        if isinstance(target, gast.Name):
            self._bind(target.id, found)
        elif isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name):
            self._store(target, found)
        else:
            self._drop(found)
            self._spoil(target)

    def _bind(self, name: str, found: Value[Cause]) -> None:
        if found.what and not isinstance(self.kinds.get(name), Number):
            self._drop(found)
            return
        known = self.names.get(name, NOTHING)
        if found.what:
            self.names[name] = self._joined(known, found)

    def _store(self, target: gast.Subscript, found: Value[Cause]) -> None:
        self._places(target)
        if found.what and self.element(target) is None and not isinstance(self.kinds.get(target.value.id), Array):
            self._drop(found)

    def _augmented(self, statement: gast.AugAssign) -> None:
        target = statement.target
        if isinstance(target, gast.Name):
            kind = self.kinds.get(target.id)
            if isinstance(kind, Array):
                found = self.value(statement.value)
                if found.what not in ("", "float") or (found.what and kind.dtype != "float64"):
                    self._drop(found)
                return
            read = gast.Name(target.id, gast.Load(), None, None)
            found = gast.BinOp(read, statement.op, statement.value)
            self._bind(target.id, self.value(found, isinstance(kind, Number)))
        elif isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name):
            if self.element(target) is not None:
                self.value(gast.BinOp(target, statement.op, statement.value))
                return
            self._places(target)
            found, kind = self.value(statement.value), self.kinds.get(target.value.id)
            if found.what and (found.what != "float" or not isinstance(kind, Array) or kind.dtype != "float64"):
                self._drop(found)
        else:
            self._spoil(statement)

    def _only_into_range(self, node: gast.AST) -> None:
        if self.unit.called(node) is builtins.reversed and len(node.args) == 1:
            node = node.args[0]
        if self.unit.called(node) is builtins.range:
            for part in node.args:
                found = self.value(part)
                if found.what not in ("", "int"):
                    self._drop(found)
            return
        self._spoil(node)

    def _returned(self, node: gast.AST) -> None:
        """Only adjoints may be given to the caller as Python's numbers."""
        if isinstance(node, (gast.Tuple, gast.List)):
            for part in node.elts:
                self._returned(part)
        elif not isinstance(node, gast.Name) or node.id not in self.unit.derivative.bars:
            self._drop(self.value(node))

    def _expression(self, node: gast.AST) -> None:
        stack = appended_to(node)
        if isinstance(stack, gast.Name):
            found = self.value(node.args[0])
            if not self.unit.is_ours(stack.id):
                self._drop(found)
            elif found.what:
                self.names[stack.id] = self._joined(self.names.get(stack.id, NOTHING), found)
            return
        self._spoil(node)

    # --- expressions ---

    def value(self, node: gast.AST, number: bool = False) -> Value[Cause]:
        """What an expression yields, which is known to be a `number` or not; what it does that a number of Python's does
        otherwise spoils its causes."""
        if isinstance(node, gast.Constant):
            return NOTHING
        if isinstance(node, gast.Name):
            return self.names.get(node.id, NOTHING)
        if isinstance(node, gast.Subscript):
            return self._subscript(node)
        if isinstance(node, gast.BinOp):
            return self._operation(node, number)
        if isinstance(node, gast.UnaryOp):
            return self._unary(node, number)
        if isinstance(node, gast.Compare):
            return self._compared(node)
        if isinstance(node, gast.BoolOp):
            return self._all_of("bool", [self.value(v) for v in node.values])
        if isinstance(node, gast.IfExp):
            self.value(node.test)
            return self._either(number, node.body, node.orelse)
        if isinstance(node, gast.Call):
            return NOTHING if self._makes_array(node) else self._called(node)
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id not in self.names:
            return NOTHING
        self._spoil(node)
        return NOTHING

    def _subscript(self, node: gast.Subscript) -> Value[Cause]:
        self._places(node)
        found = self.element(node)
        if found is None and not isinstance(node.value, gast.Name):
            self._drop(self.value(node.value))
        return NOTHING if found is None else found

    def _places(self, node: gast.Subscript) -> None:
        for part in nodes(node.slice):
            if isinstance(part, gast.Name) and self.names.get(part.id, NOTHING).what not in ("", "int"):
                self._drop(self.names[part.id])
        for part in parts_of(node.slice):
            bounds = [part.lower, part.upper, part.step] if isinstance(part, gast.Slice) else [part]
            for bound in bounds:
                found = NOTHING if bound is None else self.value(bound)
                if found.what not in ("", "int"):
                    self._drop(found)

    def _operation(self, node: gast.BinOp, number: bool) -> Value[Cause]:
        number = number and not isinstance(node.op, gast.MatMult)
        left, right = self.value(node.left, number), self.value(node.right, number)
        if not left.what and not right.what:
            return NOTHING
        both = Value("float", left.causes | right.causes)
        if not number and not (left.what and right.what):
            mine, other = (left, node.right) if left.what else (right, node.left)
            if self.nested.is_of_array(other):
                return NOTHING if mine.what == "float" and not isinstance(node.op, gast.Pow) else self._dropped(both)
            if not self.nested.is_number(other):
                return self._dropped(both)
        what = self._same(node, left, right)
        return Value(what, both.causes) if what else self._dropped(both)

    def _same(self, node: gast.BinOp, left: Value[Cause], right: Value[Cause]) -> str:
        """What an operation on numbers yields if Python's do what NumPy's do; empty where they do not."""
        whats, sides = {left.what, right.what}, ((left, node.left), (right, node.right))
        summed = isinstance(node.op, (gast.Add, gast.Sub))
        if isinstance(node.op, gast.Pow):
            return "float" if left.what == "float" and not right.what and is_whole_power(node.right) else ""
        if isinstance(node.op, (gast.BitAnd, gast.BitOr)):
            return "bool" if whats == {"bool"} else ""
        if "bool" in whats:
            scaled = "float" in whats or any(map(self.nested.is_float, (node.left, node.right)))
            return "float" if scaled and isinstance(node.op, gast.Mult) else ""
        if whats <= {"int", ""} and all(v.what or is_whole(n, self.unit) for v, n in sides):
            return "int" if summed else ""
        # what stands beside a whole number may be one that wraps
        floats = "int" not in whats or any(v.what == "float" or self.nested.is_float(n) for v, n in sides)
        return "float" if floats and (summed or isinstance(node.op, (gast.Mult, gast.Div))) else ""

    def _unary(self, node: gast.UnaryOp, number: bool) -> Value[Cause]:
        found = self.value(node.operand, number)
        if isinstance(node.op, gast.Not) or not found.what:
            return NOTHING
        signed = isinstance(node.op, (gast.USub, gast.UAdd)) and found.what == "float"  # -k may wrap
        return found if signed else self._dropped(found)

    def _compared(self, node: gast.Compare) -> Value[Cause]:
        parts = [node.left, *node.comparators]
        values = [self.value(p) for p in parts]
        out = Value("bool", frozenset().union(*(v.causes for v in values)))
        if not out.causes:
            return NOTHING
        ordered = all(isinstance(op, (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)) for op in node.ops)
        exact = not any(v.what == "int" for v in values) or all(
            v.what == "int" or is_whole(p, self.unit) for v, p in zip(values, parts, strict=True)
        )  # NumPy rounds a whole number before it compares it with a float
        return out if ordered and exact and self._are_numbers(values, parts) else self._dropped(out)

    def _either(self, number: bool, *branches: gast.AST) -> Value[Cause]:
        values = [self.value(b, number) for b in branches]
        out = NOTHING
        for value in values:
            out = self._joined(out, value)
        if out.what and not all(number or v.what or self.nested.is_number(b) for v, b in zip(values, branches, strict=True)):
            return self._dropped(out)
        return out

    def _all_of(self, what: str, values: list[Value[Cause]]) -> Value[Cause]:
        out = Value(what, frozenset().union(*(v.causes for v in values)))
        if not out.causes:
            return NOTHING
        return out if all(v.what in ("", what) for v in values) else self._dropped(out)

    def _called(self, node: gast.Call) -> Value[Cause]:
        if (stack := popped(node)) is not None and self.unit.is_ours(stack):
            return self.names.get(stack, NOTHING)
        unpacked = [a for a in node.args if isinstance(a, gast.Starred)]
        given = [self.value(a) for a in node.args if a not in unpacked]
        out = Value("float", frozenset().union(*(v.causes for v in given)))
        for extra in (*unpacked, *node.keywords):
            self._spoil(extra)
        target = self.unit.resolve(node.func)
        if target is MISSING and isinstance(node.func, gast.Attribute):
            self._drop(self.value(node.func.value))
        made = self.element(node) or NOTHING
        if not out.causes:
            return made
        if node.keywords or unpacked or not self._are_numbers(given, node.args):
            return self._dropped(out)
        whole = any(v.what == "int" for v in given)
        if target in (builtins.min, builtins.max, builtins.abs) and not whole:
            return out
        return made if _is_alike(target, whole) else self._dropped(out)

    def _makes_array(self, node: gast.Call) -> bool:
        """Whether a call makes an array of a display of numbers, which is the same for floats of Python's."""
        display = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(display, (gast.List, gast.Tuple)) or self.unit.called(node) is not np.array:
            return False
        if any(isinstance(item, gast.Starred) for item in display.elts):
            return False
        for found in map(self.value, display.elts):
            if found.what not in ("", "float"):
                self._drop(found)
        return True

    def _are_numbers(self, values: list[Value[Cause]], nodes_: list[gast.AST]) -> bool:
        pairs = zip(values, nodes_, strict=True)
        return all(v.what in ("float", "int") or (not v.what and self.nested.is_number(n)) for v, n in pairs)

    # --- keeping the books ---

    def _joined(self, a: Value[Cause], b: Value[Cause]) -> Value[Cause]:
        out = Value(a.what or b.what, a.causes | b.causes)
        if a.what and b.what and a.what != b.what:
            self._drop(out)
        return out

    def _dropped(self, found: Value[Cause]) -> Value[Cause]:
        self._drop(found)
        return NOTHING

    def _drop(self, found: Value[Cause]) -> None:
        self.spoiled |= found.causes

    def _spoil(self, node: gast.AST) -> None:
        """Whatever is mentioned here stays NumPy's."""
        for part in nodes(node):
            if isinstance(part, gast.Name) and part.id in self.names:
                self._drop(self.names[part.id])
            elif isinstance(part, gast.Subscript):
                self._drop(self.element(part) or NOTHING)
