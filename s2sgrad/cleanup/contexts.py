"""A context that a block enters and leaves becomes `with` again, in both sweeps.

    context = np.errstate(all="ignore"); context.__enter__()              with np.errstate(all="ignore"):
    y = np.log(x)                                                  ->         y = np.log(x)
    context.__exit__(None, None, None)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import contexts
from s2sgrad.quote import at
from s2sgrad.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with `with`."""
    tree.body = _block(tree.body)
    return tree


def _block(body: list[gast.AST]) -> list[gast.AST]:
    for statement in body:
        if isinstance(statement, (gast.If, gast.For, gast.While)):
            statement.body, statement.orelse = _block(statement.body), _block(statement.orelse)
    out: list[gast.AST | None] = list(body)
    for region in contexts.regions(body):
        manager = body[region.made].value
        inside = [s for s in out[region.enter + 1 : region.exit] if s is not None]
        made = at(body[region.enter], gast.With([gast.withitem(manager, None)], inside, None))
        out[region.made : region.exit + 1] = [None] * (region.exit - region.made + 1)
        out[region.enter] = made[0] if inside or not contexts.is_quiet(manager) else None
    return [s for s in out if s is not None]
