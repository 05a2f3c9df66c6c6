"""Tangents of functions: `jvp`.

jvp(lambda x: x * x, (3.0,), (1.0,))      ->      (9.0, 6.0)
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.number_types import is_real
from s2sgrad.api import converted, debugging, higher, linearized, showing, transposed
from s2sgrad.api.arguments import has_floats, require_separate
from s2sgrad.api.binding import Binds
from s2sgrad.api.derivative import Derivative
from s2sgrad.api.fitting import fitting
from s2sgrad.api.library import require_taken
from s2sgrad.api.loops import backend_for, looped
from s2sgrad.api.texts import MOST
from s2sgrad.api.whole import (
    Whole,
    may_run_again,
    of_complex_numbers,
    recorded_instead,
    renewed,
    turns_complex,
    written,
)
from s2sgrad.driver import cache
from s2sgrad.driver.options import LOOPS, Options
from s2sgrad.errors import Unsupported
from s2sgrad.errors.raised import entry
from s2sgrad.ir import seeds
from s2sgrad.ir.signatures import signature
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal, holds_complex_inside
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.given import require_real
from s2sgrad.runtime.lanes import count, zero_lanes
from s2sgrad.runtime.structure import holds_iterator
from s2sgrad.source import brings_gradient, read
from s2sgrad.standard import by_count, called_otherwise

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled

Places = dict[str, int | tuple[int, ...]]  # the positions of the arguments that each tangent keyword belongs to


IN_COMPLEX = (
    "within a differentiated function no matrix of derivatives is taken in complex numbers: use `jvp` or `vjp` there"
)


class Along(Derivative):
    """A function with its tangent along those of the arguments `argnums`."""

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: tuple[int, ...],
        options: Options,
        again: bool = False,
        bound: tuple = (),
    ) -> None:
        super().__init__(function, argnums, options, None, bound)
        self.again, self.active = bool(again), argnums  # `again`: as `jvp_again`
        self._placed: dict[Hashable, tuple[Compiled, Places]] = {}

    recorded_by = "recorded_tangent"

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """The value and its tangent, with tangents as keywords: called by texts that do not differentiate this one."""
        dots_of = {word: keywords.pop(word) for word in dict.fromkeys(self.words)}
        places = [p.partition("[")[2] for p in self._request.wrt()]
        tangents = (dots_of[w] if not k else dots_of[w][int(k[:-1])] for w, k in zip(self.words, places, strict=True))
        return self.along(args, tuple(tangents), keywords)

    def along(self, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
        """The value and its tangent; `tangents` are those of the argnums, each with the structure of its primal."""
        request = self._request
        if self.again and any(holds_complex_inside(p) for k, p in enumerate(primals) if k in self.active):
            raise Unsupported(IN_COMPLEX)
        args, asked, keywords = request.lead + primals, keywords, {**request.keywords, **keywords}
        compiled, places = self._ready(args, keywords)
        if isinstance(compiled, Whole):
            return compiled.function(args, tangents, keywords)
        if compiled.written:
            require_separate(request.arguments(args, keywords), compiled.written, request.function, compiled.outside())
        dots = {word: tangent_at(self, place, args, tangents) for word, place in places.items()}
        words = {**keywords, **self._seeds(compiled, None), **dots}
        if request.options.debug:
            return debugging.run(compiled.function, args, words, request.function, request.options)
        try:
            run = compiled.function if request.options.backend != LOOPS else looped(compiled)
            return run(*args, **words)
        except Refusal as error:
            if turns_complex(self, error, args, keywords):
                return of_complex_numbers(self).along(primals, tangents, asked)
            if self.again or request.options.lanes or not may_run_again(self, error, args, keywords):
                raise
            return recorded_instead(self, error, args, tangents, keywords)

    def repeats(self, primals: tuple, keywords: dict[str, Any]) -> bool:
        """Whether runs at these primals do the same, one after the other, and leave nothing behind; nothing is called."""
        compiled, _ = self._ready(self._request.lead + primals, {**self._request.keywords, **keywords})
        if isinstance(compiled, Whole) or holds_iterator((primals, keywords)):
            return False
        return compiled.facts.repeats

    def _ready(self, args: tuple, keywords: dict[str, Any]) -> tuple[Compiled, Places]:
        """The compiled function for these arguments, and where its tangents belong."""
        shapes = shapes_of((*args, *keywords.values()))
        quick = None if shapes is None else (tuple(keywords), shapes)
        compiled, places = self._placed.get(quick, (None, {}))
        if compiled is None or not compiled.holds():
            compiled = self._compiled(args, keywords, quick)
            if isinstance(compiled, Whole):
                if self.again or self._request.options.lanes:
                    raise renewed(compiled.error)
                self._latest = compiled
                return compiled, {}
            places = self.places(compiled, len(args))
            if quick is not None and not compiled.unsure:
                if len(self._placed) >= MOST:
                    self._placed.clear()
                self._placed[quick] = compiled, places
        self._require_repeatable(compiled)
        self._latest = compiled
        return compiled, places

    def require_untouched(self) -> None:
        """Refuse a function known only at run time that writes its arguments, or what lives outside of it: its caller does
        not expect that."""
        latest = self._latest
        if latest is None or isinstance(latest, Whole):
            return
        if (outside := latest.facts.outside) is not None:
            raise outside.with_traceback(None)
        for parameter in latest.written:
            name = self._request.function.__name__
            raise Unsupported(f"`{name}` writes its argument `{parameter}`, which cannot be followed where the function is "
                              "only known at run time: write a copy, and return what is wanted")  # fmt: skip

    @property
    def words(self) -> tuple[str, ...]:
        """The keywords for the tangents."""
        names = [p.partition("[")[0] for p in self._request.wrt()]
        return tuple(seeds.tangent_words(self._request.function, names).values())

    @property
    def __signature__(self) -> inspect.Signature:
        own = signature(self._request.function)
        parameters, last = list(own.parameters.values())[len(self._request.lead) :], []
        if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
            last = [parameters.pop()]
        dots = [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY) for word in dict.fromkeys(self.words)]
        return own.replace(parameters=[*parameters, *dots, *last], return_annotation=own.empty)

    def compiled_for(self, kinds: dict[str, Any], of_complex: bool = False) -> Compiled:
        """The function with its tangent, for arguments of these kinds, as another function calls it."""
        asked = [kinds.get(p.partition("[")[0]) for p in self._request.wrt()]
        if self.again and of_complex and not all(map(is_real, asked)):
            raise Unsupported(IN_COMPLEX)
        compiled = super().compiled_for({p: kind for p, kind in kinds.items() if p not in self.words}, of_complex)
        self._require_repeatable(compiled)
        return compiled

    def _require_repeatable(self, compiled: Compiled) -> None:
        if self.again and not compiled.facts.repeats:
            primal = read(self._request.function)
            raise Unsupported(f"`{primal.function.__name__}` would run again for each column or tangent here, and may do "
                              "something else then, as what draws numbers, prints, uses up an iterator or changes what "
                              "lives outside: pass in what it draws, and return what it changes",
                              primal.place(primal.tree))  # fmt: skip

    def places(self, compiled: Compiled, count: int) -> Places:
        """The positions of the arguments, bound ones included, that each tangent keyword of the generated function belongs
        to: one, or all in `*args`; there are `count` arguments."""
        parameters = cache.of(self._request.function.__code__).parameters
        out: Places = {}
        for parameter in self._request.wrt():
            name, _, several = parameter.partition("[")
            word = compiled.facts.dots[name]
            positions = range(len(parameters.positional), count)
            out[word] = tuple(positions) if several else parameters.positional.index(name)
        return out

    def unfolded(self, args: tuple, keywords: dict[str, Any]) -> tuple[Compiled, tuple, dict[str, Any]]:
        """The compiled function for these arguments, and the arguments by position and by keyword."""
        args, keywords = self._request.lead + args, {**self._request.keywords, **keywords}
        compiled = self._latest = written(self._compiled(args, keywords))
        self._require_repeatable(compiled)
        return compiled, args, {**keywords, **self._seeds(compiled, None)}


def tangent_at(along: Along, place: int | tuple[int, ...], args: tuple, tangents: tuple) -> Any:
    """The tangent of the argument at a position, or of those at several; zero where there is none."""
    if isinstance(place, tuple):
        return tuple(tangent_at(along, k, args, tangents) for k in place)
    request = along._request
    number = place - len(request.lead)
    if number in along.active:
        return tangents[along.active.index(number)]
    return zero_lanes(args[place], count(tangents)) if request.options.lanes else runtime.zeros(args[place])


class Jvp(Binds):
    """A function that returns the value and the tangent of another one: the result of `jvp(f)`.

    `.source` is the text for the latest primals, `.source_for(*primals)` the text for these, with a tangent for each that
    has floats.
    """

    show, _repr_html_, __dir__ = showing.show, showing.framed, showing.names

    def __init__(
        self, function: Callable[..., Any], outputs: str | tuple[str, ...] | None = None, has_aux: bool = False,
        value: bool = True, lanes: bool = False, debug: bool = False, again: bool = False,
        compile_: bool = False,
    ) -> None:  # fmt: skip
        self.primal = self.given = function
        self.has_aux, self._again = has_aux, again
        self._options = Options(value, several=True, outputs=outputs, has_aux=has_aux, debug=debug,
                                backend=backend_for(compile_, False, debug),
                                along="lanes" if lanes else "tangents")  # fmt: skip
        self._made: dict[tuple[int, ...], Along] = {}
        self._latest: Along | None = None
        self.__name__ = self.__qualname__ = f"{its(function, '__name__', type(function).__name__)}_jvp"
        self.__doc__ = showing.described(f"Value of `{self.__name__[:-4]}` and its tangent", function)

    def of(self, function: Callable[..., Any]) -> Jvp:
        """The same of another function."""
        o = self._options
        return Jvp(function, o.outputs, o.has_aux, o.value, o.lanes, o.debug, self._again, self.is_compiled)

    @property
    def is_compiled(self) -> bool:
        """Whether it runs as loops, where it has any."""
        return self._options.backend == LOOPS

    def as_loops(self) -> None:
        """Run as loops from now on, where there are any."""
        self._options = replace(self._options, backend=backend_for(True, False, self._options.debug))
        self._made.clear()

    def along(self, active: tuple[int, ...]) -> Along:
        """The function along tangents of the arguments at these positions."""
        if active not in self._made:
            self._made[active] = Along(self.primal, active, self._options, self._again)
        self._latest = self._made[active]
        return self._latest

    @entry
    def __call__(self, /, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any) -> Any:
        """`(value, tangent)` at the primals, along the tangents; None for a tangent that is zero."""
        primals, tangents = fitting(primals, tangents, self.primal)
        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        return self.along(active).along(primals, tuple(tangents[k] for k in active), keywords)

    @property
    def below(self) -> Compiled | None:
        """The gradient compiled for the latest primals, if this is the tangent of a gradient."""
        along = self._latest
        return None if along is None or along._latest is None else along._latest.below

    @property
    @entry
    def source(self) -> str:
        """The text of the generated function for the latest primals; before any call, for the tangent of the first one."""
        return (self._latest or self.along((0,))).source

    @entry
    def source_for(self, /, *primals: Any, **keywords: Any) -> str:
        """The text of the generated function for primals of these kinds; nothing is called."""
        active = tuple(k for k, x in enumerate(primals) if has_floats(x))
        return self.along(active).source_for(*primals, **keywords)

    @entry
    def save(self, path: str | os.PathLike[str], standalone: bool = False, lines: bool = False) -> None:
        """Write a module with the text for the latest primals, as `grad(f).save` does."""
        (self._latest or self.along((0,))).save(path, standalone, lines)

    def __repr__(self) -> str:
        return f"<value and tangent of {its(self.primal, '__qualname__', self.primal)}>"


def jvp(
    function: Any, primals: Any, tangents: Any, outputs: Any = None, has_aux: bool = False, debug: bool = False,
    again: bool = False, compile: bool = False,
) -> Any:  # fmt: skip
    """The public `jvp`: `(value, tangent)`, or a function of primals and tangents; or `jvp_again`."""
    pullbacks.function_given(function, "jvp")
    if has_aux and outputs is not None:
        raise ValueError("has_aux=True is about what a function returns, outputs= about what it writes: give one of them")
    outputs = outputs if outputs is None or isinstance(outputs, str) else tuple(outputs)
    derivative = Jvp(function, outputs, bool(has_aux), debug=bool(debug), again=again, compile_=compile)
    if primals is None and tangents is None:
        return derivative
    if primals is None or tangents is None:
        raise TypeError("jvp takes primals and tangents, or neither: jvp(f, (x,), (x_dot,))")
    return derivative(primals, tangents)


def tangent_for(function: Any, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
    """The value and the tangent of a function known only at the call; tangents come from the generated text."""
    function, primals, tangents, keywords = _as_called(function, primals, tangents, keywords)
    if function in (runtime.vjp, pullbacks.vjp, pullbacks.vjp_of_closure):
        return linearized.of_vjp(function, primals, tangents, keywords, tangent_for)
    if function in higher.JVP:
        return _of_tangent(function, primals, tangents, keywords)
    if isinstance(function, higher.Forward):
        return function.along(primals, tangents, keywords, tangent_for)
    if isinstance(function, higher.Call) and function.level:
        return function.along(primals, tangents, tangent_for)
    if function is runtime.call or isinstance(function, higher.Call):
        return linearized.of_pullback(primals[0], tangents[0], primals[1:], tangents[1:], tangent_for)
    if isinstance(function, (runtime.Pullback, Closure)):
        return linearized.of_pullback(function, None, primals, tangents, tangent_for)
    if brings_gradient(its(function, "__func__", function)):
        return transposed.tangent(function, primals, tangents, keywords)
    active = tuple(k for k, t in enumerate(tangents) if t is not None and has_floats(primals[k]))
    _require_followed(primals, tangents, active)
    if not active or table.is_flat(function):
        return _flat(function, primals, keywords)
    along = Jvp(function).along(active)
    require_taken(along._request.function, len(along._request.lead) + len(primals), keywords)
    result = along.along(primals, tuple(tangents[k] for k in active), keywords)
    along.require_untouched()
    return result


def _require_followed(primals: tuple, tangents: tuple, active: tuple[int, ...]) -> None:
    """TypeError where an argument beside the active ones may carry derivatives."""
    for k in {k for k, t in enumerate(tangents) if t is not None} - {*active}:
        if not isinstance(primals[k], _FOLLOWED) and not _is_still(tangents[k]):
            what = type(primals[k]).__name__
            raise TypeError(f"a {what} that carries derivatives cannot be followed yet: pass its data as arguments")


def _flat(function: Any, primals: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
    """The value of a function, and zeros."""
    value = function(*primals, **keywords)
    require_real(value, f"`{its(function, '__name__', function)}`")
    return value, runtime.zeros(value)


def _is_still(tangent: Any) -> bool:
    """Whether a tangent is that of a constant matrix."""
    return runtime.is_sparse(tangent) and not tangent.count_nonzero()


def _of_tangent(function: Any, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
    """The same of `jvp`."""
    if primals[0] is runtime.call and isinstance(primals[1][0], Closure):
        return tangent_for(function, *higher.of_closures(primals, tangents), keywords)
    f, inputs, dots = primals
    return tangent_for(unfolded(f, inputs, dots, higher.options_of(function, keywords)), primals, tangents, {})


def _as_called(function: Any, primals: tuple, tangents: tuple, keywords: dict[str, Any]) -> tuple[Any, tuple, tuple, dict]:
    """The call as one by position where it can be: the keywords of `call(f, .., word=v)`, and of its `vjp`, are given to
    `f`, and a function with captures arguments for parameters with defaults."""
    place = next((k for k, f in enumerate((function, *primals[:1])) if f is runtime.call), None)
    if keywords and place is not None:
        named, keywords = runtime.by_name(primals[place:], keywords)
        primals = (*primals[:place], *named)
    given, dots = (primals, tangents) if function is runtime.call else ((function, *primals), (None, *tangents))
    if runtime.is_called_otherwise(given[0], len(given) - 1, keywords):
        return called_otherwise, given, dots, {"words": keywords}
    return by_count(function, len(primals), keywords), primals, tangents, keywords


_FOLLOWED = (int, str, bytes, type(None), np.ndarray, np.generic, list, tuple, dict, Closure)


def unfolded(function: Any, primals: Any, tangents: Any, options: dict[str, Any]) -> types.FunctionType:
    """A function with source that computes `jvp` of a function: of the function, primals and tangents."""
    inputs, dots = fitting(primals, tangents, function)
    higher.require_constant(function, "jvp")
    if function is runtime.call:
        raise Unsupported("the gradient of a tangent of a function that is only known at run time is not followed: take "
                          "`jvp` of the gradient")  # fmt: skip
    if function in (runtime.vjp, pullbacks.vjp, pullbacks.vjp_of_closure):
        raise Unsupported("the gradient of a tangent of a gradient, of a function that is only known at run time, is not "
                          "followed: take `jvp` of it last, or name the function")  # fmt: skip
    if function in higher.JVP:  # a tangent of a tangent
        below, primals_, tangents_ = inputs
        function = unfolded(below, primals_, tangents_, higher.options_of(function, {}))
    function, receivers = converted.again(function, inputs)
    inputs, dots = inputs[receivers:], dots[receivers:]
    along = Jvp(function, **options).along(tuple(k for k, t in enumerate(dots) if t is not None))
    compiled, args, keywords = along.unfolded(inputs, {})
    along.require_untouched()
    return linearized.of_jvp(compiled.function, along.places(compiled, len(args)), args, len(inputs), along.active, keywords)
