"""The gradient of a function as an object: compiles for the arguments of each call, and shows its text."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from s2sgrad.analysis.call_keys import NUMBERS, shapes_of
from s2sgrad.analysis.kinds import UNKNOWN, Kind, Number
from s2sgrad.analysis.kinds_key import Forgotten, Kinds
from s2sgrad.analysis.value_kinds import kinds_by_name
from s2sgrad.api import debugging, travel
from s2sgrad.api.argnums import Argnums, parameter_named
from s2sgrad.api.arguments import require_floats, require_separate, require_trees
from s2sgrad.api.binding import Binds, OfInstances, as_bound, kind_of_binding, receiver_of
from s2sgrad.api.whole import Whole, may_run_again, recorded_instead, text_for, written, written_or_recorded
from s2sgrad.driver import cache
from s2sgrad.driver.options import DEFAULT, Options
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.errors.cycles import explained
from s2sgrad.errors.raised import behind_partial, entry, located
from s2sgrad.ir import seeds
from s2sgrad.ir.signatures import require_parameters, signature
from s2sgrad.pullbacks import function_given
from s2sgrad.runtime.results import NoResult
from s2sgrad.runtime.structure import seed_of_number
from s2sgrad.runtime.traits import declare

if TYPE_CHECKING:  # imported at the first compilation, to keep `import s2sgrad` fast
    from s2sgrad.driver.compiled import Compiled

MOST = 512  # cache of exact shapes; there are few texts, one per pattern of shapes


class Gradient(Binds):
    """The gradient of a function, as a function: the result of `grad` and `value_and_grad`.

    Nothing is read or compiled before the first call (or `.source`).  `.primal` is the original function, `.source` the
    text for the latest arguments (before any call, for arguments of unknown kind), `.source_for(*args)` the text for these.
    """

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, options: Options, seed: Any, bound: tuple = ()
    ) -> None:
        self.primal = function
        self._function, lead, self._keywords = self._taken_apart(function)
        if options.outputs is not None:
            require_parameters(self._function, options.outputs)
        self._lead, self._lead_bound = lead + bound, bound
        self._binds = kind_of_binding(function)
        self._word = seeds.Word(self._function.__name__, cache.of(self._function.__code__).parameters)
        self._argnums = argnums
        self._options = options
        self._seed = seed
        self._by_types: dict[tuple[type, ...], Compiled] = {}
        self._by_shape: dict[Hashable, Compiled] = {}
        self._recorded: dict[Kinds, Whole] = {}
        self._own: dict[Kinds, Compiled] = {}  # not shared, because the text refers to the user's objects
        self._of_bound: tuple[dict, dict, dict] = {}, {}, {}
        self._latest: Compiled | None = None
        self._unbound: Gradient | None = None
        self._others: dict[Options, Gradient] = {}
        self._seeded = seed is not None or (isinstance(self, GradientOfGradient) and self._inner._seeded)
        shown = self._shown_name()
        self.__name__ = self.__qualname__ = f"{shown}_{options.suffix}"
        self.__module__ = self._function.__module__
        self.__doc__ = f"Gradient of `{shown}`.  The generated function is in `.source`."

    def _taken_apart(self, function: Any) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
        """The underlying function, and the arguments that are bound to it."""
        from s2sgrad.api import higher, library

        higher.require_constant(function, "grad")
        return library.plain(function)

    def _shown_name(self) -> str:
        return self._function.__name__

    # --- calling ---

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        try:
            seed = self._word.taken(keywords) if keywords else None
            asked = args, keywords
            if self._lead:
                args = self._lead + args
            if self._keywords:
                keywords = {**self._keywords, **keywords}
            if keywords:
                key = shapes_of((*args, *keywords.values()))
                key = None if key is None else (tuple(keywords), key)
                compiled = self._by_shape.get(key)
            else:
                key = tuple(map(type, args))
                compiled = self._by_types.get(key)  # only numbers
                if compiled is None:
                    key = shapes_of(args)
                    compiled = self._by_shape.get(key)
            if compiled is None or not compiled.holds():
                compiled = self._compiled(args, keywords, key)
                if key is not None and not compiled.unsure:
                    of_numbers = not keywords and NUMBERS.issuperset(key)
                    quick: dict[Any, Compiled] = self._by_types if of_numbers else self._by_shape
                    if len(quick) >= MOST:
                        quick.clear()
                    quick[key] = compiled
            self._latest = compiled
            if compiled.written:
                arguments = self._arguments(args, keywords)
                require_separate(arguments, compiled.written, self._function, compiled.outside())
            if seed is not None or self._seeded:
                keywords = {**keywords, **self._seeds(compiled, seed)}
            try:
                if self._options.debug:
                    return debugging.run(compiled.function, args, keywords, self._function, self._options)
                return compiled.function(*args, **keywords) if keywords else compiled.function(*args)
            except NoResult as error:
                raise compiled.naming(error) from None
            except compiled.gives_up_on:
                keywords = {**asked[1], self._word.name: compiled.seed_again(self._seed if seed is None else seed)}
            return (self.by_default() if compiled.backend.gives_up_on else self)(*asked[0], **keywords)
        except Exception as error:
            __tracebackhide__ = True  # for pytest and IPython, which can hide this frame as well
            error = located(explained(error, (*args, *keywords.values())), self._function)
            if may_run_again(self, error):
                return recorded_instead(self, error, *args, **keywords)
            raise error

    def by_default(self) -> Gradient:
        """The gradient by the default backend, with the same results."""
        return self._with(dataclasses.replace(self._options, backend=DEFAULT, debug=False))

    def to_be_differentiated(self) -> Gradient:
        """The gradient whose text can be differentiated again, with the same results."""
        return self._with(self._options.to_be_differentiated)

    def _with(self, options: Options) -> Gradient:
        if options not in self._others and options != self._options:
            self._others[options] = type(self)(self.primal, self._argnums, options, self._seed, self._lead_bound)
        return self._others.get(options, self)

    def _compiled(self, args: tuple, keywords: dict[str, Any], quick: Hashable = None) -> Compiled:
        """The gradient compiled for the kinds of these arguments; `quick` is their quick key."""
        function = self._function
        family = self._family(function)
        if quick is not None and (function.__defaults__ or function.__kwdefaults__):
            defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
            more = shapes_of(defaults)
            quick = None if more is None else (quick, more, tuple(map(id, filter(callable, defaults))))
        recent_kinds = family.quick.get(quick)
        if recent_kinds is not None:
            with contextlib.suppress(Forgotten):
                return written_or_recorded(self, recent_kinds)
        arguments = self._arguments(args, keywords)
        require_trees(family.wrt, arguments)
        self._require_floats(family.wrt, arguments)
        key = Kinds(tuple(kinds_by_name(arguments, {*list(arguments)[: len(args)], *keywords}).items()))
        compiled = written_or_recorded(self, key)
        if quick is not None and not compiled.unsure:
            family.remember(quick, key)
        return compiled

    def _require_floats(self, wrt: tuple[str, ...], arguments: dict[str, Any]) -> None:
        """Raise TypeError if a differentiated argument has no floats."""
        for parameter in wrt:
            derivative = "tangent" if self._options.forward else "gradient"
            require_floats(parameter, arguments, self._function.__name__, derivative)

    def _family(self, function: types.FunctionType, options: Options | None = None) -> cache.Family:
        """The cache for functions of this code and this kind of request, or one with other options."""
        asked = self._argnums, options or self._options, self._binds, len(self._lead), *self._keywords
        code = cache.of(function.__code__)
        family = code.families.get(asked)
        return code.family(asked, self._wrt()) if family is None else family

    recorded_by = "recorded_gradient"  # what the run-time library knows it by

    def _of_kinds(self, key: Kinds) -> Compiled:
        """The gradient for arguments of these kinds."""
        if self._own and key in self._own and self._own[key].holds():
            return self._own[key]
        function = self._function
        compiled = self._made(function, key)
        if not compiled.recipe.shareable:
            again = self.to_be_differentiated() if compiled.recipe.facts.again else self
            self._own[key] = again._own[key] = compiled
        return compiled

    @property
    def asked(self) -> Hashable:
        """The kind of request, equal for gradients of functions of one code; None if arguments are bound."""
        plain = not (self._seeded or self._lead or self._keywords)
        return (type(self), self._argnums, self._options, self._binds) if plain else None

    def compiled_for(self, kinds: dict[str, Kind]) -> Compiled:
        """The gradient for arguments of these kinds, as another function calls it."""
        if self._seeded or self._lead or self._keywords:
            raise Unsupported(
                f"`{self.__name__}`, which has output_gradients or arguments that are bound to it, cannot be differentiated "
                "where it is called: make a gradient without, and pass them at the call"
            )
        return self.to_be_differentiated()._of_kinds(Kinds(tuple(kinds.items())))

    def _made(self, function: types.FunctionType, key: Kinds) -> Compiled:
        compiled = cache.compiled(self._family(function), key, function, lambda: self._compile(function, dict(key.items)))
        if compiled.recipe.facts.again:
            self._family(function, self._options.to_be_differentiated).add(key, compiled.recipe)
        return compiled

    def _compile(self, function: types.FunctionType, kinds: dict[str, Kind]) -> Compiled:
        from s2sgrad.driver import compiled

        return compiled.compile_gradient(function, kinds, self._wrt(), self._options)

    def _arguments(self, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
        """The arguments by parameter, defaults included."""
        arguments = cache.of(self._function.__code__).parameters.bound(self._function, args, keywords)
        if arguments is not None:
            return arguments
        try:
            signature(self._function).bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self._function.__name__}(): {error}") from None
        raise TypeError(f"{self._function.__name__}(): the arguments do not fit its parameters")

    def _wrt(self) -> tuple[str, ...]:
        """The names of the differentiated parameters; elements of `*args` as `args[k]`."""
        asked = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
        return tuple(map(self._parameter, asked))

    def _parameter(self, number: int | str) -> str:
        bound = len(self._lead) or (1 if self._binds == "class" else receiver_of(self._function))
        return parameter_named(self._function, number, bound, self._keywords)

    # --- inspection ---

    @property
    @entry
    def source(self) -> str:
        """The text of the generated function for the latest arguments; before any call, for arguments of unknown kind."""
        return self._shown().text

    @entry
    def source_for(self, /, *args: Any, **keywords: Any) -> str:
        """The text for arguments of these kinds, without a call; of what is recorded, that of a run that is short."""
        args, keywords = self._lead + args, {**self._keywords, **keywords}
        return text_for(self._compiled(args, keywords), args, keywords)

    def prepare(self, /, *args: Any, **keywords: Any) -> None:
        """Compile the text for arguments of these kinds, which `.source` and `save` then show."""
        self._latest = self._compiled(self._lead + args, {**self._keywords, **keywords})

    @entry
    def save(self, path: str | os.PathLike[str], standalone: bool = False, lines: bool = False) -> None:
        """Write a module with the text for the latest arguments, and with all that it imports.

        With `standalone` it includes the helpers of s2sgrad and does not need the package; with `lines` each statement names
        the line of the function that it came from, and so do tracebacks.  Raises ValueError for what no module can contain.
        """
        from s2sgrad.api import saving

        saving.save(path, saving.module_text(self._shown(), standalone, lines))

    def _shown(self) -> Compiled:
        if self._latest is None:
            names = cache.of(self._function.__code__).parameters.names
            self._latest = written_or_recorded(self, Kinds(tuple((name, UNKNOWN) for name in names)))
        return self._latest

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
        own = signature(self._function)
        parameters = []
        for p in list(own.parameters.values())[len(self._lead) :]:
            if p.name in self._keywords:
                p = p.replace(default=self._keywords[p.name], kind=p.KEYWORD_ONLY)
            elif any(q.kind is p.KEYWORD_ONLY for q in parameters) and p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL):
                if p.kind is p.VAR_POSITIONAL:
                    continue
                p = p.replace(kind=p.KEYWORD_ONLY)
            parameters.append(p)
        seed = inspect.Parameter(self._word.name, inspect.Parameter.KEYWORD_ONLY, default=None)
        place = len(parameters) - (bool(parameters) and parameters[-1].kind is seed.VAR_KEYWORD)
        parameters.insert(place, seed)
        return own.replace(parameters=parameters, return_annotation=own.empty)

    def __repr__(self) -> str:
        what = "value and gradient" if self._options.value else "gradient"
        return f"<{what} of {self._function.__qualname__} in {self._argnums!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Gradient:
        if isinstance(self.primal, Binds):
            primal = as_bound(self.primal, instance, owner)
            if primal is self.primal:
                return self
            bound = type(self)(primal, self._argnums, self._options, self._seed)
        elif self._lead or not self._binds or (instance is None and self._binds == "instance"):
            return self
        else:
            receiver = (instance if owner is None else owner) if self._binds == "class" else instance
            bound = type(self)(self.primal, self._argnums, self._options, self._seed, (receiver,))
        bound._by_types, bound._by_shape, bound._own = self._of_bound
        bound._unbound = self
        return bound

    def __reduce__(self) -> str | tuple:
        if self._unbound is not None:
            return _bound, (self._unbound, self._lead[-1])
        name = travel.global_name(self, self._function)
        if name is not None:
            return name
        owner = travel.owner_of(self, self._function)
        if owner is not None:
            return travel.in_class, (owner, self._function.__qualname__.rpartition(".")[2])
        return _arrived, (self.primal, self._argnums, self._options, self._seed, travel.texts_of(self._function))

    def taken_apart_for(self, args: tuple, keywords: dict[str, Any]) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
        """The generated function for arguments of these kinds, and its bound and keyword arguments."""
        keywords = {**self._keywords, **keywords}
        seed = self._word.taken(keywords)
        compiled = written(self.to_be_differentiated()._compiled(self._lead + args, keywords))
        declare(compiled.function, origin=("grad", self.to_be_differentiated(), compiled.key, compiled.recipe))
        return compiled.function, self._lead, {**keywords, **self._seeds(compiled, seed)}

    def _seeds(self, compiled: Compiled, seed: Any) -> dict[str, Any]:
        """The seed argument of the generated function; that of the call replaces the gradient's own."""
        seed = self._seed if seed is None else seed
        if seed is None:
            return {}
        return {compiled.seed: seed_of_number(seed) if compiled.scalar else seed}

    def generated_for(self, args: tuple, keywords: dict[str, Any]) -> types.FunctionType:
        """The generated function for arguments of these kinds."""
        return written(self._compiled(self._lead + args, {**self._keywords, **keywords})).function


