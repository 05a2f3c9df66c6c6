"""What stays of an expression that nobody reads: its parts that have effects, in the order in which Python evaluates them.

    w[i] += np.sin(x) * rng.random() + next(it)      ->      rng.random(); next(it)

A part that is evaluated only sometimes, or several times, stays with what decides it.  A name that stands for nothing is
an effect as well: reading it raises.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.analysis import effects
from s2sgrad.unit import Unit

_OPERANDS = (gast.BinOp, gast.UnaryOp, gast.Tuple, gast.List, gast.Set, gast.Slice, gast.Subscript, gast.Starred,
             gast.JoinedStr, gast.FormattedValue, gast.keyword, gast.Attribute)  # fmt: skip

_PARTS = (gast.Starred, gast.FormattedValue)  # which are no expressions themselves


def of_statement(unit: Unit, statement: gast.AST, quiet: Callable[[gast.Call], bool]) -> list[gast.AST]:
    """What stays of a statement, or of the header of a compound one; calls that are `quiet` have no effects here."""
    if isinstance(statement, gast.Assign):
        (target,) = statement.targets
        parts = [statement.value, *([target] if isinstance(target, gast.Subscript) else [])]
    elif isinstance(statement, gast.AugAssign):
        parts = [statement.target, statement.value] if isinstance(statement.target, gast.Subscript) else [statement.value]
    else:
        parts = [statement.value if isinstance(statement, gast.Expr) else effects.header(statement)]
    return [left for part in parts for left in _of(unit, part, quiet)]


def _of(unit: Unit, node: gast.AST, quiet: Callable[[gast.Call], bool]) -> list[gast.AST]:
    inside = (part for part in gast.iter_child_nodes(node) if isinstance(part, _PARTS))
    if effects.acts(unit, node) or any(effects.acts(unit, part) for part in inside):
        return [node]
    if isinstance(node, gast.Call):
        if not (quiet(node) or effects.is_pure_call(unit, node)):
            return [node]
        function = node.func.value if isinstance(node.func, gast.Attribute) else node.func
        parts = [function, *node.args, *node.keywords]
    elif isinstance(node, gast.Dict):
        parts = [part for entry in zip(node.keys, node.values, strict=True) for part in entry if part is not None]
    elif isinstance(node, gast.Compare) and len(node.ops) == 1:
        parts = [node.left, *node.comparators]
    elif isinstance(node, _OPERANDS):
        parts = list(gast.iter_child_nodes(node))
    elif isinstance(node, gast.Lambda):
        parts = [part for part in (*node.args.defaults, *node.args.kw_defaults) if part is not None]
    else:  # evaluated only partly, or several times
        pure = all(isinstance(part, gast.Call) and quiet(part) for part in effects.impurities(unit, node))
        return [] if pure else [node]
    return [left for part in parts for left in _of(unit, part, quiet)]
