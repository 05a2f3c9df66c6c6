"""Mathematics only: one file a topic, each filling the one table (`table.py`).  NumPy and the runtime, nothing else."""

from s2sgrad.rules import (
    arithmetic,
    builtin_functions,
    choices,
    contractions,
    einsum,
    elementwise,
    helpers,
    joins,
    linalg,
    reductions,
    scalar_math,
    scans,
    selections,
    shapes,
)

__all__ = [
    "arithmetic",
    "builtin_functions",
    "choices",
    "contractions",
    "einsum",
    "elementwise",
    "helpers",
    "joins",
    "linalg",
    "reductions",
    "scalar_math",
    "scans",
    "selections",
    "shapes",
]
