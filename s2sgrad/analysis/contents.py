"""What is known of a value and of all that it holds, by its kind.

>>> is_plain(Container(list, None, None, Number(int))), is_plain(Container(tuple, (Number(int), UNKNOWN)))
(True, False)
"""

from __future__ import annotations

import numpy as np

from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Container,
    Instance,
    Kind,
    Known,
    Number,
    Numeric,
    Slicing,
    Unknown,
)


def holds_unknown(kind: Kind | None) -> bool:
    """Whether nothing is known about a value, or about some item of a container."""
    if isinstance(kind, Container):
        return any(map(holds_unknown, kind.items if kind.items is not None else (kind.item or UNKNOWN,)))
    return type(kind) in (Unknown, Numeric)


def is_plain(kind: Kind | None) -> bool:
    """Whether a value consists of numbers, arrays and built-in containers, so that reading it has no side effects."""
    if isinstance(kind, Container):
        return all(map(is_plain, kind.items)) if kind.items is not None else kind.item is None or is_plain(kind.item)
    if isinstance(kind, Instance):
        return all(map(is_plain, kind.items))
    return not isinstance(kind, Unknown) and kind is not None


def holds_no_function(kind: Kind | None) -> bool:
    """Whether a value is no function, and holds none, that might close over what is differentiated.

    >>> holds_no_function(Container(list, None, None, Number(int))), holds_no_function(UNKNOWN)
    (True, False)
    """
    if isinstance(kind, Container):
        items = kind.items if kind.items is not None else (kind.item or UNKNOWN,)
        return all(map(holds_no_function, items))
    if isinstance(kind, Instance):
        return not hasattr(kind.cls, "__call__") and all(map(holds_no_function, kind.items))  # noqa: B004
    return isinstance(kind, Numeric) or (kind is not None and not isinstance(kind, Unknown))


def is_plain_index(kind: Kind | None) -> bool:
    """Whether an index of this kind consists of integers and slices only, so that it selects no element twice."""
    if isinstance(kind, Container):
        return kind.type is tuple and kind.items is not None and all(map(is_plain_index, kind.items))
    if isinstance(kind, Known):
        return kind.value is None or kind.value is Ellipsis or isinstance(kind.value, slice)
    return isinstance(kind, (Number, Slicing)) and not (isinstance(kind, Number) and kind.type in (bool, np.bool_))


def holds_lists(kind: Kind | None) -> bool:
    """Whether a list holds lists, whose lengths may change."""
    inner = kind.element() if isinstance(kind, Container) and kind.type is list else None
    return isinstance(inner, Container) and inner.type is list
