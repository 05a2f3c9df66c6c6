"""The kinds of the results of library calls: from a table by object, otherwise by example.

    len(x)                       an integer, the length of x
    np.reshape(x, (n, 2))        Array(dtype of x, (None, 2))
    np.zeros(n), n = len(x)      Array('float64', (Size(0),)), by an example

A function in the table takes the kinds of the arguments and the names of the last of them, which are keywords; it returns
None where an example knows at least as much.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import sampled_shapes
from s2sgrad.analysis.broadcasting import broadcast
from s2sgrad.analysis.complex_kinds import of_any_type
from s2sgrad.analysis.container_items import item_of_container
from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Array,
    Container,
    Foreign,
    Kind,
    Number,
    Numeric,
    Set,
    Text,
    all_are,
    argument,
    is_double,
    is_numeric,
    join,
    operand,
)
from s2sgrad.analysis.kinds import Known as KnownObject
from s2sgrad.analysis.number_types import is_complex
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.results import as_lists, memo, reshaped, sized, sizes_known, viewed
from s2sgrad.analysis.shadow_kinds import of_shadow
from s2sgrad.analysis.sizes import Dim, may_be_squeezed
from s2sgrad.primitives import catalogue
from s2sgrad.rules import table
from s2sgrad.rules.builtin_functions import arranged, order_of, spread, unarranged
from s2sgrad.runtime import item_slots, shadows
from s2sgrad.runtime.copies import copied, copied_as_laid
from s2sgrad.runtime.given import fitted
from s2sgrad.runtime.structure import lacking, moved

Known = Callable[[list[Kind], list[str]], Kind | None]

SHAPED = (np.zeros, np.ones, np.empty, np.full, np.ndarray)
_TABLE: dict[int, tuple[Any, Known]] = {}  # by the identity of the function


def _of(*functions: Any) -> Callable[[Known], Known]:
    def register(known: Known) -> Known:
        _TABLE.update({id(function): (function, known) for function in functions})
        return known

    return register


def _always(kind: Kind, *functions: Any) -> None:
    _of(*functions)(lambda kinds, names: kind)


def taken(target: Any, kinds: list[Kind]) -> list[Kind]:
    """The kinds of the arguments, as far as a library function tells None from a number: one that is elementwise takes no
    None."""
    if is_user_function(target):
        return kinds
    rule = table.given(target)
    return [operand(k) if rule is not None and rule.tag == "elementwise" else argument(k) for k in kinds]


def exact(target: Any, kinds: list[Kind], names: list[str]) -> Kind | None:
    """The kind of a result as derived from the kinds of the arguments; None where an example must tell."""
    own = table.given(target)
    if own is not None and own.tag == "elementwise" and all(isinstance(k, (Number, Array)) for k in kinds):
        dims = broadcast(kinds)
        return Number(None) if dims == () else UNKNOWN if dims is None else Array(None, dims)
    if table.has_own_operators(target):
        return Foreign()
    _, known = _TABLE.get(id(target), (None, None))
    return None if known is None else known(kinds, names)


def by_example(target: Any, kinds: list[Kind], names: list[str]) -> Kind:
    """The kind of a pure function's result, from running it on sample values of these kinds; memoized."""
    if table.has_sizes_of_its_own(target):
        return UNKNOWN
    if catalogue.of(target).keeps_kind and len(kinds) == 1:
        return kinds[0]

    def run(*values: Any) -> Any:
        cut = len(values) - len(names)
        return target(*values[:cut], **dict(zip(names, values[cut:], strict=True)))

    rule = table.lookup(target)
    if rule is not None and rule.may_turn_complex and not any(map(is_complex, kinds)):
        return of_any_type(memo((target, tuple(names)), kinds, lambda: sampled_shapes.by_example(run, kinds)))
    if rule is not None and rule.tag == "elementwise" and not names:
        return memo(target, kinds, lambda: sampled_shapes.elementwise(run, kinds))
    known = sizes_known(kinds)
    found = memo((target, tuple(names)), kinds, lambda: sampled_shapes.by_example(run, kinds, known))
    if not known and target in SHAPED and kinds and isinstance(found, Array):
        return Array(found.dtype, _lengths(kinds[0]) or found.dims)
    return found


