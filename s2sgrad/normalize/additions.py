"""`xs += more` for a list: extends it, unless `more` is an array, which makes the result an array.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import numpy as np
... def f(x):
...     xs = [1.0]
...     xs += x[:2]
...     return xs[1]
... ''', "library_desugaring"))
def f(x):
    xs = [1.0]
    more = x[:2]
    if isinstance(more, (np.ndarray, np.generic)):
        xs = xs + more
    else:
        for item in more:
            xs.append(item)
    return xs[1]

Later the kinds decide the test, where they say what is added.  If `xs` may have become an array earlier, in another such
statement or an earlier trip of a loop, a test of `xs` comes first: `xs += more` of an array is in place.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.ir.forms import index_of
from s2sgrad.ir.quote import assign, at, clone, name, nodes
from s2sgrad.ir.reach import numpy_function
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize.name_uses import NameUses

_DISPLAYS = (gast.List, gast.Tuple, gast.Set, gast.Dict, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_UNHELD = (gast.Set, gast.Dict, gast.SetComp, gast.DictComp, gast.GeneratorExp)  # which cannot be added to an array
_LISTING = (list, tuple, sorted, range, zip, map, filter, enumerate, reversed, set, dict)


class Additions:
    """The in-place additions to names that are bound to lists."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.lists = NameUses(tree).always(
            gast.List, gast.ListComp, updated=True, also=lambda value: unit.called(value) is deque
        )
        updates = [n for n in nodes(tree) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)]
        rounds = [self.lists]
        while len(rounds) == 1 or rounds[-1] != rounds[-2]:
            rounds.append(rounds[-1] - {u.target.id for u in updates if not _leaves_a_list(unit, u, rounds[-1])})
        self.lasting = rounds[-1]  # names that no augmented assignment turns into an array
        times, update_ids = Counter(u.target.id for u in updates), set(map(id, updates))
        for node in nodes(tree):
            if isinstance(node, (gast.For, gast.While)):
                times.update(n.target.id for n in nodes(node) if id(n) in update_ids)
            elif isinstance(node, (gast.Nonlocal, gast.Global)):
                times.update(node.names)
        self.again = {n for n, count in times.items() if count > 1}

    def written(self, statement: gast.AugAssign, grow: Callable[..., Any]) -> Any:
        """The statement as `grow` writes it for a list, guarded by tests for arrays where these are possible."""
        target, more = statement.target.id, statement.value
        if target in self.lasting or isinstance(more, _UNHELD):
            return grow(statement, name(target), more)
        held = self.unit.local("more")
        tests: list[tuple[gast.AST, gast.AST]] = []
        if target in self.again:
            updated = gast.AugAssign(clone(statement.target), gast.Add(), name(held))
            tests.append((self._is_instance(target, "ndarray"), updated))
        total = assign(target, gast.BinOp(name(target), gast.Add(), name(held)))
        tests.append((self._is_instance(held, "ndarray", "generic"), total))
        grown = grow(statement, name(target), name(held))
        branches = grown if isinstance(grown, list) else [grown]
        for test, then in reversed(tests):
            branches = at(statement, gast.If(test, at(statement, then), branches))
        return at(statement, assign(held, more), *branches)

    def _is_instance(self, what: str, *types: str) -> gast.Call:
        classes: list[gast.AST] = [numpy_function(self.unit, t) for t in types]
        asked = index_of(classes)
        return gast.Call(self.unit.builtin(isinstance), [name(what), asked], [])


def _leaves_a_list(unit: Unit, update: gast.AugAssign, lists: set[str]) -> bool:
    """Whether it is evident that an augmented assignment leaves a list a list."""
    if isinstance(update.op, gast.Mult):
        return isinstance(update.value, gast.Constant)
    return isinstance(update.op, gast.Add) and _is_no_array(unit, update.value, lists)


def _is_no_array(unit: Unit, node: gast.AST, lists: set[str]) -> bool:
    """Whether a value is evidently a list, or something else that is no array."""
    if isinstance(node, gast.Name):
        return node.id in lists
    if isinstance(node, gast.BinOp):
        if isinstance(node.op, gast.Mult):
            return isinstance(node.left, gast.List) and isinstance(node.right, gast.Constant)
        return isinstance(node.op, gast.Add) and all(_is_no_array(unit, n, lists) for n in (node.left, node.right))
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice):
        return _is_no_array(unit, node.value, lists)
    if isinstance(node, gast.Call):
        target = unit.resolve(node.func)
        return target is not MISSING and any(target is primitive for primitive in _LISTING)
    return isinstance(node, _DISPLAYS)
