"""Affine forms of integer expressions: bounds of sections and their lengths.

    1:n + 1   ->   n + 1 - 1        w:  and  :-w, of an axis of length #0   ->   #0 - w

>>> import gast
>>> read = lambda text: form(gast.parse(text, mode="eval").body, atom)
>>> atom = lambda node: Form({node.id: 1}, 0, frozenset([node.id])) if isinstance(node, gast.Name) else None
>>> read("n + 1").minus(read("1 + i")).text()
'-i n + 0'
>>> length(None, read("-w"), 1, Form({"#0": 1})) == length(read("w"), None, 1, Form({"#0": 1}))
True
>>> length(read("k - 1"), None, -1, Form({"#0": 1})).text()
'k + 0'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from s2sgrad.ir.forms import negated


@dataclass(frozen=True, eq=False)
class Form:
    """A sum of `terms` (atoms as text, with coefficients) plus a constant; `names`: the variables that it reads."""

    terms: dict[str, int] = field(default_factory=dict)
    constant: int = 0
    names: frozenset[str] = frozenset()

    def plus(self, other: Form, sign: int = 1) -> Form:
        """The sum, or with `sign` -1 the difference, of two forms."""
        terms = dict(self.terms)
        for text, count in other.terms.items():
            terms[text] = terms.get(text, 0) + sign * count
        terms = {t: c for t, c in terms.items() if c}
        return Form(terms, self.constant + sign * other.constant, self.names | other.names)

    def minus(self, other: Form) -> Form:
        """The difference of two forms."""
        return self.plus(other, -1)

    def times(self, factor: int) -> Form:
        """The form with all coefficients multiplied."""
        return Form({t: c * factor for t, c in self.terms.items() if factor}, self.constant * factor, self.names)

    def body(self) -> str:
        """The terms as text, without the constant."""
        signs = {1: "", -1: "-"}
        return " ".join(f"{signs.get(c, f'{c}*')}{t}" for t, c in sorted(self.terms.items()))

    def text(self) -> str:
        """The form as text."""
        return f"{self.body()} + {self.constant}"

    def counts_from_the_end(self) -> bool:
        """Whether an index is relative to the end of its axis: `-1` or `-w`."""
        if not self.terms:
            return self.constant < 0
        return all(count < 0 for count in self.terms.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and (self.terms, self.constant) == (other.terms, other.constant)

    __hash__ = None  # type: ignore[assignment]


ZERO = Form()


def form(node: gast.AST, atom: Callable[[gast.AST], Form | None]) -> Form | None:
    """An integer expression as an affine form; None where a part of it has none."""
    if isinstance(node, gast.Constant):
        return Form(constant=node.value) if type(node.value) is int else None
    if (opposite := negated(node)) is not None:
        inner = form(opposite, atom)
        return None if inner is None else inner.times(-1)
    if isinstance(node, gast.BinOp):
        left, right = form(node.left, atom), form(node.right, atom)
        if left is None or right is None:
            return None
        if isinstance(node.op, (gast.Add, gast.Sub)):
            return left.plus(right, 1 if isinstance(node.op, gast.Add) else -1)
        if isinstance(node.op, gast.Mult) and not (left.terms and right.terms):
            number, other = (right, left) if left.terms else (left, right)
            return other.times(number.constant)
        text = f"({left.text()} {type(node.op).__name__} {right.text()})"
        return Form({text: 1}, 0, left.names | right.names)
    return atom(node)


def length(lower: Form | None, upper: Form | None, step: int, axis: Form | None) -> Form | None:
    """The number of elements that `lower:upper:step` spans if it lies within its axis; None where it is unknown.

    With a step other than 1 or -1 it is the distance that the step divides.
    """
    first, last = (lower, upper) if step > 0 else (upper, lower)
    if first is None:
        first = ZERO if step > 0 else Form(constant=-1)
    elif first.counts_from_the_end():
        if axis is None:
            return None
        first = axis.plus(first)
    if last is None:
        last = axis if step > 0 else axis and axis.minus(Form(constant=1))
    elif last.counts_from_the_end():
        last = axis and axis.plus(last)
    return None if last is None else last.minus(first)
