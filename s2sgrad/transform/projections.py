"""Cotangents where complex numbers occur: of a real variable it is the real part; of a complex one it may be real.

    z = x + 1j * y, x and y real      ->      x_bar = z_bar.real; y_bar = (z_bar * 1j).real
    a[k] = e, `a` complex             ->      a_bar = widened(a_bar, a), before it is written: it may be an array of floats

A cotangent `z_bar` stands for `dL = Re(z_bar * dz)`.  Where the real part is taken of each contribution, a real rule never
receives a complex number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.complex_kinds import of_floats
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, OrNone, Unknown, is_numeric, operand
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.ir import complex_parts
from s2sgrad.ir.quote import name
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.cotangents import Cotangent


class Bars(Protocol):
    """What is asked of the adjoint environment."""

    unit: Unit

    @property
    def inference(self) -> Any:
        """The kinds of expressions."""

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of variables."""


def projected(bars: Bars, x: str, cotangent: Cotangent) -> Cotangent:
    """A contribution to `x`: its real part, where `x` is real and it may be complex."""
    if not bars.unit.derivative.complex:
        return cotangent
    kind = bars.kinds.get(x)
    if isinstance(kind, Container) and cotangent.index is not None:
        kind = kind.at(getattr(cotangent.index, "value", None))
        kind = kind if is_real(kind) else None
    if not isinstance(kind, (Number, Array, Unknown)) or is_complex(kind) or (is_real(kind) and not is_numeric(kind)):
        return cotangent  # what a container or an object holds is asked about where it is read
    if complex_parts.is_real(cotangent.value, lambda node: is_real(bars.inference.kind(node))):
        return cotangent
    plain = is_real(kind) and not isinstance(kind, OrNone)
    value = real_part(bars, cotangent.value) if plain else None
    if value is None:
        value = call(bars.unit, "projected", runtime.projected, cotangent.value, name(x))
    return replace(cotangent, value=value, kind=of_floats(cotangent.kind) if plain else cotangent.kind, own=False)


def real_part(bars: Any, value: gast.AST) -> gast.AST:
    """The real part of a number or an array."""
    if isinstance(operand(bars.inference.kind(value)), (Number, Array)):
        return gast.Attribute(value, "real", gast.Load())
    return call(bars.unit, "real", np.real, value)


def may_be_narrow(bars: Bars, kind: Kind | None, value: gast.AST) -> bool:
    """Whether a cotangent may be an array of floats where the variable may be complex: what is added may not fit."""
    return bars.unit.derivative.complex and not is_real(kind) and not is_complex(bars.inference.kind(value))
