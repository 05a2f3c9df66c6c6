"""What is known of an index at one place, within some loops: whether it may be negative, and whether its axis is longer.

>>> from s2sgrad.ir.quote import expression, statements
>>> unit = Unit(None, None, {"n", "i"})
>>> unit.helpers["range"] = range
>>> (tree,) = gast.parse("def f(n): pass").body
>>> bounds = Bounds(unit, Sizes(unit, tree), statements("for i in range(n): pass"))
>>> index, length = expression("i + 1"), bounds.form(expression("n"))
>>> bounds.is_natural(index), bounds.is_less(index, length), bounds.is_less(expression("i"), length)
(True, False, True)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import affine
from s2sgrad.analysis.affine import Form
from s2sgrad.analysis.sizes import Size
from s2sgrad.ir.forms import is_natural
from s2sgrad.ir.unit import Unit
from s2sgrad.regions.loops import least_of, limits_of
from s2sgrad.regions.trip_counts import Sizes

_ONE = Form(constant=1)


class Bounds:
    """Bounds of the indices within the loops `around`, the outermost first."""

    def __init__(self, unit: Unit, sizes: Sizes, around: list[gast.For]) -> None:
        self.unit, self.sizes, self.around = unit, sizes, around

    def form(self, node: gast.AST) -> Form | None:
        """An integer as a sum."""
        return affine.form(node, self.sizes.atom)

    def is_natural(self, node: gast.AST) -> bool:
        """Whether an integer is known not to be negative."""
        if isinstance(node, gast.Constant):
            return is_natural(node)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
            return self.is_natural(node.left) and self.is_natural(node.right)
        if isinstance(node, gast.Name):
            least = [least_of(self.unit, loop) for loop in self.around if loop.target.id == node.id]
            size = getattr(self.unit.kinds.get(node.id), "size", None)
            return any(k is not None and k >= 0 for k in least) or (isinstance(size, Size) and size.offset >= 0)
        return False

    def is_less(self, index: gast.AST, length: Form | None) -> bool:
        """Whether an index is known to lie within an axis, counted from its start."""
        form = self.form(index) if self.is_natural(index) else None
        return form is not None and self.end_within(form.plus(_ONE), 0, length)

    def end_within(self, stop: Form | None, offset: int, length: Form | None) -> bool:
        """Whether `stop + offset` is known not to be more than a length."""
        if stop is None or length is None:
            return False
        for loop in reversed(self.around):
            limits = limits_of(self.unit, loop)
            last = None if limits is None else self.form(limits[1])
            if stop.terms.get(loop.target.id) == 1 and last is not None:
                stop = stop.minus(Form({loop.target.id: 1})).plus(last).minus(_ONE)
        rest = length.minus(stop)
        return not rest.terms and rest.constant >= offset

    def moves(self, form: Form) -> bool:
        """Whether a sum depends on the variable of one of the loops."""
        return any(loop.target.id in form.terms for loop in self.around)
