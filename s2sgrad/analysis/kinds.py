"""Kinds: the abstract values of type and shape inference.  Unknown is always correct; the generated text gets longer.

A kind is a number, an array (dtype, and the size of each axis as far as known), a container, a constant object, or unknown.
The size of an axis is an int if it is fixed, `Size(k, offset)` if it is the k-th size among the arguments plus an offset,
None if it is unknown.  Argument sizes are never 1 (an axis of size 1 is the int 1), so two sizes that are known not to be 1
must agree wherever NumPy broadcasts them.

>>> join(Number(int, True, 0), Number(float))
Number(None, False, None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, TypeVar, overload

import gast
import numpy as np

from s2sgrad.analysis.plain_classes import LONGEST
from s2sgrad.analysis.sizes import Dim


class Kind:
    """Base class of the lattice.  `rank` is None where it is unknown; `known` says that `value` is a constant of the
    text; `may_be_python`: the value may be a number of Python's, not of NumPy's."""

    rank: int | None = None
    known: bool = False
    value: Any = None
    may_be_python: bool = True


@dataclass(frozen=True)
class Number(Kind):
    """A Python or NumPy number; `type` is None after a join of types, all of which may still be `double`: Python's, or
    float64; `size`: the axis length that the number is known to be."""

    type: type | None
    known: bool = False
    value: Any = None
    size: Dim = None
    double: bool = False
    rank = 0

    @property
    def may_be_python(self) -> bool:  # type: ignore[override]
        """Whether the type is one of Python's, or unknown."""
        return self.type in (None, float, int, bool)

    def __repr__(self) -> str:
        return f"Number({getattr(self.type, '__name__', None)}, {self.known}, {self.value})"

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and (self.type, self.known, self.size) == (other.type, other.known, other.size)
            and self.double is other.double
            and repr(self.value) == repr(other.value)
        )

    def __hash__(self) -> int:
        return hash((self.type, self.known, self.size, repr(self.value)))


@dataclass(frozen=True)
class Array(Kind):
    """An array; `dtype` is None where it is unknown, `dims` is None where not even the rank is known."""

    dtype: str | None
    dims: tuple[Dim, ...] | None
    may_be_python = False

    @property
    def rank(self) -> int | None:  # type: ignore[override]
        """The number of axes; None where it is unknown."""
        return None if self.dims is None else len(self.dims)

    def __repr__(self) -> str:
        return f"Array({self.dtype!r}, {self.dims})"


@dataclass(frozen=True)
class Container(Kind):
    """A list, tuple, dict or range. `items` are the kinds of its elements in order (with `keys` for a dict), None if they
    are unknown. `item` is then the join of the kinds of the elements, as far as known.
    """

    type: type
    items: tuple[Kind, ...] | None
    keys: tuple[Any, ...] | None = None
    item: Kind | None = None

    def at(self, place: Any) -> Kind | None:
        """The kind of the element at an index or key, or of any element where that is unknown (None)."""
        if self.type is not dict and isinstance(place, int) and place < 0:
            place += len(self.items or ())
        places = self.keys or () if self.type is dict else tuple(range(len(self.items or ())))
        return self.items[places.index(place)] if self.items and place is not None and place in places else self.element()

    def element(self) -> Kind | None:
        """The join of the kinds of all elements: None if there are none, Unknown if nothing is known about them."""
        if self.items is None:
            return self.item or UNKNOWN
        out = None
        for kind in self.items:
            out = join(out, kind)
        return out


