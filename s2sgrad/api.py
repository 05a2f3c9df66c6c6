"""`grad` and `value_and_grad`: gradients of NumPy functions as functions, compiled for the arguments of each call."""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import UNKNOWN, Kind, kinds_of
from s2sgrad.arguments import NUMBERS, placed, require_floats, require_separate, shapes_of
from s2sgrad.checks import Refusal
from s2sgrad.errors import S2SGradError
from s2sgrad.options import Options

if TYPE_CHECKING:  # the compiler is imported when something is compiled: `import s2sgrad` stays quick
    from s2sgrad.compiled import Compiled

Argnums = int | str | tuple[int | str, ...]
Outputs = str | tuple[str, ...] | None
_LOCK = threading.RLock()
_MOST = 512  # signatures remembered by their exact shapes; the texts are few, one a pattern of shapes


class _OfInstances(property):
    """A property of the instances alone: the class itself keeps what it would have without."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            raise AttributeError
        return super().__get__(instance, owner)


class Gradient:
    """The gradient of a function, as a function: what `grad` and `value_and_grad` return.

    Nothing is read or compiled before the first call (or `.source`).  `.primal` is the original function, `.source` the
    text for the latest arguments (before any call: for arguments of any kind), `.source_for(*args)` the text for these.
    """

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, options: Options, seed: Any, bound: tuple = ()
    ) -> None:
        from s2sgrad.library import plain

        inner, receiver = plain(function)
        self.primal = function
        self._function = inner
        _require_parameters(inner, options.outputs)
        self._bound = bound or receiver
        self._binds = _binding(function)
        self._asked: tuple[str, ...] | None = None
        self._by_types: dict[tuple[type, ...], Compiled] = {}
        self._argnums = argnums
        self._options = options
        self._seed = seed
        self._by_shape: dict[Any, Compiled] = {}
        self._by_kind: dict[Any, Compiled] = {}
        self._latest: Compiled | None = None
        self._of_bound: tuple[dict, dict, dict] = {}, {}, {}
        self.__name__ = f"{inner.__name__}_{'value_and_grad' if options.value else 'grad'}"
        self.__qualname__ = self.__name__
        self.__module__ = inner.__module__
        self.__doc__ = f"Gradient of `{inner.__name__}`.  The generated function is in `.source`."

    # --- calling ---

    def __call__(self, *args: Any, seed: Any = None, **keywords: Any) -> Any:
        if self._bound:
            args = self._bound + args
        compiled = self._by_types.get(tuple(map(type, args)))  # numbers alone
        if compiled is None:
            key = shapes_of(args)
            compiled = self._by_shape.get(key)
        if compiled is None or keywords or not _hold(compiled.guards):
            compiled = self._compiled(args, keywords)
            if not keywords:
                self._remember(args, compiled)
        self._latest = compiled
        if compiled.written:
            given = self._arguments(args, keywords)
            require_separate(given, compiled.written, self._function, compiled.outside())
        if seed is None:
            seed = self._seed
            if seed is None:
                try:
                    return compiled.function(*args, **keywords) if keywords else compiled.function(*args)
                except Refusal as error:
                    raise placed(error, self._function) from None
        if compiled.scalar and np.shape(seed) != ():
            raise ValueError(f"the seed must have the shape of the result, (), not {np.shape(seed)}")
        return compiled.function(*args, **keywords, **{compiled.seed: seed})

    def _remember(self, args: tuple, compiled: Compiled) -> None:
        """Find this gradient at once for arguments that look the same."""
        key = shapes_of(args)
        if key is None:
            return
        quick: dict[Any, Compiled] = self._by_types if set(key) <= NUMBERS else self._by_shape
        if len(quick) >= _MOST:
            quick.clear()
        quick[key] = compiled

    def _compiled(self, args: tuple, keywords: dict[str, Any]) -> Compiled:
        """The gradient compiled for the kinds of these arguments."""
        given = self._arguments(args, keywords)
        kinds: dict[str, Kind] = dict(zip(given, kinds_of(given.values()), strict=True))
        for parameter in self._wrt():
            require_floats(parameter, given)
        key = tuple(kinds.items())
        with _LOCK:
            compiled = self._by_kind.get(key)
            if compiled is None or not compiled.holds():
                compiled = self._compile(kinds)
                self._by_kind[key] = compiled
        return compiled

    def compiled_for(self, kinds: dict[str, Kind]) -> Compiled:
        """The gradient for arguments of these kinds: what another function that calls it differentiates."""
        key = tuple(kinds.items())
        with _LOCK:
            compiled = self._by_kind.get(key)
            if compiled is None or not compiled.holds():
                compiled = self._by_kind[key] = self._compile(kinds)
        return compiled

    def _compile(self, kinds: dict[str, Kind]) -> Compiled:
        from s2sgrad.compiled import compile_gradient

        return compile_gradient(self._function, kinds, self._wrt(), self._options)

    def _arguments(self, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
        """The arguments by the names of their parameters, defaults included."""
        try:
            bound = inspect.signature(self._function).bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self._function.__name__}(): {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def _wrt(self) -> tuple[str, ...]:
        """The names of the differentiated parameters; elements of `*args` as `args[k]`."""
        if self._asked is None:
            asked = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
            self._asked = tuple(self._parameter(number) for number in asked)
        return self._asked

    def _parameter(self, number: int | str) -> str:
        parameters = list(inspect.signature(self._function).parameters.values())
        if isinstance(number, str):
            if number not in {p.name for p in parameters}:
                raise TypeError(f"{self._function.__name__} has no parameter named {number!r}")
            return number
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if self._bound or self._binds == "class" or (self._binds and _is_method(self._function, positional)):
            positional = positional[1:]
        place = number + len(positional) if number < 0 else number
        if 0 <= place < len(positional):
            return positional[place].name
        variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        if variadic is not None and place >= len(positional):
            return f"{variadic}[{place - len(positional)}]"
        raise TypeError(f"argnums={number} is out of range: {self._function.__name__} has {len(positional)} arguments")

    # --- looking ---

    @property
    def source(self) -> str:
        """The text of the generated function for the latest arguments; before any call, for arguments of any kind."""
        return self._shown().text

    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The text of the generated function for arguments of these kinds; nothing is called."""
        return self._compiled(self._bound + args, keywords).text

    def _shown(self) -> Compiled:
        if self._latest is None:
            kinds: dict[str, Kind] = dict.fromkeys(inspect.signature(self._function).parameters, UNKNOWN)
            key = tuple(kinds.items())
            with _LOCK:
                if key not in self._by_kind:
                    self._by_kind[key] = self._compile(kinds)
            return self._by_kind[key]
        return self._latest

    @_OfInstances
    def __wrapped__(self) -> types.FunctionType:
        """The generated function, so that inspect.getsource and help show it; none where `.source` raises."""
        try:
            return self._shown().function
        except (S2SGradError, TypeError) as error:  # hasattr is asked by tools that must not fail, such as doctest
            raise AttributeError(f"{self.__name__} has no generated function: {error}") from error

    @_OfInstances
    def __signature__(self) -> inspect.Signature:
        """The function's own, without a receiver that is bound, with the keyword `seed`."""
        signature = inspect.signature(self._function)
        parameters = list(signature.parameters.values())[len(self._bound) :]
        if all(p.name != "seed" for p in parameters):
            seed = inspect.Parameter("seed", inspect.Parameter.KEYWORD_ONLY, default=None)
            place = len(parameters) - (bool(parameters) and parameters[-1].kind is seed.VAR_KEYWORD)
            parameters.insert(place, seed)
        return signature.replace(parameters=parameters, return_annotation=signature.empty)

    def __repr__(self) -> str:
        what = "value and gradient" if self._options.value else "gradient"
        return f"<{what} of {self._function.__qualname__} in {self._argnums!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Gradient:
        if self._bound or not self._binds or (instance is None and self._binds == "instance"):
            return self
        receiver = (instance if owner is None else owner) if self._binds == "class" else instance
        bound = type(self)(self.primal, self._argnums, self._options, self._seed, (receiver,))
        bound._by_types, bound._by_shape, bound._by_kind = self._of_bound
        return bound

    def generated_for(self, args: tuple, keywords: dict[str, Any]) -> types.FunctionType:
        """The generated function for arguments of these kinds."""
        return self._compiled(self._bound + args, keywords).function


