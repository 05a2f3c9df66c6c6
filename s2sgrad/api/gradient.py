"""The gradient of a function as an object: compiles for the arguments of each call, and shows its text."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from s2sgrad.analysis.call_keys import NUMBERS, shapes_of
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.api import debugging, travel
from s2sgrad.api.argnums import Argnums
from s2sgrad.api.arguments import pairs_of_arrays, require_separate
from s2sgrad.api.binding import Binds, OfInstances, as_bound
from s2sgrad.api.derivative import Derivative
from s2sgrad.api.forward_over_reverse import exchanged
from s2sgrad.api.loops import looped
from s2sgrad.api.request import Request
from s2sgrad.api.texts import MOST, Texts, unwritten
from s2sgrad.api.whole import another_way, written
from s2sgrad.driver.options import DEFAULT, LOOPS, THREADS, Options
from s2sgrad.errors import S2SGradError
from s2sgrad.errors.cycles import explained
from s2sgrad.errors.raised import behind_partial, leaving, located
from s2sgrad.ir.signatures import signature
from s2sgrad.pullbacks import function_given
from s2sgrad.runtime.results import NoResult
from s2sgrad.runtime.structure import seed_of_number
from s2sgrad.runtime.traits import declare

if TYPE_CHECKING:  # imported at the first compilation, to keep `import s2sgrad` fast
    from s2sgrad.driver.recipe import Compiled


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Receiver = TypeVar("Receiver")


class Gradient(Derivative, Generic[P, R]):
    """The gradient of a function, as a function: the result of `grad` and `value_and_grad`.

    Nothing is read or compiled before the first call (or `.source`).  `.primal` is the original function, `.source` the
    text for the latest arguments (before any call, for arguments of unknown kind), `.source_for(*args)` the text for these.
    """

    recorded_by = "recorded_gradient"

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, options: Options, seed: Any, bound: tuple = ()
    ) -> None:
        super().__init__(function, argnums, options, seed, bound)
        self._binds = self._request.binds
        self._unbound: Gradient | None = None
        self._exchanged: Any = None

    def _of_gradient(self, gradient: Derivative, key: Kinds, texts: Texts | None = None) -> Compiled:
        if self._exchanged is None:
            self._exchanged = exchanged(gradient, self)
        compiled = self._exchanged.text(self, key) if self._exchanged and texts is None else None
        return compiled or super()._of_gradient(gradient, key, texts)

    # --- calling ---

    @overload
    def __call__(self, /, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(self, /, *args: Any, seed: Any, **keywords: Any) -> R: ...
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        front, call = self._texts.kept.front, None
        try:
            try:
                if not keywords and (run := front(args)) is not None:
                    return run(*args)
                call = _Call(self, args, keywords)
                run = call.found()
                return run(*call.args, **call.keywords)
            except NoResult as error:
                raise (call or _Call(self, args, keywords, front)).naming(error) from None
            except (call or _Call(self, args, keywords, front)).gives_up_on:
                call = call or _Call(self, args, keywords, front)
                again, keywords = call.again(keywords)
            return again(*args, **keywords)
        except Exception as error:
            __tracebackhide__ = True  # for pytest and IPython, which can hide this frame as well
            call = call or _Call(self, args, keywords, front)
            found, error = error, located(explained(error, call.values), self._request.function)
            way, behind = another_way(self, found, error, call.args, call.plain), error.__traceback__
            try:
                if way is None:
                    raise error
                return way(self, error, (args, keywords), call.seed, call.args, call.keywords)
            except Exception as last:
                leaving(last, error, behind)
                raise  # which adds no frame

    def by_default(self) -> Gradient:
        """The gradient by the default backend, with the same results."""
        usual: Gradient = self._with(dataclasses.replace(self._request.options, backend=DEFAULT, debug=False))
        return usual

    @property
    def asked(self) -> Hashable:
        """The kind of request, equal for gradients of functions of one code; None if arguments are bound."""
        r, plain = self._request, not (self._seeded or self._request.lead or self._request.keywords)
        return (type(self), r.inner is None, r.argnums, r.options, r.binds) if plain else None

    # --- inspection ---

    @OfInstances
    def __wrapped__(self) -> types.FunctionType:
        """The generated function, for inspect.getsource and help; AttributeError where `.source` raises."""
        try:
            return self._shown().shown()
        except (S2SGradError, TypeError) as error:  # tools such as doctest call hasattr and must not fail
            raise AttributeError(f"{self.__name__} has no generated function: {error}") from error

    @OfInstances
    def __signature__(self) -> inspect.Signature:
        """The function's own signature without bound arguments, with the keyword for the cotangent."""
        own = signature(self._request.function)
        parameters: list[inspect.Parameter] = []
        for p in list(own.parameters.values())[len(self._request.lead) :]:
            if p.name in self._request.keywords:
                p = p.replace(default=self._request.keywords[p.name], kind=p.KEYWORD_ONLY)
            elif any(q.kind is p.KEYWORD_ONLY for q in parameters) and p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL):
                if p.kind is p.VAR_POSITIONAL:
                    continue
                p = p.replace(kind=p.KEYWORD_ONLY)
            parameters.append(p)
        seed = inspect.Parameter(self._request.word.name, inspect.Parameter.KEYWORD_ONLY, default=None)
        place = len(parameters) - (bool(parameters) and parameters[-1].kind is seed.VAR_KEYWORD)
        parameters.insert(place, seed)
        return own.replace(parameters=parameters, return_annotation=own.empty)

    def __repr__(self) -> str:
        what = "value and gradient" if self._request.options.value else "gradient"
        return f"<{what} of {self._request.function.__qualname__} in {self._request.argnums!r}>"

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Gradient[P, R]: ...
    @overload
    def __get__(
        self: Gradient[Concatenate[Receiver, Q], R], instance: Receiver, owner: type | None = None
    ) -> Gradient[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if isinstance(self.primal, Binds):
            primal = as_bound(self.primal, instance, owner)
            if primal is self.primal:
                return self
            bound = type(self)(primal, self._request.argnums, self._request.options, self._seed)
        elif self._request.lead or not self._request.binds or (instance is None and self._request.binds == "instance"):
            return self
        else:
            receiver = (instance if owner is None else owner) if self._request.binds == "class" else instance
            bound = type(self)(self.primal, self._request.argnums, self._request.options, self._seed, (receiver,))
        bound._texts.kept = self._texts.of_methods
        bound._unbound = self
        return bound

    def __reduce__(self) -> str | tuple:
        if self._unbound is not None:
            return _bound, (self._unbound, self._request.lead[-1])
        name = travel.global_name(self, self._request.function)
        if name is not None:
            return name
        owner = travel.owner_of(self, self._request.function)
        if owner is not None:
            return travel.in_class, (owner, self._request.function.__qualname__.rpartition(".")[2])
        return _arrived, (
            self.primal,
            self._request.argnums,
            self._request.options,
            self._seed,
            travel.texts_of(self._request.function),
        )

    def taken_apart_for(self, args: tuple, keywords: dict[str, Any]) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
        """The generated function for arguments of these kinds, and its bound and keyword arguments."""
        keywords = {**self._request.keywords, **keywords}
        seed = self._request.word.taken(keywords)
        compiled = written(self.to_be_differentiated()._compiled(self._request.lead + args, keywords))
        declare(compiled.function, origin=("grad", self.to_be_differentiated(), compiled.key, compiled.recipe))
        return compiled.function, self._request.lead, {**keywords, **self._seeds(compiled, seed)}

    def _seeds(self, compiled: Compiled, seed: Any) -> dict[str, Any]:
        """The arguments of the generated function for cotangents; that of the call replaces the gradient's own."""
        seed = self._seed if seed is None else seed
        own = {} if seed is None else {compiled.seed: seed_of_number(seed) if compiled.scalar else seed}
        return {**super()._seeds(compiled, None), **own}

    def generated_for(self, args: tuple, keywords: dict[str, Any]) -> types.FunctionType:
        """The generated function for arguments of these kinds."""
        compiled = self._compiled(self._request.lead + args, {**self._request.keywords, **keywords})
        function: types.FunctionType = written(compiled).function
        return function


def differentiated(function: Any, argnums: Argnums, options: Options, seed: Any) -> Gradient:
    """The gradient object for a function, or for a gradient."""
    inner = behind_partial(function_given(function, "grad"))
    theirs = inner._request.options if isinstance(inner, Gradient) else options
    if theirs is not options and theirs.has_aux and (theirs.value or not options.has_aux):
        inner, has_value = inner.__name__, theirs.value
        way = f"grad(.., has_aux=True) of it, not {inner}" if has_value else "has_aux=True here, too"
        raise TypeError(f"`{inner}` was made with has_aux=True and returns what has no one derivative: say {way}")
    return Gradient(function, argnums, options, seed)


def _arrived(function: Any, argnums: Argnums, options: Options, seed: Any, texts: travel.Texts) -> Gradient:
    travel.register(function, texts)
    return differentiated(function, argnums, options, seed)


def _bound(gradient: Gradient, receiver: Any) -> Gradient:
    of_instance = gradient._request.binds == "instance"
    return gradient.__get__(receiver, type(receiver)) if of_instance else gradient.__get__(None, receiver)


class _Call:
    """A call of a gradient whose text is looked up, or that failed, with the `front` that it took.

    `compiled` is None until it is found. `args` and `keywords` are those of the text, `plain` of the function.
    """

    __slots__ = "args", "compiled", "gradient", "keywords", "plain", "seed"

    def __init__(self, gradient: Gradient, args: tuple, keywords: dict[str, Any], front: Any = None) -> None:
        self.gradient, self.args, self.keywords, self.plain, self.seed = gradient, args, keywords, keywords, None
        taken = (compiled for compiled, written in gradient._texts.kept.fronts.values() if written is front)
        self.compiled: Compiled | None = None if front is None else next(taken, gradient._latest)

    def found(self) -> Callable[..., Any]:
        """What is to be called with `args` and `keywords`."""
        gradient, request = self.gradient, self.gradient._request
        gradient._texts.kept.front = unwritten
        self.seed = request.word.taken(self.keywords) if self.keywords else None
        self.args, self.plain = request.lead + self.args, {**request.keywords, **self.keywords}
        self.keywords = self.plain
        self.compiled = _found(gradient, self.args, self.plain)
        if self.seed is not None or gradient._seeded:
            self.keywords = {**self.plain, **gradient._seeds(self.compiled, self.seed)}
        if self.compiled.written:
            _require_separate(request, self.compiled, self.args, self.plain)
        gradient._latest = self.compiled
        return _runner(gradient, self.compiled)

    @property
    def gives_up_on(self) -> tuple[type[Exception], ...]:
        """The errors after which it runs in another way."""
        return () if self.compiled is None else self.compiled.gives_up_on

    def naming(self, error: Exception) -> Exception:
        """The error, with the name of the function that has no derivative."""
        return error if self.compiled is None else self.compiled.naming(error)

    def again(self, asked: dict[str, Any]) -> tuple[Gradient, dict[str, Any]]:
        """The gradient that runs in another way, and the keywords for it."""
        assert self.compiled is not None
        gradient = self.gradient
        seed = self.compiled.seed_again(gradient._seed if self.seed is None else self.seed)
        again = gradient.by_default() if self.compiled.backend.gives_up_on else gradient
        return again, {**asked, gradient._request.word.name: seed}

    @property
    def values(self) -> tuple:
        """All arguments."""
        return (*self.args, *self.keywords.values())


def _found(gradient: Gradient, args: tuple, keywords: dict[str, Any]) -> Compiled:
    """The text for these arguments: one that is kept for their types and shapes, and is right as before, or a new one."""
    kept = gradient._texts.kept
    if keywords:
        key: Any = shapes_of((*args, *keywords.values()))
        key = None if key is None else (tuple(keywords), key)
        compiled = kept.by_shape.get(key)
    else:
        key = tuple(map(type, args))
        compiled = kept.by_types.get(key)  # only numbers
        if compiled is None:
            key = shapes_of(args)
            compiled = kept.by_shape.get(key)
    if compiled is None or not compiled.holds():
        compiled = gradient._compiled(args, keywords, key)
        if key is not None and not compiled.unsure:
            quick = kept.by_types if not keywords and NUMBERS.issuperset(key) else kept.by_shape
            if len(quick) >= MOST:
                quick.clear()
            quick[key] = compiled
    elif not (keywords or gradient._request.lead or gradient._seeded or gradient._request.options.debug):
        _write_front(gradient, key, compiled, args)
    return compiled


def _write_front(gradient: Gradient, key: Hashable, compiled: Compiled, args: tuple) -> None:
    """Let calls with arguments like these go another way, which asks less."""
    from s2sgrad.driver import front

    request = gradient._request

    def allows(args: tuple) -> bool:
        _require_separate(request, compiled, args, {})
        return True

    arguments, pairs = request.arguments(args, {}), None
    if compiled.written and len(arguments) == len(args) and not compiled.recipe.outside:
        pairs = pairs_of_arrays(arguments, compiled.written)
    way = _runner(gradient, compiled), allows if pairs is None and compiled.written else pairs
    kept = gradient._texts.kept
    kept.front = front.of_key(kept.fronts, key, compiled, args, request.function, way)


def _require_separate(request: Request, compiled: Compiled, args: tuple, keywords: dict[str, Any]) -> None:
    """Raise ValueError if an argument that the text writes shares memory with another one, or with what it reads by name."""
    require_separate(request.arguments(args, keywords), compiled.written, request.function, compiled.outside())


def _runner(gradient: Gradient, compiled: Compiled) -> Callable[..., Any]:
    """What runs a text."""
    options = gradient._request.options
    if options.debug:
        function = gradient._request.function
        return lambda *args, **keywords: debugging.run(compiled.function, args, keywords, function, options)
    return looped(compiled, options.backend == THREADS) if options.backend in (LOOPS, THREADS) else compiled.function
