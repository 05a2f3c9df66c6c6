"""Tangents that fit their primals: of the same structure, shapes and types.

jvp(f, ({"w": np.ones(2)},), ({"w": [1, 0]},))      ->      {"w": array([1., 0.])}, or a ValueError that names the place
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from s2sgrad import runtime
from s2sgrad.api.arguments import has_floats, require_followed_leaves
from s2sgrad.ir.signatures import signature
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.structure import attributes_of, float_type, rebuilt, seed_of_number, seeded


class Where(NamedTuple):
    """The position of a tangent among those of a function: its number, and the path within it."""

    function: Any = None
    number: int = 0
    path: str = ""

    def at(self, key: Any) -> Where:
        """The place of the item at this key or index."""
        return self._replace(path=f"{self.path}[{key!r}]")

    def __str__(self) -> str:
        return f"tangents[{self.number}]{self.path}{self._of()}"

    def _of(self) -> str:
        """The name of the argument, if the function has a signature."""
        try:
            names = list(signature(self.function).parameters.values())
        except (TypeError, ValueError):
            return ""
        named = self.number < len(names) and names[self.number].kind in (_BY_POSITION, _BY_BOTH)
        return f", that of `{names[self.number].name}`," if named else ""


_BY_POSITION, _BY_BOTH = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


def fitting(primals: Any, tangents: Any, of: Any) -> tuple[tuple, tuple]:
    """Primals and tangents of a function that match.  None for a zero tangent."""
    function = its(of, "__name__", type(of).__name__)
    for sequence, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(sequence, (tuple, list)):
            given = f"is a tuple, with one for each argument of `{function}`, not {type(sequence).__name__}"
            raise TypeError(f"{what} {given}: write `({_names(of)})`")
    if len(primals) != len(tangents):
        counts = f"primals: {len(primals)}, tangents: {len(tangents)}"
        raise TypeError(f"`{function}` takes a tangent for each primal, None for a constant; {counts}")
    for k, t in enumerate(tangents):
        if t is not None:
            require_followed_leaves(primals[k], f"primals[{k}]")
    fits = [
        None if _is_nothing(x, t) else tangent_of(x, t, Where(of, k))
        for k, (x, t) in enumerate(zip(primals, tangents, strict=True))
    ]
    return tuple(primals), tuple(fits)


def _names(function: Any) -> str:
    """The items of a tuple of the arguments without defaults.

    >>> _names(lambda x: x), _names(lambda w, x, p=2: w), _names(max)
    ('x,', 'w, x', 'x, ..')
    """
    try:
        found = signature(function).parameters.values()
    except (TypeError, ValueError):
        return "x, .."
    names = [p.name for p in found if p.kind in (_BY_POSITION, _BY_BOTH) and p.default is p.empty]
    return f"{names[0]}," if len(names) == 1 else ", ".join(names) or "x, .."


def _is_nothing(primal: Any, tangent: Any) -> bool:
    """Whether a tangent is None, or a 0 for a primal without floats."""
    return tangent is None or (not has_floats(primal) and isinstance(tangent, (int, float)) and tangent == 0)


def _alike(primal: Any, tangent: Any) -> bool:
    """Whether two containers have the same length, dicts the same keys."""
    if isinstance(primal, dict) or isinstance(tangent, dict):
        return isinstance(primal, dict) and isinstance(tangent, dict) and tangent.keys() == primal.keys()
    return isinstance(tangent, (list, tuple)) and len(tangent) == len(primal)


def tangent_of(primal: Any, tangent: Any, what: Where = Where()) -> Any:  # noqa: B008
    """A tangent with the structure, shapes and dtypes of its primal; raises ValueError or TypeError if it does not fit.

    >>> tangent_of({"w": np.ones(2), "n": 3}, {"w": [1, 0], "n": None})
    {'w': array([1., 0.]), 'n': 0.0}
    >>> tangent_of([np.ones(2)], [np.ones(3)], Where(lambda x: x[0]))
    Traceback (most recent call last):
    ValueError: tangents[0][0], that of `x`, must have the shape of its primal, (2,), not (3,)
    """
    if tangent is None:
        return runtime.zeros(primal)
    if isinstance(primal, (list, tuple, dict)):
        if not _alike(primal, tangent):
            raise ValueError(f"{what} must have the structure of its primal, a {type(primal).__name__} of {len(primal)}")
        keys = primal.keys() if isinstance(primal, dict) else range(len(primal))
        items = {k: tangent_of(primal[k], tangent[k], what.at(k)) for k in keys}
        return items if isinstance(primal, dict) else rebuilt(primal, lambda _, t: t, tuple(items.values()))
    if (attributes := attributes_of(primal)) is not None:
        entries = tangent if isinstance(tangent, dict) else attributes_of(tangent) or {}
        if not entries.keys() <= attributes.keys() or not (entries or isinstance(tangent, dict)):
            raise ValueError(f"{what} must be a {type(primal).__name__}, as its primal is, or a dict of its attributes")
        return {k: tangent_of(v, entries.get(k), what.at(k)) for k, v in attributes.items() if v is not primal}
    return (
        _tangent_of_leaf(primal, tangent, what)
        if isinstance(primal, (float, int, complex, np.ndarray, np.generic))
        else tangent
    )


def _tangent_of_leaf(primal: Any, tangent: Any, what: Where) -> Any:
    """The tangent of a number or an array."""
    if np.shape(tangent) != np.shape(primal):
        raise ValueError(f"{what} must have the shape of its primal, {np.shape(primal)}, not {np.shape(tangent)}")
    if isinstance(primal, (complex, np.complexfloating)):
        return type(primal)(seeded(primal, tangent))
    if not isinstance(primal, np.ndarray):
        number = seed_of_number(tangent)
        return type(primal)(number) if isinstance(number, float) and isinstance(primal, (float, np.floating)) else number
    array = tangent if hasattr(tangent, "dtype") else np.asarray(tangent)
    if array.dtype.kind not in ("fiubc" if primal.dtype.kind == "c" else "fiub"):
        raise TypeError(f"{what} must be made of floats, not {array.dtype}")
    return np.asarray(array, dtype=float_type(primal.dtype))
