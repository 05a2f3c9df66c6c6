"""The kinds of shadows: those of values, with a list for a tuple and a slot for a number.

>>> of_shadow(Container(tuple, (Number(int), Array("float64", (3,)))))
Container(type=<class 'list'>, items=(Number(None, False, None), Array('float64', (3,))), keys=None, item=None)
"""

from __future__ import annotations

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Numeric, Text, is_double


def of_shadow(kind: Kind) -> Kind | None:
    """The kind of the shadow of a value: a list for a tuple, a slot for a number; None where an example must tell."""
    if not isinstance(kind, Container):
        return Array(kind.dtype, None) if isinstance(kind, Numeric) else kind if isinstance(kind, Array) else None
    parts = [kind.element() or UNKNOWN] if kind.items is None else kind.items
    items = [_slot_of_shadow(k) or of_shadow(k) or UNKNOWN for k in parts]
    type_ = list if kind.type is tuple else kind.type
    return Container(type_, None, None, items[0]) if kind.items is None else Container(type_, tuple(items), kind.keys)


def _slot_of_shadow(kind: Kind) -> Kind | None:
    """The kind of an item of a shadow, in the place of what is no array and no container."""
    if isinstance(kind, (Known, Text)):
        return Known(None)
    return Number(None, double=is_double(kind)) if type(kind) is Number else kind if isinstance(kind, Numeric) else None