@dataclass(frozen=True)
class Instance(Kind):
    """A plain instance of a user's class; `items` are the kinds of its attributes `names`."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Kind, ...]


@dataclass(frozen=True, eq=False)
class Known(Kind):
    """A constant object: None, a string, a function, a module, a dtype."""

    value: Any
    known = True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known) or self.value is other.value:
            return isinstance(other, Known)
        return type(self.value) is type(other.value) in (str, slice) and self.value == other.value

    def __hash__(self) -> int:
        return hash(str(self.value)) if isinstance(self.value, (str, slice)) else id(self.value)


@dataclass(frozen=True)
class Text(Kind):
    """A string."""


@dataclass(frozen=True)
class Slicing(Kind):
    """A slice object."""


@dataclass(frozen=True)
class Plain(Kind):
    """A function without closure."""


@dataclass(frozen=True)
class Unknown(Kind):
    """Any value: the top of the lattice."""


@dataclass(frozen=True)
class Numeric(Unknown):
    """A number, an array of numbers, or None; `dtype`: "float64" if it is that or a Python number, None if it is unknown.

    >>> join(Number(int), Array("float64", (3,))), join(Known(None), Array("float32", (3,)))
    (Numeric(dtype='float64'), OrNone(dtype=None, one=Array('float32', (3,))))
    """

    dtype: str | None = None


@dataclass(frozen=True)
class OrNone(Numeric):
    """What `one` says, an array of floats or a number, or None."""

    one: Array | Number = Number(None)


@dataclass(frozen=True)
class Structured(Unknown):
    """A structured array, or a record of one; its fields are views of it."""


@dataclass(frozen=True)
class Set(Unknown):
    """A set; what is in it carries no derivative."""


@dataclass(frozen=True)
class Opaque(Unknown):
    """Any value, possibly an object with its own methods, so that the name of a method does not say what it does.
    Attributes, items and operators of a `quiet` one run no user code."""

    quiet: bool = False


@dataclass(frozen=True)
class Drawing(Opaque):
    """A random generator of NumPy or Python."""


@dataclass(frozen=True)
class Recorded(Unknown):
    """The record of a function that calls itself, which holds others like it; `or_none`: or None.

    Written out, its kind would be infinite: `of` names functions, each with the kinds of arguments (`Recursion`).
    """

    of: frozenset[Any]
    or_none: bool = False

    def kind(self) -> Kind:
        """The kind of the record, in which those within it are named again."""
        out: Kind | None = None
        for recursion in self.of:
            out = join(out, recursion.kind())
        return out or UNKNOWN


@dataclass(frozen=True)
class Pullback(Unknown):
    """A generated pullback or gradient, whose results are new memory."""


@dataclass(frozen=True)
class Assignable(Opaque):
    """An object whose value these methods replace: a Variable."""

    methods: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Foreign(Opaque):
    """An object with its own operators that is no number, array or container: a sparse matrix."""


_K = TypeVar("_K", bound=Kind)

UNKNOWN = Unknown()
OPAQUE, DRAWING, PULLBACK, STRUCTURED = Opaque(), Drawing(), Pullback(), Structured()


def all_are(kinds: Sequence[Kind], cls: type[_K]) -> TypeGuard[Sequence[_K]]:
    """Whether all kinds are of one class."""
    return all(isinstance(kind, cls) for kind in kinds)


def complete(kinds: Iterable[Kind | None]) -> list[Kind] | None:
    """The kinds; None while one of them is missing.

    >>> complete([Text(), Text()]), complete([Text(), None])
    ([Text(), Text()], None)
    """
    out: list[Kind] = []
    for kind in kinds:
        if kind is None:
            return None
        out.append(kind)
    return out


def is_numeric(kind: Kind | None) -> bool:
    """Whether a value is known to be a number or a numeric array, which holds no list or dict."""
    if isinstance(kind, Array):
        return (kind.dtype or "object") != "object"
    return isinstance(kind, Numeric) or type(kind) is Number


def is_double(kind: Kind) -> bool:
    """Whether a number, or the elements of an array, are of double precision, Python's integers included."""
    if isinstance(kind, Number):
        return kind.double or kind.type in (float, int, bool, np.float64)
    return isinstance(kind, (Array, Numeric)) and kind.dtype == "float64"


def kind_of(node: gast.AST | None, kinds: Mapping[str, Kind]) -> Kind | None:
    """The kind of a name; None for any other expression."""
    return kinds.get(node.id) if isinstance(node, gast.Name) else None


@overload
def join(a: Kind, b: Kind | None) -> Kind: ...
@overload
def join(a: Kind | None, b: Kind) -> Kind: ...
@overload
def join(a: Kind | None, b: Kind | None) -> Kind | None: ...
def join(a: Kind | None, b: Kind | None) -> Kind | None:
    """The least upper bound of two kinds; None is bottom.

    >>> join(Array("float64", (3, 2)), Array("float64", (3, 4))), join(Number(int), Number(float)), join(None, Text())
    (Array('float64', (3, None)), Number(None, False, None), Text())
    """
    if a is None or b is None or a == b:
        return a if b is None else b
    if type(a) is type(b) and type(a) in _JOINS:
        joined = _JOINS[type(a)](a, b)
        if joined is not None:
            return joined
    if {type(a), type(b)} & {OrNone, Recorded}:
        return _join_or_none(a, b)
    if is_numeric(a) and is_numeric(b):
        return _join_numeric(a, b)
    if is_none(a) or is_none(b):
        return _or_none(b if is_none(a) else a)
    if _is_text(a) and _is_text(b):
        return Text()
    return OPAQUE if any(isinstance(k, (Opaque, Instance)) for k in (a, b)) else UNKNOWN


def is_none(kind: Kind | None) -> bool:
    """Whether a value is None."""
    return isinstance(kind, Known) and kind.value is None


