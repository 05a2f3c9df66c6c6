"""What gradients and tangents have in common: a request, its texts, and the text that is shown.

grad(f).source, jvp(f).source      ->      the text for the latest arguments
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.kinds import UNKNOWN, Kind, Number
from s2sgrad.analysis.kinds_key import Forgotten, Kinds
from s2sgrad.analysis.value_kinds import kinds_by_name
from s2sgrad.api import showing
from s2sgrad.api.argnums import Argnums
from s2sgrad.api.arguments import require_trees
from s2sgrad.api.binding import Binds
from s2sgrad.api.loops import explained, source_of
from s2sgrad.api.request import Request
from s2sgrad.api.texts import Texts, unwritten
from s2sgrad.api.whole import of_complex_numbers, text_for, written_or_recorded
from s2sgrad.driver import cache
from s2sgrad.driver.options import Options
from s2sgrad.errors import Unsupported
from s2sgrad.errors.raised import behind_partial, entry
from s2sgrad.runtime.checks import holds_complex_inside

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled


class Derivative(Binds):
    """A derivative of a function, in arguments that are asked for; of a gradient, the generated function is differentiated,
    once per signature."""

    _requested = Request
    show, _repr_html_, __dir__ = showing.show, showing.framed, showing.names
    if not TYPE_CHECKING:  # checkers would take any attribute
        __getattr__ = showing.unknown
    recorded_by = ""  # what the run-time library knows it by

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, options: Options, seed: Any = None, bound: tuple = ()
    ) -> None:
        self.primal = function
        inner = behind_partial(function)
        inner = inner.to_be_differentiated() if isinstance(inner, Derivative) else None
        self._request = self._requested(function, argnums, options, bound, inner)
        self._texts = Texts(self._request)
        self._seed = seed
        self._seeded = seed is not None or (inner is not None and inner._seeded)
        self._latest: Compiled | None = None
        self._others: dict[Options, Derivative] = {}
        self.__name__ = self.__qualname__ = f"{self._request.shown_name}_{options.suffix}"
        self.__module__ = self._request.function.__module__
        self.__doc__ = showing.described(f"Gradient of `{self._request.shown_name}`", self._request.function)

    def to_be_differentiated(self) -> Any:
        """The derivative whose text can be differentiated again, with the same results."""
        return self._with(self._request.options.to_be_differentiated)

    def _with(self, options: Options) -> Any:
        """The same derivative by other means."""
        request = self._request
        if options not in self._others and options != request.options:
            self._others[options] = type(self)(self.primal, request.argnums, options, self._seed, request.bound)
        return self._others.get(options, self)

    # --- compiling ---

    def _compiled(self, args: tuple, keywords: dict[str, Any], quick: Hashable = None) -> Compiled:
        """The derivative compiled for the kinds of these arguments; `quick` is their quick key."""
        request, function = self._request, self._request.function
        family = request.family(function)
        if quick is not None and (function.__defaults__ or function.__kwdefaults__):
            defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
            more = shapes_of(defaults)
            quick = None if more is None else (quick, more, tuple(map(id, filter(callable, defaults))))
        recent_kinds = family.quick.get(quick)
        if recent_kinds is not None:
            with contextlib.suppress(Forgotten):
                known: Compiled = written_or_recorded(self, recent_kinds)
                return known
        arguments = request.arguments(args, keywords)
        if not request.options.complex and any(holds_complex_inside(arguments.get(p.partition("[")[0])) for p in family.wrt):
            return of_complex_numbers(self)._compiled(args, keywords)
        require_trees(family.wrt, arguments)
        request.require_floats(family.wrt, arguments)
        key = Kinds(tuple(kinds_by_name(arguments, {*list(arguments)[: len(args)], *keywords}).items()))
        compiled: Compiled = written_or_recorded(self, key)
        if quick is not None and not compiled.unsure:
            family.remember(quick, key)
        return compiled

    def _of_kinds(self, key: Kinds) -> Compiled:
        """The derivative for arguments of these kinds."""
        if (own := self._texts.own(key)) is not None:
            return own
        if self._request.inner is not None:
            return self._of_gradient(self._request.inner, key)
        compiled = self._texts.made(self._request.function, key)
        if not compiled.recipe.shareable:
            again = self.to_be_differentiated() if compiled.facts.again else self
            self._texts.kept.own[key] = again._texts.kept.own[key] = compiled
        return compiled

    def _of_gradient(self, gradient: Derivative, key: Kinds, texts: Texts | None = None) -> Compiled:
        """The derivative of the text of a gradient; by default from the own `texts`."""
        texts = texts or self._texts
        inner = gradient._of_kinds(key)
        seeds = gradient._seeds(inner, None)
        kinds = ((name, Number(float) if type(seed) is float else UNKNOWN) for name, seed in seeds.items())
        compiled = texts.made(inner.function, Kinds((*key.items, *kinds)) if seeds else key)
        compiled.below, compiled.key = inner, key
        if not (compiled.recipe.shareable and inner.recipe.shareable):
            self._texts.kept.own[key] = compiled
        return compiled

    def compiled_for(self, kinds: dict[str, Kind], of_complex: bool = False) -> Compiled:
        """The derivative for arguments of these kinds, as another function calls it."""
        if self._seeded or self._request.lead or self._request.keywords:
            raise Unsupported(
                f"`{self.__name__}`, which has output_gradients or arguments that are bound to it, cannot be differentiated "
                "where it is called: make a gradient without, and pass them at the call"
            )
        again = self.to_be_differentiated()
        derivative: Derivative = of_complex_numbers(again) if of_complex else again
        return derivative._of_kinds(Kinds(tuple(kinds.items())))

    def _seeds(self, compiled: Compiled, seed: Any) -> dict[str, Any]:
        """The arguments of the generated function for cotangents: those of the gradient that is differentiated."""
        return {} if self._request.inner is None else self._request.inner._seeds(compiled.below, None)

    # --- inspection ---

    @property
    @entry
    def source(self) -> str:
        """The text of the generated function for the latest arguments; before any call, for arguments of unknown kind."""
        return self._shown().text

    @entry
    def source_for(self, /, *args: Any, **keywords: Any) -> str:
        """The text for arguments of these kinds, without a call; of what is recorded, that of a run that is short."""
        args, keywords = self._request.lead + args, {**self._request.keywords, **keywords}
        return text_for(self._compiled(args, keywords), args, keywords)

    def prepare(self, /, *args: Any, **keywords: Any) -> None:
        """Compile the text for arguments of these kinds, which `.source` and `save` then show."""
        self._latest = self._compiled(self._request.lead + args, {**self._request.keywords, **keywords})
        self._texts.kept.front = unwritten

    @entry
    def save(self, path: str | os.PathLike[str], standalone: bool = False, lines: bool = False) -> None:
        """Write a module with the text for the latest arguments, and with all that it imports.

        With `standalone` it includes the helpers of s2sgrad and does not need the package; with `lines` each statement names
        the line of the function that it came from, and so do tracebacks.  Raises ValueError for what no module can contain.
        """
        from s2sgrad.api import saving

        saving.save(path, saving.module_text(self._shown(), standalone, lines))

    def _shown(self) -> Compiled:
        """What was compiled for the latest arguments; before any call, for arguments of unknown kind."""
        if self._latest is None:
            names = cache.of(self._request.function.__code__).parameters.names
            self._latest = written_or_recorded(self, Kinds(tuple((name, UNKNOWN) for name in names)))
        return self._latest

    compiled_source = property(entry(lambda self: source_of(self._shown())), doc=source_of.__doc__)
    explain_compile = explained