class _OfGradient(Gradient):
    """The gradient of a gradient: the generated function is differentiated, anew for each signature."""

    def __init__(self, function: Gradient, argnums: Argnums, options: Options, seed: Any, bound: tuple = ()) -> None:
        self._inner = function
        super().__init__(function._function, argnums, options, seed, bound or function._bound)
        self.primal = function
        self._binds = function._binds
        self.__name__ = self.__qualname__ = f"{function.__name__}_{'value_and_grad' if options.value else 'grad'}"
        self.__doc__ = f"Gradient of `{function.__name__}`.  The generated function is in `.source`."

    def _compile(self, kinds: dict[str, Kind]) -> Compiled:
        inner = self._inner._by_kind.get(tuple(kinds.items()))
        if inner is None or not inner.holds():
            inner = self._inner._by_kind[tuple(kinds.items())] = self._inner._compile(kinds)
        from s2sgrad.compiled import compile_gradient

        compiled = compile_gradient(inner.function, kinds, self._wrt(), self._options)
        return compiled.also(inner)


def _require_parameters(function: types.FunctionType, outputs: Outputs) -> None:
    known = inspect.signature(function).parameters
    for p in (outputs,) if isinstance(outputs, str) else outputs or ():
        if p not in known:
            raise TypeError(f"{function.__name__} has no parameter named {p!r}, which `outputs` names")


