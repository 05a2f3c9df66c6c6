"""Matrices of derivatives, assembled from columns or rows: nested like the value, and at each of its leaves like the
arguments.

>>> assembled({"a": np.array([[1.0, 2.0], [3.0, 4.0]])}, [np.zeros(2)], {"a": np.zeros(2)})["a"][0]
array([[1., 3.],
       [2., 4.]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Structured
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.api.fitting import tangent_of
from s2sgrad.runtime import progress
from s2sgrad.runtime.checks import holds_complex, holds_complex_inside
from s2sgrad.runtime.structure import attributes_of, float_type, rebuilt, with_attributes


class Parts(tuple):
    """The blocks of a matrix at one leaf of the value, one per argument."""


def leaves(value: Any) -> list[Any]:
    """The leaves of a value: numbers, arrays, and anything else that is no container."""
    if type(value) is np.ndarray:
        return [value]
    return [value] if (items := items_of(value)) is None else [leaf for item in items.values() for leaf in leaves(item)]


def items_of(value: Any) -> dict[Any, Any] | None:
    """The items of a container or the attributes of an object, by position, key or name; None for any other value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    attributes = attributes_of(value)
    return None if attributes is None else {k: item for k, item in attributes.items() if item is not value}


def formed(value: Any, items: dict[Any, Any]) -> Any:
    """A copy of a container or object with these items."""
    if isinstance(value, dict):
        return items
    if isinstance(value, (list, tuple)):
        return rebuilt(value, lambda _, item: item, tuple(items.values()))
    return with_attributes(value, items)


def carries(leaf: Any) -> bool:
    """Whether a leaf is a float, or an array of floats."""
    if type(leaf) is float or (type(leaf) is np.ndarray and leaf.dtype.kind == "f"):
        return True
    if not isinstance(leaf, (float, int, complex, np.ndarray, np.generic)):
        return False
    (kind,) = kinds_of([leaf])
    return may_carry(kind) and not isinstance(kind, Structured)


def sizes(value: Any) -> list[int]:
    """The numbers of floats of the leaves that have any."""
    if type(value) is np.ndarray and value.dtype.kind == "f":
        return [value.size]
    return [int(np.size(leaf)) for leaf in leaves(value) if carries(leaf)]


def count(arguments: list[Any]) -> int:
    """The number of floats in the arguments."""
    return sum([size for x in arguments for size in sizes(x)])


def basis(arguments: list[Any]) -> Iterator[tuple]:
    """The unit tangents of these arguments: 1 at one float and 0 at all others, for each float."""
    zeros = [runtime.zeros(x) for x in arguments]
    for k, x in enumerate(arguments):
        for part in units(x):
            yield (*zeros[:k], part, *zeros[k + 1 :])


def units(x: Any, one: complex = 1.0) -> Iterator[Any]:
    """The unit tangents of one value; `one`: the unit of complex numbers."""
    if not isinstance(x, np.ndarray) and (held := items_of(x)) is not None:
        zeros = {key: runtime.zeros(item) for key, item in held.items()}
        for key, item in held.items():
            for part in units(item, one):
                items = {**zeros, key: part}
                yield formed(x, items) if isinstance(x, (list, tuple)) else items
    elif isinstance(x, np.ndarray) and carries(x):
        for place in np.ndindex(x.shape):
            unit = np.zeros(x.shape, float_type(x.dtype))
            unit[place] = one if holds_complex(x) else 1.0
            yield unit
    elif carries(x):
        yield tangent_of(x, one if holds_complex(x) else 1.0)


def assembled(dots: Any, arguments: list[Any], value: Any) -> Any:
    """The matrix from a tangent of the value whose lanes are the columns; None at leaves without floats.

    `dots` at a leaf of shape (m,) has shape (columns, m).
    """
    items = None if isinstance(dots, np.ndarray) else items_of(dots)
    if items is not None:
        own = items_of(value) or {}
        return formed(value, {key: assembled(item, arguments, own[key]) for key, item in items.items()})
    return split(_rows(dots), arguments) if carries(value) else None


