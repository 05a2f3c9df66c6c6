"""Functions of SciPy without a derivative rule: the table is asked, so that the next rule breaks no test of their refusal.

>>> from scipy import special
>>> first_without_rule(special.erf, special.ellip_harm).__name__
'ellip_harm'
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from s2sgrad.api import whole
from s2sgrad.rules import table

assert whole


def first_without_rule(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """The first of these that has none."""
    unruled = [f for f in functions if table.lookup(f) is None and not table.is_flat(f)]
    assert unruled, f"{', '.join(f.__name__ for f in functions)} all have rules now: name another function without one"
    return unruled[0]


def first_of_module(module: types.ModuleType) -> str:
    """The name of the first function of a module that has none."""
    functions = [f for name in module.__all__ if type(f := getattr(module, name)) is types.FunctionType]
    return first_without_rule(*functions).__name__
