"""Derivatives with `debug=True`: finds where the first value arose that is not finite.

    grad(lambda x: np.sum(np.sqrt(x)), debug=True)(np.zeros(2))
                    ->      NotFinite: the gradient in `x` is inf at [0], first in the derivative of this line

The text records non-finite values as it computes (`transform.watches`), without raising.  An error is raised only if the
value of the function or a derivative is not finite in the end: an infinity that a `np.where` discards is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sgrad.driver.options import Options
from s2sgrad.errors import NotFinite, raised
from s2sgrad.ir.signatures import signature
from s2sgrad.runtime import Pullback
from s2sgrad.runtime.watching import Note, Notes, not_finite, noting

_TOLD = 4  # non-finite values that are listed after the first


def run(function: Callable[..., Any], args: tuple, keywords: dict[str, Any], of: Any, options: Options) -> Any:
    """The result of a generated function; raises NotFinite if it, or the value of the user's function, is not finite."""
    arguments = _named(of, args, keywords)
    with noting() as notes:
        try:
            out = function(*args, **keywords)
        except Exception as error:
            if notes.all:
                error.add_note(f"before that {_described_notes(notes.all)}")
            raise
    results = out
    if options.has_aux:  # the auxiliary result is not checked
        results = out[:-1] if options.forward or not options.value else (out[0][0], out[1])
    require_finite(results, notes, arguments, of)
    return out


def require_finite(results: Any, notes: Notes, inputs: dict[str, Any], of: Any) -> None:
    """Raise NotFinite if any of the results is not finite."""
    wrong = not_finite(results)
    if wrong is None and not notes.result:
        return
    arguments = {name: found for name, value in inputs.items() if (found := not_finite(value)) is not None}
    nans = {name: found for name, found in arguments.items() if found[1] == "nan"}
    if nans or (arguments and not notes.all):
        name, (place, value) = next(iter((nans or arguments).items()))
        raise NotFinite(f"the argument `{name}` is {value}{place and f' at {place}'}", raised.head(of))
    error = _error(notes, wrong, of)
    for name, (place, value) in arguments.items():
        error.add_note(f"the argument `{name}` is {value}{place and f' at {place}'}")
    raise error


def _error(notes: Notes, wrong: tuple[str, str] | None, of: Any) -> NotFinite:
    if not notes.all:
        return NotFinite(f"a derivative is {'nan' if wrong is None else wrong[1]}", raised.head(of))
    first, *later = notes.all
    where = "in the derivative of this line" if first.derivative else "in the forward sweep"
    error = NotFinite(f"{first}, first {where}", raised.behind(first.code, first.line))
    if later:
        error.add_note(f"after that {_described_notes(later)}")
    error.add_note("where the line is right elsewhere, mask what it takes, and not what it gives: `np.where(ok, x, 1.0)`")
    return error


def _described_notes(notes: list[Note]) -> str:
    """The first of the notes, each with its line if known; always includes the first nan."""
    out = []
    shown = notes[:_TOLD] + [n for n in notes if n.value == "nan"][:1]
    for note in shown:
        place = raised.behind(note.code, note.line)
        where = "" if place is None else f" ({'derivative of ' * note.derivative}line {place.line})"
        out.append(f"{note}{where}")
    return ", ".join(dict.fromkeys(out))


def _named(of: Any, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
    """The arguments by parameter; seeds and tangents by keyword."""
    names = [p.name for p in signature(of).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return {**dict(zip(names, args, strict=False)), **{"*args": args[len(names) :]}, **keywords}


class Watched(Pullback):
    """A pullback of `vjp(f, .., debug=True)`."""

    __slots__ = ("of",)
    of: Any

    @raised.trimmed
    def __call__(self, /, *bars: Any) -> tuple:
        with noting() as notes:
            out = super().__call__(*bars)
        require_finite(out, notes, {"y_bar": bars[0]}, self.of)
        return out


def vjp(own: Callable[..., Any], f: Callable[..., Any], primals: tuple, keywords: dict[str, Any]) -> tuple[Any, Pullback]:
    """What `own`, like `runtime.vjp`, gives; raises NotFinite if the value, or later a cotangent from the pullback, is not
    finite."""
    from s2sgrad.api.library import plain

    function, lead, bound = plain(f)
    with noting() as notes:
        value, pullback = own(f, *primals, **keywords)
    require_finite(value, notes, _named(function, lead + primals, {**bound, **keywords}), function)
    watched = Watched(pullback.bwd, pullback.saved, pullback.places, pullback.rest, pullback.like)
    watched.of = function
    return value, watched
