"""Stores into sections of lists: the list is rebound to the parts before and after the section around the new items.

    xs[1:3] = ys      ->      xs = xs[:1] + ys + xs[3:]             t = np.sort(xs); xs[:] = t      ->      xs = sorted(xs)

Kinds distinguish lists from arrays; `xs` must have no other name, as for the rebinding of `xs.insert(0, v)`.

>>> from s2sgrad import grad
>>> def f(x):
...     xs = [x[0], x[1], x[2]]
...     xs[1:] = [xs[0] * xs[1]]
...     return xs[1]
>>> import numpy as np
>>> text = grad(f).source_for(np.ones(3))
>>> print(text[text.index("    xs = ") : text.index("    # reverse")], end="")
    xs = [x[0], x[1], x[2]]
    xs2 = xs[:1] + [xs[0] * xs[1]]
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import is_none, whole_number
from s2sgrad.ir.quote import assign, at, constant, expression, name, nested, statements
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Rebind lists where a section of them is stored; whether there were any."""
    sections = _Sections(unit, inference)
    found = False
    for body in nested(tree.body):
        for k in range(len(body) - 1, -1, -1):
            made = sections.rebound(body[k], body[:k])
            if made is not None:
                body[k : k + 1] = at(body[k], *made)
                found = True
    return found


class _Sections:
    """Rewrites the stores into sections of lists."""

    def __init__(self, unit: Unit, inference: Inference) -> None:
        self.unit, self.inference = unit, inference

    def rebound(self, statement: gast.AST, before: Block) -> Block | None:
        """The statements in place of a store into a section of a list; None for any other statement."""
        section = effects.stored(statement)
        if isinstance(statement, gast.AugAssign) and isinstance(statement.op, gast.Add) and self._is_list(statement.target):
            owner = statement.target.id
            made = self._spliced(owner, None, statement.value)
        elif isinstance(statement, gast.Assign) and section is not None and self._is_list(section.value):
            owner, place = section.value.id, section.slice
            if not isinstance(place, gast.Slice) or not is_none(place.step or constant(None)):
                return None
            made = self._sorted(owner, place, statement.value, before) or self._spliced(owner, place, statement.value)
        else:
            return None
        return [gast.Expr(expression("f(s)", f=self._resizes, s=owner)), *made]

    def _is_list(self, node: gast.AST) -> bool:
        kind = self.inference.kind(node)
        return isinstance(node, gast.Name) and isinstance(kind, Container) and kind.type is list

    @property
    def _resizes(self) -> str:
        return self.unit.helper("resizes", runtime.resizes)

    def _sorted(self, owner: str, place: gast.Slice, value: gast.AST, before: Block) -> Block | None:
        """`xs.sort()`, which is `t = np.sort(xs); xs[:] = t` in normal form; None otherwise."""
        last: gast.AST = before[-1].value if before and isinstance(before[-1], gast.Assign) else None
        plain = isinstance(last, gast.Call) and len(last.args) == 1 and not last.keywords
        if place.lower or place.upper or not plain or self.unit.called(last) is not np.sort:
            return None
        if getattr(last.args[0], "id", None) != owner or before[-1].targets[0].id != value.id:
            return None
        if not self.unit.is_ours(value.id):  # the user continues with an array
            return None
        last.func = self.unit.builtin(sorted)
        return [assign(owner, value)]

    def _spliced(self, owner: str, place: gast.Slice | None, value: gast.AST) -> Block:
        """The statements for `xs[a:b] = v`; without a place, for `xs += v`."""
        out: Block = []
        list_, len_, max_ = map(self.unit.builtin, (list, len, max))

        def held(text: str, **holes: object) -> str:
            holder = self.unit.temp()
            out.extend(statements(f"t = {text}", t=holder, **holes))
            return holder

        parts: list[gast.AST] = [] if place is not None else [name(owner)]
        if place is not None and place.lower is not None:
            parts.append(name(held("s[:a]", s=owner, a=place.lower)))
        parts.append(value if parts and self._is_list(value) else name(held("list(v)", v=value, list=list_)))
        if place is not None and place.upper is not None:
            first, last = whole_number(place.lower or constant(0)), whole_number(place.upper)
            end = place.upper
            if first is None or last is None or not 0 <= first <= last:  # relative to the end, or an empty section
                given = [e for e in (place.lower, place.upper) if e is not None]
                ends = [held("len(s)", s=held("s[:b]", s=owner, b=e), len=len_) for e in given]
                end = name(ends[0] if len(ends) == 1 else held("max(a, b)", a=ends[0], b=ends[1], max=max_))
            parts.append(name(held("s[b:]", s=owner, b=end)))
        while len(parts) > 2:
            parts[:2] = [name(held("a + b", a=parts[0], b=parts[1]))]
        joined = parts[0] if len(parts) == 1 else gast.BinOp(parts[0], gast.Add(), parts[1])
        return [*out, assign(owner, joined)]