def _lengths(shape: Kind) -> tuple[Dim, ...] | None:
    """The axes of a shape that is known in part: `(n, 2)`."""
    if not isinstance(shape, Container) or shape.items is None or not all_are(shape.items, Number):
        return None
    return tuple(i.value if type(i.value) is int else i.size for i in shape.items)


# --- numbers, strings, containers ---


_of(np.ndarray.view)(lambda kinds, names: viewed(kinds[0], kinds[1:]) if len(kinds) > 1 else None)
_of(np.full_like)(lambda kinds, names: kinds[0] if len(kinds) == 2 and not names and isinstance(kinds[0], Array) else None)
_of(np.real_if_close)(lambda kinds, names: of_any_type(kinds[0]) if is_complex(kinds[0]) else None)

_always(
    Number(int),
    int,
    runtime.raised,
)
_always(Number(bool), bool, isinstance)
_always(Number(float), float)
_always(Number(None), item_slots.slot, runtime.as_number)
_always(Text(), str)
_always(Set(), set)
_always(Container(range, None, None, Number(int)), range)
_of(np.ndarray.tolist)(lambda kinds, names: as_lists(kinds[0]))


@_of(len)
def _len(kinds: list[Kind], names: list[str]) -> Kind | None:
    return sized(kinds[0].dims[0]) if isinstance(kinds[0], Array) and kinds[0].dims else Number(int)


