"""Contexts that a block enters and leaves become `with` statements again, in both sweeps.

    context = np.errstate(all="ignore"); context.__enter__()              with np.errstate(all="ignore"):
    y = np.log(x)                                                  ->         y = np.log(x)
    context.__exit__(None, None, None)

`try` with only a `finally` is restored too, in the forward sweep.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x):
...     with np.errstate(all="ignore"):
...         y = np.log(x)
...     return y
... ''', "with_statements", np.ones(3)))
-     context = np.errstate(all='ignore')
+     with np.errstate(all='ignore'):
-     context.__enter__()
-     y = np.log(x)
+         y = np.log(x)
-     context.__exit__(None, None, None)
-     context_ = np.errstate(all='ignore')
+     with np.errstate(all='ignore'):
-     context_.__enter__()
-     x_bar = seed / x
+         x_bar = seed / x
-     context_.__exit__(None, None, None)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import with_regions
from s2sgrad.ir.quote import at, nested
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the `with` statements."""
    for body in reversed([*nested(tree.body)]):
        body[:] = _block(unit, body)
    return tree


def _block(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    out: list[list[gast.AST]] = [[statement] for statement in body]  # the replacement of each statement
    for region in with_regions.regions(body):
        manager = body[region.made].value
        inside = [s for part in out[region.enter + 1 : region.exit] for s in part]
        final = [s for part in out[region.exit + 1 : region.final] for s in part]
        entered = body[region.enter]
        bound = entered.targets[0] if isinstance(entered, gast.Assign) else None
        made: gast.AST = gast.With([gast.withitem(manager, bound)], inside or [gast.Pass()], None)
        if region.final > region.exit:
            made = gast.Try(inside, [], [], final)
        whole = at(body[region.enter], made) if inside or not with_regions.is_quiet(unit, manager) else final
        if region.final > region.exit and not final:
            whole = inside
        out[region.made] = []
        out[region.enter : region.final + 1] = [whole, *([] for _ in range(region.final - region.enter))]
    return [s for part in out for s in part]
