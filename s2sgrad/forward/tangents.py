"""The tangent variables during the walk: their names, and which of them are zero at this point.

    s = 0.0; s = s + x      ->      `s` has no tangent at first, then `x_dot`

A missing tangent is a zero that is never written.  It is written where paths join of which another has a nonzero tangent,
and before a store into a section of it.
"""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, is_double
from s2sgrad.analysis.singular import Singular
from s2sgrad.forward.left_out import LeftOut
from s2sgrad.ir.quote import assign, clone, constant, expression, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import has_memory
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.saved_predicates import Decisions
from s2sgrad.transform.settling import Settling


class Tangents:
    """The tangents of the `active` variables of one function; `present` are those that may be nonzero, `words` the keywords
    for those of parameters.

    Statements that compute tangents are collected in `out`.
    """

    def __init__(self, unit: Unit, inference: Inference, active: set[str], words: dict[str, str]) -> None:
        self.unit, self.inference, self.active = unit, inference, active
        self.kinds, self.words = inference.env, words
        self.present: set[str] = set()
        self.names: dict[str, str] = {}
        self.out: list[gast.AST] = []
        self.settling, self.decisions = Settling(unit, inference, active), Decisions(unit, inference)
        self.singular: Singular | None = None
        self.left_out: LeftOut | None = None
        self.perhaps_none: set[str] = set()  # variables that are None somewhere: so are their tangents

    def dot(self, x: str) -> str:
        """The name of the tangent of `x`."""
        if x not in self.names:
            word = self.words.get(x)
            made = self.names[x] = word or self.unit.local(f"{self.unit.bases.get(x, x)}_dot")
            self.unit.locals.add(made)
            self.unit.own_names.add(made)
            self.unit.derivative.floating |= {x, made}
            if x in self.unit.temps:
                self.unit.temps.add(made)
            self.kinds[made] = tangent_kind(self.kinds.get(x, UNKNOWN))
            if self.unit.derivative.complex and type(self.kinds.get(x)) is Number and is_double(self.kinds[x]):
                self.kinds[made] = Number(None, double=True)  # it is real
            self.unit.bases[made] = word or f"{self.unit.bases.get(x, x)}_dot"  # a keyword keeps its name
            self.unit.words[made] = "the tangent of {}", x
        return self.names[x]

    def is_present(self, node: gast.AST) -> bool:
        """Whether an operand is a variable whose tangent may be nonzero."""
        return isinstance(node, gast.Name) and node.id in self.present

    def zero(self, x: str, bound: bool = True) -> gast.AST:
        """A zero tangent of the variable `x`; if not `bound`, None for anything but a number."""
        kind = self.kinds.get(x)
        if isinstance(kind, Number):
            return constant(0.0)
        if not bound:
            return constant(None)
        if isinstance(kind, Container) and kind.type is list and kind.items == () and kind.item is None:
            return gast.List([], gast.Load())
        if isinstance(kind, Array) and (kind.dtype or "").startswith(("float", "complex")):
            return call(self.unit, "zeros_like", np.zeros_like, name(x))
        return call(self.unit, "zeros", runtime.zeros, name(x))

    def part(self, node: gast.AST) -> gast.AST:
        """The tangent of an operand, as an explicit zero if it is missing."""
        if self.is_present(node):
            return name(self.dot(node.id))
        if isinstance(node, gast.Name) and node.id in self.unit.locals:
            return self.zero(node.id)
        if isinstance(node, gast.Constant):
            is_number = isinstance(node.value, (int, float, complex)) and not isinstance(node.value, bool)
            return constant(0.0 if is_number else None)
        return call(self.unit, "zeros", runtime.zeros, clone(node))

    def of_number(self, node: gast.AST) -> gast.AST:
        """The tangent of an operand of an elementwise function, which may be None where it is no number."""
        part = self.part(node)
        if not isinstance(node, gast.Name) or node.id not in self.perhaps_none:
            return part
        return expression("0.0 if x is None else d", x=clone(node), d=part)

    def start(self, x: str, bound: bool = True) -> None:
        """Initialize the missing tangent of `x` to zero."""
        if x not in self.present:
            self.out.append(assign(self.dot(x), self.zero(x, bound)))
            self.present.add(x)

    def copied(self, value: gast.AST, kind: Kind | None) -> gast.AST:
        """A tangent in memory of its own."""
        if not has_memory(kind):
            return value
        if isinstance(kind, Array) and kind.rank:
            return expression("x.copy()", x=value)
        return call(self.unit, "copied", copied, value)


def tangent_kind(kind: Kind) -> Kind:
    """The kind of the tangent of a value: the same shape, with floats.

    >>> tangent_kind(Number(int, True, 3)), tangent_kind(Array("int64", (3,)))
    (Number(None, False, None), Array(None, (3,)))
    """
    if isinstance(kind, Number):
        return Number(None)
    if isinstance(kind, Array):
        return kind if (kind.dtype or "").startswith(("float", "complex")) else Array(None, kind.dims)
    if isinstance(kind, Container) and kind.type in (list, tuple, dict):
        items = None if kind.items is None else tuple(map(tangent_kind, kind.items))
        return replace(kind, items=items, item=None if kind.item is None else tangent_kind(kind.item))
    return UNKNOWN