@_of(list, sorted)
def _listed(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The integers of a range, the items of a list or tuple; None for anything else, which needs an example."""
    (owner,) = kinds if len(kinds) == 1 and not names else (None,)
    if owner == UNKNOWN:
        return Container(list, None, None, UNKNOWN)
    if not isinstance(owner, Container) or owner.type not in (range, list, tuple):
        return None
    numbers = owner.type is range
    return Container(list, None if numbers else owner.items, None, Number(int) if numbers else owner.item)


@_of(max, min)
def _extreme(kinds: list[Kind], names: list[str]) -> Kind | None:
    """With several arguments, the join of their kinds."""
    if len(kinds) < 2:
        return None
    out: Kind | None = None
    for kind in kinds:
        out = join(out, replace(kind, known=False, value=None, size=None) if isinstance(kind, Number) else kind)
    return out or UNKNOWN


@_of(dict)
def _dict(kinds: list[Kind], names: list[str]) -> Kind | None:
    copied = len(kinds) == 1 and not names and isinstance(kinds[0], Container) and kinds[0].type is dict
    return kinds[0] if copied else None


@_of(sorted)
def _sorted(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The items of a container in unknown order."""
    owner = kinds[0] if kinds else None
    if not isinstance(owner, Container) or owner.type not in (list, tuple):
        return None
    item = owner.element()
    if owner.items is None or item is None:
        return Container(list, owner.items, None, item)
    return Container(list, (item,) * len(owner.items))


@_of(copy.copy, copy.deepcopy, runtime.add_at, runtime.put_back, shadows.add_into, shadows.refilled)
def _same(kinds: list[Kind], names: list[str]) -> Kind | None:
    return kinds[0] if kinds else None


# --- our runtime ---


@_of(
    shadows.shadow,
    shadows.cell,
    shadows.shadow_of_argument,
    shadows.each_once,
    shadows.shadow_of,
    shadows.tangent_of,
    shadows.of_copies,
    shadows.unless_shared,
)
def _like_first(kinds: list[Kind], names: list[str]) -> Kind | None:
    return of_shadow(kinds[0])


@_of(shadows.laid_like, shadows.put)
def _like_last(kinds: list[Kind], names: list[str]) -> Kind | None:
    return of_shadow(kinds[-1])


@_of(item_slots.slots)
def _slots(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A container with None for each item that is not a number."""
    owner = kinds[0]
    if not isinstance(owner, Container):
        return None
    items = None if owner.items is None else tuple(_slot(k) for k in owner.items)
    return Container(owner.type, items, owner.keys, None if owner.item is None else _slot(owner.item))


_always(Container(list, None), item_slots.at_section, runtime.keys)
_always(UNKNOWN, item_slots.at_item)


@_of(item_slots.cell_at)
def _shadow_of_item(kinds: list[Kind], names: list[str]) -> Kind | None:
    """That of an item, or an array in the place of a number."""
    held = item_of_container(kinds[0], kinds[1]) if isinstance(kinds[0], Container) else UNKNOWN
    return Array("float64" if is_double(held) else None, None) if isinstance(held, (Number, Numeric)) else held


def _slot(kind: Kind) -> Kind:
    return kind if isinstance(kind, Number) else KnownObject(None) if isinstance(kind, (Array, Container)) else UNKNOWN


@_of(runtime.unbroadcast)
def _unbroadcast(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A number or an array as the second argument is, where it may be either; else an example tells."""
    loose = len(kinds) == 2 and isinstance(kinds[1], Numeric) and is_numeric(kinds[0])
    return join(kinds[0], kinds[1]) if loose else None


@_of(runtime.unset)
def _unset(kinds: list[Kind], names: list[str]) -> Kind | None:
    known = isinstance(kinds[0], Number) and kinds[0].known
    return Array("float64", (0,) * kinds[0].value) if known else None


@_of(shadows.apart)
def _apart(kinds: list[Kind], names: list[str]) -> Kind | None:
    return Number(bool) if isinstance(kinds[0], Array) else None


@_of(runtime.sequence)
def _sequence(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The iterable of a loop; for a dict, its keys."""
    listed = isinstance(kinds[0], Container) and kinds[0].type is dict
    return Container(list, None) if listed else kinds[0]


@_of(runtime.zeros, runtime.own, copied, copied_as_laid)
def _structure(kinds: list[Kind], names: list[str]) -> Kind | None:
    return kinds[0] if isinstance(kinds[0], Container) and kinds[0].items is None else None


@_of(runtime.reads_only)
def _checked(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The checked function itself, whose kind may be known."""
    return kinds[0]


@_of(order_of)
def _order(kinds: list[Kind], names: list[str]) -> Kind | None:
    owner = kinds[0]
    count = len(owner.items) if isinstance(owner, Container) and owner.items is not None else None
    return Container(list, None, None, Number(int)) if count is None else Container(list, (Number(int),) * count)


@_of(lacking, moved, arranged)
def _rearranged(kinds: list[Kind], names: list[str]) -> Kind | None:
    owner = kinds[0]
    return Container(owner.type, None, None, owner.element()) if isinstance(owner, Container) else None


@_of(unarranged)
def _unarranged(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A cotangent of the items, in a container like the original list, tuple or array."""
    bars, owner, _ = kinds
    if isinstance(owner, Container) and isinstance(bars, Container):
        return Container(owner.type, None, None, bars.element())
    return None


@_of(spread)
def _spread(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The cotangent of a sum, for each item."""
    bar, items = kinds
    if isinstance(items, Container) and isinstance(bar, Number):
        return Container(items.type, None, None, Number(None))
    return None


@_of(fitted)
def _fitted(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A cotangent that a user's rule returned, fitted to the second argument."""
    x = kinds[1]
    return Number(None) if isinstance(x, Number) else Array(None, x.dims) if isinstance(x, Array) else UNKNOWN


@_of(runtime.as_dict)
def _as_dict(kinds: list[Kind], names: list[str]) -> Kind | None:
    held = kinds[0]
    return Container(dict, held.items, held.keys) if isinstance(held, Container) and held.keys is not None else None


@_of(runtime.with_fields)
def _with_fields(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A named tuple with some fields replaced."""
    record, fields, *values = kinds
    if not isinstance(record, Container) or record.items is None or record.keys is None or not isinstance(fields, Container):
        return UNKNOWN
    given = dict(zip((n.value for n in fields.items or ()), values, strict=False))
    items = (given.get(key, item) for key, item in zip(record.keys, record.items, strict=True))
    return Container(tuple, tuple(items), record.keys)


# --- NumPy ---


@_of(np.reshape)
def _reshape(kinds: list[Kind], names: list[str]) -> Kind | None:
    return reshaped(kinds[0], kinds[1:]) if len(kinds) == 2 else None


@_of(np.squeeze)
def _squeeze(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The rank is unknown if an axis of unknown length may be squeezed."""
    unknown = any(isinstance(k, Array) and may_be_squeezed(k.dims) for k in kinds)
    return Array(getattr(kinds[0], "dtype", None), None) if unknown else None


@_of(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
def _split(kinds: list[Kind], names: list[str]) -> Kind | None:
    """A list of arrays with one axis shortened."""
    whole, parts = kinds[0], kinds[1] if len(kinds) > 1 else None
    if not isinstance(whole, Array) or not whole.rank:
        return None
    part = Array(whole.dtype, (None,) * whole.rank)
    if isinstance(parts, Number) and isinstance(parts.value, int):
        return Container(list, (part,) * parts.value)
    return Container(list, None, None, part)


def _positions(function: Any) -> None:
    @_of(function)
    def _of_mask(kinds: list[Kind], names: list[str]) -> Kind | None:
        """As of a mask, of which the two samples select different numbers of elements."""
        if len(kinds) == 1 and isinstance(kinds[0], Array):
            return by_example(function, [Array("bool", kinds[0].dims)], names)
        return None


for _function in (np.nonzero, np.flatnonzero, np.argwhere):
    _positions(_function)


@_of(np.where)
def _where(kinds: list[Kind], names: list[str]) -> Kind | None:
    """Without alternatives it is no elementwise function, but `np.nonzero`."""
    if len(kinds) == 1 and isinstance(kinds[0], Array):
        return by_example(np.nonzero, [Array("bool", kinds[0].dims)], [])
    return UNKNOWN if len(kinds) == 1 else None


@_of(np.roll)
def _roll(kinds: list[Kind], names: list[str]) -> Kind | None:
    """As the array, however far its elements move."""
    moved = kinds[0] if kinds and "a" not in names else None
    return moved if isinstance(moved, Array) and moved.rank else None


@_of(np.tensordot)
def _tensordot(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The axes of both but for a known number of the last ones and the first ones, which may have unknown sizes."""
    if len(kinds) != 3 or names not in ([], ["axes"]):
        return None
    a, b, axes = kinds
    count = axes.value if isinstance(axes, Number) and axes.known else None
    if not isinstance(a, Array) or not isinstance(b, Array) or type(count) is not int or None in (a.dtype, b.dtype):
        return None
    if a.dims is None or b.dims is None or not 0 < count <= min(len(a.dims), len(b.dims)):
        return None
    dims = (*a.dims[: len(a.dims) - count], *b.dims[count:])
    return Array(str(np.result_type(a.dtype, b.dtype)), dims) if dims else None


@_of(np.take)
def _take(kinds: list[Kind], names: list[str]) -> Kind | None:
    """The axes of the index replace one axis, or all."""
    if not set(names) <= {"axis", "mode"} or len(kinds) - len(names) not in (2, 3):
        return None
    positional, named = kinds[: len(kinds) - len(names)], dict(zip(names, kinds[len(kinds) - len(names) :], strict=True))
    axis = positional[2] if len(positional) == 3 else named.get("axis")
    whole, index = (by_example(np.array, [kind], []) if isinstance(kind, Container) else kind for kind in kinds[:2])
    inner = index.dims if isinstance(index, Array) else () if isinstance(index, Number) else None
    if not isinstance(whole, Array) or whole.dtype is None or whole.dims is None or inner is None:
        found = by_example(np.take, kinds, names)
        return Numeric("float64") if found is UNKNOWN and getattr(whole, "dtype", None) == "float64" else found
    if axis is None or axis == KnownObject(None):
        dims = inner
    elif isinstance(axis, Number) and type(axis.value) is int and -len(whole.dims) <= axis.value < len(whole.dims):
        place = axis.value % len(whole.dims)
        dims = whole.dims[:place] + inner + whole.dims[place + 1 :]
    else:
        return None
    return Array(whole.dtype, dims) if dims else Number(np.dtype(whole.dtype).type)


for _product in (np.matmul, np.dot):

    @_of(_product)
    def _multiplied(kinds: list[Kind], names: list[str], function: Any = _product) -> Kind | None:
        two = len(kinds) == 2 and not names
        return memo(function, kinds, lambda: sampled_shapes.matmul(function, kinds)) if two else None
