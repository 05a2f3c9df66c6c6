"""The names of temporaries: after what they are.

    t1 = k_bar[3, 1]; t2 = u * v; c -= t1 * t2      ->      k_bar_3_1 = k_bar[3, 1]; u_v = u * v; c -= k_bar_3_1 * u_v

A name says what is computed, where that takes few words; else which operation it is; else it is a number.  Two of the same
meaning share a name if their live ranges are disjoint.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, y):
...     return (x * y + 1.0) ** 2 * (x * y + 2.0)
... ''', "temporaries", 2.0, 3.0))
-     t1_2 = x * y
+     x_y = x * y
-     t2_2 = t1_2 + 1.0
+     x_y_plus_one = x_y + 1.0
-     x_bar = seed * t2_2 ** 2 * y + seed * (t1_2 + 2.0) * (2 * t2_2) * y
+     x_bar = seed * x_y_plus_one ** 2 * y + seed * (x_y + 2.0) * (2 * x_y_plus_one) * y
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Kind
from s2sgrad.cleanup.coalesce import bound_names, colored, interference
from s2sgrad.cleanup.described import Descriptions
from s2sgrad.ir.forms import alone, appended_to, bound_name, popped
from s2sgrad.ir.names import Namer
from s2sgrad.ir.quote import mentioned
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Give the temporaries their final names."""
    temps = [n for n in bound_names(tree) if n in unit.temps or _is_record(unit, n)]
    pushed = {n: value for n, value in _pushed(unit, tree).items() if n not in temps}
    if not temps and not pushed:
        return tree
    names = Namer(mentioned(tree) - set(temps) | vars(builtins).keys())
    words = Descriptions(unit, _values(tree, {*temps}) | pushed, names.taken).of_all([*temps, *pushed])
    named = {n: words.pop(n) for n in pushed if n in words}
    known = _known(unit, named | words)
    words |= {name: known[of] for name, of in _restored(unit, tree).items() if name not in words and of in known}
    groups: dict[str, list[str]] = {}
    for name, described in words.items():
        groups.setdefault(described, []).append(name)
    clashes = interference(tree, words, unit)
    renamed: dict[str, str] = {}
    for described, alike in groups.items():
        colors = [names.fresh(described), *(names.numbered(described, 2) for _ in alike[1:])]
        renamed |= colored(alike, colors, clashes)
    for name in temps:
        if name not in renamed:
            renamed[name] = names.numbered("t")
    renamed |= {stack: names.fresh(called) for stack, called in _stacks(unit, known).items() if called != stack}
    _note(unit, renamed)
    rename(renamed, tree.args, *tree.body)
    return tree


def _known(unit: Unit, words: dict[str, str]) -> dict[str, str]:
    """These words, and those for what is recorded by the other sweep, which may be a function of its own."""
    said = unit.derivative.said
    recorded = {variable for variable, *_ in unit.derivative.stack_bases.values()}
    known = {n: said[n] for n in recorded & said.keys()} | words
    said |= {n: known[n] for n in recorded & known.keys()}
    return known


def _pushed(unit: Unit, tree: gast.FunctionDef) -> dict[str, gast.AST]:
    """What is pushed in the place of a temporary, which is written where it is recorded."""
    found: dict[str, gast.AST] = {}
    for statement in effects.walk(tree.body):
        record = getattr(appended_to(alone(statement)), "id", None)
        for base, part in _parts(unit, record, statement.value.args[0]) if record is not None else ():
            if base in unit.temps:
                found[base] = part
    return found


def _restored(unit: Unit, tree: gast.FunctionDef) -> dict[str, str]:
    """The temporaries that are taken from a record of another: what is popped is called as what was pushed."""
    found: dict[str, str] = {}
    for statement in effects.walk(tree.body):
        record = popped(statement.value) if isinstance(statement, gast.Assign) else None
        for base, part in _parts(unit, record, statement.targets[0]) if record is not None else ():
            if getattr(part, "id", None) in unit.temps:
                found[part.id] = base
    return found


def _parts(unit: Unit, record: str, value: gast.AST) -> list[tuple[str, gast.AST]]:
    """What a stack, or each part of a stack of tuples, is given or gives back, with the variable it stands for."""
    stacks = unit.derivative.tapes.get(record, [record])
    values = value.elts if record in unit.derivative.tapes and isinstance(value, gast.Tuple) else [value]
    bases = unit.derivative.stack_bases
    return [(bases[stack][0], part) for stack, part in zip(stacks, values, strict=False) if stack in bases]


def _stacks(unit: Unit, words: dict[str, str]) -> dict[str, str]:
    """The names of the stacks, after the names of what they keep."""
    of_stacks = {stack: words.get(variable) for stack, (variable, *_) in unit.derivative.stack_bases.items()}
    return {stack: f"{word}_stack" for stack, word in of_stacks.items() if word is not None}


def _is_record(unit: Unit, name: str) -> bool:
    """Whether a name holds what a call records."""
    return unit.derivative.records.get(name) == name


def _note(unit: Unit, renamed: dict[str, str]) -> None:
    """Let the unit know the new names: what is known of those that share one is what they have in common."""
    kinds: dict[str, set[Kind | None]] = {}
    for old, new in renamed.items():
        kinds.setdefault(new, set()).add(unit.kinds.get(old))
    unit.names.taken |= kinds.keys()
    unit.locals |= kinds.keys()
    unit.temps |= {renamed[n] for n in unit.temps & renamed.keys()}
    records = {n: new for n, new in renamed.items() if _is_record(unit, n)}
    unit.derivative.records |= {new: new for new in records.values()}
    unit.words |= {new: unit.words[n] for n, new in records.items() if n in unit.words}
    unit.derivative.rename_stacks(renamed)
    unit.kinds.update({n: one for n, (one, *others) in kinds.items() if one is not None and not others})


def agree(unit: Unit, tree: gast.FunctionDef, shared: Iterable[str]) -> None:
    """Find names for the temporaries among those that the two sweeps share, before they become two functions."""
    temps = [n for n in bound_names(tree) if n in unit.temps or _is_record(unit, n)]
    words = Descriptions(unit, _values(tree, {*temps}), mentioned(tree)).of_all(temps) if temps else {}
    unit.derivative.said |= {name: words[name] for name in shared if name in words}


def _values(tree: gast.FunctionDef, temps: set[str]) -> dict[str, gast.AST]:
    """The expressions of the temporaries that are bound to one, but for what is taken from a record."""
    found: dict[str, list[gast.AST]] = {}
    for statement in effects.walk(tree.body):
        for name in temps & set(effects.targets(statement)) if isinstance(statement, gast.Assign) else ():
            if popped(statement.value) is None:
                found.setdefault(name, []).append(statement.value if bound_name(statement) == name else statement)
    return {name: values[0] for name, values in found.items() if len({*map(gast.dump, values)}) == 1}
