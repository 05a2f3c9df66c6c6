"""What a generated text adds to an item of a list or dict, as a store of the sum.

    x = add_at(x, 1, e)      ->      t = x[1]; s = t + e; x[1] = s

A name with a shadow is changed by stores only.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Text
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.ir.quote import assign, at, clone, name
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, kinds: Mapping[str, Kind], places: Occurrences, _: object = None) -> bool:
    """Rewrite what adds to one item, an array or a number; whether there was any."""
    found = False
    for statement in list(effects.walk(tree.body)) if unit.primal.is_generated else ():
        x = effects.accumulates(unit, statement)
        if x is None or unit.called(statement.value) is not runtime.add_at:
            continue
        if not _is_item(kinds, kinds.get(x), statement.value.args[1]):
            continue
        _, place, e = statement.value.args
        old, new = unit.temp(), unit.temp()
        item, stored = (gast.Subscript(name(x), clone(place), context) for context in (gast.Load(), gast.Store()))
        made = [assign(old, item), assign(new, gast.BinOp(name(old), gast.Add(), e)), gast.Assign([stored], name(new), None)]
        places.replace(statement, at(statement, *made))
        found = True
    return found


def _is_item(kinds: Mapping[str, Kind], owner: Kind | None, place: gast.AST) -> bool:
    """Whether a place in a list or dict is that of an array or a number."""
    one = isinstance(place, gast.Constant) or isinstance(kinds.get(getattr(place, "id", "")), (Number, Text))
    if not one or not isinstance(owner, Container) or owner.type not in (list, dict):
        return False
    return isinstance(owner.at(getattr(place, "value", None)), (Array, Number))
