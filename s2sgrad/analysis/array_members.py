"""The kinds of the attributes of arrays and numbers, and of the results of their methods.

>>> x = Array("float64", (3, 2))
>>> attribute(x, "T"), method(x, "sum", [Number(int, True, 0)], ["axis"])
(Array('float64', (2, 3)), Array('float64', (2,)))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.analysis import sampled_shapes
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Numeric, Structured, Text, is_none
from s2sgrad.analysis.results import memo, reshaped, sized, sizes_known, viewed
from s2sgrad.analysis.sizes import may_be_squeezed
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.primitives import spellings


def method(owner: Array | Number | Numeric | Structured, called: str, kinds: list[Kind], names: list[str]) -> Kind | None:
    """The kind of the result of an array's method; `names` are the keywords of its last arguments."""
    if isinstance(owner, Structured):
        return owner
    if isinstance(owner, Number):
        return owner if called == "copy" else UNKNOWN
    if called == "item":
        return Number(float) if owner.dtype and owner.dtype.startswith("float") else UNKNOWN
    if called == "view" and kinds:
        return viewed(owner, kinds)
    if called == "reshape":
        return reshaped(owner, kinds)
    if called == "squeeze" and isinstance(owner, Array) and may_be_squeezed(owner.dims):
        return Array(owner.dtype, None)

    def run(x: Any, *values: Any) -> Any:
        cut = len(values) - len(names)
        return getattr(x, called)(*values[:cut], **dict(zip(names, values[cut:], strict=True)))

    known = sizes_known(kinds)
    found = memo(("method", called, tuple(names)), [owner, *kinds],
                 lambda: sampled_shapes.by_example(run, [owner, *kinds], known))  # fmt: skip
    return Array(None, owner.dims) if called == "astype" and found is UNKNOWN and isinstance(owner, Array) else found


def item(owner: Kind, index: Kind) -> Kind:
    """The kind of an item of what is no array of numbers: a record of a structured array, or several of its fields."""
    named = isinstance(index, Text) or isinstance(getattr(index, "value", None), str)
    return owner if isinstance(owner, Structured) and not named else UNKNOWN


def attribute(owner: Array | Number, read: str) -> Kind:
    """The kind of an attribute of an array or a number."""
    if read == "ndim" and owner.rank is not None:
        return constant_kind(owner.rank)
    if read == "dtype" and isinstance(owner, Array) and owner.dtype is not None:
        return Known(np.dtype(owner.dtype))
    dims = owner.dims if isinstance(owner, Array) else ()
    if read == "shape" and dims is not None:
        return Container(tuple, tuple(sized(d) for d in dims))
    if read in spellings.COUNTS:
        return Number(int)
    found = memo(("attribute", read), [owner], lambda: sampled_shapes.by_example(lambda x: getattr(x, read), [owner]))
    return UNKNOWN if is_none(found) else found  # `base` says what an array is made of, and a sample is of its own
