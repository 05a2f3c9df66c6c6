"""Jacobians, Hessians and their products with vectors.

    jacobian(lambda x: x * x)(np.array([1.0, 2.0]))      ->      array([[2., 0.], [0., 4.]])

A Jacobian is nested like the value, and at each number or array in it like the argument, with arrays of shape
`value.shape + argument.shape`.  With `debug=True` the columns are computed one after the other, and NotFinite names the
statement where the first value arose that is not finite, as with `grad`.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from s2sgrad.api import showing
from s2sgrad.api.argnums import Argnums, Asked, checked
from s2sgrad.api.arguments import without_floats
from s2sgrad.api.assembling import assembled, at_leaves, count, empty, misfit, of_array, of_rows, plain, sizes
from s2sgrad.api.binding import Binds, receiver_name, receiver_of
from s2sgrad.api.columns import Columns
from s2sgrad.api.followed import by_columns
from s2sgrad.api.gradient import Gradient, differentiated
from s2sgrad.api.rows import RowsByLoops
from s2sgrad.api.showing import Rows
from s2sgrad.driver.options import Options
from s2sgrad.errors import Refused, S2SGradError, Unsupported
from s2sgrad.errors.raised import entry
from s2sgrad.ir.signatures import signature
from s2sgrad.pullbacks import function_given, pulled_back
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal, holds_complex_inside

_RUN = 20_000  # the overhead of a call, as a number of floats


class Matrix(Binds):
    """A function that returns the matrix of derivatives of another one: the result of `jacobian` and others."""

    def __init__(
        self, given: Callable[..., Any], argnums: Argnums, word: str, has_aux: bool = False, debug: bool = False,
        holomorphic: bool = False,
    ) -> None:  # fmt: skip
        self.given, self.has_aux, self.debug, self.holomorphic = given, has_aux, bool(debug), bool(holomorphic)
        self.primal = function = _function(given, word)
        self._argnums, self._word = checked(argnums), word
        self._lead: tuple = ()  # the receiver, where it is asked for by its name
        if isinstance(function, types.MethodType) and receiver_name(function) in self._asked:
            self.primal, self._lead = function.__func__, (function.__self__,)
        self._columns = Columns(self.primal, has_aux, debug=self.debug)
        self._rows: RowsByLoops | None = None
        self.__name__ = self.__qualname__ = f"{its(function, '__name__', type(function).__name__)}_{word}"
        of = f"The {word} of `{its(function, '__name__', 'f')}` in {self._argnums!r}"
        self.__doc__ = showing.described(of, function)

    __dir__ = showing.names

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.__name__.rpartition('_')[2]} of {its(self.primal, '__qualname__', self.primal)}>"

    def of(self, function: Callable[..., Any]) -> Matrix:
        """The same matrix of another function."""
        made = type(self)(function, self._argnums, self._word, self.has_aux, self.debug, self.holomorphic)
        return made.as_loops() if self._columns.one.is_compiled else made

    def as_loops(self) -> Matrix:
        """This matrix, its tangents and its rows run as loops."""
        self._columns.as_loops()
        self._rows = RowsByLoops(self.primal, self.has_aux)
        return self

    def _pulled_back(
        self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any], writes: Callable[[], bool]
    ) -> tuple[Any, Callable[[Any], Any]]:
        """The value (with `has_aux` a pair), and what gives the row of the matrix for a cotangent of the value."""
        if self._rows is not None and not self.holomorphic and self._may_run_again(places, args, keywords):
            found = self._rows.run(places, args, keywords)
            if found is not None:
                self._columns.shown = self._rows.latest
                return found
        value, pullback = pulled_back(
            self.primal, args, keywords, self.debug, has_aux=self.has_aux, wanted=places, writes=writes
        )
        self._columns.shown = Rows(pullback.bwd)
        return value, pullback

    def _may_run_again(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> bool:
        """Whether the function may run more than once."""
        with contextlib.suppress(S2SGradError):
            return self._columns.repeats(places, args, keywords)
        return False

    @functools.cached_property
    def followed(self) -> types.FunctionType | None:
        """A function with source that computes the same, to be differentiated; None if there is none."""
        if self.has_aux or self.debug or self._lead or self.holomorphic:
            return None
        single = not isinstance(self._argnums, tuple)
        return by_columns(self._differentiated(self._asked), self.primal, self._asked, single, self.__name__)

    def _differentiated(self, asked: tuple[int | str, ...]) -> list[Callable[..., Any]]:
        """The functions whose Jacobian in the arguments `asked` this is."""
        return [self.primal]

    @property
    def source(self) -> str:
        """The text of what ran at last: for a column, for all columns at once, or for a row."""
        return self._columns.source

    @entry
    def source_for(self, /, *args: Any, **keywords: Any) -> str:
        """The text for these arguments: which one depends on the value, so the matrix is computed."""
        self(*args, **keywords)
        return self.source

    def _by_position(self, args: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments, made positional if a differentiated one was passed by keyword."""
        args = self._lead + args
        if not keywords or not any(asked in keywords for asked in self._asked):
            return args, keywords
        bound = signature(self.primal).bind(*args, **keywords)
        return bound.args, bound.kwargs

    def _names(self) -> list[str]:
        return list(signature(self.primal).parameters)

    def _said(self) -> str:
        """What is asked for, as an error begins."""
        return f"the {self._word} of `{self.__name__.removesuffix(f'_{self._word}')}` was asked for"

    @property
    def _asked(self) -> tuple[int | str, ...]:
        asked = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
        return tuple(_behind(a, len(self._lead)) for a in asked)

    def _places(self, args: tuple) -> tuple[int, ...]:
        """The positions of the differentiated arguments."""
        quick = self._argnums == 0 and not self._lead and not self.holomorphic
        if quick and args and sizes(args[0]) and not holds_complex_inside(args[0]):
            return (0,)
        asked = self._asked
        named = any(isinstance(a, str) for a in asked)
        names = self._names() if named else []
        behind = 0 if self._lead else receiver_of(self.primal)
        places = [names.index(a) if a in names else _behind(a, behind) for a in asked]
        found = []
        for asked_, place in zip(asked, places, strict=True):
            if not isinstance(place, int) or not -len(args) <= place < len(args):
                raise TypeError(f"argnums names {asked_!r}, which is no argument that is given by position; "
                                f"there are {', '.join(self._names()[: len(args)])}")  # fmt: skip
            if not sizes(args[place]):
                name = (names or self._names())[place]
                raise TypeError(f"{self._said()} in `{name}`, {without_floats(args[place], name)}")
            if (why := misfit(args[place], self.holomorphic)) is not None:
                raise TypeError(f"{self._said()} in `{(names or self._names())[place]}`, {why}")
            found.append(place % len(args))
        return tuple(found)

    def _of_columns(self, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The value, the matrix by columns, and the auxiliary result."""
        places = self._places(args)
        arguments = [args[p] for p in places]
        if not count(arguments):
            return None, self._shown(empty(self.primal(*args, **keywords), arguments)), None
        value, columns, aux = self._columns.run(places, args, keywords)
        return value, self._shown(assembled(columns, arguments, value)), aux

    def _shown(self, matrix: Any) -> Any:
        """The matrix as the user sees it: a single block for one argument, a tuple for several."""
        if isinstance(self._argnums, tuple):
            return plain(matrix)
        return at_leaves(matrix, lambda parts: parts[0])


class Forward(Matrix):
    """Jacobian by columns, in forward mode."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments; with `has_aux`, a pair with the auxiliary result."""
        _, matrix, aux = self._of_columns(*self._by_position(args, keywords))
        return (matrix, aux) if self.has_aux else matrix


class Reverse(Matrix):
    """Jacobian by rows, in reverse mode: the function runs once."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments; with `has_aux`, a pair with the auxiliary result."""
        args, keywords = self._by_position(args, keywords)
        places = self._places(args)
        value, pullback = self._pulled_back(places, args, keywords, lambda: True)
        value, aux = value if self.has_aux else (value, None)
        matrix = self._shown(of_rows(value, pullback, [args[p] for p in places], places))
        return (matrix, aux) if self.has_aux else matrix


class Jacobian(Matrix):
    """Jacobian by the cheaper mode: all columns at once unless they far outnumber the rows, else the fewer of columns and
    rows.  By columns, too, if reverse mode is refused, as for a function that writes its argument."""

    _by_columns = False

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Jacobian at these arguments; with `has_aux`, a pair with the auxiliary result."""
        value, matrix = self.with_value(args, keywords)
        return (matrix, value[1]) if self.has_aux else matrix

    def with_value(self, args: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The value (with `has_aux` a pair) and the Jacobian."""
        args, keywords = self._by_position(args, keywords)
        if self.has_aux:
            value, matrix, aux = self._of_columns(args, keywords)
            return (value, aux), matrix
        places = self._places(args)
        arguments = [args[p] for p in places]
        columns = count(arguments)
        if columns > 1 and not self._by_columns:
            again = functools.partial(self._may_run_again, places, args, keywords)
            try:
                value, pullback = self._pulled_back(places, args, keywords, lambda: not again())
            except (Unsupported, Refused, Refusal) as error:  # if forward mode is refused too, its error explains
                if not isinstance(error, Unsupported) and not again():
                    raise  # it has run, up to this place
                self._by_columns = True
            else:
                rows = sum(sizes(value))
                twice = (_few(columns, rows) or columns <= rows) and again()
                result = self._columns.at_once(places, args, keywords) if twice and _few(columns, rows) else None
                if result is not None:
                    return result[0], self._shown(assembled(result[1], arguments, result[0]))
                if columns > rows or not twice:
                    return value, self._shown(of_rows(value, pullback, arguments, places))
        return self._of_columns(args, keywords)[:2]


class ValueAndJacobian(Jacobian):
    """The value and the Jacobian."""

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The value (with `has_aux` a pair) and the Jacobian."""
        return self.with_value(args, keywords)

    @property
    def followed(self) -> None:
        """It returns no matrix alone."""
        return None


def _few(columns: int, rows: int) -> bool:
    """Whether one run for all columns is cheaper than a run for each row, with a fixed overhead per run."""
    numbers = max(columns, rows)
    return columns * numbers + _RUN < rows * (numbers + _RUN)


class Hessian(Matrix):
    """Columns of the derivative of the gradient: forward over reverse mode."""

    def __init__(
        self, given: Callable[..., Any], argnums: Argnums, word: str, has_aux: bool = False, debug: bool = False,
        holomorphic: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(given, argnums, word, has_aux, debug, holomorphic)
        function, several = self.primal, self._asked
        options = Options(value=True, several=True, has_aux=has_aux, holomorphic=bool(holomorphic)).to_be_differentiated
        self._with_value = self._columns = Columns(differentiated(function, several, options, None), debug=self.debug)
        if not has_aux:
            gradient = differentiated(function, several, replace(options, value=False), None)
            self._columns = Columns(gradient, value=False, debug=self.debug)

    _of_number = False

    def as_loops(self) -> Matrix:
        """This matrix, its tangents run as loops."""
        self._with_value.as_loops()
        return super().as_loops()

    def _is_number_or_repeats(self, places: tuple[int, ...], args: tuple, keywords: dict[str, Any]) -> bool:
        """Whether no second run is due for the value, as far as the last call tells, or it would do the same."""
        return self._of_number or self._columns.repeats(places, args, keywords) or self._columns.of_number

    def _differentiated(self, asked: tuple[int | str, ...]) -> list[Callable[..., Any]]:
        return [differentiated(self.primal, k, Options().to_be_differentiated, None) for k in asked]

    @entry
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The Hessian at these arguments; with `has_aux`, a pair with the auxiliary result."""
        args, keywords = self._by_position(args, keywords)
        places = self._places(args)
        inputs, value, aux, columns = [args[p] for p in places], 0.0, None, None
        numbers = count(inputs)
        if numbers and not self.has_aux and self._is_number_or_repeats(places, args, keywords):
            columns = self._columns.run(places, args, keywords)[1]
            self._of_number = self._columns.of_number
            if self._argnums == 0 and type(inputs[0]) is np.ndarray and self._columns.of_number:
                return of_array(columns[0], inputs[0])
        if numbers and (columns is None or not self._columns.of_number):
            (value, *_), (_, columns, *_), _ = self._with_value.run(places, args, keywords)
            self._columns.shown = self._with_value
            value, aux = value if self.has_aux else (value, None)
        _require_number(value)
        matrix = assembled(columns, inputs, tuple(inputs)) if columns is not None else empty(tuple(inputs), inputs)
        if not isinstance(self._argnums, tuple):
            matrix = at_leaves(matrix[0], lambda parts: parts[0])
        matrix = plain(matrix)
        return (matrix, aux) if self.has_aux else matrix


def _require_number(value: Any) -> None:
    is_container = isinstance(value, (list, tuple, dict))
    if is_container or np.shape(value):
        what = f"a {type(value).__name__}" if is_container else f"an array of shape {np.shape(value)}"
        raise TypeError(f"hessian needs a function that returns a number, and this one returned {what}: use the "
                        "Jacobian of its gradient, or sum it up")  # fmt: skip


def _behind(argnum: int | str, leading: int) -> int | str:
    """The position among all arguments, of which these first ones are not counted."""
    return argnum + leading if isinstance(argnum, int) and argnum >= 0 else argnum


def _made(
    kind: Callable[..., Matrix], function: Any, argnums: Asked, word: str, has_aux: bool, debug: bool, holomorphic: bool,
    compile: bool = False,
) -> Any:  # fmt: skip
    """The matrix, or without a function the decorator that makes it."""

    def make(function: Callable[..., Any]) -> Matrix:
        made = kind(function, argnums, word, has_aux, debug, holomorphic)
        return made.as_loops() if compile else made

    return make if function is None else make(function)


def _function(function: Any, name: str) -> Any:
    if isinstance(function, Matrix) and function.followed is None:
        raise TypeError(f"{name} of {function!r} cannot be computed: it takes its arguments by position, and "
                        "has no `has_aux` and no `debug`")  # fmt: skip
    return function.followed if isinstance(function, Matrix) else function_given(function, name)


# --- public functions ---

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class OfArguments(Protocol[P, R]):
    """A matrix, as a function of the arguments."""

    source: str

    def __call__(self, /, *args: P.args, **keywords: P.kwargs) -> R: ...
    def source_for(self, /, *args: P.args, **keywords: P.kwargs) -> str:
        """The text for these arguments, for which the matrix is computed."""
        ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any: ...


class Makes(Protocol):
    """How a matrix is asked for: of a function, or by a decorator with options."""

    @overload
    def __call__(
        self,
        function: Callable[P, Any],
        argnums: Asked = ...,
        *,
        has_aux: bool = ...,
        debug: bool = ...,
        holomorphic: bool = ...,
        compile: bool = ...,
    ) -> OfArguments[P, Any]: ...
    @overload
    def __call__(
        self,
        function: None = None,
        argnums: Asked = ...,
        *,
        has_aux: bool = ...,
        debug: bool = ...,
        holomorphic: bool = ...,
        compile: bool = ...,
    ) -> Callable[[Callable[P, Any]], OfArguments[P, Any]]: ...


class MakesWithValue(Protocol):
    """The same of a matrix that comes with the value."""

    @overload
    def __call__(
        self,
        function: Callable[P, R],
        argnums: Asked = ...,
        *,
        has_aux: bool = ...,
        debug: bool = ...,
        holomorphic: bool = ...,
    ) -> OfArguments[P, tuple[R, Any]]: ...
    @overload
    def __call__(
        self, function: None = None, argnums: Asked = ..., *, has_aux: bool = ..., debug: bool = ..., holomorphic: bool = ...
    ) -> Callable[[Callable[P, Any]], OfArguments[P, tuple[Any, Any]]]: ...


def _makes(function: Callable[..., Any]) -> Makes:
    """The function, of a type that carries on the arguments of the user's function."""
    return function


def _makes_with_value(function: Callable[..., Any]) -> MakesWithValue:
    return function


@_makes
@entry
def jacfwd(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False,
    holomorphic: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian by forward mode, column by column: for functions with few inputs.

    >>> jacfwd(lambda x: np.array([x, x * x]))(3.0)
    array([1., 6.])
    """
    return _made(Forward, function, argnums, "jacobian", has_aux, debug, holomorphic, compile)


@_makes
@entry
def jacrev(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False,
    holomorphic: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian by reverse mode, row by row: for functions with few outputs.

    With `compile=True` each row is a run of the gradient's loops, if it has any (docs/compiled.md).

    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _made(Reverse, function, argnums, "jacobian", has_aux, debug, holomorphic, compile)


@_makes
@entry
def jacobian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False,
    holomorphic: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The Jacobian, by forward or by reverse mode, whichever is expected to be cheaper.

    Its shape is that of the value followed by that of the argument; values and arguments may be nested lists, tuples and
    dicts.  `argnums` as for `grad`; a tuple of them gives a tuple of Jacobians.  In complex arguments it is that of a
    holomorphic function, with `holomorphic=True`; of real ones a complex result has a complex Jacobian.

    With `compile=True` its tangents run as loops, as far as they have any (docs/compiled.md).

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _made(Jacobian, function, argnums, "jacobian", has_aux, debug, holomorphic, compile)


@_makes
@entry
def hessian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False,
    holomorphic: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The second derivatives of a function that returns a number, of shape `argument.shape + argument.shape`.

    With `compile=True` its tangents run as loops, as far as they have any (docs/compiled.md).

    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return _made(Hessian, function, argnums, "hessian", has_aux, debug, holomorphic, compile)


@overload
def elementwise_grad(
    function: Callable[P, Any], argnums: Asked = ..., *, has_aux: bool = ..., debug: bool = ...
) -> Gradient[P, Any]: ...
@overload
def elementwise_grad(
    function: None = None, argnums: Asked = ..., *, has_aux: bool = ..., debug: bool = ...
) -> Callable[[Callable[P, Any]], Gradient[P, Any]]: ...
@entry
def elementwise_grad(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False
) -> Any:
    """The derivative of an elementwise function, at each element.

    >>> elementwise_grad(np.sin)(np.array([0.0, np.pi]))
    array([ 1., -1.])
    """
    asked = checked(argnums)
    options = Options(several=isinstance(asked, tuple), has_aux=bool(has_aux), debug=bool(debug))

    def made(function: Callable[..., Any]) -> Gradient:
        return differentiated(_function(function, "elementwise_grad"), asked, options, None)

    return made if function is None else made(function)


@_makes_with_value
@entry
def value_and_jacobian(
    function: Callable[..., Any] | None = None, argnums: Asked = 0, *, has_aux: bool = False, debug: bool = False,
    holomorphic: bool = False,
) -> Any:  # fmt: skip
    """Like `jacobian`, but returns `(value, jacobian)`; with `has_aux`, `((value, aux), jacobian)`.

    >>> value_and_jacobian(lambda x: 2.0 * x)(3.0)
    (6.0, 2.0)
    """
    return _made(ValueAndJacobian, function, argnums, "value_and_jacobian", has_aux, debug, holomorphic)
