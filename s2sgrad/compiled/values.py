"""What an expression of a text is while it is lowered: a number, a view, or elements that are still to be computed.

t = x[1:] * 2.0      ->      Tree: `x[i + 1] * 2.0`, of extent `n0 - 1`, computed where it is stored
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

FLOAT, SINGLE, INT, BOOL = "float64", "float32", "int64", "bool"
FLOATS = (FLOAT, SINGLE)


class Unfit(Exception):
    """Why something is not lowered."""


class Follows(Unfit):
    """It is not lowered because something before it is not."""


@dataclass(frozen=True)
class Extent:
    """The length of an axis, or an integer: a name that is bound once, plus an offset.

    >>> str(Extent("n", -2)), str(Extent(None, 3))
    ('n - 2', '3')
    """

    base: str | None
    offset: int = 0

    def __str__(self) -> str:
        if self.base is None:
            return str(self.offset)
        if not self.offset:
            return self.base
        return f"{self.base} {'-' if self.offset < 0 else '+'} {abs(self.offset)}"

    def plus(self, more: int) -> Extent:
        """The extent that is larger by an integer."""
        return Extent(self.base, self.offset + more)


ONE = Extent(None, 1)
Extents = tuple[Extent, ...]


@dataclass(frozen=True)
class Scalar:
    """A number: its text, and what the text reads.

    `python`: it may be a number of Python's, by which division raises.  `weak`: it is one, and takes the type of the float32
    that it meets.  `own`: what says at run time whether it is one, where that differs.  Where it is weak and none, it is a
    float32, held as a float64.  `is_array`: it is an array without axes, which is a number as soon as something is computed
    of it; None where it may be one.  `whole`: what says at run time whether a float stands for an integer,
    if that differs.
    """

    text: str
    dtype: str
    python: bool = False
    reads: frozenset[str] = frozenset()
    affine: Extent | None = None
    weak: bool = False
    is_array: bool | None = False
    own: str = ""
    whole: str = ""

    extents: Extents = ()

    @property
    def rank(self) -> int:
        """The number of axes."""
        return 0


@dataclass(frozen=True)
class Index:
    """A place along an axis of memory: a position, plus a multiple of the index of an axis of the view, if any."""

    axis: int | None
    start: str
    stride: int = 1

    def text(self, indices: list[str]) -> str:
        """The place for these indices of the view.

        >>> Index(0, "2").text(["i"]), Index(0, "n - 1", -1).text(["i"]), Index(0, "1", 2).text(["0"])
        ('i + 2', 'n - 1 - i', '1')
        """
        return self.start if self.axis is None else self._at(indices[self.axis])

    def _at(self, index: str) -> str:
        if index == "0":
            return self.start
        index = index if index.replace("_", "a").isalnum() else f"({index})"
        step = index if abs(self.stride) == 1 else f"{abs(self.stride)} * {index}"
        if self.stride < 0:
            return f"{self.start} - {step}"
        return (
            step if self.start == "0" else f"{step} + {self.start}" if self.start.isalnum() else f"{step} + ({self.start})"
        )

    def then(self, place: Index) -> Index:
        """The place for a view of the view, in whose axis it follows `place`.

        >>> Index(0, "1").then(Index(1, "2", 3)), Index(0, "n - 1", -1).then(Index(None, "k"))
        (Index(axis=1, start='2 + 1', stride=3), Index(axis=None, start='n - 1 - k', stride=1))
        """
        return Index(place.axis, self._at(place.start), self.stride * place.stride if place.axis is not None else 1)


@dataclass(frozen=True)
class Leaf:
    """A view of the memory under a name, whose own extents are `memory`."""

    root: str
    places: tuple[Index, ...]
    extents: Extents
    dtype: str
    memory: Extents

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def reads(self) -> frozenset[str]:
        """The memory that is read."""
        return frozenset((self.root,))

    def at(self, indices: list[str]) -> str:
        """The element at these indices; those of axes of length 1 are 0.  What has no places is a number."""
        indices = ["0" if e == ONE else i for i, e in zip(indices, self.extents, strict=True)]
        return f"{self.root}[{', '.join(place.text(indices) for place in self.places)}]" if self.places else self.root

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the memory, in its order."""
        return self.row == ()

    @property
    def row(self) -> tuple[str, ...] | None:
        """The indices of which it is the row: one that lies in memory in order; None if it is none."""
        lead = len(self.places) - self.rank
        rest = tuple(Index(k, "0") for k in range(self.rank))
        if lead < 0 or self.places[lead:] != rest or self.extents != self.memory[lead:]:
            return None
        return tuple(p.start for p in self.places[:lead]) if all(p.axis is None for p in self.places[:lead]) else None

    @property
    def in_order(self) -> str | None:
        """The text of what lies in memory in order."""
        return None if self.row is None else f"{self.root}[{', '.join(self.row)}]" if self.row else self.root

    def over(self, axes: tuple[int | None, ...], extents: Extents) -> Leaf:
        """The same memory over other axes: by each axis of this view, that of the new one."""
        places = tuple(p if p.axis is None else Index(axes[p.axis], p.start, p.stride) for p in self.places)
        return Leaf(self.root, places, extents, self.dtype, self.memory)


def whole(root: str, extents: Extents, dtype: str) -> Leaf:
    """The array under a name."""
    return Leaf(root, tuple(Index(k, "0") for k in range(len(extents))), extents, dtype, extents)


