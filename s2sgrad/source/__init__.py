"""From a function object to its syntax tree, with positions in the real file, and to what its free names mean.

>>> def area(r):
...     return 3.14 * r ** 2
>>> primal = read(area)
>>> primal.text(primal.tree.body[0].value)
'3.14 * r ** 2'
>>> print(primal.place(primal.tree.body[0].value.right).shown())
  File "<doctest s2sgrad.source[0]>", line 2
    return 3.14 * r ** 2
                  ^^^^^^
>>> primal.lookup("len").where
'builtin'

The function is found by its code object alone (`__wrapped__` is never followed): by its first line, its name, and, for
lambdas that share a line, the columns of its instructions.  The text is then compiled again and compared with the running
code, which detects a file that was edited after its import.

Each room builds on the ones before it: `primal`, `branches`, `mangling`, `literals`, `refusing`, `files`, `making`,
`comparing`, `finding`, `typed_in`, `reading`.
"""

from __future__ import annotations

from s2sgrad.source.files import GENERATED_TEXTS
from s2sgrad.source.making import defined
from s2sgrad.source.primal import (
    GENERATED,
    Binding,
    Primal,
    brings_gradient,
    is_method_of,
    is_recorded,
    look_up,
    recording,
    stands_for,
    underlying,
)
from s2sgrad.source.reading import read

__all__ = [
    "GENERATED",
    "GENERATED_TEXTS",
    "Binding",
    "Primal",
    "brings_gradient",
    "defined",
    "is_method_of",
    "is_recorded",
    "look_up",
    "read",
    "recording",
    "stands_for",
    "underlying",
]  # fmt: skip
