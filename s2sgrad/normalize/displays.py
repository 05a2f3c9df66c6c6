"""Lists and dicts of the text that are put together of others.

    [*a, b, *c]        ->      [v for v in a] + [b] + [v for v in c]
    d | {"a": x}       ->      {**d, **{"a": x}}
    d |= {"a": x}      ->      d.update({"a": x})

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, d):
...     d |= {"a": x}
...     return [x, *d.values()]
... ''', "library_desugaring"))
def f(x, d):
    d.update({'a': x})
    return [x, *(d[key] for key in keys_of(d))]
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import expression, name, placed, statements
from s2sgrad.ir.unit import Unit


def concatenated(unit: Unit, node: gast.List) -> gast.AST:
    """`[*a, b]` as a sum of lists."""
    parts: list[gast.AST] = []
    for element in node.elts:
        if isinstance(element, gast.Starred):
            parts.append(expression("[v for v in xs]", v=unit.local("item"), xs=element.value))
        elif parts and isinstance(parts[-1], gast.List):
            parts[-1].elts.append(element)
        else:
            parts.append(gast.List([element], gast.Load()))
    whole, *others = parts
    for part in others:
        whole = gast.BinOp(whole, gast.Add(), part)
    return placed(node, whole)


def united(node: gast.AST) -> gast.Dict | None:
    """`a | b` of which a side is a dict in the text, as a display; None for anything else."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.BitOr):
        return None
    return placed(node, gast.Dict([None, None], [node.left, node.right])) if _is_dict(node.left, node.right) else None


def updated(statement: gast.AugAssign) -> gast.AST | None:
    """`d |= {..}` as a call of its method; None for anything else."""
    if not isinstance(statement.op, gast.BitOr) or not isinstance(statement.target, gast.Name):
        return None
    if not _is_dict(statement.value):
        return None
    return placed(statement, statements("d.update(v)", d=name(statement.target.id), v=statement.value)[0])


def _is_dict(*sides: gast.AST) -> bool:
    return any(isinstance(side, (gast.Dict, gast.DictComp)) for side in sides)
