"""Round trips: a store in a recomputed trip that the adjoint undoes before anything reads it is removed, as is the undo.

    u_old = u[1:-1].copy()
    u[1:-1] = step(u)                ->      u_bar = ...
    u[1:-1] = u_old
    u_bar = ...

In a loop over `checkpointed`, the last state that the adjoint needs is often the one before the trip.  A swap and its
inverse are such a pair too.

>>> from s2sgrad import grad
>>> from s2sgrad import checkpointed
>>> import numpy as np
>>> def f(u, v, n):
...     for k in checkpointed(range(n), slots=4):
...         v[1:] = v[1:] * u[1:]
...         u, v = v, u
...     return np.sum(u)
>>> print(grad(f).source_for(np.ones(3), np.ones(3), 9).partition("v_bar = np.zeros_like(v)")[2])
<BLANKLINE>
    for k in reversed(range(n)):
        first, u, v = states.latest(k)
        for j in range(first, k):
            states.keep(j, u, v)
            v[1:] = v[1:] * u[1:]
            u, v = v, u
        # u, v = v, u
        v_bar, u_bar = u_bar, v_bar
        # v[1:] = v[1:] * u[1:]
        u_bar[1:] += v_bar[1:] * v[1:]
        v_bar[1:] *= u[1:]
    return u_bar
<BLANKLINE>
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import Block, binds
from s2sgrad.ir import notes
from s2sgrad.ir.quote import nested
from s2sgrad.ir.unit import Unit, sweep_of


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Remove pairs of a statement and its undo with nothing in between that depends on it."""
    for body in nested(tree.body):
        if any(notes.STATES.of(s) is not None and isinstance(s, gast.Assign) for s in body):
            while (pair := _pair(unit, body)) is not None:
                body[:] = [s for s in body if s not in pair]
    return tree


def _pair(unit: Unit, body: Block) -> tuple[gast.AST, gast.AST] | None:
    """A statement of the trip, and the next that mentions what it writes, if that undoes it."""
    for k in range(len(body) - 1, -1, -1):
        statement = body[k]
        if isinstance(statement, gast.Assign) and statement.origin is not None and statement.origin.sweep is None:
            back = _undo_of(unit, body, k)
            if back is not None:
                return statement, back
    return None


def _undo_of(unit: Unit, body: Block, k: int) -> gast.AST | None:
    made = body[k]
    swap, section = effects.permutes(made), effects.stored(made)
    if not swap and section is None:
        return None
    written = set(binds(made)) if swap else unit.memory.at_once_with(effects.base(section))
    index = set() if section is None or swap else effects.reads(section.slice)
    for later in body[k + 1 :]:
        if any((effects.reads(s) | effects.writes(s)) & written for s in effects.walk([later])):
            undone = _undoes(made, later) if swap else _restores(unit, body, k, later)
            return later if undone and sweep_of(later) == "reverse" else None
        if _changed(unit, later) & index:
            return None
    return None


def _changed(unit: Unit, statement: gast.AST) -> set[str]:
    return set().union(*map(unit.changed, effects.walk([statement])))


def _undoes(swap: gast.Assign, later: gast.AST) -> bool:
    """Whether a permutation is the inverse of `swap`."""
    if not effects.permutes(later):
        return False
    pairs = [(t.id, v.id) for t, v in zip(swap.targets[0].elts, swap.value.elts, strict=True)]
    return {(v.id, t.id) for t, v in zip(later.targets[0].elts, later.value.elts, strict=True)} == set(pairs)


def _restores(unit: Unit, body: Block, k: int, later: gast.AST) -> bool:
    """Whether a store restores the section that the `k`th statement of the body overwrites, from a copy made before that."""
    section, again = effects.stored(body[k]), effects.stored(later)
    if again is None or not _same(section, again) or not isinstance(later.value, gast.Name):
        return False
    held = effects.reads(section)
    for before in reversed(body[:k]):
        if later.value.id in binds(before):
            return _is_copy_of(before.value, section)
        if _changed(unit, before) & held:
            return False
    return False


def _is_copy_of(value: gast.AST, section: gast.Subscript) -> bool:
    """Whether an expression is the section, or a copy of it."""
    copied = isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "copy"
    return _same(value.func.value if copied else value, section)


def _same(a: gast.AST, b: gast.AST) -> bool:
    if not isinstance(a, gast.Subscript):
        return False
    return bool(gast.dump(a.value) == gast.dump(b.value) and gast.dump(a.slice) == gast.dump(b.slice))
