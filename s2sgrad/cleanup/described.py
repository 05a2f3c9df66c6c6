"""A name for the value of an expression, made of the names in it and of the words for operations.

    u * v      ->      u_v          1.0 / dx ** 2      ->      inverse_dx_squared          x[i + 1]      ->      x_i_next

>>> from s2sgrad.ir.unit import Unit
>>> unit = Unit(None, None, {"u_bar", "a", "b"})
>>> unit.derivative.bars.add("u_bar")
>>> def described(text):
...     return Descriptions(unit, {"t1": gast.parse(text).body[0].value}, set()).of_all(["t1"]).get("t1")
>>> described("x_bar[i, :]"), described("A[-1, j + 1].copy()"), described("u[1:-1, :-2]"), described("f()[0]")
('x_bar_i', 'A_last_j_next', 'u_inner_head', None)
>>> described("2.0 * dx"), described("1.0 - h"), described("W @ x"), described("nu / dx ** 2"), described("np.exp(-z)")
('twice_dx', 'one_minus_h', 'W_x', 'nu_over_dx_squared', 'exp_minus_z')

Where that is too long, the operation alone:

>>> described("u_bar * (p[i] + p[j]) * q[k]"), described("np.sum(a * (b + c * d))"), described("(a + b) ** (c + d)")
('u_bar_scaled', 'sum_a', 'power')
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import gast

from s2sgrad.ir.forms import is_none, number, parts_of, receiver, whole_number
from s2sgrad.ir.quote import NAMES, nodes_of
from s2sgrad.ir.unit import Unit

_LONGEST = 18  # letters of what is computed; of an operation on a variable, a few more
_NUMBERS: dict[Any, str] = {0: "zero", 1: "one", 2: "two", 3: "three", 4: "four"}
_FACTORS = {2: "twice", 0.5: "half", 3: "thrice", -1: "minus"}
_POWERS: dict[Any, str] = {2: "squared", 3: "cubed", -1: "inverse", 0.5: "root"}
_NOUNS = {
    gast.Mult: "product", gast.MatMult: "product", gast.Div: "ratio", gast.Add: "total", gast.Sub: "difference",
    gast.Pow: "power",
}  # fmt: skip
_EXTENTS = ("head", "tail", "inner", "part")
_BETWEEN = {gast.Gt: "above", gast.GtE: "from", gast.Lt: "below", gast.LtE: "up_to", gast.Eq: "is", gast.NotEq: "not"}


class Descriptions:
    """Words for temporaries, by the expressions that they are bound to."""

    def __init__(self, unit: Unit, values: Mapping[str, gast.AST], taken: Container[str]) -> None:
        self.unit, self.values, self.taken = unit, values, taken
        self.words: dict[str, str] = {}
        self.cotangents = set(unit.derivative.bars) | unit.derivative.seeds

    def of_all(self, temps: list[str]) -> dict[str, str]:
        """The words for those that have any, in the order in which they are bound."""
        self.nameless = {*temps}
        for name in temps:
            found = self._of(name)
            if found is not None:
                self.words[name] = found
        return self.words

    def _of(self, name: str) -> str | None:
        derivative = self.unit.derivative
        stem, suffix = name[:-4], name[-4:]
        if name in derivative.said:
            return derivative.said[name]
        if suffix in ("_bar", "_dot") and stem in self.unit.temps:
            alike = [w for n, w in self.words.items() if self.unit.bases.get(n, n) == stem]
            zeros = isinstance(self.values.get(name), gast.Call)
            word = alike[0] + suffix if alike else self._adjoint(self.values[name], suffix) if zeros else None
            if word is not None:
                return word
        word = self._cotangent_of(name)
        if word is not None:
            return word
        value = self.values.get(name)
        if value is None:
            return None
        if self._is_cotangent(value):
            self.cotangents.add(name)
        for words, most in ((self._phrase(value), _LONGEST), (self._noun(value), _LONGEST + 6)):
            if words is not None and len(words) <= most and words.isidentifier() and words not in self.taken:
                return words
        return None

    def _cotangent_of(self, name: str) -> str | None:
        """A name for the cotangent of an argument of a call, or of another temporary."""
        derivative = self.unit.derivative
        if name in derivative.meant:
            argument, parameter = derivative.meant[name]
            word = self._word(argument) or parameter
            return f"{word}_bar" if f"{word}_bar" not in self.taken else f"{word}_bar_term"
        of = self.words.get(derivative.cotangents.get(name, ""))
        if of is None or f"{of}_bar" in self.taken:
            return None
        self.cotangents.add(name)
        return f"{of}_bar"

    def _adjoint(self, value: gast.Call, suffix: str) -> str | None:
        """A name for the adjoint of what has none, after what its zeros have the shape of."""
        word = self._first(*value.args)
        return (
            None
            if word is None or word.endswith(suffix)
            else next((w for w in (word + suffix, f"{word}{suffix}_term") if w not in self.taken), None)
        )

    def _word(self, name: str) -> str | None:
        """The name of a variable, or the words for it."""
        base = self.unit.bases.get(name, name)
        return self.words.get(name) if name in self.nameless or base in self.unit.temps else base

    def _is_cotangent(self, value: gast.AST) -> bool:
        """Whether a product begins with a cotangent, or a section of one."""
        while isinstance(value, (gast.BinOp, gast.Subscript, gast.UnaryOp)):
            value = value.left if isinstance(value, gast.BinOp) else getattr(value, "operand", None) or value.value
        return isinstance(value, gast.Name) and not {value.id, self.unit.bases.get(value.id)}.isdisjoint(self.cotangents)

    # --- what is computed ---

    def _phrase(self, node: gast.AST) -> str | None:
        """What an expression computes, in words; None where there are none."""
        describe = _BY_KIND.get(type(node))
        return None if describe is None else describe(self, node)

    def _name(self, node: gast.Name) -> str | None:
        return self._word(node.id)

    def _constant(self, node: gast.Constant) -> str | None:
        return _NUMBERS.get(number(node)) if number(node) is not None else None

    def _sign(self, node: gast.UnaryOp) -> str | None:
        return _joined("minus" if isinstance(node.op, gast.USub) else None, self._phrase(node.operand))

    def _arithmetic(self, node: gast.BinOp) -> str | None:
        left, right = self._phrase(node.left), self._phrase(node.right)
        if isinstance(node.op, (gast.Mult, gast.MatMult)):
            for factor, other in ((number(node.left), right), (number(node.right), left)):
                if factor is not None:
                    return _joined(_FACTORS.get(factor), other)
            return None if _is_sum(node.left) or _is_sum(node.right) else _joined(left, right)
        if isinstance(node.op, gast.Div):
            if number(node.left) == 1:
                return _joined("inverse", right)
            return _joined("half", left) if number(node.right) == 2 else _joined(left, "over", right)
        if isinstance(node.op, gast.Pow):
            return _joined(left, _POWERS.get(number(node.right)))
        between = {gast.Add: "plus", gast.Sub: "minus"}.get(type(node.op))
        return _joined(left, between, right)

    def _test(self, node: gast.Compare) -> str | None:
        if len(node.ops) > 1:
            return None
        left, right = self._phrase(node.left), self._phrase(node.comparators[0])
        between = _BETWEEN.get(type(node.ops[0]))
        bare = right is None and number(node.comparators[0]) is not None
        return _joined(left, between) if bare else _joined(left, between, right)

    def _call(self, node: gast.Call) -> str | None:
        """A function of one argument, or a copy of it."""
        copied = receiver(node, "copy")
        if copied is not None:
            return self._phrase(copied)
        if self._is_plain(node):
            return self._phrase(node.args[0])
        function = _function(node)
        if isinstance(node.func, gast.Attribute) and not node.args and self.unit.called(node) is None:
            return _joined(function, self._phrase(node.func.value))  # a method
        return _joined(function, self._phrase(node.args[0])) if len(node.args) == 1 else None

    def _is_plain(self, node: gast.Call) -> bool:
        """Whether a call turns one of NumPy's numbers into Python's."""
        named = isinstance(node.func, gast.Name) and self.unit.called(node) is float
        return named and len(node.args) == 1 and isinstance(node.args[0], gast.Call)

    def _attribute(self, node: gast.Attribute) -> str | None:
        return _joined(self._phrase(node.value), node.attr)

    def _section(self, node: gast.Subscript) -> str | None:
        """An item or a section of a variable."""
        if not isinstance(node.value, gast.Name):
            return None
        words = [self._place(part) for part in parts_of(node.slice)]
        if None in words:
            return None
        words = [w for k, w in enumerate(words) if w and not (w in _EXTENTS and words[k - 1 : k] == [w])]
        base = self._word(node.value.id)
        return _joined(base, *words) if words else None

    def _place(self, part: gast.AST) -> str | None:
        """The word for one part of an index; empty for a whole axis; None where there is none."""
        if isinstance(part, gast.Slice):
            return _extent(part)
        if is_none(part) or (isinstance(part, gast.Constant) and part.value is Ellipsis):
            return ""
        whole = whole_number(part)
        if whole is not None:
            return str(whole) if whole >= 0 else "last" if whole == -1 else None
        if isinstance(part, gast.Name):
            return self._word(part.id)
        step = whole_number(part.right) if isinstance(part, gast.BinOp) and isinstance(part.left, gast.Name) else None
        if step != 1 or not isinstance(part.op, (gast.Add, gast.Sub)):
            return None
        return _joined(self._word(part.left.id), "next" if isinstance(part.op, gast.Add) else "before")

    # --- which operation it is ---

    def _noun(self, node: gast.AST) -> str | None:
        """The operation of an expression."""
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            return self._noun(node.operand)
        if isinstance(node, gast.BinOp):
            scaled = isinstance(node.op, (gast.Mult, gast.Div)) and self._is_cotangent(node)
            word = self._first(node) if scaled else None
            if word is None:
                return _NOUNS.get(type(node.op))
            return word if word.endswith("_scaled") else f"{word}_scaled"
        if isinstance(node, gast.Call) and self._is_plain(node):
            return self._noun(node.args[0])
        if isinstance(node, gast.Call):
            first = self._first(*node.args) if node.args else self._first(node.func)
            function = _function(node)
            words = _joined(function, first)
            return words if words is not None and len(words) <= _LONGEST else _joined(function, "value")
        if isinstance(node, gast.Subscript):
            parts = parts_of(node.slice)
            return _joined(self._first(node.value), "part" if any(isinstance(p, gast.Slice) for p in parts) else "item")
        return "test" if isinstance(node, (gast.Compare, gast.BoolOp)) else None

    def _first(self, *nodes: gast.AST) -> str | None:
        """The first variable in some expressions that has a name."""
        found = [n for node in nodes for n in reversed(nodes_of(node, NAMES)) if n.id in self.unit.locals]
        return next(filter(None, (self._word(n.id) for n in found)), None)


_BY_KIND: dict[type, Callable[[Descriptions, gast.AST], str | None]] = {
    gast.Name: Descriptions._name, gast.Constant: Descriptions._constant, gast.UnaryOp: Descriptions._sign,
    gast.BinOp: Descriptions._arithmetic, gast.Compare: Descriptions._test, gast.Call: Descriptions._call,
    gast.Attribute: Descriptions._attribute, gast.Subscript: Descriptions._section,
}  # fmt: skip


def _is_sum(node: gast.AST) -> bool:
    """Whether an expression is a sum or a difference."""
    return isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub))


def _extent(part: gast.Slice) -> str:
    """The word for a section of an axis; empty for all of it."""
    if part.lower is part.upper is part.step is None:
        return ""
    ends = [None if end is None else whole_number(end) or 0 for end in (part.lower, part.upper)]
    if part.step is not None:
        return "part"
    if ends[0] is None:
        return "head"
    return "tail" if ends[1] is None else "inner" if ends[0] > 0 > ends[1] else "part"


def _function(node: gast.Call) -> str | None:
    """The name of a function or a method, as it is called."""
    return getattr(node.func, "attr", None) or getattr(node.func, "id", None)


def _joined(*words: str | None) -> str | None:
    """Words as one name; None if one of them is missing."""
    known = [w for w in words if w is not None]
    return None if len(known) < len(words) else "_".join(known)
