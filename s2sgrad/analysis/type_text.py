"""Kinds as text, for the header line of a generated function: `Array('float64', (Size(0),))` -> `float64 (n,)`."""

from __future__ import annotations

from types import ModuleType

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Instance, Kind, Known, Number, Plain, Text
from s2sgrad.analysis.module_functions import is_function_of_module
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.sizes import Dim, Size
from s2sgrad.runtime.results import described as value_in_words
from s2sgrad.runtime.results import described_type, without_floats

_SIZES, _OWN = "nmklpqrs", "abcdefgh"


def described(kinds: dict[str, Kind]) -> str:
    """The kinds of the parameters as text.

    >>> described({"x": Array("float64", (Size(0), 3)), "k": Number(int)})
    'for x: float64 (n, 3), k: int'
    """
    shown = ", ".join(f"{p}: {in_words(k)}" for p, k in kinds.items())
    return f"for {shown}" if any(not isinstance(k, type(UNKNOWN)) for k in kinds.values()) else "for arguments of any kind"


def in_words(kind: Kind) -> str:
    """One kind as text.

    >>> in_words(Array("int64", (Size(0, -2), None))), in_words(Container(list, None))
    ('int64 (n - 2, ?)', 'list')
    """
    if isinstance(kind, Number):
        return kind.type.__name__ if kind.type else "number"
    if isinstance(kind, Array):
        if kind.dims is None:
            return f"{kind.dtype or 'array'} of any shape"
        sizes = [_length(d) for d in kind.dims]
        return f"{kind.dtype} ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    if isinstance(kind, Container):
        return kind.type.__name__
    if isinstance(kind, Known) and isinstance(kind.value, ModuleType):
        return f"module {kind.value.__name__}"
    if isinstance(kind, Known) and callable(kind.value):
        return kind.value.__name__ if is_function_of_module(kind.value) else "its default"
    return "None" if isinstance(kind, Known) and kind.value is None else "any"


def _length(dim: Dim) -> str:
    """A length as text: `n - 2`; one that is not an argument's is `a`, `b`, ..."""
    if not isinstance(dim, Size):
        return "?" if dim is None else str(dim)
    letter = _SIZES[dim.k % len(_SIZES)] if dim.k >= 0 else _OWN[~dim.k % len(_OWN)]
    return letter if not dim.offset else f"{letter} {'+' if dim.offset > 0 else '-'} {abs(dim.offset)}"


def without_derivative(kind: Kind | None) -> str:
    """What all values of this kind are, as text, if they contain nothing differentiable; empty if they may.

    >>> without_derivative(Number(int)), without_derivative(Container(tuple, (Known(None), Number(float))))
    ('an int', '')
    """
    if kind is None or may_carry(kind):
        return ""
    if isinstance(kind, Known):
        return without_floats(kind.value)
    if isinstance(kind, Container):
        return f"an empty {kind.type.__name__}" if kind.items == () else f"{known_type(kind)} without floats"
    return known_type(kind)


def known_type(kind: Kind) -> str:
    """The type of the values of a kind that is not unknown, as text.

    >>> known_type(Array("int64", (3,))), known_type(Known(None))
    ('an array of int64', 'None')
    """
    if isinstance(kind, Known):
        return value_in_words(kind.value)
    if isinstance(kind, Number):
        return described_type(kind.type or float)
    if isinstance(kind, (Instance, Container)):
        return described_type(kind.cls if isinstance(kind, Instance) else kind.type)
    if isinstance(kind, Array):
        return f"an array of {kind.dtype or 'numbers'}"
    return "a str" if isinstance(kind, Text) else "a function" if isinstance(kind, Plain) else "a slice"