def _is_text(kind: Kind) -> bool:
    return isinstance(kind, Text) or (isinstance(kind, Known) and isinstance(kind.value, str))


def _or_none(kind: Kind) -> Kind:
    """The kind of a value or None."""
    if type(kind) is Number:
        kind = replace(kind, known=False, value=None)
    if type(kind) is Number or (isinstance(kind, Array) and (kind.dtype or "").startswith("float")):
        return OrNone("float64" if is_double(kind) else None, kind)
    if isinstance(kind, Numeric):
        return kind
    return OPAQUE if isinstance(kind, (Opaque, Instance)) else UNKNOWN


@overload
def operand(kind: Kind) -> Kind: ...
@overload
def operand(kind: Kind | None) -> Kind | None: ...
def operand(kind: Kind | None) -> Kind | None:
    """The kind of a value which an operator, an index or an update takes, as none of them takes None."""
    if isinstance(kind, Recorded):
        return Recorded(kind.of)
    return kind.one if isinstance(kind, OrNone) else kind


@overload
def argument(kind: Kind) -> Kind: ...
@overload
def argument(kind: Kind | None) -> Kind | None: ...
def argument(kind: Kind | None) -> Kind | None:
    """The kind of an index or of an argument, in which None may have a meaning of its own: nothing is known of an integer
    or None."""
    if not isinstance(kind, OrNone) or not isinstance(kind.one, Number):
        return kind
    return Numeric(kind.dtype) if kind.one.double or issubclass(kind.one.type or int, (float, np.floating)) else UNKNOWN


def _join_numeric(a: Kind, b: Kind) -> Kind:
    return Numeric("float64" if is_double(a) and is_double(b) else None)


def _join_numbers(a: Number, b: Number) -> Kind:
    type_, size = a.type if a.type is b.type else None, a.size if a.size == b.size else None
    return Number(type_, size=size, double=type_ is None and is_double(a) and is_double(b))


def _join_arrays(a: Array, b: Array) -> Kind:
    dims = None
    if a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims):
        dims = tuple(m if m == n else None for m, n in zip(a.dims, b.dims, strict=True))
    return Array(a.dtype if a.dtype == b.dtype else None, dims)


def _join_containers(a: Container, b: Container) -> Kind | None:
    """Join containers of one type: element by element if the lengths agree; dicts by the union of keys; else None."""
    if a.type is not b.type:
        return None
    if a.items is not None and b.items is not None:
        if a.type is dict and a.keys is not None and b.keys is not None:
            return _join_dicts(dict(zip(a.keys, a.items, strict=True)), dict(zip(b.keys, b.items, strict=True)))
        if len(a.items) == len(b.items) and a.keys == b.keys:
            return Container(a.type, _join_items(a.items, b.items), a.keys)
    return Container(a.type, None, None, join(a.element(), b.element()))


def _join_dicts(a: dict[Any, Kind], b: dict[Any, Kind]) -> Kind:
    both = {k: join(a.get(k), b.get(k)) or UNKNOWN for k in {**a, **b}}  # any of the keys may be missing
    return Container(dict, tuple(both.values()), tuple(both)) if len(both) <= LONGEST else Container(dict, None)


def _join_or_none(a: Kind, b: Kind) -> Kind:
    if isinstance(a, Recorded) or isinstance(b, Recorded):
        return _join_recorded(a, b)
    joined = join(*(None if is_none(k) else operand(k) for k in (a, b)))
    integers = isinstance(joined, Array) and not (joined.dtype or "").startswith("float")
    return Numeric() if integers and is_numeric(joined) else _or_none(joined or UNKNOWN)


def _join_recorded(a: Kind, b: Kind) -> Kind:
    if not all(isinstance(k, Recorded) or is_none(k) for k in (a, b)):
        return UNKNOWN
    named = [k for k in (a, b) if isinstance(k, Recorded)]
    return Recorded(frozenset().union(*(k.of for k in named)), len(named) == 1 or any(k.or_none for k in named))


def _join_instances(a: Instance, b: Instance) -> Kind | None:
    same = (a.cls, a.names) == (b.cls, b.names)
    return Instance(a.cls, a.names, _join_items(a.items, b.items)) if same else None


def _join_items(a: tuple[Kind, ...], b: tuple[Kind, ...]) -> tuple[Kind, ...]:
    return tuple(join(m, n) or UNKNOWN for m, n in zip(a, b, strict=True))


_JOINS: dict[type, Callable[[Any, Any], Kind | None]] = {
    Number: _join_numbers, Array: _join_arrays, Container: _join_containers,
    Instance: _join_instances,
}  # fmt: skip
