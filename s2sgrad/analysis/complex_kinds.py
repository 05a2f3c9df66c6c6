"""Kinds of cotangents where complex numbers occur.

z_bar = g, a cotangent of `z.real`      ->      `z` is complex, and `z_bar` real
xs_bar = [z_bar, z_bar]                 ->      that of a list of real numbers: the real part is taken where each is read
"""

from __future__ import annotations

from dataclasses import replace

from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.ir.unit import Unit


def of_floats(kind: Kind | None) -> Kind | None:
    """The kind of the real part of what is of this kind.

    >>> of_floats(Array("complex64", (3,))), of_floats(Number(complex))
    (Array('float32', (3,)), Number(None, False, None))
    """
    if isinstance(kind, Array):
        floats = {"complex64": "float32", "complex128": "float64"}
        return replace(kind, dtype=floats.get(kind.dtype or "", None if is_complex(kind) else kind.dtype))
    return Number(None) if isinstance(kind, Number) and is_complex(kind) else kind


def loosened(unit: Unit, kind: Kind) -> Kind:
    """The kind of the cotangent of what is of this kind: that of a complex number may be real, and that of a container may
    hold a complex one for a real item."""
    if not unit.derivative.complex:
        return kind
    if isinstance(kind, Container):
        items = None if kind.items is None else tuple(map(of_any_type, kind.items))
        return replace(kind, items=items, item=None if kind.item is None else of_any_type(kind.item))
    return kind if is_real(kind) else of_any_type(kind)


def taken(unit: Unit, kind: Kind | None) -> Kind | None:
    """The kind of a cotangent that was taken from that of a container, of a value of this kind."""
    return of_any_type(kind) if unit.derivative.complex and kind is not None else kind


def of_any_type(kind: Kind) -> Kind:
    """The same kind, of numbers of any type."""
    if isinstance(kind, Array):
        return replace(kind, dtype=None)
    if isinstance(kind, Container):
        items = None if kind.items is None else tuple(map(of_any_type, kind.items))
        return replace(kind, items=items, item=None if kind.item is None else of_any_type(kind.item))
    return Number(None) if type(kind) is Number else kind
