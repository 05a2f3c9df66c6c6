"""Lists of Python's numbers in the place of arrays, in loops that go from element to element.

    for i in range(1, n): y[i] = a * y[i - 1]      ->      y_list = y.tolist(); for ..: y_list[i] = ..; y[:] = y_list

The results are the same to the last bit.  `loops` finds the loops, `python_numbers` follows what would be Python's numbers,
`nested_kinds` and `precision` say what is surely of which type; `rewriting` puts the lists in.  `own_numbers` finds calls of
NumPy's functions whose results are worth turning into Python's numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis.kinds import Kind
from s2sgrad.backends import Backend
from s2sgrad.backends.scalar_lists import rewriting
from s2sgrad.backends.scalar_lists.precision import is_precise
from s2sgrad.ir.unit import Unit


class ScalarLists(Backend):
    """Loops over single elements on lists.  Python's numbers raise where NumPy's give inf or nan and warn."""

    name = "scalar_lists"
    gives_up_on = (ArithmeticError, LookupError, TypeError, ValueError)

    def takes(self, unit: Unit, tree: gast.FunctionDef, kinds: Iterable[Kind]) -> bool:
        """Not where a number is narrower than Python's, nor where NumPy is asked to raise, which holds in callees too."""
        return is_precise(unit, tree, kinds)

    def lower(self, unit: Unit, tree: gast.FunctionDef) -> bool:
        """Put lists in; whether any loop has them."""
        return rewriting.run(unit, tree)