def _is_method(function: types.FunctionType, positional: list[inspect.Parameter]) -> bool:
    owner = function.__qualname__.rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>") and bool(positional) and positional[0].name in ("self", "cls")


def _binding(function: Any) -> str:
    """What attribute access binds, as for the function itself: "instance", "class", or nothing."""
    if isinstance(function, Gradient):
        return function._binds
    if isinstance(function, classmethod):
        return "class"
    return "instance" if isinstance(function, types.FunctionType) else ""


def _hold(guards: tuple[Callable[[], bool], ...]) -> bool:
    for guard in guards:  # noqa: SIM110  (a generator costs more than the guards)
        if not guard():
            return False
    return True


def _made(
    function: Any, argnums: Argnums, value: bool, output_gradients: Any, unconnected_gradients: str, outputs: Outputs
) -> Any:
    if unconnected_gradients not in ("zero", "none"):
        raise ValueError(f"unconnected_gradients must be 'zero' or 'none', not {unconnected_gradients!r}")
    if isinstance(argnums, list):
        argnums = tuple(argnums)
    if isinstance(outputs, list):
        outputs = tuple(outputs)
    options = Options(value, isinstance(argnums, tuple), unconnected_gradients, outputs)
    if function is None:
        return functools.partial(_applied, argnums, options, output_gradients)
    return _applied(argnums, options, output_gradients, function)


def _applied(argnums: Argnums, options: Options, seed: Any, function: Any) -> Gradient:
    if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"grad needs a function, not {type(function).__name__}")
    kind = _OfGradient if isinstance(function, Gradient) else Gradient
    return kind(function, argnums, options, seed)


@overload
def grad(
    function: Callable[..., Any],
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Gradient: ...
@overload
def grad(
    function: None = None,
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...
def grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
) -> Any:
    """The gradient of a function of numbers and arrays, as a function of the same arguments.

    `argnums` says in which arguments: a position, a parameter's name, or a tuple of them (then the result is a tuple).
    The gradient has the shape and dtype of its argument.  If the function returns arrays or containers, the result is
    the gradient of the sum over all their elements, each weighted by `output_gradients` (or, for one call, by the
    keyword `seed`), which has the structure and shape of the result.  An argument that does not reach the result has a
    gradient of zeros, or None with `unconnected_gradients="none"`.

    With `outputs`, the names of arguments that the function writes, it is the gradient of what these hold at the end (of one
    name, or of a tuple of them), whatever the function returns.  The caller's arrays are never changed.

    Use it as a call, `grad(f)`, as a decorator, `@grad`, or as a decorator with options, `@grad(argnums="w")`.

    Raises Unsupported, NoRule or NoSource, with the place in the user's file, where it cannot give the right number;
    TypeError for an integer argument; ValueError for a seed of the wrong structure or shape.

    >>> @grad
    ... def area(r):
    ...     return 3.0 * r ** 2
    >>> area(2.0)
    12.0
    """
    return _made(function, argnums, False, output_gradients, unconnected_gradients, outputs)


@overload
def value_and_grad(
    function: Callable[..., Any],
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Gradient: ...
@overload
def value_and_grad(
    function: None = None,
    argnums: Argnums = ...,
    *,
    output_gradients: Any = ...,
    unconnected_gradients: str = ...,
    outputs: Outputs = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...
def value_and_grad(
    function: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    output_gradients: Any = None,
    unconnected_gradients: str = "zero",
    outputs: Outputs = None,
) -> Any:
    """Like `grad`, but returns `(value, gradient)`: what `scipy.optimize.minimize(..., jac=True)` wants.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _made(function, argnums, True, output_gradients, unconnected_gradients, outputs)


def vjp(f: Callable[..., Any], *primals: Any, **keywords: Any) -> tuple[Any, runtime.Pullback]:
    """The value of `f` at the primals, and its pullback: from a cotangent of the value to a tuple of cotangents.

    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> y, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    return runtime.vjp(f, *primals, **keywords)


def _pair_for(f: Any, primals: tuple, keywords: dict[str, Any]) -> Any:
    from s2sgrad.dynamic import pair_for

    return pair_for(f, primals, keywords)


runtime.provide(_pair_for)
