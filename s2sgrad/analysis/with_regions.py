"""Regions of a block between entering and leaving a context: `with` in normal form.

    with np.errstate(all="ignore"):        ->      context = np.errstate(all="ignore"); context.__enter__()
        y = np.log(x)                              y = np.log(x)
                                                   context.__exit__(None, None, None)

`try` with only a `finally` is a region too: the statements of `finally` follow it, and a second `__exit__` follows them.
All of it is in one block, so that passes see ordinary statements; `cleanup.with_statements` restores the `with`.  No
statement moves across either end.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad.ir.quote import assign, statements
from s2sgrad.ir.unit import Unit

ENTER, EXIT = "__enter__", "__exit__"


@dataclass(frozen=True)
class Region:
    """Positions in a block: of the assignment of the context manager, of its `__enter__` and of its `__exit__`.

    `final`: of the second `__exit__`, after the statements of `finally`; equal to `exit` for a `with`.
    """

    made: int
    enter: int
    exit: int
    final: int


def opened(context: str, manager: gast.AST, value: str | None = None) -> list[gast.AST]:
    """The statements that enter a context and bind its value to a name."""
    (enter,) = statements("c.__enter__()", c=context)
    return [assign(context, manager), enter if value is None else assign(value, enter.value)]


def closed(context: str) -> list[gast.AST]:
    """The statement that leaves a context."""
    return statements("c.__exit__(None, None, None)", c=context)


def end(statement: gast.AST) -> tuple[str, str] | None:
    """The method and the context's name if a statement enters or leaves a context; None for any other statement."""
    call = statement.value if isinstance(statement, (gast.Expr, gast.Assign)) else None
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
        return (call.func.attr, call.func.value.id) if call.func.attr in (ENTER, EXIT) else None
    return None


def regions(body: list[gast.AST]) -> list[Region]:
    """The regions of a block, inner ones first."""
    entered: dict[str, list[int]] = {}
    out: list[list[int]] = []
    for k, statement in enumerate(body):
        which = end(statement)
        if which is None:
            continue
        method, context = which
        if method == ENTER:
            made = next(m for m in range(k, -1, -1) if _makes(body[m], context))
            entered[context] = [made, k]
            out.append(entered[context])
        elif context in entered:
            entered[context].append(k)
    return sorted((Region(p[0], p[1], p[2], p[-1]) for p in out), key=lambda region: region.final)


def is_quiet(unit: Unit, manager: gast.AST) -> bool:
    """Whether an empty context may be left out: it only sets how NumPy or Python report something."""
    target = unit.called(manager)
    return target in (np.errstate, np.printoptions, warnings.catch_warnings, contextlib.nullcontext)


def _makes(statement: gast.AST, context: str) -> bool:
    target = statement.targets[0] if isinstance(statement, gast.Assign) else None
    return isinstance(target, gast.Name) and target.id == context
