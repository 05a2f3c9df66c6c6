"""Writers that keep a pair: several places call them, and written out at each they would be most of the text.

    def edges(u): u[0] = u[1]; ..         def f(x):                        def f(x):
                                              edges(y)             ->          y[...] = edges_written(y)
                                              edges(z)                         z[...] = edges_written(z)

They get copies to write (`writers_with_pairs`).  That is right where the written arrays are arguments that alias no other,
and where the function does not ask for their memory layout.  What is stored back must be written by the function too: it
may be handed an array that cannot be written, and leave it alone.  All other writers are written out.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def edges(u, s):
...     u[0] = s * u[1]
...     u[-1] = s * u[-2]
...     u[1] += s
...     u[-2] -= s
... def f(x, s):
...     y = x * x
...     edges(y, s)
...     z = y * s
...     edges(z, 2.0 * s)
...     edges(y, 3.0)
...     return np.sum(z * y)
... '''), 1)
>>> df(np.ones(5), 2.0), "edges_written_bwd" in df.source
(np.float64(511.0), True)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.inplace import mentions, writers_with_pairs
from s2sgrad.inplace.writers_with_pairs import Form
from s2sgrad.ir.quote import mentioned, nodes, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.places import Summary, lasts
from s2sgrad.memory.sources import has_memory
from s2sgrad.source import read

_Call = tuple[gast.AST, Any, dict[str, Any]]  # the statement, the function, its arguments by parameter
_BRANCHING = (gast.If, gast.While, gast.Try, gast.Return)
_LONG, _SAVED = 4, 8  # statements: of the function, and of all its copies but one


class RepeatedWriters:
    """Chooses among the calls in one function; `entry` is where the program begins."""

    def __init__(self, unit: Unit, kinds: dict[str, Any], entry: Any) -> None:
        self.unit, self.kinds, self.entry = unit, kinds, entry

    def among(
        self, calls: Iterable[tuple[gast.AST, Any, dict[str, Any]]], tree: gast.FunctionDef
    ) -> dict[int, dict[str, Form]]:
        """By statement: how the written arguments of its call are copied, for each call whose function keeps a pair."""
        counts = None
        memory = None
        found: dict[int, dict[str, Form]] = {}
        for statement, target, given in calls:
            if not is_plain(target) or target.__closure__ is not None:
                continue
            counts = counts if counts is not None else mentions.of(self.entry)
            if not _is_long(target, counts[target]):
                continue
            memory = memory or Memory(self.unit, tree, self.kinds, always=True)
            forms = self.forms(statement, target, given, memory)
            if forms is not None:
                found[id(statement)] = forms
        return found

    def forms(self, statement: Any, target: Any, given: dict[str, Any], memory: Memory) -> dict[str, Form] | None:
        """How the written arguments of a call are copied; None where copies would not do."""
        summary = mod_ref.summary_of_call(self.unit, target, statement.value, self.kinds)
        if not _writes_arguments_alone(summary) or writers_with_pairs.calls_itself(target):
            return None
        forms = writers_with_pairs.copy_forms(self.unit, target, given, summary, self.kinds, statement)
        if isinstance(forms, str) or {place.key for place in summary.written} != forms.keys():
            return None
        arrays = all(form.type is np.ndarray for form in forms.values())
        return forms if arrays and all(_is_written(target, p) and self.is_apart(p, given, memory) for p in forms) else None

    def is_apart(self, parameter: str, given: dict[str, Any], memory: Memory) -> bool:
        """Whether the argument for a parameter aliases no other argument, and nothing outside of the function."""
        u = given[parameter].id
        alike = memory.at_once_with(u)
        others = mentioned(*(node for q, node in given.items() if q != parameter))
        return alike <= self.unit.locals and not any(map(self.holds, alike & others))

    def holds(self, name: str) -> bool:
        """Whether a variable may have memory."""
        return has_memory(self.kinds.get(name))


def _is_long(target: Any, count: int) -> bool:
    """Whether writing out a function wherever it is named takes many statements."""
    if count < 2:
        return False
    statements = sum(1 for _ in effects.walk(read(target).tree.body))
    return statements >= _LONG and statements * (count - 1) >= _SAVED


def _is_written(target: Any, parameter: str) -> bool:
    """Whether a function writes an argument, or calls something with it, outside of its branches, if its loops run."""
    same = {parameter}  # names of the array and its sections
    for statement in read(target).tree.body:
        if isinstance(statement, _BRANCHING):
            if any(isinstance(n, gast.Return) for n in nodes(statement)):
                return False
        elif same & _stored_into(statement):
            return True
        elif isinstance(statement, gast.Assign) and same & mentioned(statement.value):
            same |= stored(*statement.targets)
    return False


def _stored_into(statement: gast.AST) -> set[str]:
    """The names whose contents a statement may write, and those that it hands to a call of which it keeps no result."""
    found: set[str] = set()
    for node in nodes(statement):
        if isinstance(node, gast.AugAssign):
            found |= mentioned(node.target)
        elif isinstance(node, gast.Expr) or (isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store)):
            found |= mentioned(node.value)
    return found


def _writes_arguments_alone(summary: Summary) -> bool:
    """Whether a call writes arguments and nothing else, and returns and keeps nothing that lasts."""
    if not summary.written or any(place.kind != "own" for place in summary.written):
        return False
    return not summary.puts and not summary.tangles and not any(map(lasts, summary.returns | summary.holds))
