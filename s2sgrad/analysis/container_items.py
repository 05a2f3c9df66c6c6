"""The kinds of items: of a list, tuple or dict by index, and of a container after a store.

>>> from s2sgrad.analysis.kinds import Number
>>> row = Container(tuple, (Number(int), Number(float)))
>>> item_of_container(row, Number(int, True, 1))
Number(float, False, None)
>>> item_of_container(row, Number(int)) == row.element()
True
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind, Known, Number, join


class Slice(Kind):
    """The kind of a slice `a:b:c`: the kinds of its parts."""

    def __init__(self, parts: tuple[Kind, ...]) -> None:
        self.parts = parts


def item_of_container(owner: Container, index: Kind) -> Kind | None:
    """The kind of an item or a slice of a list, tuple, dict or range; None where it is not known yet."""
    if owner.items is None:
        scalar = isinstance(index, Number) or owner.type is dict
        return owner.element() if scalar else Container(owner.type, None, None, owner.item)
    if isinstance(index, Slice):
        return owner.element() if owner.type is dict else _section(owner, index)
    if isinstance(index, Number) and index.known:
        return _item_at(owner, index.value)
    if isinstance(index, Known) and owner.keys is not None and index.value in owner.keys:
        return owner.items[owner.keys.index(index.value)]
    return owner.element() if owner.type is dict or (isinstance(index, Number) and owner.keys is None) else UNKNOWN


def _item_at(owner: Container, index: int) -> Kind | None:
    """The kind of the item at a constant index or key."""
    place = owner.keys.index(index) if owner.keys and index in owner.keys else index
    if isinstance(place, int) and -len(owner.items) <= place < len(owner.items):
        return owner.items[place]
    return None if owner.type is list and not owner.items else UNKNOWN  # an empty list may grow in later rounds


def _section(owner: Container, index: Slice) -> Kind:
    """The kind of a slice of a list or tuple."""
    if owner.type in (list, tuple) and all(part.known for part in index.parts):
        return Container(owner.type, owner.items[slice(*(part.value for part in index.parts))])
    return Container(owner.type, None, None, owner.element())


def stored_kind(owner: Container, index: gast.AST, kind: Kind) -> Container:
    """The kind of a list or dict after a store into it."""
    if isinstance(index, gast.Slice):
        kind = kind.element() if isinstance(kind, Container) else UNKNOWN
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
