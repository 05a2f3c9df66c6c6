"""Lists to which a loop appends the same vectors become one.

U_columns, U_rows = [], []                      U_rows = []
W_columns, W_rows = [], []                      z_bar_columns, W_rows = [], []
for ..:                                ->       for ..:
    U_columns.append(z_bar)                         z_bar_columns.append(z_bar)
    U_rows.append(h)                                U_rows.append(h)
    W_columns.append(z_bar)                         W_rows.append(x)
    W_rows.append(x)

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(W, U, h, xs):
...     for x in xs:
...         h = np.tanh(W @ h + U @ x)
...     return h @ h
... ''', "accumulation", np.eye(2), np.eye(2), np.ones(2), np.ones((3, 2)), argnums=(0, 1)))
+     U_bar_columns, U_bar_rows = [], []
+     W_bar_rows = []
-         U_bar += np.outer(t6, x2)
-         W_bar += np.outer(t6, h)
+         U_bar_columns.append(t6)
+         U_bar_rows.append(x2)
+         W_bar_rows.append(h)
+     if U_bar_columns:
+         U_bar += np.array(U_bar_columns).T @ np.array(U_bar_rows)
+         W_bar += np.array(U_bar_columns).T @ np.array(W_bar_rows)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir.forms import alone, appended_to, receiver
from s2sgrad.ir.quote import assign, name, nested
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import Unit


def joined(unit: Unit, loop: gast.AST, begun: list[gast.Assign], after: list[gast.AST]) -> list[gast.Assign]:
    """What begins these lists, to which `loop` appends and which `after` reads, with one list for the same vectors."""
    one = _found(unit, loop, {n for s in begun for n in effects.targets(s)})
    rename(one, loop, *after)
    seen: set[str] = set()
    out = []
    for statement in begun if one else ():
        names = [n for n in dict.fromkeys(one.get(n, n) for n in effects.targets(statement)) if n not in seen]
        seen.update(names)
        if names:
            targets = gast.Tuple([name(n, store=True) for n in names], gast.Store())
            values = gast.Tuple([gast.List([], gast.Load()) for _ in names], gast.Load())
            made = assign(targets, values) if len(names) > 1 else assign(names[0], values.elts[0])
            made.origin = statement.origin
            out.append(made)
    _merge_tests(loop, after)
    return out or begun


def _merge_tests(loop: gast.AST, after: list[gast.AST]) -> None:
    """One `if` for consecutive ones of lists of one length: those to which a block appends once each."""
    block_of = {stack: [id(block) for block, _ in found] for stack, found in _pushes(loop, None).items()}
    for k in range(len(after) - 1, 0, -1):
        first, second = after[k - 1], after[k]
        if (
            isinstance(first, gast.If)
            and isinstance(second, gast.If)
            and block_of[first.test.id] == block_of[second.test.id]
        ):
            first.body += second.body
            del after[k]


def _pushes(loop: gast.AST, lists: set[str] | None) -> dict[str, list[tuple[list[gast.AST], gast.Expr]]]:
    """By list, of these or of all: each statement that appends to it, with its block."""
    out: dict[str, list[tuple[list[gast.AST], gast.Expr]]] = {}
    for block in nested([loop]):
        for statement in block:
            stack = getattr(appended_to(alone(statement)), "id", None)
            if stack is not None and (lists is None or stack in lists):
                out.setdefault(stack, []).append((block, statement))
    return out


def _found(unit: Unit, loop: gast.AST, lists: set[str]) -> dict[str, str]:
    """The names of lists that become one, and that of the one list."""
    pushes = _pushes(loop, lists)
    first: dict[tuple[int, str], str] = {}
    one: dict[str, str] = {}
    for stack, found in pushes.items():
        block, push = found[0]
        if len(found) > 1:
            continue
        earlier = first.setdefault((id(block), gast.dump(push.value.args[0])), stack)
        if earlier != stack and _is_same(unit, block, pushes[earlier][0][1], push):
            one[stack] = earlier
            block.remove(push)
    for kept in set(one.values()):
        ((_, push),) = pushes[kept]
        pushed = receiver(push.value.args[0], "copy") or push.value.args[0]
        if isinstance(pushed, gast.Name) and pushed.id not in unit.temps:
            new = unit.local(f"{unit.bases.get(pushed.id, pushed.id)}_columns")
            one |= {stack: new for stack, other in one.items() if other == kept} | {kept: new}
    return one


def _is_same(unit: Unit, block: list[gast.AST], earlier: gast.Expr, later: gast.Expr) -> bool:
    """Whether what is pushed does not change in between."""
    between = block[block.index(earlier) + 1 : block.index(later)]
    read = effects.reads(later)
    return not any(
        read & unit.changed(s) - {later.value.func.value.id, earlier.value.func.value.id} for s in effects.walk(between)
    )