@dataclass(frozen=True)
class Tree:
    """Elements that are computed where they are needed: `write` makes the text from those of the operands."""

    write: Callable[..., str]
    operands: tuple[Any, ...]
    extents: Extents
    dtype: str
    places: Callable[[list[str]], list[str]] | None = None  # the indices of the operands, where they are others

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def reads(self) -> frozenset[str]:
        """The memory and the names that are read."""
        return frozenset().union(*(o.reads for o in self.operands))

    def at(self, indices: list[str]) -> str:
        """The element at these indices."""
        indices = ["0" if e == ONE else i for i, e in zip(indices, self.extents, strict=True)]
        if self.places is not None:
            indices = self.places(indices)
        return self.write(*(element(o, indices) for o in self.operands))


def unchanged(text: str) -> str:
    """What writes the elements of a copy."""
    return text


class Places:
    """Elements that follow from their indices alone."""

    reads: frozenset[str] = frozenset()

    def __init__(self, write: Callable[..., str], extents: Extents, dtype: str) -> None:
        self.write, self.extents, self.dtype, self.rank = write, extents, dtype, len(extents)

    def at(self, indices: list[str]) -> str:
        """The element at these indices."""
        return self.write(*indices)


@dataclass(frozen=True)
class Gather:
    """Rows at the places that an array of integers says."""

    root: Leaf
    index: Any
    extents: Extents
    dtype: str

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def reads(self) -> frozenset[str]:
        """The memory that is read."""
        return self.root.reads.union(self.index.reads)

    def at(self, indices: list[str]) -> str:
        """The element at these indices."""
        place = element(self.index, indices[:1])
        return self.root.at([f"at({place}, {self.root.extents[0]})", *indices[1:]])


def element(value: Any, indices: list[str]) -> str:
    """The text of an operand's element, whose axes are the last ones of the indices."""
    if isinstance(value, Scalar):
        return value.text
    text: str = value.at(indices[len(indices) - value.rank :])
    return text


@dataclass(frozen=True)
class Loose:
    """What is a number at times, and an array at others.

    `value`: an array whose axes all have length 1 where it is a number.  `scales`: by axis, the name of an integer that is
    0 where the axis has length 1, and else 1.
    """

    value: Any
    scales: tuple[str, ...]

    @property
    def rank(self) -> int:
        """The number of axes of the array."""
        return len(self.scales)

    @property
    def dtype(self) -> str:
        """The type of its elements."""
        dtype: str = self.value.dtype
        return dtype

    @property
    def extents(self) -> Extents:
        """There are none that stay the same."""
        raise Unfit("the sizes of what may be a number or an array")

    @property
    def reads(self) -> frozenset[str]:
        """The memory that is read."""
        reads: frozenset[str] = self.value.reads
        return reads


@dataclass(frozen=True)
class Items:
    """A tuple, a list of fixed length, or a dict of fixed keys."""

    items: tuple[Any, ...]
    type: type = tuple
    keys: tuple[str, ...] = ()

    def of(self, items: Iterable[Any]) -> Items:
        """Other items in such a container.

        >>> Items((1, 2), dict, ("a", "b")).of([3, 4])
        Items(items=(3, 4), type=<class 'dict'>, keys=('a', 'b'))
        """
        return Items(tuple(items), self.type, self.keys)

    def place(self, key: Any) -> int:
        """The place of a key of a dict."""
        if not isinstance(key, Object) or key.value not in self.keys:
            raise Unfit("a key that is not known, or that there is not")
        return self.keys.index(key.value)

    def is_like(self, other: Any) -> bool:
        """Whether another container has as many items, and the same keys in the same order."""
        own = len(self.items), self.type, self.keys
        return isinstance(other, Items) and own == (len(other.items), other.type, other.keys)

    @property
    def reads(self) -> frozenset[str]:
        """What its items read."""
        return frozenset().union(*(i.reads for i in self.items))


@dataclass(frozen=True)
class Object:
    """An object that is known: None, a function, a type, a slice of `parts`."""

    value: Any
    reads: frozenset[str] = frozenset()


@dataclass(eq=False)
class Stack:
    """A list that grows: `item` says what all that is pushed has in common.

    `sorts`: where that has several types, one list for each of them.
    """

    name: str
    item: Any = None
    reads: frozenset[str] = frozenset()
    is_counted: bool = False  # whether its length is asked for
    sorts: list[Stack] = field(default_factory=list)
    which: str = ""  # the list that says which of them is next
    pops: int = 0


def leaves(value: Any) -> list[Leaf]:
    """The views that a value reads."""
    if isinstance(value, Leaf):
        return [value]
    if isinstance(value, Tree):
        return [leaf for o in value.operands for leaf in leaves(o)]
    return [*leaves(value.root), *leaves(value.index)] if isinstance(value, Gather) else []


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """The value with other parts: what a container holds, and what is a number at times, is changed in its place.

    >>> mapped(lambda part: whole("y", part.extents, part.dtype), Items((whole("x", (ONE,), FLOAT),))).items[0].root
    'y'
    """
    if isinstance(value, Items):
        return value.of(mapped(change, item) for item in value.items)
    if isinstance(value, Loose):
        return replace(value, value=mapped(change, value.value))
    return change(value)


def is_array(value: Any) -> bool:
    """Whether a value is an array, computed or not."""
    return isinstance(value, (Leaf, Tree, Gather))
