"""How a finished function runs: as the text that it is, or as what a backend makes of it.

The compiler writes functions on arrays that are right and whole; a backend may then rewrite each of them for what runs them.
What it has no form for stays as it is, and where its text raises what the text on arrays might not, that one runs in its
place.  Which backend a gradient has is decided in `driver.lowering` and nowhere else: to add one is to write a `Backend`
here and to name it there.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis.kinds import Kind
from s2sgrad.ir.unit import Unit


class Backend:
    """What a backend answers; this one leaves every function as it is.

    `gives_up_on` are the exceptions after which the text on arrays runs in the place of a text that was lowered.  Such a
    backend gets only functions that do nothing but compute, on arguments that may be looked at twice.
    """

    name = "numpy"
    gives_up_on: tuple[type[Exception], ...] = ()

    def takes(self, unit: Unit, tree: gast.FunctionDef, kinds: Iterable[Kind]) -> bool:
        """Whether a function in normal form, not yet differentiated, may be lowered, and what is called from there."""
        return True

    def lower(self, unit: Unit, tree: gast.FunctionDef) -> bool:
        """Rewrite a function and its adjoint after all other passes but those that choose names; whether anything was."""
        return False


NUMPY = Backend()