class GradientOfGradient(Gradient):
    """The gradient of a gradient: its generated function is differentiated, once per signature."""

    def _taken_apart(self, function: Any) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
        lead: tuple = ()
        keywords: dict[str, Any] = {}
        while isinstance(function, functools.partial):
            lead, keywords = function.args + lead, {**function.keywords, **keywords}
            function = function.func
        self._inner: Gradient = function.to_be_differentiated()
        return function._function, function._lead + lead, {**function._keywords, **keywords}

    def _shown_name(self) -> str:
        return self._inner.__name__

    def _of_kinds(self, key: Kinds) -> Compiled:
        if self._own and key in self._own and self._own[key].holds():
            return self._own[key]
        inner = self._inner._of_kinds(key)
        seeds = self._inner._seeds(inner, None)
        kinds = ((name, Number(float) if type(seed) is float else UNKNOWN) for name, seed in seeds.items())
        compiled = self._made(inner.function, Kinds((*key.items, *kinds)) if seeds else key)
        compiled.below, compiled.key = inner, key
        if not (compiled.recipe.shareable and inner.recipe.shareable):
            self._own[key] = compiled
        return compiled

    def _seeds(self, compiled: Compiled, seed: Any) -> dict[str, Any]:
        return {**self._inner._seeds(compiled.below, None), **super()._seeds(compiled, seed)}


def differentiated(function: Any, argnums: Argnums, options: Options, seed: Any) -> Gradient:
    """The gradient object for a function, or for a gradient."""
    inner = behind_partial(function_given(function, "grad"))
    kind = GradientOfGradient if isinstance(inner, Gradient) else Gradient
    if kind is GradientOfGradient and inner._options.has_aux and (inner._options.value or not options.has_aux):
        inner, has_value = inner.__name__, inner._options.value
        way = f"grad(.., has_aux=True) of it, not {inner}" if has_value else "has_aux=True here, too"
        raise TypeError(f"`{inner}` was made with has_aux=True and returns what has no one derivative: say {way}")
    return kind(function, argnums, options, seed)


def _arrived(function: Any, argnums: Argnums, options: Options, seed: Any, texts: travel.Texts) -> Gradient:
    travel.register(function, texts)
    return differentiated(function, argnums, options, seed)


def _bound(gradient: Gradient, receiver: Any) -> Gradient:
    return gradient.__get__(receiver, type(receiver)) if gradient._binds == "instance" else gradient.__get__(None, receiver)
