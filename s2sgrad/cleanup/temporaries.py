"""The names of temporaries: after what they are an item or a section of, else numbered in the order of their first binding.

    a = k_bar[3, 1]; c_bar -= a * b; d_bar += a      ->      k_bar_3_1 = k_bar[3, 1]; c_bar -= k_bar_3_1 * t1; ...

>>> import gast
>>> def named(text):
...     return _described(gast.parse(text).body[0].value)
>>> named("x_bar[i, :]"), named("A[-1, j + 1].copy()"), named("u[1:-1]"), named("x_bar * y")
('x_bar_i', 'A_last_j_next', 'u_part', None)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.cleanup.coalesce import bound_names
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.forms import bound_name, is_none, parts_of, receiver, whole_number
from s2sgrad.ir.names import Namer
from s2sgrad.ir.quote import mentioned
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit

_LONGEST = 24  # letters of a description


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Give the temporaries their final names."""
    temps = [n for n in bound_names(tree) if n in unit.temps]
    names = Namer(mentioned(tree) - set(temps))
    times = binding_counts(tree.body)
    once = {n: s.value for s in effects.walk(tree.body) if (n := bound_name(s)) is not None and times[n] == 1}
    stems: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for name in temps:
        stem, suffix = name, ""
        while stem.endswith("_bar"):
            stem, suffix = stem[:-4], suffix + "_bar"
        described = _described(once[name], {*temps}) if name in once and not suffix else None
        if described is not None and described not in names.taken:
            renamed[name] = names.fresh(described)
            continue
        if stem not in stems:
            stems[stem] = names.numbered("t")
        renamed[name] = names.fresh(stems[stem] + suffix) if suffix else stems[stem]
    rename(renamed, tree.args, *tree.body)
    return tree


def _described(value: gast.AST, nameless: set[str] | frozenset[str] = frozenset()) -> str | None:
    """A name for an item or a section of a variable, or a copy of one; None for anything else."""
    copied = receiver(value, "copy")
    section = value if copied is None else copied
    if not isinstance(section, gast.Subscript) or not isinstance(section.value, gast.Name) or section.value.id in nameless:
        return None
    words = [_word(part, nameless) for part in parts_of(section.slice)]
    if None in words:
        return None
    words = [w for k, w in enumerate(words) if w and (w != "part" or "part" not in words[:k])]
    described = "_".join([section.value.id, *words])
    return described if described != section.value.id and len(described) <= _LONGEST else None


def _word(part: gast.AST, nameless: set[str] | frozenset[str]) -> str | None:
    """The word for one part of an index; empty for a whole axis; None where there is none."""
    if isinstance(part, gast.Slice):
        return "" if part.lower is part.upper is part.step is None else "part"
    if is_none(part) or (isinstance(part, gast.Constant) and part.value is Ellipsis):
        return ""
    number = whole_number(part)
    if number is not None:
        return str(number) if number >= 0 else "last" if number == -1 else None
    if isinstance(part, gast.Name):
        return None if part.id in nameless else part.id
    step = whole_number(part.right) if isinstance(part, gast.BinOp) and isinstance(part.left, gast.Name) else None
    if step != 1 or part.left.id in nameless or not isinstance(part.op, (gast.Add, gast.Sub)):
        return None
    return f"{part.left.id}_{'next' if isinstance(part.op, gast.Add) else 'before'}"
