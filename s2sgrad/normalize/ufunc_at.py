"""`np.add.at(x, i, v)` and other `ufunc.at`, in which repeated positions accumulate.

    np.multiply.at(x, i, v)   ->   rounds of `x[p] = np.multiply(x[p], v[now])`, no position twice in a round

Sums need no rounds, because the order of summation does not matter.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, i, v):
...     np.add.at(x, i, v)
...     np.subtract.at(x[1:], i, v)
...     return x
... ''', "flatten"))
def f(x, i, v):
    x = add_at(x, i, v)
    t1 = x[1:]
    t2 = np.copy(t1)
    t3 = np.negative(v)
    t2 = add_at(t2, i, t3)
    t1[...] = t2
    result = x
    return result
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.ir.forms import minus
from s2sgrad.ir.quote import at, expression, name, statements
from s2sgrad.ir.reach import call, module_alias, numpy_function
from s2sgrad.ir.unit import Unit


def stores(unit: Unit, a: gast.AST, indices: gast.AST, b: gast.AST | None = None, *, ufunc: np.ufunc) -> list[gast.AST]:
    """`ufunc.at(a, indices, b)` as stores; arguments are names and constants, `a` our own name if it was an expression."""
    if ufunc in (np.add, np.subtract):
        return _summed(unit, a, indices, _negated(unit, b) if ufunc is np.subtract else b)
    return _in_rounds(unit, ufunc, a, indices, b)


def _negated(unit: Unit, b: gast.AST) -> gast.AST:
    """`-b`, also of a list."""
    return minus(b) if isinstance(b, gast.Constant) else call(unit, "negative", np.negative, b)


def _summed(unit: Unit, a: gast.Name, indices: gast.AST, b: gast.AST) -> list[gast.AST]:
    add_at = unit.helper("add_at", runtime.add_at)
    if a.id not in unit.temps:
        return statements("x = add_at(x, i, v)", add_at=add_at, x=a.id, i=indices, v=b)
    return statements(
        "t = np.copy(x)\nt = add_at(t, i, v)\nx[...] = t",
        np=module_alias(unit, np), t=unit.temp(), add_at=add_at, x=a.id, i=indices, v=b,
    )  # fmt: skip


_ROUNDS = """
places = np.reshape(np.arange(np.size(x)), np.shape(x))[i]
flat = np.ravel(places)
order = np.argsort(flat, kind="stable")
found = flat[order]
turn = np.arange(np.size(found)) - np.searchsorted(found, found)
setup
for k in range(np.max(turn, initial=-1) + 1):
    now = order[turn == k]
    p = np.unravel_index(flat[now], np.shape(x))
    x[p] = new
"""


def _in_rounds(unit: Unit, ufunc: np.ufunc, a: gast.Name, indices: gast.AST, b: gast.AST | None) -> list[gast.AST]:
    """Stores in rounds: round k has the positions that occur for the k-th time; the operand is what it was before."""
    ours = {n: unit.temp() for n in ("places", "flat", "order", "found", "turn", "now", "p")}
    ours |= {"np": module_alias(unit, np), "x": a.id}
    setup: list[gast.AST] = []
    operands = [expression("x[p]", x=a.id, p=ours["p"])]
    if isinstance(b, gast.Name):
        each, taken = unit.temp(), unit.temp()
        setup = statements(
            "each = np.ravel(np.broadcast_to(np.reshape(np.arange(np.size(v)), np.shape(v)), np.shape(places)))\n"
            "taken = np.take(v, each)",
            each=each, taken=taken, v=b, np=ours["np"], places=ours["places"],
        )  # fmt: skip
        operands.append(expression("taken[now]", taken=taken, now=ours["now"]))
    elif b is not None:
        operands.append(b)
    rounds = statements(_ROUNDS, **ours, i=indices, k=unit.local("k"), setup=setup, range=unit.builtin(range),
                        new=gast.Call(_reached(unit, ufunc), operands, []))  # fmt: skip
    for statement in rounds[-1].body:
        at(indices, statement)
    return rounds


def _reached(unit: Unit, ufunc: np.ufunc) -> gast.AST:
    if getattr(np, ufunc.__name__, None) is ufunc:
        return numpy_function(unit, ufunc.__name__)
    return name(unit.helper(ufunc.__name__, ufunc))
