"""The columns of a matrix of derivatives: the tangents of a function along each float of its arguments.

    x of shape (2,)      ->      x_dot = [[1, 0], [0, 1]]: two lanes of one run, or the tangents of two runs

Several columns are computed in one run if the function can be compiled for lanes; otherwise one after the other.  The
tangents of one run take about `_MOST` bytes.  A function for which a second run is not the same, or leaves something behind,
runs once: with all lanes, or else by the rows of its pullback.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.api.assembling import basis, carries, count, lanes_of_rows, leaves
from s2sgrad.api.forward import Jvp
from s2sgrad.api.showing import Rows
from s2sgrad.errors import S2SGradError
from s2sgrad.forward.lane_forms import NoLanes
from s2sgrad.pullbacks import pulled_back
from s2sgrad.runtime import progress
from s2sgrad.runtime.lanes import stacked, zero_lanes
from s2sgrad.runtime.structure import float_type, rebuilt

_MOST = 2**26


class Columns:
    """Runs a function along tangents, for all columns of its Jacobian; with `debug` one column at a time."""

    def __init__(self, function: Callable[..., Any], has_aux: bool = False, value: bool = True, debug: bool = False) -> None:
        self.one, self.debug = Jvp(function, has_aux=has_aux, value=value, debug=debug), debug
        self.many = Jvp(function, has_aux=has_aux, value=value, lanes=True)
        self.latest, self.value = self.one, value
        self.shown: Any = None  # the derivative whose text ran, where the columns did not

    def as_loops(self) -> None:
        """Run the tangents as loops, one after the other where those with lanes have none."""
        self.one.as_loops()
        self.many.as_loops()

    def run(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any]:
        """(value, its tangent with all columns as lanes, auxiliary result); the arguments need at least one float.

        Without `value` the function is a gradient in these same arguments, and no value is returned.
        """
        found = self.at_once(places, args, keywords)
        if found is not None:
            return found
        several = count([args[p] for p in places]) > 1
        if several and not self.one.along(places).repeats(args, keywords):
            return self._by_rows(places, args, keywords)
        return self._one_by_one(places, args, keywords)

    def repeats(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> bool:
        """Whether the function may run more than once; nothing is called."""
        if not self.debug:
            with contextlib.suppress(S2SGradError):
                self.latest = self.many
                return self.many.along(places).repeats(args, keywords)
        self.latest = self.one
        return self.one.along(places).repeats(args, keywords)

    def at_once(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any] | None:
        """The same by runs with lanes; None if the function cannot be compiled or run for lanes."""
        arguments = [args[p] for p in places]
        total = count(arguments)
        if self.debug or total < 2:
            return None
        self.latest = self.many
        try:
            found = self._in_blocks(places, args, keywords, arguments, total)
            self.shown = None
            return found
        except NoLanes:
            return None
        except Exception:  # column by column it works, or shows the user's error
            if self._has_run_once(places, args, keywords):
                raise
            return None

    def _has_run_once(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> bool:
        """Whether an exception came of a run with lanes that must not be followed by another one."""
        with contextlib.suppress(Exception):  # else the text with lanes could not be made
            return not self.many.along(places).repeats(args, keywords)
        return False

    def _by_rows(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The same in reverse mode, in one run."""
        self.latest, has_aux = self.one, self.one.has_aux
        value, pullback = pulled_back(
            self.one.primal, args, keywords, self.debug, has_aux=has_aux, wanted=places, writes=lambda: True
        )
        self.shown = Rows(pullback.bwd)
        value, aux = value if has_aux else (value, None)
        return value if self.value else None, lanes_of_rows(value, pullback, [args[p] for p in places], places), aux

    def _one_by_one(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any]:
        self.latest, self.shown = self.one, None
        along, columns = self.one.along(places), []
        arguments = [args[p] for p in places]
        for unit in progress.over(basis(arguments), "columns", count(arguments)):
            value, column, aux = self._parted(along.along(args, unit, keywords))
            columns.append(column)
        return value, stacked(columns), aux

    def _in_blocks(
        self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any], arguments: list[Any], total: int
    ) -> tuple[Any, Any, Any]:
        along, parts, blocks = self.many.along(places), [], _blocks(args, total)
        if len(blocks) > 1 and not along.repeats(args, keywords):
            blocks = [(0, total)]
        for first, last in progress.over(blocks, "blocks of columns", len(blocks)):
            value, part, aux = self._parted(along.along(args, lanes_of(arguments, first, last), keywords))
            _require_lanes(value if self.value else arguments, part, last - first)
            parts.append(part)
        return value, _joined(parts), aux

    def _parted(self, out: Any) -> tuple[Any, Any, Any]:
        value, column, aux = (*out, None)[:3] if self.value else (None, out, None)
        return value, column, aux

    @property
    def source(self) -> str:
        """The text of what ran at last."""
        return str((self.shown or self.latest).source)

    @property
    def of_number(self) -> bool:
        """Whether the function that this gradient belongs to is known to return a number."""
        below = self.latest.below
        return below is not None and below.scalar


def _blocks(args: tuple, total: int) -> list[tuple[int, int]]:
    """The ranges of columns that are computed in one run: (first, last)."""
    longest = max([total, *(n for leaf in leaves(args) if isinstance(leaf, np.ndarray) for n in leaf.shape)])
    runs = -(-total * longest * 8 // _MOST)
    return [(0, total)] if runs == 1 else [(total * k // runs, total * (k + 1) // runs) for k in range(runs)]


def lanes_of(arguments: list[Any], first: int, last: int) -> tuple:
    """The unit tangents of these arguments for their floats number `first` to `last`, as lanes: (lanes, *x.shape) each.

    >>> lanes_of([2.0, np.ones(2)], 0, 3)
    (array([1., 0., 0.]), array([[0., 0.],
           [1., 0.],
           [0., 1.]]))
    """
    lanes = last - first
    if len(arguments) == 1 and type(arguments[0]) is np.ndarray:
        (x,) = arguments
        dots = np.zeros((lanes, *x.shape), float_type(x.dtype))
        dots.reshape(-1)[first :: x.size + 1] = 1.0
        return (dots,)
    tangents = tuple([zero_lanes(x, lanes) for x in arguments])
    at = -first
    for dots, x in zip(leaves(tangents), leaves(arguments), strict=True):
        if carries(x):
            size = dots.size // lanes
            start, stop = max(0, -at), min(size, lanes - at)
            if start < stop:
                dots.reshape(-1)[(start + at) * size + start :: size + 1][: stop - start] = 1.0
            at += size
    return tangents


def _require_lanes(value: Any, dots: Any, lanes: int) -> None:
    """Refuse a tangent whose shapes, after the lanes, are not those of the value."""
    for x, d in zip(leaves(value), leaves(dots), strict=True):
        if type(x) is type(d) is np.ndarray and d.shape == (lanes, *x.shape):
            continue
        if carries(x) and np.shape(d) != (lanes, *np.shape(x)):
            raise NoLanes("a tangent whose shape is not that of the value")


def _joined(parts: list[Any]) -> Any:
    """Concatenate tangents along the lanes."""
    first = parts[0]
    if len(parts) == 1 or first is None:
        return first
    if isinstance(first, dict):
        return {key: _joined([p[key] for p in parts]) for key in first}
    if isinstance(first, (list, tuple)):
        return rebuilt(first, lambda _, part: part, [_joined(list(row)) for row in zip(*parts, strict=True)])
    return np.concatenate(parts)
