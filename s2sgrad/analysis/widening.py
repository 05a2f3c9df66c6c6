"""Kinds with fewer details, so that a function is compiled once for many arguments, and a recursion for finitely many.

>>> any_float(Number(np.float64)), widened(Array("float64", (3, 2)))
(Number(None, False, None), Array('float64', (None, None)))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Array,
    Container,
    Kind,
    Known,
    Number,
    Numeric,
    Opaque,
    OrNone,
    Recorded,
    Text,
)

_WIDENED = 2  # nesting of lists that is kept


def widened(kind: Kind, depth: int = 0) -> Kind:
    """The kind without constants, sizes and lengths: a widening, so that recursions have finitely many kinds.

    >>> widened(Container(list, (Number(float, True, 0.5), Number(float))))
    Container(type=<class 'list'>, items=None, keys=None, item=Number(float, False, None))
    """
    if isinstance(kind, Container) and depth < _WIDENED:
        if kind.type is dict or (kind.type in (list, tuple) and kind.keys is None):
            item = kind.element()
            return kind if item is None else Container(kind.type, None, None, widened(item, depth + 1))
    if isinstance(kind, Number):
        return Number(kind.type, double=kind.double)
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, (None,) * len(kind.dims))
    if isinstance(kind, OrNone):
        one = widened(kind.one)
        return replace(kind, one=one) if isinstance(one, (Array, Number)) else kind
    return kind if isinstance(kind, (Array, Numeric, Known, Recorded, Text, Opaque)) else UNKNOWN


def any_float(kind: Kind) -> Kind:
    """The kind, with the float types of Python and NumPy merged."""
    float_ = isinstance(kind, Number) and not kind.known and kind.type in (float, np.float64)
    return Number(None, double=True) if float_ else kind
