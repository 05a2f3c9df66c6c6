"""A deep copy of a value that keeps its aliasing: writes to the copy act as writes to the value do.

>>> a = np.ones(3)
>>> b, v = copied((a, a[1:]))
>>> b[1] = 5.0
>>> v
array([5., 1.])

Cotangents are different: two entries that are the same array are two separate cotangents, which `own` copies separately.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.records import array_of_its_own, root_of
from s2sgrad.runtime.structure import attributes_of, rebuilt


def copied(x: Any) -> Any:
    """A deep copy of arrays, lists, dicts, sets and objects; one that occurs in several places is copied once."""
    seen: set[int] = set()
    return _copied(x, {} if _shares(x, seen) else None)


def copied_as_laid(x: Any) -> Any:
    """Such a copy in which arrays also have the memory layout that they have in the value.

    >>> m = np.ones((4, 4))
    >>> copied_as_laid([m[::2, 1:].T])[0].strides == m[::2, 1:].T.strides
    True
    """
    return _copied(x, {})


def _shares(x: Any, seen: set[int]) -> bool:
    """Whether two places in a value may be the same memory, list, dict or object."""
    if isinstance(x, np.ndarray):
        x = root_of(x)
    elif isinstance(x, tuple):
        return any(_shares(item, seen) for item in x)
    elif isinstance(x, (list, dict)):
        if any(_shares(item, seen) for item in (x.values() if isinstance(x, dict) else x)):
            return True
    elif (held := attributes_of(x)) is not None:
        if any(_shares(item, seen) for item in held.values()):
            return True
    elif type(x) is not set:
        return False
    known = id(x) in seen
    seen.add(id(x))
    return known


def _copied(x: Any, own: dict[int, Any] | None) -> Any:
    """`own` maps the identity of originals to copies; None if the value has no aliases."""
    if isinstance(x, np.ndarray):
        return x.copy() if own is None or x.dtype.hasobject or type(x) is not np.ndarray else array_of_its_own(x, own)
    if isinstance(x, tuple):
        return rebuilt(x, lambda item: _copied(item, own))
    if own is not None and id(x) in own:
        return own[id(x)]
    if isinstance(x, (list, dict)):
        made = rebuilt(x, lambda item: _copied(item, own))
    elif type(x) is set:
        made = set(x)
    else:
        held = attributes_of(x)
        if held is None:
            return x
        made = object.__new__(type(x))
        for k, item in held.items():
            object.__setattr__(made, k, _copied(item, own))
    if own is not None:
        own[id(x)] = made
    return made


def data_of(values: Any, constants: tuple) -> Any:
    """The data of an object, which is made of constants, too; integers as floats, as the object computes with them."""
    return values if np.asarray(values).dtype.kind in "fc" else np.asarray(values, float)
