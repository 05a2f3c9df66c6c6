"""Building blocks for kinds of results: of an existing object, an item, a size; with memoization.

object_kind(np.zeros(3))      ->      Array('float64', (3,)), whose size is no other array's
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2sgrad.analysis import sampled_shapes
from s2sgrad.analysis.kinds import (
    DRAWING,
    OPAQUE,
    UNKNOWN,
    Array,
    Container,
    Instance,
    Kind,
    Known,
    Number,
    Recorded,
    is_double,
    is_none,
)
from s2sgrad.analysis.plain_classes import LONGEST, attributes_of, hides_methods
from s2sgrad.analysis.sizes import Dim
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.analysis.value_kinds import Guest, constant_kind, kinds_of
from s2sgrad.runtime.guests import has_operators
from s2sgrad.runtime.subclasses import reads_otherwise

_SETTINGS = 16  # keys of a dict that holds settings by name: one with more is taken for a table, which may grow
_MEMO: dict[Any, Kind] = {}


def sized(dim: Dim) -> Kind:
    """The kind of an integer that is the length of an axis."""
    return constant_kind(dim) if isinstance(dim, int) else Number(int, size=dim)


def sizes_known(kinds: list[Kind]) -> bool:
    """Whether no unknown integer determines the shape of a result."""
    for kind in kinds:
        if isinstance(kind, Container) and (kind.items is None or not sizes_known(list(kind.items))):
            return False
        if (
            isinstance(kind, Number)
            and not kind.known
            and kind.size is None
            and (kind.type is None or issubclass(kind.type, (int, np.integer)))
        ):
            return False
    return True


def reshaped(owner: Kind, shape: list[Kind]) -> Kind:
    """The kind of an array of kind `owner` with a new shape, given as one container or as several numbers."""
    parts: list[Kind] | None = shape
    if len(shape) == 1 and isinstance(shape[0], Container):
        parts = None if shape[0].items is None else list(shape[0].items)
    dtype = owner.dtype if isinstance(owner, Array) else None
    if parts is None or not all(isinstance(p, Number) for p in parts):
        return Array(dtype, None)
    return Array(dtype, tuple(p.value if p.known and p.value >= 0 else None for p in parts))


def as_lists(owner: Kind) -> Kind:
    """`x.tolist()`: Python's numbers, in as many lists as there are axes."""
    if not isinstance(owner, (Number, Array)) or owner.rank is None:
        return UNKNOWN
    whole = owner.type in (int, np.int64) if isinstance(owner, Number) else (owner.dtype or "").startswith(("int", "uint"))
    double = is_double(owner) or (isinstance(owner, Array) and (owner.dtype or "").startswith("float"))
    kind: Kind = Number(int) if whole else Number(float) if double else Number(None)
    for _ in range(owner.rank):
        kind = Container(list, None, None, kind)
    return kind


def item_of(kind: Kind | None, k: int, n: int) -> Kind | None:
    """The kind of item k when a value is unpacked into n targets."""
    if kind is None or is_none(kind):
        return None  # it raises
    if isinstance(kind, Recorded):
        kind = kind.kind()
    if isinstance(kind, Container) and kind.items is not None and len(kind.items) == n:
        return kind.items[k]
    if isinstance(kind, Array) and kind.dims:
        return sampled_shapes.by_example(lambda x: x[0], [kind])
    return UNKNOWN


def object_kind(value: Any) -> Kind:
    """The kind of an existing object: a constant, or what a free name refers to."""
    if isinstance(value, (float, int, complex, np.generic, np.ndarray)) or attributes_of(value) is not None:
        (kind,) = kinds_of([value])
        return _unnumbered(kind)
    plain = callable(value) or value is None or isinstance(value, (str, np.dtype, types.ModuleType))
    if plain:
        return Known(value)
    if reads_otherwise(type(value)):
        return Guest(False, type(value))
    trust = trust_of_object(value)
    if isinstance(value, tuple) and has_operators(type(value)):
        return Guest(False, type(value))
    if trust is Trust.DATA and type(value) in (list, tuple, dict) and len(value) <= LONGEST:
        return _unnumbered(_gathered(kinds_of([value])[0]))
    return DRAWING if trust is Trust.DRAWING else OPAQUE if trust is Trust.ANY else UNKNOWN


def length_told(value: Any) -> int | None:
    """The number of items of an existing tuple that its kind tells; None for anything else.

    >>> length_told((1.0, 2.0)), length_told([1.0, 2.0])
    (2, None)
    """
    kind = object_kind(value) if type(value) is tuple else UNKNOWN
    return len(kind.items) if isinstance(kind, Container) and kind.items is not None else None


def kind_of_changing(value: Any) -> Kind:
    """The same for an object whose items may be replaced: nothing is known of those of a list or dict."""
    kind = object_kind(value)
    return UNKNOWN if isinstance(kind, Container) else kind


def _gathered(kind: Kind) -> Kind:
    """The kind of a container without the number and the keys of its items, which may change between calls; of a dict of
    settings by name, `{"dt": 0.1, "steps": 20}`, with them."""
    if not isinstance(kind, Container):
        return kind
    if kind.type is tuple:
        return kind if kind.items is None else replace(kind, items=tuple(map(_gathered, kind.items)))
    named = kind.type is dict and kind.items is not None and all(type(k) is str for k in kind.keys or ())
    if named and kind.items and len(kind.items) <= _SETTINGS:
        return replace(kind, items=tuple(map(_gathered, kind.items)))
    item = kind.element()
    return Container(kind.type, None, None, None if item is None else _gathered(item))


def _unnumbered(kind: Kind) -> Kind:
    """The kind without symbolic sizes: those of a global array are unrelated to the arguments' sizes."""
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, tuple(d if isinstance(d, int) else None for d in kind.dims))
    if isinstance(kind, (Container, Instance)) and kind.items is not None:
        return replace(kind, items=tuple(map(_unnumbered, kind.items)))
    if isinstance(kind, Container) and kind.item is not None:
        return replace(kind, item=_unnumbered(kind.item))
    return kind


def memo(key: Any, kinds: list[Kind], compute: Callable[[], Kind]) -> Kind:
    """The result of `compute`, memoized by the key and the kinds."""
    try:
        full = (key, tuple(kinds))
        hit = _MEMO.get(full)
    except TypeError:
        return compute()
    if hit is None:
        if len(_MEMO) > 20_000:
            _MEMO.clear()
        hit = _MEMO[full] = compute()
    return hit


def named_tuple(cls: Any, positional: list[Kind], named: dict[str, Kind]) -> Kind:
    """The kind of a new named tuple."""
    if has_operators(cls):
        return Guest(False, cls)
    if hides_methods(cls):
        return OPAQUE
    given = dict(zip(cls._fields, positional, strict=False)) | named
    return Container(tuple, tuple(given.get(f, UNKNOWN) for f in cls._fields), tuple(cls._fields))


def viewed(owner: Kind, given: list[Kind]) -> Kind:
    """The kind of a view as a type that is named, whose last axis is as long as the memory tells."""
    try:
        dtype = np.dtype(given[0].value) if len(given) == 1 and given[0].known else None
    except TypeError:
        dtype = None
    name = dtype.name if dtype is not None and dtype.kind in "fc" else None  # bits, or bytes of what they are made of
    dims = owner.dims if isinstance(owner, Array) and name is not None else None
    return Array(name if dims else None, (*dims[:-1], None) if dims else None)
