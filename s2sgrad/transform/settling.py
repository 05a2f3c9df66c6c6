"""Contributions in the shape of their operand: the mask applied, and summed over the axes along which it was broadcast.

y = np.where(m, x, 0.0); x is a number       ->       x_bar = np.sum(np.where(m, y_bar, 0.0))
"""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.number_types import is_complex
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import clone, constant
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.rules.table import VALUES
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.unbroadcasting import conformed, relation


class Settling:
    """Brings contributions to the shapes of variables; `alike` maps temporaries to variables of the same shape and type,
    `of_shape` those of real to such of complex numbers."""

    def __init__(self, unit: Unit, inference: Inference, active: set[str]) -> None:
        self.unit, self.inference, self.kinds, self.active = unit, inference, inference.env, active
        self.alike: dict[str, str] = {}
        self.of_shape: dict[str, str] = {}

    def spread(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution brought to exactly the shape of `x`; a mask is applied before any sum."""
        summed = relation(cotangent.kind, self.kinds.get(x)) not in ("same", "under")
        if summed:
            cotangent = self.selected(cotangent)
        like = self.alike.get(x, x)
        value = conformed(self.unit, cotangent.value, cotangent.kind, like, self.kinds.get(x), self.inference.kind)
        return Cotangent(value, self.kinds.get(x), True, None, cotangent.numeric, cotangent.mask, idle=cotangent.idle)

    def selected(self, cotangent: Cotangent) -> Cotangent:
        """The contribution with its mask applied."""
        if cotangent.mask is None:
            return cotangent
        condition, branch = cotangent.mask
        sides = (cotangent.value, constant(0.0)) if branch else (constant(0.0), cotangent.value)
        value = call(self.unit, "where", np.where, clone(condition), *sides)
        return Cotangent(value, self.inference.kind(value), full=False, idle=VALUES)

    def settled(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution with its mask applied, summed if the mask is larger than `x`."""
        if cotangent.mask is None:
            return cotangent
        cotangent = self.selected(cotangent)
        how = relation(cotangent.kind, self.kinds.get(x))
        if how == "under":
            return cotangent
        return replace(cotangent, full=True) if how == "same" else self.spread(cotangent, x)

    def note_alike(self, target: str, operation: Operation) -> None:
        """Note that a temporary has the shape and the type of an operand of its elementwise operation.

        Where no type is known, only an operand that carries a derivative holds floats, too, unless some are complex.
        """
        if target not in self.unit.temps or operation.rule is None or operation.rule.tag != "elementwise":
            return
        kind = self.kinds.get(target)
        dims = kind.dims if isinstance(kind, Array) and kind.dims is not None else ()
        if not all(map(self.inference.symbols.is_exact, dims)):
            return
        for operand in operation.operands:
            if isinstance(operand, gast.Name) and operand.id in self.unit.locals and isinstance(kind, Array):
                other = self.kinds.get(operand.id)
                floats = kind.dtype is not None or (operand.id in self.active and not self.unit.derivative.complex)
                if relation(kind, other) != "same":
                    continue
                if is_complex(other) and not is_complex(kind):
                    self.of_shape[target] = self.alike.get(operand.id, operand.id)
                elif operand.id in self.of_shape:
                    self.of_shape[target] = self.of_shape[operand.id]
                if floats and getattr(other, "dtype", None) == kind.dtype:
                    self.alike[target] = self.alike.get(operand.id, operand.id)
                    return
