"""What the kinds say of number types: whether a value may carry a derivative, and how precise it is.

>>> may_carry(Array("float32", (3,))), is_short(Array("float32", (3,))), may_carry(Number(int))
(True, True, False)
"""

from __future__ import annotations

import numpy as np

from s2sgrad.analysis.kinds import (
    Array,
    Container,
    Drawing,
    Instance,
    Kind,
    Number,
    Numeric,
    Pullback,
    Recorded,
    Set,
    Unknown,
    operand,
)


def may_carry(kind: Kind | None) -> bool:
    """Whether a value of this kind may carry a derivative."""
    kind = operand(kind)
    if isinstance(kind, Number):
        return kind.type is None or issubclass(kind.type, (float, complex, np.inexact))
    if isinstance(kind, Array):
        return kind.dtype is None or np.dtype(kind.dtype).kind in "fc"
    if isinstance(kind, (Container, Instance)):
        return may_carry(kind.item) if kind.items is None else any(map(may_carry, kind.items))
    return isinstance(kind, Unknown) or kind is None


def is_short(kind: Kind | None) -> bool:
    """Whether a value consists of floats shorter than double precision."""
    dtype = kind.dtype if isinstance(kind, Array) else kind.type if isinstance(kind, Number) else None
    return dtype is not None and np.dtype(dtype).kind == "f" and np.dtype(dtype).itemsize < 8


def holds(section: Kind | None, value: Kind | None) -> bool:
    """Whether a section of an array, or an item, holds a stored value as it is; unknown means that it may round it.

    >>> holds(Number(np.float64), Number(float)), holds(Number(np.float32), Number(float)), holds(Unknown(), Number(float))
    (True, False, False)
    """
    into, kept = (k.dtype if isinstance(k, Array) else k.type if isinstance(k, Number) else None for k in (section, value))
    return into is not None and kept is not None and np.can_cast(kept, into)


def is_complex(kind: Kind | None) -> bool:
    """Whether a value is known to be complex."""
    if isinstance(kind, Number):
        return kind.type is not None and issubclass(kind.type, (complex, np.complexfloating))
    if isinstance(kind, Container):
        return any(is_complex(item) for item in kind.items or ())
    return isinstance(kind, Array) and kind.dtype is not None and kind.dtype.startswith("complex")


def is_real(kind: Kind | None) -> bool:
    """Whether a value is known to hold no complex number, or to be none (what raises); of an instance, each attribute is
    asked about where it is read.

    >>> is_real(Array("float64", None)), is_real(Array(None, (3,))), is_real(Number(complex)), is_real(Unknown())
    (True, False, False, False)
    """
    kind = operand(kind)
    if isinstance(kind, Number):
        return kind.double or (kind.type is not None and not is_complex(kind))
    if isinstance(kind, (Array, Numeric)):
        return kind.dtype is not None and not kind.dtype.startswith("complex")
    if isinstance(kind, Container):
        return is_real(kind.item) if kind.items is None else all(map(is_real, kind.items))
    return not isinstance(kind, Unknown) or isinstance(kind, (Drawing, Recorded, Pullback, Set))


def is_python_number(kind: Kind | None) -> bool:
    """Whether a value may be a Python number, for which division by zero raises."""
    return kind is None or kind.may_be_python
