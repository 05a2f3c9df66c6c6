"""The text of a function on its way through the passes, from the text that was read to the gradient."""

from __future__ import annotations

import types
from itertools import pairwise

import gast

from s2sgrad import emit
from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.api import Gradient
from s2sgrad.driver.compiled import compile_gradient
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Unit


def stages(derivative: Gradient, arguments: tuple | None) -> list[tuple[str, str]]:
    """The names of the passes that change the function, and its text after each; of the functions it calls, nothing.

    Of the gradient of a gradient these are the stages from the first gradient's text to the second's.
    """
    observed: list[tuple[str, Unit, str]] = []

    def observer(name: str, unit: Unit, tree: gast.FunctionDef) -> None:
        observed.append((name, unit, _text(unit, tree)))

    function, kinds = differentiated(derivative, arguments)
    compile_gradient(function, kinds, derivative._wrt(), derivative._options, observer)
    entry = observed[-1][1]  # the functions that it calls come before it
    out = [(name, text) for name, unit, text in observed if unit is entry]
    return out[:1] + [new for old, new in pairwise(out) if new[1] != old[1]]


def _text(unit: Unit, tree: gast.FunctionDef) -> str:
    """The text of a tree; where a statement stands in there that later stages are free of, the user's text."""
    try:
        return emit.function(tree)
    except TypeError:
        return unit.primal.text(unit.primal.tree) + "\n"


def differentiated(derivative: Gradient, arguments: tuple | None) -> tuple[types.FunctionType, dict[str, Kind]]:
    """The function that a derivative is taken of, and the kinds of its arguments; of the gradient of a gradient that is the
    text of the first."""
    kinds = _kinds(derivative, arguments)
    below = getattr(derivative, "_inner", None)
    return derivative._function if below is None else below._of_kinds(Kinds(tuple(kinds.items()))).function, kinds


def _kinds(derivative: Gradient, arguments: tuple | None) -> dict[str, Kind]:
    if arguments is None:
        return dict.fromkeys(signature(derivative._function).parameters, UNKNOWN)
    given = derivative._arguments(derivative._lead + arguments, derivative._keywords)
    return dict(zip(given, kinds_of(given.values()), strict=True))
