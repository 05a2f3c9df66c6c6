"""The gradient of a gradient as the tangent of a gradient: mixed derivatives commute.

    grad(grad(f, "a"), "b")(a, b, seed=v)      ->      jvp(grad(f, "b"), (a, b), (v, None))[1]

They do where derivatives are what they are called: not where the user says otherwise (`custom_gradient`).  There, and where
forward mode is refused, the gradient is differentiated in reverse mode.
"""

from __future__ import annotations

import types
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.api.request import Request
from s2sgrad.api.texts import Texts
from s2sgrad.driver.options import Options
from s2sgrad.errors import S2SGradError, Unsupported

if TYPE_CHECKING:  # imported at the first compilation, to keep `import s2sgrad` fast
    from s2sgrad.driver.recipe import Compiled


class Exchanged(NamedTuple):
    """The gradient in what a gradient of a gradient is asked for last, and the texts of its tangent along the first."""

    last: Any
    texts: Texts

    def text(self, outer: Any, key: Kinds) -> Compiled | None:
        """The text of the tangent for arguments of these kinds; None where that is not the gradient, or is refused."""
        below = self.last._of_kinds(key)
        family = self.texts.request.family(below.function)
        try:
            if key in family.refused:
                return None
            _require_derivatives(outer._request.function.__name__, below)
            compiled: Compiled = outer._of_gradient(self.last, key, self.texts)
            if not compiled.recipe.is_whole:  # reverse mode may have what the branch that is missing needs
                raise Unsupported("a branch is not followed in forward mode")
        except (S2SGradError, RecursionError):  # a record of a function that calls itself may nest ever deeper
            if self.texts.request.options.mode == "fwd":
                raise
            family.refused.add(key.kept())
            return None
        return compiled


def exchanged(first: Any, second: Any) -> Exchanged | tuple[()]:
    """The two arguments of `second`, a gradient of the gradient `first`, exchanged; nothing where that is not the same."""
    inner, outer = first._request, second._request
    if not _commutes(inner.options, outer.options, inner.wrt(), outer.wrt()):
        return ()
    several = outer.options.several
    if (outer.wrt(), several) == (inner.wrt(), inner.options.several):
        last = first
    else:
        asked = outer.wrt() if several else outer.wrt()[0]
        last = type(first)(first.primal, asked, replace(inner.options, several=several), first._seed, inner.bound)
    along = replace(outer.options, several=inner.options.several, along="seed")
    return Exchanged(last, Texts(Request(last, inner.wrt(), along, outer.bound, last)))


def _commutes(inner: Options, outer: Options, first: tuple[str, ...], last: tuple[str, ...]) -> bool:
    """Whether both are gradients of one number, that of results weighted with their cotangents."""
    if outer.mode == "rev" or any("[" in p for p in (*first, *last)) or len({*first}) != len(first):
        return False
    if inner.value or outer.outputs or (outer.value and (first != last or inner.several != outer.several)):
        return False
    return all(replace(o, **_OF_NO_MATTER) == Options(**_OF_NO_MATTER) for o in (inner, outer))


_OF_NO_MATTER: dict[str, Any] = {"value": True, "several": True, "outputs": None, "backend": "", "records_all": True,
                                 "strict": True, "mode": None}  # fmt: skip


def _require_derivatives(name: str, compiled: Compiled | None) -> None:
    """Refuse a text in which the user may say what a derivative is."""
    while compiled is not None:
        if compiled.facts.own_rules:
            raise Unsupported(f"`{name}` has derivatives that you specify, and may call others, so that the order in which "
                              'it is differentiated matters: leave out mode="fwd"')  # fmt: skip
        compiled = compiled.below


def differentiates(derivative: Any, key: Kinds) -> tuple[types.FunctionType, Request]:
    """The function whose text is differentiated for arguments of these kinds, and the request for that."""
    request = derivative._request
    if request.inner is None:
        return request.function, request
    if derivative._of_kinds(key).facts.along == "seed":
        last, texts = derivative._exchanged
        return last._of_kinds(key).function, texts.request
    return request.inner._of_kinds(key).function, request
