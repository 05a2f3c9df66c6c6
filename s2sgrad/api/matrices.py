"""Jacobians, Hessians and their products with vectors.

    jacobian(lambda x: x * x)(np.array([1.0, 2.0]))      ->      array([[2., 0.], [0., 4.]])

A Jacobian has the structure of the value, and in the place of each number or array of it the structure of the argument, with
arrays of shape `value.shape + argument.shape`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import may_carry
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.api.argnums import Argnums, checked
from s2sgrad.api.dynamic import pair_in
from s2sgrad.api.forward import Jvp, fitting, tangent_of
from s2sgrad.api.gradient import Gradient, differentiated
from s2sgrad.driver.options import DEFAULT, Options
from s2sgrad.errors.raised import entry
from s2sgrad.pullbacks import vjp
from s2sgrad.runtime.structure import float_type, rebuilt


class Matrix:
    """A function that gives the matrix of derivatives of another one: what `jacobian` and its kin return."""

    def __init__(self, function: Callable[..., Any], argnums: Argnums, word: str, has_aux: bool = False) -> None:
        self.primal, self.has_aux = function, has_aux
        self._argnums = checked(argnums)
        self._along = Jvp(function, has_aux=has_aux)
        self.__name__ = self.__qualname__ = f"{getattr(function, '__name__', type(function).__name__)}_{word}"
        self.__doc__ = f"The {word} of `{getattr(function, '__name__', 'f')}` in {self._argnums!r}."

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.__name__.rpartition('_')[2]} of {getattr(self.primal, '__qualname__', self.primal)}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def source(self) -> str:
        """The text of the generated function that gives one column, or one row."""
        return self._along.source

    def _places(self, args: tuple) -> tuple[int, ...]:
        """The positions of the arguments, of which the matrix is asked for."""
        asked = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
        names = list(self._along.along((0,)).__signature__.parameters) if any(isinstance(a, str) for a in asked) else []
        places = tuple(names.index(a) if a in names else a for a in asked)
        for asked_, place in zip(asked, places, strict=True):
            if not isinstance(place, int) or not -len(args) <= place < len(args):
                raise TypeError(f"argnums names {asked_!r}, which is no argument that is given by position")
            if not _sizes(args[place]):
                raise TypeError(f"{self.__name__} was asked for in an argument without floats: pass a float")
        return tuple(p % len(args) for p in places)

    def _of_columns(self, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The value, the matrix, one run of the generated function for each column, and what is beside the value."""
        places = self._places(args)
        along = self._along.along(places)
        given = [args[p] for p in places]
        value = aux = None
        columns = []
        for basis in _basis(given):
            value, column, *aux = along.along(args, basis, keywords)
            columns.append(column)
        matrix = _assembled(columns[0], columns, given) if columns else _empty(self.primal(*args, **keywords), given)
        return value, self._shown(matrix), aux[0] if aux else None

    def _shown(self, matrix: Any) -> Any:
        """The matrix for one argument bare, for several as a tuple, at each number or array of the value."""
        if isinstance(self._argnums, tuple):
            return _plain(matrix)
        return _at_leaves(matrix, lambda parts: parts[0])


class _Parts(tuple):
    """The parts of a matrix at one leaf of the value, an argument each."""


class Forward(Matrix):
    """Columns, by forward mode."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments; with `has_aux`, and what is beside the value."""
        _, matrix, aux = self._of_columns(args, keywords)
        return (matrix, aux) if self.has_aux else matrix


class Reverse(Matrix):
    """Rows, by reverse mode: the function runs once."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments."""
        places = self._places(args)
        value, pullback = vjp(self.primal, *args, **keywords)
        return self._shown(_of_rows(value, pullback, [args[p] for p in places], places))


