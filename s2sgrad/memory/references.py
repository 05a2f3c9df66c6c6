"""Which objects something else may refer to besides their names: an item of a list, another name, a record.

    xs.append(u); p = (v, w); z = y      ->      u, v, w, y
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.forms import appended_to
from s2sgrad.ir.unit import Unit


def referred(unit: Unit, statements: list[gast.AST]) -> set[str]:
    """The variables (by the user's names) whose objects something else may refer to: an item of a list, another name.

    A record refers to what it holds as well, which matters where there are several: in what we wrote ourselves.
    """
    out: set[str] = set()
    for statement in statements:
        value = getattr(statement, "value", None)
        if (owner := appended_to(value)) is not None:
            record = isinstance(owner, gast.Name) and owner.id in unit.own_names
            if unit.primal.is_generated or not record:
                out |= {a.id for a in value.args if isinstance(a, gast.Name)}
        elif isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            out |= effects.reads(value)
        elif isinstance(value, gast.Name) and isinstance(statement, gast.Assign):
            out.add(value.id)
    return {unit.bases.get(n, n) for n in out}
