"""The kinds of items: of a list, tuple or dict by index, and of a container after a store.

>>> from s2sgrad.analysis.kinds import Number
>>> row = Container(tuple, (Number(int), Number(float)))
>>> item_of_container(row, Number(int, True, 1))
Number(float, False, None)
>>> item_of_container(row, Number(int)) == row.element()
True
>>> print(item_of_container(Container(dict, (Number(int),), ("a",)), Known("b")))
None
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, join
from s2sgrad.ir.unit import Unit


class Slice(Kind):
    """The kind of a slice `a:b:c`: the kinds of its parts."""

    def __init__(self, parts: tuple[Kind, ...]) -> None:
        self.parts = parts


def item_of_container(owner: Container, index: Kind) -> Kind | None:
    """The kind of an item or a slice of a list, tuple, dict or range; None where it is not known yet."""
    if owner.items is None:
        return _of_any_length(owner, index)
    if isinstance(index, Slice):
        return owner.element() if owner.type is dict else _section(owner, index)
    known = isinstance(index, Known) or (isinstance(index, Number) and index.known)
    if owner.type is dict and owner.keys is not None and known:  # it may get the key in later rounds
        return owner.items[owner.keys.index(index.value)] if index.value in owner.keys else None  # a slice has no hash
    if isinstance(index, Number) and index.known:
        return _item_at(owner, index.value)
    if isinstance(index, Known) and owner.keys is not None and index.value in owner.keys:
        return owner.items[owner.keys.index(index.value)]
    return owner.element() if owner.type is dict or (isinstance(index, Number) and owner.keys is None) else UNKNOWN


def _of_any_length(owner: Container, index: Kind) -> Kind | None:
    """The kind of an item or a slice of a container of unknown length; an index of unknown kind may give either."""
    if owner.type is dict or isinstance(index, Number):
        return owner.element()
    return Container(owner.type, None, None, owner.item) if isinstance(index, Slice) else UNKNOWN


def _item_at(owner: Container, index: int) -> Kind | None:
    """The kind of the item at a constant index."""
    place, items = owner.keys.index(index) if owner.keys and index in owner.keys else index, owner.items or ()
    if isinstance(place, int) and -len(items) <= place < len(items):
        return items[place]
    return None if owner.type is list and not owner.items else UNKNOWN  # an empty list may grow in later rounds


def _section(owner: Container, index: Slice) -> Kind:
    """The kind of a slice of a list or tuple."""
    if owner.type in (list, tuple) and owner.items is not None and all(part.known for part in index.parts):
        return Container(owner.type, owner.items[slice(*(part.value for part in index.parts))])
    return Container(owner.type, None, None, owner.element())


def stored_kind(owner: Container, index: gast.AST, kind: Kind) -> Container:
    """The kind of a list or dict after a store into it."""
    if isinstance(index, gast.Slice):
        kind = kind.element() or UNKNOWN if isinstance(kind, Container) else UNKNOWN
    place = getattr(index, "value", None)
    if owner.type is list and isinstance(place, int) and place < 0:
        place += len(owner.items or ())
    if owner.type is list and owner.items is not None and isinstance(place, int) and 0 <= place < len(owner.items):
        return Container(list, (*owner.items[:place], join(owner.items[place], kind), *owner.items[place + 1 :]))
    if owner.type is dict and owner.items is not None and isinstance(index, gast.Constant):
        held = dict(zip(owner.keys or (), owner.items, strict=True))
        held[place] = join(held.get(place), kind) or kind
        return Container(dict, tuple(held.values()), tuple(held))
    return Container(owner.type, None, None, join(owner.element() if owner.items != () else None, kind))


def may_be_one(a: Kind | None, b: Kind | None, empty: bool) -> TypeGuard[Container]:
    """Whether a list or dict of one kind may be one of the other; `empty`: even one without items.

    >>> row, rows = Container(list, None, None, Number(float)), Container(list, (Container(list, None),))
    >>> may_be_one(row, rows, empty=False), may_be_one(row, rows, empty=True), may_be_one(row, Container(tuple, None), True)
    (False, True, False)
    """
    if not isinstance(a, Container) or not isinstance(b, Container) or a.type is not b.type:
        return False
    if empty:
        return True
    if a.items is None or b.items is None or a.keys != b.keys:
        return _may_be_equal(a.element(), b.element())
    return all(map(_may_be_equal, a.items, b.items))


def _may_be_equal(a: Kind | None, b: Kind | None) -> bool:
    """Whether a value may be of two kinds: a container is no number and no array."""
    if isinstance(a, Container) and isinstance(b, Container):
        return a.type is b.type
    return not ({type(a), type(b)} < {Container, Array, Number} and Container in (type(a), type(b)))


def with_grown_item(held: Kind | None, before: Kind, grown: Kind, empty: bool) -> Kind | None:
    """The kind of a container after any of its items may have become this list or dict."""
    if not isinstance(held, Container):
        return held
    if held.items is None:
        return replace(held, item=join(held.item, grown)) if may_be_one(held.item, before, empty) else held
    return replace(held, items=tuple(join(k, grown) if may_be_one(k, before, empty) else k for k in held.items))


def displayed_names(body: list[gast.AST]) -> set[str]:
    """The names that are bound to nothing but lists, tuples and dicts of names that the text writes out.

    >>> sorted(displayed_names(gast.parse("a = [x, y]; b = [[x]]; c = [x]; c = f(x); d, e = a, b").body))
    ['a']
    """
    displayed: set[str] = set()
    other: set[str] = set()
    for statement in effects.walk(body):
        if isinstance(statement, gast.Assign):
            whole = isinstance(statement.targets[0], gast.Name) and _is_display_of_names(statement.value)
            (displayed if whole else other).update(effects.targets(statement))
    return displayed - other


def _is_display_of_names(value: gast.AST) -> bool:
    if not isinstance(value, (gast.List, gast.Tuple, gast.Dict)):
        return False
    parts = value.values if isinstance(value, gast.Dict) else value.elts
    return all(isinstance(p, (gast.Name, gast.Constant)) for p in parts)


def require_followed(unit: Unit, node: gast.Call, target: Any, kinds: list[Kind]) -> None:
    """Raise Unsupported for a list or dict whose structure a call hides."""
    if target is sum and len(kinds) == 2 and isinstance(kinds[1], Container):
        unit.refuse(node, "the first value of this sum of lists cannot be followed: write `sum(xs, [])`")
    first = kinds[0] if kinds else None
    if target is dict and isinstance(first, Container) and first.type is not dict:
        unit.refuse(node, "the keys of this dict cannot be followed: write a dict comprehension")
