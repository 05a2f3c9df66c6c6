"""Kinds in words, for the header line of a generated function: `Array('float64', (Size(0),))` -> `float64 (n,)`."""

from __future__ import annotations

from types import ModuleType

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Size  # noqa: F401

_SIZES = "nmklpqrs"


def described(kinds: dict[str, Kind]) -> str:
    """The kinds of the parameters in words.

    >>> described({"x": Array("float64", (Size(0), 3)), "k": Number(int)})
    'for x: float64 (n, 3), k: int'
    """
    shown = ", ".join(f"{p}: {_word(k)}" for p, k in kinds.items())
    return f"for {shown}" if any(not isinstance(k, type(UNKNOWN)) for k in kinds.values()) else "for arguments of any kind"


def _word(kind: Kind) -> str:
    if isinstance(kind, Number):
        return kind.type.__name__ if kind.type else "number"
    if isinstance(kind, Array):
        if kind.dims is None:
            return f"{kind.dtype or 'array'} of any shape"
        sizes = [str(d) if isinstance(d, int) else _SIZES[d.k % len(_SIZES)] if d is not None else "?" for d in kind.dims]
        return f"{kind.dtype} ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    if isinstance(kind, Container):
        return kind.type.__name__
    if isinstance(kind, Known) and isinstance(kind.value, ModuleType):
        return f"module {kind.value.__name__}"
    return "None" if isinstance(kind, Known) and kind.value is None else "any"