class Jacobian(Matrix):
    """By the mode that takes fewer runs: columns where there are no more of them than rows."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments; with `has_aux`, and what is beside the value."""
        if self.has_aux:
            _, matrix, aux = self._of_columns(args, keywords)
            return matrix, aux
        return self.with_value(args, keywords)[1]

    def with_value(self, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The value and the Jacobian."""
        places = self._places(args)
        given = [args[p] for p in places]
        count = sum(size for x in given for size in _sizes(x))
        if count == 1:
            value, matrix, _ = self._of_columns(args, keywords)
            return value, matrix
        value, pullback = vjp(self.primal, *args, **keywords)
        if count <= sum(_sizes(value)):
            return self._of_columns(args, keywords)[:2]
        return value, self._shown(_of_rows(value, pullback, given, places))


class Hessian(Matrix):
    """Columns of the derivative of the gradient: forward over reverse."""

    def __init__(self, function: Callable[..., Any], argnums: Argnums, word: str, has_aux: bool = False) -> None:
        super().__init__(function, argnums, word, has_aux)
        several = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
        options = Options(value=True, several=True, has_aux=has_aux, backend=DEFAULT)
        self._along = Jvp(differentiated(function, several, options, None))

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Hessian at these arguments; with `has_aux`, and what is beside the value."""
        places = self._places(args)
        along, given = self._along.along(places), [args[p] for p in places]
        columns, value, aux = [], 0.0, None
        for basis in _basis(given):
            (value, _, *aux), (_, column, *_) = along.along(args, basis, keywords)
            columns.append(column)
        if np.shape(value):
            raise TypeError(f"hessian needs a function that returns a number, and this one returned an array of shape "
                            f"{np.shape(value)}: use the Jacobian of its gradient, or sum it up")  # fmt: skip
        matrix = _assembled(columns[0], columns, given) if columns else _empty(tuple(given), given)
        if not isinstance(self._argnums, tuple):
            matrix = _at_leaves(matrix[0], lambda parts: parts[0])
        matrix = _plain(matrix)
        return (matrix, aux[0]) if self.has_aux else matrix


class Hvp:
    """The product of a Hessian with a vector: what `hvp(f)` returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.primal = function
        self._made: dict[tuple[int, ...], Jvp] = {}
        self._latest: Jvp | None = None
        self.__name__ = self.__qualname__ = f"{getattr(function, '__name__', type(function).__name__)}_hvp"

    @entry
    def __call__(self, /, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any) -> Any:
        """The tangent of the gradient, in the arguments that have tangents, along these."""
        primals, tangents = fitting(self.__name__, primals, tangents)
        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        if active not in self._made:
            options = Options(several=len(active) > 1, backend=DEFAULT)
            gradient = differentiated(self.primal, active if len(active) > 1 else active[0], options, None)
            self._made[active] = Jvp(gradient, value=False)
        self._latest = self._made[active]
        return self._latest.along(active).along(primals, tuple(tangents[k] for k in active), keywords)

    @property
    def source(self) -> str:
        """The text of the generated function for the latest primals."""
        return "" if self._latest is None else self._latest.source

    def __repr__(self) -> str:
        return f"<product with the Hessian of {getattr(self.primal, '__qualname__', self.primal)}>"


# --- what a user calls ---


@entry
def jacfwd(function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Matrix:
    """The Jacobian by forward mode, column by column: for functions of few numbers.

    >>> jacfwd(lambda x: np.array([x, x * x]))(3.0)
    array([1., 6.])
    """
    return Forward(_function(function, "jacfwd"), argnums, "jacobian", has_aux)


@entry
def jacrev(function: Callable[..., Any], argnums: Argnums = 0) -> Matrix:
    """The Jacobian by reverse mode, row by row: for functions that return few numbers.

    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Reverse(_function(function, "jacrev"), argnums, "jacobian")


@entry
def jacobian(function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Matrix:
    """The Jacobian, by forward or by reverse mode, whichever takes fewer runs.

    Its shape is that of the value followed by that of the argument; values and arguments may be nested lists, tuples and
    dicts of these.  `argnums` as for `grad`; of a tuple of them it is a tuple.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return Jacobian(_function(function, "jacobian"), argnums, "jacobian", has_aux)


@entry
def hessian(function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Matrix:
    """The second derivatives of a function that returns a number, of shape `argument.shape + argument.shape`.

    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return Hessian(_function(function, "hessian"), argnums, "hessian", has_aux)


@entry
def hvp(
    function: Callable[..., Any], primals: Sequence[Any] | None = None, tangents: Sequence[Any] | None = None
) -> Any:
    """The product of the Hessian of a function that returns a number with a vector, without the matrix.

    It is the tangent of the gradient: forward over reverse.  Of one primal with a tangent it is bare, of several a tuple.
    With the function alone it returns a function of primals and tangents.

    >>> hvp(lambda x: x[0] ** 2 * x[1], (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([4., 2.])
    """
    made = Hvp(_function(function, "hvp"))
    if primals is None and tangents is None:
        return made
    if primals is None or tangents is None:
        raise TypeError("hvp takes primals and tangents, or neither: hvp(f, (x,), (v,))")
    return made(primals, tangents)


@entry
def elementwise_grad(function: Callable[..., Any], argnums: Argnums = 0) -> Gradient:
    """The derivative of a function that treats each element by itself, at each element.

    >>> elementwise_grad(np.sin)(np.array([0.0, np.pi]))
    array([ 1., -1.])
    """
    asked = checked(argnums)
    return differentiated(_function(function, "elementwise_grad"), asked, Options(several=isinstance(asked, tuple)), None)


@entry
def value_and_jacobian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., tuple[Any, Any]]:
    """Like `jacobian`, but returns `(value, jacobian)`.

    >>> value_and_jacobian(lambda x: 2.0 * x)(3.0)
    (6.0, 2.0)
    """
    made = Jacobian(_function(function, "value_and_jacobian"), argnums, "jacobian")

    @functools.wraps(function, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def value_and_jacobian(*args: Any, **keywords: Any) -> tuple[Any, Any]:
        return made.with_value(args, keywords)

    return entry(value_and_jacobian)


@entry
def linearize(function: Callable[..., Any], /, *primals: Any, **keywords: Any) -> tuple[Any, Callable[..., Any]]:
    """The value at the primals, and the linear map from tangents of the primals to that of the value.

    The function runs once, here; the map may be called many times, with a tangent for each primal, None for one that is 0.
    It is the pullback of the pullback, which is linear.  The primals may be changed afterwards.

    >>> y, along = linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> y, along(1.0, 0.0), along(1.0, 10.0)
    (6.0, 3.0, 23.0)
    """
    value, pullback = vjp(_function(function, "linearize"), *primals, **keywords)
    shapes = tuple(runtime.own(x) for x in primals)
    record = runtime.refilled(pullback.saved, pullback.bwd)
    fwd, bwd, _ = pair_in(pullback.bwd, (record, runtime.zeros(value)), (1,))
    _, again = fwd(record, runtime.zeros(value))

    def along(*tangents: Any) -> Any:
        primals_, dots = fitting(getattr(function, "__name__", "f"), shapes, tangents)
        dots = tuple(runtime.zeros(x) if t is None else t for x, t in zip(primals_, dots, strict=True))
        places = [tuple(dots[k] for k in p) if isinstance(p, tuple) else dots[p] for p in pullback.places]
        out = bwd(runtime.refilled(again, bwd), places[0] if len(places) == 1 else tuple(places))
        return runtime.like(value, out)

    along.__name__ = along.__qualname__ = f"{getattr(function, '__name__', 'f')}_along"
    return value, entry(along)


# --- columns and rows ---


def _function(function: Any, name: str) -> Any:
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"{name} needs a function, not {type(function).__name__}")
    if isinstance(function, Matrix):
        raise TypeError(f"{name} of {function!r} cannot be computed yet: take `hessian` or `hvp` of the function itself")
    return function


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays of a value, and whatever else is in it."""
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value


def _carries(leaf: Any) -> bool:
    return isinstance(leaf, (float, int, np.ndarray, np.generic)) and may_carry(kinds_of([leaf])[0])


def _sizes(value: Any) -> list[int]:
    """How many floats the leaves of a value have, those alone that have some."""
    return [int(np.size(leaf)) for leaf in _leaves(value) if _carries(leaf)]


def _basis(given: list[Any]) -> Iterator[tuple]:
    """The tangents of these arguments that are 1 at one number and 0 at all others, number by number."""
    zeros = [runtime.zeros(x) for x in given]
    for k, x in enumerate(given):
        for part in _units(x):
            yield (*zeros[:k], part, *zeros[k + 1 :])


def _units(x: Any) -> Iterator[Any]:
    """The tangents of one value that are 1 at one number and 0 at all others."""
    if isinstance(x, (list, tuple, dict)):
        keys = list(x) if isinstance(x, dict) else range(len(x))
        for key in keys:
            for part in _units(x[key]):
                items = {k: part if k == key else runtime.zeros(x[k]) for k in keys}
                yield items if isinstance(x, dict) else rebuilt(x, lambda _, t: t, tuple(items.values()))
    elif isinstance(x, np.ndarray) and _carries(x):
        for place in np.ndindex(x.shape):
            unit = np.zeros(x.shape, float_type(x.dtype))
            unit[place] = 1.0
            yield unit
    elif _carries(x):
        yield tangent_of(x, 1.0, "")


def _assembled(out: Any, columns: list[Any], given: list[Any]) -> Any:
    """The matrix from its columns, each of the structure of `out`."""
    if isinstance(out, (list, tuple, dict)):
        keys = out if isinstance(out, dict) else range(len(out))
        parts = {k: _assembled(out[k], [c[k] for c in columns], given) for k in keys}
        return parts if isinstance(out, dict) else rebuilt(out, lambda _, part: part, tuple(parts.values()))
    if out is None:
        return None
    return _split(np.stack([np.asarray(c) for c in columns], axis=-1), given)


def _split(stacked: np.ndarray, given: list[Any]) -> _Parts:
    """One row of parts, an argument each: the last axis of `stacked` runs over all numbers of the arguments."""
    at = 0

    def part(x: Any) -> Any:
        nonlocal at
        if isinstance(x, (list, tuple, dict)):
            return rebuilt(x, part)
        if not _carries(x):
            return None
        size = int(np.size(x))
        piece = np.reshape(stacked[..., at : at + size], stacked.shape[:-1] + np.shape(x))
        at += size
        return piece.copy() if np.ndim(piece) else float(piece)

    return _Parts(map(part, given))


def _empty(value: Any, given: list[Any]) -> Any:
    """The matrix in arguments without numbers."""
    if isinstance(value, (list, tuple, dict)):
        return rebuilt(value, lambda item: _empty(item, given))
    return _split(np.zeros((*np.shape(value), 0)), given)


def _of_rows(value: Any, pullback: Any, given: list[Any], places: tuple[int, ...]) -> Any:
    """The matrix from its rows: the cotangents of the arguments for each number of the value."""
    rows: list[list[np.ndarray]] = []
    for unit in _units(value):
        bars = pullback(unit)
        rows.append([np.ravel(leaf) for p, x in zip(places, given, strict=True) for leaf in _floats(bars[p], x)])

    def at_leaf(leaf: Any) -> Any:
        if isinstance(leaf, (list, tuple, dict)):
            return rebuilt(leaf, at_leaf)
        if not _carries(leaf):
            return None
        mine = [np.concatenate(rows.pop(0)) for _ in range(int(np.size(leaf)))]
        count = sum(size for x in given for size in _sizes(x))
        stacked = np.reshape(np.array(mine), (*np.shape(leaf), count)) if mine else np.zeros((*np.shape(leaf), count))
        return _split(stacked, given)

    return at_leaf(value)


def _floats(bar: Any, x: Any) -> Iterator[Any]:
    """The cotangents of the numbers and arrays of a value, of those that have floats."""
    for part, leaf in zip(_leaves(bar), _leaves(x), strict=True):
        if _carries(leaf):
            yield part


def _at_leaves(matrix: Any, show: Callable[[_Parts], Any]) -> Any:
    """What is shown of the parts at each leaf of the value."""
    if isinstance(matrix, _Parts):
        return show(matrix)
    return rebuilt(matrix, lambda item: _at_leaves(item, show)) if isinstance(matrix, (list, tuple, dict)) else matrix


def _plain(matrix: Any) -> Any:
    """The matrix with tuples for parts."""
    return _at_leaves(matrix, tuple)
