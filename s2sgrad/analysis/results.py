"""The kinds of what pure library functions return, remembered for arguments of equal kinds.

np.zeros(n), n the length of x      ->      Array('float64', (Size(0),))
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2sgrad import runtime
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
    Text,
    constant_kind,
    join,
    kinds_of,
)
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.analysis.sizes import Dim
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.primitives import catalogue
from s2sgrad.rules import table

_MEMO: dict[Any, Kind] = {}
_INT, _BOOL = Number(int), Number(bool)
_SHAPED = (np.zeros, np.ones, np.empty, np.full, np.ndarray)
_RESULTS: dict[Any, Kind] = {len: _INT, int: _INT, bool: _BOOL, isinstance: _BOOL, float: Number(float), str: Text(),
                             range: Container(range, None, None, _INT), runtime.raised: _INT}  # fmt: skip


def call_of(target: Any, kinds: list[Kind], names: list[str]) -> Kind:
    """The kind of a pure library function's result."""
    if target is np.reshape and len(kinds) == 2:
        return reshaped(kinds[0], kinds[1:])
    if target is np.squeeze and any(isinstance(k, Array) and (k.dims is None or None in k.dims) for k in kinds):
        return Array(None, None)
    if catalogue.of(target).keeps_kind and len(kinds) == 1:
        return kinds[0]
    if target in (runtime.zeros, runtime.own) and isinstance(kinds[0], Container) and kinds[0].items is None:
        return kinds[0]
    if target is dict and len(kinds) == 1 and not names and isinstance(kinds[0], Container) and kinds[0].type is dict:
        return Container(dict, None, None, kinds[0].element())
    if target is len and isinstance(kinds[0], Array) and kinds[0].dims:
        return sized(kinds[0].dims[0])
    if target in _RESULTS:
        return _RESULTS[target]
    if target is runtime.as_dict and isinstance(kinds[0], Container) and kinds[0].keys is not None:
        return Container(dict, kinds[0].items, kinds[0].keys)
    if target is runtime.with_fields:
        return _with_fields(*kinds)
    if target in (max, min) and len(kinds) > 1:
        out: Kind | None = None
        for kind in kinds:
            out = join(out, Number(kind.type) if isinstance(kind, Number) else kind)
        return out or UNKNOWN

    if target in (np.matmul, np.dot) and len(kinds) == 2 and not names:
        return memo(target, kinds, lambda: sampled_shapes.matmul(target, kinds))

    def run(*values: Any) -> Any:
        cut = len(values) - len(names)
        return target(*values[:cut], **dict(zip(names, values[cut:], strict=True)))

    rule = table.lookup(target)
    if rule is not None and rule.tag == "elementwise" and not names:
        return memo(target, kinds, lambda: sampled_shapes.elementwise(run, kinds))
    known = sizes_known(kinds)
    found = memo((target, tuple(names)), kinds, lambda: sampled_shapes.by_example(run, kinds, known))
    if not known and target in _SHAPED and kinds and isinstance(found, Array):
        return Array(found.dtype, _lengths(kinds[0]) or found.dims)
    return found


def _with_fields(record: Kind, names: Kind, *values: Kind) -> Kind:
    """The kind of a named tuple some of whose fields are replaced."""
    if not isinstance(record, Container) or record.items is None or record.keys is None or not isinstance(names, Container):
        return UNKNOWN
    given = dict(zip((n.value for n in names.items or ()), values, strict=False))
    items = (given.get(key, item) for key, item in zip(record.keys, record.items, strict=True))
    return Container(tuple, tuple(items), record.keys)


def _lengths(shape: Kind) -> tuple[Dim, ...] | None:
    """The axes of a shape of which some are known: `(n, 2)`."""
    if not isinstance(shape, Container) or shape.items is None or not all(isinstance(i, Number) for i in shape.items):
        return None
    return tuple(i.value if type(i.value) is int else i.size for i in shape.items)


def sized(dim: Dim) -> Kind:
    return constant_kind(dim) if isinstance(dim, int) else Number(int, size=dim)


def sizes_known(kinds: list[Kind]) -> bool:
    """Whether no unknown integer decides the shape of a result."""
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
    parts: list[Kind] | None = shape
    if len(shape) == 1 and isinstance(shape[0], Container):
        parts = None if shape[0].items is None else list(shape[0].items)
    dtype = owner.dtype if isinstance(owner, Array) else None
    if parts is None or not all(isinstance(p, Number) for p in parts):
        return Array(dtype, None)
    return Array(dtype, tuple(p.value if p.known and p.value >= 0 else None for p in parts))


def item_of(kind: Kind | None, k: int, n: int) -> Kind | None:
    if kind is None:
        return None
    if isinstance(kind, Container) and kind.items is not None and len(kind.items) == n:
        return kind.items[k]
    if isinstance(kind, Array) and kind.dims:
        return sampled_shapes.by_example(lambda x: x[0], [kind])
    return UNKNOWN


def object_kind(value: Any) -> Kind:
    if isinstance(value, (float, int, complex, np.generic, np.ndarray)) or attributes_of(value) is not None:
        (kind,) = kinds_of([value])
        return _unnumbered(kind)
    plain = callable(value) or value is None or isinstance(value, (str, np.dtype, types.ModuleType))
    if plain:
        return Known(value)
    trust = trust_of_object(value)
    return {Trust.DRAWING: DRAWING, Trust.ANY: OPAQUE}.get(trust, UNKNOWN)


def _unnumbered(kind: Kind) -> Kind:
    """The sizes of a global array are not among the arguments' sizes."""
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, tuple(d if isinstance(d, int) else None for d in kind.dims))
    if isinstance(kind, (Container, Instance)) and kind.items is not None:
        return replace(kind, items=tuple(map(_unnumbered, kind.items)))
    return kind


def memo(key: Any, kinds: list[Kind], compute: Callable[[], Kind]) -> Kind:
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