def of_array(dots: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The matrix as one array, from a tangent (n, *y.shape) whose n = x.size lanes are the columns.

    >>> of_array(np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2))
    array([[1., 3.],
           [2., 4.]])
    """
    return _own(_rows(dots).reshape(dots.shape[1:] + x.shape))


def _rows(dots: np.ndarray) -> np.ndarray:
    return dots.T if dots.ndim == 2 else dots.transpose(*range(1, dots.ndim), 0)


def _own(piece: np.ndarray) -> np.ndarray:
    """A contiguous, writable array."""
    return piece if piece.flags.f_contiguous and piece.flags.writeable else piece.copy()


def split(stacked: np.ndarray, arguments: list[Any]) -> Parts:
    """One row of blocks, one per argument: the last axis of `stacked`, over all floats of the arguments, is split."""
    at = 0

    def part(x: Any) -> Any:
        nonlocal at
        if not isinstance(x, np.ndarray) and (items := items_of(x)) is not None:
            return formed(x, {key: part(item) for key, item in items.items()})
        if not carries(x):
            return None
        size = int(np.size(x))
        piece = stacked[..., at : at + size].reshape(stacked.shape[:-1] + np.shape(x))
        at += size
        return _own(piece) if piece.ndim else piece.item()

    return Parts(map(part, arguments))


def empty(value: Any, arguments: list[Any]) -> Any:
    """The matrix in arguments without floats."""
    if (items := items_of(value)) is not None:
        return formed(value, {key: empty(item, arguments) for key, item in items.items()})
    return split(np.zeros((*np.shape(value), 0)), arguments)


def of_rows(value: Any, pullback: Any, arguments: list[Any], places: tuple[int, ...]) -> Any:
    """The matrix from its rows: the cotangents of the arguments for each float of the value."""
    return _at_rows(value, pullback, arguments, places, lambda rows: split(rows, arguments))


def lanes_of_rows(value: Any, pullback: Any, arguments: list[Any], places: tuple[int, ...]) -> Any:
    """The tangent of the value with all columns as lanes, from its rows."""
    return _at_rows(value, pullback, arguments, places, lambda rows: np.moveaxis(rows, -1, 0))


def misfit(argument: Any, holomorphic: bool) -> str | None:
    """Why there is no matrix in an argument, as the end of a sentence; None where there is one."""
    if not holomorphic:
        way = ("say that the function is holomorphic with `holomorphic=True`, or take the matrix in its real and imaginary "
               "parts; `vjp` and `jvp` give products")  # fmt: skip
        return f"which is complex: {way}" if holds_complex_inside(argument) else None
    if all(holds_complex(leaf) for leaf in leaves(argument) if carries(leaf)):
        return None
    return "which is real, with holomorphic=True: pass complex numbers"


def _at_rows(
    value: Any, pullback: Any, arguments: list[Any], places: tuple[int, ...], shown: Callable[[np.ndarray], Any]
) -> Any:
    """The value with what is shown of the rows at each leaf with floats, of shape (*leaf.shape, columns), in its place."""
    rows: list[list[np.ndarray]] = []

    def row(unit: Any) -> list[np.ndarray]:
        bars = pullback(unit)
        return [np.ravel(leaf) for p, x in zip(places, arguments, strict=True) for leaf in floats(bars[p], x)]

    in_parts = not holds_complex(arguments)  # of real arguments: each pullback gives the real part of a row
    of_complex = [holds_complex(leaf) for leaf in leaves(value) if carries(leaf) for _ in range(int(np.size(leaf)))]
    asked = zip(units(value), units(value, -1j), of_complex, strict=True)
    for unit, turned, complex_ in progress.over(asked, "rows", len(of_complex)):
        found = row(unit)
        rows.append([a + 1j * b for a, b in zip(found, row(turned), strict=True)] if complex_ and in_parts else found)

    def at_leaf(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray) and (items := items_of(leaf)) is not None:
            return formed(leaf, {key: at_leaf(item) for key, item in items.items()})
        if not carries(leaf):
            return None
        mine = [np.concatenate(rows.pop(0)) for _ in range(int(np.size(leaf)))]
        shape = (*np.shape(leaf), count(arguments))
        return shown(np.reshape(np.array(mine), shape) if mine else np.zeros(shape))

    return at_leaf(value)


def floats(bar: Any, x: Any) -> Iterator[Any]:
    """The cotangents of the leaves of a value that have floats."""
    for part, leaf in zip(leaves(bar), leaves(x), strict=True):
        if carries(leaf):
            yield part


def at_leaves(matrix: Any, show: Callable[[Parts], Any]) -> Any:
    """The matrix with `show` applied to the blocks at each leaf of the value."""
    if isinstance(matrix, Parts):
        return show(matrix)
    items = items_of(matrix)
    return matrix if items is None else formed(matrix, {key: at_leaves(item, show) for key, item in items.items()})


def plain(matrix: Any) -> Any:
    """The matrix with tuples instead of `Parts`."""
    return at_leaves(matrix, tuple)
