"""`explain`: what s2sgrad knows of each line of a function, and what it does with it.

Each note is a decision of the compiler, or is read off the generated text: `program` has the notes from before the
derivative is written, `text` those about records.  Nothing is run.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.value_kinds import kinds_by_name
from s2sgrad.api import grad, whole_text
from s2sgrad.api.argnums import Argnums
from s2sgrad.api.derivative import Derivative
from s2sgrad.api.forward import Jvp
from s2sgrad.api.forward_over_reverse import differentiates
from s2sgrad.api.gradient import Gradient
from s2sgrad.api.request import Request
from s2sgrad.api.whole import is_recorded
from s2sgrad.driver import lowering
from s2sgrad.driver.attempts import with_branches
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.emitted import reached
from s2sgrad.driver.folding import folded
from s2sgrad.driver.program import Program
from s2sgrad.driver.text import text_of
from s2sgrad.errors import Defect, S2SGradError, raised
from s2sgrad.errors.raised import entry
from s2sgrad.explanation import program, text
from s2sgrad.explanation.listing import Explanation, Found, Line, Note
from s2sgrad.ir.lookups import Lookups
from s2sgrad.ir.quote import clone
from s2sgrad.ir.signatures import signature
from s2sgrad.legality.complex_values import first_of_real_numbers
from s2sgrad.source import Primal, read
from s2sgrad.transform import global_conflicts

__all__ = ["Explanation", "Line", "Note", "differentiated", "explain", "explained"]

_RECORDED = "so the function is recorded as it runs: right, but slower; strict=True refuses it"


@entry
def explain(
    function: Callable[..., Any], /, *args: Any, argnums: Argnums | None = None, mode: str = "rev", **keywords: Any
) -> Explanation:
    """What s2sgrad knows of each line of a function, and does with it, for arguments like these; nothing is run.

    Beside each line stand notes:

    - Variables that have a derivative, and why others have none.
    - Data that are overwritten in place, and data that may share memory.
    - Values that the forward sweep puts on record, or keeps, and the lines whose derivatives need them.
    - Values that the reverse sweep computes again.
    - Functions that are called, and where they stand.
    - Code that has no text, and why.  The function is recorded as it runs then.
    - Code that is refused.  The error is not raised.

    `argnums` says in which arguments, as for `grad`; `mode="fwd"` explains the tangent.  A gradient that was made can be
    given in the place of the function: `explain(grad(f, "w"), ..)`.  Without arguments it is the derivative for arguments of
    any kind.

    The result prints as a listing.  A program reads its attributes:

    - `.lines`, each with a `number`, a `text` and `notes`.  A note has a `kind`, `names` and a `why`.
    - `.notes(kind)`, all of one kind with their lines.
    - `.calls`, the explanations of the functions that are called, and `["name"]`, one of them.
    - `.refusal`, an error or None.  `.source`, the generated text.

    >>> import numpy as np
    >>> def decay(x, k, n):
    ...     for _ in range(n):
    ...         x = x - k * x ** 2
    ...     return np.sum(x)
    >>> print(explain(decay, np.ones(3), 0.1, 5, argnums=(0, 1)))
    decay (<doctest s2sgrad.explanation.explain[1]>, line 1), gradient in x, k
    <BLANKLINE>
      1  def decay(x, k, n):         derivative     x, k
                                     no derivative  n: not asked for
      2      for _ in range(n):
      3          x = x - k * x ** 2  derivative     x
                                     recorded       x: its old value, in each pass, for the derivative of line 3
                                     kept           x: for the derivative of line 4
      4      return np.sum(x)        derivative     the result
    """
    if mode not in ("rev", "fwd"):
        raise ValueError(f"there is no mode {mode!r}: mode='rev' or 'fwd'")
    is_gradient = isinstance(function, Gradient) and argnums is None and mode == "rev"
    derivative: Any = function if is_gradient else grad(function, 0 if argnums is None else argnums)
    if mode == "fwd":
        names = list(signature(derivative._request.function).parameters)[len(derivative._request.lead) :]
        derivative = Jvp(function).along(tuple(map(names.index, derivative._request.wrt())))
    return explained(derivative, args if args or keywords else None, keywords)


def explained(
    derivative: Derivative, arguments: tuple | None, keywords: dict[str, Any] | None = None, key: Kinds | None = None
) -> Explanation:
    """The explanation of a derivative for these arguments, or for arguments of these kinds; None: of unknown kind."""
    function, kinds, request = differentiated(derivative, arguments, keywords or {}, key)
    notes = _Notes(read(function))
    refusal, recorded, source = None, None, ""

    def compiled(_: Lookups) -> str:
        return first_of_real_numbers(written_for, request.options.complex)

    def written_for(of_complex: bool) -> str:
        nonlocal notes
        notes, asked = _Notes(read(function)), replace(request.options, complex=of_complex)
        written, entry_, _ = lowering.lowered(function, kinds, request.wrt(), asked, notes.observe)
        global_conflicts.check(written.units)
        written.functions = folded(reached(written.functions, [entry_]), [entry_])
        notes.texts(written)
        return text_of(written)

    try:
        source = with_branches(function, compiled, lambda _: ())
    except Defect:
        raise
    except S2SGradError as error:
        if is_recorded(error) and not derivative._request.options.strict:
            recorded, source = error.with_traceback(None), whole_text.of(derivative, error)
            notes.refuse(error, "run", _RECORDED)
        else:
            refusal = error.with_traceback(None)
            notes.refuse(error, "refused")
    options = derivative._request.options
    what = "tangent along" if options.forward else "value and gradient in" if options.value else "gradient in"
    return notes.explanation(f"{what} {', '.join(derivative._request.wrt())}", refusal, source, recorded)


def differentiated(
    derivative: Derivative, arguments: tuple | None, keywords: dict[str, Any] | None = None, key: Kinds | None = None
) -> tuple[types.FunctionType, dict[str, Kind], Request]:
    """The function that a derivative is taken of, the kinds of its arguments, and what is asked for; for the gradient of a
    gradient, the generated function of the first."""
    if key is not None:
        kinds = dict(key.items)
    elif arguments is None:
        kinds = dict.fromkeys(signature(derivative._request.function).parameters, UNKNOWN)
    else:
        arguments, keywords = derivative._request.lead + arguments, {**derivative._request.keywords, **(keywords or {})}
        given = derivative._request.arguments(arguments, keywords)
        kinds = kinds_by_name(given, {*list(given)[: len(arguments)], *keywords})
        derivative._request.require_floats(derivative._request.wrt(), given)
    function, request = differentiates(derivative, Kinds(tuple(kinds.items())))
    return function, kinds, request


class _Notes:
    """The notes about all functions that a compilation meets, by place; an observer of the pipeline."""

    def __init__(self, first: Primal) -> None:
        self.found: dict[tuple[str, int, str], tuple[Primal, Found]] = {}
        self.sharing: dict[int, tuple[Any, list]] = {}  # by the `id` of a unit, which is kept alive
        self.trees: dict[int, gast.FunctionDef] = {}  # written functions in normal form, by the `id` of `Emitted`
        self.of(first)

    def of(self, primal: Primal) -> Found:
        """The notes about one function."""
        key = primal.file, primal.tree.lineno, primal.function.__name__
        return self.found.setdefault(key, (primal, Found()))[1]

    def observe(self, stage: str, c: Compilation) -> None:
        """Read off a compilation after a stage; one that only infers the kind of a result stops after `kinds`."""
        if stage == "kinds" and id(c.unit) not in self.sharing:
            self.sharing[id(c.unit)] = c.unit, [*program.shared_memory(c)]
        elif stage == "shapes":
            for primal, *note in self.sharing[id(c.unit)][1]:
                self.of(primal).add(*note)
            program.derivatives(c, self.of)
        elif stage == "branches":
            self.trees[id(c.emitted)] = clone(c.tree)

    def texts(self, written: Program) -> None:
        """Read off the written functions; the two of a pair together."""
        there = {id(emitted): emitted for emitted in written.functions}
        pairs = {id(pair.bwd): id(pair.fwd) for pair in written.pairs if {id(pair.bwd), id(pair.fwd)} <= there.keys()}
        adjoints = {id(pair.bwd) for pair in written.pairs}
        for key in there.keys() - pairs.values():
            tree = self.trees[key]
            both = text.joined(self.trees[pairs[key]], tree) if key in pairs else tree
            text.records(there[key].unit, both, self.of, again=key in adjoints - pairs.keys())

    def refuse(self, error: S2SGradError, kind: str, more: str = "") -> None:
        """Note a refusal at its line, or, if that is in none of the functions, at the very first line."""
        place = error.place
        said = "\n".join([error.message, *getattr(error, "__notes__", ()), *filter(None, [more])])
        for primal, collected in self.found.values():
            whole = primal.place(primal.tree)
            if place is not None and place.file == primal.file and whole.line <= place.line <= whole.end_line:
                return collected.add(place.line, kind, "", said)
        primal, collected = next(iter(self.found.values()))
        where = "" if place is None else f"{program.place_in_words(place.file, place.line)}: "
        return collected.add(primal.tree.lineno, kind, "", where + said)

    def explanation(
        self, purpose: str, refusal: S2SGradError | None, source: str, recorded: S2SGradError | None
    ) -> Explanation:
        """The explanation of the first function, with those of its callees that are the user's."""
        first, *others = self.found.values()
        called = [_listed(p, f, "called") for p, f in others if not raised.is_hidden(p.file)]
        return replace(_listed(*first, purpose), calls=tuple(called), refusal=refusal, source=source, recorded=recorded)


def _listed(primal: Primal, collected: Found, purpose: str) -> Explanation:
    whole = primal.place(primal.tree)
    texts = primal.lines[whole.line - 1 : whole.end_line]
    file = os.path.basename(primal.file)
    return Explanation(primal.function.__name__, file, purpose, collected.lines(texts, whole.line), path=primal.file)
