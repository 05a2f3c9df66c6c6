"""The text of a function after each pass, from the user's text to the gradient."""

from __future__ import annotations

from itertools import pairwise

import gast

from s2sgrad import emit
from s2sgrad.api import Gradient
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.compiled import compile_gradient
from s2sgrad.explanation import differentiated
from s2sgrad.ir.unit import Unit


def stages(derivative: Gradient, arguments: tuple | None) -> list[tuple[str, str]]:
    """The names of the passes that change the function, with its text after each; callees are left out.

    For the gradient of a gradient: the stages from the first gradient's text to the second's.
    """
    observed: list[tuple[str, Unit, str]] = []

    def observer(name: str, c: Compilation) -> None:
        observed.append((name, c.unit, _text(c.unit, c.tree)))

    function, kinds, request = differentiated(derivative, arguments)
    compile_gradient(function, kinds, request.wrt(), request.options, observer)
    entry = observed[-1][1]  # callees come before it
    out = [(name, text) for name, unit, text in observed if unit is entry]
    return out[:1] + [new for old, new in pairwise(out) if new[1] != old[1]]


def _text(unit: Unit, tree: gast.FunctionDef) -> str:
    """The text of a tree; the user's text while it contains a statement that only later stages remove."""
    try:
        return emit.function(tree)
    except TypeError:
        return unit.primal.text(unit.primal.tree) + "\n"
