"""The corpus: small functions, each named for what it shows, with a point at which to check it.

`CASES` lists them all; `by_name` finds one.  The code is functional: no stores into arrays, no `append`.  Points keep
away from kinks, and no function warns.
"""

from . import (  # noqa: F401
    arrays,
    assignments,
    branches,
    calls,
    exits,
    found,
    imports,
    indexing,
    iteration,
    loops,
    methods,
    naming,
    numerics,
    rebinding,
    recursion,
    values,
    whiles,
)
from .case import CASES, Case, case

__all__ = ["CASES", "Case", "by_name", "case"]


def by_name(name: str) -> Case:
    """The case of this name."""
    return next(entry for entry in CASES if entry.name == name)
