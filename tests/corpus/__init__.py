"""The corpus: small functions, each named for what it shows, with a point at which to check it.

`CASES` lists them all; `by_name` finds one.  The modules from buffers to writers write into arrays, in place; the others are
functional, and no function appends to a list that it differentiates.  Points keep away from kinks, and no function warns.
What is refused stands in refused.py.
"""

from . import (  # noqa: F401
    arrays,
    assignments,
    branches,
    buffers,
    calls,
    exits,
    found,
    imports,
    indexing,
    indices,
    iteration,
    loops,
    methods,
    mutators,
    naming,
    numerics,
    rebinding,
    recursion,
    statements,
    stores,
    swaps,
    values,
    views,
    whiles,
    writers,
)
from .case import CASES, Case, case

__all__ = ["CASES", "Case", "by_name", "case"]


def by_name(name: str) -> Case:
    """The case of this name."""
    return next(entry for entry in CASES if entry.name == name)
