"""The text of a function after each pass, from the user's text to the gradient."""

from __future__ import annotations

import difflib
from itertools import pairwise

from s2sgrad import emit
from s2sgrad.api import Gradient, grad
from s2sgrad.api.forward import Along
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.compiled import compile_gradient
from s2sgrad.driver.pipeline import defined
from s2sgrad.explanation import differentiated
from s2sgrad.ir.unit import Unit
from s2sgrad.transform import parts


def stages(derivative: Gradient | Along, arguments: tuple | None) -> list[tuple[str, str]]:
    """The names of the passes that change the function, with its text after each; callees are left out.

    For the gradient of a gradient: the stages from the first gradient's text to the second's.
    """
    observed: list[tuple[str, Unit, str]] = []

    def observer(name: str, c: Compilation) -> None:
        observed.append((name, c.unit, _text(c)))

    function, kinds, request = differentiated(derivative, arguments)
    compile_gradient(function, kinds, request.wrt(), request.options, observer)
    entry = observed[-1][1]  # callees come before it
    out = [(name, text) for name, unit, text in observed if unit is entry]
    return out[:1] + [new for old, new in pairwise(out) if new[1] != old[1]]


def _text(c: Compilation) -> str:
    """The text of a tree; the user's text while it contains a statement that only later stages remove."""
    try:
        return emit.function(parts.plain(c.tree, c.kinds) if c.inference else c.tree)
    except TypeError:
        return c.unit.primal.text(c.unit.primal.tree) + "\n"


def changes(text: str, stage: str, *args: object, argnums: int | str | tuple = 0) -> str:
    """The lines that a pass takes from the gradient of a function (`-`), and those that it adds (`+`), for the doctests that
    open each pass.

    >>> import numpy as np
    >>> print(changes("def f(x): return np.sum(x * 1.0 * -x)", "algebra", np.ones(3)))
    -     x_bar = seed * -x - seed * (x * 1.0)
    +     x_bar = -2.0 * (seed * x)
    """
    texts = stages(grad(defined(text), argnums), args)
    found = [(before, after) for (_, before), (name, after) in pairwise(texts) if name == stage]
    if not found:
        raise ValueError(f"no pass {stage!r} changes anything, of {[name for name, _ in texts]}")
    before, after = map(_plain, found[-1])  # the last run of a pass that runs several times
    lines = difflib.ndiff(before, after)
    return "\n".join(line for line in lines if line[0] in "-+")


def _plain(text: str) -> list[str]:
    """The lines of a text without comments."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]
