"""Variables in the place of a local dict, list or tuple that is written out and of which items are only read and stored, at
constant keys.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     c = {"h": x * x, "s": 2.0}
...     c["h"] = c["h"] * c["s"]
...     c["e"] = x
...     return c["h"] - c["e"]
... ''', "item_variables"))
def f(x):
    c_h = x * x
    c_s = 2.0
    t2 = c_h
    t3 = c_s
    c_h2 = t2 * t3
    c_e = x
    t5 = c_h2
    t6 = c_e
    result = t5 - t6
    return result
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name, whole_number
from s2sgrad.ir.quote import assign, at, name, nested, nodes, place_of
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import temporary_copies, webs

_DISPLAYS = (gast.Dict, gast.List, gast.Tuple)
_MOST = 32  # items


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with variables for the items."""
    if unit.primal.is_generated:
        return tree
    mentions = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
    bound = binding_counts(tree.body)
    changed = False
    for body in nested(tree.body):
        for statement in list(body):
            owner = bound_name(statement)
            if owner is not None and bound[owner] == 1 and isinstance(statement.value, _DISPLAYS):
                changed |= _Items(unit, owner, statement, body).replace(mentions[owner])
    if changed:
        webs.run(unit, tree)
        temporary_copies.run(unit, tree)
    return tree


class _Items:
    """The items of a container that a statement of a block makes."""

    def __init__(self, unit: Unit, owner: str, made: gast.Assign, body: Block) -> None:
        self.unit, self.owner, self.made, self.body = unit, owner, made, body
        self.values = dict(_items(made.value))
        self.start = next(k for k, s in enumerate(body) if s is made)

    def replace(self, mentions: int) -> bool:
        """Let variables stand for the items, if all mentions of the container allow it."""
        if not 0 < len(self.values) <= _MOST and not (isinstance(self.made.value, gast.Dict) and not self.made.value.keys):
            return False
        behind = self.body[self.start + 1 :]
        used = [(s, *found) for s in effects.walk(behind) if (found := self._use(s)) is not None]
        if len(used) + 1 != mentions or not self._are_bound([(s, key) for s, key, _ in used], {*map(id, behind)}):
            return False
        names = {key: self._named(key) for key in dict.fromkeys([*self.values, *(key for _, key, _ in used)])}
        for statement, key, stores in used:
            if stores:
                statement.targets = [name(names[key], store=True)]
            else:
                statement.value = name(names[key])
        made = at(self.made, *(assign(names[key], value) for key, value in self.values.items()))
        self.body[self.start : self.start + 1] = made
        return True

    def _use(self, statement: gast.AST) -> tuple[Hashable, bool] | None:
        """The key at which a statement reads or stores an item, and whether it stores it; None for any other."""
        if not isinstance(statement, gast.Assign) or place_of(statement) in self.unit.syntax.updates:
            return None  # `c["h"] += e` changes an array, which may have other names
        (target,), value = statement.targets, statement.value
        for section, other in ((value, target), (target, value)):
            if isinstance(section, gast.Subscript) and getattr(section.value, "id", None) == self.owner:
                key = self._key(section.slice)
                plain = isinstance(other, (gast.Name, gast.Constant)) and getattr(other, "id", "") != self.owner
                stores = section is target
                return (key, stores) if plain and key is not None and not (stores and self._is_fixed(key)) else None
        return None

    def _is_fixed(self, key: Hashable) -> bool:
        """Whether nothing can be stored at a key: that of a tuple, or one that a list lacks."""
        return isinstance(self.made.value, gast.Tuple) or (isinstance(self.made.value, gast.List) and key not in self.values)

    def _key(self, index: gast.AST) -> Hashable | None:
        """A constant key or index."""
        if isinstance(self.made.value, gast.Dict):
            return index.value if isinstance(index, gast.Constant) and isinstance(index.value, (str, int)) else None
        place = whole_number(index)
        return place + len(self.values) if place is not None and place < 0 else place

    def _are_bound(self, used: list[tuple[gast.AST, Hashable]], behind: set[int]) -> bool:
        """Whether each item is in the container wherever it is read."""
        known = set(self.values)
        for statement, key in used:
            stores = isinstance(statement.targets[0], gast.Subscript)
            if key not in known and not (stores and id(statement) in behind):
                return False
            known.add(key)
        return True

    def _named(self, key: Hashable) -> str:
        """A new variable for an item."""
        fresh = self.unit.local(re.sub(r"\W", "_", f"{self.owner}_{key}"))
        self.unit.words[fresh] = f"the item at {key!r} of {{}}", self.owner
        if self.owner in self.unit.temps:
            self.unit.temps.add(fresh)
        return fresh


def _items(display: gast.AST) -> Iterable[tuple[Hashable, gast.AST]]:
    """The items of a display by key; none where it is not known by its text."""
    values = display.values if isinstance(display, gast.Dict) else display.elts
    keys = display.keys if isinstance(display, gast.Dict) else list(range(len(values)))
    known = [k.value if isinstance(k, gast.Constant) else k for k in keys]
    plain = all(isinstance(k, (str, int)) for k in known) and len({*known}) == len(known)
    return (
        zip(known, values, strict=True) if plain and all(isinstance(v, (gast.Name, gast.Constant)) for v in values) else ()
    )
