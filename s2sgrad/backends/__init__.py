"""Backends: how a finished function runs, as the NumPy text itself or as what a backend turns it into.

The compiler generates correct functions on arrays; a backend may rewrite each of them for its own target.  What it does not
support stays unchanged, and where its text raises although the NumPy text might not, that one runs instead.  The backend of
a gradient is chosen in `driver.lowering` and nowhere else: to add one, write a `Backend` here and name it there.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis.kinds import Kind
from s2sgrad.ir.unit import Unit


class Backend:
    """The interface of a backend; this one leaves every function unchanged.

    `gives_up_on` are the exceptions after which the NumPy text runs in place of a lowered one.  A backend with such
    exceptions gets only functions without side effects, on arguments that may be read twice.
    """

    name = "numpy"
    gives_up_on: tuple[type[Exception], ...] = ()

    def takes(self, unit: Unit, tree: gast.FunctionDef, kinds: Iterable[Kind]) -> bool:
        """Whether a function in normal form, not yet differentiated, and its callees may be lowered."""
        return True

    def lower(self, unit: Unit, tree: gast.FunctionDef) -> bool:
        """Rewrite a function and its adjoint after all passes except those that choose names; whether anything was
        changed."""
        return False


NUMPY = Backend()
